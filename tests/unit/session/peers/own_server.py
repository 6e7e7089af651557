"""A NATS server of a test's own, which may be stopped, killed and started again on the same port and folder."""

import asyncio
import os
import signal
import socket
from pathlib import Path


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
    return port


class OwnServer:
    """*settings* is written into the server's configuration file as it is."""

    def __init__(self, program: str, folder: Path, settings: str = "") -> None:
        self.port = free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        self._folder = folder
        self._config = folder / "server.conf"
        self._config.write_text(settings)
        self._program = program
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Returns once it is ready."""
        self._process = await asyncio.create_subprocess_exec(
            self._program,
            *("-c", self._config, "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", self._folder / "store"),
            stderr=asyncio.subprocess.PIPE,
        )
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            if b"Server is ready" in line:
                return
        raise AssertionError(f"nats-server ended with {await self._process.wait()} before it was ready")

    def pause(self) -> None:
        """It is there, takes bytes, and says nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)
        while not _stopped(self._process.pid):  # one of its threads may be about to answer
            os.sched_yield()

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()


def _stopped(pid: int) -> bool:
    """Whether every thread of a process has stopped."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return all((each / "stat").read_text().rpartition(")")[2].split()[0] in "Tt" for each in threads)

"""What the tests of processes stand on: knowing what is open, who is alive, and waiting for their end."""

import asyncio
import os
from pathlib import Path

from hookline._processes import watchdog


def descriptors() -> int:
    """How many this program has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def lives(pid: int) -> bool:
    """Whether there is a process of this number."""
    return Path(f"/proc/{pid}").exists()


def carriers(token: str) -> list[int]:
    """The living processes that have *token* in their environment."""

    def carries(entry: Path) -> bool:
        try:
            return token.encode() in (entry / "environ").read_bytes()
        except OSError:
            return False

    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and carries(entry)]


def shells_below(pid: int) -> list[int]:
    """The children of a process that run the watchdog's script."""

    def runs_it(child: str) -> bool:
        try:
            return watchdog.SCRIPT.encode() in Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            return False

    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split() if runs_it(child)]


class Fifo:
    """Lines from a hook to a test, so that the test knows how far the hook is."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    async def lines(self, count: int = 1) -> list[str]:
        """Wait for this many lines."""
        text = ""
        while text.count("\n") < count:
            await readable(self.fd)
            text += os.read(self.fd, 4096).decode()
        return text.splitlines()


async def readable(fd: int) -> None:
    """Wait until there is something to read, or the end."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        async with asyncio.timeout(10):
            await ready.wait()
    finally:
        loop.remove_reader(fd)


async def ended(pid: int) -> None:
    """Wait until a process has ended, whoever's child it is."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        await readable(fd)
    finally:
        os.close(fd)

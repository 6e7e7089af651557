"""Running a program to its end: what it is given, what it wrote on each stream, how it ended."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hookline._core.errors import ToolError
from hookline._core.shells import ShellResult
from hookline._processes.ending import Ending, Patience, attend
from hookline._processes.running import Running
from hookline._processes.spawn import NotStarted, Program, spawn
from hookline._processes.watchdog import ShellWatchdog

KEPT = 16 * 1024  # bytes of each stream that hooks and the model are given
TIMEOUT = 600.0  # seconds: what a guest that is no hook has for a call
PATIENCE = Patience(grace=2.0, drain=1.0)  # as a hook's command has


@dataclass(slots=True)
class _Kept:
    """The beginning of a stream. What goes beyond is read and forgotten: a program is not ended for talking."""

    data: bytearray
    cut: bool = False

    def take(self, chunk: bytes) -> bool:
        room = KEPT - len(self.data)
        self.data += chunk[:room]
        self.cut = self.cut or len(chunk) > room
        return True

    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


class Programs:
    """Starts the programs of one capsule, and sees to it that none outlives its call."""

    def __init__(self) -> None:
        self._watchdog = ShellWatchdog()

    async def run(
        self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: bytes = b"", limit: float = TIMEOUT
    ) -> ShellResult:
        """Run *argv* to its end. Raises ToolError where it cannot be started or takes longer than *limit* seconds."""
        if not self._watchdog.ready:
            self._watchdog.start()
        program = Program(argv=argv, env=env, cwd=str(cwd), stdin=stdin, own_session=True)
        spawned = spawn(program, self._watchdog)
        if isinstance(spawned, NotStarted):
            raise ToolError(f"cannot start {argv[0]} in {cwd}: {spawned.detail}")
        out, err = _Kept(bytearray()), _Kept(bytearray())
        running = Running(spawned, (out.take, err.take))
        try:
            ending = await attend(running, asyncio.get_running_loop().time() + limit, PATIENCE)
        finally:
            running.release()
        ended = ShellResult(exit_code=_code(running.status), stdout=out.text(), stderr=err.text())
        if ending is Ending.LATE:
            raise ToolError(f"{argv[0]} did not end within {limit:g} s", ended)
        return ended

    def close(self) -> None:
        """Start nothing more."""
        self._watchdog.close()


def _code(status: int | None) -> int:
    if status is None:
        return -1
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code

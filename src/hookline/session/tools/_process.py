"""A command of the shell tools: what it prints, how it stands, and giving it input."""

import asyncio
import math
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path

from hookline._core.errors import ToolError
from hookline._processes.ending import Ending, Patience, attend
from hookline._processes.leftovers import Leftovers
from hookline._processes.running import Running
from hookline._processes.spawn import NotStarted, Program, Spawned, Stdin, spawn
from hookline._processes.watchdog import Watchdog
from hookline.session.tools._capture import Capture

GRACE = 2.0  # from TERM to KILL: time enough to remove a lock file
DRAIN = 0.25  # a child that outlives the program for a moment may still print
TAKING = 10.0  # for a program to take the input it was given
QUIET = 0.05  # a pause after which a program is taken to have said what it had to say


class Status(Enum):
    """How a program stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


class Process:
    """A started program.

    Exactly one task awaits `attend`, to its end or until it is cancelled: that is what kills and reaps.
    """

    def __init__(self, spawned: Spawned, *, leftovers: Leftovers) -> None:
        self.status = Status.RUNNING
        self.exit_code: int | None = None
        self.reason = ""
        self.output = Capture()
        self._late = False
        self._input = spawned.stdin_pipe
        self._leftovers = leftovers
        self._changed = asyncio.Event()
        self._writable = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._running = Running(spawned, (self._take,))

    @property
    def pid(self) -> int:
        return self._running.pid

    @property
    def left_behind(self) -> bool:
        """Whether somebody still held its output when it had ended."""
        return self._running.left_behind > 0

    async def attend(self, limit: float | None) -> None:
        """Wait for the end, at most *limit* seconds. Afterwards, cancelled or not, nothing of its group is left."""
        deadline = math.inf if limit is None else self._loop.time() + limit
        try:
            patience = Patience(grace=GRACE, drain=DRAIN, hurried=True)
            self._late = await attend(self._running, deadline, patience) is Ending.LATE
            if self._late:
                self.reason = f"still running after {limit:g} s"
        finally:
            self.remove()

    def stop(self) -> None:
        """Have it ended by the task that attends to it."""
        self._running.stop()

    async def news(self, patience: float) -> None:
        """Wait until it has printed something and paused, or has ended; at most *patience* seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while self.status is Status.RUNNING and not self._changed.is_set():
                    await self._changed.wait()
                while self.status is Status.RUNNING and await self._goes_on():
                    pass
        self._changed.clear()

    async def write(self, data: bytes) -> None:
        """Give it *data* on its standard input."""
        taken = 0
        try:
            async with asyncio.timeout(TAKING):
                while taken < len(data):
                    taken += await self._write_some(memoryview(data)[taken:])
        except TimeoutError:
            raise ToolError(f"it took only {taken} of {len(data)} bytes of the input in {TAKING:g} s") from None
        except BrokenPipeError:
            raise ToolError("it takes no more input: it has closed its standard input") from None

    def close_input(self) -> None:
        """Let it read the end of its input."""
        if self._input is not None:
            self._loop.remove_writer(self._input)
            self._writable.set()  # whoever waits to write has nothing more to wait for
            self._input = None
            self._running.close_stdin()

    def remove(self) -> None:
        """Kill what is left of its group, reap it, and take down how it ended. Waits for nothing."""
        if self.status is not Status.RUNNING:
            return
        self._running.signal_group(signal.SIGKILL)  # those too who hide their output
        self.close_input()
        self._leftovers.add(self._running.give_away_alive())
        self._running.release()
        self._conclude(self._running.status)
        self._changed.set()

    async def _goes_on(self) -> bool:
        """Whether more came before the pause was over."""
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET):
                return await self._changed.wait()
        return False

    async def _write_some(self, data: memoryview) -> int:
        if self._input is None:
            raise ToolError("it takes no more input: its standard input is closed")
        with suppress(BlockingIOError):
            return os.write(self._input, data)
        self._writable.clear()
        self._loop.add_writer(self._input, self._writable.set)
        try:
            await self._writable.wait()
        finally:
            if self._input is not None:
                self._loop.remove_writer(self._input)
        return 0

    def _take(self, data: bytes) -> bool:
        self.output.add(data)
        self._changed.set()
        return True

    def _conclude(self, status: int | None) -> None:
        if self._late:
            self.status = Status.TIMED_OUT
            return
        self.status = Status.FAILED
        if status is None:
            self.reason = "its exit code is not known"
            return
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            self.status, self.exit_code = Status.COMPLETED, 0
        elif code > 0:
            self.exit_code, self.reason = code, f"exit code {code}"
        else:
            self.exit_code = 128 - code  # as a shell tells it
            self.reason = f"ended by signal {-code} ({signal.strsignal(-code)})"


def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: Stdin,
    watchdog: Watchdog,
    leftovers: Leftovers,
) -> Process:
    """Start *argv*, with both its outputs as one stream, away from our terminal."""
    program = Program(argv=argv, env=env, cwd=str(cwd), stdin=stdin, one_output=True, own_session=True)
    spawned = spawn(program, watchdog)
    if isinstance(spawned, NotStarted):
        raise ToolError(f"cannot start {argv[0]} in {cwd}: {spawned.detail}")
    return Process(spawned, leftovers=leftovers)

"""A program in a process group of its own, which is seen to its end: killed with all that is left of it, and reaped."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path

from hookline._core.errors import ToolError
from hookline.session.tools._capture import Capture

MARK = "HOOKLINE_SHELL"  # the variable by which a process that left its group is still found
CHUNK = 65_536  # what a pipe holds
GRACE = 2.0  # from TERM to KILL: time enough to remove a lock file
DRAIN = 0.25  # a child that outlives the program for a moment may still print
REAPING = 1.0  # a killed process is gone at once, unless the kernel itself hangs; then we do not
TAKING = 10.0  # for a program to take the input it was given
QUIET = 0.05  # a pause after which a program is taken to have said what it had to say
POLL = 0.01  # only where the system cannot tell us that a process ended
ROUNDS = 4  # what a process starts while it is being killed is found in the next round


class Status(Enum):
    """How a program stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


class Process:
    """A started program. Both its outputs are one stream, read from *out*.

    Exactly one task awaits `attend`, to its end or until it is cancelled: that is what kills and reaps.
    """

    def __init__(self, popen: subprocess.Popen[bytes], *, out: int, mark: str) -> None:
        self.status = Status.RUNNING
        self.exit_code: int | None = None
        self.reason = ""
        self.left_behind = False
        self.output = Capture()
        self.pid = popen.pid
        self._popen = popen
        self._out = out
        self._mark = mark
        self._ended_by_itself = False
        self._late = False
        self._changed = asyncio.Event()
        self._exited = asyncio.Event()
        self._closed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(out, self._read)
        self._pidfd = _descriptor_of(popen.pid)
        self._look()

    async def attend(self, limit: float | None) -> None:
        """Wait for the end, at most *limit* seconds. Afterwards, cancelled or not, nothing of it is left."""
        try:
            async with asyncio.timeout(limit):
                await self._exited.wait()
            self._ended_by_itself = True
        except TimeoutError:
            self._late = True
            self.reason = f"still running after {limit:g} s"
        finally:
            try:
                await self._wind_down()
            finally:
                self.remove()

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
        if self._popen.stdin is not None:
            self._popen.stdin.close()

    async def _goes_on(self) -> bool:
        """Whether more came before the pause was over."""
        self._changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET):
                return await self._changed.wait()
        return False

    async def _write_some(self, data: memoryview) -> int:
        stdin = self._popen.stdin
        if stdin is None or stdin.closed:
            raise ToolError("it takes no more input: its standard input is closed")
        with suppress(BlockingIOError):
            return os.write(stdin.fileno(), data)
        writable = asyncio.Event()
        fd = stdin.fileno()
        self._loop.add_writer(fd, writable.set)
        try:
            await writable.wait()
        finally:
            self._loop.remove_writer(fd)
        return 0

    def _read(self) -> None:
        try:
            data = os.read(self._out, CHUNK)
        except BlockingIOError:
            return
        if data:
            self.output.add(data)
            self._changed.set()
        else:
            self._loop.remove_reader(self._out)
            self._closed.set()

    def _look(self) -> None:
        """Learn of the exit: from the process descriptor, or by looking again and again."""
        if self._pidfd is not None:
            self._loop.add_reader(self._pidfd, self._note_exit, self._pidfd)
        elif self._popen.poll() is None:
            self._loop.call_later(POLL, self._look)
        else:
            self._exited.set()

    def _note_exit(self, pidfd: int) -> None:
        self._loop.remove_reader(pidfd)
        self._exited.set()

    async def _wind_down(self) -> None:
        """Let it end in its own way, in a bounded time."""
        if not self._ended_by_itself:
            self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(DRAIN if self._ended_by_itself else GRACE):
                await self._exited.wait()
                await self._closed.wait()
        except TimeoutError:
            self.left_behind = self._ended_by_itself

    def remove(self) -> None:
        """Kill and reap what is left, and take down how it ended. Does not wait on anything that may take long."""
        if self.status is not Status.RUNNING:
            return
        self._signal(signal.SIGKILL)  # before reaping: until then no other group can be given the same id
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(REAPING)
        if not (self._ended_by_itself and self._closed.is_set()):
            sweep(f"{MARK}={self._mark}\0")
        for _ in range(ROUNDS):
            if not self._closed.is_set():
                self._read()
        self._let_go()
        self._conclude(self._popen.returncode)
        self._changed.set()

    def _let_go(self) -> None:
        self.close_input()
        self._loop.remove_reader(self._out)
        os.close(self._out)
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)

    def _conclude(self, code: int | None) -> None:
        if self._late:
            self.status = Status.TIMED_OUT
        elif code == 0:
            self.status, self.exit_code = Status.COMPLETED, 0
        elif code is None or code > 0:
            self.status, self.exit_code, self.reason = Status.FAILED, code, f"exit code {code}"
        else:
            self.status, self.exit_code = Status.FAILED, 128 - code  # as a shell tells it
            self.reason = f"ended by signal {-code} ({signal.strsignal(-code)})"

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):  # gone; or another user's by now, as after sudo
            os.killpg(self.pid, number)


def start(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: int, mark: str) -> Process:
    """Start *argv*, marked so that what escapes its group can be found. *stdin* as for Popen."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    try:
        popen = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**env, MARK: mark},
            stdin=stdin,
            stdout=writing,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(reading)
        raise ToolError(f"cannot start {argv[0]} in {cwd}: {error}") from None
    finally:
        os.close(writing)
    if popen.stdin is not None:
        os.set_blocking(popen.stdin.fileno(), False)
    return Process(popen, out=reading, mark=mark)


def _descriptor_of(pid: int) -> int | None:
    """What becomes readable when the process ends, or None where the system has no such thing to give."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def sweep(mark: str) -> None:
    """Kill every process whose environment holds *mark*. Finds nothing where there is no /proc."""
    wanted = mark.encode()
    for _ in range(ROUNDS):
        found = [pid for pid in _pids() if pid != os.getpid() and wanted in _environment_of(pid)]
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def _pids() -> list[int]:
    with suppress(OSError):
        return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
    return []


def _environment_of(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""

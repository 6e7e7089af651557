"""Learning that a child process has ended, and only then taking its status.

Between the two the child is a zombie, which keeps its process group's number from being given to anybody else.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from typing import Protocol


class ExitWatch(Protocol):
    """Watches one child process of ours."""

    def listen(self, loop: asyncio.AbstractEventLoop, ended: Callable[[], None]) -> None:
        """Call *ended* once, in the loop, when the process has ended."""
        ...

    def reap(self) -> int | None:
        """Wait for the end and take the wait status; None when something else in this process took it first."""
        ...

    def close(self) -> None:
        """Listen no more."""
        ...


def watch_exit(pid: int) -> ExitWatch:
    """The best watch that this system has."""
    try:
        return _Descriptor(pid, os.pidfd_open(pid))
    except (AttributeError, OSError):  # not Linux; an old kernel, a sandbox, or no descriptor left
        return _Thread(pid)


def _reap(pid: int) -> int | None:
    try:
        return os.waitpid(pid, 0)[1]
    except ChildProcessError:
        return None


class _Descriptor:
    """Readable when the process has ended."""

    def __init__(self, pid: int, fd: int) -> None:
        self._pid = pid
        self._fd = fd
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self, loop: asyncio.AbstractEventLoop, ended: Callable[[], None]) -> None:
        self._loop = loop
        loop.add_reader(self._fd, self._tell, ended)

    def _tell(self, ended: Callable[[], None]) -> None:
        self._stop()
        ended()

    def _stop(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._fd)
            self._loop = None

    def reap(self) -> int | None:
        return _reap(self._pid)

    def close(self) -> None:
        self._stop()
        os.close(self._fd)


class _Thread:
    """Waits in a thread. Without `waitid`, as on macOS before Python 3.13, the status has to be taken right there."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._status: int | None = None

    def listen(self, loop: asyncio.AbstractEventLoop, ended: Callable[[], None]) -> None:
        name = f"hookline-exit-{self._pid}"
        threading.Thread(target=self._tell, args=(loop, ended), name=name, daemon=True).start()

    def _tell(self, loop: asyncio.AbstractEventLoop, ended: Callable[[], None]) -> None:
        if hasattr(os, "waitid"):
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
        else:
            self._status = _reap(self._pid)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(ended)

    def reap(self) -> int | None:
        return _reap(self._pid) if self._status is None else self._status

    def close(self) -> None:
        """Nothing to let go of: the thread ends with the process."""

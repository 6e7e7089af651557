"""A process while it lives: whether it has ended, who belongs to it, and waiting for what happens to it."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Sequence

from hookline._processes.descendants import Kin, family, holds, mark
from hookline._processes.exit import watch_exit
from hookline._processes.given import PIPE
from hookline._processes.spawn import Spawned

CHUNK = PIPE  # one read empties it

Sink = Callable[[bytes], bool]  # takes what was written, and says whether more is wanted


class Running:
    """One running program, used by one task. *sinks* take its outputs.

    `exited`: the process itself has ended. `alone`: everyone who inherited anything from us has ended, known only
    after `listen_for_others`. `full`: a sink wants no more. `stopped`: somebody called `stop`. `cancelled`: what the
    task was cancelled with while it waited `patiently`. `left_behind`: how many held its output when it had ended.
    `status`, the one of `wait`, and `stdin_read` are known once it is released.
    """

    def __init__(self, spawned: Spawned, sinks: Sequence[Sink]) -> None:
        self.pid = spawned.process.pid
        self.exited = False
        self.alone = False
        self.full = False
        self.stopped = False
        self.cancelled: asyncio.CancelledError | None = None
        self.left_behind = 0
        self.status: int | None = None
        self.stdin_read: int | None = None
        self.released = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._spawned = spawned
        self._sinks = sinks
        self._watch = watch_exit(self.pid)
        self._open = set(spawned.outputs)
        self._heard: set[int] = set()
        self._waiter: asyncio.Future[None] | None = None

    @property
    def drained(self) -> bool:
        """Whether nobody can write to its outputs any more."""
        return not self._open

    def listen(self) -> None:
        """Begin to read what it writes, and to notice its end."""
        for fd, sink in zip(self._spawned.outputs, self._sinks, strict=True):
            self._hear(fd, self._read, fd, sink)
        self._watch.listen(self._loop, self._on_exit)

    def listen_for_others(self) -> None:
        """Begin to notice the end of everyone who inherited something from us."""
        self._hear(self._spawned.alive, self._read_alive)

    def stop(self) -> None:
        """Ask the task that uses it to end it."""
        self.stopped = True
        self._wake()

    async def until(self, condition: Callable[[], bool], when: float) -> bool:
        """Wait for *condition*, at most until *when* (loop time), and say whether it holds."""
        while not condition():
            if self._loop.time() >= when:
                return False
            self._waiter = self._loop.create_future()
            timer = self._loop.call_at(when, self._wake)
            try:
                await self._waiter
            finally:
                timer.cancel()
        return True

    async def patiently(self, condition: Callable[[], bool], when: float) -> bool:
        """Like `until`, and not to be cancelled: a request is kept in `cancelled`."""
        while True:
            try:
                return await self.until(condition, when)
            except asyncio.CancelledError as error:
                self.cancelled = error

    def family(self, known: Collection[Kin] = ()) -> frozenset[Kin]:
        """Everyone that it started, as far as they can be found."""
        ends = self._spawned
        # Not by a pipe that it reads from: there it holds the same end as a fork of us would.
        files = () if ends.given is None or ends.given.is_pipe else (ends.given.fd,)
        return family(self.pid, known, {mark(fd) for fd in (*files, *ends.outputs, ends.alive)} - {""})

    def writers(self, kin: Collection[Kin]) -> int:
        """How many of them hold one of its outputs."""
        marks = {mark(fd) for fd in self._open} - {""}
        return sum(holds(each.pid, marks) for each in kin)

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the whole group. Its number is its own until the process is reaped, which is in `release`."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody left; somebody changed user
            os.killpg(self.pid, number)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(self.pid) != self.pid:  # it has left the group that it led
                os.kill(self.pid, number)

    def close_stdin(self) -> None:
        """Let it read the end of the pipe that is its standard input."""
        pipe = self._spawned.stdin_pipe
        if pipe is not None and pipe in self._spawned.owned:
            self._spawned.owned.discard(pipe)
            os.close(pipe)

    def give_away_alive(self) -> int:
        """The reading end of the pipe that whoever inherited something from us still holds. It is the caller's now."""
        alive = self._spawned.alive
        self._ignore(alive)
        self._spawned.owned.discard(alive)
        return alive

    def release(self) -> None:
        """Reap it and close our ends. If it still runs, which only a lost loop or the kernel can cause, kill it."""
        ends = self._spawned
        for fd in tuple(self._heard):
            self._ignore(fd)
        self._watch.close()
        ends.guard.end()
        if self.exited:
            self.status = self._watch.reap()
        else:
            self.signal_group(signal.SIGKILL)
            if not sys.is_finalizing():  # no thread starts any more, and waiting for its start would never end
                threading.Thread(target=self._watch.reap, name="hookline-reaper", daemon=True).start()
        ends.process.returncode = self.status or 0  # or Popen would try to reap it too
        if ends.given is not None:
            self.stdin_read = ends.given.read()
        ends.close()
        self.released.set()

    def _hear(self, fd: int, callback: Callable[..., None], *arguments: object) -> None:
        self._loop.add_reader(fd, callback, *arguments)
        self._heard.add(fd)

    def _ignore(self, fd: int) -> None:
        self._loop.remove_reader(fd)
        self._heard.discard(fd)

    def _read(self, fd: int, sink: Sink) -> None:
        try:
            chunk = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._open.discard(fd)
        elif sink(chunk):
            return
        else:
            self.full = True
        self._ignore(fd)
        self._wake()

    def _read_alive(self) -> None:
        if not os.read(self._spawned.alive, CHUNK):
            self._ignore(self._spawned.alive)
            self.alone = True
            self._wake()

    def _on_exit(self) -> None:
        self.exited = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

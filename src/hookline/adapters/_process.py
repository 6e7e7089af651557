"""A hook's process while it lives: what it wrote, whether it has ended, and waiting for what happens to it."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Collection

from hookline.adapters._descendants import Kin, family, holds, mark
from hookline.adapters._exit import watch_exit
from hookline.adapters._limits import Capped
from hookline.adapters._spawn import Spawned

CHUNK = 65_536  # what a pipe holds: one read empties it


class HookProcess:
    """One running hook, used by one task.

    `exited`: the process itself has ended. `alone`: everyone who inherited anything from us has ended, known only
    after `listen_for_others`. `stopped`: somebody called `stop`. `cancelled`: what the task was cancelled with while
    it waited `patiently`. `left_behind`: how many held its output when it had ended. `status`, the one of `wait`, and
    `stdin_read` are known once it is released.
    """

    def __init__(self, spawned: Spawned, *, cap: int) -> None:
        self.pid = spawned.process.pid
        self.stdout = Capped(cap)
        self.stderr = Capped(cap)
        self.exited = False
        self.alone = False
        self.stopped = False
        self.cancelled: asyncio.CancelledError | None = None
        self.left_behind = 0
        self.status: int | None = None
        self.stdin_read: int | None = None
        self.released = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._spawned = spawned
        self._watch = watch_exit(self.pid)
        self._open = {spawned.stdout, spawned.stderr}
        self._heard: set[int] = set()
        self._waiter: asyncio.Future[None] | None = None

    @property
    def drained(self) -> bool:
        """Whether nobody can write to its standard output or error any more."""
        return not self._open

    @property
    def over_cap(self) -> bool:
        return self.stdout.over or self.stderr.over

    def listen(self) -> None:
        """Begin to read what it writes, and to notice its end."""
        self._hear(self._spawned.stdout, self._read, self._spawned.stdout, self.stdout)
        self._hear(self._spawned.stderr, self._read, self._spawned.stderr, self.stderr)
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
        return family(self.pid, known, {mark(fd) for fd in (ends.stdin, ends.stdout, ends.stderr, ends.alive)} - {""})

    def writers(self, kin: Collection[Kin]) -> int:
        """How many of them hold its standard output or error."""
        marks = {mark(fd) for fd in self._open} - {""}
        return sum(holds(each.pid, marks) for each in kin)

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the whole group. Its number is its own until the process is reaped, which is in `release`."""
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody left; somebody changed user
            os.killpg(self.pid, number)

    def release(self) -> None:
        """Reap it and close our ends. If it still runs, which only a lost loop or the kernel can cause, kill it."""
        ends = self._spawned
        for fd in tuple(self._heard):
            self._ignore(fd)
        self._watch.close()
        if self.exited:
            self.status = self._watch.reap()
        else:
            self.signal_group(signal.SIGKILL)
            threading.Thread(target=self._watch.reap, name="hookline-reaper", daemon=True).start()
        ends.process.returncode = self.status or 0  # or Popen would try to reap it too
        self.stdin_read = self._bytes_read()
        ends.close()
        self.released.set()

    def _bytes_read(self) -> int | None:
        """How far it read its standard input; None if it opened it anew, as /dev/stdin, with an offset of its own."""
        offset = os.lseek(self._spawned.stdin, 0, os.SEEK_CUR)
        seen = os.fstat(self._spawned.stdin)
        if offset == 0 and seen.st_size and seen.st_atime_ns:
            return None
        return min(offset, seen.st_size)

    def _hear(self, fd: int, callback: Callable[..., None], *arguments: object) -> None:
        self._loop.add_reader(fd, callback, *arguments)
        self._heard.add(fd)

    def _ignore(self, fd: int) -> None:
        self._loop.remove_reader(fd)
        self._heard.discard(fd)

    def _read(self, fd: int, stream: Capped) -> None:
        try:
            chunk = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        stream.take(chunk)
        if chunk and not stream.over:
            return
        self._ignore(fd)  # at its end; or over its cap, and then nobody wants to know more
        if not chunk:
            self._open.discard(fd)
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

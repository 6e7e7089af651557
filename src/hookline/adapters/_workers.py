"""Daemon threads for handlers that are not coroutines: a handler that hangs stops neither the loop nor the exit."""

import asyncio
import contextlib
import contextvars
import functools
import threading
from collections.abc import Callable
from enum import Enum
from queue import SimpleQueue

from hookline._core.payload import Reply, Returned
from hookline.adapters._limits import could_not_start, crashed

MOST = 32  # handlers at once; enough for every hook of one event, too few for a burst to fill the machine


class _State(Enum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    ABANDONED = "abandoned"


class _Job:
    """One call on its way through a thread. Its state changes under the lock of the workers."""

    __slots__ = ("_call", "_future", "_loop", "state")

    def __init__(self, call: Callable[[], object], future: "asyncio.Future[Reply | None]") -> None:
        self._call = call
        self._future = future
        self._loop = future.get_loop()
        self.state = _State.QUEUED

    def reply(self) -> Reply:
        try:
            return Returned(self._call())
        except BaseException as error:  # noqa: BLE001 - SystemExit too: it must end neither the thread nor the host
            return crashed(error)

    def deliver(self, reply: Reply) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self.settle, reply)

    def settle(self, reply: Reply | None) -> None:
        if not self._future.done():
            self._future.set_result(reply)


class Workers:
    """A small pool. A thread whose call was given up is replaced, and ends when that call does."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0  # those that serve the queue, so without those that were given up
        self._pending = 0  # calls waiting or running that are not given up

    async def call(self, handler: Callable[[object], object], event: object, deadline: float) -> Reply | None:
        """The reply of *handler*, run with a copy of the caller's context; None at *deadline* (loop time).

        A call whose time is up, or whose caller is cancelled, is given up: it may run on, its result goes nowhere.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Reply | None] = loop.create_future()
        context = contextvars.copy_context()
        job = _Job(functools.partial(context.run, handler, event), future)
        timer = loop.call_at(deadline, job.settle, None)
        try:
            self._enqueue(job)
            reply = await future
        except RuntimeError as error:  # the system has no thread left for us
            return could_not_start(f"worker thread: {error}")
        finally:
            timer.cancel()
            self._give_up(job)
        return reply if loop.time() < deadline else None

    def close(self) -> None:
        """Let idle threads end now, and busy ones after their call."""
        with self._lock:
            for _ in range(self._threads):
                self._jobs.put(None)

    def _enqueue(self, job: _Job) -> None:
        with self._lock:
            self._pending += 1
            self._hire()
        self._jobs.put(job)

    def _hire(self) -> None:
        """Have a thread for each pending call, up to `MOST`."""
        if self._threads < min(self._pending, MOST):
            threading.Thread(target=self._work, name="hookline-handler", daemon=True).start()
            self._threads += 1

    def _give_up(self, job: _Job) -> None:
        """Stop counting a call, unless it is done."""
        with self._lock:
            if job.state is _State.DONE:
                return
            if job.state is _State.RUNNING:
                self._threads -= 1
            job.state = _State.ABANDONED
            self._pending -= 1
            with contextlib.suppress(RuntimeError):  # no thread to be had: the next call tries again
                self._hire()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None and self._serve(job):
            del job  # an idle thread keeps nobody's event alive

    def _serve(self, job: _Job) -> bool:
        """Make one call; says whether this thread still belongs to the pool."""
        with self._lock:
            if job.state is _State.ABANDONED:
                return True
            job.state = _State.RUNNING
        reply = job.reply()
        with self._lock:
            if job.state is _State.ABANDONED:
                return False
            job.state = _State.DONE
            self._pending -= 1
        job.deliver(reply)
        return True

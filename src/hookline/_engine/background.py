"""Background lanes: hooks that the loop does not wait for, bounded, and drained when their session ends.

One worker makes a lane a serial queue; many workers and no queue make it a pool that never waits.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hookline._core.hooks import Hook
from hookline._core.lanes import LanePolicy, WhenFull
from hookline._core.outcomes import Kind, Outcome
from hookline._core.reasons import Skip


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """One background call: what runs it, in the context of its event, and where word goes of one that never ran."""

    session_id: str
    hook: Hook
    run: Callable[[], Coroutine[Any, Any, object]]
    record: Callable[[Outcome], None]
    context: Context
    begun: bool = False
    room: "asyncio.Future[None] | None" = field(default=None)

    async def work(self) -> None:
        self.begun = True
        await self.run()

    def skip(self, why: Skip) -> None:
        self.record(Outcome(hook=self.hook, kind=Kind.SKIPPED, why=why))

    def cancel(self) -> None:
        self.record(Outcome(hook=self.hook, kind=Kind.CANCELLED))


class Lane:
    """The background calls of one dialect in one engine, in the order in which they were submitted."""

    def __init__(self, policy: LanePolicy) -> None:
        self._policy = policy
        self._running: dict[asyncio.Task[None], Job] = {}
        self._queue: deque[Job] = deque()
        self._outside: deque[Job] = deque()  # they wait for room in the queue, and hold their events back
        self._faults: dict[str, list[BaseException]] = {}  # only an account that could not be written raises in a call
        self._closed = False

    async def submit(self, job: Job) -> bool:
        """Start or queue *job*. Past both bounds it is skipped, or waited for, as the policy says. False if skipped."""
        if self._closed:
            job.skip(Skip.CLOSED)
            return False
        if self._has_room():  # and nobody waits for it: whoever makes room lets them in
            self._take(job)
        elif self._policy.when_full is WhenFull.DROP:
            job.skip(Skip.LANE_FULL)
            return False
        else:
            await self._wait_for_room(job)
        return True

    async def drain(self, session_id: str, budget: float) -> tuple[str, ...]:
        """Wait up to *budget* seconds for a session's calls, cancel the rest, and name the hooks that were cut off."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + budget
        while self._jobs_of(session_id) and (left := deadline - loop.time()) > 0:
            await asyncio.wait(self._running, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        abandoned = await self._abandon(lambda job: job.session_id == session_id)
        if faults := self._faults.pop(session_id, None):
            raise faults[0]
        return abandoned

    def shut(self) -> None:
        """Take nothing more, and skip whatever has not started."""
        self._closed = True
        for job in (*self._queue, *self._outside):
            self._account_for(job, partial(job.skip, Skip.CLOSED))
            _let_go(job)
        self._queue.clear()
        self._outside.clear()

    async def close(self) -> None:
        """Shut, cancel what runs and wait for it to end. Raises what kept an account from being written."""
        self.shut()
        await self._abandon(lambda _: True)
        faults = [fault for theirs in self._faults.values() for fault in theirs]
        self._faults.clear()
        if faults:
            raise faults[0]

    def _has_room(self) -> bool:
        return len(self._running) < self._policy.workers or len(self._queue) < self._policy.queue

    def _take(self, job: Job) -> None:
        self._queue.append(job)
        self._start()

    def _start(self) -> None:
        while self._queue and len(self._running) < self._policy.workers:
            job = self._queue.popleft()
            task = asyncio.get_running_loop().create_task(job.work(), context=job.context)
            self._running[task] = job
            task.add_done_callback(self._ended)

    async def _wait_for_room(self, job: Job) -> None:
        job.room = asyncio.get_running_loop().create_future()
        self._outside.append(job)
        try:
            await job.room
        except asyncio.CancelledError:
            if job in self._outside:  # else it got its room in the same moment, and runs
                self._outside.remove(job)
                job.cancel()
            raise

    def _ended(self, task: "asyncio.Task[None]") -> None:
        job = self._running.pop(task)
        if task.cancelled():
            if not job.begun:
                self._account_for(job, job.cancel)
        elif (fault := task.exception()) is not None:
            self._faults.setdefault(job.session_id, []).append(fault)
        self._let_in()

    def _let_in(self) -> None:
        """Use the room that there is."""
        if self._closed:
            return
        self._start()
        while self._outside and self._has_room():
            following = self._outside.popleft()
            self._take(following)
            _let_go(following)

    def _account_for(self, job: Job, tell: Callable[[], None]) -> None:
        """Have an end recorded. Where that cannot be, nobody is here to be told; whoever drains or closes is."""
        try:
            tell()
        except Exception as fault:  # noqa: BLE001  # a recorder may raise anything
            self._faults.setdefault(job.session_id, []).append(fault)

    def _jobs_of(self, session_id: str) -> list[Job]:
        return [job for job in (*self._running.values(), *self._queue) if job.session_id == session_id]

    async def _abandon(self, theirs: Callable[[Job], bool]) -> tuple[str, ...]:
        waiting = [job for job in self._queue if theirs(job)]
        self._queue = deque(job for job in self._queue if not theirs(job))
        for job in waiting:
            self._account_for(job, partial(job.skip, Skip.CLOSED))
        self._let_in()
        running = {task: job for task, job in self._running.items() if theirs(job)}
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        return tuple(job.hook.id for job in (*running.values(), *waiting))


def _let_go(job: Job) -> None:
    """Let the event go on that waited for room for *job*."""
    if job.room is not None and not job.room.done():
        job.room.set_result(None)

"""Background lanes: hooks that the loop does not wait for, bounded, and drained when their session ends.

One worker makes a lane a serial queue; many workers and no queue make it a pool that never waits.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from hookline._core.hooks import Hook
from hookline._core.ports import LanePolicy, WhenFull
from hookline._core.reasons import Skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One background call: what runs it, and what to say when it never ran."""

    session_id: str
    hook: Hook
    run: Callable[[], Coroutine[Any, Any, object]]
    skip: Callable[[Skip], None]


class Lane:
    """The background calls of one dialect in one engine, in the order in which they were submitted."""

    def __init__(self, policy: LanePolicy) -> None:
        self._policy = policy
        self._running: dict[asyncio.Task[object], Job] = {}
        self._waiting: deque[Job] = deque()
        self._changed: asyncio.Event = asyncio.Event()
        self._faults: list[BaseException] = []  # only an account that could not be written raises in a call
        self.dropped = 0

    async def submit(self, job: Job) -> None:
        """Start or queue *job*. Past both bounds it is skipped, or waited for, as the policy says."""
        while self._is_full():
            if self._policy.when_full is WhenFull.DROP:
                self.dropped += 1
                job.skip(Skip.LANE_FULL)
                return
            self._changed.clear()
            await self._changed.wait()
        self._waiting.append(job)
        self._start_next()

    async def drain(self, session_id: str, budget: float) -> tuple[str, ...]:
        """Wait up to *budget* seconds for a session's calls, cancel the rest, and name the hooks that were cut off."""
        deadline = asyncio.get_running_loop().time() + budget
        while self._jobs_of(session_id):
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                break
            tasks = [task for task, job in self._running.items() if job.session_id == session_id]
            self._changed.clear()
            waiter = asyncio.ensure_future(self._changed.wait())
            await asyncio.wait([*tasks, waiter], timeout=left, return_when=asyncio.FIRST_COMPLETED)
            waiter.cancel()
        abandoned = await self._abandon(session_id)
        if self._faults:
            raise self._faults.pop(0)
        return abandoned

    def _is_full(self) -> bool:
        return len(self._running) >= self._policy.workers and len(self._waiting) >= self._policy.queue

    def _jobs_of(self, session_id: str) -> list[Job]:
        return [job for job in (*self._running.values(), *self._waiting) if job.session_id == session_id]

    def _start_next(self) -> None:
        while self._waiting and len(self._running) < self._policy.workers:
            job = self._waiting.popleft()
            task = asyncio.ensure_future(job.run())
            self._running[task] = job
            task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[object]") -> None:
        self._running.pop(task, None)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._faults.append(fault)
        self._start_next()
        self._changed.set()

    async def _abandon(self, session_id: str) -> tuple[str, ...]:
        waiting = [job for job in self._waiting if job.session_id == session_id]
        self._waiting = deque(job for job in self._waiting if job.session_id != session_id)
        for job in waiting:
            job.skip(Skip.CLOSED)
        running = {task: job for task, job in self._running.items() if job.session_id == session_id}
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        return tuple(job.hook.id for job in (*running.values(), *waiting))

    async def close(self) -> None:
        """Cancel everything and wait for it to end."""
        for session_id in {job.session_id for job in (*self._running.values(), *self._waiting)}:
            await self._abandon(session_id)

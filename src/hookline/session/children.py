"""Child agents: started by a tool call, at work beside their parent, their results brought in at step boundaries."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from hookline._core.records import Ending
from hookline.session.ports import RunResult

MAX_DEPTH = 3  # an agent, its child and its grandchild: deeper trees have only ever been loops


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A child that ended, and what it brought."""

    id: str
    result: RunResult


class Children:
    """The children of one session."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[RunResult]] = {}
        self._count = 0

    def next_id(self) -> str:
        """A name for one more child."""
        self._count += 1
        return f"agent-{self._count}"

    def start(self, name: str, work: Coroutine[Any, Any, RunResult]) -> None:
        """Let a child work beside its parent."""
        self._tasks[name] = asyncio.ensure_future(work)

    async def finished(self, *, wait: bool) -> tuple[Finished, ...]:
        """Those that ended since the last time, in the order in which they were started; with *wait* at least one."""
        if wait and self._tasks and not any(task.done() for task in self._tasks.values()):
            await asyncio.wait(self._tasks.values(), return_when=asyncio.FIRST_COMPLETED)
        done = [name for name, task in self._tasks.items() if task.done()]
        return tuple(Finished(id=name, result=_result(self._tasks.pop(name))) for name in done)

    @property
    def at_work(self) -> bool:
        return bool(self._tasks)

    async def aclose(self) -> None:
        """Cancel all that still work and wait for them to end."""
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.exception()  # nobody waits for its result any more


def _result(task: asyncio.Task[RunResult]) -> RunResult:
    """What a child came to. One that broke has failed by itself: its parent goes on."""
    if task.cancelled():
        return RunResult(ending=Ending.CANCELLED, reason="interrupted")
    fault = task.exception()
    if fault is not None:
        return RunResult(ending=Ending.FAILED, reason=f"{type(fault).__name__}: {fault}")
    return task.result()

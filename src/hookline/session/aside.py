"""Telling hooks of settled facts: nobody waits for them, and nothing that they say or fail at changes the fact."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from hookline._core.decisions import Deny
from hookline._core.outcomes import Kind
from hookline._core.points import Event
from hookline._core.ports import Dispatcher, Engine, Recorder
from hookline._core.reasons import Skip
from hookline._core.records import Noted
from hookline._core.resolution import Resolution

DENIED = "observe-only post-commit hook returned a denial; the committed fact is unchanged: {hook}"
FAILED = "observe-only post-commit hook execution failed; the committed fact is unchanged: {hook}: {why}"


class Unawaited:
    """Work that nobody waits for, until its session ends."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, object]) -> None:
        """Begin *work*, and return at once."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def settle(self, budget: float) -> None:
        """Wait up to *budget* seconds for what is still at work, and cut off the rest."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=budget)
        left = tuple(self._tasks)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    def _ended(self, task: "asyncio.Task[object]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # an account that could not be written fails the next action too, and louder


class Aside:
    """The facts of one session that are being told. One task each, in no order."""

    def __init__(self, engine: Engine, dispatcher: Callable[[], Dispatcher], recorder: Recorder) -> None:
        self._engine = engine
        self._dispatcher = dispatcher
        self._recorder = recorder
        self._at_work = Unawaited()

    @property
    def telling(self) -> int:
        """How many facts are being told."""
        return len(self._at_work)

    def tell(self, event: Event) -> None:
        """Have the hooks of *event* told, and return at once. Without any there is nothing to be done."""
        if self._engine.rules(type(event)):
            self._at_work.start(self._tell(event))

    async def settle(self, budget: float) -> None:
        """Wait up to *budget* seconds for what is being told, and cut off the rest."""
        await self._at_work.settle(budget)

    async def _tell(self, event: Event) -> None:
        self._note(await self._dispatcher().dispatch(event))

    def _note(self, resolution: Resolution) -> None:
        """Put on record what would have mattered at another point."""
        texts = [DENIED.format(hook=each.hook) for each in resolution.ignored if each.what is Deny]
        texts += [
            FAILED.format(hook=each.hook.id, why=each.detail)
            for each in resolution.outcomes
            if each.kind is Kind.FAILED or each.why is Skip.PAYLOAD_TOO_LARGE
        ]
        for text in texts:
            self._recorder.record(Noted(origin=resolution.event.origin, text=text))

"""Endings that a cancellation must not leave half done: processes gone, accounts closed, whatever comes."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Cancellations:
    """Remembers what a task was cancelled with while it was finishing, to be raised when all is done."""

    def __init__(self) -> None:
        self._first: asyncio.CancelledError | None = None

    @property
    def any(self) -> bool:
        return self._first is not None

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        """Run *work* to its own end, which has to come soon."""
        return await self._run(work, cut=False)

    async def finish_or_cut(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Run *work*; a cancellation cuts it short and is remembered. None when it was cut."""
        try:
            return await self._run(work, cut=True)
        except asyncio.CancelledError:
            if not self.any:
                raise  # its own doing
            return None

    def raise_if_any(self) -> None:
        """Let the cancellation take its way, now that everything is done."""
        if self._first is not None:
            raise self._first

    async def _run(self, work: Coroutine[Any, Any, T], *, cut: bool) -> T:
        task = asyncio.ensure_future(work)
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError as error:
                self._first = self._first or error
                if cut:
                    task.cancel()
        return task.result()


async def all_of(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """What each comes to, all at once. If one raises, or we are cancelled, all have ended before that takes its way."""
    if len(works) == 1:  # nearly every time, and a task costs as much as a quick hook
        return [await works[0]]
    tasks = [asyncio.ensure_future(work) for work in works]
    cancellations = Cancellations()
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await cancellations.finish(_ended(tasks))
        cancellations.raise_if_any()


async def _ended(tasks: Sequence["asyncio.Task[T]"]) -> None:
    if tasks:
        await asyncio.wait(tasks)

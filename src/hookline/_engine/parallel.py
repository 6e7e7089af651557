"""The parallel strategy: all start at once, nobody sees another's answer."""

import asyncio
from collections.abc import Sequence

from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._engine.invoke import invoke
from hookline._engine.occasion import Occasion


async def run_parallel(hooks: Sequence[Hook], occasion: Occasion) -> list[Outcome]:
    """The outcomes of *hooks*, in their order. Cancelling it cancels every call and waits until each has ended."""
    if len(hooks) == 1:
        return [await invoke(hooks[0], occasion)]
    tasks = [asyncio.ensure_future(invoke(hook, occasion)) for hook in hooks]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await _until_ended(tasks)
        raise


async def _until_ended(tasks: Sequence[asyncio.Task[Outcome]]) -> None:
    """Wait for all of *tasks*, also when the waiting itself is cancelled: their processes must be gone first."""
    cancelled: asyncio.CancelledError | None = None
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as again:
            cancelled = again
    if cancelled is not None:
        raise cancelled

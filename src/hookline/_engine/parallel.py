"""The parallel strategy: all start at once, nobody sees another's answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._engine.invoke import invoke
from hookline._engine.occasion import Occasion


async def run_parallel(hooks: Sequence[Hook], occasion: Occasion) -> tuple[list[Outcome], Occasion]:
    """The outcomes of *hooks*, in their order. Cancelling it cancels every call once and waits until each has ended."""
    if len(hooks) == 1:
        return [await invoke(hooks[0], occasion)], occasion
    apart = replace(occasion, requests=0)  # each in a task of its own
    tasks = [asyncio.ensure_future(invoke(hook, apart)) for hook in hooks]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)  # only an account that cannot be kept raises
    finally:
        await _end(tasks)
    faults = [fault for task in tasks if not task.cancelled() and (fault := task.exception()) is not None]
    if faults:
        raise faults[0]  # and not the cancellation of a task before it, which is only what we made of it
    return [task.result() for task in tasks], occasion


async def _end(tasks: Sequence[asyncio.Task[Outcome]]) -> None:
    """Cancel what is left of *tasks* and wait for it, also when cancelled again: their processes must be gone first."""
    cancelled: asyncio.CancelledError | None = None
    for task in tasks:
        if not task.done():
            task.cancel()
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as again:
            cancelled = again
    for task in tasks:
        if not task.cancelled():
            task.exception()  # taken down, also where a cancellation is raised in its place
    if cancelled is not None:
        raise cancelled

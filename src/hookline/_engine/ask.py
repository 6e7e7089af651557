"""Asking one dialect: its hooks in the foreground and in the background, folded into one resolution."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._core.ports import Strategy
from hookline._core.reasons import Skip
from hookline._core.resolution import Resolution
from hookline._engine.background import Job, Lane
from hookline._engine.chain import is_cut_off, run_chain
from hookline._engine.fold import fold
from hookline._engine.invoke import invoke, skipped
from hookline._engine.occasion import Occasion
from hookline._engine.parallel import run_parallel

RUN: dict[Strategy, Callable[[Sequence[Hook], Occasion], Awaitable[list[Outcome]]]] = {
    Strategy.PARALLEL: run_parallel,
    Strategy.CHAIN: run_chain,
}


async def ask(hooks: Sequence[Hook], occasion: Occasion, lane: Callable[[], Lane]) -> Resolution:
    """What the selected *hooks* of one dialect say. Behind a Deny of another dialect only observers are called.

    Under the parallel strategy background hooks start with the others; under the chain they follow its end, because
    a Deny may concern them.
    """
    background = [hook for hook in hooks if hook.background]
    if not background:
        return await _ask_foreground(hooks, occasion)
    foreground = [hook for hook in hooks if not hook.background]
    if occasion.dialect.strategy is Strategy.PARALLEL:
        await _send(background, occasion, lane())
        return await _ask_foreground(foreground, occasion)
    resolution = await _ask_foreground(foreground, occasion)
    await _send(background, replace(occasion, denied=occasion.denied or resolution.denied), lane())
    return resolution


async def _ask_foreground(hooks: Sequence[Hook], occasion: Occasion) -> Resolution:
    outcomes: dict[str, Outcome] = {}
    if occasion.denied:
        outcomes = {
            hook.id: skipped(hook, Skip.DENIED_EARLIER, "the action was denied before")
            for hook in hooks
            if is_cut_off(hook, occasion)
        }
    called = [hook for hook in hooks if hook.id not in outcomes] if outcomes else hooks
    ended = await RUN[occasion.dialect.strategy](called, occasion) if called else []
    if outcomes:
        outcomes.update((outcome.hook.id, outcome) for outcome in ended)
        ended = [outcomes[hook.id] for hook in hooks]
    return fold(occasion.event, ended, occasion.rule, strict=occasion.strict)


async def _send(hooks: Sequence[Hook], occasion: Occasion, lane: Lane) -> None:
    for hook in hooks:
        if occasion.denied and not occasion.dialect.observers_after_deny:
            _record_skip(hook, occasion, Skip.DENIED_EARLIER)
            continue
        job = Job(
            session_id=occasion.event.origin.session_id,
            hook=hook,
            run=partial(invoke, hook, occasion),
            skip=partial(_record_skip, hook, occasion),
        )
        await lane.submit(job)


def _record_skip(hook: Hook, occasion: Occasion, why: Skip) -> None:
    occasion.record_end(skipped(hook, why))

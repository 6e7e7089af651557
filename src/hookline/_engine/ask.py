"""Asking one dialect: its hooks in the foreground, and in the background those that nobody waits for."""

import contextvars
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._core.rules import Strategy
from hookline._engine.background import Job, Lane
from hookline._engine.chain import cut_off, is_cut_off, run_chain, run_sequence
from hookline._engine.invoke import invoke
from hookline._engine.occasion import Occasion
from hookline._engine.parallel import run_parallel
from hookline._engine.plan import strategy_of

Run = Callable[[Sequence[Hook], Occasion], Awaitable[tuple[list[Outcome], Occasion]]]

Asked = tuple[list[Outcome], tuple[Hook, ...]]

RUN: dict[Strategy, Run] = {
    Strategy.PARALLEL: run_parallel,
    Strategy.CHAIN: run_chain,
    Strategy.SEQUENCE: run_sequence,
}


async def ask(hooks: Sequence[Hook], occasion: Occasion, lane: Callable[[Hook], Lane]) -> Asked:
    """The outcomes of the foreground ones among *hooks*, in their order, and the background ones that were launched.

    Behind a Deny of another dialect only observers are called. Under the parallel strategy background hooks start with
    the others; under the chain they follow its end, because what it made of the event concerns them, and none follows
    one that a hook failed whose failure ends the run. The sequence knows no background.
    """
    background = [hook for hook in hooks if hook.background]
    strategy = strategy_of(occasion.dialect, occasion.rule)
    if not background or strategy is Strategy.SEQUENCE:
        outcomes, _ = await _ask_foreground(hooks, occasion)
        return outcomes, ()
    foreground = [hook for hook in hooks if not hook.background]
    if strategy is Strategy.PARALLEL:
        launched = await _send(background, occasion, lane)
        outcomes, _ = await _ask_foreground(foreground, occasion)
        return outcomes, launched
    outcomes, left = await _ask_foreground(foreground, occasion)
    return outcomes, await _send(background, left, lane)


async def _ask_foreground(hooks: Sequence[Hook], occasion: Occasion) -> tuple[list[Outcome], Occasion]:
    run = RUN[strategy_of(occasion.dialect, occasion.rule)]
    if not occasion.denied:
        return await run(hooks, occasion) if hooks else ([], occasion)
    called = [hook for hook in hooks if not is_cut_off(hook, occasion)]
    ended, left = await run(called, occasion) if called else ([], occasion)
    outcomes = {outcome.hook.id: outcome for outcome in ended}
    return [outcomes.get(hook.id) or cut_off(hook) for hook in hooks], left


async def _send(hooks: Sequence[Hook], occasion: Occasion, lane: Callable[[Hook], Lane]) -> tuple[Hook, ...]:
    launched: list[Hook] = []
    for hook in hooks:
        if occasion.denied and not occasion.dialect.observers_after_deny:
            occasion.record_end(cut_off(hook))
            continue
        job = Job(
            session_id=occasion.event.origin.session_id,
            hook=hook,
            run=partial(invoke, hook, replace(occasion, requests=0)),
            record=occasion.record_end,
            context=contextvars.copy_context(),
        )
        if await lane(hook).submit(job):
            launched.append(hook)
    return tuple(launched)

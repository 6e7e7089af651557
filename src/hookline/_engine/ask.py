"""Asking one dialect: its hooks in the foreground, and in the background those that nobody waits for."""

import contextvars
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._core.rules import Strategy
from hookline._engine.background import Job, Lane
from hookline._engine.chain import cut_off, is_cut_off, run_chain
from hookline._engine.invoke import invoke
from hookline._engine.occasion import Occasion
from hookline._engine.parallel import run_parallel
from hookline._engine.plan import strategy_of

Run = Callable[[Sequence[Hook], Occasion], Awaitable[tuple[list[Outcome], Occasion]]]

RUN: dict[Strategy, Run] = {Strategy.PARALLEL: run_parallel, Strategy.CHAIN: run_chain}


async def ask(hooks: Sequence[Hook], occasion: Occasion, lane: Callable[[Hook], Lane]) -> list[Outcome]:
    """The outcomes of the foreground ones among *hooks*, in their order.

    Behind a Deny of another dialect only observers are called. Under the parallel strategy background hooks start with
    the others; under the chain they follow its end, because what it made of the event concerns them.
    """
    background = [hook for hook in hooks if hook.background]
    if not background:
        outcomes, _ = await _ask_foreground(hooks, occasion)
        return outcomes
    foreground = [hook for hook in hooks if not hook.background]
    if strategy_of(occasion.dialect, occasion.rule) is Strategy.PARALLEL:
        await _send(background, occasion, lane)
        outcomes, _ = await _ask_foreground(foreground, occasion)
        return outcomes
    outcomes, left = await _ask_foreground(foreground, occasion)
    await _send(background, left, lane)
    return outcomes


async def _ask_foreground(hooks: Sequence[Hook], occasion: Occasion) -> tuple[list[Outcome], Occasion]:
    run = RUN[strategy_of(occasion.dialect, occasion.rule)]
    if not occasion.denied:
        return await run(hooks, occasion) if hooks else ([], occasion)
    called = [hook for hook in hooks if not is_cut_off(hook, occasion)]
    ended, left = await run(called, occasion) if called else ([], occasion)
    outcomes = {outcome.hook.id: outcome for outcome in ended}
    return [outcomes.get(hook.id) or cut_off(hook) for hook in hooks], left


async def _send(hooks: Sequence[Hook], occasion: Occasion, lane: Callable[[Hook], Lane]) -> None:
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
        await lane(hook).submit(job)

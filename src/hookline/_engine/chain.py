"""One after the other: in the chain a Deny ends it, in the sequence only a failure does."""

import copy
from collections.abc import Sequence
from dataclasses import replace

from hookline._core.answer import NOTHING
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.points import Event
from hookline._core.reasons import Skip
from hookline._engine.fold import fold
from hookline._engine.invoke import invoke, skipped
from hookline._engine.occasion import Occasion


async def run_chain(hooks: Sequence[Hook], occasion: Occasion) -> tuple[list[Outcome], Occasion]:
    """The outcomes of *hooks*, which are in the order of their priority, and the occasion as they left it.

    A hook behind a Deny is skipped, unless it commits nothing and the dialect promises its observers to be called.
    """
    outcomes: list[Outcome] = []
    original = occasion.event
    for hook in hooks:
        if occasion.denied and is_cut_off(hook, occasion):
            outcomes.append(cut_off(hook))
            continue
        outcome = await invoke(hook, _own(occasion, original))
        outcomes.append(outcome)
        occasion = _as_left_by(outcome, occasion)
    return outcomes, occasion


async def run_sequence(hooks: Sequence[Hook], occasion: Occasion) -> tuple[list[Outcome], Occasion]:
    """The outcomes of *hooks*, which are in the order of their priority.

    What one answers keeps nobody from being asked. One that fails does: those behind it are skipped.
    """
    outcomes: list[Outcome] = []
    failed = ""
    for hook in hooks:
        if failed:
            outcomes.append(skipped(hook, Skip.FAILED_EARLIER, f"{failed} failed before"))
            continue
        outcome = await invoke(hook, occasion)
        outcomes.append(outcome)
        if outcome.kind is Kind.FAILED or outcome.why is Skip.PAYLOAD_TOO_LARGE:
            failed = hook.id
    return outcomes, occasion


def _own(occasion: Occasion, original: Event) -> Occasion:
    """The occasion with an event that is this hook's alone, where earlier hooks changed it: it can be changed in place.

    What a hook does to the original itself whoever fired the event can see.
    """
    return occasion if occasion.event is original else replace(occasion, event=copy.deepcopy(occasion.event))


def is_cut_off(hook: Hook, occasion: Occasion) -> bool:
    """Whether a Deny keeps *hook* from being called: it could no longer change anything, and was promised nothing."""
    return bool(hook.commits & occasion.rule.admits) or not occasion.dialect.observers_after_deny


def cut_off(hook: Hook) -> Outcome:
    """The outcome of a hook that a Deny kept from being called."""
    return skipped(hook, Skip.DENIED_EARLIER, "the action was denied before")


def _as_left_by(outcome: Outcome, occasion: Occasion) -> Occasion:
    if outcome.answer is NOTHING:  # nearly every time
        return occasion
    resolution = fold(occasion.event, (outcome,), occasion.rule, strict=occasion.strict)
    return replace(occasion, event=resolution.event, denied=occasion.denied or resolution.denied)

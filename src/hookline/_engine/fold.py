"""Outcomes to resolution: pure, and blind to the order in which hooks finished."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hookline._core.decisions import DECISIONS, Decision, Deny
from hookline._core.effects import Combine, Effect, RewriteInput
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.points import Event
from hookline._core.reasons import Skip
from hookline._core.resolution import Applied, Ignored, Resolution
from hookline._core.rules import FailurePolicy, Rule

_RANK = {decision: rank for rank, decision in enumerate(DECISIONS)}

Made = tuple[Hook, Decision]


def fold(event: Event, outcomes: Sequence[Outcome], rule: Rule, *, strict: bool = False) -> Resolution:
    """Combine *outcomes*, which are in configured order, whatever order they finished in.

    The strongest decision counts and, among equals, the first. A Deny drops every effect that the rule does not let
    survive it. `strict` turns each failure or skip of a hook that could have denied into a Deny.
    """
    decisions: list[Made] = []
    asked: list[Applied] = []
    failed_run: Outcome | None = None
    for outcome in outcomes:
        answer = outcome.answer
        if answer is not None:
            if answer.decision is not None:
                decisions.append((outcome.hook, answer.decision))
            asked.extend(Applied(outcome.hook.id, effect) for effect in answer.effects)
            continue
        policy = consequence(outcome, rule, strict=strict)
        if policy is FailurePolicy.DENY:
            decisions.append((outcome.hook, Deny(f"hook {outcome.hook.id} gave no answer: {reason_of(outcome)}")))
        elif policy is FailurePolicy.FAIL_RUN and failed_run is None:
            failed_run = outcome
    decided_by, decision, overruled = _decide(decisions)
    applied, ignored = _combine(asked, rule, denied=isinstance(decision, Deny))
    return Resolution(
        event=rewritten(event, applied),
        decision=decision,
        decided_by=decided_by,
        applied=tuple(applied),
        ignored=(*overruled, *ignored),
        outcomes=tuple(outcomes),
        failed_run=failed_run,
    )


def consequence(outcome: Outcome, rule: Rule, *, strict: bool) -> FailurePolicy:
    """What an outcome without an answer does to the pending action."""
    if outcome.kind is Kind.CANCELLED or outcome.why is Skip.DENIED_EARLIER:
        return FailurePolicy.IGNORE
    policy = outcome.hook.on_failure or rule.on_failure
    if policy is FailurePolicy.IGNORE and strict:
        policy = FailurePolicy.DENY
    if policy is FailurePolicy.DENY and not could_deny(outcome.hook, rule):
        return FailurePolicy.IGNORE
    return policy


def could_deny(hook: Hook, rule: Rule) -> bool:
    """Whether this is a policy hook here."""
    return Deny in hook.commits and Deny in rule.admits


def reason_of(outcome: Outcome) -> str:
    """Why there is no answer, in words."""
    return outcome.detail or (outcome.why.value if outcome.why else outcome.kind.value)


def rewritten(event: Event, applied: Iterable[Applied]) -> Event:
    """The event as the applied rewrites leave it."""
    for each in applied:
        if isinstance(each.effect, RewriteInput):
            event = replace(event, input=dict(each.effect.input))  # type: ignore[call-arg]  # only tool points admit it
    return event


def join(first: Resolution, then: Resolution) -> Resolution:
    """One resolution of what two dialects said in turn, the second about the event as the first left it.

    An earlier Deny stands. Otherwise the stronger decision counts, and the earlier of two equals.
    """
    keep_first = _strength(first.decision) >= _strength(then.decision)
    winner, loser = (first, then) if keep_first else (then, first)
    overruled: tuple[Ignored, ...] = ()
    if loser.decision is not None and loser.decided_by is not None:
        overruled = (Ignored(loser.decided_by, type(loser.decision), f"{winner.decided_by} decides"),)
    return Resolution(
        event=then.event,
        decision=winner.decision,
        decided_by=winner.decided_by,
        applied=(*first.applied, *then.applied),
        ignored=(*first.ignored, *then.ignored, *overruled),
        outcomes=(*first.outcomes, *then.outcomes),
        failed_run=first.failed_run or then.failed_run,
    )


def _strength(decision: Decision | None) -> int:
    return -1 if decision is None else _RANK[type(decision)]


def _decide(decisions: list[Made]) -> tuple[str | None, Decision | None, list[Ignored]]:
    if not decisions:
        return None, None, []
    winner = max(decisions, key=lambda made: _strength(made[1]))  # max keeps the first of equals
    hook, decision = winner
    why = f"{hook.id} decides"
    overruled = [Ignored(loser.id, type(lost), why) for loser, lost in decisions if (loser, lost) is not winner]
    return hook.id, decision, [each for each in overruled if each.hook != hook.id]


def _combine(asked: list[Applied], rule: Rule, *, denied: bool) -> tuple[list[Applied], list[Ignored]]:
    chosen: dict[type[Effect], Applied] = {}
    for each in asked:
        kind = type(each.effect)
        if kind.combine is Combine.LAST_WINS or (kind.combine is Combine.FIRST_WINS and kind not in chosen):
            chosen[kind] = each
    applied: list[Applied] = []
    ignored: list[Ignored] = []
    for each in asked:
        kind = type(each.effect)
        if denied and kind not in rule.survives_deny:
            ignored.append(Ignored(each.hook, kind, "the action was denied"))
        elif kind.combine is not Combine.APPEND and chosen[kind] is not each:
            ignored.append(Ignored(each.hook, kind, f"{chosen[kind].hook} supersedes it"))
        else:
            applied.append(each)
    return applied, ignored

"""Outcomes to resolution: pure, and blind to the order in which hooks finished."""

from collections.abc import Iterable, Sequence

from hookline._core.decisions import DECISIONS, Decision, Deny
from hookline._core.effects import Combine, Effect
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.points import Event
from hookline._core.reasons import Skip
from hookline._core.resolution import Applied, Ignored, Resolution
from hookline._core.rules import FailurePolicy, Rule

_RANK = {decision: rank for rank, decision in enumerate(DECISIONS)}

_CUT_OFF = (Skip.DENIED_EARLIER, Skip.FAILED_EARLIER)  # what cut them off says what is to be done

Made = tuple[Hook, Decision, Rule]
Asked = tuple[Rule, Applied]


def fold(event: Event, outcomes: Sequence[Outcome], rule: Rule, *, strict: bool = False) -> Resolution:
    """Combine *outcomes* of one dialect, which are in configured order, whatever order they finished in."""
    return fold_all(event, [(rule, outcome) for outcome in outcomes], strict=strict)


def fold_all(event: Event, said: Sequence[tuple[Rule, Outcome]], *, strict: bool = False) -> Resolution:
    """Combine what the hooks of all dialects said about *event*, in configured order, each under its dialect's rule.

    The strongest decision counts and, among equals, the first. A Deny, and a failure that fails the run, drop every
    effect whose rule does not let it survive one. `strict` turns each failure, skip or doubtful answer of a hook that
    could have denied into a Deny.
    """
    decisions: list[Made] = []
    discarded: list[Ignored] = []
    asked: list[Asked] = []
    failed_run: Outcome | None = None
    for rule, outcome in said:
        answer = outcome.answer
        if answer is not None and not (strict and answer.doubt and could_deny(outcome.hook, rule)):
            if answer.decision is not None and (why := rule.discards.get(type(answer.decision))) is not None:
                discarded.extend([Ignored(outcome.hook.id, type(answer.decision), why)] if why else [])
            elif answer.decision is not None:
                decisions.append((outcome.hook, answer.decision, rule))
            if answer.effects:
                asked.extend((rule, Applied(outcome.hook.id, effect)) for effect in answer.effects)
            continue
        policy = consequence(outcome, rule, strict=strict)
        if policy is FailurePolicy.DENY:
            why = rule.no_answer.format(hook=outcome.hook.id, why=reason_of(outcome))
            decisions.append((outcome.hook, Deny(why), rule))
        elif policy is FailurePolicy.FAIL_RUN and failed_run is None:
            failed_run = outcome
    outcomes = tuple([outcome for _, outcome in said])
    if not (decisions or asked or discarded):  # nearly every time
        return Resolution(event=event, outcomes=outcomes, failed_run=failed_run)
    winner, overruled = _decide(decisions)
    decision = None if winner is None else winner[1]
    applied, ignored = _combine(asked, denied=isinstance(decision, Deny) or failed_run is not None)
    return Resolution(
        event=rewritten(event, applied) if applied else event,
        decision=decision,
        decided_by=None if winner is None else winner[0].id,
        applied=tuple(applied),
        ignored=(*discarded, *overruled, *ignored),
        outcomes=outcomes,
        failed_run=failed_run,
        deny_fails=isinstance(decision, Deny) and winner is not None and _fails(winner),
        refusal=_refusal(winner),
    )


def consequence(outcome: Outcome, rule: Rule, *, strict: bool) -> FailurePolicy:
    """What an outcome without an answer does to the pending action."""
    if outcome.kind is Kind.CANCELLED or outcome.why in _CUT_OFF or outcome.why in rule.forgives:
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
    if outcome.answer is not None:
        return outcome.answer.doubt
    return outcome.detail or (outcome.why.value if outcome.why else outcome.kind.value)


def rewritten(event: Event, applied: Iterable[Applied]) -> Event:
    """The event as the applied effects leave it."""
    for each in applied:
        event = each.effect.applied_to(event)
    return event


def _refusal(made: Made | None) -> str:
    """What the model is told, if this decision is a Deny."""
    if made is None or not isinstance(made[1], Deny):
        return ""
    hook, decision, rule = made
    return rule.refusal.format(hook=hook.id, reason=decision.reason)


def _fails(made: Made) -> bool:
    """Whether this decision, a Deny, ends the run as failed."""
    hook, _, rule = made
    return rule.deny_fails if hook.deny_fails is None else hook.deny_fails


def _decide(decisions: list[Made]) -> tuple[Made | None, list[Ignored]]:
    """The decision that counts, and those that do not."""
    if not decisions:
        return None, []
    winner = max(decisions, key=lambda made: _RANK[type(made[1])])  # max keeps the first of equals
    hook = winner[0]
    why = f"{hook.id} decides"
    return winner, [Ignored(loser.id, type(lost), why) for loser, lost, _ in decisions if loser is not hook]


def _combine(asked: list[Asked], *, denied: bool) -> tuple[list[Applied], list[Ignored]]:
    chosen: dict[type[Effect], Applied] = {}
    for _, each in asked:
        kind = type(each.effect)
        if kind.combine is Combine.LAST_WINS or (kind.combine is Combine.FIRST_WINS and kind not in chosen):
            chosen[kind] = each
    applied: list[Applied] = []
    ignored: list[Ignored] = []
    for rule, each in asked:
        kind = type(each.effect)
        if denied and kind not in rule.survives_deny:
            ignored.append(Ignored(each.hook, kind, "the action was denied"))
        elif kind.combine is not Combine.APPEND and chosen[kind] is not each:
            ignored.append(Ignored(each.hook, kind, f"{chosen[kind].hook} supersedes it"))
        else:
            applied.append(each)
    return applied, ignored

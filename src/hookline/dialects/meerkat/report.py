"""What came of the hooks of one event, in Meerkat's own types (sections 9, 11 and 12): renderings of the account."""

from collections.abc import Sequence
from typing import Any

from hookline._core.answer import Answer
from hookline._core.decisions import Allow, Deny
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.reasons import Failure, Skip
from hookline._core.resolution import Resolution
from hookline.dialects.meerkat.faults import entry_id, milliseconds
from hookline.dialects.meerkat.rules import BY_EVENT, MeerkatRule
from hookline.dialects.meerkat.words import DIALECT

Object = dict[str, Any]


def report_of(resolution: Resolution, hooks: Sequence[Hook]) -> Object:
    """The execution report. *hooks* are in the order of registration.

    After a failure that ends the run it is empty, as the report of a call that raised is discarded.
    """
    own = foreground(resolution)
    if resolution.failed_run in own:
        return {"started": [], "outcomes": []}
    rule = rule_of(resolution)
    here = [hook.id for hook in hooks if hook.dialect == DIALECT and rule.event in hook.events]
    called = [outcome for outcome in own if was_called(outcome)]
    report: Object = {
        "started": [entry_id(each.hook.id) for each in called] + [entry_id(each.id) for each in launched(resolution)],
        "outcomes": [_outcome(each, rule, here.index(each.hook.id)) for each in called],
    }
    merged = merged_decision(called, settled=rule.settled)
    return report if merged is None else {**report, "decision": merged}


def rule_of(resolution: Resolution) -> MeerkatRule:
    return BY_EVENT[type(resolution.event).point.event]


def foreground(resolution: Resolution) -> list[Outcome]:
    """The outcomes of this dialect's hooks, in the order in which they ran."""
    return [each for each in resolution.outcomes if each.hook.dialect == DIALECT]


def launched(resolution: Resolution) -> list[Hook]:
    """This dialect's background hooks that were sent on their way."""
    return [hook for hook in resolution.launched if hook.dialect == DIALECT]


def was_called(outcome: Outcome) -> bool:
    """Whether the hook had begun: it was not skipped, but for an envelope that was too large for it."""
    return outcome.kind is not Kind.SKIPPED or outcome.why is Skip.PAYLOAD_TOO_LARGE


def merged_decision(outcomes: Sequence[Outcome], *, settled: bool = False) -> Object | None:
    """A deny, the only one there can be; else an allow, if there was one. Of a settled fact the last that was said."""
    decisions = [each for each in map(decision_of, outcomes) if each is not None]
    if settled:
        return decisions[-1] if decisions else None
    denied = (each for each in decisions if each["decision"] == "deny")
    return next(denied, decisions[0] if decisions else None)


def decision_of(outcome: Outcome) -> Object | None:
    """What a hook decided, as the wire has it, with the hook's own id."""
    match outcome.answer:
        case Answer(decision=Allow()):
            return {"decision": "allow"}
        case Answer(decision=Deny(reason, code, data)):
            hook = entry_id(outcome.hook.id)
            told = {"decision": "deny", "hook_id": hook, "reason_code": code, "message": reason}
            return told if data is None else {**told, "payload": data}
        case _:
            return None


def failure_reason(outcome: Outcome) -> Object | None:
    """Why a hook gave no answer."""
    if outcome.answer is not None or outcome.kind is Kind.CANCELLED:
        return None
    match outcome.why:
        case Failure.TIMEOUT:
            return {"reason_code": "timeout", "timeout_ms": milliseconds(outcome.hook.timeout)}
        case Failure.NOT_ADMITTED:
            return {"reason_code": "observe_only_violation"}
        case _:
            return {"reason_code": "execution_failed", "message": outcome.detail}


def engine_error(outcome: Outcome) -> str:
    """The typed error that a failed hook is, as it is displayed."""
    hook = entry_id(outcome.hook.id)
    if outcome.why is Failure.TIMEOUT:
        return f"Hook '{hook}' timed out after {milliseconds(outcome.hook.timeout)}ms"
    return f"Hook runtime execution failed for '{hook}': {outcome.detail}"


def ledger_signal(outcome: Outcome) -> Object | None:
    """What the ledger of background hooks keeps of one end: that there was no room, or that it failed.

    Hooks of a settled fact run in its sequence, whatever their mode, and are none of it.
    """
    if not outcome.hook.background or BY_EVENT[outcome.hook.event.point.event].settled:
        return None
    hook = entry_id(outcome.hook.id)
    if outcome.why is Skip.LANE_FULL:
        return {"signal": "skipped", "hook_id": hook}
    if outcome.kind is Kind.FAILED or outcome.why is Skip.PAYLOAD_TOO_LARGE:
        return {"signal": "dropped", "hook_id": hook, "reason": engine_error(outcome)}
    return None


def _outcome(outcome: Outcome, rule: MeerkatRule, index: int) -> Object:
    told: Object = {
        "hook_id": entry_id(outcome.hook.id),
        "point": rule.point.value,
        "priority": outcome.hook.priority,
        "registration_index": index,
    }
    decision, failure = decision_of(outcome), failure_reason(outcome)
    if decision is not None:
        told["decision"] = decision
    if failure is not None:
        told["failure_reason"] = failure
    return {**told, "duration_ms": milliseconds(outcome.ran)}

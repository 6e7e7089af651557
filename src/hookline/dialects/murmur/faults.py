"""What went wrong with hooks, out of the records: the arm that a fault is traced under, and the line that is logged."""

from collections.abc import Iterator
from dataclasses import dataclass

from hookline._core.events import BeforeDispatch, BeforeStage
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import CallFailed, Yielded
from hookline._core.points import Event
from hookline._core.reasons import Failure, Skip
from hookline._core.records import Dispatched, HookEnded, Record
from hookline.dialects.murmur.answer import FRESH, understood
from hookline.dialects.murmur.build import DIALECT
from hookline.dialects.murmur.facts import facts_of
from hookline.dialects.murmur.rules import DENY, function_of

OVERFLOW, ERROR, TIMEOUT, SEED_REJECTED = "queue-overflow", "error", "timeout", "seed-rejected"
DRAIN = "drain"  # what a fault names for an event when the session has ended


@dataclass(frozen=True, slots=True)
class Fault:
    """A survivable problem of one hook, as it is traced."""

    hook: str
    event: str
    arm: str


def name_of(hook: Hook) -> str:
    return facts_of(hook).name


def ended(record: Record) -> Iterator[tuple[Outcome, Event]]:
    """The ends of this dialect's hooks that *record* is the one to tell of, each once.

    Those that were waited for stand in the record of their event, the others in one of their own.
    """
    match record:
        case Dispatched(event=event, resolution=resolution):
            outcomes = [each for each in resolution.outcomes if not each.hook.background]
        case HookEnded(event=event, outcome=outcome) if outcome.hook.background:
            outcomes = [outcome]
        case _:
            return
    yield from ((each, event) for each in outcomes if each.hook.dialect == DIALECT)


def fault_of(outcome: Outcome, event: Event) -> Fault | None:
    """The fault that *outcome* is, if it is one. There is no trace yet at staging."""
    if isinstance(event, BeforeStage):
        return None
    arm = _arm(outcome)
    return None if arm is None else Fault(name_of(outcome.hook), function_of(event), arm)


def _arm(outcome: Outcome) -> str | None:
    reply = outcome.reply
    if outcome.why is Failure.NOT_ADMITTED and isinstance(reply, Yielded):
        return reply.arm
    if not outcome.hook.background:
        return None
    if outcome.why is Skip.LANE_FULL:
        return OVERFLOW
    return ERROR if outcome.kind is Kind.FAILED else None


def lines_of(outcome: Outcome, event: Event) -> list[str]:
    """What the log of the hook gets of *outcome*: nothing for an answer, the bare error for a failure."""
    reply = outcome.reply
    lines = [FRESH] if isinstance(reply, Yielded | CallFailed) and reply.fresh else []
    if outcome.why is Skip.UNSUPPORTED:
        return [*lines, outcome.detail]
    if outcome.kind is not Kind.FAILED or _refused_without_reason(outcome, event):
        return lines
    said = outcome.detail if reply is None else understood(reply, event, outcome.hook)
    return [*lines, said.detail if isinstance(said, CallFailed) else outcome.detail]


def _refused_without_reason(outcome: Outcome, event: Event) -> bool:
    """A denial that gives no reason refuses like any other, and is no error of the hook's."""
    match outcome.reply:
        case Yielded(arm=arm, value=str()):
            return arm == DENY and isinstance(event, BeforeDispatch)
        case _:
            return False

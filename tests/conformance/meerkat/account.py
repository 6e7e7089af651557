"""The account of a case, and what is read off it, a line each."""

import json
from typing import Any

from hookline._core.inputs import Accepted, Admission, Deduplicated, Rejected
from hookline._core.outcomes import Outcome
from hookline._core.records import (
    CallEnded,
    CallStarted,
    Dispatched,
    HookEnded,
    MessageAdded,
    ModelCalled,
    Noted,
    Record,
    RunEnded,
)
from hookline.dialects.meerkat import PACKAGE
from hookline.dialects.meerkat.report import engine_error, ledger_signal
from hookline.dialects.meerkat.rules import BY_EVENT

Object = dict[str, Any]


class Account:
    """Keeps every record, for any number of sessions. Implements Recorder and Journals."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def recorder(self, session_id: str) -> "Account":
        return self

    def record(self, record: Record) -> None:
        self.records.append(record)

    def close(self) -> None:
        """Nothing to let go of."""

    def stream(self) -> list[Object]:
        """The agent events about hooks."""
        assert PACKAGE.stream is not None
        stream = PACKAGE.stream()
        return [json.loads(line) for record in self.records for line in stream.lines(record)]

    def events(self) -> list[str]:
        return [event_line(event) for event in self.stream()]

    def ledger(self) -> list[str]:
        """What became of background hooks, as far as anything is kept of it."""
        ends = [each.outcome for each in self.records if isinstance(each, HookEnded)]
        signals = [ledger_signal(outcome) for outcome in ends if outcome.hook.background]
        return [ledger_line(signal) for signal in signals if signal is not None]

    def notes(self) -> list[str]:
        return [each.text for each in self.records if isinstance(each, Noted)]

    def course(self) -> list[str]:
        """What happened in a session, in its order: points of the agent loop, model calls, messages, tool calls."""
        return [line for record in self.records if (line := course_line(record))]


def event_line(event: Object) -> str:
    """An agent event: its type, the hook, the point; behind a colon why it failed or was denied."""
    line = f"{event['type']} {event['hook_id']} {event['point']}"
    match event:
        case {"reason": reason}:
            return f"{line}: {json.dumps(reason)}"
        case {"reason_code": code, "message": message}:
            return f"{line}: {code} {message}"
        case _:
            return line


def ledger_line(signal: Object) -> str:
    line = f"{signal['signal']} {signal['hook_id']}"
    return f"{line}: {signal['reason']}" if "reason" in signal else line


def course_line(record: Record) -> str:
    match record:
        case Dispatched(event=event) if (rule := BY_EVENT.get(event.point.event)) is not None and not rule.settled:
            name = getattr(event, "call_id", "")
            return f"{rule.name} {name}".strip()
        case ModelCalled(status=status):
            return f"model {status}"
        case MessageAdded(message=message):
            return f"message {message.role}"
        case CallStarted(call_id=call_id):
            return f"call {call_id} started"
        case CallEnded(call_id=call_id, status=status):
            return f"call {call_id} {status.value}"
        case RunEnded(ending=ending):
            return f"run {ending.value}"
        case _:
            return ""


def decision_line(decision: Object | None) -> str | None:
    """`allow`, or `deny <hook> <code> <message>` with the payload behind it, or nothing."""
    match decision:
        case None:
            return None
        case {"decision": "allow"}:
            return "allow"
        case {"hook_id": hook, "reason_code": code, "message": message, **rest}:
            payload = f" {json.dumps(rest['payload'])}" if "payload" in rest else ""
            return f"deny {hook} {code} {message}{payload}"
        case _:
            raise ValueError(f"no decision: {decision}")


def failure_line(outcome: Outcome | None) -> str | None:
    return None if outcome is None else engine_error(outcome)


def admission_line(admission: Admission) -> str:
    match admission:
        case Accepted(input_id, handling):
            return f"accepted {input_id} {handling.value}"
        case Rejected(input_id, reason, _):
            return f"rejected {input_id} {reason.value}: {admission}"
        case Deduplicated(input_id, existing):
            return f"deduplicated {input_id} of {existing}"

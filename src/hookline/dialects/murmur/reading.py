"""A call of a hook read back: the event that it tells of, as far as it tells (section 4.4)."""

from collections.abc import Callable, Mapping
from typing import Any

from hookline._core import events as ev
from hookline._core.commands import ResolvedCommand
from hookline._core.events.session import Totals
from hookline._core.messages import ToolCall, Usage
from hookline._core.points import Event, Origin
from hookline.dialects._base import Unread
from hookline.dialects._keys import Misread, check, fields_in, key, unread
from hookline.dialects._kinds import OBJECT, one_of
from hookline.dialects.murmur.calls import COMMAND, STATUSES
from hookline.dialects.murmur.records import RECORDS
from hookline.dialects.murmur.rules import EVENTS_OF, SHELL

NAMES = ("call", "function")  # what names the function: on the line of a native program, and as a call is shown
ARGUMENT = "argument"
FUNCTION = one_of(EVENTS_OF, "the name of a function")
RECORD = key(ARGUMENT, kind=OBJECT, required=True)

Fields = dict[str, Any]

# The fields that are those of an event's origin.
ORIGIN = {"session_id": "session_id", "run_id": "run_id", "model": "model", "turn": "step"}


def read_payload(members: Mapping[str, Any]) -> Event | Unread | None:
    """The event that *members* tell of; None where they are no call of a lifecycle function."""
    name = next((name for name in NAMES if name in members), None)
    if name is None or not (ARGUMENT in members or FUNCTION.accepts(members[name])):
        return None
    try:
        check(members[name], FUNCTION, (name,))
        return _event(members[name], fields_in((RECORD,), dict(members))[ARGUMENT])
    except Misread as fault:
        return unread(fault)


def _event(function: str, record: Mapping[str, Any]) -> Event:
    event = _event_of(function, record)
    of_command = event is ev.BeforeDispatch and function == SHELL
    fields = fields_in(COMMAND if of_command else RECORDS[event], record, (ARGUMENT,))
    origin = Origin(**{field: fields.pop(name) for name, field in ORIGIN.items() if name in fields})
    made = _of_shell if of_command else MADE.get(event)
    return event(**(fields if made is None else made(fields)), origin=origin)


def _event_of(function: str, record: Mapping[str, Any]) -> type[Event]:
    """The event that *function* tells of. A call that has no outcome has not run: that is the decision point."""
    event, *others = EVENTS_OF[function]
    if event not in CALLS:
        return event
    outcome = record.get("outcome")
    if outcome is None:
        return ev.BeforeDispatch
    failed = isinstance(outcome, dict) and outcome.get("status") == STATUSES[ev.ToolCallFailed]
    return ev.ToolCallFailed if others and failed else event


CALLS = (ev.AfterToolCall, ev.AfterShell)

# What a record does not say, as it is in most sessions.
UNTOLD_PROVIDER, UNTOLD_REASON, UNTOLD_SOURCE, UNTOLD_TRIGGER = "unknown", "other", "startup", "threshold"
SHELL_TOOL = "bash"


def _of_inference(fields: Fields) -> Fields:
    tokens = {name: fields.pop(name) for name in ("input_tokens", "output_tokens") if name in fields}
    first = fields.pop("first_tool", None)
    calls = fields.pop("calls", ()) or (() if first is None else (ToolCall(id="", name=first, input={}),))
    return {"provider": UNTOLD_PROVIDER, "usage": Usage(**tokens), "calls": calls, **fields}


def _of_shell(fields: Fields) -> Fields:
    """A command is resolved of a call that no record shows: of the shell's tool, or of another that starts programs."""
    names = ("program", "arguments", "text", "script", "recipe")
    command = ResolvedCommand(**{name: fields.pop(name) for name in names if name in fields})
    return {"tool_name": SHELL_TOOL, "input": {"command": command.text}, "command": command, **fields}


MADE: Mapping[type[Event], Callable[[Fields], Fields]] = {
    ev.SessionStart: lambda fields: {"source": UNTOLD_SOURCE, **fields},
    ev.BeforeRun: lambda fields: {"prompt": "", **fields},
    ev.AfterModelCall: _of_inference,
    ev.AfterShell: _of_shell,
    ev.BeforeCompaction: lambda fields: {"trigger": UNTOLD_TRIGGER, **fields},
    ev.SessionEnd: lambda fields: {"reason": UNTOLD_REASON, "totals": Totals(**fields)},
}

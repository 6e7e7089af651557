"""What a hook reads on standard input: one JSON object on one line (sections 11.2 and 11.3)."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from hookline._core import strictjson
from hookline._core.events import SubagentEnd, SubagentStart
from hookline._core.hooks import Hook
from hookline._core.payload import Payload, Refused
from hookline._core.points import Event
from hookline._core.reasons import Skip
from hookline.dialects.muse.rules import BY_EVENT, MuseRule

PAYLOAD_BYTES = 262_144  # of compact JSON; the newline after it is not counted
DEEPEST = 120  # levels; readers in common use give up at 128


def encode(event: Event, hook: Hook) -> Payload | Refused:
    """The line for one hook, or why it gets none. Never raises, whatever JSON-like values the event holds.

    Spaced as the source document shows it, and compact where only that fits. A payload is whole or it is refused:
    nothing is cut to make it fit.
    """
    cwd = _absolute(event.origin.cwd)
    members = _members(event, BY_EVENT[event.point.event], cwd)
    if excess := _excess(members):
        return Refused(Skip.PAYLOAD_TOO_LARGE, excess)
    body = strictjson.encode(members, spaced=True)
    if len(body) > PAYLOAD_BYTES:
        body = strictjson.encode(members, spaced=False)
    if len(body) > PAYLOAD_BYTES:
        excess = f"the payload is {len(body)} bytes of JSON, and at most {PAYLOAD_BYTES} are delivered"
        return Refused(Skip.PAYLOAD_TOO_LARGE, excess)
    return Payload(event, body + b"\n", cwd)


def _members(event: Event, rule: MuseRule, cwd: str) -> dict[str, Any]:
    """The members in their order: the name, the event's own, where it happened."""
    origin = event.origin
    session_id, turn_id = _identity(event)
    members: dict[str, Any] = {"hook_event_name": rule.name}
    for key in rule.payload:
        value = key.value(event)
        if value is not None or not key.optional:
            members[key.name] = value
    for call in (members, *members.get("tool_calls", ())):
        if "tool_input" in call and _is_blank(call["tool_input"]):
            call["tool_input"] = {}
    members["session_id"] = session_id
    if rule.has_run:
        members["turn_id"] = turn_id
    members |= {
        "cwd": cwd,
        "transcript_path": None,
        "model": origin.model,
        "permission_mode": "bypassPermissions" if origin.approval_off else "default",
    }
    if origin.provider is not None:
        members["model_provider"] = origin.provider
    if rule.in_child and origin.agent is not None:
        members |= {"agent_id": origin.agent.id, "agent_type": origin.agent.type}
    return members


def _identity(event: Event) -> tuple[str, str]:
    """The session and the run as hooks are told of them. A child agent's edges carry the child's id for both."""
    if isinstance(event, SubagentStart | SubagentEnd):
        child = event.child_session_id or event.origin.session_id
        return child, child
    return event.origin.session_id, event.origin.run_id


def _is_blank(value: object) -> bool:
    """Whether a call came without arguments; its input is then an empty object."""
    return value is None or (isinstance(value, str) and not value.strip())


def _excess(members: dict[str, Any]) -> str:
    """What rules *members* out before they are written, or nothing.

    A value may hold itself, or unfold without end by holding others twice; both are met by counting.
    """
    visited = 0
    pending: list[tuple[object, int]] = [(members, 1)]
    while pending:
        value, depth = pending.pop()
        visited += 1
        if visited > PAYLOAD_BYTES:  # each takes a byte at least
            return f"the payload holds more than {PAYLOAD_BYTES} values"
        if value is None or isinstance(value, str | int | float):
            continue
        inside: Iterable[object]
        if isinstance(value, Mapping):
            inside = value.values()
        elif isinstance(value, list | tuple | set | frozenset):
            inside = value
        else:
            continue
        if depth > DEEPEST:
            return f"the payload is nested deeper than {DEEPEST} levels"
        pending.extend((each, depth + 1) for each in inside)
    return ""


def _absolute(directory: str) -> str:
    """Where the hook starts. Where this process's own folder is gone, as written: the start will say what is wrong."""
    if os.path.isabs(directory):  # noqa: PTH117  # the text as written, which Path would normalise
        return directory
    try:
        return os.path.join(os.getcwd(), directory) if directory else os.getcwd()  # noqa: PTH109, PTH118  # same
    except OSError:
        return directory

"""What a hook reads on standard input: one JSON object on one line (sections 11.2 and 11.3)."""

from collections.abc import Iterable, Mapping
from typing import Any

from hookline._core import strictjson
from hookline._core.hooks import Hook
from hookline._core.payload import Payload, Refused
from hookline._core.points import Event
from hookline._core.reasons import Skip
from hookline.dialects._keys import told
from hookline.dialects.muse.rules import BY_EVENT, NAME, MuseRule
from hookline.dialects.muse.skills import CAPABILITY, terms_of

PAYLOAD_BYTES = 262_144  # of compact JSON; the newline after it is not counted
DEEPEST = 120  # levels; readers in common use give up at 128


def encode(event: Event, hook: Hook) -> Payload | Refused:
    """The line for one hook, or why it gets none. Never raises, whatever JSON-like values the event holds.

    Spaced as the source document shows it, and compact where only that fits. A payload is whole or it is refused:
    nothing is cut to make it fit.
    """
    members = _members(event, BY_EVENT[event.point.event])
    if terms_of(hook) is not None:
        members["supported_output_capabilities"] = [CAPABILITY]
    if excess := _excess(members):
        return Refused(Skip.PAYLOAD_TOO_LARGE, excess)
    body = strictjson.encode(members, spaced=True)
    if len(body) > PAYLOAD_BYTES:
        body = strictjson.encode(members, spaced=False)
    if len(body) > PAYLOAD_BYTES:
        excess = f"the payload is {len(body)} bytes of JSON, and at most {PAYLOAD_BYTES} are delivered"
        return Refused(Skip.PAYLOAD_TOO_LARGE, excess)
    return Payload(event, body + b"\n", members["cwd"])


def _members(event: Event, rule: MuseRule) -> dict[str, Any]:
    """The members in their order: the name, the event's own, where it happened."""
    return {NAME: rule.name, **told(rule.payload, event), **told(rule.place, event)}


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

"""An envelope read back: the event that it tells of, as far as it tells (section 3)."""

from collections.abc import Mapping
from typing import Any

from hookline._core import events as ev
from hookline._core.points import Event, Origin
from hookline.dialects._base import Unread
from hookline.dialects._keys import Misread, fields_in, key, unread
from hookline.dialects._kinds import one_of
from hookline.dialects.meerkat.envelope import POINTS, InvalidEnvelope, members_in
from hookline.dialects.meerkat.rules import BY_EVENT, EVENTS_OF
from hookline.dialects.meerkat.words import HookPoint

ENVELOPE = (key("point", kind=one_of(POINTS, "the name of a point"), required=True), key("session_id", required=True))


def read_payload(members: Mapping[str, Any]) -> Event | Unread | None:
    """The event that *members* tell of; None where they name no point, as every envelope does."""
    if "point" not in members:
        return None
    try:
        return _event(dict(members))
    except (InvalidEnvelope, Misread) as fault:
        return unread(fault)


def _event(members: dict[str, Any]) -> Event:
    envelope = fields_in(ENVELOPE, members)
    event = _event_of(HookPoint(envelope["point"]), members)
    fields = fields_in(BY_EVENT[event].members, members)
    members_in(members)  # for what it refuses besides
    origin = Origin(session_id=envelope["session_id"], step=fields.pop("turn", 0))
    return event(**fields, origin=origin)


def _event_of(point: HookPoint, members: Mapping[str, Any]) -> type[Event]:
    """The event that is told of at *point*: of a finished call, one of two."""
    event, *others = EVENTS_OF[point]
    match members:
        case {"tool_result": {"is_error": True}} if others:
            return ev.ToolCallFailed
        case _:
            return event

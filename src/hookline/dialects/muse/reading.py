"""A payload read back: the event that it tells of, as far as it tells (section 11.2)."""

from collections.abc import Mapping
from typing import Any

from hookline._core.points import Agent, Event, Origin
from hookline.dialects._base import Unread
from hookline.dialects._keys import Misread, check, fields_in, unread
from hookline.dialects._kinds import one_of
from hookline.dialects.muse.rules import BY_NAME, NAME, MuseRule

EVENT_NAME = one_of(BY_NAME, "the name of an event")
NO_AGENT = {"id": None, "type": None}


def read_payload(members: Mapping[str, Any]) -> Event | Unread | None:
    """The event that *members* tell of; None where they name none, as every payload of this dialect does."""
    if NAME not in members:
        return None
    try:
        check(members[NAME], EVENT_NAME, (NAME,))
        return _event(BY_NAME[members[NAME]], dict(members))
    except Misread as fault:
        return unread(fault)


def _event(rule: MuseRule, members: dict[str, Any]) -> Event:
    own, place = fields_in(rule.payload, members), fields_in(rule.place, members)
    agent = {name: place.pop(f"agent_{name}", None) for name in ("id", "type")}
    if agent != NO_AGENT:
        place["agent"] = Agent(**{name: value or "" for name, value in agent.items()})
    return rule.event(**own, origin=Origin(**place, step=own.get("step", 0)))

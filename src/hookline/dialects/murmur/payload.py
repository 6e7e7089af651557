"""What a hook is told: one record (section 4.4), or, in the shape that it was built for, one of `older.py`."""

from collections.abc import Mapping
from typing import Any

from hookline._core import events as ev
from hookline._core.guests import GuestCall
from hookline._core.hooks import Hook
from hookline._core.payload import Payload, Refused
from hookline._core.points import Event
from hookline._core.reasons import Skip
from hookline.dialects._keys import told
from hookline.dialects.murmur import older
from hookline.dialects.murmur.facts import facts_of
from hookline.dialects.murmur.interfaces import OLDER
from hookline.dialects.murmur.records import rows_of
from hookline.dialects.murmur.rows import About
from hookline.dialects.murmur.rules import function_of
from hookline.dialects.murmur.wire import exact_json, is_text

NOT_SHOWN = "{what} cannot be handed to a policy hook as it is: it holds what is no text, or no JSON"


def encode(event: Event, hook: Hook) -> Payload | Refused:
    """The call that tells *hook* of *event*. What a policy hook cannot be shown to the letter is refused."""
    facts = facts_of(hook)
    if isinstance(event, ev.BeforeDispatch) and (what := _not_exact(event)):
        return Refused(Skip.UNSUPPORTED, NOT_SHOWN.format(what=what))
    function = function_of(event)
    argument: Mapping[str, Any] = told(rows_of(event), About(event, facts))
    if facts.interface == OLDER.name:
        if isinstance(event, ev.BeforeDispatch):
            return Refused(Skip.UNSUPPORTED, older.NO_DECISIONS.format(name=facts.full_name, function=function))
        argument = older.shaped(function, argument)
    return Payload(event, value=GuestCall(function=function, argument=argument))


def _not_exact(event: ev.BeforeDispatch) -> str:
    """What of a call would not be shown as it is, if anything."""
    command = event.command
    if command is None:
        return "" if exact_json(event.input) is not None else "the input"
    said = (command.program, *command.arguments, command.script or "", command.recipe or "")
    return "" if all(map(is_text, said)) else "the command"

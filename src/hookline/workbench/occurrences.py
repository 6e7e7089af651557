"""Events to ask hooks about: from a name and some members, or as a session recorded one."""

import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import msgspec

from hookline._core import strictjson
from hookline._core.commands import ResolvedCommand
from hookline._core.errors import UsageError
from hookline._core.events.tool import ToolEvent
from hookline._core.points import Event, Origin
from hookline.dialects import PACKAGES
from hookline.dialects._base import Unread
from hookline.journal.reader import Damage, Occurrence, events_from
from hookline.workbench.points import points_named
from hookline.workbench.samples import SAMPLES
from hookline.workbench.tool_names import known_as

SHELL = "/bin/sh"
LARGEST, DEEPEST = 16 * 1024 * 1024, 200  # of a payload that somebody saved: more than any hook is sent
NO_MEMBER = "{event} has no member {name!r}; it has {known}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """An event as somebody describes it. What is left out is as in the sample of its point.

    `point` is a name of any dialect, or ours. `tool` and `input` are those of a call; `tool` may be what a dialect
    calls it. `members` are further fields of the event, by their names. `cwd` is where it happens.
    """

    point: str
    tool: str | None = None
    input: Any = None
    members: Mapping[str, Any] = field(default_factory=dict)
    cwd: Path | None = None


def occurrences_of(wanted: Wanted) -> tuple[Event, ...]:
    """The events that *wanted* describes: one for each of ours that its name stands for.

    Raises UsageError for a name that nobody has, a member that the event does not have, a value of a wrong type.
    """
    return tuple(_occurrence(event, wanted) for event in points_named(wanted.point))


def occurrence_of(wanted: Wanted) -> Event:
    """The first of them: where a dialect's name means several events of ours, the one that can still be refused."""
    return occurrences_of(wanted)[0]


def from_payload(data: bytes, name: str, point: str | None = None) -> Event:
    """The event that a hook is told of by *data*, in the form of any dialect. *name* is what messages call it.

    Raises UsageError where no dialect knows the form, where a member is wrong, and where it is no *point*.
    """
    try:
        members = strictjson.parse(data, max_bytes=LARGEST, max_depth=DEEPEST)
    except strictjson.JsonFault as fault:
        raise UsageError(f"{name}:{fault.line}:{fault.column}: this is no JSON: {fault.message}") from fault
    if not isinstance(members, dict):
        raise UsageError(f"{name}: a payload is a JSON object, found {strictjson.kind_of(members)}")
    readers = {each.dialect.name: each.read_payload for each in PACKAGES if each.read_payload is not None}
    found = {dialect: read for dialect, reader in readers.items() if (read := reader(members)) is not None}
    if not found:
        raise UsageError(f"{name}: no dialect has payloads of this form; known are those of {', '.join(readers)}")
    if len(found) > 1:
        raise UsageError(f"{name}: this has members of {' and of '.join(found)}: keep those of one")
    (read,) = found.values()
    if isinstance(read, Unread):
        raise UsageError(f"{name}: {read.why}")
    return _with_aliases(_if_it_is(read, point, name))


def _if_it_is(event: Event, point: str | None, name: str) -> Event:
    if point is not None and not isinstance(event, points_named(point)):
        raise UsageError(f"{name} holds an event {event.point.name}, and {point} was asked for: leave one out")
    return event


def _with_aliases(event: Event) -> Event:
    """The same with what else matchers may call its tool, which no payload says."""
    if not isinstance(event, ToolEvent) or event.aliases:
        return event
    own, others = known_as(event.tool_name)
    return replace(event, tool_name=own, aliases=others)


def recorded(path: Path, line: int | None, point: str | None) -> Event:
    """An event of the journal in *path*, as the hooks were asked about it: the one in *line*, or the last of *point*.

    Raises UsageError where there is none.
    """
    wanted = None if point is None else points_named(point)
    last: Event | None = None
    for each in events_from(path):
        match each:
            case Occurrence(entry=entry, event=event) if line in (None, entry.line):
                last = event if wanted is None or isinstance(event, wanted) else last
            case Damage(line=at, why=why) if at == line:
                raise UsageError(f"{path}:{line}: {why}")
            case _:
                continue
    if last is None:
        what = "an event" if point is None else f"an event {point}"
        where = f"{path}" if line is None else f"{path}:{line}"
        raise UsageError(f"{where} holds no line with {what}; `hookline trace --json` shows its lines")
    return last


def _occurrence(kind: type[Event], wanted: Wanted) -> Event:
    sample = SAMPLES[kind]
    known = [each.name for each in fields(kind) if each.name != "origin"]
    members = {name: getattr(sample, name) for name in known}
    if isinstance(sample, ToolEvent):
        members["aliases"] = known_as(sample.tool_name)[1]
    members |= _of_the_call(kind, wanted)
    for name, value in wanted.members.items():
        if name not in known:
            raise UsageError(NO_MEMBER.format(event=kind.point.name, name=name, known=", ".join(known) or "none"))
        members[name] = value
    try:
        event = msgspec.convert({**members, "origin": origin_at(wanted.cwd)}, kind, from_attributes=True)
    except msgspec.ValidationError as error:
        raise UsageError(f"this is no {kind.point.name}: {error}") from error
    return _with_command(event, wanted)


def origin_at(cwd: Path | None) -> Origin:
    """Of an event that no session saw."""
    where = os.fspath(cwd.absolute()) if cwd is not None else os.getcwd()  # noqa: PTH109  # text, as origins have it
    return Origin(session_id=str(uuid.uuid4()), run_id=str(uuid.uuid4()), step=1, cwd=where)


def _of_the_call(kind: type[Event], wanted: Wanted) -> dict[str, Any]:
    if wanted.tool is None and wanted.input is None:
        return {}
    if not issubclass(kind, ToolEvent):
        raise UsageError(f"{kind.point.name} is about no tool call: leave the tool and its input out")
    told: dict[str, Any] = {}
    if wanted.tool is not None:
        told["tool_name"], told["aliases"] = known_as(wanted.tool)
        told["input"] = {}
    if wanted.input is not None:
        told["input"] = wanted.input
    return told


def _with_command(event: Event, wanted: Wanted) -> Event:
    """A call of the shell, resolved as a session would have: what is told of its input holds for its command."""
    if "command" in wanted.members or not isinstance(event, ToolEvent) or not hasattr(event, "command"):
        return event
    text = event.input.get("command") if isinstance(event.input, Mapping) else None
    if not isinstance(text, str):
        return replace(event, command=None) if _may_lack(event) else event  # type: ignore[call-arg]
    command = ResolvedCommand(program=SHELL, arguments=("-c", text), text=text, script=text)
    return replace(event, command=command)  # type: ignore[call-arg]  # it has that member


def _may_lack(event: Event) -> bool:
    return any(each.name == "command" and each.default is None for each in fields(event))


def value_of(text: str) -> Any:
    """What a command line means by *text*: JSON, or else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text

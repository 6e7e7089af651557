"""The fields of a record, a row each: made of an event and of what the configuration says beside it."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from hookline._core.strictjson import JsonFault, Path, parse
from hookline.dialects._keys import Fields, Key, Misread, silent
from hookline.dialects._kinds import STRING, Kind, found, whole
from hookline.dialects._places import path_text
from hookline.dialects.murmur.facts import Facts
from hookline.dialects.murmur.messages import DEEPEST
from hookline.dialects.murmur.wire import U32

U32_COUNT = whole(0, U32)


class About(NamedTuple):
    """What a record is made of."""

    event: Any
    facts: Facts


def row(
    name: str,
    value: Callable[[Any], Any],
    kind: Kind = STRING,
    fields: Callable[[Any, Path], Fields] = silent,
    *,
    required: bool = False,
) -> Key:
    """A field made of the event alone."""
    return Key(name=name, value=lambda about: value(about.event), kind=kind, fields=fields, required=required)


def configured(name: str, value: Callable[[Facts], Any], kind: Kind = STRING) -> Key:
    """A field that the configuration says, and so no event."""
    return Key(name=name, value=lambda about: value(about.facts), kind=kind)


def several(attribute: str) -> Callable[[Any, Path], Fields]:
    return lambda value, _: {attribute: tuple(value)}


def json_in(text: str, kind: Kind, at: Path) -> Any:
    """The value that a text of JSON holds. Raises Misread."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        value = parse(data, max_bytes=len(data), max_depth=DEEPEST)
    except JsonFault as fault:
        what = f"what is none: {fault.message}"
    else:
        if kind.accepts(value):
            return value
        what = found(value)
    remedy = f'write "{at[-1]}": {json.dumps(kind.sample)}'
    raise Misread(f"`{path_text(at)}` has to be a string with {kind.noun} in JSON, found {what}; {remedy}")

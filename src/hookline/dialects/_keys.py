"""JSON objects as tables: a row for each member says what is written there, and what it stands for when it is read."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hookline._core.strictjson import Path
from hookline.dialects._base import Unread
from hookline.dialects._kinds import ARRAY, FEW, OBJECT, STRING, Kind, found, nearest, one_of
from hookline.dialects._places import path_text

Fields = Mapping[str, Any]

LONGEST = 80  # characters of a value that a message repeats


class Misread(Exception):  # a value for whoever reads, not a fault of the program
    """An object that is not as its table has it. The text names the member, what was found, and what to write."""


def unread(fault: Exception) -> Unread:
    """*fault* on one line, whatever words of the payload it repeats."""
    return Unread("".join(char if char.isprintable() else " " for char in str(fault)))


def silent(value: Any, at: Path) -> Fields:
    """What a member stands for whose value follows from others, or is nothing of ours."""
    return {}


def into(attribute: str) -> Callable[[Any, Path], Fields]:
    """A member that is a field as it is."""
    return lambda value, _: {attribute: value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One member: its name, what is written for a thing, and the fields of the thing that a written value stands for.

    `fields` is also given the place of the value, for messages. A member that is `optional` is left out where there is
    no value. To be read, one that is not `required` may be missing, or null: then the fields keep their defaults.
    """

    name: str
    value: Callable[[Any], Any]
    kind: Kind = STRING
    fields: Callable[[Any, Path], Fields] = silent
    optional: bool = False
    required: bool = False


def key(name: str, attribute: str = "", kind: Kind = STRING, *, optional: bool = False, required: bool = False) -> Key:
    """A member that is an attribute as it is."""
    attribute = attribute or name
    return Key(
        name=name,
        value=lambda thing: getattr(thing, attribute),
        kind=kind,
        fields=into(attribute),
        optional=optional,
        required=required,
    )


def constant(name: str, value: Any, kind: Kind = STRING, *, required: bool = False) -> Key:
    """A member that is the same for every thing, and says nothing of it."""
    return Key(name=name, value=lambda _: value, kind=kind, required=required)


def word(name: str, attribute: str, words: type[Enum], *, required: bool = False) -> Key:
    """A member that is the word of an attribute."""
    return Key(
        name=name,
        value=lambda thing: getattr(thing, attribute).value,
        kind=one_of(each.value for each in words),
        fields=lambda value, _: {attribute: words(value)},
        required=required,
    )


def inner(
    name: str,
    keys: tuple[Key, ...],
    made: Callable[[dict[str, Any]], Fields],
    *,
    of: Callable[[Any], Any] = lambda thing: thing,
    optional: bool = False,
    required: bool = False,
) -> Key:
    """A member that is an object with these keys, made of what *of* gives. *made* says what its fields are to us."""

    def value(thing: Any) -> dict[str, Any] | None:
        about = of(thing)
        return None if about is None else told(keys, about)

    return Key(
        name=name,
        value=value,
        kind=OBJECT,
        fields=lambda value, at: made(fields_in(keys, value, at)),
        optional=optional,
        required=required,
    )


def each(
    name: str,
    keys: tuple[Key, ...],
    made: Callable[..., Any],
    attribute: str = "",
    *,
    optional: bool = False,
    required: bool = False,
) -> Key:
    """A member that is an array of objects with these keys, one for each element of an attribute.

    None there is of one that is *optional* and would be empty.
    """
    attribute = attribute or name

    def value(thing: Any) -> list[Any] | None:
        items = [told(keys, item) for item in getattr(thing, attribute)]
        return None if optional and not items else items

    def fields(value: list[Any], at: Path) -> Fields:
        return {attribute: tuple(made(**fields_in(keys, item, (*at, index))) for index, item in enumerate(value))}

    return Key(name=name, value=value, kind=ARRAY, fields=fields, optional=optional, required=required)


def told(keys: tuple[Key, ...], thing: Any) -> dict[str, Any]:
    """The object for *thing*, its members in the order of *keys*."""
    members: dict[str, Any] = {}
    for row in keys:
        value = row.value(thing)
        if value is not None or not row.optional:
            members[row.name] = value
    return members


def fields_in(keys: tuple[Key, ...], members: Any, at: Path = ()) -> dict[str, Any]:
    """The fields that *members* stand for. Members without a row are left alone. Raises Misread."""
    check(members, OBJECT, at)
    fields: dict[str, Any] = {}
    for row in keys:
        place = (*at, row.name)
        value = members.get(row.name)
        if value is None and not row.required:
            continue
        if row.name not in members:
            raise Misread(_missing(row, place, members, keys))
        check(value, row.kind, place)
        fields |= row.fields(value, place)
    return fields


def check(value: Any, kind: Kind, at: Path) -> None:
    """Raises Misread where *value* is not of *kind*."""
    if kind.accepts(value):
        return
    near = nearest(value, kind.words) if isinstance(value, str) else None
    if near is not None:
        hint = f'did you mean "{near}"?'
    elif len(kind.words) > FEW:
        hint = f"write one of {', '.join(kind.words)}"
    else:
        hint = f"write {_sample(at, kind)}"
    raise Misread(f"`{path_text(at)}` has to be {kind.noun}, found {_shown(value, kind)}: {hint}")


def _shown(value: Any, kind: Kind) -> str:
    """*value* itself where that says more than what it is."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**LONGEST
    return json.dumps(value)[:LONGEST] if is_number or (kind.words and isinstance(value, str)) else found(value)


def _missing(row: Key, at: Path, members: Mapping[Any, Any], keys: tuple[Key, ...]) -> str:
    others = [name for name in members if isinstance(name, str) and name not in {known.name for known in keys}]
    near = nearest(row.name, others)
    instead = "" if near is None else f", found `{path_text((*at[:-1], near[:LONGEST]))}` in its place"
    return f"`{path_text(at)}` is missing{instead}: write {_sample(at, row.kind)}"


def _sample(at: Path, kind: Kind) -> str:
    name = next((step for step in reversed(at) if isinstance(step, str)), "")
    return f'"{name}": {kind.sample}' if at and isinstance(at[-1], str) else kind.sample

"""The JSON Schemas of what crosses at every point: all of them, or those that a name means."""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hookline._core.errors import UsageError
from hookline.dialects import PACKAGES, PointSchema

__all__ = ["Chosen", "Side", "as_json", "every_schema", "listed", "schemas_named"]


class Side(Enum):
    """Which way something crosses."""

    PAYLOAD = "payload"
    ANSWER = "answer"


SIDES = {"payload": Side.PAYLOAD, "input": Side.PAYLOAD, "answer": Side.ANSWER, "output": Side.ANSWER}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A point's schemas, and the sides of it that are wanted."""

    schema: PointSchema
    sides: tuple[Side, ...] = tuple(Side)

    def documents(self) -> dict[str, Any]:
        """The wanted schemas by their sides."""
        return {side.value: getattr(self.schema, side.value) for side in self.sides}


def every_schema() -> tuple[PointSchema, ...]:
    """Of all points of all dialects, in the order in which the dialects are asked."""
    return tuple(schema for package in PACKAGES if package.schemas is not None for schema in package.schemas())


def schemas_named(name: str) -> tuple[Chosen, ...]:
    """What *name* means: a point in a dialect's spelling or in ours, with a dialect before it or a side behind it.

    `PreToolUse`, `before_tool_call`, `muse:PreToolUse`, `meerkat:before_tool_call:answer`, `murmur:payload`. Raises
    UsageError where that is nothing.
    """
    every = every_schema()
    parts = name.split(":")
    known = {schema.dialect for schema in every}
    dialects = {parts.pop(0)} if parts[0] in known else known
    sides = (SIDES[parts.pop()],) if parts and parts[-1] in SIDES else tuple(Side)
    within = [schema for schema in every if schema.dialect in dialects]
    if len(parts) > 1:
        raise UsageError(_not_understood(name, parts[0], known))
    found = _of_point(parts[0], within) if parts else within
    if not found:
        raise UsageError(_unknown(parts[0], within, elsewhere=_of_point(parts[0], every)))
    return tuple(Chosen(schema, sides) for schema in found)


def listed(schemas: Iterable[PointSchema]) -> Iterator[tuple[str, str, str]]:
    """A row for each point: its dialect, its name there, and our name or names for it."""
    for schema in schemas:
        yield schema.dialect, schema.point, ", ".join(schema.events)


def as_json(chosen: Iterable[Chosen]) -> dict[str, Any]:
    """All that was chosen as one object: `points`, each with its names and the wanted schemas."""
    return {
        "points": [
            {
                "dialect": each.schema.dialect,
                "point": each.schema.point,
                "also": list(each.schema.also),
                "events": list(each.schema.events),
                **each.documents(),
            }
            for each in chosen
        ]
    }


def _names(schema: PointSchema) -> tuple[str, ...]:
    return (schema.point, *schema.also, *schema.events)


def _of_point(wanted: str, schemas: Iterable[PointSchema]) -> list[PointSchema]:
    """The points of this very name; where there are none, those whose name differs from it in how it is spelled."""
    exact = [schema for schema in schemas if wanted in _names(schema)]
    return exact or [schema for schema in schemas if _plain(wanted) in map(_plain, _names(schema))]


def _plain(name: str) -> str:
    """`PreToolExecution` and `pre_tool_execution` are one name."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _unknown(wanted: str, within: Iterable[PointSchema], *, elsewhere: Iterable[PointSchema]) -> str:
    """*elsewhere* are the points of this name of other dialects than the one that was asked about."""
    others = ", ".join(f"{schema.dialect}:{schema.point}" for schema in elsewhere)
    if others:
        return f"this dialect has no point {wanted!r}; there is {others}"
    hint = _near(wanted, (name for schema in within for name in _names(schema)))
    return f"there is no point {wanted!r}{hint}; `hookline schema` lists them"


def _not_understood(name: str, first: str, dialects: Iterable[str]) -> str:
    sides = ", ".join(SIDES)
    return (
        f"{name!r} is not [DIALECT:]POINT[:SIDE]: dialects are {', '.join(sorted(dialects))}"
        f"{_near(first, dialects)}; sides are {sides}"
    )


def _near(word: str, known: Iterable[str]) -> str:
    by_plain = {_plain(name): name for name in known}
    near = difflib.get_close_matches(_plain(word[:80]), by_plain, n=1)
    return f" (did you mean {by_plain[near[0]]}?)" if near else ""

"""Events from the plain values of a case."""

from dataclasses import is_dataclass
from typing import Any

import msgspec

from hookline._core.points import POINTS, Event

ORIGIN = {"session_id": "session", "run_id": "run"}


def event_from(given: dict[str, Any]) -> Event:
    """The event that a case gives: `point` is the canonical one, whatever else its fields are."""
    fields = dict(given)
    kind = POINTS[fields.pop("point")].event
    return made({**fields, "origin": {**ORIGIN, **fields.get("origin", {})}}, kind)


def made(fields: dict[str, Any], kind: Any) -> Any:
    """A value of *kind* with these *fields*, each of which it has to have."""
    value = msgspec.convert(fields, kind)
    _check(fields, value)
    return value


def _check(given: Any, value: Any) -> None:
    """Raise for what was given and counts for nothing."""
    match given:
        case dict() if is_dataclass(value):
            if unknown := given.keys() - value.__dataclass_fields__.keys():
                raise ValueError(f"{type(value).__name__} has no {sorted(unknown)}")
            for key, each in given.items():
                _check(each, getattr(value, key))
        case list() if isinstance(value, tuple | list):
            for each, one in zip(given, value, strict=True):
                _check(each, one)
        case _:
            return

"""The kinds of JSON value that a typed field may ask for, and the words for what was found instead (section 6.2)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kind:
    """What a field accepts, and the noun that messages use for it."""

    noun: str
    accepts: Callable[[Any], bool]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # to Python, true is a 1


STRING = Kind("a string", lambda value: isinstance(value, str))
BOOLEAN = Kind("a boolean", lambda value: isinstance(value, bool))
ARRAY = Kind("an array", lambda value: isinstance(value, list))
OBJECT = Kind("an object", lambda value: isinstance(value, dict))
INTEGER = Kind("an integer", _is_whole)
NON_NEGATIVE_INTEGER = Kind("a non-negative integer", lambda value: _is_whole(value) and value >= 0)


def found(value: Any) -> str:
    """What *value* is, in one noun: `a string`, `null`."""
    match value:
        case None:
            return "null"
        case bool():
            return BOOLEAN.noun
        case str():
            return STRING.noun
        case list():
            return ARRAY.noun
        case dict():
            return OBJECT.noun
        case _:
            return "a number"

"""What a value of JSON may have to be, and the words for what was found instead."""

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

FEW = 3  # words that a message names in passing


@dataclass(frozen=True, slots=True)
class Kind:
    """What a place accepts: the noun that messages use for it, and what they tell to write.

    `words` are all that there are, where these are few.
    """

    noun: str
    accepts: Callable[[Any], bool]
    sample: str = "null"
    words: tuple[str, ...] = ()


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)  # to Python, true is a 1


def _is_number(value: Any) -> bool:
    """Whether *value* is a number that a float can stand for."""
    return isinstance(value, float) or (_is_whole(value) and abs(value) < 2**64)


def whole(low: int, high: int) -> Kind:
    """A whole number of so many."""
    return Kind(f"a whole number from {low} to {high}", lambda value: _is_whole(value) and low <= value <= high, "1")


def one_of(words: Iterable[str], noun: str = "one of its words") -> Kind:
    """One of these words, which are named in place of *noun* where they are few."""
    known = tuple(dict.fromkeys(words))
    if len(known) <= FEW:
        noun = " or ".join(f'"{word}"' for word in known)
    return Kind(noun, lambda value: isinstance(value, str) and value in known, f'"{known[0]}"', known)


def or_null(kind: Kind) -> Kind:
    return Kind(f"{kind.noun} or null", lambda value: value is None or kind.accepts(value), "null", kind.words)


STRING = Kind("a string", lambda value: isinstance(value, str), '"..."')
BOOLEAN = Kind("a boolean", lambda value: isinstance(value, bool), "true")
ARRAY = Kind("an array", lambda value: isinstance(value, list), "[]")
OBJECT = Kind("an object", lambda value: isinstance(value, dict), "{}")
NUMBER = Kind("a number", _is_number, "0.5")
INTEGER = Kind("an integer", _is_whole, "1")
NON_NEGATIVE_INTEGER = Kind("a non-negative integer", lambda value: _is_whole(value) and value >= 0, "1")
COUNT = Kind("a whole number, 0 or more, of 64 bits at most", whole(0, 2**64 - 1).accepts, "1")
STRINGS = Kind("an array of strings", lambda value: ARRAY.accepts(value) and all(map(STRING.accepts, value)), '["..."]')
ANYTHING = Kind("a value", lambda _: True, "{}")


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
            return NUMBER.noun


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The one of *known* that *word* may be meant for, also where its parts are joined in another way."""
    by_letters = {_letters(name): name for name in known}
    near = difflib.get_close_matches(_letters(word[:80]), by_letters, n=1, cutoff=0.75)
    return by_letters[near[0]] if near else None


def _letters(word: str) -> str:
    return re.sub(r"[-_ ]", "", word).lower()

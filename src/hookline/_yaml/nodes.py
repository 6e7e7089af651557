"""A YAML document as a tree in which every value has its place, and a scalar is what JSON would take it for."""

import re
from dataclasses import dataclass

from hookline._yaml.findings import Place

CLIPPED = 40  # characters of a value that a message repeats

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<broken>(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_LONGEST_INT = 300  # digits; a float of more is infinite


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place. A bare one is a value that was refused: there is nothing more to say about it."""

    place: Place


@dataclass(frozen=True, slots=True)
class Scalar(Node):
    """A scalar. `plain` ones have no quotes around them."""

    text: str
    plain: bool

    def value(self) -> str | int | float | bool | None:
        """What JSON would take it for. A number past all bounds is infinite."""
        if not self.plain:
            return self.text
        if self.text in _WORDS:
            return _WORDS[self.text]
        number = _NUMBER.fullmatch(self.text)
        if number is None:
            return self.text
        whole = not number["broken"] and len(self.text) <= _LONGEST_INT
        return int(self.text) if whole else float(self.text)


@dataclass(frozen=True, slots=True)
class Items(Node):
    """A list."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Entries(Node):
    """A mapping, in the order written."""

    entries: tuple[tuple[Scalar, Node], ...]


def found(node: Node) -> str:
    """What a value is called in a message."""
    match node:
        case Items(items=items):
            return "a list" if items else "an empty list"
        case Entries():
            return "a mapping"
        case Scalar():
            value = node.value()
            shown = clipped(node.text)
            if isinstance(value, str):
                return f"the text '{shown}'"
            return "nothing" if value is None else shown if isinstance(value, bool) else f"the number {shown}"
        case _:
            return "something that was refused"


def clipped(text: str) -> str:
    """*text* as a message can repeat it: not endless, and on one line."""
    cut = text if len(text) <= CLIPPED else f"{text[:CLIPPED]}..."
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in cut)

"""YAML in which every value has its place, and a scalar is what JSON would take it for.

PyYAML alone keeps the last of two equal keys, makes `no` a boolean and `12:30` a number, and expands aliases without
bound. Here a key stands once, plain scalars are JSON's or text, and aliases, anchors and tags are refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from hookline.session.models._findings import START, Findings, Place

MAX_DEPTH = 32

HINTS = {
    "mapping values are not allowed in this context": "put a text that holds `: ` in quotes",
    "found character that cannot start any token": "indent with spaces, not tabs; put a text that begins so in quotes",
}

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


def compose(text: str, findings: Findings) -> Node | None:
    """The one document in *text*, or None where there is none. What is wrong goes to *findings*."""
    composer = _Composer(text, findings)
    try:
        return composer.document()
    except yaml.reader.ReaderError as error:
        before = text.encode()[: error.position].decode()
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        findings.add("syntax", f"character U+{error.character:04X} may not stand in YAML: remove it", place)
    except yaml.MarkedYAMLError as error:
        hint = HINTS.get(error.problem or "", "mend the YAML here")
        place = _place(error.problem_mark) if error.problem_mark else START
        findings.add("syntax", f"{error.problem}: {hint}", place)
    return None


class _Composer:
    """Makes nodes of PyYAML's events."""

    def __init__(self, text: str, findings: Findings) -> None:
        self._events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._findings = findings

    def document(self) -> Node | None:
        next(self._events)  # the start of the stream
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        node = self._node(next(self._events), 1)
        next(self._events)  # the end of the document
        following = next(self._events)
        if not isinstance(following, yaml.StreamEndEvent):
            self._findings.add(
                "second-document", "a second document begins here: write one only", _place(following.start_mark)
            )
        return node

    def _node(self, event: Any, depth: int) -> Node:
        place = _place(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            self._findings.add("alias", f"`*{event.anchor}` is an alias: write the value out", place)
            return Node(place)
        if event.anchor is not None:
            self._findings.add("anchor", f"`&{event.anchor}` is an anchor: remove it", place)
        if event.tag is not None:
            self._findings.add("tag", f"`{event.tag}` is a tag: remove it, and put text in quotes", place)
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(place, event.value, event.implicit[0])
        if depth > MAX_DEPTH:
            self._findings.add("too-deep", f"this is nested more than {MAX_DEPTH} levels deep", place)
            self._pass_over()
            return Node(place)
        if isinstance(event, yaml.SequenceStartEvent):
            return Items(place, tuple(self._items(depth)))
        return Entries(place, tuple(self._entries(depth)))

    def _items(self, depth: int) -> Iterator[Node]:
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            yield self._node(event, depth + 1)

    def _entries(self, depth: int) -> Iterator[tuple[Scalar, Node]]:
        seen: dict[str, Place] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            value = self._node(next(self._events), depth + 1)
            if not isinstance(key, Scalar):
                self._findings.add("key", "a key is a word, not a list, a mapping or an alias", key.place)
            elif key.text in seen:
                self._findings.add(
                    "duplicate-key",
                    f"`{key.text[:80]}` stands here already, in line {seen[key.text].line}: keep one",
                    key.place,
                )
            else:
                seen[key.text] = key.place
                yield key, value

    def _pass_over(self) -> None:
        """Leave out the rest of a list or a mapping whose start was just read."""
        level = 1
        while level:
            event = next(self._events)
            if isinstance(event, yaml.CollectionStartEvent):
                level += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                level -= 1


def _place(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1)

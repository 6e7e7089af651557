"""From the bytes of a YAML file to its nodes, or to everything that is wrong with it.

PyYAML alone keeps the last of two equal keys, makes `no` a boolean and `12:30` a number, and expands aliases without
bound. Here a key stands once, plain scalars are JSON's or text, and aliases, anchors and tags are refused.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from hookline._yaml.findings import START, WHOLE_FILE, Findings, Place
from hookline._yaml.nodes import Entries, Items, Node, Scalar

MAX_DEPTH = 32

HINTS = {
    "mapping values are not allowed in this context": "put a text that holds `: ` in quotes",
    "found character that cannot start any token": "indent with spaces, not tabs; put a text that begins so in quotes",
}

_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # those of YAML 1.1, as the parser counts them


def compose(data: bytes, findings: Findings, *, what: str, max_bytes: int) -> Node | None:
    """The one document in *data*, or None where there is none. What is wrong goes to *findings*.

    *data* is UTF-8, with or without a byte order mark; *what* is what messages call all of it.
    """
    if len(data) > max_bytes:
        findings.add("too-large", f"{what} has more than {max_bytes} bytes: write less", WHOLE_FILE)
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8: save the file as UTF-8"
        findings.add("not-utf8", message, Place(line, column))
        return None
    return _composed(text, findings)


def _composed(text: str, findings: Findings) -> Node | None:
    composer = _Composer(text, findings)
    try:
        return composer.document()
    except yaml.reader.ReaderError as error:
        before = text.encode()[: error.position].decode()
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        findings.add("syntax", f"character U+{error.character:04X} may not stand in YAML: remove it", place)
    except yaml.MarkedYAMLError as error:
        hint = HINTS.get(error.problem or "", "mend the YAML here")
        place = min(_place(error.problem_mark), _end(text)) if error.problem_mark else START
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


def _end(text: str) -> Place:
    """Where *text* ends. The parser, which adds a line of its own, finds what is missing there in that."""
    lines = _LINE_END.split(text)
    return Place(len(lines), len(lines[-1]) + 1)

"""What a key of a manifest accepts: a noun and a sample for messages, and the way from a node to a value.

No value of a manifest is None: that stands for one that was refused, once its problem is taken down.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from hookline._yaml.findings import Findings
from hookline._yaml.nodes import Entries, Items, Node, Scalar, clipped, found

MANIFEST = "E-MAN-003"  # the code of whatever has none of its own


def _no_homes() -> Mapping[str, Sequence[str]]:
    return {}


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a value stands, and where to say what is wrong with it. `homes`: the tables that have a key, by the key."""

    findings: Findings
    path: str = ""
    code: str = MANIFEST
    homes: Callable[[], Mapping[str, Sequence[str]]] = _no_homes

    @property
    def name(self) -> str:
        """What messages call the value."""
        return f"`{self.path.rpartition('.')[2]}`" if self.path else "the manifest"

    def within(self, step: str | int, code: str = "") -> "Slot":
        """The slot of a member: of a mapping by its key, of a list by its index."""
        path = f"{self.path}[{step}]" if isinstance(step, int) else f"{self.path}.{step}".removeprefix(".")
        return replace(self, path=path, code=code or self.code)

    def written(self, sample: str) -> str:
        """*sample* as it would stand here."""
        key = self.path.rpartition(".")[2]
        return f"`{sample}`" if not key or key.endswith("]") else f"`{key}: {sample}`"

    def refuse(self, node: Node, words: str, remedy: str) -> None:
        """Say what is wrong with a value, unless it was refused before."""
        if type(node) is not Node:
            message = f"{words}; found {found(node)}: write {remedy}"
            self.findings.add(self.code, message, node.place, self.path)


class Read(Protocol):
    def __call__(self, node: Node, slot: Slot, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Kind:
    """`noun` says it in words; `sample` is a value that may stand there, which messages propose."""

    noun: str
    sample: str
    read: Read


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a text is not what it has to be, and what to write instead where that is another than the sample."""

    words: str
    remedy: str = ""


def _wrong(node: Node, slot: Slot, noun: str, sample: str) -> None:
    is_bare = isinstance(node, Scalar) and node.plain and isinstance(node.value(), int | float)
    remedy = "it in quotes" if is_bare and noun.startswith("text") else slot.written(sample)
    slot.refuse(node, f"{slot.name} has to be {noun}", remedy)


def _value(node: Node) -> Any:
    return node.value() if isinstance(node, Scalar) else None


def text(noun: str, sample: str, parse: Callable[[str], Any]) -> Kind:
    """A text of which *parse* makes a value or a Refusal."""

    def read(node: Node, slot: Slot) -> Any:
        value = _value(node)
        if not isinstance(value, str):
            _wrong(node, slot, noun, sample)
            return None
        parsed = parse(value)
        if not isinstance(parsed, Refusal):
            return parsed
        slot.refuse(node, parsed.words or f"{slot.name} has to be {noun}", parsed.remedy or slot.written(sample))
        return None

    return Kind(noun, sample, read)


def _line(value: str) -> str | Refusal:
    return value if value.strip() and value.isprintable() else Refusal("")


def _prose(value: str) -> str | Refusal:
    return value if value.strip() and "\0" not in value else Refusal("")


_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?")
_VERSION = re.compile(r"[0-9A-Za-z](?:[0-9A-Za-z.+_-]{0,99})")
_PROGRAM = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_.+-]{0,99}")


RESERVED = frozenset({"latest", "stable", "edge"})  # as versions: no package may have one of them


def _version(value: str) -> str | Refusal:
    if value in RESERVED:
        return Refusal(
            "`version` has to be that of one package, and this one moves", "the version itself, such as `1.0.0`"
        )
    return value if _VERSION.fullmatch(value) else Refusal("")


def matching(pattern: re.Pattern[str]) -> Callable[[str], str | Refusal]:
    return lambda value: value if pattern.fullmatch(value) else Refusal("")


def line(sample: str) -> Kind:
    return text("text on one line that is not blank", sample, _line)


def prose(sample: str) -> Kind:
    return text("text that is not blank", sample, _prose)


NAME = text("text of lower case letters, digits and inner hyphens, 100 at most", "my-name", matching(_NAME))
VERSION = text("text of letters, digits, `.`, `+`, `-` and `_`, such as 1.0.0", "1.0.0", _version)
PROGRAM = text("text that names a program, without a folder", "git", matching(_PROGRAM))


def whole(low: int, high: int, sample: int, *, too_low: str = "") -> Kind:
    """A whole number. *too_low* is said of one that is less than *low*."""
    noun = f"a whole number from {low} to {high}"

    def read(node: Node, slot: Slot) -> int | None:
        value = _value(node)
        if isinstance(value, int) and not isinstance(value, bool):
            if low <= value <= high:
                return value
            if value < low and too_low:
                slot.refuse(node, f"{slot.name} {too_low}", slot.written(str(sample)))
                return None
        _wrong(node, slot, noun, str(sample))
        return None

    return Kind(noun, str(sample), read)


def number(noun: str, sample: str, fault: Callable[[float], str]) -> Kind:
    """A number. *fault* says what is wrong with one, if anything is; `{}` in that is the number."""

    def read(node: Node, slot: Slot) -> float | None:
        value = _value(node)
        if not isinstance(node, Scalar) or isinstance(value, bool) or not isinstance(value, int | float):
            _wrong(node, slot, noun, sample)
            return None
        words = fault(value)
        if not words:
            return float(value)
        message = f"{slot.name} {words.format(clipped(node.text))}: write {slot.written(sample)}"
        slot.findings.add(slot.code, message, node.place, slot.path)
        return None

    return Kind(noun, sample, read)


def _boolean(node: Node, slot: Slot) -> bool | None:
    value = _value(node)
    if isinstance(value, bool):
        return value
    _wrong(node, slot, BOOLEAN.noun, BOOLEAN.sample)
    return None


BOOLEAN = Kind("true or false", "true", _boolean)


def choice(words: Mapping[str, Any]) -> Kind:
    """One of these words: the first is the sample."""
    listed = [f"`{word}`" for word in words]
    noun = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"

    def read(node: Node, slot: Slot) -> Any:
        value = _value(node)
        if isinstance(value, str) and value in words:
            return words[value]
        _wrong(node, slot, noun, next(iter(words)))
        return None

    return Kind(noun, next(iter(words)), read)


@dataclass(frozen=True, slots=True)
class ListKind(Kind):
    """A list of these."""

    member: Kind


def list_of(member: Kind, noun: str) -> ListKind:
    """A list, as a tuple of those of its members that could be read."""
    sample = f"[{member.sample}]"

    def read(node: Node, slot: Slot) -> tuple[Any, ...] | None:
        if not isinstance(node, Items):
            _wrong(node, slot, noun, sample)
            return None
        values = [member.read(each, slot.within(index)) for index, each in enumerate(node.items)]
        return tuple(each for each in values if each is not None)

    return ListKind(noun, sample, read, member)


ANYTHING = Kind("anything", "{}", lambda _node, _slot: True)
MAX_CONFIG = 65_536  # bytes of compact JSON


def _config(node: Node, slot: Slot) -> str | None:
    if not isinstance(node, Entries):
        _wrong(node, slot, CONFIG.noun, CONFIG.sample)
        return None
    found_before = slot.findings.count
    data = json_data(node, slot)
    if slot.findings.count > found_before:
        return None
    compact = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    size = len(compact.encode())
    if size > MAX_CONFIG:
        message = f"{slot.name} is {size} bytes of JSON, and {MAX_CONFIG} are the most: write less"
        slot.findings.add(slot.code, message, node.place, slot.path)
        return None
    return compact


CONFIG = Kind("a mapping", "{key: value}", _config)


def json_data(node: Node, slot: Slot) -> Any:
    """What JSON holds in place of *node*; what it cannot hold is refused."""
    match node:
        case Entries(entries=entries):
            pairs = [(key, value) for key, value in entries if is_word(key, slot)]
            return {key.text: json_data(value, slot.within(key.text)) for key, value in pairs}
        case Items(items=items):
            return [json_data(each, slot.within(index)) for index, each in enumerate(items)]
        case Scalar():
            value = node.value()
            if isinstance(value, float) and math.isinf(value):
                slot.refuse(node, f"{slot.name} has to be a number that JSON can hold", "it in quotes")
            return value
        case _:
            return None


def is_word(key: Scalar, slot: Slot) -> bool:
    """Whether a key is text; says so where it is not."""
    if isinstance(key.value(), str):
        return True
    slot.refuse(key, "a key has to be text", "it in quotes")
    return False

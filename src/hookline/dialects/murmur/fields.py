"""One table of a manifest, read by its rows: a value for every key, and everything that is wrong with it."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

from hookline._yaml.findings import START, Place
from hookline._yaml.nodes import Entries, Node, clipped
from hookline.dialects.murmur.kinds import Kind, Slot, is_word


class Required(Enum):
    """What stands for the default of a key that has none."""

    REQUIRED = "required"


REQUIRED = Required.REQUIRED


@dataclass(frozen=True, slots=True)
class Inert:
    """Why a key that may be written changes nothing: a code and words of the warning."""

    code: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A key: what it accepts, what holds where it is not written, what there is to know, the code of its problems."""

    name: str
    kind: Kind
    default: Any = None
    note: str
    code: str = ""
    inert: Inert | None = None


Fields = Mapping[str, Field]


@dataclass(frozen=True, slots=True)
class TableKind(Kind):
    """A mapping with these keys. `what` is what messages call it."""

    what: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class Section:
    """A table as it was read. `nodes` are the values that were written, `values` those of all of its keys."""

    slot: Slot
    place: Place
    values: Mapping[str, Any]
    nodes: Mapping[str, Node]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __contains__(self, name: str) -> bool:
        """Whether *name* was written there."""
        return name in self.nodes

    def add(self, name: str, message: str) -> None:
        """Take down a problem of the value under *name*, or of the table where that is not written."""
        place = self.nodes[name].place if name in self.nodes else self.place
        self.slot.findings.add(self.slot.code, message, place, self.slot.within(name).path)


def table(what: str, *rows: Field) -> TableKind:
    fields = MappingProxyType({row.name: row for row in rows})
    first = next((row for row in rows if row.default is REQUIRED), rows[0])

    def read(node: Node, slot: Slot) -> Section | None:
        if isinstance(node, Entries):
            return _section(node, kind, slot)
        slot.refuse(node, f"{slot.name} has to be {kind.noun}", slot.written(kind.sample))
        return None

    names = ", ".join(f"`{name}`" for name in fields)
    kind = TableKind(f"a mapping with the keys {names}", f"{{{first.name}: {first.kind.sample}}}", read, what, fields)
    return kind


def absent(kind: TableKind, slot: Slot) -> Section:
    """The table where it is not written."""
    return Section(slot, START, _defaults(kind.fields, slot), {})


def _defaults(fields: Fields, slot: Slot) -> dict[str, Any]:
    return {name: _default(row, slot) for name, row in fields.items()}


def _default(row: Field, slot: Slot) -> Any:
    if isinstance(row.kind, TableKind):
        return absent(row.kind, slot.within(row.name, row.code))
    return None if row.default is REQUIRED else row.default


def _section(node: Entries, kind: TableKind, slot: Slot) -> Section:
    values, nodes = _defaults(kind.fields, slot), dict[str, Node]()
    near: set[str | None] = set()
    for key, value in node.entries:
        if not is_word(key, slot):
            continue
        row = kind.fields.get(key.text)
        if row is None:
            near.add(_unknown(key.text, key.place, kind, slot))
            continue
        nodes[row.name] = value
        read = row.kind.read(value, slot.within(row.name, row.code))
        if read is not None:
            values[row.name] = read
        if row.inert is not None:
            message = f"`{row.name}` has no effect here: {row.inert.words}"
            slot.findings.note(row.inert.code, message, key.place, slot.within(row.name).path)
    for row in _missing(kind.fields, {*nodes, *near}):
        message = f"{kind.what} has no `{row.name}`: write {slot.within(row.name).written(row.kind.sample)}"
        slot.findings.add(row.code or slot.code, message, node.place, slot.path)
    return Section(slot, node.place, values, nodes)


def _missing(fields: Fields, written: set[str | None]) -> Iterator[Field]:
    """What is required and not *written*, not even misspelt."""
    return (row for name, row in fields.items() if row.default is REQUIRED and name not in written)


def _unknown(key: str, place: Place, kind: TableKind, slot: Slot) -> str | None:
    """Take down a key that there is not. The one that it may be meant for, if any."""
    homes = slot.homes().get(key, ())
    near = next(iter(difflib.get_close_matches(_spelled(key), kind.fields, 1, 0.7)), None)
    if len(homes) == 1:
        hint = f"it belongs to {homes[0]}: write it there"
    elif near:
        hint = f"did you mean `{near}`?"
    else:
        hint = f"its keys are {', '.join(f'`{name}`' for name in kind.fields)}"
    message = f"{kind.what} has no key `{clipped(key)}`; {hint}"
    slot.findings.add(slot.code, message, place, slot.path)
    return None if len(homes) == 1 else near


def _spelled(key: str) -> str:
    """*key* as this format would spell it: `maxTurns` and `max-turns` are `max_turns`."""
    humps = "".join(f"_{each.lower()}" if each.isupper() else each for each in key[:80].strip())
    return humps.replace("-", "_").replace(" ", "_").replace("__", "_").strip("_")

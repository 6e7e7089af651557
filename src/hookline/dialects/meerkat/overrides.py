"""What one agent changes of its hooks: entries taken out, entries added (section 6.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from hookline._core.hooks import Source
from hookline._core.problems import Problem, Scope, Where
from hookline._core.strictjson import JsonFault, decode, parse, positions
from hookline.dialects._files import DEEPEST, LARGEST
from hookline.dialects.meerkat.document import Document, Finding
from hookline.dialects.meerkat.entries import Entry, problems_of, read_entries
from hookline.dialects.meerkat.fields import read_fields
from hookline.dialects.meerkat.kinds import found
from hookline.dialects.meerkat.legality import violations
from hookline.dialects.meerkat.schema import OVERRIDES

OVERRIDE = "override"
SOURCE = Source(layer=OVERRIDE, label="hooks_override", path="hooks_override")


@dataclass(frozen=True, slots=True)
class Overrides:
    """`disable` takes base entries out, by id; `entries` come after what remains of them."""

    entries: tuple[Entry, ...] = ()
    disable: tuple[str, ...] = ()

    def wire(self) -> dict[str, Any]:
        """The object that reads as these overrides."""
        return {"entries": [entry.wire() for entry in self.entries], "disable": list(self.disable)}


class FoundOverrides(NamedTuple):
    """What was asked for, None where it cannot be done, and everything wrong with it."""

    overrides: Overrides | None
    problems: tuple[Problem, ...] = ()


class Effective(NamedTuple):
    """The entries in force, in the order of registration; none where a problem says that nothing starts."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...] = ()
    text: str = ""  # what the engine then fails with


def parse_overrides(data: bytes | str, source: Source = SOURCE) -> FoundOverrides:
    """The overrides that a JSON text stands for, whatever it holds."""
    body = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    try:
        value = parse(body, max_bytes=LARGEST, max_depth=DEEPEST)
        text = decode(body)
    except JsonFault as fault:
        where = Where(file=source.path, label=source.label, line=fault.line, column=fault.column)
        message = f"malformed JSON: {fault.message}"
        problem = Problem(scope=Scope.SETTINGS, code="MalformedJson", message=message, where=where)
        return FoundOverrides(None, (problem,))
    return _read(Document(source, value, partial(positions, text)))


def read_overrides(value: object, source: Source = SOURCE) -> FoundOverrides:
    """The overrides that a dict stands for, as a program embeds them; its fields are those of the JSON object."""
    return _read(Document(source, value))


def _read(document: Document) -> FoundOverrides:
    table = document.value
    if not isinstance(table, dict):
        message = f"overrides must be an object with `entries` and `disable`, found {found(table)}"
        return FoundOverrides(None, (document.problem(Finding(code="WrongType", message=message, at=())),))
    findings: list[Finding] = []
    values = read_fields(table, OVERRIDES, (), findings)
    values["entries"] = tuple(read_entries(document, ("entries",), table.get("entries"), findings))
    is_sound = all(each.scope is Scope.NOTE for each in findings)
    return FoundOverrides(Overrides(**values) if is_sound else None, problems_of(document, findings))


def effective(base: Sequence[Entry], overrides: Overrides) -> Effective:
    """The entries of a run. The base is judged first and as it is: taking out what is wrong with it rescues nothing.

    An override that repeats a base id without disabling it makes two of that id, and two are refused.
    """
    judged = _judged(tuple(base))
    if judged.problems:
        return judged
    remaining = tuple(entry for entry in base if entry.id not in overrides.disable)
    return _judged(remaining + overrides.entries)


def _judged(entries: tuple[Entry, ...]) -> Effective:
    found_wrong = violations(entries)
    if not found_wrong:
        return Effective(entries)
    return Effective((), tuple(each.problem for each in found_wrong), found_wrong[0].text)

"""One table of a document, read by its rows: a value for every field, and everything that is wrong with it."""

from collections.abc import Container, Iterator
from typing import Any

from hookline._core.strictjson import Path
from hookline.dialects._places import key_of
from hookline.dialects.meerkat.document import UNKNOWN_KEY, Finding, did_you_mean, note, quoted
from hookline.dialects.meerkat.kinds import Slot, found
from hookline.dialects.meerkat.schema import ADAPTERS, ENTRY, HOOKS, REQUIRED, Field, Fields

Table = dict[Any, Any]  # only a program's own dict can have keys that are no strings


def read_fields(table: Table, fields: Fields, at: Path, findings: list[Finding]) -> dict[str, Any]:
    """The value of every field, its default where there is none or a wrong one; what is wrong goes to *findings*."""
    values = {name: each.default for name, each in fields.items()}
    written: dict[str, str] = {}
    for key, value in table.items():
        row = _row(key, fields)
        if row is None:
            findings.append(_unknown(key, fields, at))
        elif row.name in written:
            message = f"`{written[row.name]}` and `{key}` are one field: keep one of the two"
            findings.append(Finding(code="DuplicateField", message=message, at=key_of((*at, key))))
        else:
            written[row.name] = key
            faults = row.kind.check(value, Slot((*at, key), len(at)))
            findings += faults
            if not faults:
                values[row.name] = row.kind.convert(value)
    findings += _missing(fields, written, at)
    return values


def _row(key: Any, fields: Fields) -> Field | None:
    if not isinstance(key, str):
        return None
    return fields.get(key) or next((each for each in fields.values() if key and each.alias == key), None)


def _missing(fields: Fields, written: Container[str], at: Path) -> Iterator[Finding]:
    for name, each in fields.items():
        if each.default is REQUIRED and name not in written:
            message = f"`{name}` is missing and required: write it ({each.note})"
            yield Finding(code="MissingField", message=message, at=at)


def _unknown(key: Any, fields: Fields, at: Path) -> Finding:
    if not isinstance(key, str):
        return note(UNKNOWN_KEY, f"a key that is no string is ignored, found {found(key)}", at)
    place = key_of((*at, key))
    if key == "failure_policy" and fields is ENTRY:
        message = (
            "`failure_policy` is ignored: there is no per-hook failure policy; "
            "whether the run waits for a hook, and fails with it, is its `mode`"
        )
        return note("FailurePolicyIgnored", message, place)
    other = _home_of(key, fields)
    hint = f"; it belongs to {other}" if other else did_you_mean(key, fields)
    return note(UNKNOWN_KEY, f"unknown key {quoted(key)} is ignored{hint}", place)


def _home_of(key: str, fields: Fields) -> str:
    """The table that *key* belongs to, if it is not one of *fields* and is one of another table."""
    if fields is HOOKS and key in ENTRY:
        return "an entry: write it under `[[hooks.entries]]`"
    if fields is ENTRY and key in HOOKS:
        return "`[hooks]`: write it there"
    adapters = [kind for kind, own in ADAPTERS.items() if key in own and own is not fields]
    if fields is ENTRY and (adapters or key == "type"):
        return "the entry's `runtime`: write it under `[hooks.entries.runtime]`"
    if fields in ADAPTERS.values():
        if key in ENTRY:
            return "the entry itself: write it above `[hooks.entries.runtime]`"
        if adapters:
            return f'`type = "{adapters[0].value}"`'
    return ""

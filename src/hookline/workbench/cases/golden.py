"""What is wanted, written into the file of cases as it was found: by its lines, so that all else stays as it stands."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hookline._core.errors import StateError
from hookline._core.regular_files import replace_text
from hookline.workbench.cases.types import Case, Result, Status

ALWAYS = ("decision", "outcomes")  # what is written of a case that wants nothing yet
WHERE_SAID = ("reason", "effects")  # the same, where there is something to say
KEY = "want:"


@dataclass(frozen=True, slots=True)
class Updated:
    """How many cases of a file were filled in or changed, and those that could not be: they stand on one line."""

    path: Path
    changed: int
    unchangeable: tuple[str, ...]


def update(path: Path, results: Sequence[Result]) -> Updated:
    """Write into the file at *path* what its cases came to, where that is not what they want.

    A case that could not be run stays as it is. The file is replaced whole, or not at all. Raises StateError.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise StateError(f"cannot read {path}: {error.strerror}") from error
    lines = text.splitlines(keepends=True)
    changed, unchangeable = 0, []
    for result in sorted(results, key=lambda each: -each.case.line):  # from the end: lines above keep their numbers
        if result.fired is None or result.status is Status.OK:
            continue
        if _is_flow(lines, result.case):
            unchangeable.append(result.case.name)
            continue
        _write(lines, result)
        changed += 1
    if changed:
        replace_text(path, "".join(lines))
    return Updated(path, changed, tuple(unchangeable))


def _is_flow(lines: Sequence[str], case: Case) -> bool:
    """Whether the case is written as `{...}`, within a line."""
    return lines[case.line - 1][case.column - 1 :].startswith("{")


def _write(lines: list[str], result: Result) -> None:
    case = result.case
    margin = " " * (case.column - 1)
    block = [f"{margin}{line}\n" for line in wanted_lines(result)]
    if case.want_line:
        start, end = case.want_line - 1, _end_of(lines, case.want_line, case.column)
        lead = lines[start][: case.column - 1]
        if lead.strip():  # it is the first member, behind the dash
            block[0] = lead + block[0].lstrip()
    else:
        start = end = _end_of(lines, case.line, case.column)
        if start and not lines[start - 1].endswith("\n"):
            lines[start - 1] += "\n"
    lines[start:end] = block


def _end_of(lines: Sequence[str], line: int, column: int) -> int:
    """The index behind the last line of what begins in *line*: those below that stand further in, blank ones within."""
    end = line
    for index in range(line, len(lines)):
        text = lines[index]
        if not text.strip():
            continue
        inside = column - 1 if lines[line - 1][column - 1 :].startswith(KEY) else column - 2
        if len(text) - len(text.lstrip()) <= inside:
            break
        end = index + 1
    return end


def wanted_lines(result: Result) -> list[str]:
    """What is to be wanted, line by line: the members that the case names already, or the usual ones."""
    found = result.found
    named = () if result.case.want is None else tuple(result.case.want.members)
    if not named:
        named = (*ALWAYS, *(name for name in WHERE_SAID if found.get(name)))
    lines = [KEY]
    for name in named:
        value = found.get(name)
        if isinstance(value, Mapping) and name == "outcomes" and value:
            lines.append(f"  {name}:")
            lines += [f"    {yaml_of(hook)}: {yaml_of(outcome)}" for hook, outcome in value.items()]
        else:
            lines.append(f"  {name}: {yaml_of(value)}")
    return lines


def yaml_of(value: Any) -> str:
    """*value* on one line, as JSON, which YAML takes; a plain word without quotes."""
    if isinstance(value, str) and value.replace("_", "").isalpha() and value not in ("true", "false", "null"):
        return value
    return json.dumps(value, ensure_ascii=False)

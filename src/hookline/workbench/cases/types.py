"""A case, the file that it stands in, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from hookline._core.problems import Problem
from hookline.workbench.cases.coverage import Coverage
from hookline.workbench.fire import Fired
from hookline.workbench.opening import Chosen

ALL = ""  # in the place of a hook's name: every hook


@dataclass(frozen=True, slots=True)
class Want:
    """What is wanted of an event, by the names of docs/guide/test-hooks.md. What is not in it is not looked at."""

    members: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which event a case is about: described, as a payload in a dialect's own form, or recorded."""

    event: str | None = None
    tool: str | None = None
    input: Any = None
    members: Mapping[str, Any] = field(default_factory=dict)
    payload: Mapping[str, Any] | None = None
    payload_file: Path | None = None
    session: Path | None = None
    session_line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One event and what the hooks should do at it. `line` and `column` say where it begins in its file.

    `want` is None where none is written. `faults` are by the name of a hook, ALL for every one. `within` are seconds
    for the whole event, `within_each` for single hooks.
    """

    name: str
    line: int
    column: int
    asked: Asked
    want: Want | None = None
    want_line: int = 0
    faults: Mapping[str, str] = field(default_factory=dict)
    within: float | None = None
    within_each: Mapping[str, float] = field(default_factory=dict)
    repeat: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """A file of cases and the hooks that they are about. With `problems`, what of it could be read."""

    path: Path
    chosen: Chosen
    cases: tuple[Case, ...]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that was wanted otherwise than it was found."""

    what: str
    wanted: Any
    found: Any


class Status(Enum):
    """What became of a case."""

    OK = "ok"
    FAILED = "failed"
    BROKEN = "broken"  # it could not be run, or says nothing of what is wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one case. `found` is what it came to, in the words of `want`; `fired` is all of it."""

    file: Path
    case: Case
    status: Status
    differences: tuple[Difference, ...] = ()
    error: str = ""
    found: Mapping[str, Any] = field(default_factory=dict)
    fired: Fired | None = field(default=None, repr=False)
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """As `test --format json` has it."""
        return {
            "file": str(self.file),
            "line": self.case.line,
            "name": self.case.name,
            "status": self.status.value,
            "seconds": round(self.seconds, 6),
            "error": self.error,
            "differences": [
                {"what": each.what, "wanted": each.wanted, "found": each.found} for each in self.differences
            ],
            "found": dict(self.found),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of all cases, in the order of the files, and which hooks they reached.

    `problems` are of files that could not be read whole.
    """

    results: tuple[Result, ...]
    coverage: Coverage
    problems: tuple[Problem, ...] = ()
    seconds: float = 0.0

    @property
    def is_fine(self) -> bool:
        return not self.problems and all(each.status is Status.OK for each in self.results)

    def of_status(self, status: Status) -> Sequence[Result]:
        return [each for each in self.results if each.status is status]

    def as_json(self) -> dict[str, Any]:
        """As `test --format json` has it."""
        return {
            "ok": self.is_fine,
            "seconds": round(self.seconds, 6),
            "cases": [each.as_json() for each in self.results],
            "problems": [
                {"where": str(each.where), "code": each.code, "message": each.message} for each in self.problems
            ],
            "coverage": self.coverage.as_json(),
        }

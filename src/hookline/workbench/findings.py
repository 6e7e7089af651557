"""What is found in hook files: each finding with its place, its effect, and what to write instead."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hookline._core.problems import Problem, Scope, Where


class Level(Enum):
    """How bad a finding is. Only notes leave the exit code alone."""

    ERROR = "error"  # something does not run
    WARNING = "warning"  # it runs, and hardly as it was meant
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding. `code` is stable; `rule` is the dialect's own rule number where it has one.

    `effect` says what of it: what will not run, or not as was meant. `remedy` may be empty, where the message says it.
    """

    level: Level
    code: str
    message: str
    where: Where
    effect: str
    remedy: str = ""
    rule: str = ""

    def as_json(self) -> dict[str, Any]:
        """As `check --format json` has it."""
        where = self.where
        return {
            "level": self.level.value,
            "code": self.code,
            "rule": self.rule,
            "message": self.message,
            "effect": self.effect,
            "remedy": self.remedy,
            "file": where.file,
            "line": where.line,
            "column": where.column,
            "path": where.path,
        }


@dataclass(frozen=True, slots=True)
class Reach:
    """What a problem of one scope comes to."""

    level: Level
    effect: str


REACH: Mapping[Scope, Reach] = {
    Scope.SETTINGS: Reach(Level.ERROR, "no session starts"),
    Scope.FILE: Reach(Level.ERROR, "no hook of this file runs"),
    Scope.POINT: Reach(Level.ERROR, "no hook under this event runs"),
    Scope.GROUP: Reach(Level.ERROR, "no hook of this group runs"),
    Scope.HOOK: Reach(Level.ERROR, "this hook does not run"),
    Scope.ABSENT: Reach(Level.WARNING, "nothing of it runs"),
    Scope.DOUBT: Reach(Level.WARNING, "it runs, and hardly as it was meant"),
    Scope.NOTE: Reach(Level.NOTE, "everything runs"),
}


def finding_of(problem: Problem) -> Finding:
    """A loader's problem as a finding."""
    reach = REACH[problem.scope]
    return Finding(
        level=reach.level,
        code=problem.code,
        message=problem.message,
        where=problem.where,
        effect=reach.effect,
        remedy=problem.remedy,
        rule=problem.rule,
    )

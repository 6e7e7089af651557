"""Problems: what is wrong with a configuration, how far it reaches, and where it stands."""

from dataclasses import dataclass
from enum import Enum


class Scope(Enum):
    """How much does not run because of a problem."""

    SETTINGS = "settings"  # nothing starts
    FILE = "file"
    POINT = "point"
    GROUP = "group"
    HOOK = "hook"
    ABSENT = "absent"  # a file that was named and is not there
    DOUBT = "doubt"  # everything runs, and surely not as it was meant: for checks only, no session says so
    NOTE = "note"  # everything runs; worth knowing


UNSPOKEN = frozenset({Scope.ABSENT, Scope.DOUBT, Scope.NOTE})  # the dialects themselves may not warn of these


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A place in a file: line and column count from 1, 0 where there is none; `path` is a path within the document."""

    file: str
    label: str
    line: int = 0
    column: int = 0
    path: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding. `code` is stable; `rule` is the dialect's own rule number where it has one.

    `remedy` says what to write instead, where the message, which may be a dialect's own to the letter, does not.
    """

    scope: Scope
    code: str
    message: str
    where: Where
    rule: str = ""
    remedy: str = ""

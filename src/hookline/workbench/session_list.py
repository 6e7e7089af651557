"""Recorded sessions, a line each, for people and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from hookline._core.errors import StateError
from hookline.journal.following import being_written
from hookline.journal.reader import Damage, Summary, outline, sessions
from hookline.workbench.rows import Role, Span

SHORTEST = 8  # characters of an id
RUNNING, CUT_OFF = "running", "no end"  # what became of a session whose journal does not say that it was closed
ROLES = {"completed": Role.GOOD, "failed": Role.BAD, "cancelled": Role.MARK, RUNNING: Role.NAME, CUT_OFF: Role.BAD}
WIDEST = max(map(len, ROLES))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession:
    """A session in a list. `name` is the least that `hookline trace` knows it by among those recorded beside it."""

    name: str
    summary: Summary
    is_running: bool

    @property
    def ending(self) -> str:
        """How its last run ended, or that the session itself has not."""
        if not self.summary.closed:
            return RUNNING if self.is_running else CUT_OFF
        return self.summary.ending

    def as_json(self) -> dict[str, Any]:
        """The object that docs/journal.md describes."""
        told = self.summary
        return {
            "session": told.session,
            "path": str(told.path),
            "started": told.started,
            "runs": told.runs,
            "ending": told.ending,
            "closed": told.closed,
            "running": self.is_running,
            "parent": told.parent,
            "workspace": told.workspace,
        }

    def spans(self) -> Sequence[Span]:
        """The line for people."""
        told = self.summary
        started = datetime.fromtimestamp(told.started // 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        return [
            Span(Role.NAME, self.name),
            Span(Role.QUIET, started),
            Span(Role.TEXT, f"{told.runs:>3} {'run ' if told.runs == 1 else 'runs'}"),
            Span(ROLES.get(self.ending, Role.TEXT), f"{self.ending:<{WIDEST}}"),
            Span(Role.QUIET, "child" if told.parent else ""),
            Span(Role.TEXT, told.workspace),
        ]


def listed_sessions(folder: Path) -> Iterator[ListedSession | Damage]:
    """Every session recorded in a folder, the one last written to first, each as soon as its journal is read.

    A journal that cannot be read is told as damage of its line 0.
    """
    paths = sessions(folder)
    running = frozenset(being_written(folder))
    names = _names([path.stem for path in paths])
    for path in paths:
        try:
            yield ListedSession(name=names[path.stem], summary=outline(path), is_running=path in running)
        except StateError as error:
            yield Damage(0, str(error))


def _names(ids: Sequence[str]) -> dict[str, str]:
    """The shortest beginning of each id that no other has, all of one length where the ids are."""
    ordered = sorted(ids)
    alike = max((_common(one, other) for one, other in pairwise(ordered)), default=0)
    length = max(SHORTEST, alike + 1)
    return {each: each[:length] for each in ids}


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )

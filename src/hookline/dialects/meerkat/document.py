"""One parsed document, and what is found wrong in it: each finding with its file, line, column and path."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hookline._core.hooks import Source
from hookline._core.problems import Problem, Scope, Where
from hookline._core.strictjson import Path, Place
from hookline.dialects._places import path_text

UNKNOWN_KEY = "UnknownKey"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem on its way: where in the document it stands is still a path."""

    code: str
    message: str
    at: Path
    scope: Scope = Scope.SETTINGS  # one bad entry invalidates the whole engine


def note(code: str, message: str, at: Path) -> Finding:
    """What is worth knowing of a document that holds all the same."""
    return Finding(code=code, message=message, at=at, scope=Scope.NOTE)


def _nowhere() -> Mapping[Path, Place]:
    return {}


@dataclass(frozen=True)
class Document:
    """A document that was parsed. `positions` is asked once, when the first place is wanted."""

    source: Source
    value: Any = field(repr=False)
    positions: Callable[[], Mapping[Path, Place]] = field(default=_nowhere, repr=False)

    @cached_property
    def _places(self) -> Mapping[Path, Place]:
        return self.positions()

    def where(self, at: Path) -> Where:
        """The place of *at*, or of the nearest thing around it that stands in the text."""
        around = at
        while around and around not in self._places:
            around = around[:-1]
        line, column = self._places.get(around, (0, 0))
        return Where(
            file=self.source.path,
            label=self.source.label,
            line=line,
            column=column,
            path=path_text(at),
        )

    def problem(self, finding: Finding) -> Problem:
        where = self.where(finding.at)
        return Problem(scope=finding.scope, code=finding.code, message=finding.message, where=where)


@dataclass(frozen=True, slots=True)
class Spot:
    """A table of a document: where it stands, and each of its values."""

    document: Document
    at: Path

    @property
    def where(self) -> Where:
        return self.document.where(self.at)

    def has(self, name: str) -> bool:
        """Whether *name* is written there."""
        value = self.document.value
        for step in self.at:
            value = value[step]
        return name in value

    def where_of(self, name: str) -> Where:
        """The place of the value under *name*, or of the table where that is not written."""
        return self.document.where((*self.at, name))


def spoken(where: Where) -> str:
    """A place as messages name it, also in what was never a text."""
    return str(where) if where.line or not where.path else f"{where.path} of {where.file}"


def quoted(text: str) -> str:
    """*text* in quotes as a message can hold it: not endless, and on one line."""
    cut = text if len(text) <= 80 else f"{text[:80]}..."  # noqa: PLR2004 - about what a terminal shows in one line
    visible = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in cut)
    return f'"{visible}"'


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The word of *known* that *word* may be meant for, also where it is spelled like another tool's."""
    names = list(known)
    spelled = _HUMP.sub("_", word[:80].strip()).lower().replace("-", "_").replace(" ", "_")
    if spelled in names:
        return spelled
    return next(iter(difflib.get_close_matches(spelled, names, n=1, cutoff=0.7)), None)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean "x"?)`, or nothing where no known word is near."""
    near = nearest(word, known)
    return "" if near is None else f' (did you mean "{near}"?)'

"""One parsed JSON file, and what is found wrong in it: each finding with its file, line, column and path."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hookline._core.hooks import Source
from hookline._core.problems import Problem, Scope, Where
from hookline._core.strictjson import Path, Place, decode, parse, positions
from hookline.dialects._files import DEEPEST, LARGEST
from hookline.dialects._places import key_of, path_text
from hookline.dialects.muse.rules import BY_NAME

# The layers, in the order in which they are read.
MANAGED, USER, PROJECT = "managed", "user", "project"

# The four classes that Muse Code knows, as it spells them (section 6.1).
MALFORMED_CONFIG = "MalformedConfig"
UNSUPPORTED_EVENT = "UnsupportedEvent"
INVALID_MATCHER = "InvalidMatcher"
UNSUPPORTED_HANDLER = "UnsupportedHandler"

MEND = "mend the JSON here; of a key that stands twice keep one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem on its way: where in the document it stands is still a path."""

    scope: Scope
    code: str
    message: str
    at: Path
    rule: str = ""
    remedy: str = ""


def malformed(message: str, at: Path, remedy: str = "") -> Finding:
    """What takes the whole file with it."""
    return Finding(scope=Scope.FILE, code=MALFORMED_CONFIG, message=message, at=at, remedy=remedy)


@dataclass(frozen=True)
class Document:
    """A file that was parsed. Positions are worked out when the first is asked for."""

    source: Source
    value: Any
    text: str = field(repr=False)

    @cached_property
    def _places(self) -> Mapping[Path, Place]:
        return positions(self.text)

    def line(self, at: Path) -> int:
        return self._places.get(at, (0, 0))[0]

    def where(self, at: Path) -> Where:
        """The place of *at*, or of the nearest thing around it that stands in the text."""
        around = at
        while around and around not in self._places:
            around = around[:-1]
        line, column = self._places.get(around, (0, 0))
        source = self.source
        return Where(file=source.path, label=source.label, line=line, column=column, path=path_text(around))

    def problem(self, finding: Finding) -> Problem:
        line, column = self._places.get(finding.at, (0, 0))
        where = Where(
            file=self.source.path,
            label=self.source.label,
            line=line,
            column=column,
            path=path_text(finding.at),
        )
        return Problem(
            scope=finding.scope,
            code=finding.code,
            message=finding.message,
            where=where,
            rule=finding.rule,
            remedy=finding.remedy,
        )


def read_json(data: bytes, source: Source) -> Document:
    """*data* parsed under the limits of every Muse file. Raises JsonFault."""
    value = parse(data, max_bytes=LARGEST, max_depth=DEEPEST)
    return Document(source, value, decode(data))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean "x"?)`, or nothing where no known word is near."""
    by_lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word[:80].strip().lower(), by_lower, n=1, cutoff=0.75)
    return f' (did you mean "{by_lower[near[0]]}"?)' if near else ""


def unsupported_event(name: str, scope: Scope, at: Path) -> Finding:
    """An event that there is not. *at* is the place of its member."""
    known = f"write the name of an event{did_you_mean(name, BY_NAME)}; they are {', '.join(BY_NAME)}"
    message = f"unsupported hook event `{name}`"
    return Finding(scope=scope, code=UNSUPPORTED_EVENT, message=message, at=key_of(at), remedy=known)

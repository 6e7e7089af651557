"""Lines for a person: pieces of text with a role, cut to the width of a screen."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

CUT = "…"
GAP = 2  # columns between the pieces of a line


class Role(Enum):
    """What a piece of a line is, for whoever gives it a colour."""

    TIME = "time"
    HEADING = "heading"
    NAME = "name"
    GOOD = "good"
    BAD = "bad"
    MARK = "mark"
    QUIET = "quiet"
    TEXT = "text"


Style = Callable[[Role, str], str]


def unstyled(role: Role, text: str) -> str:
    """No colour."""
    return text


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line. Its text may be anything; what a terminal would obey is shown as an escape."""

    role: Role
    text: str


Rows = Iterator[tuple[int, Sequence[Span]]]  # each with how deep it stands


def first_line(text: str) -> str:
    """The first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def rendered(spans: Sequence[Span], *, width: int, style: Style) -> str:
    """The pieces two spaces apart, in no more than *width* columns. Empty pieces are left out."""
    told: list[str] = []
    room = width
    for span in spans:
        gap = " " * GAP if told else ""
        text = _fitting(_printable(span.text), room - len(gap))
        if not text:
            continue
        told.append(gap + style(span.role, text))
        room -= len(gap) + columns(text)
    return "".join(told)


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def columns(text: str) -> int:
    """How many columns of a terminal *text* takes."""
    if text.isascii():
        return len(text)
    return sum(_width(each) for each in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _fitting(text: str, room: int) -> str:
    if columns(text) <= room:
        return text
    kept, left = [], room - 1
    for each in text:
        left -= _width(each)
        if left < 0:
            break
        kept.append(each)
    return "".join(kept) + CUT if room > 0 else ""

"""How rows look: in colour on a terminal and cut to its width, plain and uncut in a pipe."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

import click

from hookline.workbench.rows import GAP, Role, Span, Style, columns, rendered, unstyled

COLOURS: dict[Role, dict[str, object]] = {
    Role.TIME: {"dim": True},
    Role.HEADING: {"bold": True},
    Role.NAME: {"fg": "cyan"},
    Role.GOOD: {"fg": "green"},
    Role.BAD: {"fg": "red"},
    Role.MARK: {"fg": "yellow"},
    Role.QUIET: {"dim": True},
    Role.TEXT: {},
}

UNCUT = 10_000  # columns of a pipe: whoever reads it there can cut it
INDENT = 2
LEAST = 30  # columns of a terminal so narrow that nothing helps


def style() -> Style:
    """In colour, as far as standard output shows any."""
    return unstyled if os.environ.get("NO_COLOR") else coloured


def coloured(role: Role, text: str) -> str:
    return click.style(text, **COLOURS[role])  # type: ignore[arg-type]  # the table has its keywords


def width() -> int:
    """The columns that a line may have."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else UNCUT


def print_rows(rows: Iterable[tuple[int, Sequence[Span]]]) -> None:
    """Each row indented by its level; on a terminal a long one goes on below its beginning."""
    room, look = max(width(), LEAST), style()
    for level, spans in rows:
        told = [span for span in spans if span.text]
        if told:
            indent = " " * (INDENT * level)
            for line in _wrapped(told, room - len(indent), look):
                click.echo(indent + line)


def _wrapped(spans: Sequence[Span], room: int, look: Style) -> Iterator[str]:
    """The row on one line where it fits, else broken at words, all but the first line further in."""
    if sum(columns(span.text) for span in spans) + GAP * (len(spans) - 1) <= room:
        yield rendered(spans, width=room, style=look)
        return
    line: list[Span] = []
    used, margin = 0, ""
    for span in spans:
        begins = True
        for word in _words(span.text, room - INDENT):
            gap = 0 if not line else GAP if begins else 1
            if line and used + gap + columns(word) > room - len(margin):
                yield margin + rendered(line, width=room, style=look)
                line, used, margin, gap, begins = [], 0, " " * INDENT, 0, True
            if begins:
                line.append(Span(span.role, word))
            else:
                line[-1] = Span(span.role, f"{line[-1].text} {word}")
            used += gap + columns(word)
            begins = False
    yield margin + rendered(line, width=room, style=look)


def _words(text: str, longest: int) -> Iterator[str]:
    """The words of *text*, none longer than *longest* characters."""
    for word in text.split(" "):
        for start in range(0, max(len(word), 1), longest):
            yield word[start : start + longest]

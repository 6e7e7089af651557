"""How rows look: in colour on a terminal and cut to its width, plain and uncut in a pipe."""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence

import click

from hookline.workbench.rows import Role, Span, Style, rendered, unstyled

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


def style() -> Style:
    """In colour, as far as standard output shows any."""
    return unstyled if os.environ.get("NO_COLOR") else coloured


def coloured(role: Role, text: str) -> str:
    return click.style(text, **COLOURS[role])  # type: ignore[arg-type]  # the table has its keywords


def width() -> int:
    """The columns that a line may have."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else UNCUT


def print_rows(rows: Iterable[tuple[int, Sequence[Span]]], *, cut: bool = True) -> None:
    """Each row on a line, indented by its level; a long one is cut unless *cut* is off."""
    columns, look = width() if cut else UNCUT, style()
    for level, spans in rows:
        if any(span.text for span in spans):
            indent = " " * (INDENT * level)
            click.echo(indent + rendered(spans, width=columns - len(indent), style=look))

"""`trace`: a recorded session as a tree, or its journal as it is."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from hookline._core.errors import UsageError
from hookline.journal.places import SESSIONS, SUFFIX, state_folder
from hookline.journal.reader import Damage, Entry, children, find, read, sessions
from hookline.workbench.rows import Role, Style, unstyled
from hookline.workbench.tree import WIDTH, tree

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

EXAMPLES = """\b
Examples:
  hookline trace
  hookline trace 0199f3
  hookline trace --json | jq -c 'select(.kind == "dispatched")'
"""


@click.command("trace", epilog=EXAMPLES)
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the journal itself: its whole lines, as they are.")
def COMMAND(session: str | None, *, as_json: bool) -> int:  # noqa: N802  # as the table of commands has it
    """Show a recorded session as a tree of runs, steps, calls and hooks, with times.

    SESSION is the session's id, the start of it, or the path of a journal; without one the last session is shown. Ends
    with 1 when lines of the journal are damaged.
    """
    state = state_folder(os.environ)
    style = unstyled if os.environ.get("NO_COLOR") else _coloured
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else UNCUT
    return trace(session, state=state, as_json=as_json, write=click.echo, style=style, width=width)


def _coloured(role: Role, text: str) -> str:
    return click.style(text, **COLOURS[role])  # type: ignore[arg-type]  # the table has its keywords


def trace(
    session: str | None,
    *,
    state: Path,
    as_json: bool,
    write: Callable[[str], None],
    style: Style = unstyled,
    width: int = WIDTH,
) -> int:
    """Give *write* the lines of a session, named by its id or the start of it, the last one used by default.

    No line of the tree is longer than *width* columns.

    1 if a line of the journal was damaged, else 0. Raises UsageError where there is no such session.
    """
    folder = state / SESSIONS
    path = _path_of(session, folder)
    damaged = 0

    def counted() -> Iterator[Entry | Damage]:
        nonlocal damaged
        for entry in read(path):
            damaged += isinstance(entry, Damage)
            yield entry

    if as_json:
        lines: Iterable[str] = (entry.text for entry in counted() if isinstance(entry, Entry))
    else:
        lines = tree(_with(children(path.parent, path.stem), counted()), style=style, width=width)
    for line in lines:
        write(line)
    return 1 if damaged else 0


def _path_of(session: str | None, folder: Path) -> Path:
    if session is None:
        return _newest(folder)
    return Path(session) if session.endswith(SUFFIX) and Path(session).is_file() else find(folder, session)


def _newest(folder: Path) -> Path:
    recorded = sessions(folder)
    if not recorded:
        raise UsageError(f"no session is recorded in {folder}")
    return recorded[0]


def _with(begun: tuple[Entry, ...], entries: Iterator[Entry | Damage]) -> Iterator[Entry | Damage]:
    """The entries, and among them, in order of time, where other sessions began."""
    waiting = list(reversed(begun))
    for entry in entries:
        while waiting and isinstance(entry, Entry) and waiting[-1].at < entry.at:
            yield waiting.pop()
        yield entry
    yield from reversed(waiting)

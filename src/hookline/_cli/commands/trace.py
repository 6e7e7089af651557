"""`trace`: recorded sessions as a tree, hook by hook, as a list, or their journals as they are."""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from hookline._cli.program import program_name
from hookline._cli.progress import told_how_far
from hookline._cli.terminal import style, width
from hookline._core.errors import UsageError
from hookline.journal.places import sessions_folder
from hookline.journal.reader import Damage, Entry, read
from hookline.workbench.follow import INTERVAL, family, follow, follow_family, merged, wait_for_session
from hookline.workbench.picking import journal_of, journals_of, recorded
from hookline.workbench.report import report
from hookline.workbench.report_rows import report_lines
from hookline.workbench.rows import Style, rendered, unstyled
from hookline.workbench.session_list import ListedSession, listed_sessions
from hookline.workbench.tree import WIDTH, tree

AT_ONCE = 200  # lines that are written together: each write is a system call

EXAMPLES = """\b
Examples:
  hookline trace
  hookline trace 0199f3
  hookline trace --list
  hookline trace --follow
  hookline trace --report last
  hookline trace --report --all --json | jq '.hooks[] | [.id, .ran.p95]'
  hookline trace --json | jq -c 'select(.kind == "dispatched")'
"""

Say = Callable[[str], None]


@click.command("trace", epilog=EXAMPLES)
@click.argument("session", required=False, nargs=-1)
@click.option("--report", "as_report", is_flag=True, help="Show what each hook did and cost, instead of the tree.")
@click.option("--all", "of_all", is_flag=True, help="Report on every recorded session.")
@click.option("--follow", "-f", "live", is_flag=True, help="Show a session while it runs, until it has ended.")
@click.option("--list", "as_list", is_flag=True, help="List the recorded sessions, the newest first.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the journal itself, its whole lines as they are; a report as one object, a list as one object a line.",
)
def COMMAND(  # noqa: N802  # as the table of commands has it
    session: tuple[str, ...], *, as_report: bool, of_all: bool, live: bool, as_list: bool, as_json: bool
) -> int:
    """Show a recorded session as a tree of runs, steps, calls and hooks, with times.

    SESSION is the session's id, the start of it, or the path of a journal; without one the last session is shown. A
    report takes several, and folders of journals, which are named with a slash. With --follow and no SESSION it is
    the session that is running, or the next one to begin. Ends with 1 when lines of a journal are damaged.
    """
    _refuse_contradictions(session, as_report=as_report, of_all=of_all, live=live, as_list=as_list)
    folder = sessions_folder(os.environ)
    shown = Output.of_terminal()
    if as_list:
        return show_list(folder, shown, as_json=as_json)
    if as_report:
        return show_report(recorded(folder) if of_all else journals_of(session, folder), shown, as_json=as_json)
    named = session[0] if session else None
    if live:
        return show_live(named, folder, shown, as_json=as_json)
    return show_session(journal_of(named, folder), shown, as_json=as_json)


def _refuse_contradictions(
    session: tuple[str, ...], *, as_report: bool, of_all: bool, live: bool, as_list: bool
) -> None:
    """UsageError for what cannot be had together, with the reason."""
    for found, message in (
        (live and as_report, "--follow shows lines as they come, and a report is of what has happened: leave one out"),
        (as_list and (as_report or live), "--list shows no session: leave out --report and --follow"),
        (as_list and session, "--list takes no SESSION: it lists all of them"),
        (of_all and not as_report, "--all is for --report: write `hookline trace --report --all`"),
        (of_all and session, "--all means every session: leave out the SESSION, or --all"),
        (len(session) > 1 and not as_report, "one SESSION at a time is shown; only --report takes several"),
    ):
        if found:
            raise UsageError(message)


class Output:
    """Where lines go: *write* takes those that were asked for, *tell* those about them."""

    def __init__(self, write: Say, tell: Say, *, style: Style = unstyled, width: int = WIDTH) -> None:
        self.write = write
        self.tell = tell
        self.style = style
        self.width = width

    @classmethod
    def of_terminal(cls) -> "Output":
        """Standard output and standard error. A pipe is given no colour, and lines as long as they are."""
        return cls(click.echo, partial(_tell, program_name()), style=style(), width=width())

    def write_all(self, lines: Iterable[str]) -> None:
        """Lines that are all there already: many in one write."""
        waiting: list[str] = []
        for line in lines:
            waiting.append(line)
            if len(waiting) == AT_ONCE:
                self.write("\n".join(waiting))
                waiting.clear()
        if waiting:
            self.write("\n".join(waiting))


def _tell(program: str, text: str) -> None:
    click.echo(f"{program}: {text}", err=True)


class Damages:
    """Counts the damaged lines that pass. What is shown besides a tree, which has them in their place, is told."""

    def __init__(self) -> None:
        self.count = 0

    @property
    def code(self) -> int:
        """1 if a line was damaged, else 0."""
        return 1 if self.count else 0

    def counted(self, entries: Iterable[Entry | Damage]) -> Iterator[Entry | Damage]:
        for entry in entries:
            self.count += isinstance(entry, Damage)
            yield entry

    def told(self, entries: Iterable[Entry | Damage], path: Path, tell: Say) -> Iterator[Entry | Damage]:
        for entry in self.counted(entries):
            if isinstance(entry, Damage):
                tell(f"{path}: line {entry.line} is damaged: {entry.why}")
            yield entry


def show_session(path: Path, output: Output, *, as_json: bool) -> int:
    """A recorded session as a tree, or its whole lines. 1 if a line of the journal was damaged, else 0."""
    damages = Damages()
    if as_json:
        output.write_all(_texts(damages.told(read(path), path, output.tell)))
    else:
        entries = damages.counted(merged(family(path), read(path)))
        output.write_all(tree(entries, style=output.style, width=output.width))
    return damages.code


def show_live(named: str | None, folder: Path, output: Output, *, as_json: bool) -> int:
    """The same of a session that is running, each line as soon as it is written, until the session is closed."""
    pause = partial(time.sleep, INTERVAL)
    path = wait_for_session(folder, pause=pause, tell=output.tell) if named is None else journal_of(named, folder)
    damages = Damages()
    if as_json:
        lines = _texts(damages.told(follow(path, pause=pause, tell=output.tell), path, output.tell))
    else:
        entries = damages.counted(follow_family(path, pause=pause, tell=output.tell))
        lines = tree(entries, style=output.style, width=output.width)
    for line in lines:
        output.write(line)
    return damages.code


def show_report(paths: Sequence[Path], output: Output, *, as_json: bool) -> int:
    """What each hook did and cost in these journals. 1 if a line of them was damaged, else 0."""
    damages = Damages()
    entries = (entry for path in paths for entry in damages.told(read(path), path, output.tell))
    made = report(told_how_far(entries, doing="reading journals", total=sum(map(_size, paths)), size=_length))
    if as_json:
        output.write(json.dumps(made.as_json(), ensure_ascii=False))
    else:
        output.write_all(report_lines(made, style=output.style, width=output.width))
    return damages.code


def show_list(folder: Path, output: Output, *, as_json: bool) -> int:
    """A line for each recorded session. 1 if a journal cannot be read, else 0."""
    code = 0
    for each in listed_sessions(folder):
        if isinstance(each, Damage):
            output.tell(each.why)
            code = 1
        else:
            output.write(_listed(each, output, as_json=as_json))
    return code


def _size(path: Path) -> int:
    """What is to be read of a journal; nothing of one that is not there any more, as reading it will say."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _length(entry: Entry | Damage) -> int:
    return len(entry.text) + 1 if isinstance(entry, Entry) else 0


def _listed(each: ListedSession, output: Output, *, as_json: bool) -> str:
    if as_json:
        return json.dumps(each.as_json(), ensure_ascii=False)
    return rendered(each.spans(), width=output.width, style=output.style)


def _texts(entries: Iterable[Entry | Damage]) -> Iterator[str]:
    return (entry.text for entry in entries if isinstance(entry, Entry))

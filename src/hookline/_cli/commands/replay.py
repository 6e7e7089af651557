"""`replay`: recorded sessions against other hooks."""

import asyncio
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hookline._cli.asking import WHICH, Asking, hook_options
from hookline._cli.options import Sectioned, option
from hookline._core.errors import UsageError

if TYPE_CHECKING:
    from hookline.workbench.replay import Beat, Terms
    from hookline.workbench.replayed import Found, Replayed

EVENTS, HOW = "Which sessions and events", "How"

EXAMPLES = """\b
Examples:
  hookline replay last
  hookline replay last --against .muse/hooks.json
  hookline replay --since 7d --against .muse/hooks.json
  hookline replay --all --tool bash --dry-run
  hookline replay --all --json | jq -c 'select(.what == "change")'

Hooks run for real: with your files, your network, your rights. --dry-run
calls none. Put a hook to last week only if it does nothing but judge.
"""


@click.command("replay", cls=Sectioned, epilog=EXAMPLES)
@click.argument("names", metavar="[SESSION]...", nargs=-1)
@option(EVENTS, "--all", "everything", is_flag=True, help="Every recorded session.")
@option(
    EVENTS,
    "--since",
    metavar="WHEN",
    help="Events since a date or time, or since so long ago: 7d, 12h. Without SESSION, those of every session.",
)
@option(EVENTS, "--point", "points", metavar="NAME", multiple=True, help="Events of this name, of any dialect, alone.")
@option(EVENTS, "--tool", "tools", metavar="NAME", multiple=True, help="Events about this tool alone.")
@option(
    WHICH,
    "--against",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="The hooks of this file alone, as --config, or those of a session in this folder, as --workspace.",
)
@hook_options
@option(HOW, "--dry-run", is_flag=True, help="Call no hook: show where others would be asked.")
@option(HOW, "--background", is_flag=True, help="Ask the hooks too that nobody waits for.")
@option(HOW, "--reasons", is_flag=True, help="Another reason for the same decision is a change, too.")
@option(
    HOW,
    "--cwd",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="Run hooks in this folder, instead of where the event happened.",
)
@option(HOW, "--jobs", type=click.IntRange(min=1), metavar="N", help="Sessions at once; as many as cores by default.")
@option(HOW, "--fail-fast", is_flag=True, help="End at the first change.")
@option(HOW, "--json", "as_json", is_flag=True, help="Print each change as JSON, one a line, then the summary.")
def COMMAND(  # noqa: N802  # as the table of commands has it
    names: tuple[str, ...],
    *,
    everything: bool,
    against: tuple[Path, ...],
    as_json: bool,
    jobs: int | None,
    **options: Any,
) -> int:
    """Put the events of recorded sessions to other hooks, and list every decision that changes.

    SESSION is a session's id, the start of it, `last`, the path of a journal, or a folder of journals. Without other
    hooks it is asked what those of the session's own folder say today. Ends with 1 where anything changes, or could not
    be compared.
    """
    asking, how = _asking(against, options), {name: options.pop(name) for name in OF_TERMS}
    own = not (asking.files or asking.capsule or asking.workspace)
    work = _Work(
        paths=_paths(names, everything, how["since"]),
        asking=asking,
        terms=_terms(how, own=own),
        jobs=jobs,
        as_json=as_json,
    )
    return asyncio.run(work.done())


OF_TERMS = ("since", "points", "tools", "cwd", "background", "dry_run", "reasons", "fail_fast")


def _asking(against: Sequence[Path], options: dict[str, Any]) -> Asking:
    """The options that say which hooks are meant, those of `--against` among them."""
    folders = [each for each in against if each.is_dir()]
    files = (*options.pop("files"), *(each for each in against if not each.is_dir()))
    workspace = options.pop("workspace")
    if len(folders) > 1 or (folders and (workspace or files)):
        raise UsageError("--against takes one folder, or files: give the one or the other")
    of_hooks = {name: options.pop(name) for name in ("capsule", "native_hooks", "trust_workspace", "strict")}
    return Asking(files=files, workspace=folders[0] if folders else workspace, **of_hooks)


def _since(text: str | None) -> int:
    from datetime import UTC, datetime

    from hookline.workbench.recorded_sessions import moment

    return 0 if text is None else moment(text, datetime.now(UTC))


def _paths(names: Sequence[str], everything: bool, since: str | None) -> tuple[Path, ...]:  # noqa: FBT001  # as it came
    from hookline.journal.places import sessions_folder
    from hookline.workbench.recorded_sessions import all_journals, journals_of

    folder = sessions_folder(os.environ)
    if names and everything:
        raise UsageError("--all means every session: leave SESSION out")
    if names:
        return journals_of(names, folder)
    if not everything and since is None:
        raise UsageError("which session? Write its id, `last` or a path, or --all for every one, or --since 7d")
    found = all_journals(folder, _since(since))
    if not found:
        raise UsageError(f"no session is recorded in {folder}" + (f" since {since}" if since else ""))
    return found


def _terms(how: Mapping[str, Any], *, own: bool) -> "Terms":
    from hookline.workbench.points import points_named
    from hookline.workbench.replay import Terms
    from hookline.workbench.tool_names import known_as

    points = (event.point.name for name in how["points"] for event in points_named(name))
    return Terms(
        own_workspace=own,
        points=frozenset(points),
        tools=frozenset(known_as(name)[0] for name in how["tools"]),
        since=_since(how["since"]),
        cwd="" if how["cwd"] is None else str(how["cwd"].resolve()),
        background=how["background"],
        dry_run=how["dry_run"],
        reasons=how["reasons"],
        fail_fast=how["fail_fast"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A replay that was asked for."""

    paths: tuple[Path, ...]
    asking: Asking
    terms: "Terms"
    jobs: int | None
    as_json: bool

    async def done(self) -> int:
        from hookline.workbench.replay_all import replay_all
        from hookline.workbench.replayed import Replayed

        chosen = self.asking.chosen()
        if not self.terms.own_workspace:
            await _check(chosen)
        watch = _Watch(self.paths)
        tell = _Lines() if self.as_json else _Rows()
        total = Replayed(sessions=0)
        try:
            found = replay_all(self.paths, chosen, self.terms, jobs=self.jobs, told=watch.beat)
            async with aclosing(found):
                async for each in found:
                    if isinstance(each, Replayed):
                        total += each
                        watch.session_done(each)
                    else:
                        watch.take_away()
                        tell.found(each)
        finally:
            watch.take_away()
        tell.end(total)
        return 0 if total.is_fine else 1


async def _check(chosen: Any) -> None:
    """Raise now what would be said of every session: that hooks cannot be loaded, or a file that was named."""
    from hookline._core.errors import ConfigError
    from hookline._core.problems import Scope
    from hookline.workbench.opening import opened

    async with opened(chosen) as project:
        problems = [each for _, loaded in project.loaded for each in loaded.problems]
    fatal = tuple(each for each in problems if each.scope in (Scope.SETTINGS, Scope.FILE, Scope.ABSENT))
    if fatal and chosen.files:
        raise ConfigError("\n".join(f"{each.where}: {each.message}" for each in fatal), fatal)


class _Lines:
    """JSON, one object a line."""

    def found(self, found: "Found") -> None:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False))

    def end(self, total: "Replayed") -> None:
        self.found(total)


class _Rows:
    """Lines for people, under a heading for each session."""

    def __init__(self) -> None:
        self._session = ""

    def found(self, found: "Found") -> None:
        from hookline._cli.terminal import print_rows
        from hookline.workbench.replay_rows import change_rows, trouble_row
        from hookline.workbench.replayed import Change, Trouble
        from hookline.workbench.rows import Role, Span

        if isinstance(found, Trouble):
            print_rows([(0, trouble_row(found))])
        if isinstance(found, Change):
            if found.session != self._session:
                self._session = found.session
                print_rows([(0, [Span(Role.HEADING, "session"), Span(Role.NAME, found.session)])])
            print_rows(change_rows(found))

    def end(self, total: "Replayed") -> None:
        from hookline._cli.terminal import print_rows
        from hookline.workbench.replay_rows import summary_rows

        print_rows(summary_rows(total))


class _Watch:
    """How far the sessions are, for whoever waits at a terminal."""

    def __init__(self, paths: Sequence[Path]) -> None:
        from hookline._cli.progress import Progress

        self._line = Progress()
        self._sizes = {path: _size(path) for path in paths}
        self._left = list(reversed(paths))
        self._read = self._events = self._changes = 0
        self._beats: dict[Path, Beat] = {}

    def beat(self, beat: "Beat") -> None:
        self._beats[beat.path] = beat
        self._show()

    def session_done(self, replayed: "Replayed") -> None:
        path = self._left.pop()
        self._beats.pop(path, None)
        self._read += self._sizes[path]
        self._events += replayed.events
        self._changes += replayed.changes
        self._show()

    def take_away(self) -> None:
        self._line.take_away()

    def _show(self) -> None:
        self._line.show(self._text, width=shutil.get_terminal_size().columns)

    def _text(self) -> str:
        read = self._read + sum(each.read for each in self._beats.values())
        events = self._events + sum(each.events for each in self._beats.values())
        changes = self._changes + sum(each.changes for each in self._beats.values())
        share = min(100 * read // sum(self._sizes.values()), 100)
        done = f"{len(self._sizes) - len(self._left):,} of {len(self._sizes):,} sessions"
        return f"replaying: {share} %, {done}, {events:,} events, {changes:,} changes"


def _size(path: Path) -> int:
    """Its bytes, or as many as one where that is not known: whoever reads it will say what is wrong with it."""
    try:
        return max(path.stat().st_size, 1)
    except OSError:
        return 1

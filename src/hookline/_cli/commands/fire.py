"""`fire`: one event put to the hooks for real."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from hookline._cli.asking import EVENT, Asking, event_options, hook_options
from hookline._cli.options import Sectioned, option
from hookline._core.errors import UsageError

EXAMPLES = """\b
Examples:
  hookline fire PreToolUse --tool Bash --input '{"command": "ls"}'
  hookline fire PreToolUse --tool Bash --input '{"command": "ls"}' --dry-run
  hookline fire --payload saved.json --config .muse/hooks.json
  hookline fire PreToolUse --session last

EVENT is a name of any dialect, or hookline's own; a payload that says itself what it is needs none.
"""


@click.command("fire", cls=Sectioned, epilog=EXAMPLES)
@click.argument("event", metavar="[EVENT]", required=False)
@event_options
@option(
    EVENT,
    "--payload",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="A file of what a hook is sent, in any dialect's own form; `-` is standard input.",
)
@option(
    EVENT, "--session", metavar="ID[:LINE]", help="The event in this line of a recorded session, or the last EVENT."
)
@hook_options
@option("Output", "--dry-run", is_flag=True, help="Call no hook: show which would be, and with what.")
@option("Output", "--whole", is_flag=True, help="Show all of what crossed, however long it is.")
@option("Output", "--json", "as_json", is_flag=True, help="Print it as JSON.")
def COMMAND(  # noqa: N802  # as the table of commands has it
    event: str | None,
    *,
    payload: Path | None,
    session: str | None,
    dry_run: bool,
    whole: bool,
    as_json: bool,
    **options: object,
) -> int:
    """Ask every hook that EVENT reaches, as a session would, and show what crossed and what came of it.

    Hooks run for real: with your files, your network, your rights. Ends with 1 where the action would be denied, where
    the run would fail, or where a hook gave no answer.
    """
    asking = Asking(**options)  # type: ignore[arg-type]  # click has checked each
    asked = _event(event, asking, payload, session)
    if dry_run:
        return asyncio.run(_prepare(asked, asking, whole=whole, as_json=as_json))
    return asyncio.run(_fire(asked, asking, whole=whole, as_json=as_json))


def _event(name: str | None, asking: Asking, payload: Path | None, session: str | None) -> Any:
    from hookline.workbench.occurrences import from_payload, occurrence_of

    described = asking.tool is not None or asking.input is not None or bool(asking.members)
    if payload is not None and session is not None:
        raise UsageError("--payload and --session each say which event is meant: give one of them")
    if described and (payload is not None or session is not None):
        raise UsageError("--tool, --input and --set describe an event, and one was given whole: leave them out")
    if payload is not None:
        return from_payload(_bytes_of(payload), str(payload), name)
    if session is not None:
        return _recorded(session, name)
    if name is None:
        raise UsageError("which event? Write one, as in: fire PreToolUse --tool Bash")
    return occurrence_of(asking.wanted(name))


def _bytes_of(path: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == Path("-") else path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the payload {path}: {error.strerror}") from error


def _recorded(session: str, name: str | None) -> Any:
    from hookline.journal.places import sessions_folder
    from hookline.workbench.occurrences import recorded
    from hookline.workbench.picking import journal_of

    which, _, line = session.partition(":")
    if line and not line.isdigit():
        raise UsageError(f"--session takes ID or ID:LINE, found {session!r}")
    if not line and name is None:
        raise UsageError("which of its events? Write EVENT for the last of it, or a line: --session last:12")
    return recorded(journal_of(which, sessions_folder(os.environ)), int(line) if line else None, name)


async def _prepare(event: Any, asking: Asking, *, whole: bool, as_json: bool) -> int:
    from hookline._cli.terminal import print_rows
    from hookline.workbench.asked_rows import prepared_rows
    from hookline.workbench.fire import prepare
    from hookline.workbench.opening import opened

    async with opened(asking.chosen()) as project:
        prepared = prepare(project, event)
    if as_json:
        click.echo(json.dumps(prepared.as_json(), ensure_ascii=False, indent=2))
    else:
        print_rows(prepared_rows(prepared, whole=whole))
    return 0


async def _fire(event: Any, asking: Asking, *, whole: bool, as_json: bool) -> int:
    from hookline._cli.terminal import print_rows
    from hookline.workbench.asked_rows import fired_rows
    from hookline.workbench.fire import fire
    from hookline.workbench.opening import opened

    async with opened(asking.chosen()) as project:
        fired = await fire(project, event)
    if as_json:
        click.echo(json.dumps(fired.as_json(), ensure_ascii=False, indent=2))
    else:
        print_rows(fired_rows(fired, whole=whole))
    return 0 if fired.is_fine else 1

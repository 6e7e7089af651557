"""`trust`: which project folders may run their own hooks, and locks on what was looked at."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from hookline._core.errors import UsageError
from hookline.workbench.rows import Role, Span
from hookline.workbench.trusting import Inside, decisions, forget, inside, lock, problems_of_records, trust, unlock

EXAMPLES = """\b
Examples:
  hookline trust
  hookline trust --yes path/to/project
  hookline trust --list
  hookline trust --lock --scripts
  hookline trust --remove
"""


@click.command("trust", epilog=EXAMPLES)
@click.argument("folder", required=False, type=click.Path(file_okay=False, exists=True, path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--list", "as_list", is_flag=True, help="List the decisions there are.")
@click.option("--remove", is_flag=True, help="Trust the folder no more.")
@click.option("--lock", "as_lock", is_flag=True, help="Hold the folder's hooks to what they are now.")
@click.option("--scripts", is_flag=True, help="With --lock: hold the scripts that they name to their bytes, too.")
@click.option("--unlock", "as_unlock", is_flag=True, help="Remove the lock.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def COMMAND(  # noqa: N802  # as the table of commands has it
    folder: Path | None,
    *,
    yes: bool,
    as_list: bool,
    remove: bool,
    as_lock: bool,
    scripts: bool,
    as_unlock: bool,
    as_json: bool,
) -> int:
    """Trust a project's own hooks, those of the current folder's project by default, after showing them.

    A session runs them from then on. A lock goes further: a hook runs only while its definition, and with --scripts
    each script that it names, is what it was when it was locked.
    """
    if sum((as_list, remove, as_lock, as_unlock)) > 1:
        raise UsageError("--list, --remove, --lock and --unlock are four things to do: give one of them")
    if scripts and not as_lock:
        raise UsageError("--scripts is for --lock: write `hookline trust --lock --scripts`")
    env = os.environ
    if as_list:
        return _list(as_json=as_json)
    found = inside((folder or Path.cwd()).resolve(), env)
    if remove:
        return _said(f"{found.root}: " + ("trusted no more" if forget(found.root, env) else "it was not trusted"))
    if as_unlock:
        return _said(f"{found.root}: " + ("the lock is removed" if unlock(found.root, env) else "there was no lock"))
    _show(found, as_json=as_json)
    if as_lock:
        path = lock(found, env, scripts=scripts)
        count = f"{len(found.hooks)} hook{'' if len(found.hooks) == 1 else 's'}"
        return _said(f"{found.root}: locked {count}{' with their scripts' if scripts else ''} in {path}")
    return _trust(found, yes=yes, asks=not as_json)


def _trust(found: Inside, *, yes: bool, asks: bool) -> int:
    if found.is_trusted:
        return _said(f"{found.root}: it is trusted already")
    if not yes:
        if not (asks and sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError("nobody can be asked here: --yes trusts without asking")
        if not click.confirm(f"trust {found.root}, and let these run in every session there?", err=True):
            return 1
    trust(found.root, os.environ)
    return _said(f"{found.root}: trusted")


def _said(text: str) -> int:
    click.echo(text, err=True)
    return 0


def _list(*, as_json: bool) -> int:
    from hookline._cli.terminal import print_rows

    found, problems = decisions(os.environ), problems_of_records(os.environ)
    if as_json:
        click.echo(json.dumps([{"folder": folder, "decision": decision} for folder, decision in found], indent=2))
    else:
        print_rows((0, [Span(Role.NAME, folder), Span(Role.TEXT, decision)]) for folder, decision in found)
        if not found and not problems:
            print_rows([(0, [Span(Role.QUIET, "no folder is trusted")])])
    for problem in problems:
        click.echo(f"{problem.where}: {problem.message}", err=True)
    return 1 if problems else 0


def _show(found: Inside, *, as_json: bool) -> None:
    from hookline._cli.terminal import print_rows

    if as_json:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False, indent=2))
    else:
        print_rows(_rows(found))


def _rows(found: Inside) -> Iterator[tuple[int, Sequence[Span]]]:
    state = " and ".join(word for word, holds in (("trusted", found.is_trusted), ("locked", found.is_locked)) if holds)
    yield 0, [Span(Role.HEADING, str(found.root)), Span(Role.QUIET, state or "not trusted")]
    from hookline.workbench.asked_rows import target_text

    for hook in found.hooks:
        yield 1, [Span(Role.NAME, hook.id), Span(Role.TEXT, target_text(hook))]
    for problem in found.problems:
        yield 1, [Span(Role.BAD, problem.code), Span(Role.TEXT, f"{problem.where}: {problem.message}")]
    if not found.hooks:
        yield 1, [Span(Role.QUIET, "there is no hook in it")]

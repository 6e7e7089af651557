"""`doctor`: whether this machine is fit."""

import json
import os
from pathlib import Path

import click

from hookline._cli.terminal import print_rows
from hookline.workbench.doctor import State, examine_machine
from hookline.workbench.rows import Role, Span

EXAMPLES = """\b
Examples:
  hookline doctor
  hookline doctor --json

Ends with 1 where there is a problem.
"""

ROLES = {State.OK: Role.GOOD, State.WARNING: Role.MARK, State.PROBLEM: Role.BAD}


@click.command("doctor", epilog=EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def COMMAND(*, as_json: bool) -> int:  # noqa: N802  # as the table of commands has it
    """Look at everything that hookline relies on: Python, packages, shell, folders, processes, servers, hook files."""
    seen = examine_machine(os.environ, Path.cwd())
    if as_json:
        click.echo(json.dumps([each.as_json() for each in seen], ensure_ascii=False, indent=2))
    else:
        for each in seen:
            print_rows(
                [
                    (
                        0,
                        [
                            Span(ROLES[each.state], f"{each.state.value:<7}"),
                            Span(Role.HEADING, each.what),
                            Span(Role.TEXT, each.found),
                        ],
                    )
                ]
            )
            if each.remedy:
                print_rows([(4, [Span(Role.QUIET, "remedy:"), Span(Role.GOOD, each.remedy)])])
    return 1 if any(each.state is State.PROBLEM for each in seen) else 0

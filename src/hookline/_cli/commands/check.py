"""`check`: every problem of every hook file, in one go."""

import json
from pathlib import Path

import click

from hookline.workbench.check import Checked, check

EXAMPLES = """\b
Examples:
  hookline check
  hookline check .muse/hooks.json capsule/murmur.yaml
  hookline check --format sarif . > hooks.sarif
  hookline check --dialect muse hooks.txt

Ends with 1 where something does not run, hardly runs as it was meant, or where there is no hook file at all.
"""

FORMATS = ("text", "json", "sarif", "github")


@click.command("check", epilog=EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How to say it.")
@click.option("--dialect", metavar="NAME", help="Whose the files are, where their names do not say so.")
def COMMAND(paths: tuple[Path, ...], *, form: str, dialect: str | None) -> int:  # noqa: N802  # as the table has it
    """Find every hook file of every dialect, or take the PATHs, and report all that is wrong or doubtful.

    Each finding has its place, a stable code, what was found, what comes of it and what to write instead. No hook is
    called. Without PATH: what a session in the current folder would read. Of a folder: what is in it.
    """
    checked = check(paths, dialect=dialect)
    _print(checked, form)
    return 0 if checked.is_fine else 1


def _print(checked: Checked, form: str) -> None:
    here = Path.cwd()
    match form:
        case "json":
            click.echo(json.dumps(checked.as_json(), ensure_ascii=False, indent=2))
        case "sarif":
            from importlib.metadata import version

            from hookline.workbench.finding_formats import sarif

            click.echo(json.dumps(sarif(checked, here, version("hookline")), ensure_ascii=False, indent=2))
        case "github":
            from hookline.workbench.finding_formats import github

            for line in github(checked, here):
                click.echo(line)
        case _:
            from hookline._cli.terminal import print_rows
            from hookline.workbench.finding_rows import finding_rows

            print_rows(finding_rows(checked, here))

"""`new`: a project to begin with."""

from pathlib import Path

import click

from hookline._cli.program import program_name

EXAMPLES = """\b
Examples:
  hookline new hook guard --lang python
  hookline new hook guard --lang c --into hooks/guard
"""


@click.group("new", epilog=EXAMPLES)
def COMMAND() -> None:  # noqa: N802  # the name under which the table of commands finds it
    """Make a project to begin with."""


@COMMAND.command("hook")
@click.argument("name")
@click.option(
    "--lang",
    type=click.Choice(["python", "js", "c"]),
    required=True,
    help="What it is written in. C gives the smallest and fastest components, Python the largest.",
)
@click.option(
    "--into", type=click.Path(file_okay=False, path_type=Path), help="The folder to make, instead of one called NAME."
)
def hook(name: str, lang: str, into: Path | None) -> int:
    """Make a project of a hook called NAME, which builds to a component and tests it.

    The hook refuses the tool calls that its configuration names: change it to what yours is to do.
    """
    from hookline.guest.project import make_project

    folder = make_project(name, lang, into or Path(name))
    click.echo(f"{program_name()}: made {folder}: `make test` there builds the component and tests it")
    return 0

"""`explain`: which hooks an event reaches, which not, and why."""

import asyncio
import json

import click

from hookline._cli.asking import Asking, event_options, hook_options
from hookline._cli.options import Sectioned

EXAMPLES = """\b
Examples:
  hookline explain PreToolUse --tool Bash --input '{"command": "ls"}'
  hookline explain before_run
  hookline explain Stop --config .muse/hooks.json --json

EVENT is a name of any dialect, or hookline's own; letter case does not count.
"""


@click.command("explain", cls=Sectioned, epilog=EXAMPLES)
@click.argument("event", metavar="EVENT")
@event_options
@hook_options
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def COMMAND(event: str, *, as_json: bool, **options: object) -> int:  # noqa: N802  # as the table of commands has it
    """Show what becomes of every hook at EVENT, hook by hook; none is called.

    For each: whether it is asked or why not, in which order, what it may change, and what its failure does.
    """
    return asyncio.run(_explain(event, Asking(**options), as_json=as_json))  # type: ignore[arg-type]  # click checked


async def _explain(event: str, asking: Asking, *, as_json: bool) -> int:
    from hookline._cli.terminal import print_rows
    from hookline.workbench.asked_rows import explained_rows
    from hookline.workbench.explain import explain
    from hookline.workbench.occurrences import occurrences_of
    from hookline.workbench.opening import opened

    events = occurrences_of(asking.wanted(event))
    async with opened(asking.chosen()) as project:
        explained = [explain(project, each) for each in events]
    if as_json:
        click.echo(json.dumps([each.as_json() for each in explained], ensure_ascii=False, indent=2))
        return 0
    for each in explained:
        print_rows(explained_rows(each))
    return 0

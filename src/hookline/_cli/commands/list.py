"""`list`: every hook there is, in the order in which they are asked."""

import asyncio
import json

import click

from hookline._cli.asking import Asking, hook_options
from hookline._cli.options import Sectioned

EXAMPLES = """\b
Examples:
  hookline list
  hookline list --config .muse/hooks.json --json
  hookline list --points
"""


@click.command("list", cls=Sectioned, epilog=EXAMPLES)
@hook_options
@click.option("--points", is_flag=True, help="List the hook points instead, with their names in every dialect.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def COMMAND(*, points: bool, as_json: bool, **options: object) -> int:  # noqa: N802  # as the table of commands has it
    """List every hook that a session here would have, by hook point, and those that are held back."""
    if points:
        return _points(as_json=as_json)
    return asyncio.run(_list(Asking(**options), as_json=as_json))  # type: ignore[arg-type]  # click has checked each


def _points(*, as_json: bool) -> int:
    from hookline._cli.terminal import print_rows
    from hookline.workbench.listing import point_rows, points

    if as_json:
        told = [
            {"event": point.name, "names": {each.dialect: each.name for each in spellings}}
            for point, spellings in points()
        ]
        click.echo(json.dumps(told, indent=2))
    else:
        print_rows(point_rows())
    return 0


async def _list(asking: Asking, *, as_json: bool) -> int:
    from hookline._cli.terminal import print_rows
    from hookline.workbench.listing import listed, listed_rows
    from hookline.workbench.opening import opened

    async with opened(asking.chosen()) as project:
        hooks = listed(project)
        if as_json:
            click.echo(json.dumps([each.as_json() for each in hooks], ensure_ascii=False, indent=2))
        else:
            print_rows(listed_rows(hooks, project))
    return 0

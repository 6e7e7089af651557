"""`schema`: what crosses at every point, as JSON Schema."""

import json
from typing import Any

import click

EXAMPLES = """\b
Examples:
  hookline schema
  hookline schema muse:PreToolUse:answer
  hookline schema before_tool_call --json | jq -r '.points[].payload."$id"'
"""


@click.command("schema", epilog=EXAMPLES)
@click.argument("point", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one object, whose `points` have names and schemas.")
def COMMAND(point: str | None, *, as_json: bool) -> int:  # noqa: N802  # as the table of commands has it
    """Print the JSON Schema of what a hook is sent at POINT, and of what it may answer.

    POINT is a dialect's name for it or ours, as `PreToolUse` or `before_tool_call`; with a dialect before it or
    `payload` or `answer` (or `input`, `output`) behind it only that is printed. One schema is printed as it is, several
    as `--json` has them. Without POINT the points are listed.
    """
    from hookline.workbench import schemas

    every = schemas.every_schema()
    if point is None and not as_json:
        for line in _table([("DIALECT", "POINT", "EVENT"), *schemas.listed(every)]):
            click.echo(line)
        return 0
    chosen = tuple(map(schemas.Chosen, every)) if point is None else schemas.schemas_named(point)
    if not as_json and len(chosen) == 1 and len(chosen[0].sides) == 1:
        (document,) = chosen[0].documents().values()
        click.echo(_written(document))
    else:
        click.echo(_written(schemas.as_json(chosen)))
    return 0


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]

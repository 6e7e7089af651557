"""`hookline schema`: the points in a table, one schema as it is, several as one object."""

import json
import shlex

import pytest
from tests.unit.cli.rig import Place

from hookline._cli.commands.schema import EXAMPLES
from hookline.workbench.schemas import as_json, every_schema, schemas_named


def test_without_a_point_the_points_are_listed(place: Place) -> None:
    """A line each, in at most 80 columns."""
    ended = place.run("schema")
    lines = ended.out.splitlines()

    assert (0, "") == (ended.code, ended.err)
    assert ["DIALECT", "POINT", "EVENT"] == lines[0].split()
    assert [[each.dialect, each.point, *each.events] for each in every_schema()] == [
        line.replace(",", "").split() for line in lines[1:]
    ]
    assert [] == [line for line in lines if len(line) > 80 or line != line.rstrip()]


def test_one_schema_is_printed_as_it_is(place: Place) -> None:
    """So that it can be handed to a validator."""
    (chosen,) = schemas_named("muse:PreToolUse:answer")
    ended = place.run("schema", "muse:PreToolUse:output")

    assert 0 == ended.code
    assert chosen.schema.answer == json.loads(ended.out)


@pytest.mark.parametrize("arguments", [("before_tool_call",), ("muse:PreToolUse:answer", "--json")])
def test_several_are_one_object(place: Place, arguments: tuple[str, ...]) -> None:
    """And so is one that is asked for in this form."""
    ended = place.run("schema", *arguments)

    assert 0 == ended.code
    assert as_json(schemas_named(arguments[0])) == json.loads(ended.out)


def test_all_of_them_are_one_object(place: Place) -> None:
    """Under `--json` and no point."""
    told = json.loads(place.run("schema", "--json").out)["points"]

    assert [(each.dialect, each.point) for each in every_schema()] == [(row["dialect"], row["point"]) for row in told]
    assert all({"dialect", "point", "also", "events", "payload", "answer"} == set(row) for row in told)


def test_a_name_that_is_none_is_wrong_usage(place: Place) -> None:
    """With the name that is near."""
    ended = place.run("schema", "PreTolUse")

    assert (2, "") == (ended.code, ended.out)
    assert "hookline: there is no point 'PreTolUse' (did you mean PreToolUse?)" in ended.err


def test_the_examples_of_the_help_work(place: Place) -> None:
    """As far as they are ours."""
    ours = [shlex.split(line.partition("|")[0])[1:] for line in EXAMPLES.splitlines() if "hookline" in line]

    assert len(ours) == 3
    assert [0, 0, 0] == [place.run(*arguments).code for arguments in ours]

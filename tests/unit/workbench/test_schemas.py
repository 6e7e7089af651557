"""Which schemas a name means."""

import pytest

from hookline._core.errors import UsageError
from hookline.workbench.schemas import as_json, every_schema, schemas_named

NO_NAME = "not [DIALECT:]POINT[:SIDE]"
SIDES = "sides are payload, input, answer, output"


def meant(name: str) -> list[str]:
    """The points that *name* means, each with the sides that are wanted."""
    return [
        f"{each.schema.dialect} {each.schema.point} {' '.join(side.value for side in each.sides)}"
        for each in schemas_named(name)
    ]


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("PreToolUse", ["muse PreToolUse payload answer"]),
        ("before_tool_call", ["muse PreToolUse payload answer", "meerkat pre_tool_execution payload answer"]),
        ("muse:before_tool_call", ["muse PreToolUse payload answer"]),
        ("muse:PreToolUse:answer", ["muse PreToolUse answer"]),
        ("muse:PreToolUse:output", ["muse PreToolUse answer"]),
        ("PreToolUse:input", ["muse PreToolUse payload"]),
        ("PreToolExecution", ["meerkat pre_tool_execution payload answer"]),
        ("pre_tool_use", ["muse PreToolUse payload answer"]),
        ("run_failed:payload", ["muse StopFailure payload", "meerkat run_failed payload"]),
        (
            "tool_call_failed:answer",
            ["muse PostToolUseFailure answer", "meerkat post_tool_execution answer", "murmur on-tool-call answer"],
        ),
        ("on-shell:answer", ["murmur decision-point answer", "murmur on-shell answer"]),
        ("decision point", ["murmur decision-point payload answer"]),
    ],
)
def test_a_name_means_these_points(name: str, points: list[str]) -> None:
    """A dialect's spelling, ours, or one that differs in nothing but how it is spelled; narrowed on either side."""
    assert points == meant(name)


def test_a_dialect_means_all_its_points() -> None:
    """And a side behind it narrows them all."""
    muse = [schema.point for schema in every_schema() if schema.dialect == "muse"]

    assert muse == [each.schema.point for each in schemas_named("muse")]
    assert [f"muse {point} answer" for point in muse] == meant("muse:answer")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("PreTolUse", "there is no point 'PreTolUse' (did you mean PreToolUse?); `hookline schema` lists them"),
        ("muse:run_started", "this dialect has no point 'run_started'; there is meerkat:run_started"),
        ("", "there is no point ''; `hookline schema` lists them"),
        (
            "mouse:PreToolUse",
            f"'mouse:PreToolUse' is {NO_NAME}: dialects are meerkat, murmur, muse (did you mean muse?); {SIDES}",
        ),
        (
            "muse:PreToolUse:stdout",
            f"'muse:PreToolUse:stdout' is {NO_NAME}: dialects are meerkat, murmur, muse; {SIDES}",
        ),
    ],
)
def test_a_name_that_means_nothing_says_what_would(name: str, said: str) -> None:
    """The nearest name, or how names are made."""
    with pytest.raises(UsageError) as caught:
        schemas_named(name)

    assert said == str(caught.value)


def test_what_was_chosen_is_one_object() -> None:
    """A row for each point, with its names and the wanted schemas."""
    (point,) = as_json(schemas_named("before_dispatch:answer"))["points"]

    assert ["dialect", "point", "also", "events", "answer"] == list(point)
    assert ("murmur", "decision-point", ["on-tool-call", "on-shell"]) == tuple(point.values())[:3]
    assert "urn:hookline:schema:murmur:0.8.0:decision-point:answer" == point["answer"]["$id"]

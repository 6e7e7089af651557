"""Events from a name and some members."""

import pytest

import hookline as hl
from hookline._core.errors import UsageError
from hookline._core.points import POINTS
from hookline.dialects import PACKAGES
from hookline.workbench.occurrences import Wanted, occurrence_of, occurrences_of, value_of
from hookline.workbench.points import all_points, points_named, spellings_of


@pytest.mark.parametrize(
    "name", ["PreToolUse", "pretooluse", "pre_tool_use", "pre-tool-execution", "before_tool_call", "BeforeToolCall"]
)
def test_a_point_goes_by_every_name_that_anybody_has_for_it(name: str) -> None:
    """Letter case, hyphens and underscores make no difference."""
    assert (hl.BeforeToolCall,) == points_named(name)


def test_every_point_is_known_by_its_name_in_every_dialect() -> None:
    """Whatever a dialect's table calls a point leads back to it."""
    for package in PACKAGES:
        for point in POINTS.values():
            rule = package.dialect.rule(point.event)
            names = () if rule is None else (rule.name, *rule.also_named)
            assert [] == [name for name in names if point.event not in points_named(name)]


def test_the_lifecycle_has_every_point_once() -> None:
    """Lists are in its order."""
    assert sorted(POINTS) == sorted(point.name for point in all_points())
    assert ("session_start", "session_end") == (all_points()[1].name, all_points()[-1].name)
    assert {"muse", "meerkat"} == {each.dialect for each in spellings_of(POINTS["before_tool_call"])}


def test_a_name_that_nobody_has_is_said_with_the_nearest() -> None:
    """What was meant, or where to look."""
    with pytest.raises(UsageError, match="no hook point is called 'PreTolUse'; did you mean PreToolUse or"):
        points_named("PreTolUse")
    with pytest.raises(UsageError, match="`hookline list --points` has them all"):
        points_named("qqqqqqqqqqqq")


@pytest.mark.parametrize("point", list(POINTS))
def test_every_point_has_an_event_without_a_word_about_it(point: str) -> None:
    """What is left out is as in the sample."""
    assert point == occurrence_of(Wanted(point=point)).point.name


def test_a_tool_is_known_by_its_other_names() -> None:
    """`Bash` is the tool `bash`, and its aliases are what matchers test; a tool that nobody knows is taken as it is."""
    event = occurrence_of(Wanted(point="PreToolUse", tool="Bash", input={"command": "ls"}))
    other = occurrence_of(Wanted(point="PreToolUse", tool="mcp__notes__add"))

    assert isinstance(event, hl.BeforeToolCall)
    assert ("bash", ("Bash", "shell"), {"command": "ls"}) == (event.tool_name, event.aliases, event.input)
    assert ("mcp__notes__add",) == other.subjects()
    assert event.subjects() == occurrence_of(Wanted(point="PreToolUse")).subjects()


def test_a_name_of_several_points_gives_an_event_of_each() -> None:
    """`on-tool-call` is a call that can still be refused, one that is done, and one that failed, in this order."""
    events = occurrences_of(Wanted(point="on-tool-call", tool="search", input={"pattern": "x"}))

    assert [hl.BeforeDispatch, hl.AfterToolCall, hl.ToolCallFailed] == [type(each) for each in events]


def test_a_call_of_the_shell_is_resolved() -> None:
    """What is told of the input holds for the command that would run."""
    event = occurrence_of(Wanted(point="on-shell", tool="bash", input={"command": "rm -rf build"}))

    assert isinstance(event, hl.BeforeDispatch)
    assert event.command is not None
    assert "rm -rf build" == event.command.script


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(point="Stop", tool="bash"), "before_run_end is about no tool call"),
        (Wanted(point="Stop", members={"x": 1}), "has no member 'x'; it has last_message, reopened, status"),
        (Wanted(point="Stop", members={"reopened": "yes"}), "this is no before_run_end: Expected `bool`"),
    ],
)
def test_what_an_event_does_not_have_is_said(wanted: Wanted, words: str) -> None:
    """The event, the member, what there is instead."""
    with pytest.raises(UsageError, match=words):
        occurrence_of(wanted)


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("true", True), ('{"a": 1}', {"a": 1}), ("fix it", "fix it"), ("", "")]
)
def test_a_value_is_json_or_the_text_itself(text: str, value: object) -> None:
    """As a command line means it."""
    assert value == value_of(text)

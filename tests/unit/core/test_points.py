"""Points and the events that stand for them."""

from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest

from hookline._core import events as ev
from hookline._core.effects import Notify
from hookline._core.points import NOWHERE, POINTS, Event, Origin, hook_point


def test_a_point_is_declared_once() -> None:
    """A second event class for a name is refused, and the first stays."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Another(Event):
        pass

    with pytest.raises(ValueError, match="'before_run' is declared twice"):
        hook_point("before_run")(Another)
    assert POINTS["before_run"].event is ev.BeforeRun


@pytest.mark.parametrize(
    ("terms", "found"),
    [
        ({"subject": "stag"}, "Deploying has no field 'stag' to match against"),
        ({"admits": ("Deny",)}, "admits classes of decisions and effects, found 'Deny'"),
    ],
)
def test_a_point_that_could_not_work_is_not_declared(terms: dict[str, Any], found: str) -> None:
    """What every dispatch would break on is said where it is written, and the point is not there."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Deploying(Event):
        stage: str = ""

    with pytest.raises(ValueError, match=found):
        hook_point("deploying", **terms)(Deploying)
    assert "deploying" not in POINTS


def test_every_point_can_tell_the_person_something() -> None:
    """A message for the person is admitted everywhere."""
    assert [name for name, point in POINTS.items() if Notify not in point.admits] == []


def test_a_subject_is_a_field_of_its_event() -> None:
    """What a matcher is tested against at a point is a field of the event there."""
    for point in POINTS.values():
        if point.subject is not None:
            assert point.subject in point.event.__dataclass_fields__, point.name


@pytest.mark.parametrize(
    ("event", "subjects"),
    [
        pytest.param(ev.SessionStart(source="resume"), ("resume",), id="one field"),
        pytest.param(ev.BeforeRun(prompt="fix it"), (), id="no subject"),
        pytest.param(ev.BeforeToolCall(tool_name="bash", input={}), ("bash",), id="a tool"),
        pytest.param(
            ev.AfterToolCall(tool_name="bash", input={}, aliases=("Bash", "shell")),
            ("bash", "Bash", "shell"),
            id="a tool with other names",
        ),
    ],
)
def test_subjects_are_what_a_matcher_is_tested_against(event: Event, subjects: tuple[str, ...]) -> None:
    """A point's subject, and for a tool every name that it goes by; nothing where a point has no subject."""
    assert event.subjects() == subjects


def test_events_are_read_only() -> None:
    """A handler cannot assign to an event, nor add to it."""
    event = ev.BeforeToolCall(tool_name="bash", input={})

    with pytest.raises(FrozenInstanceError):
        event.tool_name = "true"
    assert not hasattr(event, "__dict__")


def test_an_event_shows_what_happened_and_not_where() -> None:
    """A representation holds the event's own fields; its origin would drown them."""
    event = ev.BeforeRun(prompt="fix it", origin=Origin(session_id="s1", cwd="/srv"))

    assert repr(event) == "BeforeRun(prompt='fix it', resumes=False)"
    assert ev.BeforeRun(prompt="fix it").origin is NOWHERE


def test_events_of_two_places_differ() -> None:
    """Where an event happened is part of what it is."""
    assert ev.StepEnd(origin=Origin(step=1)) != ev.StepEnd(origin=Origin(step=2))

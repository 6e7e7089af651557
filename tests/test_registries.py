"""The tables that hold everything: whatever is declared in one place is known in every other that needs it."""

import inspect

import pytest

import hookline as hl
from hookline._core import events, records
from hookline._core.effects import EFFECTS
from hookline._core.points import POINTS, Event
from hookline._core.rules import Rule
from hookline.dialects import IN_CODE, PACKAGES
from hookline.session.apply import APPLIERS
from hookline.workbench.tool_names import BUILT_IN, OF_PEERS

RULES = [
    pytest.param(rule, id=f"{package.dialect.name}: {rule.name} at {rule.event.point.name}")
    for package in PACKAGES
    for rule in package.dialect.rules.values()
]


def test_every_event_class_has_its_point() -> None:
    """The event classes that are exported are those of the declared points, no more and no fewer."""
    exported = {getattr(events, name) for name in events.__all__}

    assert exported == {point.event for point in POINTS.values()}
    assert all(point.event.point is point for point in POINTS.values())


def test_points_are_named_after_their_events() -> None:
    """A point is called as its event class is, in the other spelling."""
    spelled = {name: "".join(part.capitalize() for part in name.split("_")) for name in POINTS}

    assert spelled == {name: point.event.__name__ for name, point in POINTS.items()}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_admits_what_its_point_can_honour(rule: Rule) -> None:
    """No dialect promises at a point what nothing there can honour."""
    assert rule.admits <= rule.event.point.admits
    assert rule.survives_deny <= frozenset(EFFECTS)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_has_a_subject_only_where_its_point_has(rule: Rule) -> None:
    """A matcher is accepted only where there is something to test it against."""
    assert not rule.has_subject or rule.event.point.subject is not None


@pytest.mark.parametrize("package", [pytest.param(each, id=each.dialect.name) for each in PACKAGES])
def test_a_dialect_has_its_rules_by_event(package: object) -> None:
    """Each row of a dialect's table stands under its own event, a hook point.

    Rows of one name are one point of the dialect, and differ in nothing else that a hook may do there.
    """
    rules = package.dialect.rules

    assert all(rule.event is event for event, rule in rules.items())
    assert set(rules) <= {point.event for point in POINTS.values()}
    of_a_name = {rule.name: rule for rule in rules.values()}
    assert all(rule.admits == of_a_name[rule.name].admits for rule in rules.values())


def test_dialects_have_names_of_their_own() -> None:
    """Hooks name their dialect, so no two are called the same, and handlers belong to one that is asked."""
    dialects = [package.dialect for package in PACKAGES]

    assert len({each.name for each in dialects}) == len(dialects)
    assert IN_CODE in dialects


def test_handlers_may_be_registered_for_every_point() -> None:
    """The dialect of handlers has every point, and can answer all that the point can honour."""
    rules = {point.event: IN_CODE.rule(point.event) for point in POINTS.values()}

    assert {event: rule and rule.admits for event, rule in rules.items()} == {
        point.event: point.admits for point in POINTS.values()
    }


def test_every_effect_has_an_applier() -> None:
    """Whatever a hook may ask for, the session knows how to do."""
    assert set(APPLIERS) == set(EFFECTS)


def test_every_record_has_a_kind_of_its_own() -> None:
    """A journal's lines are told apart by the kind of their record."""
    declared = [each for each in vars(records).values() if inspect.isclass(each) and issubclass(each, records.Record)]
    kinds = [each.kind for each in declared if each is not records.Record]

    assert len(kinds) == len(set(kinds)) > 0


def test_events_are_documented() -> None:
    """Every event class says when it happens, in its own words."""
    assert [each for each in map(_event, events.__all__) if not _own_docstring(each)] == []


def _event(name: str) -> type[Event]:
    event: type[Event] = getattr(events, name)
    return event


def _own_docstring(documented: type) -> str:
    """The docstring that the class itself has, and not the signature that a dataclass puts in its place."""
    text = vars(documented).get("__doc__") or ""
    return "" if text.startswith(f"{documented.__name__}(") else text


def test_the_tools_that_matchers_are_tried_on_are_the_real_ones() -> None:
    """`check` knows every built-in tool by its name, without a session's imports."""
    assert {tool.spec.name for tool in hl.tools()} == set(BUILT_IN)
    assert {tool.spec.name for tool in hl.peer_tools()} == set(OF_PEERS)

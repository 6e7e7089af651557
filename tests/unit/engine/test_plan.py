"""Which hooks an event reaches, and in which order they stand."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine_rig import (
    EVENT,
    Rig,
    background,
    dialect,
    hook,
    idle,
)
from tests.laws import drawn

from hookline._core.decisions import Deny
from hookline._core.errors import UsageError
from hookline._core.events import BeforeToolCall, StepEnd
from hookline._core.events.tool import ToolEvent
from hookline._core.hooks import Hook
from hookline._core.matchers import names
from hookline._core.points import Event
from hookline._core.rules import Strategy


@drawn.LAW
@given(drawn.events.flatmap(lambda event: st.tuples(st.just(event), drawn.hooks(event))), drawn.strategies)
async def test_preview_names_whom_a_dispatch_reaches_and_calls_nobody(
    case: tuple[Event, list[Hook]], strategy: Strategy
) -> None:
    """A preview lists the hooks that a dispatch then has an outcome of, in that order, and calls none."""
    event, hooks = case
    rig = Rig(*hooks, of=dialect(strategy=strategy))
    previewed = rig.engine.preview(event)
    await idle()

    assert rig.puppets.calls == []
    assert rig.account.records == []
    assert previewed == tuple(outcome.hook for outcome in (await rig.dispatch(event)).outcomes)


async def test_preview_leaves_out_what_does_not_match() -> None:
    """A hook whose matcher or condition does not let the event through is neither previewed nor called."""
    rig = Rig(
        hook("a", matcher=names("write_file")),
        hook("b", matcher=names("bash")),
        hook("c", condition=lambda event: event.input["command"] == "rm"),
        hook("d", event=StepEnd),
        background("e"),
    )

    assert [each.id for each in rig.engine.preview(EVENT)] == ["b", "e"]
    assert [outcome.hook.id for outcome in (await rig.dispatch()).outcomes] == ["b"]
    await rig.engine.aclose()


def test_hooks_stand_in_the_order_in_which_they_are_asked() -> None:
    """The list of all hooks is by dialect, and within a chain by priority."""
    rig = Rig(
        hook("c", dialect="second", priority=5),
        hook("b", dialect="second", priority=0),
        hook("a", dialect="first", priority=9),
        of=(dialect("first"), dialect("second")),
    )

    assert [each.id for each in rig.engine.hooks()] == ["a", "b", "c"]
    assert [each.id for each in rig.engine.preview(EVENT)] == ["a", "b", "c"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellCall(BeforeToolCall):
    """An event class of somebody's own, for a point that there is."""


async def test_an_event_reaches_the_hooks_of_its_point() -> None:
    """A subclass of an event is one more occurrence of its point: a guard there is not passed by."""
    rig = Rig(hook("guard", Deny("no")))

    assert (await rig.dispatch(ShellCall(tool_name="bash", input={}))).denied


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(Event(), id="the base of all events"),
        pytest.param(ToolEvent(tool_name="bash", input={}), id="the base of the tool events"),
    ],
)
async def test_an_event_of_no_point_is_wrong_use(event: Event) -> None:
    """An event that stands for no hook point reaches nobody, and whoever fires it is told so."""
    rig = Rig(hook("guard", Deny("no")))

    with pytest.raises(UsageError):
        await rig.dispatch(event)


async def test_a_row_may_have_a_strategy_of_its_own() -> None:
    """One point of a parallel dialect may be a chain: there the order of priority holds, and a Deny ends it."""
    of = dialect(strategy=Strategy.PARALLEL)
    chained = replace(of.rules[BeforeToolCall], strategy=Strategy.CHAIN)
    of = replace(of, rules={**of.rules, BeforeToolCall: chained})
    rig = Rig(hook("late", priority=2), hook("early", Deny("no"), priority=1), of=of)

    resolution = await rig.dispatch()

    assert rig.puppets.names == ["early"]
    assert [outcome.hook.id for outcome in resolution.outcomes] == ["early", "late"]

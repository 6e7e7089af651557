"""Laws of several dialects at one event: asked in turn, each about what the earlier ones left of it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine_rig import (
    EVENT,
    FAILED,
    PARALLEL,
    Rig,
    background,
    dialect,
    hook,
    idle,
    observer,
    verdict,
)
from tests.laws import drawn

from hookline._core.decisions import Ask, Deny
from hookline._core.effects import AddContext, Combine, EndRun, Reopen, RewriteInput
from hookline._core.events import BeforeRun, BeforeRunEnd, StepEnd
from hookline._core.hooks import Hook
from hookline._core.points import Event
from hookline._core.reasons import Skip
from hookline._core.resolution import Applied, Ignored, Resolution
from hookline._core.rules import FailurePolicy, Strategy

BOTH = [pytest.param(each, id=each.value) for each in (Strategy.PARALLEL, Strategy.CHAIN)]
LONG = 60.0  # a budget that no test uses up
FIRST = dialect("first")
SECOND = dialect("second")


def two_dialects(first: Hook, second: Hook, **terms: Any) -> Rig:
    """An engine whose first dialect has the first hook, and whose second the second."""
    hooks = (replace(first, dialect="first"), replace(second, dialect="second"))
    return Rig(*hooks, of=terms.pop("of", (FIRST, SECOND)), **terms)


def applied_and_ignored(resolution: Resolution, kind: type) -> tuple[list[str], list[str]]:
    """Whose effect of this kind counts, and whose does not."""
    applied = [each.hook for each in resolution.applied if isinstance(each.effect, kind)]
    return applied, [each.hook for each in resolution.ignored if each.what is kind]


async def test_dialects_are_asked_in_turn() -> None:
    """The hooks of one dialect have all ended before the first of the next is called, however they are registered."""
    of = (replace(PARALLEL, name="first"), replace(PARALLEL, name="second"))
    rig = Rig(
        hook("c", dialect="second"),
        hook("a", dialect="first", held=True),
        hook("b", dialect="first", held=True),
        of=of,
    )
    dispatching = rig.dispatching()
    await rig.puppets.started("a", "b")
    await rig.puppets.finish("b")
    await idle()
    assert "c" not in rig.puppets.names

    await rig.puppets.finish("a")
    assert [outcome.hook.id for outcome in (await dispatching).outcomes] == ["a", "b", "c"]


@pytest.mark.parametrize("strategy", BOTH)
async def test_a_later_dialect_sees_the_rewritten_event(strategy: Strategy) -> None:
    """What one dialect made of the event is what the next is asked about, and what the resolution holds."""
    of = (dialect("first", strategy=strategy), dialect("second", strategy=strategy))
    rig = two_dialects(hook("a", RewriteInput({"command": "true"})), hook("b", AddContext("b")), of=of)
    resolution = await rig.dispatch()

    assert [call.event for call in rig.puppets.calls] == [EVENT, replace(EVENT, input={"command": "true"})]
    assert resolution.event == replace(EVENT, input={"command": "true"})


async def test_a_later_dialect_selects_by_the_rewritten_event() -> None:
    """A guard of a later dialect is selected by the call that is about to happen, not by what the model asked for."""
    guard = hook("guard", Deny("no"), condition=lambda event: event.input["command"].startswith("rm"))
    resolution = await two_dialects(hook("a", RewriteInput({"command": "rm -rf build"})), guard).dispatch()

    assert resolution.decision == Deny("no")


async def test_an_earlier_deny_ends_the_event() -> None:
    """Behind the Deny of one dialect the hooks of the next are not called, but observers that were promised to be."""
    rig = Rig(
        hook("guard", Deny("no"), dialect="first"),
        hook("other", Deny("late"), dialect="second"),
        observer("audit", dialect="second"),
        background("trail", dialect="second"),
        of=(FIRST, SECOND),
    )
    resolution = await rig.dispatch()
    await rig.engine.drain("one", LONG)

    assert sorted(rig.puppets.names) == ["audit", "guard", "trail"]
    assert [(outcome.hook.id, outcome.why) for outcome in resolution.outcomes] == [
        ("guard", None),
        ("other", Skip.DENIED_EARLIER),
        ("audit", None),
    ]
    assert (resolution.decision, resolution.decided_by) == (Deny("no"), "guard")


@pytest.mark.parametrize("strategy", BOTH)
async def test_without_a_promise_nobody_is_called_behind_a_deny(strategy: Strategy) -> None:
    """A dialect that promises its observers nothing has none called behind another's Deny, in either strategy."""
    rig = Rig(
        hook("guard", Deny("no"), dialect="first"),
        observer("audit", dialect="second"),
        background("trail", dialect="second"),
        of=(FIRST, dialect("second", strategy=strategy, observers_after_deny=False)),
    )
    resolution = await rig.dispatch()

    assert rig.puppets.names == ["guard"]
    assert resolution.outcomes[1].why is Skip.DENIED_EARLIER
    assert rig.account.endings() == [("trail", Skip.DENIED_EARLIER)]


async def test_a_failed_run_ends_the_event_as_a_deny_does() -> None:
    """Behind a failure that ends the run, no later dialect is asked for its opinion."""
    of = (dialect("first", on_failure=FailurePolicy.FAIL_RUN), SECOND)
    rig = two_dialects(hook("a", FAILED), hook("b", AddContext("b")), of=of)
    resolution = await rig.dispatch()

    assert resolution.denied
    assert resolution.failed_run is not None
    assert resolution.failed_run.hook.id == "a"
    assert rig.puppets.names == ["a"]


async def test_between_dialects_the_stronger_decision_counts() -> None:
    """A later dialect may deny what an earlier one asks about; of two equal decisions the earlier counts."""
    stronger = await two_dialects(hook("a", Ask("sure?")), hook("b", Deny("no"))).dispatch()
    assert (stronger.decision, stronger.decided_by) == (Deny("no"), "b")
    assert stronger.ignored == (Ignored("a", Ask, "b decides"),)

    equal = await two_dialects(hook("a", Ask("a?")), hook("b", Ask("b?"))).dispatch()
    assert (equal.decision, equal.decided_by) == (Ask("a?"), "a")
    assert equal.ignored == (Ignored("b", Ask, "a decides"),)


async def test_between_dialects_the_last_rewrite_wins() -> None:
    """Two dialects rewrite: the later one's counts, alone, and the earlier one's is named as ignored."""
    rewrites = [RewriteInput({"command": name}) for name in "ab"]
    resolution = await two_dialects(hook("a", rewrites[0]), hook("b", rewrites[1])).dispatch()

    assert resolution.event == replace(EVENT, input={"command": "b"})
    assert applied_and_ignored(resolution, RewriteInput) == (["b"], ["a"])


@pytest.mark.parametrize("effect", [pytest.param(EndRun, id="EndRun"), pytest.param(Reopen, id="Reopen")])
async def test_between_dialects_the_first_that_wins_is_the_earlier(effect: type) -> None:
    """An effect that goes to the first that asks goes to the earlier dialect, alone."""
    assert effect.combine is Combine.FIRST_WINS
    pair = [hook(name, effect(name), BeforeRunEnd) for name in "ab"]
    resolution = await two_dialects(*pair).dispatch(BeforeRunEnd())

    assert applied_and_ignored(resolution, effect) == (["a"], ["b"])


@pytest.mark.parametrize(
    ("event", "effect"),
    [
        pytest.param(EVENT, RewriteInput({"command": "true"}), id="a rewrite"),
        pytest.param(EVENT, AddContext("the build is red"), id="context for a call"),
        pytest.param(BeforeRun(prompt="fix it"), AddContext("the build is red"), id="context for a prompt"),
        pytest.param(StepEnd(), EndRun("enough"), id="an end"),
    ],
)
async def test_a_later_deny_drops_what_an_earlier_dialect_asked_for(event: Event, effect: Any) -> None:
    """What does not survive a Deny under a dialect's rule does not survive the Deny of a later dialect either."""
    made = (hook("a", effect, type(event)), hook("b", Deny("no"), type(event)))
    resolution = await two_dialects(*made).dispatch(event)

    assert resolution.decision == Deny("no")
    assert resolution.applied == ()
    assert [(each.hook, each.what) for each in resolution.ignored] == [("a", type(effect))]
    assert resolution.event == event


async def test_a_later_deny_keeps_what_survives_it() -> None:
    """What an earlier dialect's rule lets survive a Deny counts also behind that of a later dialect."""
    of = (dialect("first", survives_deny=frozenset({AddContext})), SECOND)
    pair = (hook("a", AddContext("ask first")), hook("b", Deny("no")))
    resolution = await two_dialects(*pair, of=of).dispatch()

    assert resolution.applied == (Applied("a", AddContext("ask first")),)


@st.composite
def split_cases(draw: st.DrawFn) -> tuple[Event, list[Hook], int]:
    """Hooks in a row, all of equal priority, and where the row is split between two dialects."""
    event = draw(drawn.events)
    hooks = [replace(each, priority=0) for each in draw(drawn.hooks(event, least=2))]
    return event, hooks, draw(st.integers(1, len(hooks) - 1))


@drawn.THOROUGHLY
@given(split_cases(), drawn.policies, st.booleans())
async def test_two_dialects_say_what_one_would(
    case: tuple[Event, list[Hook], int], policy: FailurePolicy, strict: bool
) -> None:
    """The same hooks under the same rules come to the same, in one chain or split between two dialects."""
    event, hooks, split = case
    whole = [replace(each, dialect="first") for each in hooks]
    halves = [replace(each, dialect="first" if at < split else "second") for at, each in enumerate(hooks)]
    of = (dialect("first", on_failure=policy), dialect("second", on_failure=policy))

    one = await Rig(*whole, of=of, strict=strict).dispatch(event)
    two = await Rig(*halves, of=of, strict=strict).dispatch(event)
    assert verdict(two) == verdict(one)
    assert {(each.hook, each.what) for each in two.ignored} == {(each.hook, each.what) for each in one.ignored}
    assert [(each.hook.id, each.kind, each.why) for each in two.outcomes] == [
        (each.hook.id, each.kind, each.why) for each in one.outcomes
    ]

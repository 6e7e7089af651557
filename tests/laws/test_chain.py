"""Laws of the chain: one after the other by priority, each sees what earlier ones left, a Deny ends it."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.engine_rig import (
    EVENT,
    FAILED,
    TOO_LARGE,
    Rig,
    background,
    dialect,
    hook,
    idle,
    in_session,
    observer,
    verdict,
)
from tests.laws import drawn

from hookline._core.decisions import Ask, Deny
from hookline._core.effects import AddContext, RewriteInput
from hookline._core.events import BeforeToolCall
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind
from hookline._core.points import Event
from hookline._core.reasons import Failure, Skip
from hookline._core.resolution import Ignored, Resolution
from hookline._core.rules import FailurePolicy

Case = tuple[Event, list[Hook], FailurePolicy, bool]


@st.composite
def cases(draw: st.DrawFn, *, least: int = 0) -> Case:
    """An event, its hooks, a policy for those that fail, and strictness."""
    event = draw(drawn.events)
    return event, draw(drawn.hooks(event, least=least)), draw(drawn.policies), draw(st.booleans())


def heard(resolution: Resolution) -> list[tuple[str, object]]:
    """Each hook of the resolution, with the reason why it gave no answer."""
    return [(outcome.hook.id, outcome.why) for outcome in resolution.outcomes]


@drawn.LAW
@given(st.lists(st.integers(-3, 3), max_size=8))
async def test_order_is_priority_then_registration(priorities: list[int]) -> None:
    """Hooks are called, and their outcomes stand, by ascending priority; equal ones as they were registered."""
    rig = Rig(*(hook(f"{number}", priority=priority) for number, priority in enumerate(priorities)))
    resolution = await rig.dispatch()

    expected = [f"{number}" for _, number in sorted((priority, number) for number, priority in enumerate(priorities))]
    assert rig.puppets.names == expected
    assert [outcome.hook.id for outcome in resolution.outcomes] == expected


async def test_one_at_a_time() -> None:
    """A hook is called when the one before it has ended, no sooner."""
    rig = Rig(hook("a", held=True), hook("b", held=True))
    dispatching = rig.dispatching()
    await rig.puppets.started("a")
    await idle()

    assert rig.puppets.names == ["a"]
    await rig.puppets.finish("a")
    await rig.puppets.started("b")
    await rig.puppets.finish("b")
    await dispatching
    assert rig.puppets.most == 1


async def test_each_sees_the_event_as_earlier_ones_left_it() -> None:
    """A rewrite reaches every later hook, and the last rewrite is the one that stays."""
    rewritten = [RewriteInput({"command": name}) for name in "ab"]
    rig = Rig(hook("a", rewritten[0]), observer("watching"), hook("b", rewritten[1]), hook("c"))
    resolution = await rig.dispatch()

    seen = [call.event.input["command"] for call in rig.puppets.calls if isinstance(call.event, BeforeToolCall)]
    assert seen == ["ls", "a", "a", "b"]
    assert resolution.event == replace(EVENT, input={"command": "b"})
    assert resolution.ignored == (Ignored("a", RewriteInput, "b supersedes it"),)


async def test_a_deny_skips_the_later_ones() -> None:
    """Hooks behind a Deny are not called and stand as skipped for it, in order; what they would say never counts."""
    rig = Rig(hook("a", Ask("sure?")), hook("b", Deny("no")), hook("c", AddContext("c")), hook("d", Deny("d")))
    resolution = await rig.dispatch()

    assert rig.puppets.names == ["a", "b"]
    assert heard(resolution) == [("a", None), ("b", None), ("c", Skip.DENIED_EARLIER), ("d", Skip.DENIED_EARLIER)]
    assert resolution.decision == Deny("no")
    assert resolution.decided_by == "b"


async def test_a_denied_rewrite_is_gone() -> None:
    """A Deny behind a rewrite leaves the event as it was dispatched."""
    resolution = await Rig(hook("a", RewriteInput({"command": "true"})), hook("b", Deny("no"))).dispatch()

    assert resolution.event == EVENT
    assert Ignored("a", RewriteInput, "the action was denied") in resolution.ignored


async def test_ask_ends_nothing() -> None:
    """A question does not end the chain: a later hook may still deny."""
    resolution = await Rig(hook("a", Ask("sure?")), hook("b", Deny("no"))).dispatch()

    assert resolution.decision == Deny("no")


@pytest.mark.parametrize(
    ("policy", "strict"),
    [
        pytest.param(FailurePolicy.DENY, False, id="the policy denies"),
        pytest.param(FailurePolicy.FAIL_RUN, False, id="the policy fails the run"),
        pytest.param(FailurePolicy.IGNORE, True, id="strictly"),
    ],
)
@pytest.mark.parametrize(
    "says",
    [
        pytest.param(FAILED, id="failed"),
        pytest.param(RuntimeError("broken"), id="crashed"),
        pytest.param(TOO_LARGE, id="skipped"),
    ],
)
async def test_a_failure_that_denies_ends_the_chain_as_well(
    says: object, policy: FailurePolicy, *, strict: bool
) -> None:
    """Whatever makes the action not happen ends the chain, an answer or the lack of one."""
    rig = Rig(hook("a", says), hook("b"), of=dialect(on_failure=policy), strict=strict)
    resolution = await rig.dispatch()

    assert resolution.denied
    assert heard(resolution)[1] == ("b", Skip.DENIED_EARLIER)
    assert "b" not in rig.puppets.names


async def test_a_failure_that_is_ignored_ends_nothing() -> None:
    """Under IGNORE, and for an observer under DENY, the chain goes on behind a failure (F-16)."""
    for failing, policy in (
        (hook("a", FAILED), FailurePolicy.IGNORE),
        (observer("a", FAILED), FailurePolicy.DENY),
        (observer("a", RuntimeError("broken")), FailurePolicy.DENY),
    ):
        rig = Rig(failing, hook("b", AddContext("b")), of=dialect(on_failure=policy))
        resolution = await rig.dispatch()
        assert not resolution.denied
        assert resolution.effects(AddContext) == (AddContext("b"),)


@pytest.mark.parametrize("promised", [pytest.param(True, id="promised"), pytest.param(False, id="not promised")])
async def test_observers_behind_a_deny_are_called_where_promised(*, promised: bool) -> None:
    """A dialect that promises its observers every event calls them after a Deny too, an audit among them (F-18)."""
    rig = Rig(
        hook("guard", Deny("no")),
        hook("other"),
        observer("audit"),
        of=dialect(observers_after_deny=promised),
    )
    resolution = await rig.dispatch()

    assert rig.puppets.names == (["guard", "audit"] if promised else ["guard"])
    assert heard(resolution) == [
        ("guard", None),
        ("other", Skip.DENIED_EARLIER),
        ("audit", None if promised else Skip.DENIED_EARLIER),
    ]


@pytest.mark.parametrize("promised", [pytest.param(True, id="promised"), pytest.param(False, id="not promised")])
async def test_background_hooks_follow_the_end_of_the_chain(*, promised: bool) -> None:
    """Background hooks start after the chain, and behind a Deny only where observers are promised every event."""
    rig = Rig(
        background("audit"),
        hook("guard", Deny("no"), held=True),
        of=dialect(observers_after_deny=promised),
    )
    dispatching = rig.dispatching()
    await rig.puppets.started("guard")
    await idle()
    assert rig.puppets.names == ["guard"]

    await rig.puppets.finish("guard")
    await dispatching
    await rig.engine.drain("one", 60.0)
    assert rig.puppets.names == (["guard", "audit"] if promised else ["guard"])
    assert rig.account.endings() == [("audit", Kind.ANSWERED if promised else Skip.DENIED_EARLIER)]


async def test_background_hooks_see_the_event_as_the_chain_left_it() -> None:
    """What follows the chain sees what the chain made of the event: the call that is about to happen."""
    rig = Rig(background("audit"), hook("a", RewriteInput({"command": "true"})))
    await rig.dispatch()
    await rig.engine.drain("one", 60.0)

    assert rig.puppets.calls[-1].name == "audit"
    assert rig.puppets.calls[-1].event == replace(EVENT, input={"command": "true"})


@drawn.LAW
@given(cases())
async def test_each_selected_hook_has_one_outcome(case: Case) -> None:
    """Every hook that the event reaches has exactly one outcome, in the order in which the hooks are asked."""
    event, hooks, policy, strict = case
    rig = Rig(*hooks, of=dialect(on_failure=policy), strict=strict)
    resolution = await rig.dispatch(event)

    assert [outcome.hook for outcome in resolution.outcomes] == list(rig.engine.preview(event))
    assert sorted(each.id for each in hooks) == sorted(outcome.hook.id for outcome in resolution.outcomes)


@drawn.LAW
@given(cases(), st.one_of(st.none(), drawn.silences, st.just(Deny("out of turn"))), st.integers(0, 5))
async def test_observers_are_invisible(case: Case, says: object, place: int) -> None:
    """Adding a hook that commits nothing changes nothing, whatever it says and however it fails."""
    event, hooks, policy, strict = case
    assume(policy is not FailurePolicy.FAIL_RUN)  # there a failed observer fails the run, as it should
    watching = observer("watching", says, type(event))
    of = dialect(on_failure=policy)

    without = await Rig(*hooks, of=of, strict=strict).dispatch(event)
    along = await Rig(*hooks[:place], watching, *hooks[place:], of=of, strict=strict).dispatch(event)
    assert verdict(along) == verdict(without)
    assert along.ignored == without.ignored


@drawn.LAW
@given(cases(least=1), st.integers(0, 5))
async def test_a_further_hook_never_undoes_a_deny(case: Case, place: int) -> None:
    """What the chain denies it denies with any further hook in it, whatever its priority and its answer."""
    event, (further, *hooks), policy, strict = case
    of = dialect(on_failure=policy)

    without = await Rig(*hooks, of=of, strict=strict).dispatch(event)
    along = await Rig(*hooks[:place], further, *hooks[place:], of=of, strict=strict).dispatch(event)
    assert along.denied or not without.denied


async def test_cancelling_ends_the_chain() -> None:
    """A cancelled chain cancels the call that runs, records it, and calls nobody after it."""
    rig = Rig(hook("a", held=True, outside=True), hook("b"))
    dispatching = rig.dispatching()
    await rig.puppets.started("a")

    dispatching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dispatching
    assert rig.puppets.names == ["a"]
    assert rig.puppets.running == 0
    assert rig.account.endings() == [("a", Kind.CANCELLED)]


async def test_a_cancelled_chain_waits_for_the_call_that_runs() -> None:
    """A call that takes a while to end is waited for: its process must be gone when the dispatch is."""
    rig = Rig(hook("a", tidies=True))
    dispatching = rig.dispatching()
    await rig.puppets.started("a")

    dispatching.cancel()
    await idle()
    assert not dispatching.done()
    await rig.puppets.finish("a")
    with pytest.raises(asyncio.CancelledError):
        await dispatching


async def test_events_do_not_wait_for_each_other() -> None:
    """A chain is one event's: that of another event runs meanwhile."""
    rig = Rig(hook("a", held=True))
    first = rig.dispatching(in_session("one"))
    second = rig.dispatching(in_session("two"))
    await rig.puppets.until(lambda: len(rig.puppets.calls) == 2)

    await rig.puppets.finish("a")
    await rig.puppets.finish("a")
    assert (await first).event.origin.session_id == "one"
    assert (await second).event.origin.session_id == "two"
    assert rig.puppets.most == 2


async def test_a_guard_that_keeps_failing_keeps_being_asked() -> None:
    """No number of failures takes a guard out of the chain: the call after them is denied like those before (B-07)."""
    guard = hook("guard", lambda event: Deny("never") if "rm" in event.input["command"] else RuntimeError("broken"))
    rig = Rig(guard, of=dialect(on_failure=FailurePolicy.DENY))

    for _ in range(50):
        failed = await rig.dispatch(in_session("one", command="a\nb"))
        assert failed.denied
        assert failed.outcomes[0].why is Failure.CRASHED
    assert (await rig.dispatch(in_session("one", command="rm -rf build"))).decision == Deny("never")
    assert len(rig.puppets.calls) == 51


async def test_what_a_hook_does_to_a_rewritten_event_reaches_nobody() -> None:
    """After a rewrite each hook has the event for itself: a guard judges what will run, whatever another did to it."""
    seen: list[str] = []

    def meddle(event: BeforeToolCall) -> None:
        event.input["command"] = "ls"

    def look(event: BeforeToolCall) -> None:
        seen.append(event.input["command"])

    rig = Rig(hook("a", RewriteInput({"command": "rm"})), hook("b", meddle), hook("c", look))
    resolution = await rig.dispatch()

    assert seen == ["rm"]
    assert resolution.event == replace(EVENT, input={"command": "rm"})

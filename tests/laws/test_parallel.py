"""Laws of the parallel strategy: all start at once, none sees another's answer, finishing order is invisible."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.engine_rig import EVENT, PARALLEL, TOO_LARGE, Puppet, Rig, dialect, hook, idle, observer, untimed, verdict
from tests.laws import drawn

from hookline._core.decisions import Deny
from hookline._core.effects import AddContext, RewriteInput
from hookline._core.errors import StateError
from hookline._core.events import BeforeToolCall
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline._core.records import HookStarted
from hookline._core.resolution import Resolution
from hookline._core.rules import FailurePolicy, Strategy

Case = tuple[Event, list[Hook], FailurePolicy, bool]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """An event, its hooks, a policy for those that fail, and strictness."""
    event = draw(drawn.events)
    return event, draw(drawn.hooks(event)), draw(drawn.policies), draw(st.booleans())


def held(hook: Hook) -> Hook:
    """The same hook, whose call ends when the test lets it."""
    assert isinstance(hook.target, Puppet)
    return replace(hook, target=replace(hook.target, name=hook.id, held=True))


def is_called(hook: Hook) -> bool:
    return isinstance(hook.target, Puppet) and hook.target.says is not TOO_LARGE


async def finished_in(order: list[str], rig: Rig, event: Event) -> Resolution:
    """Dispatch *event*, and let the calls of these hooks end in this order."""
    dispatching = rig.dispatching(event)
    await rig.puppets.started(*order)
    for name in order:
        await rig.puppets.finish(name)
    return await dispatching


@drawn.LAW
@given(cases(), st.permutations(range(5)))
async def test_finishing_order_is_invisible(case: Case, drawn_order: list[int]) -> None:
    """Whatever order the calls end in, the resolution is the same, its outcomes in configured order."""
    event, hooks, policy, strict = case
    hooks = [held(each) for each in hooks]
    called = [each.id for each in hooks if is_called(each)]
    shuffled = [called[place] for place in drawn_order if place < len(called)]
    resolutions = []
    for order in (called, called[::-1], shuffled):
        rig = Rig(*hooks, of=dialect(strategy=Strategy.PARALLEL, on_failure=policy), strict=strict)
        resolutions.append(untimed(await finished_in(order, rig, event)))

    assert resolutions[0] == resolutions[1] == resolutions[2]
    assert [outcome.hook.id for outcome in resolutions[0].outcomes] == [each.id for each in hooks]


async def test_the_last_rewrite_in_order_wins_not_the_last_to_finish() -> None:
    """Two rewrites: the one that is configured last counts, also when it finishes first (B-51)."""
    slow = hook("slow", RewriteInput({"command": "echo A"}), held=True)
    quick = hook("quick", RewriteInput({"command": "echo B"}), held=True)

    last_is_quick = await finished_in(["quick", "slow"], Rig(slow, quick, of=PARALLEL), EVENT)
    assert last_is_quick.event == replace(EVENT, input={"command": "echo B"})

    last_is_slow = await finished_in(["quick", "slow"], Rig(quick, slow, of=PARALLEL), EVENT)
    assert last_is_slow.event == replace(EVENT, input={"command": "echo A"})


async def test_all_start_at_once_and_none_sees_the_answer_of_another() -> None:
    """Every hook is called before any has ended, and with the event as it came, whatever the others ask for."""
    hooks = [hook(name, RewriteInput({"command": name}), held=True) for name in "abc"]
    rig = Rig(*hooks, of=PARALLEL)
    dispatching = rig.dispatching()
    await rig.puppets.started("a", "b", "c")

    assert [call.event for call in rig.puppets.calls] == [EVENT, EVENT, EVENT]
    assert not any(call.ended for call in rig.puppets.calls)
    for name in "abc":
        await rig.puppets.finish(name)
    await dispatching


async def test_a_deny_stops_nobody() -> None:
    """A hook that denies early does not keep the others from being heard to their end."""
    rig = Rig(hook("a", Deny("no")), hook("b", AddContext("b"), held=True), of=PARALLEL)
    dispatching = rig.dispatching()
    await rig.puppets.started("a", "b")
    await idle()

    assert not dispatching.done()
    await rig.puppets.finish("b")
    assert [outcome.kind for outcome in (await dispatching).outcomes] == [Kind.ANSWERED, Kind.ANSWERED]


async def test_an_adapter_that_raises_is_a_hook_that_crashed() -> None:
    """An exception out of an adapter is that hook's failure; the other hooks are heard all the same (F-16)."""
    rig = Rig(hook("a", RuntimeError("broken")), hook("b", AddContext("b")), of=PARALLEL)
    resolution = await rig.dispatch()

    assert [(outcome.kind, outcome.why) for outcome in resolution.outcomes] == [
        (Kind.FAILED, Failure.CRASHED),
        (Kind.ANSWERED, None),
    ]
    assert "broken" in resolution.outcomes[0].detail
    assert resolution.effects(AddContext) == (AddContext("b"),)


async def test_work_of_an_adapter_that_is_cancelled_from_within_is_a_failure() -> None:
    """A CancelledError that nobody asked for is the hook's failure: dispatch raises only when it is cancelled."""
    rig = Rig(hook("a", asyncio.CancelledError()), hook("b", AddContext("b")), of=PARALLEL)

    dispatching = rig.dispatching()
    await asyncio.wait([dispatching])
    assert not dispatching.cancelled()
    assert [outcome.kind for outcome in dispatching.result().outcomes] == [Kind.FAILED, Kind.ANSWERED]


async def test_a_cancellation_from_before_is_not_taken_for_one_of_now() -> None:
    """A task that was cancelled once and went on, as when a session ends, dispatches like any other."""
    rig = Rig(hook("a", asyncio.CancelledError()), of=PARALLEL)

    async def go_on() -> Resolution:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return await rig.dispatch()

    ending = asyncio.ensure_future(go_on())
    await idle()
    ending.cancel()
    await asyncio.wait([ending])
    assert not ending.cancelled()
    assert [outcome.why for outcome in ending.result().outcomes] == [Failure.CRASHED]


@drawn.LAW
@given(cases(), st.one_of(st.none(), drawn.silences, st.just(Deny("out of turn"))), st.integers(0, 5))
async def test_observers_are_invisible(case: Case, says: object, place: int) -> None:
    """Adding a hook that commits nothing changes nothing, whatever it says and however it fails."""
    event, hooks, policy, strict = case
    assume(policy is not FailurePolicy.FAIL_RUN)  # there a failed observer fails the run, as it should
    watching = observer("watching", says, type(event))
    of = dialect(strategy=Strategy.PARALLEL, on_failure=policy)

    without = await Rig(*hooks, of=of, strict=strict).dispatch(event)
    along = await Rig(*hooks[:place], watching, *hooks[place:], of=of, strict=strict).dispatch(event)
    assert verdict(along) == verdict(without)
    assert along.ignored == without.ignored


async def test_cancelling_a_dispatch_cancels_its_calls_and_records_them() -> None:
    """Every running call is cancelled, has ended before the dispatch has, and stands in the account as cancelled."""
    rig = Rig(*(hook(name, held=True, outside=True) for name in "abc"), of=PARALLEL)
    dispatching = rig.dispatching()
    await rig.puppets.started("a", "b", "c")

    dispatching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dispatching
    assert rig.puppets.running == 0
    assert rig.account.started() == ["a", "b", "c"]
    assert sorted(rig.account.endings()) == [("a", Kind.CANCELLED), ("b", Kind.CANCELLED), ("c", Kind.CANCELLED)]
    assert rig.account.dispatched() == []


async def test_a_cancelled_dispatch_waits_for_its_calls() -> None:
    """Calls that take a while to end are waited for: their processes must be gone when the dispatch is."""
    rig = Rig(hook("a", tidies=True), hook("b", tidies=True), of=PARALLEL)
    dispatching = rig.dispatching()
    await rig.puppets.started("a", "b")

    dispatching.cancel()
    for name in "ab":
        await idle()
        assert not dispatching.done()
        await rig.puppets.finish(name)
    with pytest.raises(asyncio.CancelledError):
        await dispatching


async def test_a_call_is_cancelled_once() -> None:
    """One cancellation of a dispatch reaches each call once: a second would break off what ends its process."""
    rig = Rig(hook("a", held=True), hook("b", tidies=True), of=PARALLEL)
    dispatching = rig.dispatching()
    await rig.puppets.started("a", "b")

    dispatching.cancel()
    await idle()
    assert [(call.name, call.cancelled) for call in rig.puppets.calls] == [("a", 1), ("b", 1)]
    rig.puppets.calls[1].released.set()
    with pytest.raises(asyncio.CancelledError):
        await dispatching


async def test_cancelling_once_more_still_waits() -> None:
    """Whoever cancels again while calls are ending does not get away without them."""
    rig = Rig(hook("a", tidies=True), hook("b", tidies=True), of=PARALLEL)
    dispatching = rig.dispatching(BeforeToolCall(tool_name="bash", input={}))
    await rig.puppets.started("a", "b")

    running_at_the_end: list[int] = []
    dispatching.add_done_callback(lambda _: running_at_the_end.append(rig.puppets.running))

    dispatching.cancel()
    await idle()
    dispatching.cancel()
    await idle()
    for call in rig.puppets.calls:
        call.released.set()
    await asyncio.wait([dispatching])
    assert dispatching.cancelled()
    assert running_at_the_end == [0]


async def test_an_account_that_cannot_be_kept_is_told_as_that() -> None:
    """A recorder's fault is what dispatching raises, not the cancellation of the other calls that it leads to."""

    class Full:
        def record(self, record: object) -> None:
            if isinstance(record, HookStarted) and record.hook.id == "b":
                raise StateError("the disk is full")

        def close(self) -> None:
            pass

    rig = Rig(hook("a", held=True, outside=True), hook("b", outside=True), of=PARALLEL)
    with pytest.raises(StateError, match="full"):
        await rig.engine.recording(Full()).dispatch(EVENT)
    assert rig.puppets.running == 0

"""Laws of background hooks: the loop does not wait for them, they are bounded, and none is lost without a word."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine_rig import (
    FAILED,
    POOL,
    SERIAL,
    TOO_LARGE,
    WAITING,
    Rig,
    background,
    dialect,
    hook,
    idle,
    in_session,
    untimed,
    verdict,
)
from tests.laws import drawn

from hookline._core.decisions import Deny
from hookline._core.effects import AddContext, RewriteInput
from hookline._core.hooks import Hook
from hookline._core.lanes import LanePolicy, WhenFull
from hookline._core.outcomes import Kind
from hookline._core.points import Event
from hookline._core.reasons import Failure, Skip
from hookline._core.rules import FailurePolicy, Strategy

BOTH = [pytest.param(each, id=each.value) for each in (Strategy.PARALLEL, Strategy.CHAIN)]
LONG = 60.0  # a budget that no test uses up

Case = tuple[Event, list[Hook], FailurePolicy, Strategy, bool]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """An event, its hooks, a policy for those that fail, how they are run, and strictness."""
    event = draw(drawn.events)
    return event, draw(drawn.hooks(event)), draw(drawn.policies), draw(drawn.strategies), draw(st.booleans())


def alone(name: str = "b", *, lane: LanePolicy, **terms: object) -> Rig:
    """One background hook whose calls are held, in this lane."""
    return Rig(background(name, held=True, **terms), of=dialect(strategy=Strategy.PARALLEL, lane=lane))


def event_numbers(calls: Iterable[object]) -> list[int]:
    return [call.event.input["n"] for call in calls]


@pytest.mark.parametrize("strategy", BOTH)
async def test_background_never_delays(strategy: Strategy) -> None:
    """A dispatch ends while its background hooks have not."""
    rig = Rig(background("b", held=True), hook("a", AddContext("a")), of=dialect(strategy=strategy))
    resolution = await rig.dispatch()

    assert [outcome.hook.id for outcome in resolution.outcomes] == ["a"]
    await rig.puppets.started("b")
    assert rig.account.ended() == []
    await rig.puppets.finish("b")
    await rig.engine.drain("one", LONG)
    assert rig.account.endings() == [("b", Kind.ANSWERED)]


@drawn.LAW
@given(cases(), st.one_of(st.none(), drawn.silences, st.just(Deny("too late"))), st.integers(0, 5))
async def test_background_never_changes_a_resolution(case: Case, says: object, place: int) -> None:
    """A background hook is no part of the resolution, whatever it says or fails to say."""
    event, hooks, policy, strategy, strict = case
    of = dialect(strategy=strategy, on_failure=policy)
    extra = background("extra", says, type(event))

    without = Rig(*hooks, of=of, strict=strict)
    along = Rig(*hooks[:place], extra, *hooks[place:], of=of, strict=strict)
    resolution = await along.dispatch(event)
    assert untimed(replace(resolution, launched=())) == untimed(await without.dispatch(event))
    assert [hook.id for hook in resolution.launched] in ([], ["extra"])
    await along.engine.aclose()


@pytest.mark.parametrize("strategy", BOTH)
async def test_what_a_background_hook_says_counts_for_nothing(strategy: Strategy) -> None:
    """Whatever it answers and however it ends, it comes too late to change anything."""
    late = [
        background("deny", Deny("late")),
        background("rewrite", RewriteInput({"command": "true"})),
        background("fail", FAILED, on_failure=FailurePolicy.DENY),
    ]
    rig = Rig(*late, hook("a"), of=dialect(strategy=strategy), strict=True)
    plain = Rig(hook("a"), of=dialect(strategy=strategy), strict=True)

    assert verdict(await rig.dispatch()) == verdict(await plain.dispatch())
    await rig.engine.drain("one", LONG)
    assert Counter(rig.account.endings()) == Counter(
        [("deny", Failure.NOT_ADMITTED), ("rewrite", Failure.NOT_ADMITTED), ("fail", Failure.EXIT_CODE)]
    )


@pytest.mark.parametrize(
    ("says", "ending"),
    [
        pytest.param(None, Kind.ANSWERED, id="abstains"),
        pytest.param(Deny("no"), Failure.NOT_ADMITTED, id="says more than it may"),
        pytest.param(FAILED, Failure.EXIT_CODE, id="fails"),
        pytest.param(RuntimeError("broken"), Failure.CRASHED, id="crashes"),
        pytest.param(TOO_LARGE, Skip.PAYLOAD_TOO_LARGE, id="is not called"),
    ],
)
async def test_each_background_hook_has_one_end_on_record(says: object, ending: object) -> None:
    """Whatever becomes of a background hook stands in the account, once."""
    rig = Rig(background("b", says))
    await rig.dispatch()
    await rig.engine.drain("one", LONG)

    assert rig.account.endings() == [("b", ending)]


async def test_a_serial_lane_keeps_the_order_and_runs_one_at_a_time() -> None:
    """One worker: calls run in the order of their events, and never two at once, across sessions too."""
    rig = alone(lane=SERIAL)
    for number in range(20):
        await rig.dispatch(in_session("one" if number % 3 else "two", n=number))
    for _ in range(20):
        await rig.puppets.until(lambda: rig.puppets.running)
        await rig.puppets.finish("b")

    assert event_numbers(rig.puppets.calls) == list(range(20))
    assert rig.puppets.most == 1


async def test_a_pool_never_runs_more_than_its_workers() -> None:
    """32 workers and no queue: the 33rd call while all are at work is dropped, and each drop is on record."""
    rig = alone(lane=POOL)
    for number in range(40):
        await rig.dispatch(in_session("one", n=number))
    await rig.puppets.until(lambda: rig.puppets.running == 32)

    assert event_numbers(rig.puppets.calls) == list(range(32))
    assert rig.account.endings() == [("b", Skip.LANE_FULL)] * 8

    await rig.puppets.finish("b")
    await idle()
    await rig.dispatch(in_session("one", n=40))
    await rig.puppets.until(lambda: rig.puppets.running == 32)
    assert rig.puppets.calls[-1].event == in_session("one", n=40)
    assert rig.puppets.most == 32
    await rig.engine.aclose()


async def test_a_queue_holds_what_it_says() -> None:
    """One worker and a queue of three: one runs, three wait, the next is dropped, and the three run in turn."""
    rig = alone(lane=LanePolicy(workers=1, queue=3))
    for number in range(6):
        await rig.dispatch(in_session("one", n=number))

    assert rig.account.endings() == [("b", Skip.LANE_FULL)] * 2
    for _ in range(4):
        await rig.puppets.until(lambda: rig.puppets.running)
        await rig.puppets.finish("b")
    assert event_numbers(rig.puppets.calls) == [0, 1, 2, 3]


@drawn.LAW
@given(
    st.builds(LanePolicy, workers=st.integers(1, 3), queue=st.integers(0, 3)),
    st.lists(st.sampled_from(["event", "event", "end oldest", "end newest"]), max_size=30),
)
async def test_a_lane_keeps_its_bounds(lane: LanePolicy, steps: list[str]) -> None:
    """Calls start in the order of their events, as many at once as there are workers; only what has no room drops."""
    rig = alone(lane=lane)
    running: list[int] = []
    waiting: list[int] = []
    started: list[int] = []
    dropped = 0
    for number, step in enumerate(steps):
        if step == "event":
            full = len(running) == lane.workers and len(waiting) == lane.queue
            dropped += full
            waiting += [] if full else [number]
            await rig.dispatch(in_session("one", n=number))
        elif running:
            ended = running.pop(0 if step == "end oldest" else -1)
            next(call for call in rig.puppets.calls if event_numbers([call]) == [ended]).released.set()
        while waiting and len(running) < lane.workers:
            started.append(waiting[0])
            running.append(waiting.pop(0))
        await idle()

        assert event_numbers(rig.puppets.calls) == started
        assert rig.puppets.running == len(running)
        assert [why for _, why in rig.account.endings()].count(Skip.LANE_FULL) == dropped
    await rig.engine.aclose()
    assert len(rig.account.ended()) == steps.count("event")


async def test_waiting_for_room_holds_the_event_back() -> None:
    """Under WAIT an event waits while its background hook finds no room, before its other hooks are called."""
    rig = Rig(background("b", held=True), hook("a"), of=dialect(strategy=Strategy.PARALLEL, lane=WAITING))
    await rig.dispatch(in_session("one", n=0))
    second = rig.dispatching(in_session("one", n=1))
    await idle()

    assert not second.done()
    assert Counter(rig.puppets.names) == {"a": 1, "b": 1}
    await rig.puppets.finish("b")
    await second
    await rig.puppets.until(lambda: rig.puppets.names.count("b") == 2)
    await rig.puppets.finish("b")


async def test_waiting_loses_nothing() -> None:
    """Under WAIT every event's call runs, in the order in which the events came, one at a time."""
    rig = alone(lane=replace(WAITING, queue=2))
    dispatches = [rig.dispatching(in_session("one", n=number)) for number in range(30)]
    for _ in range(30):
        await rig.puppets.until(lambda: rig.puppets.running)
        await rig.puppets.finish("b")
    await asyncio.gather(*dispatches)
    await rig.engine.drain("one", LONG)

    assert event_numbers(rig.puppets.calls) == list(range(30))
    assert rig.puppets.most == 1
    assert rig.account.endings() == [("b", Kind.ANSWERED)] * 30


@pytest.mark.parametrize("steps", [pytest.param(steps, id=f"{steps} steps late") for steps in range(5)])
async def test_nobody_overtakes_who_waits_for_room(steps: int) -> None:
    """Room goes to the event that has waited longest, never to one that comes just when room is made."""
    rig = alone(lane=WAITING)
    await rig.dispatch(in_session("one", n=0))
    await rig.puppets.started("b")
    dispatches = [rig.dispatching(in_session("one", n=1))]
    await idle()

    rig.puppets.calls[0].released.set()
    for _ in range(steps):
        await asyncio.sleep(0)
    dispatches.append(rig.dispatching(in_session("one", n=2)))
    for _ in range(2):
        await rig.puppets.until(lambda: rig.puppets.running)
        await rig.puppets.finish("b")
    await asyncio.gather(*dispatches)
    assert event_numbers(rig.puppets.calls) == [0, 1, 2]


async def test_cancelling_who_waits_for_room_is_on_record() -> None:
    """An event that is cancelled while it waits for room leaves word of the hook that it did not come to."""
    rig = alone(lane=WAITING)
    await rig.dispatch(in_session("one", n=0))
    second = rig.dispatching(in_session("one", n=1))
    await idle()

    second.cancel()
    await asyncio.wait([second])
    assert second.cancelled()
    assert rig.account.endings() == [("b", Kind.CANCELLED)]
    await rig.engine.aclose()


async def test_cancelling_a_dispatch_leaves_its_background_hooks_alone() -> None:
    """What the loop does not wait for does not end with it."""
    rig = Rig(background("b", held=True), hook("a", held=True), of=dialect(strategy=Strategy.PARALLEL))
    dispatching = rig.dispatching()
    await rig.puppets.started("a", "b")

    dispatching.cancel()
    await asyncio.wait([dispatching])
    assert [(call.name, call.ended) for call in rig.puppets.calls if call.name == "b"] == [("b", False)]
    await rig.puppets.finish("b")
    await rig.engine.drain("one", LONG)
    assert ("b", Kind.ANSWERED) in rig.account.endings()


async def test_dropped_calls_leave_the_lane_usable() -> None:
    """A lane that was full takes calls again as soon as one has ended."""
    rig = alone(lane=LanePolicy(workers=1, queue=0, when_full=WhenFull.DROP))
    await rig.dispatch(in_session("one", n=0))
    await rig.dispatch(in_session("one", n=1))
    await rig.puppets.started("b")
    await rig.puppets.finish("b")
    await rig.engine.drain("one", LONG)
    await rig.dispatch(in_session("one", n=2))
    await rig.puppets.until(lambda: rig.puppets.running)
    await rig.puppets.finish("b")

    assert event_numbers(rig.puppets.calls) == [0, 2]


WHOSE: ContextVar[str] = ContextVar("WHOSE")


async def test_a_call_that_waited_runs_in_the_context_of_its_own_event() -> None:
    """Context variables in a background call are those of the dispatch that it belongs to, also after a wait."""
    seen: list[tuple[str, str]] = []
    puppet = background("b", lambda event: seen.append((event.origin.session_id, WHOSE.get())), held=True)
    rig = Rig(puppet, of=dialect(strategy=Strategy.PARALLEL, lane=SERIAL))
    for session in ("one", "two"):
        WHOSE.set(session)
        await rig.dispatch(in_session(session))
    for _ in range(2):
        await rig.puppets.until(lambda: rig.puppets.running)
        await rig.puppets.finish("b")
    await rig.engine.drain("two", LONG)

    assert seen == [("one", "one"), ("two", "two")]

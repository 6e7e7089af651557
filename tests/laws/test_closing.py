"""Laws of the end: a drain keeps to its budget and its session, and a closed engine leaves nothing behind."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from tests.engine_rig import (
    SERIAL,
    WAITING,
    Rig,
    background,
    dialect,
    hook,
    idle,
    in_session,
)

from hookline._core.outcomes import Kind
from hookline._core.ports import LanePolicy, Strategy
from hookline._core.reasons import Skip

LONG = 60.0  # a budget that no test uses up


def alone(name: str = "b", *, lane: LanePolicy, **terms: object) -> Rig:
    """One background hook whose calls are held, in this lane."""
    return Rig(background(name, held=True, **terms), of=dialect(strategy=Strategy.PARALLEL, lane=lane))


def event_numbers(calls: Iterable[object]) -> list[int]:
    return [call.event.input["n"] for call in calls]


async def test_draining_waits_for_what_ends_in_time() -> None:
    """A drain ends when the last background call of the session has, and names nobody then."""
    rig = alone(lane=replace(SERIAL, workers=2))
    for number in range(3):
        await rig.dispatch(in_session("one", n=number))
    draining = asyncio.ensure_future(rig.engine.drain("one", LONG))
    for _ in range(3):
        await idle()
        assert not draining.done()
        await rig.puppets.finish("b")

    assert await draining == ()
    assert rig.account.endings() == [("b", Kind.ANSWERED)] * 3


async def test_draining_keeps_to_its_budget() -> None:
    """What has not ended within the budget is cancelled, or never started, and named; all of it is on record."""
    rig = Rig(
        background("running", held=True),
        background("waiting"),
        of=dialect(strategy=Strategy.PARALLEL, lane=SERIAL),
    )
    await rig.dispatch()
    await rig.puppets.started("running")

    assert await rig.engine.drain("one", 0.05) == ("running", "waiting")
    assert rig.puppets.names == ["running"]
    assert rig.puppets.running == 0
    assert Counter(rig.account.endings()) == Counter([("running", Kind.CANCELLED), ("waiting", Skip.CLOSED)])
    assert await rig.engine.drain("one", LONG) == ()


@pytest.mark.parametrize("end", ["drain", "aclose"])
async def test_what_is_cut_off_before_its_first_step_is_on_record(end: str) -> None:
    """A call that was given to a worker and cut off before it could begin has its end on record like any other."""
    rig = alone(lane=SERIAL)
    await rig.dispatch()
    if end == "drain":
        assert await rig.engine.drain("one", 0.0) == ("b",)
    else:
        await rig.engine.aclose()

    assert [whose for whose, _ in rig.account.endings()] == ["b"]


async def test_draining_concerns_one_session() -> None:
    """The end of one session touches no call of another, running or waiting."""
    rig = alone(lane=SERIAL)
    for number, session in enumerate(["one", "two", "one", "two"]):
        await rig.dispatch(in_session(session, n=number))
    await rig.puppets.started("b")

    assert await rig.engine.drain("one", 0.0) == ("b", "b")
    await rig.puppets.until(lambda: rig.puppets.running)
    for _ in range(2):
        await rig.puppets.until(lambda: rig.puppets.running)
        await rig.puppets.finish("b")
    assert await rig.engine.drain("two", LONG) == ()
    assert event_numbers(rig.puppets.calls) == [0, 1, 3]
    assert event_numbers(call for call in rig.puppets.calls if call.cancelled) == [0]


async def test_draining_a_session_without_background_work_is_over_at_once() -> None:
    """A session that has nothing in the background waits for no other's."""
    rig = alone(lane=SERIAL)
    assert await rig.engine.drain("one", LONG) == ()
    await rig.dispatch(in_session("two"))

    assert await rig.engine.drain("one", LONG) == ()
    await rig.engine.aclose()


async def test_a_drain_covers_every_dialect() -> None:
    """Each dialect has a lane of its own; a drain waits for all of them and names what is left in any."""
    rig = Rig(
        background("a", held=True, dialect="first"),
        background("b", held=True, dialect="second"),
        of=(dialect("first", lane=SERIAL), dialect("second", lane=SERIAL)),
    )
    await rig.dispatch()
    await rig.puppets.started("a", "b")

    assert set(await rig.engine.drain("one", 0.0)) == {"a", "b"}


async def test_a_cancelled_drain_leaves_nothing_of_its_own() -> None:
    """Whoever breaks off a drain is left with the hooks that it waited for, and no other task."""
    rig = alone(lane=SERIAL)
    await rig.dispatch()
    await rig.puppets.started("b")
    before = asyncio.all_tasks()
    draining = asyncio.ensure_future(rig.engine.drain("one", LONG))
    await idle()

    draining.cancel()
    await asyncio.wait([draining])
    await idle()
    assert asyncio.all_tasks() == before
    await rig.engine.aclose()


async def test_closing_leaves_no_task() -> None:
    """After aclose no call runs or waits, of any session, and each that was cut off is on record."""
    before = asyncio.all_tasks()
    rig = alone(lane=LanePolicy(workers=2, queue=10))
    for number in range(6):
        await rig.dispatch(in_session(f"session {number % 3}", n=number))
    await rig.puppets.started("b")

    await rig.engine.aclose()
    assert asyncio.all_tasks() == before
    assert rig.puppets.running == 0
    assert len(rig.account.ended()) == 6
    assert rig.puppets.closed == 1


async def test_closing_starts_nothing() -> None:
    """Closing does not hand the place of a call that it cancels to one that waits."""
    rig = alone(lane=SERIAL)
    for number in range(20):
        await rig.dispatch(in_session(f"session {number}", n=number))
    await rig.puppets.started("b")

    await rig.engine.aclose()
    assert event_numbers(rig.puppets.calls) == [0]
    assert Counter(why for _, why in rig.account.endings()) == {Kind.CANCELLED: 1, Skip.CLOSED: 19}


async def test_closing_ends_waiting_for_room() -> None:
    """An event that waits for room when the engine closes gets none: its hook is skipped as closed."""
    rig = alone(lane=WAITING)
    await rig.dispatch(in_session("one", n=0))
    await rig.puppets.started("b")
    waiting = rig.dispatching(in_session("one", n=1))
    await idle()

    await rig.engine.aclose()
    await asyncio.wait([waiting])
    await idle()
    assert rig.puppets.running == 0
    assert Counter(rig.account.endings()) == Counter([("b", Kind.CANCELLED), ("b", Skip.CLOSED)])


async def test_a_chain_that_outlives_its_engine_starts_nothing_in_the_background() -> None:
    """Background hooks that follow a chain are skipped as closed where the engine was closed meanwhile."""
    rig = Rig(hook("a", held=True), background("b", held=True))
    dispatching = rig.dispatching()
    await rig.puppets.started("a")

    await rig.engine.aclose()
    rig.puppets.calls[0].released.set()
    await asyncio.wait([dispatching])
    await idle()
    assert rig.puppets.names == ["a"]
    assert rig.account.endings() == [("b", Skip.CLOSED)]

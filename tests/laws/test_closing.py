"""Laws of the end: a drain keeps to its budget and its session, and a closed engine leaves nothing behind."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from tests.engine_rig import (
    SERIAL,
    WAITING,
    Account,
    Puppet,
    Puppets,
    Rig,
    background,
    dialect,
    hook,
    idle,
    in_session,
)

from hookline._core.errors import StateError
from hookline._core.hooks import Hook
from hookline._core.lanes import LanePolicy, WhenFull
from hookline._core.outcomes import Kind
from hookline._core.reasons import Skip
from hookline._core.records import HookEnded, HookStarted, Record
from hookline._core.rules import Strategy
from hookline._core.targets import CommandTarget, FunctionTarget
from hookline._engine.engine import HookEngine

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


def two_lanes(*hooks: Hook) -> Rig:
    return Rig(*hooks, of=(dialect("first", lane=SERIAL), dialect("second", lane=SERIAL)))


async def test_closing_one_lane_starts_nothing_in_another() -> None:
    """While the calls of one dialect are ended, no waiting call of another dialect is started."""
    rig = two_lanes(background("a", tidies=True, dialect="first"), background("b", held=True, dialect="second"))
    for _ in range(2):
        await rig.dispatch()
    await rig.puppets.started("a", "b")
    closing = asyncio.ensure_future(rig.engine.aclose())
    await idle()

    if rig.puppets.running == 2:
        await rig.puppets.finish("b")
        await idle()
    await rig.puppets.finish("a")
    await closing
    assert sorted(rig.puppets.names) == ["a", "b"]


async def test_an_engine_closes_while_events_are_under_way() -> None:
    """A chain that ends while its engine is being closed finds its lane shut, also one that was never used before."""
    rig = two_lanes(
        background("a", tidies=True, dialect="first"),
        hook("slow", held=True, dialect="second"),
        background("b", dialect="second"),
    )
    dispatching = rig.dispatching()
    await rig.puppets.started("a", "slow")
    closing = asyncio.ensure_future(rig.engine.aclose())
    await idle()
    await rig.puppets.finish("slow")
    await dispatching
    await rig.puppets.finish("a")

    await closing
    assert "b" not in rig.puppets.names
    assert ("b", Skip.CLOSED) in rig.account.endings()


class FullDisk(Account):
    """An account that cannot be written when a call is about to start."""

    def record(self, record: Record) -> None:
        if isinstance(record, HookStarted):
            raise StateError("no space left on device")
        super().record(record)


async def test_an_account_that_cannot_be_kept_is_its_own_session_s_fault() -> None:
    """What could not be recorded in the background is raised where its session is drained, and in no other's drain."""
    rig = alone(lane=SERIAL)
    await rig.engine.recording(FullDisk()).dispatch(in_session("one"))
    await idle()

    assert await rig.engine.drain("two", LONG) == ()
    with pytest.raises(StateError, match="no space left"):
        await rig.engine.drain("one", LONG)


class Unclosable(Puppets):
    """An adapter that cannot let go."""

    async def aclose(self) -> None:
        await super().aclose()
        raise OSError("cannot close")


class NoEnds(Account):
    """An account that takes no end of a hook."""

    def record(self, record: Record) -> None:
        if isinstance(record, HookEnded):
            raise StateError("no space left on device")
        super().record(record)


@pytest.mark.parametrize("account", [Account(), NoEnds()], ids=["adapter", "adapter and account"])
async def test_everything_is_closed_whatever_closing_meets(account: Account) -> None:
    """An adapter that breaks when it is closed, or an account that is full, keeps nothing else open or running."""
    before = asyncio.all_tasks()
    of = dialect(lane=LanePolicy(workers=2, queue=10))
    broken, puppets, sound = Unclosable(), Puppets(), Puppets()
    engine = HookEngine(
        dialects=(of,),
        in_code=of,
        adapters={FunctionTarget: broken, Puppet: puppets, CommandTarget: sound},
        hooks=(background("b", held=True),),
    )
    for number in range(6):
        await engine.recording(account).dispatch(in_session("one", n=number))
    await puppets.started("b")

    with pytest.raises((OSError, StateError)):
        await engine.aclose()
    assert (broken.closed, sound.closed, puppets.closed) == (1, 1, 1)
    assert puppets.running == 0
    assert asyncio.all_tasks() == before


async def test_room_that_one_session_leaves_is_another_s() -> None:
    """An event that waits for room gets what a session leaves when it is drained, though nothing has ended."""
    rig = alone(lane=LanePolicy(workers=1, queue=1, when_full=WhenFull.WAIT))
    await rig.dispatch(in_session("one", n=0))
    await rig.puppets.started("b")
    await rig.dispatch(in_session("two", n=1))
    waiting = rig.dispatching(in_session("three", n=2))
    await idle()
    assert not waiting.done()

    await rig.engine.drain("two", 0.0)
    await idle()
    assert waiting.done()
    assert rig.puppets.running == 1
    await rig.engine.aclose()

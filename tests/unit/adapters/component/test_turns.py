"""Calls of one instance: one at a time, cancelled, and ended with the adapter."""

import asyncio

import pytest
from tests.component_rig import ASKS, CALLS, COUNTS, ECHO, HOST, LOOPS, component
from tests.unit.adapters.component.guests import LATE, WITHIN, Desk, Guests, event, said

from hookline._core.components import ComponentTarget
from hookline._core.payload import CallFailed
from hookline._core.reasons import Failure

LOOPING = component({"on-event": LOOPS, "on-other": COUNTS}, more=CALLS)
ASKING = component({"on-event": ASKS, "on-other": COUNTS}, (HOST,), more=CALLS)


def hanging(guests: Guests, where: str) -> ComponentTarget:
    """One whose `on-event` never answers, in a thread or in a worker."""
    if where == "thread":
        return guests.target(LOOPING)
    return guests.target(ASKING, host=Desk({"echo": ...}))


places = pytest.mark.parametrize("where", ["thread", "worker"])


@places
async def test_an_instance_serves_in_order_of_arrival(guests: Guests, where: str) -> None:
    """Calls at once are made one after the other, as they came."""
    target = hanging(guests, where)
    calls = (guests.ask(target, event(), function="on-other") for _ in range(5))
    assert [said(str(number)) for number in range(1, 6)] == await asyncio.gather(*calls)


@places
async def test_waiting_for_the_call_before_is_not_charged(guests: Guests, where: str) -> None:
    """A call behind one that hangs is made when that has timed out, with all of its time."""
    target = hanging(guests, where)
    first = asyncio.ensure_future(guests.call(target, within=WITHIN))
    await asyncio.sleep(0)
    second = await guests.ask(target, event(), function="on-other", within=10)

    assert (LATE, said("1", fresh=True)) == (await first, second)


@places
async def test_a_cancelled_call_ends_at_once(guests: Guests, where: str) -> None:
    """Whoever cancels a call does not wait for it, and the next one finds a new instance."""
    target = hanging(guests, where)
    assert said("1") == await guests.ask(target, event(), function="on-other")
    call = asyncio.ensure_future(guests.call(target))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])

    assert call.cancelled()
    assert said("1", fresh=True) == await guests.ask(target, event(), function="on-other")


@places
async def test_closing_ends_a_call_under_way(guests: Guests, where: str) -> None:
    """A call that hangs when the adapter is closed fails with that, and no other is made afterwards."""
    target = hanging(guests, where)
    assert said("1") == await guests.ask(target, event(), function="on-other")
    call = asyncio.ensure_future(guests.call(target))
    await asyncio.sleep(0)
    await guests.adapter.aclose()

    reply, later = await call, await guests.call(target)
    assert isinstance(reply, CallFailed)
    assert (Failure.SIGNAL, "ended because the engine was closed") == (reply.why, reply.detail)
    assert isinstance(later, CallFailed)
    assert Failure.COULD_NOT_START is later.why


@places
async def test_closing_ends_one_that_is_being_made(guests: Guests, where: str) -> None:
    """An instance that is not there yet when the adapter is closed never comes to be."""
    call = asyncio.ensure_future(guests.call(hanging(guests, where)))
    await asyncio.sleep(0)
    await guests.adapter.aclose()

    reply = await call
    assert isinstance(reply, CallFailed)
    assert reply.why in {Failure.SIGNAL, Failure.COULD_NOT_START}


async def test_one_that_hangs_holds_up_no_other(guests: Guests) -> None:
    """While one target is stuck another answers, and the loop goes on."""
    stuck = asyncio.ensure_future(guests.call(guests.target(LOOPING), within=WITHIN))
    target = guests.target(component(ECHO))
    for _ in range(5):
        assert said("hello") == await guests.call(target)
    assert not stuck.done()
    assert LATE == await stuck


def test_an_instance_does_not_outlive_its_loop(tmp_path_factory: pytest.TempPathFactory) -> None:
    """An adapter that is used in a second loop has new instances there, and says so."""
    guests = Guests(tmp_path_factory.mktemp("loops"))
    targets = [hanging(guests, "thread"), hanging(guests, "worker")]

    async def once() -> list[object]:
        return [await guests.ask(target, event(), function="on-other") for target in targets]

    assert [said("1")] * 2 == asyncio.run(once())
    assert [said("1", fresh=True)] * 2 == asyncio.run(once())
    asyncio.run(guests.adapter.aclose())

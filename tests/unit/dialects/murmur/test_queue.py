"""Hooks that nobody waits for: an order, one instance, a bound, and an end (section 7.3)."""

import asyncio

from tests.unit.dialects.murmur.rig import ORIGIN, Place, staged

from hookline._core import events as ev
from hookline._core.events.session import Totals
from hookline._core.payload import Yielded
from hookline._core.points import Event
from hookline._core.records import HookEnded, SessionClosed

QUEUE = 1024


def turn(number: int) -> Event:
    return ev.AfterModelCall(provider="p", step=number, origin=ORIGIN)


def closed(abandoned: tuple[str, ...] = ()) -> SessionClosed:
    return SessionClosed(origin=ORIGIN, reason="other", abandoned=abandoned, totals=Totals())


async def held(*, waits: bool) -> Place:
    """A place whose async hook is at work on its first event, and does not end until the gate opens."""
    place = Place(staged(is_async=True, waits=waits))
    place.guests.gate = asyncio.Event()
    await place.dispatch(turn(0))
    await place.guests.begun(1)
    return place


async def let_go(place: Place) -> None:
    """Open the gate, and wait until everybody was told of everything."""
    assert place.guests.gate is not None
    place.guests.gate.set()
    await place.drained()


def turns(place: Place) -> list[int]:
    return [call.argument["turn"] for _, call in place.guests.calls]


async def test_an_async_hook_sees_the_order_of_events() -> None:
    """One call at a time, in the order in which they were sent, and the dispatch does not wait for them."""
    place = Place(staged(is_async=True))
    place.guests.gate = asyncio.Event()
    events: list[Event] = [
        ev.SessionStart(source="startup", origin=ORIGIN),
        ev.AfterToolCall(tool_name="editor", input={}, origin=ORIGIN),
        ev.SessionEnd(reason="other", origin=ORIGIN),
    ]
    for event in events:
        await place.dispatch(event)
    await place.guests.begun(1)
    assert ["on-session-start"] == place.guests.functions("watch")

    await let_go(place)
    assert ["on-session-start", "on-tool-call", "on-session-end"] == place.guests.functions("watch")


async def test_what_finds_no_room_is_dropped_and_told_of() -> None:
    """Of five events too many five are lost: a fault for each, naming the event, and one line in the log at the end."""
    place = await held(waits=False)
    for number in range(1, QUEUE + 6):
        await place.dispatch(turn(number))
    assert [] == place.log

    await let_go(place)
    assert list(range(QUEUE + 1)) == turns(place)
    place.record(closed())
    assert [("watch", "on-inference", "queue-overflow")] * 5 == place.faults()
    text = (
        "hook 'watch' discarded 5 lifecycle event(s): its queue (1024 deep) was full and the capsule manifest declares "
        "'on_overflow: drop' for this hook"
    )
    assert [("hook-watch", text)] == place.log


async def test_where_it_waits_nothing_is_lost() -> None:
    """`on_overflow: block`: the dispatch waits for room."""
    place = await held(waits=True)
    for number in range(1, QUEUE + 1):
        await place.dispatch(turn(number))
    last = asyncio.ensure_future(place.dispatch(turn(QUEUE + 1)))
    await asyncio.sleep(0)
    assert not last.done()

    await let_go(place)
    await last
    await place.drained()
    assert list(range(QUEUE + 2)) == turns(place)
    place.record(closed())
    assert ([], []) == (place.faults(), place.log)


async def test_a_full_queue_is_its_hooks_alone() -> None:
    """Each has one of its own: another hook is told of everything."""
    place = Place(staged("slow", is_async=True), staged("quick", is_async=True))
    place.guests.gate = asyncio.Event()
    for number in range(4):
        await place.dispatch(turn(number))
    await place.guests.begun(2)

    assert ["slow", "quick"] == [name for name, _ in place.guests.calls]
    await let_go(place)


async def test_its_answer_is_discarded() -> None:
    """What the event would honor changes nothing when an async hook says it, and that is no fault."""
    arms = {
        "on-compaction": (
            ev.BeforeCompaction(trigger="threshold", origin=ORIGIN),
            Yielded(arm="replace-context", value=[]),
        ),
        "on-task-end": (ev.BeforeRunEnd(origin=ORIGIN), Yielded(arm="reopen-task", value="again")),
    }
    for event, said in arms.values():
        place = Place(staged(is_async=True), says={"watch": said})
        resolution = await place.dispatch(event)
        await place.drained()
        place.record(closed())
        assert ((), [], []) == (resolution.applied, place.faults(), place.log)
        [ended] = [record.outcome for record in place.records if isinstance(record, HookEnded)]
        assert ended.answer is not None
        assert (f"the {said.arm} of an async hook is discarded",) == ended.answer.notes


async def test_what_outlasts_the_budget_is_abandoned() -> None:
    """A hook that is still busy is cut off: one line in its log and one fault, however much it had left to do."""
    place = await held(waits=False)
    await place.dispatch(turn(1))
    place.record(closed(await place.drained(budget=0)))

    text = (
        "hook 'watch' did not finish its queued lifecycle calls within the 15000ms session-end drain budget; the "
        "remaining calls were abandoned"
    )
    assert [("watch", "drain", "timeout")] == place.faults()
    assert [("hook-watch", text)] == place.log


async def test_faults_are_written_once() -> None:
    """They are flushed right before `session_end`; a second flush writes nothing."""
    place = Place(staged(), says={"watch": Yielded(arm="write-manifests", value=[])})
    await place.dispatch(turn(0))
    assert ["inference"] == [line["event_type"] for line in place.trace]

    place.record(closed())
    assert ["inference", "hook_dispatch_error", "session_end"] == [line["event_type"] for line in place.trace]
    place.record(closed())
    assert 1 == len(place.faults())


async def test_totals_are_those_of_the_moment() -> None:
    """An event that waits is told as it was when it was sent."""
    place = await held(waits=False)
    await place.dispatch(ev.SessionEnd(reason="other", totals=Totals(steps=7), origin=ORIGIN))
    await let_go(place)

    assert 7 == place.guests.calls[-1][1].argument["total-turns"]

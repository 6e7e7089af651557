"""Calls of components: what goes in, what comes back, and what becomes of those that break."""

from typing import Any

import pytest
from tests.component_rig import (
    ANSWER,
    ASKS,
    BAD_CASE,
    BAD_POINTER,
    BAD_TEXT,
    CALLS,
    COUNTS,
    DEEPER,
    ECHO,
    GROWS,
    HOST,
    INTERFACE,
    ITEMS_BACK,
    LOOPS,
    NONE,
    RECURSES,
    REFUSES,
    REPEATS,
    SETTLES,
    TRAPS,
    component,
)
from tests.unit.adapters.component.guests import LATE, SERVED, WITHIN, Guests, event, nothing, said
from tests.unit.adapters.rig import EVENT

from hookline._core.capsule import CallLimits
from hookline._core.components import Interface, Lifetime
from hookline._core.payload import CallFailed, Limits, Payload, Yielded
from hookline._core.reasons import Failure

UNREACHABLE = "wasm trap: wasm `unreachable` instruction executed"


async def test_an_answer_is_one_case_with_its_payload(guests: Guests) -> None:
    """Each case of the answer comes back by its name, its payload as JSON values."""
    assert nothing() == await guests.call(guests.target(component(NONE)))
    assert said("hello") == await guests.call(guests.target(component(ECHO)), "hello")
    many = Yielded(arm="many", value=["a", "b", ""], interface=INTERFACE)
    assert many == await guests.call(guests.target(component(ITEMS_BACK)), items=["a", "b", ""])


async def test_an_error_of_the_hook_is_its_own_text(guests: Guests) -> None:
    """What a hook says is wrong is told in its words, and its instance serves on."""
    target = guests.target(component({"on-event": REFUSES, "on-other": COUNTS}, more=CALLS))

    failed = CallFailed(why=Failure.ERROR, detail="not like this", interface=INTERFACE)
    assert failed == await guests.call(target, "not like this")
    assert said("1") == await guests.ask(target, event(), function="on-other")


@pytest.mark.parametrize(
    ("body", "why", "detail"),
    [
        pytest.param(TRAPS, Failure.CRASHED, UNREACHABLE, id="trap"),
        pytest.param(RECURSES, Failure.CRASHED, "wasm trap: call stack exhausted", id="recursion"),
        pytest.param(GROWS, Failure.CRASHED, UNREACHABLE, id="memory"),
        pytest.param(
            BAD_POINTER,
            Failure.MALFORMED_ANSWER,
            "what it returned cannot be read: string pointer/length out of bounds of memory",
            id="pointer",
        ),
        pytest.param(
            BAD_CASE,
            Failure.MALFORMED_ANSWER,
            "what it returned cannot be read: discriminant 99 out of range [0..3)",
            id="case",
        ),
        pytest.param(
            BAD_TEXT,
            Failure.MALFORMED_ANSWER,
            "what it returned cannot be read: invalid utf-8 sequence of 1 bytes from index 0",
            id="text",
        ),
    ],
)
async def test_an_instance_that_broke_is_replaced(guests: Guests, body: str, why: Failure, detail: str) -> None:
    """A call that breaks fails by its cause; the next one finds a new instance, and says that it is."""
    bodies = {"on-event": COUNTS, "on-other": body}
    target = guests.target(component(bodies, more=CALLS + DEEPER), limits=CallLimits(memory_bytes=16 * 65_536))

    assert [said("1"), said("2")] == [await guests.call(target), await guests.call(target)]
    failed = CallFailed(why=why, detail=detail, interface=INTERFACE)
    assert failed == await guests.ask(target, event(), function="on-other")
    assert [said("1", fresh=True), said("2")] == [await guests.call(target), await guests.call(target)]


async def test_a_deadline_interrupts_the_guest(guests: Guests) -> None:
    """An endless loop has timed out at its limit, and the next call finds a new instance."""
    target = guests.target(component({"on-event": LOOPS, "on-other": ECHO}))

    assert LATE == await guests.call(target, within=WITHIN)
    assert said("on", fresh=True) == await guests.ask(target, event("on"), function="on-other")


async def test_a_guest_may_live_within_its_memory(guests: Guests) -> None:
    """Memory that is refused is no failure for a guest that can do without."""
    target = guests.target(component(SETTLES), limits=CallLimits(memory_bytes=16 * 65_536))
    assert nothing() == await guests.call(target)


@pytest.mark.parametrize(
    ("limits", "pages", "more", "stream", "size"),
    [
        pytest.param(CallLimits(memory_bytes=65_536), 3, "", "memory", 3 * 65_536, id="memory"),
        pytest.param(CallLimits(table_elements=10), 1, "(table 20 funcref)", "table", 20, id="table"),
        pytest.param(CallLimits(instances=1), 1, "", "instances", 2, id="instances"),
    ],
)
async def test_a_limit_that_is_too_small_from_the_start_is_named(
    guests: Guests, limits: CallLimits, pages: int, more: str, stream: str, size: int
) -> None:
    """A component that needs more than it may have is over that limit, with what it wanted."""
    reply = await guests.call(guests.target(component(ECHO, more=more, pages=pages), limits=limits))

    assert isinstance(reply, CallFailed)
    assert (Failure.OVER_LIMIT, stream, size) == (reply.why, reply.stream, reply.size)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        pytest.param(250_000, "", id="values"),
        pytest.param(1_100, "x" * 16_000, id="text"),
        pytest.param(3_000_000, "", id="more than is copied"),
    ],
)
async def test_an_answer_beyond_all_bounds_is_too_large(guests: Guests, number: int, text: str) -> None:
    """Of an answer with too many values or too much text only so much is read; the next call finds a new instance."""
    target = guests.target(component({"on-event": REPEATS, "on-other": ECHO}))

    reply = await guests.call(target, text, number)
    assert isinstance(reply, CallFailed)
    assert (Failure.OUTPUT_TOO_LARGE, "body") == (reply.why, reply.stream)
    assert said("on", fresh=True) == await guests.ask(target, event("on"), function="on-other")


async def test_the_first_interface_that_is_there_is_served(guests: Guests) -> None:
    """Of several interfaces the preferred one that a component exports is called, and the reply names it."""
    older = INTERFACE.replace("1.0.0", "0.9.0")
    interfaces = (*SERVED, Interface(name=older, required=frozenset({"on-event"})))
    target = guests.target(component(ECHO, interface=older), interfaces=interfaces)

    assert Yielded(arm="said", value="hello", interface=older) == await guests.call(target)


async def test_a_component_without_the_interface_says_what_it_has(guests: Guests) -> None:
    """One that exports another interface could not start, and both are named."""
    other = "demo:tool/run@2.0.0"
    reply = await guests.call(guests.target(component(ECHO, interface=other)))

    assert CallFailed(why=Failure.COULD_NOT_START, detail=f"it exports {other} instead of {INTERFACE}") == reply


async def test_a_missing_function_is_named(guests: Guests) -> None:
    """What is required is missed before anything runs, what is optional when it is called, and only then told apart."""
    required = await guests.call(guests.target(component({"on-other": ECHO})))
    assert CallFailed(why=Failure.COULD_NOT_START, detail=f"missing function {INTERFACE}#on-event") == required

    optional = await guests.ask(guests.target(component(ECHO)), event(), function="on-other")
    expected = CallFailed(
        why=Failure.COULD_NOT_START,
        detail=f"missing function {INTERFACE}#on-other",
        stream="function",
        interface=INTERFACE,
    )
    assert expected == optional


OLDER = '(record (field "text" string) (field "mood" (option u32)))'
OLDER_PARAMS = "(param $text i32) (param $text-len i32) (param i32 i32) (result i32)"


async def test_a_record_is_cut_to_the_fields_that_are_known(guests: Guests) -> None:
    """A component that knows fewer fields is given those, and one that knows more finds an option empty."""
    target = guests.target(component(ECHO, event=OLDER, params=OLDER_PARAMS))
    assert said("hello") == await guests.call(target, "hello")


@pytest.mark.parametrize(
    ("argument", "detail"),
    [
        ({"text": "x"}, "its argument.number: expected a whole number from 0 to 18446744073709551615"),
        (event(number=-1), "its argument.number: expected a whole number from 0 to 18446744073709551615"),
        (event(number=True), "its argument.number: expected a whole number from 0 to 18446744073709551615"),
        (event(text=7), "its argument.text: expected text, found int"),  # type: ignore[arg-type]
        (event(items=["a", None]), "its argument.items[]: expected text, found NoneType"),
        (event(note=["x"]), "its argument.note: expected text, found list"),
    ],
    ids=["missing", "negative", "bool", "text", "item", "option"],
)
async def test_another_signature_fails_at_the_call(guests: Guests, argument: Any, detail: str) -> None:
    """An event that does not fit the function never reaches it: the instance is as it was."""
    target = guests.target(component(COUNTS, more=CALLS))
    assert said("1") == await guests.call(target)

    text = f"the signature of {INTERFACE}#on-event is another: {detail}"
    failed = CallFailed(why=Failure.COULD_NOT_START, detail=text, interface=INTERFACE)
    assert failed == await guests.ask(target, argument)
    assert said("2") == await guests.call(target)


async def test_half_a_character_is_replaced(guests: Guests) -> None:
    """A lone surrogate, which no component may be given, arrives as a replacement; two halves of one as that one."""
    target = guests.target(component(ECHO))
    assert said("a\ufffdb") == await guests.call(target, "a\ud800b")
    assert said("\U0001f600") == await guests.call(target, "\ud83d\ude00")


async def test_a_throw_away_instance_forgets(guests: Guests) -> None:
    """Each call of such a target has an instance of its own, and none of them replaces another."""
    target = guests.target(component(COUNTS, more=CALLS), lifetime=Lifetime.ONE_CALL)
    assert [said("1"), said("1")] == [await guests.call(target), await guests.call(target)]


async def test_targets_do_not_share_an_instance(guests: Guests) -> None:
    """Two targets of one file count by themselves, one target that is called by two counts on."""
    data = component(COUNTS, more=CALLS)
    one, other = guests.target(data), guests.target(data)
    assert [said("1"), said("2"), said("1")] == [
        await guests.call(one),
        await guests.call(one),
        await guests.call(other),
    ]


async def test_an_import_that_nobody_serves_refuses_at_the_call(guests: Guests) -> None:
    """A component loads whatever it imports, and traps where it uses what it was not granted."""
    target = guests.target(component({"on-event": ASKS, "on-other": ECHO}, (HOST,)))
    assert said("fine") == await guests.ask(target, event("fine"), function="on-other")

    failed = CallFailed(why=Failure.CRASHED, detail="demo:host/desk@1.0.0#echo is not granted", interface=INTERFACE)
    assert failed == await guests.call(target)


async def test_no_time_and_no_function_are_told_at_once(guests: Guests) -> None:
    """With no time at all nothing is begun; with no function there is nothing to begin with."""
    target = guests.target(b"not even a component")
    late = await guests.call(target, within=0)
    assert isinstance(late, CallFailed)
    assert Failure.TIMEOUT is late.why
    blank = await guests.adapter.call(target, Payload(EVENT), Limits(10))
    assert isinstance(blank, CallFailed)
    assert Failure.COULD_NOT_START is blank.why


def test_the_answer_of_the_rig_is_what_its_words_write() -> None:
    """The bodies lay out an answer by hand: its cases stand in this order."""
    assert ["none", "said", "many"] == [part.split('"')[1] for part in ANSWER.split("case ")[1:]]

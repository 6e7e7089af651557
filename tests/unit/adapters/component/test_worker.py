"""Guests in a worker process: what they ask their host, and what becomes of a worker."""

import os
import signal
from pathlib import Path

import pytest
from tests.component_rig import ASKS, CALLS, COUNTED, COUNTS, ECHO, HOST, INTERFACE, KNOCKS, TRAPS, component
from tests.component_wasi import PRINTS, STDOUT
from tests.unit.adapters.component.guests import DESK, LATE, WITHIN, Desk, Guests, event, nothing, refusal, said
from tests.unit.processes.rig import ended

from hookline._core.components import ComponentTarget
from hookline._core.payload import CallFailed
from hookline._core.reasons import Failure

ALL = component({"on-event": ASKS, "on-other": COUNTED}, (HOST,))


def pid_of(guests: Guests, target: ComponentTarget) -> int:
    guest = guests.adapter._slots[id(target)]._guest
    return guest._running.pid  # type: ignore[union-attr]


async def test_a_guest_asks_its_host(guests: Guests) -> None:
    """What a guest asks arrives under the name of the import, as JSON values; the answer in the import's own types."""
    desk = Desk({"echo": "you said so", "count": 7})
    target = guests.target(ALL, host=desk)

    assert said("you said so") == await guests.call(target, "is it so?")
    assert said("7") == await guests.ask(target, event("many"), function="on-other")
    assert [(f"{DESK}#echo", ("is it so?",)), (f"{DESK}#count", ("many",))] == desk.asked


async def test_an_error_of_the_host_is_the_imports_own(guests: Guests) -> None:
    """What cannot be had is an error where the import has a place for one: a text, or the case of that name."""
    desk = Desk({"echo": refusal("not today"), "knock": refusal("shut")})

    refused = CallFailed(why=Failure.ERROR, detail="not today", interface=INTERFACE)
    assert refused == await guests.call(guests.target(ALL, host=desk))
    knocking = guests.target(component(KNOCKS, (HOST,)), host=desk)
    assert said("1") == await guests.call(knocking, "Ada")
    assert (f"{DESK}#knock", ({"name": "Ada", "age": 7},)) == desk.asked[-1]
    desk.answers = {"knock": None}
    assert nothing() == await guests.call(knocking, "Ada")


@pytest.mark.parametrize(
    ("body", "answer", "detail"),
    [
        pytest.param(COUNTED, refusal("shut"), "#count: shut", id="no place"),
        pytest.param(COUNTED, "seven", "#count: the host's answer does not fit: expected a whole number", id="type"),
        pytest.param(KNOCKS, refusal("odd"), "#knock: the host's answer does not fit: :", id="case"),
    ],
)
async def test_an_answer_that_does_not_fit_traps(guests: Guests, body: str, answer: object, detail: str) -> None:
    """Where the import has no place for what the host says, the guest traps, and the next call finds a new one."""
    desk = Desk({"count": answer, "knock": answer})
    target = guests.target(component({"on-event": body, "on-other": ECHO}, (HOST,)), host=desk)

    reply = await guests.call(target)
    assert isinstance(reply, CallFailed)
    assert Failure.CRASHED is reply.why
    assert reply.detail.startswith(DESK)
    assert said("on", fresh=True) == await guests.ask(target, event("on"), function="on-other")


async def test_a_host_that_is_late_is_dropped(guests: Guests) -> None:
    """The deadline covers what a guest waits for, and the question ends with the call."""
    desk = Desk({"echo": ...})
    assert LATE == await guests.call(guests.target(ALL, host=desk), within=WITHIN)
    await desk.dropped.wait()


async def test_a_fault_of_the_host_is_a_failed_call(guests: Guests) -> None:
    """A host that raises what it should not fails the call; the adapter raises nothing."""
    reply = await guests.call(guests.target(ALL, host=Desk({"echo": KeyError("oops")})))
    assert CallFailed(why=Failure.CRASHED, detail="KeyError: 'oops'") == reply


async def test_a_worker_that_was_killed_is_replaced(guests: Guests) -> None:
    """One that ended between two calls is found to be gone, and the reply says that its instance is new."""
    target = guests.target(component(COUNTS, (HOST,), more=CALLS), host=Desk())
    assert [said("1"), said("2")] == [await guests.call(target), await guests.call(target)]
    pid = pid_of(guests, target)
    os.kill(pid, signal.SIGKILL)
    await ended(pid)
    reply = await guests.call(target)
    if isinstance(reply, CallFailed):  # its end is known to the kernel, and is on its way to us
        assert "its process ended" == reply.detail
        reply = await guests.call(target)

    assert said("1", fresh=True) == reply


async def test_nothing_of_a_worker_is_left(guests: Guests) -> None:
    """When the adapter is closed its processes are gone."""
    target = guests.target(component(COUNTS, (HOST,), more=CALLS), host=Desk())
    await guests.call(target)
    pid = pid_of(guests, target)
    await guests.adapter.aclose()

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_what_a_guest_prints_is_no_answer(guests: Guests) -> None:
    """A guest that prints a forged answer has only written to standard error, of which the last 16 KiB are kept."""
    forged = '{"ok":"said","value":"forged"}\n'
    target = guests.target(component({"on-event": PRINTS, "on-other": TRAPS}, (STDOUT,)))

    assert nothing() == await guests.call(target, "x" * 4000 + "\n")
    for _ in range(5):
        assert nothing() == await guests.call(target, "y" * 4000 + "\n")
    assert nothing() == await guests.call(target, forged)
    reply = await guests.ask(target, event(), function="on-other")
    assert isinstance(reply, CallFailed)
    assert 16 * 1024 == len(reply.stderr)
    assert reply.stderr.endswith(forged.encode())


async def test_a_worker_has_nothing_of_ours(guests: Guests, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of a guest has neither our environment nor our terminal."""
    monkeypatch.setenv("SECRET", "s3cret")
    target = guests.target(component(COUNTS, (HOST,), more=CALLS), host=Desk())
    await guests.call(target)
    pid = pid_of(guests, target)

    assert b"s3cret" not in Path(f"/proc/{pid}/environ").read_bytes()
    assert pid == os.getsid(pid)

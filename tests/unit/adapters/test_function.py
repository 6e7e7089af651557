"""Calling Python handlers: on the loop where they are coroutines, off it where they are not."""

import asyncio
import contextvars
import functools
import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.unit.adapters.rig import EVENT

from hookline._core.decisions import Deny
from hookline._core.events import BeforeRun
from hookline._core.payload import CallFailed, Limits, Payload, Reply, Returned
from hookline._core.reasons import Failure
from hookline._core.targets import FunctionTarget
from hookline.adapters import _workers
from hookline.adapters.function import FunctionAdapter

tenant = contextvars.ContextVar("tenant", default="none")

TIMED_OUT = CallFailed(why=Failure.TIMEOUT, detail="hook timed out after 50ms")


@pytest.fixture
async def functions() -> AsyncIterator[FunctionAdapter]:
    adapter = FunctionAdapter()
    yield adapter
    await adapter.aclose()


async def call(adapter: FunctionAdapter, handler: Any, within: float = 10, event: BeforeRun = EVENT) -> Reply:
    return await adapter.call(FunctionTarget(handler), Payload(event), Limits(within))


class Held:
    """A handler that is in the middle of its work until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.ended = threading.Event()
        self.thread = threading.current_thread()

    def __call__(self, event: BeforeRun) -> str:
        self.thread = threading.current_thread()
        self.begun.set()
        self.go_on.wait(10)
        self.ended.set()
        return "late"


async def joined(thread: threading.Thread) -> None:
    await asyncio.to_thread(thread.join, 10)
    assert not thread.is_alive()


# Which way a handler is called


class Guard:
    def sync_method(self, event: BeforeRun) -> object:
        return threading.current_thread(), event

    async def async_method(self, event: BeforeRun) -> object:
        return threading.current_thread(), event


class SyncGuard:
    def __call__(self, event: BeforeRun) -> object:
        return threading.current_thread(), event


class AsyncGuard:
    async def __call__(self, event: BeforeRun) -> object:
        return threading.current_thread(), event


def sync_function(event: BeforeRun) -> object:
    return threading.current_thread(), event


async def async_function(event: BeforeRun) -> object:
    return threading.current_thread(), event


@pytest.mark.parametrize(
    "handler",
    [async_function, Guard().async_method, AsyncGuard(), functools.partial(async_function)],
    ids=["function", "method", "object", "partial"],
)
async def test_coroutine_functions_run_on_the_loop(functions: FunctionAdapter, handler: Any) -> None:
    """Whatever is a coroutine function, in any guise, runs in the loop's thread, with the event itself."""
    assert await call(functions, handler) == Returned((threading.current_thread(), EVENT))


@pytest.mark.parametrize(
    "handler",
    [sync_function, Guard().sync_method, SyncGuard(), functools.partial(sync_function)],
    ids=["function", "method", "object", "partial"],
)
async def test_other_callables_run_off_the_loop(functions: FunctionAdapter, handler: Any) -> None:
    """Whatever is none runs in a daemon thread, with the event itself."""
    reply = await call(functions, handler)

    assert isinstance(reply, Returned)
    assert isinstance(reply.value, tuple)
    thread, event = reply.value
    assert event is EVENT
    assert thread is not threading.current_thread()
    assert thread.daemon


@pytest.mark.parametrize("suspends", [False, True])
async def test_what_a_function_returns_is_awaited(functions: FunctionAdapter, suspends: bool) -> None:
    """A plain callable that returns a coroutine has it awaited, on the loop."""

    async def answer() -> object:
        await asyncio.sleep(0 if suspends else -1)
        return threading.current_thread()

    assert await call(functions, lambda _: answer()) == Returned(threading.current_thread())


async def test_what_a_function_returns_shares_its_deadline(functions: FunctionAdapter) -> None:
    """A returned awaitable has what is left of the same time, not as much again."""
    assert await call(functions, lambda _: asyncio.sleep(10), within=0.05) == TIMED_OUT


async def test_any_value_is_returned_as_it_is(functions: FunctionAdapter) -> None:
    """What a handler returns is for others to understand, however odd."""
    odd = object()

    async def handler(event: BeforeRun) -> object:
        return odd

    assert await call(functions, lambda _: odd) == Returned(odd)
    assert await call(functions, handler) == Returned(odd)
    assert await call(functions, lambda _: Deny("no")) == Returned(Deny("no"))


# What goes wrong


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (ValueError("bad\n  input"), "ValueError: bad input"),
        (KeyError("x"), "KeyError: 'x'"),
        (ValueError(), "ValueError"),
        (ValueError("a\ud800b"), r"ValueError: a\ud800b"),
        (TimeoutError("mine"), "TimeoutError: mine"),
        (SystemExit(1), "SystemExit: 1"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (asyncio.CancelledError(), "CancelledError"),
        (StopIteration(1), "StopIteration: 1"),
        (Unprintable(), "Unprintable"),
        (ValueError("x" * 5000), "ValueError: " + "x" * 988),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
async def test_raising_in_a_thread_is_a_crash(functions: FunctionAdapter, error: BaseException, detail: str) -> None:
    """Whatever a plain callable raises is one line of valid text; nothing of it reaches the host."""

    def handler(event: BeforeRun) -> None:
        raise error

    assert await call(functions, handler) == CallFailed(why=Failure.CRASHED, detail=detail)


async def test_a_handler_that_takes_nothing_is_a_crash(functions: FunctionAdapter) -> None:
    """A handler that cannot be called with an event fails like one that raises."""

    async def coroutine_function() -> None: ...

    for handler in (coroutine_function, lambda: None):
        reply = await call(functions, handler)
        assert isinstance(reply, CallFailed)
        assert reply.why is Failure.CRASHED
        assert reply.detail.startswith("TypeError: ")


async def test_a_thread_that_hangs_is_left_behind(functions: FunctionAdapter) -> None:
    """At the deadline the call returns, however long its thread goes on, and the late result goes nowhere."""
    held = Held()

    assert await call(functions, held, within=0.05) == TIMED_OUT
    assert not held.ended.is_set()

    held.go_on.set()
    await asyncio.to_thread(held.ended.wait, 10)
    assert await call(functions, lambda _: "next") == Returned("next")


async def test_the_loop_runs_while_a_handler_blocks(functions: FunctionAdapter) -> None:
    """A plain callable that blocks does not stop the loop."""
    held = Held()
    task = asyncio.create_task(call(functions, held))
    await asyncio.to_thread(held.begun.wait, 10)
    assert await call(functions, async_function) == Returned((threading.current_thread(), EVENT))
    held.go_on.set()

    assert await task == Returned("late")


async def test_cancelling_does_not_wait_for_a_thread(functions: FunctionAdapter) -> None:
    """A cancelled call ends at once; its thread, which cannot be killed, is left behind."""
    held = Held()
    task = asyncio.create_task(call(functions, held))
    await asyncio.to_thread(held.begun.wait, 10)
    task.cancel()
    await asyncio.wait({task})

    assert task.cancelled()
    assert not held.ended.is_set()
    held.go_on.set()


# Threads


async def test_threads_are_used_again(functions: FunctionAdapter) -> None:
    """One call after the other needs one thread."""
    threads = set()
    for _ in range(20):
        reply = await call(functions, lambda _: threading.get_ident())
        threads.add(reply)

    assert len(threads) == 1


async def test_a_thread_for_each_at_once(functions: FunctionAdapter) -> None:
    """Calls at the same time do not wait for one another."""
    meeting = threading.Barrier(10)

    replies = await asyncio.gather(*(call(functions, lambda _: meeting.wait(10) >= 0) for _ in range(10)))

    assert replies == [Returned(value=True)] * 10


async def test_beyond_the_most_calls_wait(functions: FunctionAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    """More calls than threads wait for one to be free, in order, and the wait counts as theirs."""
    monkeypatch.setattr(_workers, "MOST", 2)
    held = [Held(), Held()]
    running = [asyncio.create_task(call(functions, handler)) for handler in held]
    for handler in held:
        await asyncio.to_thread(handler.begun.wait, 10)
    ran = []
    waiting = asyncio.create_task(call(functions, lambda _: ran.append("waited")))

    assert await call(functions, lambda _: ran.append("given up"), within=0.05) == TIMED_OUT
    for handler in held:
        handler.go_on.set()
    assert await asyncio.gather(*running, waiting) == [Returned("late"), Returned("late"), Returned(None)]
    assert ran == ["waited"]


async def test_hanging_threads_are_replaced(functions: FunctionAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many handlers hang, the next call has a thread; those that come back late end."""
    monkeypatch.setattr(_workers, "MOST", 2)
    held = [Held() for _ in range(5)]
    for handler in held:
        assert await call(functions, handler, within=0.05) == TIMED_OUT

    assert await call(functions, lambda _: "next") == Returned("next")
    for handler in held:
        handler.go_on.set()
    for handler in held:
        await joined(handler.thread)


async def test_no_thread_to_be_had(functions: FunctionAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no thread left the handler could not be started."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        assert await call(functions, sync_function) == CallFailed(
            why=Failure.COULD_NOT_START, detail="worker thread: can't start new thread"
        )
    assert await call(functions, lambda _: "next") == Returned("next")


async def test_the_context_is_a_copy(functions: FunctionAdapter) -> None:
    """A plain callable sees the caller's context variables; what it sets stays in its thread."""

    def handler(event: BeforeRun) -> str:
        seen = tenant.get()
        tenant.set("theirs")
        return seen

    tenant.set("ours")

    assert await call(functions, handler) == Returned("ours")
    assert tenant.get() == "ours"


@pytest.mark.parametrize("ends", ["answers", "raises", "times out while it waits"])
async def test_an_idle_thread_keeps_no_event_alive(
    functions: FunctionAdapter, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """Once a call is over nothing in the pool refers to its event or its handler."""

    class Handler:
        def __call__(self, event: BeforeRun) -> None:
            if ends == "raises":
                raise ValueError(event)

    monkeypatch.setattr(_workers, "MOST", 1)
    held = Held()
    handler = Handler()
    seen = weakref.ref(handler)
    if ends == "times out while it waits":
        task = asyncio.create_task(call(functions, held))
        await asyncio.to_thread(held.begun.wait, 10)
        assert await call(functions, handler, within=0.05) == TIMED_OUT
        held.go_on.set()
        await task
    else:
        await call(functions, handler)
    await call(functions, sync_function)  # by the same and only thread, which is therefore done with the others
    del handler
    gc.collect()

    assert seen() is None


HANGING_HOST = """
import asyncio, time
from hookline._core.payload import Limits, Payload
from hookline._core.targets import FunctionTarget
from hookline.adapters.function import FunctionAdapter
target = FunctionTarget(lambda event: time.sleep(300))
print(asyncio.run(FunctionAdapter().call(target, Payload(None), Limits(0.05))))
"""


def test_a_hanging_thread_does_not_stop_the_exit() -> None:
    """A program whose handler hangs in a thread exits all the same."""
    start = time.monotonic()
    run = subprocess.run([sys.executable, "-c", HANGING_HOST], capture_output=True, check=True, text=True, timeout=15)

    assert run.stdout == f"{TIMED_OUT}\n"
    assert time.monotonic() - start < 15


def test_one_adapter_serves_several_loops() -> None:
    """An adapter that was used in a loop that ended works in the next."""
    adapter = FunctionAdapter()
    for _ in range(2):
        assert asyncio.run(call(adapter, lambda _: "fine")) == Returned("fine")
    asyncio.run(adapter.aclose())


async def test_a_closed_adapter_calls_nobody(functions: FunctionAdapter) -> None:
    """After closing no handler is called, and idle threads end."""
    before = set(threading.enumerate())  # other engines in this process may have threads of their own
    await call(functions, sync_function)
    idle = set(threading.enumerate()) - before
    await functions.aclose()

    for handler in (sync_function, async_function):
        reply = await call(functions, handler)
        assert isinstance(reply, CallFailed)
        assert reply.why is Failure.COULD_NOT_START
    for thread in idle:
        await joined(thread)

"""Calling handlers by their names: looked up when they are called, and called as any handler is."""

import asyncio
import functools
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.unit.adapters.rig import EVENT

from hookline._core.decisions import Deny
from hookline._core.handlers import Handlers
from hookline._core.payload import CallFailed, Limits, Payload, Reply, Returned
from hookline._core.reasons import Failure
from hookline._core.targets import NamedTarget
from hookline.adapters import builtin
from hookline.adapters.function import NamedAdapter

GUARD = NamedTarget("guard")
TIMED_OUT = CallFailed(why=Failure.TIMEOUT, detail="hook timed out after 50ms")


@pytest.fixture
def handlers() -> Handlers:
    return Handlers()


@pytest.fixture
async def named(handlers: Handlers) -> AsyncIterator[NamedAdapter]:
    adapter = NamedAdapter(handlers)
    yield adapter
    await adapter.aclose()


async def call(adapter: NamedAdapter, *, within: float = 10, value: Any = None) -> Reply:
    return await adapter.call(GUARD, Payload(EVENT, value=value), Limits(within))


def where_sync(given: Any) -> Any:
    return threading.current_thread() is threading.main_thread(), given


async def where_async(given: Any) -> Any:
    return threading.current_thread() is threading.main_thread(), given


class SyncGuard:
    def __call__(self, given: Any) -> Any:
        return where_sync(given)


class AsyncGuard:
    async def __call__(self, given: Any) -> Any:
        return where_sync(given)


async def test_missing(named: NamedAdapter, handlers: Handlers) -> None:
    """A name that nobody has cannot be started, in the words of the dialect, whoever else is there."""
    handlers.register("other", where_sync)

    assert CallFailed(why=Failure.COULD_NOT_START, detail="in-process handler 'guard' not registered") == await call(
        named
    )


async def test_it_is_looked_up_when_it_is_called(named: NamedAdapter, handlers: Handlers) -> None:
    """A handler that comes later is called from then on, and the one that takes its place after it."""
    assert isinstance(await call(named), CallFailed)
    for text in ("one", "two"):
        handlers.register("guard", functools.partial(lambda said, _: Deny(said), text))
        assert Returned(Deny(text)) == await call(named)


@pytest.mark.parametrize(
    ("handler", "on_the_loop"),
    [
        (where_sync, False),
        (where_async, True),
        (SyncGuard(), False),
        (AsyncGuard(), True),
        (functools.partial(where_sync), False),
        (functools.partial(where_async), True),
    ],
    ids=["function", "coroutine", "object", "object with a coroutine", "partial", "partial of a coroutine"],
)
async def test_a_handler_runs_where_its_kind_does(
    handler: Any, on_the_loop: bool, named: NamedAdapter, handlers: Handlers
) -> None:
    """A coroutine runs on the loop, anything else in a thread; either way its answer comes back as it is."""
    handlers.register("guard", handler)

    assert Returned((on_the_loop, EVENT)) == await call(named)


@pytest.mark.parametrize("value", [{"point": "run_started"}, {}, "", 0])
async def test_it_is_given_what_the_dialect_gives(value: Any, named: NamedAdapter, handlers: Handlers) -> None:
    """The handler has the dialect's own form of the event where there is one, else the event itself."""

    def give_back(given: Any) -> Any:
        return "given", given

    handlers.register("guard", give_back)

    assert Returned(("given", value)) == await call(named, value=value)
    assert Returned(("given", EVENT)) == await call(named)


async def test_what_a_handler_raises_is_a_failure(named: NamedAdapter, handlers: Handlers) -> None:
    """Sync or not, one that raises has crashed, and the text says with what."""

    async def break_down(given: Any) -> None:
        raise ValueError("boom")

    def break_down_in_a_thread(given: Any) -> None:
        raise ValueError("boom")

    for handler in (break_down, break_down_in_a_thread):
        handlers.register("guard", handler)
        reply = await call(named)
        assert isinstance(reply, CallFailed)
        assert (Failure.CRASHED, True) == (reply.why, "boom" in reply.detail)


async def test_a_sync_handler_is_held_to_its_limit(named: NamedAdapter, handlers: Handlers) -> None:
    """A thread that does not end has timed out for its caller, though it runs on."""
    go_on, ended = threading.Event(), threading.Event()

    def hang(given: Any) -> None:
        go_on.wait(10)
        ended.set()

    handlers.register("guard", hang)
    assert TIMED_OUT == await call(named, within=0.05)
    assert not ended.is_set()
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 10)


async def test_a_coroutine_is_held_to_its_limit(named: NamedAdapter, handlers: Handlers) -> None:
    """A coroutine that does not end is cancelled at its limit."""
    cancelled = asyncio.Event()

    async def hang(given: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    handlers.register("guard", hang)
    assert TIMED_OUT == await call(named, within=0.05)
    assert cancelled.is_set()


async def test_a_closed_one_calls_nobody(named: NamedAdapter, handlers: Handlers) -> None:
    """After its end the adapter starts nothing, by whatever name."""
    called: list[Any] = []
    handlers.register("guard", called.append)
    await named.aclose()

    reply = await call(named)
    assert isinstance(reply, CallFailed)
    assert Failure.COULD_NOT_START is reply.why
    assert [] == called


async def test_the_built_in_one_knows_the_handlers_that_are_given() -> None:
    """`builtin` calls those that its caller registered, before it or after it."""
    handlers = Handlers()
    adapters = builtin(handlers)
    handlers.register("guard", lambda _: Deny("no"))

    assert Returned(Deny("no")) == await adapters[NamedTarget].call(GUARD, Payload(EVENT), Limits(10))
    for adapter in adapters.values():
        await adapter.aclose()

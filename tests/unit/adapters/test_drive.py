"""A coroutine that is driven by hand behaves as one that is awaited."""

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

import anyio
import pytest
from tests.unit.adapters.rig import cancel_requests, driven

from hookline._core.payload import CallFailed, Returned
from hookline._core.reasons import Failure

colour = contextvars.ContextVar("colour", default="none")


def step_through(coroutine: Coroutine[Any, Any, object]) -> None:
    """Drive in this very task, so that what ends the loop itself comes out here."""
    while True:
        coroutine.send(None)


# What a handler may do between its start and its end, each with the value that it gives under a plain `await`.


async def nothing() -> object:
    return "nothing"


async def yields_to_the_loop() -> object:
    for _ in range(3):
        await asyncio.sleep(0)
    return "yielded"


async def sleeps() -> object:
    await asyncio.sleep(0.01)
    return "slept"


async def gathers() -> object:
    return await asyncio.gather(asyncio.sleep(0.01, "a"), yields_to_the_loop())


async def waits_for() -> object:
    return await asyncio.wait_for(sleeps(), 5)


async def waits_in_vain() -> object:
    try:
        return await asyncio.wait_for(asyncio.Event().wait(), 0.01)
    except TimeoutError:
        await asyncio.sleep(0)
        return "went on"


async def has_a_timeout_of_its_own() -> object:
    try:
        async with asyncio.timeout(0.01):
            return await asyncio.Event().wait()
    except TimeoutError:
        await asyncio.sleep(0)
        return f"went on with {cancel_requests()} requests"


async def has_nested_timeouts() -> object:
    expired = []
    for inner, outer in ((0.01, 5), (5, 0.01)):
        outer_limit, inner_limit = asyncio.timeout(outer), asyncio.timeout(inner)
        try:
            async with outer_limit, inner_limit:
                await asyncio.Event().wait()
        except TimeoutError:
            expired.append((inner_limit.expired(), outer_limit.expired()))
    return expired


async def has_an_anyio_timeout() -> object:
    with anyio.move_on_after(0.01) as scope:
        await anyio.sleep(5)
    await asyncio.sleep(0)
    return scope.cancelled_caught, cancel_requests()


async def groups_tasks() -> object:
    async with asyncio.TaskGroup() as group:
        one = group.create_task(sleeps())
        other = group.create_task(yields_to_the_loop())
    return one.result(), other.result()


async def groups_a_task_that_fails() -> object:
    seen: list[str] = []
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.Event().wait())
            group.create_task(fails_late())
    except ExceptionGroup as errors:
        await asyncio.sleep(0)
        seen += [str(error) for error in errors.exceptions]
    return seen


async def groups_anyio_tasks() -> object:
    seen = []

    async def see(what: str) -> None:
        await anyio.lowlevel.checkpoint()
        seen.append(what)

    async with anyio.create_task_group() as group:
        group.start_soon(see, "a")
        group.start_soon(see, "b")
    return sorted(seen)


async def knows_its_task() -> object:
    before = asyncio.current_task()
    await asyncio.sleep(0)
    return before is asyncio.current_task()


async def sets_a_context_variable() -> object:
    colour.set("red")
    await asyncio.sleep(0)
    return colour.get()


async def iterates() -> object:
    async def numbers() -> AsyncIterator[int]:
        for number in range(3):
            await asyncio.sleep(0)
            yield number

    return [number async for number in numbers()]


async def goes_to_a_thread() -> object:
    return await asyncio.to_thread(lambda: "from a thread")


async def catches_what_is_thrown_in() -> object:
    doomed: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(doomed.set_exception, ValueError("thrown in"))
    try:
        return await doomed
    except ValueError as error:
        await asyncio.sleep(0)
        return str(error)


async def fails_late() -> object:
    await asyncio.sleep(0)
    raise ValueError("late")


BEHAVIOURS = [
    nothing,
    yields_to_the_loop,
    sleeps,
    gathers,
    waits_for,
    waits_in_vain,
    has_a_timeout_of_its_own,
    has_nested_timeouts,
    has_an_anyio_timeout,
    groups_tasks,
    groups_a_task_that_fails,
    groups_anyio_tasks,
    knows_its_task,
    sets_a_context_variable,
    iterates,
    goes_to_a_thread,
    catches_what_is_thrown_in,
]


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
async def test_driving_is_awaiting(behaviour: Callable[[], Coroutine[Any, Any, object]]) -> None:
    """Whatever a handler does on the loop, it gets the same result as under `await`, and leaves the task as it was."""
    before = cancel_requests()
    expected = await behaviour()
    left = cancel_requests() - before
    colour.set("none")

    assert await driven(behaviour()) == Returned(expected)
    assert cancel_requests() - before == 2 * left


async def test_the_task_is_the_callers() -> None:
    """The handler runs in the caller's task, before and after it first suspends."""

    async def handler() -> object:
        first = asyncio.current_task()
        await asyncio.sleep(0)
        return first, asyncio.current_task()

    here = asyncio.current_task()

    assert await driven(handler()) == Returned((here, here))


async def test_context_changes_are_the_callers() -> None:
    """A context variable that a handler sets is set for the caller, as under `await`."""
    await driven(sets_a_context_variable())

    assert colour.get() == "red"


async def test_no_suspension_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler that never suspends costs no timer."""
    armed: list[object] = []
    monkeypatch.setattr(asyncio.get_running_loop(), "call_at", lambda *arguments, **_: armed.append(arguments))

    await driven(nothing())

    assert armed == []


@pytest.mark.parametrize("suspensions", [0, 1, 2])
@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (ValueError("bad\n  input"), "ValueError: bad input"),
        (TimeoutError(), "TimeoutError"),
        (SystemExit(3), "SystemExit: 3"),
        (asyncio.CancelledError("from within"), "CancelledError: from within"),
        (ExceptionGroup("several", [ValueError("a")]), "ExceptionGroup: several (1 sub-exception)"),
        (GeneratorExit(), "GeneratorExit"),
    ],
    ids=["value", "timeout", "exit", "cancelled", "group", "generator"],
)
async def test_raising_is_a_reply(suspensions: int, error: BaseException, detail: str) -> None:
    """Whatever a handler raises, at whichever step, is a crash: a timeout or a cancellation of its own included."""

    async def handler() -> object:
        for _ in range(suspensions):
            await asyncio.sleep(0)
        raise error

    assert await driven(handler()) == CallFailed(why=Failure.CRASHED, detail=detail)
    assert cancel_requests() == 0


@pytest.mark.parametrize("suspensions", [0, 1])
async def test_keyboard_interrupt_is_the_users(suspensions: int) -> None:
    """Ctrl-C is not the handler's misbehaviour, so it goes through."""

    async def handler() -> object:
        for _ in range(suspensions):
            await asyncio.sleep(0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        step_through(driven(handler()))


async def test_awaiting_something_cancelled_is_a_crash() -> None:
    """A handler whose own task was cancelled has crashed: nobody cancelled the caller."""

    async def handler() -> object:
        task = asyncio.ensure_future(asyncio.Event().wait())
        task.cancel()
        return await task

    assert await driven(handler()) == CallFailed(why=Failure.CRASHED, detail="CancelledError")


async def test_awaitables_are_resumed_with_what_they_are_sent() -> None:
    """Values that the loop sends into a handler arrive, whatever kind of awaitable asked for them."""

    class Echo:
        def __await__(self) -> Any:
            yield from asyncio.sleep(0).__await__()
            return "echo"

    async def handler(awaitable: Awaitable[object]) -> object:
        return await awaitable

    assert await driven(handler(Echo())) == Returned("echo")

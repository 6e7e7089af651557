"""A coroutine that is driven by hand ends at its deadline and with its caller."""

import asyncio
import contextlib
import time
from collections.abc import Coroutine
from typing import Any

import anyio
import pytest
from tests.unit.adapters.rig import cancel_requests, driven

from hookline._core.payload import CallFailed, Reply, Returned
from hookline._core.reasons import Failure
from hookline.adapters import _drive


def timed_out(milliseconds: int) -> CallFailed:
    return CallFailed(why=Failure.TIMEOUT, detail=f"hook timed out after {milliseconds}ms")


@pytest.fixture
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_drive, "PATIENCE", 0.05)


async def test_deadline_cancels_the_handler() -> None:
    """At its deadline a handler is cancelled, its cleanup runs, and the caller's task is as before."""
    cleaned = []

    async def handler() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    assert await driven(handler(), within=0.02) == timed_out(20)
    assert cleaned == [True]
    assert cancel_requests() == 0


async def test_deadline_reaches_child_tasks() -> None:
    """Tasks of a group inside the handler are cancelled with it."""
    ended = []

    async def child() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append(True)
            raise

    async def handler() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(child())
            group.create_task(child())

    assert await driven(handler(), within=0.02) == timed_out(20)
    assert ended == [True, True]


@pytest.mark.parametrize(
    ("within", "expected"),
    [(0.02, timed_out(20)), (5, CallFailed(why=Failure.CRASHED, detail="TimeoutError"))],
    ids=["at once", "earlier"],
)
async def test_deadline_and_a_timeout_of_the_handler(within: float, expected: CallFailed) -> None:
    """A handler's own limit, at the same instant or earlier, neither hides our deadline nor is taken for it."""

    async def handler() -> None:
        async with asyncio.timeout(0.02):
            await asyncio.Event().wait()

    assert await driven(handler(), within) == expected
    assert cancel_requests() == 0


@pytest.mark.parametrize("suspends", [False, True])
async def test_a_late_result_does_not_count(suspends: bool) -> None:
    """A handler that blocks the loop past its deadline and then answers has timed out."""

    async def handler() -> object:
        if suspends:
            await asyncio.sleep(0)
        time.sleep(0.03)  # noqa: ASYNC251 - blocking the loop is the fault under test
        return "too late"

    assert await driven(handler(), within=0.02) == timed_out(20)


async def test_raising_because_of_the_deadline_is_a_timeout() -> None:
    """What a handler makes of its cancellation at the deadline does not matter: the deadline came first."""

    async def handler() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("interrupted") from None

    assert await driven(handler(), within=0.02) == timed_out(20)


async def test_a_swallowed_deadline_closes_the_handler(short_patience: None) -> None:
    """A handler that goes on after its deadline is closed once patience ends, and the call returns."""
    closed = []

    async def handler() -> object:
        try:
            while True:
                try:
                    await asyncio.sleep(5)
                except asyncio.CancelledError:
                    continue
        finally:
            closed.append(True)

    assert await driven(handler(), within=0.02) == timed_out(20)
    assert closed == [True]
    assert cancel_requests() == 0


async def test_a_handler_that_cannot_even_be_closed_is_dropped(short_patience: None) -> None:
    """A handler that swallows its own closing too does not keep the call from returning."""
    release = False

    async def handler() -> None:
        while not release:
            try:
                await asyncio.sleep(5)
            except BaseException:  # noqa: BLE001, S112 - swallowing everything is the fault under test
                continue

    coroutine = handler()
    assert await driven(coroutine, within=0.02) == timed_out(20)
    release = True
    coroutine.close()


async def test_patience_lets_cleanup_finish() -> None:
    """A cleanup that awaits after the deadline is left to finish within patience."""
    cleaned = []

    async def handler() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.02)
            cleaned.append(True)
            raise

    assert await driven(handler(), within=0.02) == timed_out(20)
    assert cleaned == [True]


async def cancelled_in(handler: Coroutine[Any, Any, object], started: asyncio.Event) -> asyncio.Task[Reply]:
    task = asyncio.create_task(driven(handler))
    await started.wait()
    task.cancel("enough")
    await asyncio.wait({task})
    return task


async def test_cancelling_the_caller_cancels_the_handler() -> None:
    """The caller's cancellation goes through the handler and comes out, message and all."""
    started, cleaned = asyncio.Event(), []

    async def handler() -> None:
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)

    task = await cancelled_in(handler(), started)

    with pytest.raises(asyncio.CancelledError, match="enough"):
        await task
    assert cleaned == [True]


async def test_the_callers_cancellation_may_be_swallowed() -> None:
    """A handler that catches the caller's cancellation keeps it from the caller, as under `await`."""
    started = asyncio.Event()

    async def handler() -> object:
        try:
            started.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "swallowed"

    assert await (await cancelled_in(handler(), started)) == Returned("swallowed")


async def test_a_swallowed_cancellation_does_not_lift_the_deadline(short_patience: None) -> None:
    """A handler that goes on after the caller's cancellation still ends at its deadline."""
    started = asyncio.Event()

    async def handler() -> object:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                started.set()
                await asyncio.Event().wait()

    task = asyncio.create_task(driven(handler(), within=0.1))
    await started.wait()
    task.cancel()

    assert await task == timed_out(100)


async def test_a_deadline_during_cleanup_does_not_hide_the_cancellation() -> None:
    """A caller that was cancelled is cancelled also where the handler's cleanup then ran into its deadline."""
    started = asyncio.Event()

    async def handler() -> None:
        try:
            started.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.Event().wait()

    task = asyncio.create_task(driven(handler(), within=0.1))
    await started.wait()
    task.cancel()
    await asyncio.wait({task})

    assert task.cancelled()


async def test_a_handler_may_cancel_its_caller() -> None:
    """A handler that stops the session it runs in, and so its caller's task, is not taken for a crash."""

    async def handler() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(5)

    task = asyncio.create_task(driven(handler()))
    await asyncio.wait({task})

    assert task.cancelled()


async def a_group_that_fails() -> None:
    """A task group whose task fails when nothing is left but to wait for it."""

    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("in a task")

    with contextlib.suppress(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.Event().wait())
            group.create_task(fail())


async def test_a_failed_group_does_not_look_like_a_cancellation() -> None:
    """A handler whose task group failed, which leaves a cancel request on its task, times out like any other."""

    async def handler() -> None:
        await a_group_that_fails()
        await asyncio.Event().wait()

    assert await asyncio.create_task(driven(handler(), within=0.1)) == timed_out(100)


async def test_a_limit_around_the_call_is_the_callers() -> None:
    """A timeout that the caller put around the call ends it as that timeout."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await driven(asyncio.Event().wait())
    assert cancel_requests() == 0


async def test_an_anyio_scope_around_the_call_is_the_callers() -> None:
    """An anyio scope around the call recognises its own cancellation when it comes out of the handler."""
    with anyio.move_on_after(0.02) as scope:
        await driven(asyncio.Event().wait())

    assert scope.cancelled_caught
    assert cancel_requests() == 0


async def test_caller_and_deadline_at_once() -> None:
    """Where the caller's limit and the deadline pass together, the caller's wins."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await driven(asyncio.Event().wait(), within=0.02)
    assert cancel_requests() == 0


async def test_requests_from_before_stay() -> None:
    """A caller that was cancelled before and cleans up through a handler gets the reply, not its old cancellation."""

    async def caller(started: asyncio.Event) -> Reply:
        try:
            started.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return await driven(asyncio.sleep(0.01, "slept"))
        return Returned("not reached")

    started = asyncio.Event()
    task = asyncio.create_task(caller(started))
    await started.wait()
    task.cancel()

    assert await task == Returned("slept")


async def test_throwing_our_frame_away_closes_the_handler() -> None:
    """Closing a call, as an ending loop does, closes the handler that it drives."""
    closed = []

    async def handler() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    coroutine = driven(handler())
    coroutine.send(None)
    coroutine.close()

    assert closed == [True]

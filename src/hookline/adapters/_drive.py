"""Driving a handler's coroutine by hand, so that one that never suspends costs no timer and no task.

Everything happens in the caller's own task: `asyncio.current_task()`, context variables, and timeouts and task groups
inside the handler are what they would be under a plain `await`.
"""

import asyncio
import contextlib
import types
from collections.abc import Coroutine, Generator
from typing import Any

from hookline._core.payload import Limits, Reply, Returned
from hookline.adapters._limits import crashed, timed_out

# How long a handler may go on after its deadline: enough to let go of a connection, too little to be a hang.
PATIENCE = 1.0


async def drive(coroutine: Coroutine[Any, Any, object], limits: Limits, deadline: float) -> Reply:
    """The coroutine's result as a reply; *deadline* is loop time, and a result that comes after it is none.

    At the deadline the handler is cancelled. One that goes on regardless is closed after `PATIENCE` and never
    resumed. Raises CancelledError where the caller was cancelled and the handler let it through, as under `await`.
    """
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("an adapter is called from within a task")
    requests = task.cancelling()
    try:
        awaited = coroutine.send(None)
    except StopIteration as stop:
        reply: Reply = Returned(stop.value)
    except KeyboardInterrupt:  # the user's Ctrl-C
        raise
    except BaseException as error:  # noqa: BLE001 - whatever a handler raises is its reply
        reply = crashed(error)
    else:
        reply = await _drive_on(coroutine, awaited, _Limit(task, deadline, requests))
    return timed_out(limits) if task.get_loop().time() >= deadline else reply


async def _drive_on(coroutine: Coroutine[Any, Any, object], awaited: object, limit: "_Limit") -> Reply:
    """Drive a coroutine whose first step was made and which now waits for *awaited*."""
    try:
        return await _rest(coroutine, awaited, limit)
    except asyncio.CancelledError as error:
        if limit.explains(error):
            return crashed(error)  # it awaited something that was cancelled; or the deadline, which is said elsewhere
        raise
    finally:
        limit.lift()


class _Limit:
    """Cancels a task at a deadline and again `PATIENCE` later, and takes both back when it is lifted.

    It also knows whether anybody else wants the task cancelled. The number of requests alone does not tell: in Python
    3.11 and 3.12 a task group whose task failed may leave one behind. So it remembers what was thrown into the handler
    because of a request that was not ours.
    """

    __slots__ = ("_asked", "_cancelled", "_requests", "_requests_before", "_strikes", "_task", "_timer", "strikes")

    def __init__(self, task: asyncio.Task[Any], deadline: float, requests: int) -> None:
        self.strikes = 0
        self._task = task
        self._timer = task.get_loop().call_at(deadline, self._strike)
        self._requests_before = requests
        self._requests = requests  # as of the handler's last suspension or resumption, and how many of them were ours
        self._strikes = 0
        self._asked = False
        self._cancelled: asyncio.CancelledError | None = None

    def _strike(self) -> None:
        self.strikes += 1
        self._task.cancel()
        if self.strikes == 1:
            self._timer = self._task.get_loop().call_later(PATIENCE, self._strike)

    def suspended(self) -> None:
        """The handler has stopped to wait. It may have cancelled the task itself, as one that ends a session does."""
        requests = self._task.cancelling()
        self._asked = requests > self._requests
        self._requests, self._strikes = requests, self.strikes

    def resumed(self, thrown: BaseException | None) -> None:
        """The handler is about to go on, with *thrown* if anything is."""
        requests = self._task.cancelling()
        asked = self._asked or requests - self._requests > self.strikes - self._strikes
        if asked and isinstance(thrown, asyncio.CancelledError):
            self._cancelled = thrown
        self._requests = requests

    def explains(self, error: asyncio.CancelledError) -> bool:
        """Whether what came out of the handler is our doing or its own, and not the caller's cancellation."""
        if self._task.cancelling() - self.strikes <= self._requests_before:
            return True  # where another request came and went, it was a timeout inside the handler
        seen: BaseException | None = error
        while seen is not None and seen is not self._cancelled:
            seen = seen.__context__
        return seen is None

    def lift(self) -> None:
        self._timer.cancel()
        for _ in range(self.strikes):
            self._task.uncancel()


@types.coroutine
def _rest(coroutine: Coroutine[Any, Any, object], awaited: object, limit: _Limit) -> Generator[Any, Any, Reply]:
    """What `yield from` does, for a coroutine that has begun; after the second strike it is not resumed any more."""
    while True:
        thrown: BaseException | None = None
        value = None
        limit.suspended()
        try:
            value = yield awaited
        except BaseException as error:  # noqa: BLE001 - it is the handler's to see
            thrown = error
        limit.resumed(thrown)
        if isinstance(thrown, GeneratorExit) or limit.strikes > 1:
            with contextlib.suppress(BaseException):  # it had its time: what it says now goes nowhere
                coroutine.close()
            raise thrown or asyncio.CancelledError
        try:
            awaited = coroutine.send(value) if thrown is None else coroutine.throw(thrown)
        except StopIteration as stop:
            return Returned(stop.value)
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a handler raises is its reply
            return crashed(error)

"""Calls a Python callable of this process."""

import asyncio
import inspect
from types import CoroutineType
from typing import Any

from hookline._core.handlers import Handlers
from hookline._core.payload import Limits, Payload, Reply, Returned
from hookline._core.targets import FunctionTarget, Handler, NamedTarget, is_async
from hookline.adapters._drive import drive
from hookline.adapters._limits import closed, could_not_start, crashed, timed_out
from hookline.adapters._workers import Workers


class FunctionAdapter:
    """Calls the handler with the event itself.

    A coroutine function runs on the loop; like any code there, it stalls the loop for as long as it blocks. Anything
    else runs in a thread, and what it returns is awaited on the loop if it can be. Either way only what comes before
    the deadline counts. A coroutine is cancelled there, and closed a second later if it has not ended. A thread cannot
    be ended: one that hangs is abandoned, and does not keep the interpreter from exiting.
    """

    def __init__(self) -> None:
        self._workers = Workers()
        self._closed = False

    async def call(self, target: FunctionTarget, payload: Payload, limits: Limits) -> Reply:
        return await self.apply(target.handler, payload.event, limits, is_async=target.is_async)

    async def apply(self, handler: Handler, given: object, limits: Limits, *, is_async: bool) -> Reply:
        """The reply of *handler*, called with *given*."""
        if self._closed:
            return closed()
        deadline = asyncio.get_running_loop().time() + limits.timeout
        if not is_async:
            reply = await self._workers.call(handler, given, deadline)
            if reply is None:
                return timed_out(limits)
            if isinstance(reply, Returned) and inspect.isawaitable(reply.value):
                return await drive(_result_of(reply.value), limits, deadline)
            return reply
        try:
            awaitable: Any = handler(given)
        except Exception as error:  # noqa: BLE001 - such as a handler that takes no argument
            return crashed(error)
        if isinstance(awaitable, CoroutineType):
            return await drive(awaitable, limits, deadline)
        return await drive(_result_of(awaitable), limits, deadline)

    async def aclose(self) -> None:
        """Start nothing more, and let idle threads end."""
        self._closed = True
        self._workers.close()


class NamedAdapter:
    """Calls the handler that has the target's name by then, as FunctionAdapter does, with what the dialect gives it."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers
        self._calling = FunctionAdapter()

    async def call(self, target: NamedTarget, payload: Payload, limits: Limits) -> Reply:
        handler = self._handlers.get(target.name)
        if handler is None:
            return could_not_start(f"in-process handler '{target.name}' not registered")
        given = payload.event if payload.value is None else payload.value
        return await self._calling.apply(handler, given, limits, is_async=is_async(handler))

    async def aclose(self) -> None:
        """Start nothing more, and let idle threads end."""
        await self._calling.aclose()


async def _result_of(value: object) -> object:
    """A coroutine for what is none itself: another awaitable, or a plain value from a callable that is mislabelled."""
    return await value if inspect.isawaitable(value) else value

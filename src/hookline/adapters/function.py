"""Calls a Python callable of this process."""

import asyncio
import inspect
from types import CoroutineType

from hookline._core.payload import Limits, Payload, Reply, Returned
from hookline._core.targets import FunctionTarget
from hookline.adapters._drive import drive
from hookline.adapters._limits import closed, crashed, timed_out
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
        if self._closed:
            return closed()
        deadline = asyncio.get_running_loop().time() + limits.timeout
        handler = target.handler
        if not target.is_async:
            reply = await self._workers.call(handler, payload.event, deadline)
            if reply is None:
                return timed_out(limits)
            if isinstance(reply, Returned) and inspect.isawaitable(reply.value):
                return await drive(_result_of(reply.value), limits, deadline)
            return reply
        try:
            awaitable = handler(payload.event)
        except Exception as error:  # noqa: BLE001 - such as a handler that takes no argument
            return crashed(error)
        if isinstance(awaitable, CoroutineType):
            return await drive(awaitable, limits, deadline)
        return await drive(_result_of(awaitable), limits, deadline)

    async def aclose(self) -> None:
        """Start nothing more, and let idle threads end."""
        self._closed = True
        self._workers.close()


async def _result_of(value: object) -> object:
    """A coroutine for what is none itself: another awaitable, or a plain value from a callable that is mislabelled."""
    return await value if inspect.isawaitable(value) else value

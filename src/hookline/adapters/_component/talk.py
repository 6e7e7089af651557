"""Talking with a process in lines: what it says is cut into bounded lines, what it is told is written as it reads."""

import asyncio
import contextlib
import os
from typing import Any

from hookline._core.reasons import Failure
from hookline._core.strictjson import JsonFault, parse
from hookline.adapters._component.broken import Broken
from hookline.adapters._component.lines import LONGEST

DEEPEST = 64  # levels of a message: five times what an interface has
KEPT = 16 * 1024  # bytes of standard error, the last ones


class Hearing:
    """What a process says on its standard output. It may say one thing at a time, when it is its turn."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._unread = bytearray()
        self._searched = 0
        self._waiter: asyncio.Future[bytes] | None = None
        self._over: Broken | None = None

    def take(self, chunk: bytes) -> bool:
        """A sink of the process's: says whether it may go on."""
        self._unread += chunk
        end = self._unread.find(b"\n", self._searched)
        self._searched = len(self._unread)
        if end < 0 and len(self._unread) > LONGEST:
            detail = f"its line went over {LONGEST} bytes"
            self.close(Broken(Failure.OUTPUT_TOO_LARGE, detail, stream="stdout", size=len(self._unread)))
        elif end >= 0 and (self._waiter is None or self._waiter.done() or end + 1 < len(self._unread)):
            self.close(Broken(Failure.MALFORMED_ANSWER, "it spoke when it was not its turn"))
        elif end >= 0 and self._waiter is not None:
            said, self._unread, self._searched = bytes(self._unread[:end]), bytearray(), 0
            self._waiter.set_result(said)
        return self._over is None

    def expect(self) -> "asyncio.Future[bytes]":
        """Its next line. From now on it is its turn."""
        self._waiter = self._loop.create_future()
        if self._over is not None:
            self._tell(self._waiter, self._over)
        return self._waiter

    def close(self, reason: Broken) -> None:
        """Nothing more will be heard, or listened to."""
        self._over = self._over or reason
        if self._waiter is not None and not self._waiter.done():
            self._tell(self._waiter, self._over)

    @staticmethod
    def _tell(waiter: "asyncio.Future[bytes]", reason: Broken) -> None:
        waiter.set_exception(reason)
        waiter.exception()  # whoever waited may be gone: then nobody has to know


class Tail:
    """The last of what came."""

    def __init__(self) -> None:
        self.kept = b""

    def take(self, chunk: bytes) -> bool:
        self.kept = (self.kept + chunk)[-KEPT:]
        return True


class Telling:
    """The pipe that is a process's standard input. *fd* does not block, and is somebody else's to close."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._writable: asyncio.Future[None] | None = None
        self._closed = False

    async def write(self, data: bytes) -> None:
        """Raises BrokenPipeError once nobody reads."""
        rest = memoryview(data)
        while rest:
            if self._closed:
                raise BrokenPipeError
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(self._fd, rest) :]
                continue
            self._writable = self._loop.create_future()
            self._loop.add_writer(self._fd, self._wake)
            try:
                await self._writable
            finally:
                if not self._closed:
                    self._loop.remove_writer(self._fd)

    def close(self) -> None:
        """Before the descriptor is closed: nothing more is written to it."""
        self._closed = True
        if self._writable is not None:
            self._loop.remove_writer(self._fd)
            self._wake()

    def _wake(self) -> None:
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)


def message_of(said: bytes) -> dict[str, Any]:
    """A line, understood as a message. Raises Broken."""
    try:
        message = parse(said, max_bytes=LONGEST, max_depth=DEEPEST)
    except JsonFault as fault:
        raise malformed(f"its line is not JSON: {fault.message}") from None
    if not isinstance(message, dict):
        raise malformed("its line is no object")
    return message


def malformed(detail: str) -> Broken:
    return Broken(Failure.MALFORMED_ANSWER, detail)

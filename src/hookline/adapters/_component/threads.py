"""A daemon thread that does one thing after the other: what hangs in it stops neither the loop nor the exit."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Work = Callable[[], Any]


class OwnThread:
    """Does what one task has for it."""

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[tuple[Work, asyncio.Future[Any]] | None] = SimpleQueue()
        threading.Thread(target=self._work, name=name, daemon=True).start()

    def begin(self, work: Work) -> "asyncio.Future[Any]":
        """What *work* will return, or raise."""
        future = asyncio.get_running_loop().create_future()
        self._jobs.put((work, future))
        return future

    def end(self) -> None:
        """Let it end after what it does now."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, future = job
            settle: Callable[[Any], None]
            try:
                settle, outcome = future.set_result, work()
            except BaseException as error:  # noqa: BLE001 - it is whoever waits who has to know
                settle, outcome = future.set_exception, error
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                future.get_loop().call_soon_threadsafe(settle_once, future, settle, outcome)
            del job, work, future, settle, outcome  # an idle thread keeps nobody's event alive


def settle_once(future: "asyncio.Future[Any]", settle: Callable[[Any], None], outcome: Any) -> None:
    if not future.done():
        settle(outcome)

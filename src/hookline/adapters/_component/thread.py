"""A guest in this process, in a daemon thread of its own: the quickest way there and back.

No clock of its own runs here. The engine belongs to one target, whose guests are called one at a time, so its epoch is
only ever moved to interrupt the guest that is being called: at the deadline, and when nobody waits any more.
"""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

from wasmtime import Engine, Store
from wasmtime.component import Linker

from hookline._core.components import ComponentTarget
from hookline._core.guests import GuestCall
from hookline._core.reasons import Failure
from hookline.adapters._component.broken import Broken, closed
from hookline.adapters._component.compiled import Loaded
from hookline.adapters._component.exported import Inspected
from hookline.adapters._component.guest import START
from hookline.adapters._component.instance import Instance, limit
from hookline.adapters._component.linking import link, refuses
from hookline.adapters._component.threads import OwnThread, Work, settle_once


class Stopper:
    """Interrupts what one guest executes, now or later."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self.stopped = False

    def arm(self, store: Store) -> None:
        """Have *store* interrupted by the next epoch. Raises Broken if that was to be before."""
        with self._lock:
            if self.stopped:
                raise Broken(Failure.TIMEOUT, "it was stopped before it began")
            store.set_epoch_deadline(1)

    def stop(self) -> None:
        with self._lock:
            self.stopped = True
            self._engine.increment_epoch()


class ThreadGuest:
    """One instance and its thread, which alone uses its store."""

    def __init__(self, loaded: Loaded, inspected: Inspected, interface: str) -> None:
        self.interface = interface
        self.functions = inspected.exports[interface]
        self._loaded = loaded
        self._stopper = Stopper(loaded.engine)
        self._thread = OwnThread("hookline-component")
        self._waiting: asyncio.Future[Any] | None = None
        self._store: Store | None = None
        self._instance: Instance | None = None

    @property
    def ended(self) -> bool:
        return not self.alive

    @property
    def stderr(self) -> bytes:
        return b""

    @property
    def alive(self) -> bool:
        return not self._stopper.stopped

    async def start(self, target: ComponentTarget) -> None:
        """Instantiate it. Raises Broken."""
        try:
            await self._run(lambda: self._make(target), asyncio.get_running_loop().time() + START)
        except TimeoutError:
            raise Broken(Failure.COULD_NOT_START, f"it was not ready after {START:.0f} s") from None

    async def call(self, call: GuestCall, deadline: float) -> Mapping[str, Any]:
        answer: Mapping[str, Any] = await self._run(lambda: self._call(call), deadline)
        return answer

    async def end(self) -> None:
        if self._waiting is not None:
            settle_once(self._waiting, self._waiting.set_exception, closed())
        self._drop()

    def abandon(self) -> None:
        self._drop()

    async def _run(self, work: Work, deadline: float) -> Any:
        """What *work* returns. Unless it does in time, the guest is dropped at once, and its thread ends by itself."""
        self._waiting = future = self._thread.begin(work)
        loop = asyncio.get_running_loop()
        timer = loop.call_at(deadline, settle_once, future, future.set_exception, TimeoutError())
        try:
            result = await future
        except Broken as broken:
            if broken.why is not Failure.COULD_NOT_START or self._instance is None:
                self._drop()
            raise
        except BaseException:
            self._drop()
            raise
        finally:
            timer.cancel()
            self._waiting = None
        return result

    def _drop(self) -> None:
        if self.alive:
            self._stopper.stop()
            self._thread.end()

    def _make(self, target: ComponentTarget) -> None:
        """In the thread: the instance, in a store that has no other."""
        engine, component = self._loaded.engine, self._loaded.component
        store = Store(engine)
        self._stopper.arm(store)
        limit(store, target.limits)
        linker = Linker(engine)
        link(linker, engine, component, refuses, given=())
        self._instance = Instance(self._loaded, self.interface, store, linker)
        self._store = store

    def _call(self, call: GuestCall) -> Mapping[str, Any]:
        """In the thread."""
        assert self._instance is not None  # noqa: S101 - started first
        assert self._store is not None  # noqa: S101 - as above
        self._stopper.arm(self._store)
        return self._instance.call(call.function, call.argument)

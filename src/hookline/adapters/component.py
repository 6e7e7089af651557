"""Calls a WebAssembly component: the payload is one record for one function, the answer one case of a variant."""

import asyncio
import dataclasses
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from hookline._core.components import ComponentTarget, Lifetime
from hookline._core.guests import GuestCall
from hookline._core.payload import CallFailed, Limits, Payload, Reply, Yielded
from hookline._processes.watchdog import Watchdog
from hookline.adapters._component.broken import Broken
from hookline.adapters._component.exported import Inspected
from hookline.adapters._component.guest import Guest, as_failure, as_reply
from hookline.adapters._component.loading import Folder, Source, load_component
from hookline.adapters._component.serving import interface_of
from hookline.adapters._limits import closed, could_not_start, crashed, timed_out
from hookline.adapters._turns import Turns

__all__ = ["ComponentAdapter", "Inspected", "inspect"]

Answer = TypeVar("Answer")

MISSING = "function"  # the `stream` of the failure that says that the component has no such function


class ComponentAdapter:
    """Keeps one instance for each target, or makes one for each call, as the target has it.

    A component that only computes runs in a thread of this process. One that imports WASI, or something that its host
    serves, runs in a worker process, and so does a program in the place of one: these can wait, and are killed when
    their time is up. The deadline is that of the limits, for each call anew; making an instance is not charged to it,
    and neither is waiting for the call before.

    An instance is dropped when a call of it traps, goes over a limit, is late, is cancelled, or returns what cannot be
    read; so is what it kept in memory. The reply of the next call says that its instance is `fresh`.

    What is compiled is kept in *cache*, a folder that nobody else may enter; without one, until this is closed.
    """

    def __init__(self, watchdog: Watchdog, *, cache: Path | None = None) -> None:
        self._watchdog = watchdog
        self._folder = Folder(cache)
        self._turns = Turns()
        self._slots: dict[int, _Slot] = {}  # by identity: each keeps its target, so that no other gets its number
        self._closed = False

    async def call(self, target: ComponentTarget, payload: Payload, limits: Limits) -> Reply:
        if self._closed:
            return closed()
        if limits.timeout <= 0:
            return timed_out(limits)
        if not isinstance(payload.value, GuestCall):
            return could_not_start("there is no function that a component could be called by for this event")
        return await _never_raising(self._slot(target).call(payload.value, limits))

    async def prepare(self, target: ComponentTarget) -> Inspected | CallFailed:
        """Have an instance ready, or say why there is none. One for a single call is made then, not now."""
        return closed() if self._closed else await _never_raising(self._slot(target).prepare())

    async def aclose(self) -> None:
        """Start nothing more, end every instance, whatever it does, and forget what was compiled but for the cache."""
        self._closed = True
        slots, self._slots = self._slots, {}
        await asyncio.gather(*(slot.close() for slot in slots.values()))
        self._watchdog.close()
        self._folder.close()

    def _slot(self, target: ComponentTarget) -> "_Slot":
        slot = self._slots.get(id(target))
        if slot is None or slot.loop is not asyncio.get_running_loop():
            lost = slot is not None and slot.abandon()
            source = Source(target, self._folder, self._watchdog, self._turns)
            slot = self._slots[id(target)] = _Slot(source, lost=lost)
        return slot


async def inspect(path: Path, *, cache: Path | None = None) -> Inspected | CallFailed:
    """What the component in *path* exports and imports. It is compiled for that, and none of its code runs.

    *cache* is the folder of an adapter's.
    """
    folder = Folder(cache)
    try:
        return await _never_raising(_inspected(path, folder.path()))
    finally:
        folder.close()


class _Slot:
    """The instance of one target, in one event loop."""

    def __init__(self, source: Source, *, lost: bool) -> None:
        self.loop = asyncio.get_running_loop()
        self._source = source
        self._lock = asyncio.Lock()  # whoever comes first is served first
        self._guest: Guest | None = None
        self._lost = lost  # an instance that was called before, and what it kept in memory

    async def call(self, call: GuestCall, limits: Limits) -> Yielded | CallFailed:
        async with self._lock:
            if self._source.closed:
                return closed()
            guest = await self._ready()
            if call.function not in guest.functions:
                return _missing(call.function, guest.interface)
            fresh, self._lost = self._lost, False
            try:
                reply = await _reply_of(guest, call, limits)
            finally:
                await self._after(guest)
            return dataclasses.replace(reply, interface=guest.interface, fresh=fresh)

    async def prepare(self) -> Inspected | CallFailed:
        target = self._source.target
        async with self._lock:
            if self._source.closed:
                return closed()
            if target.lifetime is Lifetime.ONE_CALL and not target.program:
                found = await self._source.inspect()
                interface_of(found, target.interfaces)
                return found
            guest = await self._ready()
            if target.lifetime is Lifetime.ONE_CALL:
                await self._after(guest)
            if target.program:
                return Inspected(exports={guest.interface: guest.functions}, imports={})
            return await self._source.inspect()

    async def close(self) -> None:
        """End its instance, also one that is being called, or being made."""
        if self.loop is asyncio.get_running_loop():
            await self._source.close()
        else:
            self.abandon()

    def abandon(self) -> bool:
        """Let go of an instance whose loop is gone; says whether there was one."""
        self._source.abandon()
        return self._lost or self._guest is not None

    async def _ready(self) -> Guest:
        """The instance, or a new one. Raises Broken."""
        if self._guest is not None and not self._guest.alive:  # killed from outside, say
            self._guest, self._lost = None, True
        if self._guest is None:
            self._guest = await self._source.guest()
        return self._guest

    async def _after(self, guest: Guest) -> None:
        """After a call: drop an instance that is of no more use."""
        kept = self._source.target.lifetime is Lifetime.REUSED
        if guest.alive and kept:
            return
        self._guest, self._lost = None, kept
        if guest.alive:
            await guest.end()


def _missing(function: str, interface: str) -> CallFailed:
    detail = f"missing function {interface}#{function}"
    return dataclasses.replace(could_not_start(detail), stream=MISSING, interface=interface)


async def _reply_of(guest: Guest, call: GuestCall, limits: Limits) -> Yielded | CallFailed:
    deadline = asyncio.get_running_loop().time() + limits.timeout
    try:
        return as_reply(await guest.call(call, deadline))
    except TimeoutError:
        failure = timed_out(limits)
    except Broken as broken:
        failure = as_failure(broken)
    return dataclasses.replace(failure, stderr=guest.stderr)


async def _inspected(path: Path, folder: Path) -> Inspected:
    return (await load_component(path, folder))[1]


async def _never_raising(answer: Awaitable[Answer]) -> Answer | CallFailed:
    try:
        return await answer
    except Broken as broken:
        return as_failure(broken)
    except Exception as error:  # noqa: BLE001 - a fault of ours, or of the library: for the caller it is a failed call
        return crashed(error)

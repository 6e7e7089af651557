"""From a target to a guest that is ready."""

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hookline._core.components import ComponentTarget
from hookline._processes.watchdog import Watchdog
from hookline.adapters._component.broken import Broken, closed, unusable
from hookline.adapters._component.exported import Inspected
from hookline.adapters._component.guest import Guest
from hookline.adapters._component.process import start_program, start_worker
from hookline.adapters._component.serving import interface_of
from hookline.adapters._component.setup import setup_of, worker_argv
from hookline.adapters._component.source import read_component
from hookline.adapters._component.threads import OwnThread, settle_once
from hookline.adapters._turns import Turns

if TYPE_CHECKING:
    from hookline.adapters._component.compiled import Loaded

NO_WASMTIME = "components need wasmtime, which is not installed: pip install 'hookline[wasm]'"


class Folder:
    """Where compiled components are kept: *path*, or a private folder that goes when this is closed."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._own: tempfile.TemporaryDirectory[str] | None = None

    def path(self) -> Path:
        if self._path is not None:
            return self._path
        if self._own is None:
            self._own = tempfile.TemporaryDirectory(prefix="hookline-")
        return Path(self._own.name)

    def close(self) -> None:
        if self._own is not None:
            self._own.cleanup()
            self._own = None


class Source:
    """What the guests of one target are made from. A component is compiled once, when the first is made."""

    def __init__(self, target: ComponentTarget, folder: Folder, watchdog: Watchdog, turns: Turns) -> None:
        self.target = target
        self._folder = folder
        self._watchdog = watchdog
        self._turns = turns
        self._loading: asyncio.Future[tuple[Loaded, Inspected]] | None = None
        self._guests: list[Guest] = []  # those that may not have ended
        self.closed = False

    async def inspect(self) -> Inspected:
        """What the component has. None of its code runs. Raises Broken."""
        return (await self._load())[1]

    async def guest(self) -> Guest:
        """One that is ready, and has all that is required of its interface. Raises Broken."""
        self._guests = [guest for guest in self._guests if not guest.ended]
        if self.target.program:
            return await self._program()
        loaded, inspected = await self._load()
        interface = interface_of(inspected, self.target.interfaces)
        host = self.target.host
        if inspected.asks_for_wasi or (host is not None and inspected.asks_for(host.imports())):
            return await self._worker(loaded, inspected, interface)
        return await self._thread(loaded, inspected, interface)

    async def close(self) -> None:
        """Make no more, end all of them, and whoever waits for one."""
        self.closed = True
        if self._loading is not None:
            settle_once(self._loading, self._loading.set_exception, closed())
        await asyncio.gather(*(guest.end() for guest in self._guests))

    def abandon(self) -> None:
        """The same where the loop is gone."""
        for guest in self._guests:
            guest.abandon()

    async def _load(self) -> "tuple[Loaded, Inspected]":
        if self._loading is None or (self._loading.done() and not _came(self._loading)):
            self._loading = load_component(self.target.path, self._folder.path())
        return await self._loading

    async def _thread(self, loaded: "Loaded", inspected: Inspected, interface: str) -> Guest:
        from hookline.adapters._component.thread import ThreadGuest

        guest = ThreadGuest(loaded, inspected, interface)
        self._guests.append(guest)
        await guest.start(self.target)
        return guest

    async def _worker(self, loaded: "Loaded", inspected: Inspected, interface: str) -> Guest:
        await self._turn()
        guest = start_worker(worker_argv(), self.target, self._watchdog)
        self._guests.append(guest)
        try:
            await guest.start(setup_of(self.target, inspected, interface, key=loaded.key, folder=self._folder.path()))
        except Broken:
            self._loading = None  # its compiled form may be gone: next time it is made anew
            raise
        return guest

    async def _program(self) -> Guest:
        await self._turn()
        guest = start_program(self.target, self._watchdog)
        self._guests.append(guest)
        await guest.start(None)
        try:
            interface_of(Inspected(exports={guest.interface: guest.functions}, imports={}), self.target.interfaces)
        except Broken:
            await guest.end()
            raise
        return guest

    async def _turn(self) -> None:
        await self._turns.next()
        if not self._watchdog.ready:
            self._watchdog.start()
            await self._turns.next()
        if self.closed:
            raise closed()


def load_component(path: Path, folder: Path) -> "asyncio.Future[tuple[Loaded, Inspected]]":
    """Read and compile, in a thread that takes as long as it takes. The future may raise Broken."""
    thread = OwnThread("hookline-compiler")
    future = thread.begin(lambda: _load(path, folder))
    thread.end()
    return future


def _load(path: Path, folder: Path) -> "tuple[Loaded, Inspected]":
    data = read_component(path)
    try:
        from hookline.adapters._component.compiled import load
        from hookline.adapters._component.linking import inspected
    except ImportError:
        raise unusable(NO_WASMTIME) from None
    loaded = load(data, folder)
    return loaded, inspected(loaded.engine, loaded.component)


def _came(loading: "asyncio.Future[tuple[Loaded, Inspected]]") -> bool:
    return not loading.cancelled() and loading.exception() is None

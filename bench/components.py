"""Component hooks: a call, recovery after a trap, and loading, beside raw wasmtime in the same run."""

import asyncio
import contextlib
import gc
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from figures import TARGETS, interleaved, median, p95, print_heading, print_table, target
from wasmtime import Config, Engine, Store, WasmtimeError
from wasmtime import component as wasm

import hookline as hl
from hookline._core.guests import GuestCall
from hookline._core.payload import CallFailed, Limits, Payload, Yielded
from hookline._core.targets import ComponentTarget
from hookline._processes.watchdog import ShellWatchdog
from hookline.adapters.component import ComponentAdapter
from hookline.dialects.murmur.interfaces import CURRENT, INTERFACES

ROOT = Path(__file__).parent.parent
SCRIPTED = ROOT / "tests" / "components" / "scripted" / "scripted.wasm"
DEBUG = ROOT / "src" / "hookline" / "shipped" / "murmur-hook-debug" / "capsule.wasm"  # it imports WASI
MARK, ROOM = b"@@SCRIPT@@", 4096

CALLS = 2000
TRAPS = 100
LOADS = 10
LIMITS = Limits(timeout=5.0)

Call = Callable[[], Awaitable[object]]


class Record(wasm.Record):
    def __init__(self, fields: dict[str, object]) -> None:
        self.__dict__.update(fields)


def scripted(script: str, folder: Path) -> Path:
    """A component that does what *script* says (tests/components/scripted)."""
    data = SCRIPTED.read_bytes()
    start = data.index(MARK)
    path = folder / f"{abs(hash(script))}.wasm"
    path.write_bytes(data[:start] + script.encode().ljust(ROOM, b"\0") + data[start + ROOM :])
    return path


def event(size: int) -> dict[str, object]:
    """A tool event of about *size* bytes."""
    text = "x" * (size - 100)
    return {"turn": 1, "tool-name": "deploy", "input-bytes": len(text), "input": text, "outcome": None}


class Raw:
    """wasmtime by itself: one instance, its types reflected at each call, no deadline."""

    def __init__(self, path: Path) -> None:
        config = Config()
        config.epoch_interruption = True
        self.engine = Engine(config)
        self.component = wasm.Component(self.engine, path.read_bytes())
        self.linker = wasm.Linker(self.engine)
        self.index = self.component.get_export_index("on-tool-call", self.component.get_export_index(CURRENT.name))
        self.renew()

    def renew(self) -> None:
        self.store = Store(self.engine)
        self.store.set_epoch_deadline(1_000_000)
        self.function = self.linker.instantiate(self.store, self.component).get_func(self.store, self.index)

    def call(self, record: Record) -> object:
        answer = self.function(self.store, record)
        self.function.post_return(self.store)
        return answer


def target_of(path: Path) -> ComponentTarget:
    return ComponentTarget(subject="hook", path=path, interfaces=INTERFACES)


async def calls(folder: Path, size: int) -> dict[str, list[float]]:
    """Microseconds of every call, in this process and, of a component that imports WASI, in a worker's."""
    path = scripted("", folder)
    adapter, fields = ComponentAdapter(ShellWatchdog()), event(size)
    payload = Payload(event=hl.BeforeRun(prompt="go"), value=GuestCall(function="on-tool-call", argument=fields))
    raw, record = Raw(path), Record(fields)
    here, there = target_of(path), target_of(DEBUG)

    async def by_hookline(called: ComponentTarget) -> None:
        reply = await adapter.call(called, payload, LIMITS)
        if not isinstance(reply, Yielded):
            raise TypeError(f"no answer: {reply}")

    async def by_wasmtime() -> None:
        raw.call(record)

    cases: dict[str, Call] = {
        "wasmtime": by_wasmtime,
        "hookline, in process": lambda: by_hookline(here),
        "hookline, worker": lambda: by_hookline(there),
    }
    try:
        return await sampled(cases, CALLS)
    finally:
        await adapter.aclose()


async def sampled(cases: dict[str, Call], rounds: int) -> dict[str, list[float]]:
    for name in interleaved(cases, 50):
        await cases[name]()
    gc.collect()
    gc.freeze()
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for name in interleaved(cases, rounds):
        begun = time.perf_counter()
        await cases[name]()
        samples[name].append((time.perf_counter() - begun) * 1_000_000)
    return samples


async def recoveries(folder: Path) -> dict[str, list[float]]:
    """Microseconds from a call that trapped to the end of the next one, which a fresh instance answers."""
    trapping = scripted("on-session-end=trap\n", folder)
    adapter, raw = ComponentAdapter(ShellWatchdog()), Raw(trapping)
    here, record = target_of(trapping), Record(event(1024))
    end = {
        "total-turns": 0,
        "total-input-tokens": 0,
        "total-output-tokens": 0,
        "total-tool-calls": 0,
        "total-shell-calls": 0,
        "duration-ms": 0,
        "exit-status": "ok",
    }
    trap = Payload(event=hl.BeforeRun(prompt="go"), value=GuestCall(function="on-session-end", argument=end))
    works = Payload(event=hl.BeforeRun(prompt="go"), value=GuestCall(function="on-tool-call", argument=event(1024)))
    end_index = raw.component.get_export_index("on-session-end", raw.component.get_export_index(CURRENT.name))
    taken: dict[str, list[float]] = {"wasmtime": [], "hookline": []}
    try:
        for _ in range(TRAPS):
            with contextlib.suppress(WasmtimeError):
                function = raw.linker.instantiate(raw.store, raw.component).get_func(raw.store, end_index)
                function(raw.store, Record(end))
            begun = time.perf_counter()
            raw.renew()
            raw.call(record)
            taken["wasmtime"].append((time.perf_counter() - begun) * 1_000_000)
            reply = await adapter.call(here, trap, LIMITS)
            if not isinstance(reply, CallFailed):
                raise TypeError("it did not trap")
            begun = time.perf_counter()
            answered = await adapter.call(here, works, LIMITS)
            taken["hookline"].append((time.perf_counter() - begun) * 1_000_000)
            if not (isinstance(answered, Yielded) and answered.fresh):
                raise TypeError("it was not answered by a fresh instance")
    finally:
        await adapter.aclose()
    return taken


async def loads(folder: Path) -> dict[str, list[float]]:
    """Milliseconds until an instance is ready: compiled anew, from the cache, and by wasmtime alone."""
    path = scripted("on-stage=none\n", folder)
    taken: dict[str, list[float]] = {"wasmtime, compiled": [], "hookline, compiled": [], "hookline, cached": []}
    with tempfile.TemporaryDirectory() as cache:
        await timed(taken, "", ComponentAdapter(ShellWatchdog(), cache=Path(cache)), path)
        for _ in range(LOADS):
            begun = time.perf_counter()
            Raw(path)
            taken["wasmtime, compiled"].append((time.perf_counter() - begun) * 1000)
            await timed(taken, "hookline, compiled", ComponentAdapter(ShellWatchdog()), path)
            await timed(taken, "hookline, cached", ComponentAdapter(ShellWatchdog(), cache=Path(cache)), path)
    return taken


async def timed(taken: dict[str, list[float]], name: str, adapter: ComponentAdapter, path: Path) -> None:
    begun = time.perf_counter()
    found = await adapter.prepare(target_of(path))
    if name:
        taken[name].append((time.perf_counter() - begun) * 1000)
    await adapter.aclose()
    if isinstance(found, CallFailed):
        raise TypeError(f"not loaded: {found}")


def shown(unit: str, samples: dict[str, list[float]]) -> None:
    print_table(
        [unit, "p50", "p95"], ([name, f"{median(each):.1f}", f"{p95(each):.1f}"] for name, each in samples.items())
    )


async def measured(folder: Path) -> None:
    small, large = await calls(folder, 1024), await calls(folder, 64 * 1024)
    recovered, loaded = await recoveries(folder), await loads(folder)
    print("A call with an event of 1 KiB")
    shown("microseconds", small)
    print("A call with an event of 64 KiB")
    shown("microseconds", large)
    print("The next call after a trap")
    shown("microseconds", recovered)
    print("An instance, from the file")
    shown("milliseconds", loaded)
    here = "hookline, in process"
    print_table(
        TARGETS,
        [
            target("1 KiB, in process, p50", median(small[here]), 150, "us"),
            target("1 KiB, in process / wasmtime, p50", median(small[here]) / median(small["wasmtime"]), 1.0, "x"),
            target("64 KiB, in process / wasmtime, p50", median(large[here]) / median(large["wasmtime"]), 1.0, "x"),
            target("after a trap, p50", median(recovered["hookline"]), 300, "us"),
            target(
                "cached / compiled, p50",
                median(loaded["hookline, cached"]) / median(loaded["hookline, compiled"]),
                0.75,
                "x",
            ),
        ],
    )


def main() -> None:
    print_heading(f"component hooks, {CALLS} interleaved rounds of calls, {TRAPS} traps, {LOADS} loads")
    if not DEBUG.exists():
        sys.exit("run `make components` first: the worker's figures are those of a hook that comes with hookline")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measured(Path(folder)))


if __name__ == "__main__":
    main()

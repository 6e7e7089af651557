"""What stays: memory and descriptors after many dispatches in many sessions, processes after many timeouts."""

import asyncio
import gc
import os
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from figures import TARGETS, print_heading, print_table, target
from survivors import ENVIRONMENT, survivors

import hookline as hl
from hookline._core.hooks import Hook
from hookline._core.points import POINTS, Event, Origin
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget, FunctionTarget
from hookline._processes.watchdog import ShellWatchdog
from hookline.adapters import builtin
from hookline.adapters.command import CommandAdapter

DISPATCHES = 20_000
SESSIONS = 200
WARM_UP = 20  # sessions, and batches of timeouts, before anything is counted: caches fill, the allocator settles

TIMEOUTS = 2_000
AT_ONCE = 16
LIMITS = (0.02, 0.03, 0.05)  # seconds; the shortest cuts some commands off while they are still starting children
GRACE = 0.1  # seconds instead of the usual two, or the hooks that ignore SIGTERM would take half an hour

HANGING = (
    "sleep 60",
    "sleep 60 & sleep 60",
    "setsid sleep 60 & sleep 60",
    "(setsid sleep 60 &); sleep 60",
    "(setsid sh -c 'sleep 60 & sleep 60' >/dev/null 2>&1 </dev/null &); sleep 60",
    "trap '' TERM; (setsid sleep 60 &); sleep 60",
    "while :; do echo $$; sleep 0.005; done",
    "(setsid sleep 60 &); exec >/dev/null 2>&1; sleep 60",
)

QUARTERS = 4


@dataclass(frozen=True, slots=True)
class Reading:
    """What this process holds: MB of memory, blocks of it that Python objects occupy, open descriptors, threads."""

    memory: float
    blocks: int
    descriptors: int
    threads: int


def reading() -> Reading:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Reading(
        memory=pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        blocks=sys.getallocatedblocks(),
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        threads=threading.active_count(),
    )


class Counting:
    """An engine with a hook of every kind at every point, which counts the events that it was given."""

    def __init__(self) -> None:
        self.events = 0
        background = (
            Hook(
                id=f"background-{point.name}",
                event=point.event,
                target=FunctionTarget(self._pause),
                dialect="code",
                background=True,
            )
            for point in POINTS.values()
        )
        self.engine = hl.new_engine(hooks=tuple(background))
        for point in POINTS.values():
            for handler in (self._count, self._notify, self._fail, self._in_a_thread):
                self.engine.on(point.event)(handler)

    async def _count(self, event: Event) -> None:
        self.events += 1

    async def _notify(self, event: Event) -> hl.Notify:
        await self._pause(event)
        return hl.Notify(f"{event.point.name} was noticed")

    async def _fail(self, event: Event) -> hl.Notify | None:
        raise RuntimeError("a handler that fails")

    def _in_a_thread(self, event: Event) -> None:
        pass

    async def _pause(self, event: Event) -> None:
        await asyncio.sleep(0)


async def live(counting: Counting, journals: hl.JournalFolder, *, dispatches: int) -> None:
    """One session of about that many dispatches."""
    enough = counting.events + dispatches
    async with hl.Session(counting.engine, model=hl.EchoModel(), tools=hl.tools(), journals=journals) as session:
        while counting.events < enough:
            await session.run("say something")
            await session.clear()


async def measure_sessions(folder: Path) -> tuple[list[Reading], int]:
    """A reading after the warm-up and after each quarter, and how many dispatches there were between them."""
    counting = Counting()
    journals = hl.JournalFolder(folder)
    each = DISPATCHES // SESSIONS
    async with counting.engine:
        for _ in range(WARM_UP):
            await live(counting, journals, dispatches=each)
        before = counting.events
        readings = [reading()]
        for number in range(1, SESSIONS + 1):
            await live(counting, journals, dispatches=each)
            if number % (SESSIONS // QUARTERS) == 0:
                readings.append(reading())
        return readings, counting.events - before


def hanging_hooks() -> list[Hook]:
    """`AT_ONCE` hooks of one event, which start together as those of one file do."""
    hook = Hook(id="hanging", event=hl.BeforeToolCall, target=CommandTarget(argv=("/bin/sh",), env={}), dialect="muse")
    return [
        replace(
            hook,
            id=f"hanging-{number}",
            target=CommandTarget(argv=("/bin/sh", "-c", HANGING[number % len(HANGING)]), env=ENVIRONMENT),
            timeout=LIMITS[number % len(LIMITS)],
        )
        for number in range(AT_ONCE)
    ]


async def measure_timeouts() -> tuple[list[Reading], int, int]:
    """As above; and how many calls timed out, and how many processes were alive when their event was resolved."""
    adapters = {**builtin(), CommandTarget: CommandAdapter(ShellWatchdog(), grace=GRACE)}
    event = hl.BeforeToolCall(tool_name="bash", input={"command": "ls"}, origin=Origin(session_id="session-1"))
    left = timed_out = 0
    readings = []
    batches = TIMEOUTS // AT_ONCE
    async with hl.new_engine(hooks=hanging_hooks(), adapters=adapters) as engine:
        for number in range(WARM_UP + batches):
            if number >= WARM_UP and (number - WARM_UP) % -(-batches // QUARTERS) == 0:
                readings.append(reading())
            resolution = await engine.dispatch(event)
            left += len(survivors())
            timed_out += sum(outcome.why is Failure.TIMEOUT for outcome in resolution.outcomes)
        readings.append(reading())
    return readings, timed_out - WARM_UP * AT_ONCE, left


def report(title: str, readings: list[Reading]) -> None:
    first, *later = readings
    print_table(
        [title, "after the warm-up", *(f"{100 * number // QUARTERS} %" for number in range(1, QUARTERS + 1))],
        [
            ["memory, MB", f"{first.memory:.1f}", *(f"{now.memory - first.memory:+.2f}" for now in later)],
            ["blocks of objects", f"{first.blocks}", *(f"{now.blocks - first.blocks:+d}" for now in later)],
            ["descriptors", f"{first.descriptors}", *(f"{now.descriptors - first.descriptors:+d}" for now in later)],
            ["threads", f"{first.threads}", *(f"{now.threads - first.threads:+d}" for now in later)],
        ],
    )


def main() -> None:
    print_heading("what stays")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        living, dispatches = asyncio.run(measure_sessions(Path(folder)))
    hanging, timed_out, left = asyncio.run(measure_timeouts())
    report(f"{dispatches} dispatches in {SESSIONS} sessions", living)
    report(f"{timed_out} timeouts, {AT_ONCE} at once", hanging)
    print_table(
        TARGETS,
        [
            target("memory after the dispatches", living[-1].memory - living[0].memory, 2, " MB"),
            target("descriptors after the dispatches", living[-1].descriptors - living[0].descriptors, 0, ""),
            target("memory after the timeouts", hanging[-1].memory - hanging[0].memory, 2, " MB"),
            target("descriptors after the timeouts", hanging[-1].descriptors - hanging[0].descriptors, 0, ""),
            target("processes left after a timeout", left, 0, ""),
        ],
    )
    print(f"\n{time.monotonic() - begun:.0f} seconds")


if __name__ == "__main__":
    main()

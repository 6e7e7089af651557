"""Those who outlived a program that is gone."""

import os
import sys
from collections.abc import Iterator

import pytest
from tests.unit.processes.rig import descriptors, ended, readable

from hookline._processes.leftovers import Leftovers
from hookline._processes.spawn import Program, Spawned, Stdin, spawn
from hookline._processes.watchdog import NoWatchdog


@pytest.fixture(autouse=True)
def balance() -> Iterator[None]:
    """Whatever a test did, it leaves as many descriptors as it found."""
    before = descriptors()
    yield
    assert descriptors() == before


async def left_by(script: str) -> tuple[int, list[int]]:
    """Our end of the alive pipe of a script that has ended, and the numbers that it wrote in one line."""
    program = Program(argv=("/bin/sh", "-c", script), env={"PATH": "/usr/bin:/bin"}, cwd="/", stdin=Stdin.NONE)
    spawned = spawn(program, NoWatchdog())
    assert isinstance(spawned, Spawned)
    spawned.process.wait()
    await readable(spawned.outputs[0])
    pids = os.read(spawned.outputs[0], 1000).split()
    spawned.owned.discard(spawned.alive)
    spawned.close()
    return spawned.alive, [int(pid) for pid in pids]


async def test_nobody_left_is_forgotten_at_once() -> None:
    """The pipe of a program that left nobody is closed when it is given."""
    before = descriptors()
    alive, _ = await left_by("exit 0")
    leftovers = Leftovers()
    leftovers.add(alive)

    assert descriptors() == before


async def test_those_who_went_meanwhile_are_forgotten() -> None:
    """With the next program the pipes of those who ended since are closed."""
    leftovers = Leftovers()
    before = descriptors()
    alive, [pid] = await left_by("setsid sleep 60 >/dev/null 2>&1 & echo $!")
    leftovers.add(alive)
    assert descriptors() == before + 1
    os.kill(pid, 9)
    await readable(alive)
    leftovers.add((await left_by("exit 0"))[0])

    assert descriptors() == before


LETS_GO = """
import subprocess
with subprocess.Popen(["/bin/sleep", "60"]) as child:
    print(child.pid, flush=True)
"""


async def test_all_who_are_left_end() -> None:
    """They are killed, and so is whom they started, though that may have let go of the pipe."""
    leftovers = Leftovers()
    alive, pids = await left_by("setsid sleep 60 >/dev/null 2>&1 & echo $!")
    leftovers.add(alive)
    alive, more = await left_by(f"setsid {sys.executable} -I -S -c '{LETS_GO}' & exit 0")
    leftovers.add(alive)
    await leftovers.end()

    for pid in (*pids, *more):
        await ended(pid)


async def test_ending_nobody_is_nothing() -> None:
    """Without leftovers the end costs nothing, and may come twice."""
    leftovers = Leftovers()
    await leftovers.end()
    await leftovers.end()

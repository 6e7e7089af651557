"""Why a program ended, who ends with it, and how long that takes. More of it is tested with hooks and tools."""

import asyncio
import math
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.processes.rig import Fifo, carriers, descriptors

from hookline._processes.ending import Ending, Patience, attend
from hookline._processes.running import Running
from hookline._processes.spawn import Program, Spawned, Stdin, spawn
from hookline._processes.watchdog import NoWatchdog

SHORT = Patience(grace=0.1, drain=0.1)
LONG = 300.0  # nobody waits that long here: a test would run out of time
TOKEN = f"processes-{os.getpid()}"


@pytest.fixture
async def fifo(tmp_path: Path) -> AsyncIterator[Fifo]:
    fifo = Fifo(tmp_path / "fifo")
    before = descriptors()
    yield fifo
    assert descriptors() == before
    assert carriers(TOKEN) == []
    os.close(fifo.fd)


def run(script: str, *, stdin: Stdin = Stdin.NONE, most: int = 1000) -> Running:
    """A shell script whose output is wanted up to *most* bytes a chunk."""
    env = {"PATH": "/usr/bin:/bin", "TOKEN": TOKEN}
    program = Program(argv=("/bin/sh", "-c", script), env=env, cwd="/", stdin=stdin, one_output=True)
    spawned = spawn(program, NoWatchdog())
    assert isinstance(spawned, Spawned)
    return Running(spawned, (lambda chunk: len(chunk) <= most,))


async def ending(process: Running, *, within: float = math.inf, patience: Patience = SHORT) -> Ending:
    deadline = asyncio.get_running_loop().time() + within
    try:
        return await attend(process, deadline, patience)
    finally:
        process.release()


async def test_why_it_ended(fifo: Fifo) -> None:
    """By itself, at its deadline, because its output was enough, or because somebody stopped it."""
    stopped = run("sleep 60")
    stopped.stop()

    assert await ending(run("exit 3")) is Ending.BY_ITSELF
    assert await ending(run("sleep 60"), within=0.1) is Ending.LATE
    assert await ending(run("echo too much; sleep 60", most=3)) is Ending.FULL
    assert await ending(stopped) is Ending.STOPPED


async def test_its_status_is_known_when_it_is_released(fifo: Fifo) -> None:
    """The exit status is taken at the end, and taken once."""
    process = run("exit 3")
    await ending(process)

    assert process.status is not None
    assert os.waitstatus_to_exitcode(process.status) == 3
    with pytest.raises(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)  # noqa: ASYNC222 - it does not wait


async def test_who_reads_our_pipe_is_found_all_the_same(fifo: Fifo) -> None:
    """A program that reads from a pipe of ours is kin like any other: an orphan of it that left the group ends too."""
    orphan = f"(setsid sh -c 'echo >{fifo.path}; exec sleep 60' <&3 >/dev/null 2>&1 3<&- &)"
    process = run(f"exec 3<&0; {orphan}; sleep 60", stdin=Stdin.PIPE)
    await fifo.lines()

    assert await ending(process, within=0.1) is Ending.LATE


DEAF = "trap 'echo told >{path}' TERM; echo ready >{path}; while :; do sleep 60 & wait; done"


async def test_hurried_patience_ends_with_a_cancellation(fifo: Fifo) -> None:
    """Where the grace may be cut short, cancelling again while it is waited out kills at once."""
    process = run(DEAF.format(path=fifo.path))
    task = asyncio.create_task(ending(process, patience=Patience(grace=LONG, drain=LONG, hurried=True)))
    await fifo.lines()
    task.cancel()
    await fifo.lines()
    task.cancel()
    await asyncio.wait({task})

    assert task.cancelled()


async def test_a_grace_that_may_not_be_cut_short_is_waited_out(fifo: Fifo) -> None:
    """Else a program keeps the whole grace for what it has to clean up, whoever cancels."""
    script = f"trap 'read -r _ <{fifo.path}.go; echo cleaned >{fifo.path}; exit' TERM; echo ready >{fifo.path}; "
    go = Fifo(fifo.path.with_name("fifo.go"))
    process = run(script + "while :; do sleep 60 & wait; done")
    task = asyncio.create_task(ending(process, patience=Patience(grace=LONG, drain=LONG)))
    await fifo.lines()
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    os.write(go.fd, b"go\n")

    assert await fifo.lines() == ["cleaned"]
    await asyncio.wait({task})
    assert task.cancelled()
    os.close(go.fd)

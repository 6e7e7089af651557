"""Hooks do not outlive a host that was killed."""

import asyncio
import os
import subprocess
import sys

import pytest
from tests.unit.adapters.rig import Hooks
from tests.unit.processes.rig import Fifo, carriers, descriptors, ended, shells_below

from hookline._core.payload import Exited
from hookline._processes import watchdog
from hookline._processes.watchdog import ShellWatchdog
from hookline.adapters.command import CommandAdapter

HOST = """
import asyncio, sys
from hookline._core.payload import Limits, Payload
from hookline._core.targets import CommandTarget
from hookline.adapters import builtin

async def main():
    adapter = builtin()[CommandTarget]
    def hook(script):
        target = CommandTarget(("/bin/sh", "-c", script), {"PATH": "/usr/bin:/bin", "TOKEN": sys.argv[2]})
        return adapter.call(target, Payload(None, b"", "/"), Limits(300))
    await asyncio.gather(*(hook("exit 0") for _ in range(3)))
    deaf = f"trap '' TERM HUP INT; sleep 300 & echo $$ >{sys.argv[1]}; sleep 300"
    ready = f"echo ready >{sys.argv[1]}"  # starts after the others, and so when they are guarded
    await asyncio.gather(hook(deaf), hook(deaf), hook(ready))

asyncio.run(main())
"""


async def test_hooks_end_with_a_host_that_is_killed(fifo: Fifo) -> None:
    """When the host is killed in the middle of hooks, the groups of those end, and so does the watchdog."""
    token = Hooks().token
    host = subprocess.Popen([sys.executable, "-c", HOST, fifo.path, token])  # noqa: ASYNC220 - at once, or not at all
    pids = [int(line) for line in await fifo.lines(3) if line != "ready"]
    [shell] = shells_below(host.pid)
    host.kill()
    host.wait()
    for pid in (*pids, shell):
        await ended(pid)

    for pid in carriers(token):
        await ended(pid)
    assert carriers(token) == []


async def test_hooks_run_where_there_is_no_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without the shell that the watchdog is made of runs hooks all the same."""

    def refuse() -> int:
        raise OSError(23, "Too many open files in system")

    before = descriptors()
    monkeypatch.setattr(watchdog, "nameless_file", refuse)
    hooks = Hooks(CommandAdapter(ShellWatchdog()))

    assert await hooks.sh("exit 0") == Exited(code=0, stdin_read=0, stdin_size=2)
    await hooks.adapter.aclose()
    assert descriptors() == before


async def test_one_for_all_hooks_and_none_after_closing() -> None:
    """Hooks share one watchdog, started at the first; closing the adapter ends it."""
    before = descriptors()
    hooks = Hooks(CommandAdapter(ShellWatchdog()))
    assert shells_below(os.getpid()) == []

    await asyncio.gather(*(hooks.sh("exit 0") for _ in range(5)))
    assert len(shells_below(os.getpid())) == 1

    await hooks.adapter.aclose()
    assert shells_below(os.getpid()) == []
    assert descriptors() == before

"""Hooks do not outlive a host that was killed."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.adapters.rig import Fifo, Hooks, carriers, descriptors, ended

from hookline._core.payload import Exited
from hookline.adapters import _watchdog
from hookline.adapters._watchdog import ShellWatchdog
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
    [watchdog] = shells_below(host.pid)
    host.kill()
    host.wait()
    for pid in (*pids, watchdog):
        await ended(pid)

    for pid in carriers(token):
        await ended(pid)
    assert carriers(token) == []


def shells_below(pid: int) -> list[int]:
    """The children of a process that run the watchdog's script."""

    def runs_it(child: str) -> bool:
        try:
            return _watchdog.SCRIPT.encode() in Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            return False

    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split() if runs_it(child)]


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process group of one."""
    with subprocess.Popen(["/bin/sleep", "300"], process_group=0) as process:
        yield process
        process.kill()


@pytest.fixture
def watchdog() -> Iterator[ShellWatchdog]:
    before = descriptors()
    watchdog = ShellWatchdog()
    yield watchdog
    watchdog.close()
    assert descriptors() == before


def end_of_us(watchdog: ShellWatchdog) -> None:
    """What the watchdog sees when this program ends: nobody can write to it any more."""
    shell = watchdog._shell
    assert shell is not None
    watchdog._hang_up()
    shell.wait()


def test_it_kills_whom_it_guards(watchdog: ShellWatchdog, sleeper: subprocess.Popen[bytes]) -> None:
    """A group that is on the list when we end is killed, whatever came and went before it."""
    watchdog.start()
    for group in (2_000_000_001, 2_000_000_002):
        watchdog.add(group)
    watchdog.add(sleeper.pid)
    for group in (2_000_000_001, 2_000_000_002):
        watchdog.remove(group)
    end_of_us(watchdog)

    assert sleeper.wait() == -signal.SIGKILL


def test_it_spares_whom_it_guards_no_more(watchdog: ShellWatchdog, sleeper: subprocess.Popen[bytes]) -> None:
    """A group that was taken from the list is not touched, nor is anybody whose line it was."""
    watchdog.start()
    watchdog.add(sleeper.pid)
    watchdog.remove(sleeper.pid)
    end_of_us(watchdog)

    assert sleeper.poll() is None


def test_closing_kills_nobody(watchdog: ShellWatchdog, sleeper: subprocess.Popen[bytes]) -> None:
    """Closing the watchdog is not our end."""
    watchdog.start()
    watchdog.add(sleeper.pid)
    watchdog.close()

    assert sleeper.poll() is None


def test_it_is_deaf_to_polite_signals(watchdog: ShellWatchdog, sleeper: subprocess.Popen[bytes]) -> None:
    """What ends us by a signal to everybody does not end the watchdog before it has done its work."""
    watchdog.start()
    watchdog.add(sleeper.pid)
    shell = watchdog._shell
    assert shell is not None
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        shell.send_signal(number)
    end_of_us(watchdog)

    assert sleeper.wait() == -signal.SIGKILL


def test_it_leads_a_group_of_its_own(watchdog: ShellWatchdog) -> None:
    """A Ctrl-C that the terminal sends to us does not reach it."""
    watchdog.start()
    shell = watchdog._shell
    assert shell is not None

    assert os.getpgid(shell.pid) == shell.pid


def test_one_that_was_killed_is_replaced(watchdog: ShellWatchdog, sleeper: subprocess.Popen[bytes]) -> None:
    """A watchdog that somebody killed is not ready; the one that is started then guards the same groups."""
    watchdog.start()
    watchdog.add(sleeper.pid)
    shell = watchdog._shell
    assert shell is not None
    ready = [watchdog.ready]
    shell.kill()
    shell.wait()
    ready.append(watchdog.ready)
    watchdog.start()
    ready.append(watchdog.ready)
    end_of_us(watchdog)

    assert ready == [True, False, True]

    assert sleeper.wait() == -signal.SIGKILL


def test_one_that_cannot_be_replaced_is_done_without(watchdog: ShellWatchdog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a killed watchdog cannot be started again nobody waits for it, and nothing stays open."""

    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    watchdog.start()
    watchdog.add(2_000_000_001)
    shell = watchdog._shell
    assert shell is not None
    shell.kill()
    shell.wait()
    monkeypatch.setattr(subprocess, "Popen", refuse)
    watchdog.start()

    assert watchdog.ready
    watchdog.remove(2_000_000_001)


async def test_hooks_run_where_there_is_no_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without the shell that the watchdog is made of runs hooks all the same."""

    def refuse() -> int:
        raise OSError(23, "Too many open files in system")

    before = descriptors()
    monkeypatch.setattr(_watchdog, "nameless_file", refuse)
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

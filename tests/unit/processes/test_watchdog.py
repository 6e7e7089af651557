"""Process groups do not outlive a program that was killed."""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest
from tests.unit.processes.rig import descriptors

from hookline._processes.watchdog import Guard, ShellWatchdog


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


def watching(watchdog: ShellWatchdog, group: int) -> Guard:
    """The watch over a program that has been started."""
    guard = watchdog.expect(0)
    guard.started(group)
    return guard


def test_it_kills_whom_it_guards(watchdog: ShellWatchdog, sleeper: subprocess.Popen[bytes]) -> None:
    """A group that is on the list when we end is killed, whatever came and went before it."""
    watchdog.start()
    others = [watching(watchdog, group) for group in (2_000_000_001, 2_000_000_002)]
    watching(watchdog, sleeper.pid)
    for other in others:
        other.end()
    end_of_us(watchdog)

    assert sleeper.wait() == -signal.SIGKILL


@pytest.mark.parametrize("started", [False, True], ids=["being started", "started"])
def test_it_finds_whom_no_group_shows(watchdog: ShellWatchdog, *, started: bool) -> None:
    """Who is being started when we end, or has left its group, is found by the pipe that it inherited."""
    watchdog.start()
    reading, writing = os.pipe()
    guard = watchdog.expect(os.fstat(reading).st_ino)
    with subprocess.Popen(["/bin/sleep", "300"], process_group=0, pass_fds=(writing,)) as escaped:
        if started:
            guard.started(2_000_000_001)
        os.close(writing)
        end_of_us(watchdog)

        assert escaped.wait() == -signal.SIGKILL

    os.close(reading)


def test_it_spares_whom_it_guards_no_more(watchdog: ShellWatchdog, sleeper: subprocess.Popen[bytes]) -> None:
    """A group that was taken from the list is not touched, nor is anybody whose line it was."""
    watchdog.start()
    watching(watchdog, sleeper.pid).end()
    end_of_us(watchdog)

    assert sleeper.poll() is None


def test_closing_kills_nobody(watchdog: ShellWatchdog, sleeper: subprocess.Popen[bytes]) -> None:
    """Closing the watchdog is not our end."""
    watchdog.start()
    watching(watchdog, sleeper.pid)
    watchdog.close()

    assert sleeper.poll() is None


def test_it_is_deaf_to_polite_signals(watchdog: ShellWatchdog, sleeper: subprocess.Popen[bytes]) -> None:
    """What ends us by a signal to everybody does not end the watchdog before it has done its work."""
    watchdog.start()
    watching(watchdog, sleeper.pid)
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
    watching(watchdog, sleeper.pid)
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
    guard = watching(watchdog, 2_000_000_001)
    shell = watchdog._shell
    assert shell is not None
    shell.kill()
    shell.wait()
    monkeypatch.setattr(subprocess, "Popen", refuse)
    watchdog.start()

    assert watchdog.ready
    guard.end()

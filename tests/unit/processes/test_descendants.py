"""Finding who belongs to a hook, and nobody else."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.processes.rig import ended

from hookline._processes import descendants
from hookline._processes.descendants import Kin, family, holds, is_alive, mark, send


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["/bin/sleep", "300"], process_group=0) as process:
        yield process
        process.kill()


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A reading and a writing end of our own."""
    ends = os.pipe()
    yield ends
    for fd in ends:
        os.close(fd)


def kin(pid: int) -> Kin:
    found = descendants._look_at(pid)
    assert found is not None
    return found


def test_a_name_with_spaces_and_parentheses(tmp_path: Path) -> None:
    """A program may be called anything; its numbers are read all the same."""
    program = tmp_path / "a) (b 1 2"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "300"], process_group=0) as process:
        found = kin(process.pid)
        process.kill()

    assert (found.pid, found.parent, found.group, found.dead) == (process.pid, os.getpid(), process.pid, False)


def test_whoever_descends_is_kin() -> None:
    """Children and grandchildren are kin, in whatever group; the leader itself and we are not."""
    script = "sh -c 'sleep 300 & setsid sleep 300 & echo; wait' & wait"
    with subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE, process_group=0) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = family(process.pid, (), ())
        for each in found:
            send(each, signal.SIGKILL)
        process.kill()

    assert len(found) == 3
    assert {process.pid, os.getpid()}.isdisjoint(each.pid for each in found)


def test_strangers_are_not_kin(sleeper: subprocess.Popen[bytes]) -> None:
    """Another child of ours is nobody's kin but its own."""
    with subprocess.Popen(["/bin/sleep", "300"], process_group=0) as other:
        assert family(other.pid, (), ()) == frozenset()
        assert family(other.pid, [kin(sleeper.pid)], ()) == {kin(sleeper.pid)}
        other.kill()


def test_who_holds_our_pipe_is_kin(sleeper: subprocess.Popen[bytes], pipe: tuple[int, int]) -> None:
    """Whoever holds the writing end of a pipe of ours is kin, though nothing else shows it."""
    reading, writing = pipe
    with subprocess.Popen(["/bin/sleep", "300"], process_group=0, stdout=writing) as holder:
        found = family(sleeper.pid, (), {mark(reading)})
        holder.kill()

    assert [each.pid for each in found] == [holder.pid]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 on; the child does nothing but wait
def test_a_fork_of_us_is_not_kin(pipe: tuple[int, int]) -> None:
    """A copy of this program holds our pipes from both ends, and must not be killed for it."""
    reading, writing = pipe
    pid = os.fork()
    if pid == 0:
        signal.pause()
    try:
        assert not holds(pid, {mark(writing)})
        assert not holds(os.getpid(), {mark(reading)})
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


async def test_a_number_that_was_passed_on_is_somebody_else(sleeper: subprocess.Popen[bytes]) -> None:
    """A process that has the number of one we knew is neither alive as that one, nor signalled for it."""
    now = kin(sleeper.pid)
    earlier = Kin(pid=now.pid, born=now.born - 1, parent=now.parent, group=now.group, dead=False)

    assert is_alive(now)
    assert not is_alive(earlier)
    send(earlier, signal.SIGKILL)
    assert sleeper.poll() is None
    send(now, signal.SIGKILL)
    await ended(sleeper.pid)
    assert not is_alive(now)


def test_without_descriptors_of_processes(sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system that has /proc and no pidfd the right process is signalled all the same."""
    monkeypatch.delattr(os, "pidfd_open")
    send(kin(sleeper.pid), signal.SIGKILL)

    assert sleeper.wait() == -signal.SIGKILL


def test_who_is_gone_is_gone() -> None:
    """A process that has ended has no kin, holds nothing, and is signalled in vain."""
    with subprocess.Popen(["/bin/true"]) as process:
        alive = Kin(pid=process.pid, born=1, parent=0, group=0, dead=False)
    send(alive, signal.SIGKILL)

    assert not is_alive(alive)
    assert not holds(process.pid, {"pipe:[1]"})
    assert family(process.pid, [alive], ()) == frozenset()

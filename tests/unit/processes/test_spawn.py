"""What a program is given, and what it is not. Why it could not start is tested with the hooks."""

import os
import signal
import sys
from collections.abc import Iterator

import pytest
from tests.unit.processes.rig import descriptors, readable

from hookline._processes.spawn import NotStarted, Program, Spawned, Stdin, spawn
from hookline._processes.watchdog import NoWatchdog

ENV = {"PATH": "/usr/bin:/bin"}


@pytest.fixture(autouse=True)
def balance() -> Iterator[None]:
    """Whatever a test did, it leaves as many descriptors as it found."""
    before = descriptors()
    yield
    assert descriptors() == before


def started(
    *argv: str, stdin: bytes | Stdin = Stdin.NONE, one_output: bool = False, own_session: bool = False
) -> Spawned:
    spawned = spawn(
        Program(argv=argv, env=ENV, cwd="/", stdin=stdin, one_output=one_output, own_session=own_session), NoWatchdog()
    )
    assert isinstance(spawned, Spawned)
    return spawned


async def output(spawned: Spawned) -> list[bytes]:
    """What it writes to each of its outputs, up to its end, which is waited for."""
    written = []
    for fd in spawned.outputs:
        chunks = [b""]
        while len(chunks) == 1 or chunks[-1]:
            await readable(fd)
            chunks.append(os.read(fd, 65_536))
        written.append(b"".join(chunks))
    spawned.process.wait()
    spawned.close()
    return written


async def test_two_outputs_are_told_apart() -> None:
    """Standard output and standard error are two streams."""
    assert await output(started("/bin/sh", "-c", "echo out; echo err >&2")) == [b"out\n", b"err\n"]


async def test_one_output_is_in_order() -> None:
    """As one stream both are read in the order in which they were written."""
    spawned = started("/bin/sh", "-c", "echo out; echo err >&2; echo out", one_output=True)

    assert await output(spawned) == [b"out\nerr\nout\n"]


async def test_a_text_is_read_to_its_end() -> None:
    """Bytes as standard input need nobody who writes them."""
    assert await output(started("/bin/cat", stdin=b"x" * 100_000)) == [b"x" * 100_000, b""]


async def test_no_input_is_at_its_end() -> None:
    """A program without standard input that reads is not kept waiting."""
    assert await output(started("/bin/cat")) == [b"", b""]


async def test_a_pipe_is_written_to_while_it_runs() -> None:
    """What we write to the pipe is read, and its end is the end of the input."""
    spawned = started("/bin/cat", stdin=Stdin.PIPE)
    assert spawned.stdin_pipe is not None
    os.write(spawned.stdin_pipe, b"hello")
    os.close(spawned.stdin_pipe)
    spawned.owned.discard(spawned.stdin_pipe)

    assert await output(spawned) == [b"hello", b""]


@pytest.mark.parametrize("own", [False, True])
async def test_it_leads_a_group_and_may_lead_a_session(own: bool) -> None:
    """The process group is always its own, so that it can be killed as one; the session only if that is asked for."""
    script = "import os; print(os.getpgid(0) == os.getpid(), os.getsid(0) == os.getpid())"

    assert await output(started(sys.executable, "-I", "-S", "-c", script, own_session=own)) == [
        f"True {own}\n".encode(),
        b"",
    ]


async def test_alive_tells_of_descendants() -> None:
    """That pipe is at its end when the last descendant has ended, whatever they let go of."""
    script = "setsid sleep 60 >/dev/null 2>&1 </dev/null & echo $!"
    spawned = started("/bin/sh", "-c", script)
    await readable(spawned.outputs[0])
    pid = int(os.read(spawned.outputs[0], 100))
    spawned.process.wait()
    with pytest.raises(BlockingIOError):
        os.read(spawned.alive, 1)
    os.kill(pid, signal.SIGKILL)
    await readable(spawned.alive)

    assert os.read(spawned.alive, 1) == b""
    spawned.close()


def test_what_cannot_start_leaves_nothing_open() -> None:
    """A failure to start is a value, names the program, and costs no descriptor, whatever the input would have been."""
    for stdin in (b"text", Stdin.NONE, Stdin.PIPE):
        assert spawn(Program(argv=["/no/such"], env=ENV, cwd="/", stdin=stdin), NoWatchdog()) == NotStarted(
            "program /no/such: No such file or directory (os error 2)"
        )


def test_an_environment_is_in_no_representation() -> None:
    """What is printed of a program shows no secret that it is given."""
    assert "secret" not in repr(Program(argv=["true"], env={"TOKEN": "secret"}, cwd="/", stdin=b""))

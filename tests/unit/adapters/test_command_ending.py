"""A hook that does not end by itself is ended: all of it, in bounded time, whatever it does about it."""

import asyncio
import gc
import os
import signal
import time

import anyio
import pytest
from tests.unit.adapters.rig import DRAIN, GRACE, Hooks
from tests.unit.processes.rig import Fifo, ended, readable

from hookline._core.payload import CallFailed, Exited, Reply
from hookline._core.reasons import Failure

TIMED_OUT = CallFailed(why=Failure.TIMEOUT, detail="hook timed out after 100ms")
SLACK = 1.0  # the promise is 50 ms; this is for a machine that is doing something else

PYTHON_DAEMON = """
import subprocess, time
subprocess.Popen(["sleep", "300"], start_new_session=True, {streams})
time.sleep(300)
"""

TREES = {
    "alone": "sleep 300",
    "child": "sleep 300 & sleep 300",
    "child that holds nothing": "sleep 300 >/dev/null 2>&1 </dev/null & sleep 300",
    "pipeline": "sleep 300 | sleep 300",
    "stopped": "kill -STOP $$",
    "own session": "setsid sleep 300 & sleep 300",
    "own session, orphaned": "(setsid sleep 300 &); sleep 300",
    "own session, holds one pipe": "(setsid sleep 300 >/dev/null 2>&1 </dev/null &); sleep 300",
    "two sessions deep": "(setsid sh -c 'setsid sleep 300 & sleep 300' &); sleep 300",
    "several": "for i in 1 2 3 4 5; do sleep 300 & setsid sleep 300 & done; wait",
}
DEAF = {
    "deaf": "trap '' TERM; while :; do sleep 1; done",
    "deaf child": "(trap '' TERM; while :; do sleep 1; done) & sleep 300",
    "deaf, own session, orphaned": "(setsid sh -c \"trap '' TERM; while :; do sleep 1; done\" &); sleep 300",
}


@pytest.mark.parametrize("tree", TREES)
async def test_at_the_deadline_the_tree_is_gone(hooks: Hooks, tree: str) -> None:
    """At its deadline a hook and everyone it started are told to stop; when they have, the call returns."""
    start = time.monotonic()

    reply = await hooks.sh(TREES[tree], within=0.1)

    assert reply == TIMED_OUT
    assert hooks.alive() == []
    assert time.monotonic() - start < 0.1 + GRACE + SLACK


@pytest.mark.parametrize("tree", DEAF)
async def test_who_does_not_stop_is_killed(hooks: Hooks, tree: str) -> None:
    """Who ignores SIGTERM is killed after the grace."""
    start = time.monotonic()

    reply = await hooks.sh(DEAF[tree], within=0.1)

    assert reply == TIMED_OUT
    assert hooks.alive() == []
    assert 0.1 + GRACE <= time.monotonic() - start < 0.1 + GRACE + SLACK


@pytest.mark.parametrize(
    "streams",
    ["close_fds=False", "stdout=-3, stderr=-3", "stdin=-3, stdout=-3", "stdin=-3, stdout=-3, stderr=-3"],
    ids=["holds all", "holds stdin", "holds stderr", "holds nothing"],
)
async def test_daemons_of_python_hooks_are_found(hooks: Hooks, streams: str) -> None:
    """A child in a session of its own is found by descent, whatever it let go of."""
    assert await hooks.py(PYTHON_DAEMON.format(streams=streams), within=0.5) == CallFailed(
        why=Failure.TIMEOUT, detail="hook timed out after 500ms"
    )
    assert hooks.alive() == []


async def test_traps_run(hooks: Hooks) -> None:
    """Before anybody is killed there is time to clean up."""
    reply = await hooks.sh("trap 'echo cleaned; exit 0' TERM; sleep 300 & wait", within=0.1)

    assert isinstance(reply, CallFailed)
    assert (reply.why, reply.stdout) == (Failure.TIMEOUT, b"cleaned\n")


async def test_the_grace_is_over_when_everyone_is_gone(hooks: Hooks) -> None:
    """Nobody waits out the grace for the dead."""
    hooks.adapter._grace = 300

    async with asyncio.timeout(5):
        assert await hooks.sh("sleep 300 & setsid sleep 300 & wait", within=0.1) == TIMED_OUT


async def test_the_deadline_holds_while_input_is_unread(hooks: Hooks) -> None:
    """A hook that sleeps without reading a payload larger than a pipe is ended like any other."""
    assert await hooks.sh("sleep 300", within=0.1, body=b"x" * 204_800) == TIMED_OUT


@pytest.mark.parametrize(("within", "text"), [(1.0, "1s"), (0.15, "150ms")])
async def test_the_limit_is_written_as_people_write_it(hooks: Hooks, within: float, text: str) -> None:
    """Whole seconds are written in seconds, anything else in milliseconds."""
    assert await hooks.sh("sleep 300", within=within) == CallFailed(
        why=Failure.TIMEOUT, detail=f"hook timed out after {text}"
    )


async def test_no_time_no_start(hooks: Hooks, fifo: Fifo) -> None:
    """A hook whose deadline passed before its turn came is not started."""
    assert await hooks.sh(f"echo started >{fifo.path}", within=0) == CallFailed(
        why=Failure.TIMEOUT, detail="hook timed out after 0s"
    )
    with pytest.raises(BlockingIOError):
        os.read(fifo.fd, 1)


# Left behind


@pytest.mark.parametrize("script", ["sleep 300 & echo '{}'", "(setsid sleep 300 &); echo '{}'"])
async def test_a_child_that_keeps_the_pipe_is_killed(hooks: Hooks, script: str) -> None:
    """The answer of a hook that ended counts after a short wait for a child that holds its output; that is killed."""
    start = time.monotonic()

    reply = await hooks.sh(script)

    assert reply == Exited(code=0, stdout=b"{}\n", stdin_read=0, stdin_size=2, left_behind=1)
    assert hooks.alive() == []
    assert DRAIN <= time.monotonic() - start < DRAIN + SLACK


async def test_all_who_keep_the_pipe_are_counted(hooks: Hooks) -> None:
    """The count is of those that held the output, wherever they went."""
    reply = await hooks.sh("sleep 300 & sleep 300 >/dev/null & (setsid sleep 300 2>/dev/null &); exit 3")

    assert reply == Exited(code=3, stdin_read=0, stdin_size=2, left_behind=3)
    assert hooks.alive() == []


async def test_what_a_child_still_says_counts(hooks: Hooks) -> None:
    """Output that comes soon after the hook itself has ended is part of its answer."""
    reply = await hooks.sh("(sleep 0.05; echo late) &")

    assert reply == Exited(code=0, stdout=b"late\n", stdin_read=0, stdin_size=2)


async def test_waiting_for_the_pipe_ends_at_the_deadline(hooks: Hooks) -> None:
    """The wait for a child that holds the output never passes the deadline, and the answer counts."""
    hooks.adapter._drain = 300

    async with asyncio.timeout(5):
        reply = await hooks.sh("sleep 300 & echo '{}'", within=0.3)

    assert reply == Exited(code=0, stdout=b"{}\n", stdin_read=0, stdin_size=2, left_behind=1)


async def test_a_daemon_that_let_go_is_left_alone(hooks: Hooks, fifo: Fifo) -> None:
    """A hook that ended may leave a daemon that holds none of its output; that is neither awaited nor killed."""
    reply = await hooks.sh(f"sh -c 'echo $$; exec sleep 300' >{fifo.path} 2>/dev/null </dev/null & exit 0")

    assert reply == Exited(code=0, stdin_read=0, stdin_size=2)
    daemon = int((await fifo.lines())[0])
    assert hooks.alive() == [daemon]
    os.kill(daemon, signal.SIGKILL)
    await ended(daemon)


async def test_dying_with_a_child_on_the_pipe(hooks: Hooks) -> None:
    """A hook that a signal ended is read and cleaned up after like one that exited."""
    assert await hooks.sh("sleep 300 & kill -9 $$") == CallFailed(
        why=Failure.SIGNAL, detail="killed by SIGKILL", left_behind=1
    )
    assert hooks.alive() == []


async def test_a_flood_after_the_end_is_over_the_cap(hooks: Hooks) -> None:
    """A child that writes past the cap when the hook itself has ended fails it too."""
    reply = await hooks.sh("yes & exit 0")

    assert isinstance(reply, CallFailed)
    assert reply.why is Failure.OUTPUT_TOO_LARGE
    assert hooks.alive() == []


# Cancelling


async def started(hooks: Hooks, fifo: Fifo, script: str) -> asyncio.Task[Reply]:
    task = asyncio.create_task(hooks.sh(f"{script} & echo ready >{fifo.path}; wait"))
    await fifo.lines()
    return task


@pytest.mark.parametrize("script", ["sleep 300", "setsid sleep 300", "trap '' TERM; sleep 300"])
async def test_cancelling_kills_first(hooks: Hooks, fifo: Fifo, script: str) -> None:
    """When a cancelled call has ended, so has everyone that it started."""
    task = await started(hooks, fifo, script)
    task.cancel("enough")
    await asyncio.wait({task})

    assert hooks.alive() == []
    with pytest.raises(asyncio.CancelledError, match="enough"):
        await task


async def test_cancelling_again_does_not_cut_it_short(hooks: Hooks, fifo: Fifo) -> None:
    """A call that is cancelled again and again while it kills still kills, and is cancelled in the end."""
    task = asyncio.create_task(hooks.sh(f"trap 'echo told >{fifo.path}' TERM; echo ready >{fifo.path}; {DEAF['deaf']}"))
    await fifo.lines()
    while not task.done():
        task.cancel()
        await asyncio.sleep(0)

    assert task.cancelled()
    assert hooks.alive() == []


async def test_cancelling_while_a_timeout_kills(hooks: Hooks, fifo: Fifo) -> None:
    """A call that is cancelled while it already ends its hook finishes that, and is cancelled then."""
    deaf = f"trap 'echo told >{fifo.path}' TERM; while :; do sleep 300 & wait; done"
    task = asyncio.create_task(hooks.sh(deaf, within=0.1))
    await fifo.lines()
    task.cancel()
    await asyncio.wait({task})

    assert task.cancelled()
    assert hooks.alive() == []


async def test_an_anyio_scope_around_the_call(hooks: Hooks) -> None:
    """A scope of anyio, which cancels over and over, gets its own cancellation back once all are dead."""
    with anyio.move_on_after(0.1) as scope:
        await hooks.sh(DEAF["deaf"])

    assert scope.cancelled_caught
    assert hooks.alive() == []


async def test_cancelling_before_the_turn_starts_nothing(hooks: Hooks, fifo: Fifo) -> None:
    """A call that is cancelled while it waits for its turn to spawn never spawns."""
    first = asyncio.create_task(hooks.sh("exit 0"))
    second = asyncio.create_task(hooks.sh(f"echo started >{fifo.path}"))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait({first, second})

    assert second.cancelled()
    with pytest.raises(BlockingIOError):
        os.read(fifo.fd, 1)


def test_ending_the_loop_ends_the_hooks(fifo: Fifo) -> None:
    """A loop that ends with calls under way leaves none of their processes."""
    hooks = Hooks()

    async def main() -> None:
        task = await started(hooks, fifo, "sleep 300")
        assert not task.done()

    asyncio.run(main())

    assert hooks.alive() == []


def test_losing_the_loop_ends_the_hooks(fifo: Fifo) -> None:
    """A call whose loop is gone, so that it can never go on, kills its hook when it is thrown away."""
    hooks = Hooks()
    loop = asyncio.new_event_loop()
    call = hooks.sh(f"echo $$ >{fifo.path}; exec sleep 300")
    task = loop.create_task(call)
    [pid] = loop.run_until_complete(fifo.lines())
    loop.close()
    call.close()
    asyncio.run(ended(int(pid)))

    assert hooks.alive() == []
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    del task
    gc.collect()


# Closing


async def test_closing_ends_what_runs(hooks: Hooks, fifo: Fifo) -> None:
    """Closing the adapter ends every hook that runs; their calls say so."""
    tasks = [await started(hooks, fifo, script) for script in ("sleep 300", "setsid sleep 300")]
    await hooks.adapter.aclose()

    assert hooks.alive() == []
    assert [await task for task in tasks] == [
        CallFailed(why=Failure.SIGNAL, detail="killed because the engine was closed")
    ] * 2


async def test_a_closed_adapter_starts_nothing(hooks: Hooks, fifo: Fifo) -> None:
    """A call that comes after closing, or waited for its turn meanwhile, fails without a process."""
    first, second = (asyncio.create_task(hooks.sh(f"echo started >{fifo.path}; sleep 300")) for _ in range(2))
    await asyncio.sleep(0)
    await hooks.adapter.aclose()
    third = await hooks.sh(f"echo started >{fifo.path}")

    assert isinstance(await first, CallFailed)
    assert await second == third
    assert isinstance(third, CallFailed)
    assert third.why is Failure.COULD_NOT_START


async def test_closing_twice_is_closing_once(hooks: Hooks) -> None:
    """Closing a closed adapter does nothing."""
    await hooks.adapter.aclose()
    await hooks.adapter.aclose()


# Systems that have less


@pytest.fixture(params=["no pidfd", "no pidfd, no waitid", "no memfd", "memfd forbidden"])
def lesser_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    match request.param:
        case "no pidfd":
            monkeypatch.delattr(os, "pidfd_open")
        case "no pidfd, no waitid":
            monkeypatch.delattr(os, "pidfd_open")
            monkeypatch.delattr(os, "waitid")
        case "no memfd":
            monkeypatch.delattr(os, "memfd_create")
        case _:
            monkeypatch.setattr(os, "memfd_create", forbidden)


def forbidden(name: str) -> int:
    raise PermissionError(1, "Operation not permitted")


async def test_a_lesser_system_behaves_the_same(hooks: Hooks, lesser_system: None) -> None:
    """Where the kernel lacks a convenience the replies are the same."""
    body = b"x" * 100_000
    assert await hooks.sh("head -c 10; exit 2", body=body) == Exited(
        code=2, stdout=b"x" * 10, stdin_read=10, stdin_size=100_000
    )
    assert await hooks.sh("kill -9 $$") == CallFailed(why=Failure.SIGNAL, detail="killed by SIGKILL")
    assert await hooks.sh("sleep 300 & setsid sleep 300", within=0.1) == TIMED_OUT
    assert await hooks.sh("sleep 300 & exit 0") == Exited(code=0, stdin_read=0, stdin_size=2, left_behind=1)
    assert hooks.alive() == []


async def test_without_proc_the_group_is_killed(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody can be looked up the process group still ends, in the same time."""
    monkeypatch.setattr("hookline._processes.descendants._entries", lambda _: [])

    assert await hooks.sh("sleep 300 & sleep 300", within=0.1) == TIMED_OUT
    assert await hooks.sh("sleep 300 & exit 0") == Exited(code=0, stdin_read=0, stdin_size=2, left_behind=1)
    assert hooks.alive() == []


async def test_the_loop_lives_on_while_a_hook_is_ended(hooks: Hooks) -> None:
    """While one hook is being ended others run and end as ever."""
    dying = asyncio.create_task(hooks.sh(DEAF["deaf"], within=0.1))
    reader, writer = os.pipe()
    asyncio.get_running_loop().call_later(0.15, os.close, writer)
    await readable(reader)
    os.close(reader)

    assert await hooks.sh("echo fine") == Exited(code=0, stdout=b"fine\n", stdin_read=0, stdin_size=2)
    assert not dying.done()
    assert await dying == TIMED_OUT


async def test_a_hook_that_joins_another_group_ends_too(hooks: Hooks) -> None:
    """The leader itself is killed wherever it went: leaving its own group saves nobody."""
    script = "import os, time; os.setpgid(0, os.getpgid(os.getppid())); time.sleep(1000)"
    reply = await hooks.py(script, within=0.5)

    assert isinstance(reply, CallFailed)
    assert reply.why is Failure.TIMEOUT
    assert hooks.alive() == []

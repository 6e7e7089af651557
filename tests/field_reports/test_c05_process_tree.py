"""Reports of processes that stayed: own the group, kill the group, bound the draining, reap."""

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from tests.field_reports.rig import (
    PATIENCE,
    Place,
    bash,
    bash_call,
    command,
    document,
    engine_for,
    is_alive,
    wait_for_end,
)

import hookline as hl
from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget
from hookline._processes.watchdog import NoWatchdog
from hookline.adapters.command import GRACE, CommandAdapter
from hookline.journal import entries as en

SLACK = 1.5  # what a busy machine may add to a bound


def pids(path: Path) -> list[int]:
    """The process numbers that a hook wrote down."""
    return [int(line) for line in path.read_text().split()]


async def run(line: str, *, within: float, grace: float = 0.3, drain: float = 0.3, cwd: Path = Path("/")) -> Reply:
    """Run one command line through the adapter itself, which has a shorter grace here."""
    adapter = CommandAdapter(NoWatchdog(), grace=grace, drain=drain)
    target = CommandTarget(("/bin/sh", "-c", line), {"PATH": os.environ.get("PATH", os.defpath)})
    return await adapter.call(target, Payload(bash_call(), b"{}", str(cwd)), Limits(within))


@pytest.mark.slow
def test_b43_a_timeout_takes_the_children_along(place: Place) -> None:
    """The shell and what it started in the background are gone when the call goes on, within limit and grace."""
    line = "sleep 300 & echo $$ $! > pids; sleep 300"
    place.write_project(document(PreToolUse=[command(line, timeout=1)]))

    told = place.exec(bash("cat pids"))

    [dispatched] = told.dispatched("before_tool_call")
    assert dispatched.outcomes[0].why == "timeout"
    assert dispatched.duration_ms / 1000 < 1 + GRACE + SLACK
    assert [is_alive(pid) for pid in pids(place.project / "pids")] == [False, False]


@pytest.mark.slow
def test_b44_a_child_that_keeps_the_pipe_delays_nobody_for_long(place: Place) -> None:
    """The answer counts a moment after the hook itself has ended; the child is killed, and counted."""
    line = "(sleep 30 & echo $! > pid) ; echo '{\"continue\":true}'"
    place.write_project(document(Stop=[command(line)]))

    told = place.exec()

    [dispatched] = told.dispatched("before_run_end")
    [outcome] = dispatched.outcomes
    assert (outcome.kind, outcome.left_behind) == ("answered", 1)
    assert dispatched.duration_ms / 1000 < 1 + SLACK
    assert not is_alive(*pids(place.project / "pid"))
    assert "left 1 of its processes running" in place.trace()


async def test_f02_a_background_child_is_no_timeout(tmp_path: Path) -> None:
    """At the adapter: the hook has ended, so its reply is its end, and the group behind it is killed."""
    reply = await run("sleep 30 & echo $! > pid; echo ok", within=20, cwd=tmp_path)

    assert isinstance(reply, Exited)
    assert (reply.code, reply.stdout, reply.left_behind) == (0, b"ok\n", 1)
    assert not is_alive(*pids(tmp_path / "pid"))


async def test_f21_a_child_in_a_session_of_its_own_is_found(tmp_path: Path) -> None:
    """`setsid` leaves the group, and is ended with the rest all the same."""
    reply = await run("setsid sleep 300 & echo $! > pid; sleep 300", within=0.3, cwd=tmp_path)

    assert isinstance(reply, CallFailed)
    assert reply.why is Failure.TIMEOUT
    assert wait_for_end(*pids(tmp_path / "pid"))


@pytest.mark.slow
def test_b45_a_hook_that_ignores_the_signal_is_killed(place: Place) -> None:
    """TERM, the grace, KILL: the whole of it is bounded, and nothing is left."""
    line = "trap '' TERM; echo $$ > pid; while :; do sleep 1; done"
    place.write_project(document(PreToolUse=[command(line, timeout=1)]))

    told = place.exec(bash("true"))

    [dispatched] = told.dispatched("before_tool_call")
    assert dispatched.outcomes[0].why == "timeout"
    assert 1 + GRACE <= dispatched.duration_ms / 1000 < 1 + GRACE + SLACK
    assert not is_alive(*pids(place.project / "pid"))


async def test_f03_grace_is_for_those_who_need_it(tmp_path: Path) -> None:
    """A limit of 25 ms on a hook that ends when told to does not cost the grace; on one that does not, no more."""
    begun = time.monotonic()
    polite = await run("sleep 30", within=0.025, grace=10)
    then = time.monotonic()
    deaf = await run("trap '' TERM; while :; do sleep 1; done", within=0.025, grace=0.3)
    end = time.monotonic()

    assert isinstance(polite, CallFailed)
    assert isinstance(deaf, CallFailed)
    assert polite.why is deaf.why is Failure.TIMEOUT
    assert then - begun < 0.025 + SLACK
    assert end - then < 0.025 + 0.3 + SLACK


def hanging(place: Place) -> list[int]:
    """The process numbers of a hook and its child that have begun to hang, once they have."""
    return pids(place.project / "begun")


@pytest.fixture
def hangs(place: Place) -> Place:
    """A place with a hook that starts a child, says that both have begun, and waits for its end."""
    os.mkfifo(place.project / "begun")
    place.write_project(document(PreToolUse=[command("sleep 300 & echo $$ $! > begun; exec sleep 300")]))
    return place


def test_b46_a_killed_host_takes_its_hooks_along(hangs: Place) -> None:
    """The host can do nothing any more; its watchdog ends what it has left."""
    host = hangs.start(bash("true"))
    hook, child = hanging(hangs)

    host.send_signal(signal.SIGKILL)

    assert wait_for_end(hook)
    assert wait_for_end(child)
    assert host.wait() == -signal.SIGKILL


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
    ids=["term", "hup", "ctrl-c"],
)
def test_b46_a_signal_ends_the_hooks_first(hangs: Place, number: int, code: int) -> None:
    """Told to end, the host ends its hooks, closes the session and reports the signal as shells do."""
    host = hangs.start(bash("true"))
    hook, child = hanging(hangs)

    host.send_signal(number)
    host.communicate(timeout=PATIENCE)

    assert host.returncode == code
    assert [is_alive(pid) for pid in (hook, child)] == [False, False]
    bodies = [entry.body for entry in hangs.entries()]
    assert [body.outcome.kind for body in bodies if isinstance(body, en.HookEnded)] == ["cancelled"]
    assert isinstance(bodies[-1], en.SessionClosed)


def test_b48_a_start_without_an_answer_can_be_ended(place: Place) -> None:
    """A start-up hook without a limit gets the documented one, and a person who will not wait is heard at once."""
    os.mkfifo(place.project / "begun")
    line = "echo $$ > begun; while :; do sleep 1; done"
    place.write_project(document(SessionStart=[command(line)]))
    project = hl.open_project(place.project, env=place.env, trust="run-flag")
    assert [hook.timeout for hook in project.engine.hooks()] == [600]

    host = place.start()
    [hook] = hanging(place)
    host.send_signal(signal.SIGINT)
    host.communicate(timeout=PATIENCE)

    assert host.returncode == 130
    assert not is_alive(hook)


@pytest.mark.slow
def test_b48_a_slow_hook_is_named_at_the_end(place: Place) -> None:
    """A hook that holds a session up for two seconds or more is told of, with its time."""
    place.write_project(document(SessionStart=[command("sleep 2.1"), command("exit 0")]))

    told = place.exec()

    [line] = [line for line in told.lines if "SessionStart[0]" in line]
    assert "2.1" in line
    assert "SessionStart[1]" not in told.err


async def test_f15_a_blocking_handler_does_not_stop_the_loop() -> None:
    """A synchronous handler runs beside the loop and is given up at its deadline; as a guard it has refused then."""
    engine = hl.new_engine()
    over = threading.Event()
    ticks = 0

    @engine.on(hl.BeforeToolCall, timeout=0.2)
    def guard(event: hl.BeforeToolCall) -> hl.Deny | None:
        over.wait(PATIENCE)
        return None

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.ensure_future(tick())
    begun = time.monotonic()
    resolution = await engine.dispatch(bash_call())
    took = time.monotonic() - begun
    ticking.cancel()
    over.set()

    assert resolution.denied
    assert resolution.outcomes[0].why is Failure.TIMEOUT
    assert ticks > 3
    assert took < 0.2 + SLACK


@pytest.mark.slow
async def test_b43_the_call_returns_even_if_the_pipes_stay_open(tmp_path: Path) -> None:
    """Descendants that hold the output and ignore the signal do not hold up the call."""
    line = "(trap '' TERM; while :; do sleep 1; done) & sleep 300"
    async with engine_for(tmp_path, document(PreToolUse=[command(line)]), timeout=0.1) as engine:
        begun = time.monotonic()
        [outcome] = (await engine.dispatch(bash_call())).outcomes
        took = time.monotonic() - begun

    assert outcome.why is Failure.TIMEOUT
    assert took < 0.1 + GRACE + SLACK

"""Reports of commands, their input, their children and their environment, under Meerkat: real processes."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.meerkat_rig import (
    BACKGROUND,
    DENIES,
    GUARD,
    MARKED,
    OBSERVER,
    QUIET,
    Json,
    configuration,
    entry,
    guard,
    live,
    opened,
    runs,
)
from tests.field_reports.rig import BUFFER, PATIENCE, TOUCH, Place, bash, call, is_alive, wait_for_end

import hookline as hl
from hookline._core.payload import Exited
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline.adapters.command import GRACE
from hookline.dialects.meerkat.rules import BY_EVENT
from hookline.workbench.samples import SAMPLES

KIB = 1024
SLACK = 1.5  # what a busy machine may add to a bound

WAITED_FOR = pytest.mark.parametrize("capability", [GUARD, OBSERVER], ids=["guardrail", "observe"])


def pids(path: Path) -> list[int]:
    """The process numbers that a hook wrote down."""
    return [int(line) for line in path.read_text().split()]


LARGE = call("write_file", path="large.txt", content="x" * (100 * KIB))


@pytest.mark.parametrize("line", [QUIET, f"exec <&-; {QUIET}", f"head -c 1000 >/dev/null; {QUIET}"])
async def test_f01_an_early_end_is_no_failed_write(tmp_path: Path, line: str) -> None:
    """100 KiB that a hook does not read, or not all of: its answer counts, and how much it read is on record."""
    lived = await live(tmp_path, configuration(guard(line)), LARGE)

    assert lived.ending == "completed"
    assert (tmp_path / "large.txt").stat().st_size == 100 * KIB
    [outcome] = lived.kept.outcomes("before_tool_call")
    assert isinstance(outcome.reply, Exited)
    assert outcome.reply.stdin_read is not None
    assert outcome.reply.stdin_read < 100 * KIB < outcome.reply.stdin_size


def test_b36_a_hook_that_reads_nothing_is_not_at_fault(place: Place) -> None:
    """In the program: the run completes, and the trace tells how much of its input a hook has read."""
    place.write_rkat(configuration(guard(f"head -c 1000 >/dev/null; {QUIET}")))

    told = place.exec(LARGE)

    assert told.code == 0
    [outcome] = told.outcomes("before_tool_call")
    assert f"read {outcome.stdin_read} of {outcome.stdin_size} bytes of its input" in place.trace()


def events() -> Iterator[Event]:
    """One of each that is a point here."""
    yield from (event for event in SAMPLES.values() if type(event) in BY_EVENT)


async def test_b38_every_point_ends_its_input(tmp_path: Path) -> None:
    """`cat` returns at all 14 points: what a hook is given has an end."""
    points = {rule.point.value for rule in BY_EVENT.values()}
    entries = [entry(point, runs(f"cat >/dev/null; {QUIET}"), point=point) for point in sorted(points)]
    async with opened(tmp_path, configuration(*entries)).engine as engine:
        seen = {
            outcome.hook.label: outcome for event in events() for outcome in (await engine.dispatch(event)).outcomes
        }

    assert set(seen) == points
    assert len(points) == 14
    for outcome in seen.values():
        assert outcome.ok, outcome.detail
        assert isinstance(outcome.reply, Exited)
        assert outcome.reply.stdin_read == outcome.reply.stdin_size > 0


async def test_b39_one_deadline_covers_writing_too(tmp_path: Path) -> None:
    """A hook that sleeps before it reads more than a pipe holds is ended at its limit, as any other."""
    begun = time.monotonic()
    lived = await live(tmp_path, configuration(guard("sleep 30; cat", timeout_ms=200)), LARGE)
    took = time.monotonic() - begun

    assert lived.result.reason == "hook meerkat:guard failed: hook timed out after 200ms"
    assert took < 0.2 + SLACK


@pytest.mark.parametrize("size", [BUFFER, BUFFER + 1, 120 * KIB])
async def test_b42_the_envelope_arrives_whole(tmp_path: Path, size: int) -> None:
    """What a hook reads is one JSON object without a newline, the same bytes at every size."""
    wanted = call("write_file", path="large.txt", content="x" * size)
    lived = await live(tmp_path, configuration(guard(f"cat > {tmp_path}/got; {QUIET}")), wanted)

    got = (tmp_path / "got").read_bytes()
    assert lived.ending == "completed"
    assert got.startswith(b'{"point":"pre_tool_execution","session_id":"')
    assert b"\n" not in got
    assert json.loads(got)["tool_call"]["args"]["content"] == "x" * size


@WAITED_FOR
async def test_b43_a_timeout_takes_the_children_along(tmp_path: Path, capability: Json) -> None:
    """The shell and what it started in the background are gone when the run has failed."""
    line = f"sleep 300 & echo $$ $! > {tmp_path}/pids; sleep 300"
    lived = await live(tmp_path, configuration(guard(line, timeout_ms=300, **capability)))

    assert lived.result.reason == "hook meerkat:guard failed: hook timed out after 300ms"
    assert [is_alive(pid) for pid in pids(tmp_path / "pids")] == [False, False]


@pytest.mark.slow
async def test_f02_a_background_child_is_no_timeout(tmp_path: Path) -> None:
    """A hook that has answered has answered: its denial counts a moment later, and the child with the pipe ends."""
    line = f"sleep 300 & echo $! > {tmp_path}/pid; {DENIES}"
    begun = time.monotonic()
    lived = await live(tmp_path, configuration(guard(line, timeout_ms=10_000)))
    took = time.monotonic() - begun

    assert lived.told == ["tool blocked by hook: no"]
    assert lived.ending == "completed"
    assert took < 1 + SLACK
    assert wait_for_end(*pids(tmp_path / "pid"))
    [outcome] = lived.kept.outcomes("before_tool_call")
    assert isinstance(outcome.reply, Exited)
    assert outcome.reply.left_behind == 1


@pytest.mark.slow
def test_b44_a_child_that_keeps_the_pipe_delays_nobody_for_long(place: Place) -> None:
    """In the program: the answer counts, the child is killed and counted, and the trace tells of it."""
    place.write_rkat(configuration(guard(f"(setsid sleep 300 & echo $! > pid); {QUIET}")))

    told = place.exec(TOUCH)

    assert (told.code, place.mark) == (0, True)
    [outcome] = told.outcomes("before_tool_call")
    assert (outcome.kind, outcome.left_behind) == ("answered", 1)
    assert wait_for_end(*pids(place.project / "pid"))
    assert "left 1 of its processes running" in place.trace()


async def test_f03_a_limit_of_milliseconds_does_not_cost_the_grace(tmp_path: Path) -> None:
    """25 ms for a hook that ends when it is told to: the run has failed long before the grace is over."""
    begun = time.monotonic()
    lived = await live(tmp_path, configuration(guard("sleep 30", timeout_ms=25)))
    took = time.monotonic() - begun

    assert lived.result.reason == "hook meerkat:guard failed: hook timed out after 25ms"
    assert took < 0.025 + SLACK


@pytest.mark.slow
async def test_b45_a_deaf_hook_costs_limit_and_grace(tmp_path: Path) -> None:
    """TERM, the grace, KILL: the whole of it is bounded, and nothing is left."""
    line = f"trap '' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 1; done"
    begun = time.monotonic()
    lived = await live(tmp_path, configuration(guard(line, timeout_ms=300)))
    took = time.monotonic() - begun

    assert lived.result.reason == "hook meerkat:guard failed: hook timed out after 300ms"
    assert 0.3 + GRACE <= took < 0.3 + GRACE + SLACK
    assert not is_alive(*pids(tmp_path / "pid"))


@pytest.mark.parametrize("timeout_ms", [0, 1])
async def test_f03_no_time_is_no_answer(tmp_path: Path, timeout_ms: int) -> None:
    """With a limit of 0 a command is not even begun; with one of a millisecond no command can answer in time."""
    lived = await live(tmp_path, configuration(guard(f"sleep 1; {QUIET}", timeout_ms=timeout_ms)))

    assert lived.result.reason == f"hook meerkat:guard failed: hook timed out after {timeout_ms}ms"
    assert not lived.mark


async def test_f06_a_run_that_is_dropped_takes_its_hook_along(tmp_path: Path) -> None:
    """Whoever cancels the run while a hook is asked ends the hook and its children, and the hook's end is on record."""
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    line = f"sleep 300 & echo $$ $! > {begun}; exec sleep 300"
    running = asyncio.ensure_future(live(tmp_path, configuration(guard(line))))
    hook, child = map(int, (await asyncio.to_thread(begun.read_text)).split())

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert wait_for_end(hook)
    assert wait_for_end(child)
    assert not (tmp_path / "MARK").exists()


async def test_f06_a_dispatch_that_is_dropped_takes_its_hook_along(tmp_path: Path) -> None:
    """The same for an engine without a session."""
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    config = configuration(guard(f"sleep 300 & echo $$ $! > {begun}; exec sleep 300"))
    async with opened(tmp_path, config).engine as engine:
        dispatching = asyncio.ensure_future(engine.dispatch(hl.BeforeToolCall(tool_name="bash", input={})))
        hook, child = map(int, (await asyncio.to_thread(begun.read_text)).split())
        dispatching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await dispatching

        assert [is_alive(pid) for pid in (hook, child)] == [False, False]


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)],
    ids=["term", "ctrl-c", "kill"],
)
@pytest.mark.slow
@pytest.mark.parametrize("mode", [GUARD, BACKGROUND], ids=["foreground", "background"])
def test_b46_the_host_takes_its_hooks_along(place: Place, number: int, code: int, mode: Json) -> None:
    """Told to end the host ends its hooks first; killed, its watchdog does: neither hook nor child is left."""
    os.mkfifo(place.project / "begun")
    line = "sleep 300 & echo $$ $! > begun; exec sleep 300"
    place.write_rkat(configuration(guard(line, timeout_ms=60_000, **mode)))

    host = place.start(bash("exec sleep 300"))
    hook, child = pids(place.project / "begun")
    host.send_signal(number)
    host.communicate(timeout=PATIENCE)

    assert host.returncode == code
    assert wait_for_end(hook)
    assert wait_for_end(child)


def test_b48_a_hook_without_a_limit_has_the_documented_one(tmp_path: Path) -> None:
    """Five seconds, or what `default_timeout_ms` says, at every point and for commands and endpoints alike."""
    url = {"type": "http", "url": "http://127.0.0.1:9/"}
    entries = [entry("command", runs(QUIET), point="run_started"), entry("http", url), guard(QUIET, timeout_ms=7)]

    for limits, seconds in (({}, 5), ({"default_timeout_ms": 250}, 0.25)):
        hooks = opened(tmp_path, configuration(*entries, **limits)).engine.hooks()
        assert [hook.timeout for hook in hooks] == [seconds, seconds, 0.007]


async def test_f21_a_child_in_a_session_of_its_own_is_found(tmp_path: Path) -> None:
    """`setsid` leaves the group, and is ended with the rest all the same."""
    line = f"setsid sleep 300 & echo $! > {tmp_path}/pid; sleep 300"
    lived = await live(tmp_path, configuration(guard(line, timeout_ms=300)))

    [outcome] = lived.kept.outcomes("before_tool_call")
    assert outcome.why is Failure.TIMEOUT
    assert wait_for_end(*pids(tmp_path / "pid"))


SECRETS = {
    "OPENAI_API_KEY": "sk-fake-0",
    "ANTHROPIC_API_KEY": "sk-fake-1",
    "GEMINI_API_KEY": "sk-fake-2",
    "HF_TOKEN": "sk-fake-3",
    "AZURE_OPENAI_API_KEY": "sk-fake-4",
    "HOOKLINE_TOKEN": "sk-fake-5",
    "HOOKLINE_STORE": "postgresql://u:sk-fake-6@127.0.0.1/x",
    "HOOKLINE_NATS": "nats://sk-fake-7@127.0.0.1:4222",
}
OTHERS = {"LANG": "C", "MY_SETTING": "yes", "KEYBOARD": "us", "LD_LIBRARY_PATH": "/x", "OPENAI_BASE_URL": "http://x"}
OWN = {"GUARD_MODE": "hard", "MY_SETTING": "own", "HF_TOKEN": "given"}
LISTS = "tr '\\0' '\\n' < /proc/self/environ > \"$0\"; echo '{}'"  # without what a shell adds by itself


def listing(folder: Path, **fields: Any) -> Json:
    """A guard that writes down its environment."""
    runtime = {"type": "command", "command": "sh", "args": ["-c", LISTS, str(folder / "env")], **fields}
    return entry("guard", runtime, **GUARD)


def listed(folder: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in (folder / "env").read_text().splitlines())


async def test_f05_a_command_inherits_all_but_credentials(tmp_path: Path) -> None:
    """The host's variables reach a command, but for providers' credentials and our own; the entry's are laid over."""
    config = configuration(listing(tmp_path, env=OWN))

    lived = await live(tmp_path, config, env={**SECRETS, **OTHERS})

    inherited = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(tmp_path / "home"), **OTHERS}
    assert (lived.ending, lived.mark) == ("completed", True)
    env = listed(tmp_path)
    assert {name: env.get(name) for name in SECRETS} == {name: OWN.get(name) for name in SECRETS}
    assert env == {**inherited, **OWN}
    assert "sk-fake" not in repr(lived.kept.records)


async def test_f05_a_command_may_have_its_own_environment_alone(tmp_path: Path) -> None:
    """With `inherit_env = false` a command has what its entry says, and nothing else."""
    own = {"PATH": "/usr/bin:/bin", **OWN}

    lived = await live(
        tmp_path, configuration(listing(tmp_path, env=own, inherit_env=False)), env={**SECRETS, **OTHERS}
    )

    assert (lived.ending, lived.mark) == ("completed", True)
    assert listed(tmp_path) == own


def test_f05_the_program_gives_no_credential_of_its_own_to_a_command(place: Place) -> None:
    """The same for the program's real environment."""
    mine = {name: value for name, value in SECRETS.items() if name not in ("HOOKLINE_STORE", "HOOKLINE_NATS")}
    place.write_rkat(configuration(listing(place.project)))

    told = place.exec(TOUCH, env={**mine, **OTHERS})

    env = listed(place.project)
    assert (told.code, place.mark) == (0, True)
    assert env.keys().isdisjoint(mine)
    assert {name: env.get(name) for name in OTHERS} == OTHERS


def test_b76_a_credential_that_is_given_is_in_no_record(place: Place) -> None:
    """A header or a variable of an entry's is the hook's alone: no journal and no line has its value."""
    secret = "given-fake-secret-0123456789"
    endpoint = {"type": "http", "url": "http://127.0.0.1:9/", "headers": {"Authorization": f"Bearer {secret}"}}
    place.write_rkat(
        configuration(
            entry("guard", runs(f'test -n "$GUARD_TOKEN" && {QUIET}', env={"GUARD_TOKEN": secret}), **GUARD),
            entry("http", endpoint, **GUARD),
        )
    )

    told = place.exec(TOUCH)

    assert [outcome.kind for outcome in told.outcomes("before_tool_call")] == ["answered", "failed"]
    written = "".join(file.read_text() for file in place.sessions.iterdir())
    assert secret not in written + told.err + told.out + place.trace()


def test_b74_a_command_runs_where_the_host_was_started(place: Place) -> None:
    """A relative path counts from there, whatever `--workspace` says and wherever the call itself runs."""
    elsewhere = place.root / "elsewhere"
    (elsewhere / "sub").mkdir(parents=True)
    check = place.project / "check.sh"
    check.write_text(f"pwd >> pwd; {QUIET}\n")
    place.write_users_rkat(
        configuration(entry("guard", {"type": "command", "command": "sh", "args": ["check.sh"]}, **GUARD))
    )

    told = place.exec(
        bash("true"), call("bash", command="true", workdir="sub"), options=("--workspace", str(elsewhere))
    )

    assert told.code == 0
    assert (place.project / "pwd").read_text() == f"{place.project}\n" * 2


async def test_b80_no_shell_is_needed(tmp_path: Path) -> None:
    """A command is started as it is written: no `SHELL` has a say, and nothing in `args` is expanded."""
    program = {"type": "command", "command": "printf", "args": ["%s", '{"decision":null}']}
    odd = {"type": "command", "command": "printf", "args": ["%s", "$HOME `id`"]}

    sound = await live(tmp_path, configuration(entry("h", program, **GUARD)), env={"SHELL": "/no/such/shell"})
    literal = await live(tmp_path, configuration(entry("h", odd, **GUARD)), MARKED)

    assert (sound.ending, sound.mark) == ("completed", True)
    [outcome] = literal.kept.outcomes("before_tool_call")
    assert isinstance(outcome.reply, Exited)
    assert outcome.reply.stdout == b"$HOME `id`"
    assert literal.ending == "failed"

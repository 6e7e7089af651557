"""Reports of guards that did not guard: "no answer" must be seen to be something else than "yes"."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.rig import CHILD, INPUTS, TOUCH, Place, bash_call, command, denying, document, engine_for

import hookline as hl
from hookline._core.outcomes import Kind
from hookline._core.reasons import Failure
from hookline.journal import entries as en

UNHEARD = "proceeded_without_answer"
SLEEPS = f"sleep 8; {denying('no')}"


@pytest.mark.slow
def test_b01_a_guard_that_times_out_is_told_of(place: Place) -> None:
    """The session goes on, as the dialect has it; stream, exit summary and trace say that nobody answered."""
    place.write_project(document(PreToolUse=[command(SLEEPS, timeout=1)]))

    told = place.exec(TOUCH, options=("--json",))

    assert place.mark
    assert [each["status"] for each in told.payloads("hook_run_terminal")] == ["timed_out"]
    assert told.lines[-1] == (
        f"hookline: hook hooks.json:PreToolUse[0].hooks[0] failed: hook timed out after 1s [{UNHEARD}]"
    )
    assert UNHEARD in place.trace()


@pytest.mark.slow
def test_b01_a_fallback_may_block_in_its_place(place: Place) -> None:
    """What a guard that timed out cannot say any more its `onFailure` says: the call does not happen."""
    place.write_project(document(PreToolUse=[command(SLEEPS, timeout=1, onFailure=command("echo no >&2; exit 2"))]))

    told = place.exec(TOUCH)

    assert not place.mark
    [outcome] = told.outcomes("before_tool_call")
    assert [link.why for link in outcome.links] == ["timeout"]
    assert outcome.decision == en.Decision(decision="deny", reason="no")


@pytest.mark.slow
def test_b01_strict_refuses_what_was_not_answered(place: Place) -> None:
    """Under `--strict` a guard that times out has denied, and the trace marks nothing as unheard."""
    place.write_project(document(PreToolUse=[command(SLEEPS, timeout=1)]))

    told = place.exec(TOUCH, options=("--strict",))

    assert not place.mark
    assert told.of(en.CallEnded)[0].status == "refused"
    assert UNHEARD not in place.trace() + told.err


def test_b04_exit_one_is_told_that_only_two_blocks(place: Place) -> None:
    """Exit 1 never blocks in this dialect; the record and the exit summary say what would have."""
    place.write_project(document(PreToolUse=[command("echo BLOCKED >&2; exit 1")]))

    told = place.exec(TOUCH)

    assert place.mark
    [outcome] = told.outcomes("before_tool_call")
    assert (outcome.kind, outcome.why, outcome.code) == ("failed", "exit_code", 1)
    assert outcome.stderr == "BLOCKED\n"
    assert "exited with 1" in told.lines[-1]
    assert "only exit 2 with a reason on standard error blocks" in told.lines[-1]


def test_b05_a_guard_that_cannot_start_is_one_line_a_session(place: Place) -> None:
    """A path that leads nowhere (127) and a file without the x bit (126): an outcome of its own, told once each."""
    place.write_project(document(PreToolUse=[command("/no/such/guard.py"), command("./guard.py")]))
    (place.project / "guard.py").write_text("#!/bin/sh\nexit 2\n")

    told = place.exec(TOUCH, TOUCH)

    assert [outcome.why for outcome in told.outcomes("before_tool_call")] == ["could_not_start"] * 4
    first, second = told.lines[-2:]
    assert first.startswith("hookline: hook hooks.json:PreToolUse[0].hooks[0] failed: ")
    assert "/no/such/guard.py: not found" in first
    assert "guard.py: Permission denied" in second
    assert first.endswith("(2 times)")
    assert second.endswith("(2 times)")


async def test_b07_a_guard_that_keeps_crashing_stays_a_guard() -> None:
    """Nothing switches a guard off for its failures: each is a refusal, and it is asked about the next call again."""
    engine = hl.new_engine()

    @engine.on(hl.BeforeToolCall)
    async def guard(event: hl.BeforeToolCall) -> hl.Deny | None:
        line: str = event.input["command"]
        if "\n" in line:
            raise ValueError("a newline")
        return hl.Deny("no deleting") if line.startswith("rm") else None

    crashes = [await engine.dispatch(bash_call(f"cat 'a\n{number}'")) for number in range(3)]

    assert [crash.outcomes[0].why for crash in crashes] == [Failure.CRASHED] * 3
    assert all(crash.denied for crash in crashes)
    assert (await engine.dispatch(bash_call("rm -rf build"))).decision == hl.Deny("no deleting")
    assert (await engine.dispatch(bash_call("ls"))).decision is None


async def test_b08_strict_refuses_with_the_last_words(tmp_path: Path) -> None:
    """A guard that dies before it prints anything has refused, and the last line of its standard error says why."""
    hooks = document(PreToolUse=[command(f"{sys.executable} -I -c 'import missing_module'")])
    async with engine_for(tmp_path, hooks, strict=True) as engine:
        resolution = await engine.dispatch(bash_call())

    assert resolution.denied
    assert resolution.outcomes[0].why is Failure.EXIT_CODE
    assert "No module named 'missing_module'" in resolution.reason


@pytest.mark.parametrize(
    ("line", "why"),
    [("exec /no/such/bin", Failure.COULD_NOT_START), ("sleep 9", Failure.TIMEOUT)],
    ids=["could not start", "timed out"],
)
async def test_b09_strict_decides_by_the_outcome(tmp_path: Path, line: str, why: Failure) -> None:
    """How a hook ended is one of a closed set, and under strict everything but an answer refuses."""
    event = hl.BeforeToolCall(tool_name="write_file", input={"path": "a", "content": "b"})
    async with engine_for(tmp_path, document(PreToolUse=[command(line)]), timeout=0.2, strict=True) as engine:
        resolution = await engine.dispatch(event)

    assert resolution.denied
    assert [(outcome.kind, outcome.why) for outcome in resolution.outcomes] == [(Kind.FAILED, why)]


async def test_b09_a_python_guard_needs_no_strict(tmp_path: Path) -> None:
    """A guard registered in code refuses when it hangs or breaks, unless its author asked for something else."""
    engine = hl.new_engine()

    @engine.on(hl.BeforeToolCall, timeout=0.05)
    async def hangs(event: hl.BeforeToolCall) -> hl.Deny | None:
        await asyncio.Event().wait()
        return None

    @engine.on(hl.BeforeToolCall, on_failure=hl.FailurePolicy.IGNORE)
    async def may_break(event: hl.BeforeToolCall) -> hl.Deny | None:
        raise RuntimeError("broken")

    resolution = await engine.dispatch(bash_call())

    assert resolution.denied
    assert "hangs" in str(resolution.decided_by)


def test_b11_an_always_deny_hook_means_no_call_at_all(place: Place) -> None:
    """Every tool there is, asked for in one session: none starts, none has a result event, nothing is written."""
    assert {tool.spec.name for tool in hl.tools()} == set(INPUTS)
    place.write_project(document(PreToolUse=[command("echo never >&2; exit 2")]))
    calls = [{"tool": name, "input": wanted} for name, wanted in INPUTS.items()]
    (place.project / "there.txt").write_text("here")

    told = place.exec({"calls": calls})

    assert [ended.status for ended in told.of(en.CallEnded)] == ["refused"] * len(INPUTS)
    assert len(told.dispatched("before_tool_call")) == len(INPUTS)
    assert told.of(en.CallStarted) == told.dispatched("after_tool_call") == told.dispatched("subagent_start") == []
    assert sorted(path.name for path in place.project.iterdir()) == [".muse", "there.txt"]
    assert (place.project / "there.txt").read_text() == "here"


def test_b95_a_child_agent_has_the_same_guards(place: Place) -> None:
    """A call that a child makes is asked about like its parent's, with the child's id in the payload, and denied."""
    deny = "grep -q MARK payload && echo no >&2 && exit 2"
    place.write_project(document(PreToolUse=[command(f"cat > payload; cp payload $$.payload; {deny}; exit 0")]))

    told = place.exec(script=CHILD)

    assert (told.code, place.mark) == (0, False)
    payloads = [json.loads(path.read_text()) for path in place.project.glob("*.payload")]
    names = {payload["tool_name"]: payload["session_id"] for payload in payloads}
    assert set(names) == {"subagent_spawn", "bash"}
    assert len(set(names.values())) == 2


@pytest.mark.parametrize("line", ["exit 3", "sleep 9", "echo '{not-json'", "echo 'not-json{'"])
async def test_b13_strict_or_a_record(tmp_path: Path, line: str) -> None:
    """Strict: a guard that says nothing sound refuses. Otherwise the call goes on, and how it ended is on record."""
    hooks = document(PreToolUse=[command(line)])
    async with (
        engine_for(tmp_path, hooks, timeout=0.3) as lenient,
        engine_for(tmp_path, hooks, timeout=0.3, strict=True) as strict,
    ):
        went_on, refused = await lenient.dispatch(bash_call()), await strict.dispatch(bash_call())

    assert not went_on.denied
    assert refused.denied
    [outcome] = went_on.outcomes
    assert outcome.detail or (outcome.answer and outcome.answer.notes)


async def test_f12_a_guard_that_crashes_hangs_or_babbles_refuses() -> None:
    """In code: an exception, no end, and a value that is no answer each refuse the call, within the guard's limit."""
    engine = hl.new_engine()

    @engine.on(hl.BeforeToolCall, match=hl.names("crash"))
    async def crashes(event: hl.BeforeToolCall) -> hl.Deny | None:
        raise OSError("gone")

    @engine.on(hl.BeforeToolCall, match=hl.names("hang"), timeout=0.05)
    async def hangs(event: hl.BeforeToolCall) -> hl.Deny | None:
        await asyncio.Event().wait()
        return None

    @engine.on(hl.BeforeToolCall, match=hl.names("babble"))
    async def babbles(event: hl.BeforeToolCall) -> Any:
        return {"action": "certainly"}

    said = [await engine.dispatch(hl.BeforeToolCall(tool_name=name, input={})) for name in ("crash", "hang", "babble")]

    assert [each.denied for each in said] == [True, True, True]
    assert [each.outcomes[0].why for each in said] == [Failure.CRASHED, Failure.TIMEOUT, Failure.MALFORMED_ANSWER]


async def test_f16_one_broken_handler_stops_no_other() -> None:
    """An exception in a handler, whatever it is, and a handler without end keep no later one from the event."""
    engine = hl.new_engine()
    asked: list[str] = []

    @engine.on(hl.AfterToolCall, timeout=0.05)
    async def hangs(event: hl.AfterToolCall) -> None:
        await asyncio.Event().wait()

    @engine.on(hl.AfterToolCall)
    async def broken(event: hl.AfterToolCall) -> None:
        raise RuntimeError("broken")

    @engine.on(hl.AfterToolCall)
    def leaves(event: hl.AfterToolCall) -> None:
        raise SystemExit(1)

    @engine.on(hl.AfterToolCall)
    async def audits(event: hl.AfterToolCall) -> None:
        asked.append(event.tool_name)

    resolution = await engine.dispatch(hl.AfterToolCall(tool_name="bash", input={}, response="ok"))

    assert asked == ["bash"]
    assert [outcome.kind for outcome in resolution.outcomes] == [*[Kind.FAILED] * 3, Kind.ANSWERED]

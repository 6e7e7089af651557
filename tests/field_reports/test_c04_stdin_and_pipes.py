"""Reports about standard input: write it, close it, take an early end for what it is, and bound all of it."""

import time
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.rig import BUFFER, Place, bash, bash_call, call, command, document, engine_for

import hookline as hl
from hookline._core.payload import Exited, Limits, Payload
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget
from hookline.adapters import builtin
from hookline.journal import entries as en

KIB = 1024
SLACK = 1.5  # what a busy machine may add to a bound


def test_b36_a_hook_that_reads_nothing_is_not_at_fault(place: Place) -> None:
    """200 KiB for hooks that end early: successes, with what each has read on record; the trace tells half a read."""
    place.write_project(document(PreToolUse=[command("exit 0"), command("head -c 1000 >/dev/null")]))

    told = place.exec(call("write_file", path="large.txt", content="x" * (200 * KIB)))

    unread, partly = told.outcomes("before_tool_call")
    assert (unread.kind, partly.kind) == ("answered", "answered")
    assert unread.stdin_read == 0
    assert unread.stdin_size > 200 * KIB
    assert partly.stdin_read is not None
    assert 0 < partly.stdin_read < partly.stdin_size
    assert f"read {partly.stdin_read} of {partly.stdin_size} bytes of its input" in place.trace()
    assert (place.project / "large.txt").stat().st_size == 200 * KIB


async def test_f01_an_early_end_is_no_failed_write(tmp_path: Path) -> None:
    """100 KiB that nobody reads: the adapter's reply is the hook's own end, for a hook of any dialect."""
    adapter = builtin()[CommandTarget]
    target = CommandTarget(("/bin/sh", "-c", "exit 0"), {})

    reply = await adapter.call(target, Payload(bash_call(), b"x" * (100 * KIB), str(tmp_path)), Limits(10))
    await adapter.aclose()

    assert reply == Exited(code=0, stdin_read=0, stdin_size=100 * KIB)


OCCURRENCES: dict[str, Any] = {
    "SessionStart": hl.SessionStart(source="startup"),
    "UserPromptSubmit": hl.BeforeRun(prompt="go"),
    "PreToolUse": hl.BeforeToolCall(tool_name="bash", input={"command": "ls"}),
    "PermissionRequest": hl.PermissionRequest(tool_name="bash", input={"command": "ls"}),
    "PostToolUse": hl.AfterToolCall(tool_name="bash", input={"command": "ls"}, response="a"),
    "PostToolUseFailure": hl.ToolCallFailed(tool_name="bash", input={"command": "ls"}, error="no"),
    "PostToolBatch": hl.AfterToolBatch(),
    "PreLLMCall": hl.BeforeModelCall(provider="script"),
    "PostLLMCall": hl.AfterModelCall(provider="script"),
    "PreCompact": hl.BeforeCompaction(trigger="manual"),
    "PostCompact": hl.AfterCompaction(trigger="manual"),
    "SubagentStart": hl.SubagentStart(subagent_id="agent-1"),
    "SubagentStop": hl.SubagentEnd(subagent_id="agent-1"),
    "Stop": hl.BeforeRunEnd(last_message="done"),
    "StopFailure": hl.RunFailed(category="rate_limit"),
    "SessionEnd": hl.SessionEnd(reason="other"),
    "Notification": hl.Notification(notification_type="permission_prompt"),
}
ENDS = [hl.SessionEnd(reason=reason) for reason in ("clear", "interrupted", "terminated")]


async def test_b38_every_event_ends_its_input(tmp_path: Path) -> None:
    """`cat` returns at all 17 events, and for every reason that a session ends: the input has an end."""
    hooks = document(**{name: [command("cat >/dev/null; echo '{}'")] for name in OCCURRENCES})
    async with engine_for(tmp_path, hooks, timeout=5) as engine:
        assert len(engine.hooks()) == len(OCCURRENCES) == 17
        for event in (*OCCURRENCES.values(), *ENDS):
            [outcome] = (await engine.dispatch(event)).outcomes
            assert outcome.ok, (event.point.name, outcome.detail)
            assert isinstance(outcome.reply, Exited)
            assert outcome.reply.stdin_read == outcome.reply.stdin_size > 0


def test_b38_nothing_waits_for_the_terminals_input(place: Place) -> None:
    """A whole session in which every hook reads to the end of its input runs through."""
    reads = [command("cat >/dev/null; echo '{}'", timeout=5)]
    place.write_project(document(**dict.fromkeys(OCCURRENCES, reads)))

    told = place.exec(bash("true"), bash("false"), prompts=("one", "/compact", "/clear", "two"))

    assert told.code == 0
    ended = [outcome for body in told.of(en.Dispatched) for outcome in body.outcomes]
    assert {outcome.kind for outcome in ended} == {"answered"}
    points = {body.event["point"] for body in told.of(en.Dispatched) if body.outcomes}
    assert len(points) == 12  # all but those about a child, an approval and a failed model call


async def test_b39_one_deadline_covers_writing_too(tmp_path: Path) -> None:
    """A hook that sleeps before it reads more than a pipe holds is ended at its limit, as any other."""
    event = bash_call("true", call_id="x" * (2 * BUFFER))
    async with engine_for(tmp_path, document(PreToolUse=[command("sleep 30; cat >/dev/null")]), timeout=0.2) as engine:
        begun = time.monotonic()
        [outcome] = (await engine.dispatch(event)).outcomes
        took = time.monotonic() - begun

    assert outcome.why is Failure.TIMEOUT
    assert took < 0.2 + SLACK


def test_b42_no_mark_goes_in_and_one_may_come_out(place: Place) -> None:
    """Payloads begin with `{`. A byte order mark is accepted in a hook file, in the settings and before an answer."""
    mark = b"\xef\xbb\xbf"
    answer = r"""printf '\357\273\277{"systemMessage": "seen"}'"""
    hooks = document(Stop=[command(f"head -c 1 > first; {answer}")])
    for path in (place.write_project(hooks), place.write_settings(document(Stop=[command("exit 0")]))):
        path.write_bytes(mark + path.read_bytes())

    told = place.exec()

    assert [outcome.kind for outcome in told.outcomes("before_run_end")] == ["answered", "answered"]
    assert (place.project / "first").read_bytes() == b"{"
    assert "hookline: seen" in told.lines


@pytest.mark.parametrize("size", [BUFFER, BUFFER + 1, 250 * KIB])
async def test_b42_the_payload_arrives_whole(tmp_path: Path, size: int) -> None:
    """What a hook reads is one line of JSON, the same bytes at every size."""
    line = f"cat > {tmp_path}/got"
    async with engine_for(tmp_path, document(PreToolUse=[command(line)])) as engine:
        await engine.dispatch(bash_call("x" * size))

    got = (tmp_path / "got").read_bytes()
    assert got.startswith(b'{"hook_event_name": "PreToolUse"')
    assert got.count(b"x" * size) == 1
    assert got.count(b"\n") == 1

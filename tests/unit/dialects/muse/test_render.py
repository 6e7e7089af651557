"""The `--json` stream and the lines on standard error, as renderings of what an engine and a session record."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from hookline._core import events as ev
from hookline._core.decisions import Deny
from hookline._core.hooks import Hook
from hookline._core.messages import Message
from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply
from hookline._core.points import Event, Origin
from hookline._core.reasons import Failure
from hookline._core.records import (
    CallEnded,
    CallStarted,
    CallStatus,
    ContextAdded,
    Ending,
    MessageAdded,
    Noted,
    Record,
    ReopenRefused,
    RunEnded,
    RunStarted,
    SessionClosed,
    SessionOpened,
)
from hookline._core.targets import CommandTarget
from hookline._engine.engine import HookEngine
from hookline.dialects import code
from hookline.dialects.muse.dialect import DIALECT
from hookline.dialects.muse.render import Stream, notices
from hookline.dialects.muse.rules import BY_EVENT

ORIGIN = Origin(session_id="s1", run_id="r1", cwd="/p")
OUTSIDE = Origin(session_id="s1", cwd="/p")
PROMPT = ev.BeforeRun(prompt="hello", origin=ORIGIN)
CALL = ev.BeforeToolCall(tool_name="bash", input={"command": "ls"}, call_id="c1", origin=ORIGIN)

REWRITE = b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "pwd"}}}'


class Scripted:
    """An adapter that gives each hook its reply; one that has none hangs until it is cancelled."""

    def __init__(self, replies: dict[str, Reply]) -> None:
        self._replies = replies
        self.waiting = asyncio.Event()

    async def call(self, target: CommandTarget, payload: Payload, limits: Limits) -> Reply:
        reply = self._replies.get(target.written)
        if reply is None:
            self.waiting.set()
            await asyncio.Event().wait()
            raise AssertionError("nobody sets that")
        return reply

    async def aclose(self) -> None:
        return None


class Kept:
    """A recorder that keeps everything."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def record(self, record: Record) -> None:
        self.records.append(record)

    def close(self) -> None:
        return None


def hook(name: str, event: type[Event], *, background: bool = False, fallback: Hook | None = None) -> Hook:
    return Hook(
        id=name,
        key=f"/p/hooks.json:{name}",
        event=event,
        target=CommandTarget(("sh",), {}, name),
        dialect="muse",
        commits=frozenset() if background else BY_EVENT[event].admits,
        background=background,
        fallback=fallback,
    )


async def fire(events: Sequence[Event], replies: dict[str, Reply], *hooks: Hook) -> list[Record]:
    """What an engine records when it is given *events*, each hook replying as said."""
    kept = Kept()
    engine = HookEngine(
        dialects=(DIALECT, code.DIALECT), in_code=code.DIALECT, adapters={CommandTarget: Scripted(replies)}, hooks=hooks
    )
    async with engine:
        for event in events:
            await engine.recording(kept).dispatch(event)
            await engine.drain(event.origin.session_id, 5.0)
    return kept.records


def rendered(records: Sequence[Record]) -> list[dict[str, Any]]:
    stream = Stream(lambda: 1_700_000_000_123_456_789)
    return [json.loads(line) for record in records for line in stream.lines(record)]


def payloads(records: Sequence[Record]) -> list[dict[str, Any]]:
    return [line["payload"] for line in rendered(records)]


def without(body: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in keys}


def ended(ending: Ending = Ending.COMPLETED, text: str = "", reason: str | None = None) -> RunEnded:
    return RunEnded(origin=ORIGIN, ending=ending, text=text, reason=reason)


# The envelope (section 18.3)


def test_the_terminal_record_is_the_documents() -> None:
    """The text that the source document shows stands in the line, byte for byte."""
    (line,) = Stream().lines(ended(Ending.CANCELLED, reason="prompt mentions a secret"))
    shown = '{"kind": "run_terminal", "terminal": "cancelled", "text": "", "reason": "prompt mentions a secret"}'

    assert f'"payload": {shown}}}' in line


def test_a_line_has_an_envelope() -> None:
    """A record's stream, number, time and cause stand around it; how the run ended changes none of them."""
    (line,) = rendered([ended(Ending.FAILED, reason="no answer")])
    envelope = {
        "schema_version": 1,
        "id": "r1:1",
        "stream": {"kind": "run", "id": "r1"},
        "sequence": 1,
        "recorded_at": 1_700_000_000_123_456,
        "record_type": "event",
        "durability": "durable",
        "causation_id": "r1:command",
        "payload_type": "run.terminal.completed",
        "payload_schema_version": 1,
        "payload": {"kind": "run_terminal", "terminal": "failed", "text": "", "reason": "no answer"},
    }

    assert list(envelope.items()) == list(line.items())


def test_a_run_begins_with_the_command_that_asked_for_it() -> None:
    """A prompt is accepted and linked in the session's stream, and opens its own; each stream counts from 1."""
    lines = rendered([RunStarted(origin=ORIGIN, prompt="hello"), ended(text="echo: hello")])
    told = [(line["stream"]["kind"], line["sequence"], line["payload"]["kind"]) for line in lines]
    bodies = [without(line["payload"], "kind") for line in lines]

    assert told == [
        ("session", 1, "command_accepted"),
        ("session", 2, "session_run_linked"),
        ("run", 1, "run_started"),
        ("run", 2, "turn_input_user"),
        ("run", 3, "run_terminal"),
    ]
    assert bodies == [
        {"command_id": "r1:command"},
        {"session_id": "s1", "run_id": "r1"},
        {"run_id": "r1"},
        {"text": "hello"},
        {"terminal": "completed", "text": "echo: hello", "reason": None},
    ]


def test_what_the_stream_has_no_kind_for_is_left_out() -> None:
    """The stream is one rendering of the account, not all of it."""
    records: list[Record] = [
        SessionOpened(origin=OUTSIDE, source="startup", workspace="/p"),
        MessageAdded(origin=ORIGIN, message=Message(role="user", text="hello")),
        MessageAdded(origin=ORIGIN, message=Message(role="assistant", text="")),
        Noted(origin=ORIGIN, text="a line"),
        SessionClosed(origin=OUTSIDE, reason="other"),
    ]

    assert rendered(records) == []


# The agent's own records


def test_the_models_text_is_output() -> None:
    """What the model says is output as it is said."""
    record = MessageAdded(origin=ORIGIN, message=Message(role="assistant", text="echo: hello"))

    assert payloads([record]) == [{"kind": "run_output_delta", "text": "echo: hello"}]


def test_a_call_that_ran_is_a_task() -> None:
    """A call's start and end are a task's, and its result is what the model is told."""
    records = [
        CallStarted(origin=ORIGIN, call_id="c1", tool="bash", input={"command": "ls"}),
        CallEnded(origin=ORIGIN, call_id="c1", tool="bash", status=CallStatus.DONE, text="a b", duration=0.25),
    ]
    task = {"kind": "task_lifecycle", "task_id": "c1", "tool_name": "bash"}
    result = {"kind": "tool_result", "tool_use_id": "c1", "tool_name": "bash", "status": "completed", "text": "a b"}

    assert [
        {**task, "state": "started", "input": {"command": "ls"}},
        {**task, "state": "completed", "duration_ms": 250},
        result,
    ] == payloads(records)


def test_a_refused_call_was_never_a_task() -> None:
    """A call that a hook refused has a result, which the model reads, and nothing that ran."""
    text = "tool blocked by hook: no"
    record = CallEnded(origin=ORIGIN, call_id="c1", tool="bash", status=CallStatus.REFUSED, text=text)
    result = {"kind": "tool_result", "tool_use_id": "c1", "tool_name": "bash", "status": "refused", "text": text}

    assert [result] == payloads([record])


@pytest.mark.parametrize(
    ("point", "snake", "scope"),
    [
        ("session_start", "session_start", "session"),
        ("before_run", "user_prompt_submit", "prompt"),
        ("after_tool_call", "post_tool_use", "tool"),
        ("step_end", "step_end", "tool"),
    ],
)
def test_context_is_a_block(point: str, snake: str, scope: str) -> None:
    """A hook's text is a block of the developer's, named after its event and numbered within the session."""
    record = ContextAdded(origin=ORIGIN, point=point, hook="h", text="c", number=2)
    block = {
        "kind": "context_block_updated",
        "id": f"hook:{snake}:{scope}:2",
        "role": "developer",
        "source": "runtime_hook",
        "lifecycle": snake,
        "order": 900_002,
        "text": "c",
        "reason": f"hook:{snake}",
    }

    assert [block] == payloads([record])


def test_a_continuation_over_the_limit_is_a_diagnostic() -> None:
    """T01: the run completes, and the stream says that a hook wanted otherwise."""
    record = ReopenRefused(origin=ORIGIN, point="before_run_end", hook="h", limit=8)
    diagnostic = {
        "kind": "context_block_diagnostic",
        "id": "hook:stop:continuation-cap",
        "reason": "stop_hook_continuation_cap_reached",
        "text": "Stop hook continuation limit reached; ignoring the continuation and completing normally.",
    }

    assert [diagnostic] == payloads([record])


# Hook runs (section 17.1)


async def test_a_hook_run_has_a_start_and_an_end() -> None:
    """Each run is told twice: as it starts and, once its event was folded, as it ended, without its output if sound."""
    records = await fire([PROMPT], {"a": Exited(code=0, stdout=b"context", stderr=b"warned")}, hook("a", ev.BeforeRun))
    start, end = payloads(records)
    head = {
        "run_id": "/p/hooks.json:a:1",
        "hook_key": "/p/hooks.json:a",
        "event": "UserPromptSubmit",
        "display_order": 0,
    }

    assert {"kind": "hook_run_started", **head} == start
    assert {
        "kind": "hook_run_terminal",
        **head,
        "status": "completed",
        "exit_code": 0,
        "stdout": "",
        "stderr": "warned",
        "error": None,
        "effects": ["context"],
    } == without(end, "duration_ms")
    assert isinstance(end["duration_ms"], int)


async def test_a_failed_run_keeps_its_output() -> None:
    """A failure's output and its reason stand in the record, and it has no effects to name."""
    records = await fire([PROMPT], {"a": Exited(code=1, stdout=b"half", stderr=b"oops")}, hook("a", ev.BeforeRun))
    end = payloads(records)[-1]
    error = "exited with 1: oops; only exit 2 with a reason on standard error blocks"

    assert ("failed", 1, "half", "oops", error) == (
        end["status"],
        end["exit_code"],
        end["stdout"],
        end["stderr"],
        end["error"],
    )
    assert "effects" not in end


async def test_a_run_without_an_exit_status_has_none() -> None:
    """P06: a timeout is told as such, with the limit in its text and no exit status."""
    late = CallFailed(why=Failure.TIMEOUT, detail="hook timed out after 1s", code=-9, stdout=b"half")
    end = payloads(await fire([PROMPT], {"a": late}, hook("a", ev.BeforeRun)))[-1]

    assert (
        end["status"],
        end["exit_code"],
        end["stdout"],
        end["error"],
    ) == ("timed_out", None, "half", "hook timed out after 1s")


async def test_runs_are_numbered_within_the_session_and_hooks_once() -> None:
    """`run_id` counts runs over all hooks; `display_order` stays with its hook; ends follow the configured order."""
    replies: dict[str, Reply] = {"a": Exited(code=0), "b": Exited(code=2, stderr=b"no")}
    hooks = hook("a", ev.BeforeRun), hook("b", ev.BeforeRun)
    told = payloads(await fire([PROMPT, PROMPT], replies, *hooks))
    ends = [(each["run_id"], each["display_order"]) for each in told if each["kind"] == "hook_run_terminal"]

    assert ends == [
        ("/p/hooks.json:a:1", 0),
        ("/p/hooks.json:b:2", 1),
        ("/p/hooks.json:a:3", 0),
        ("/p/hooks.json:b:4", 1),
    ]
    assert sum(each["kind"] == "hook_run_started" for each in told) == 4


async def test_a_fallback_has_a_pair_of_its_own() -> None:
    """F01: the attempt that failed and the one that took its place are two runs, in this order."""
    replies: dict[str, Reply] = {"a": Exited(code=1), "b": Exited(code=2, stderr=b"no")}
    told = payloads(await fire([PROMPT], replies, hook("a", ev.BeforeRun, fallback=hook("b", ev.BeforeRun))))

    assert [(each["kind"], each["run_id"], each.get("status")) for each in told] == [
        ("hook_run_started", "/p/hooks.json:a:1", None),
        ("hook_run_started", "/p/hooks.json:b:2", None),
        ("hook_run_terminal", "/p/hooks.json:a:1", "failed"),
        ("hook_run_terminal", "/p/hooks.json:b:2", "blocked"),
    ]


async def test_a_rewritten_call_is_the_same_call() -> None:
    """A rewrite changes the event under its hook's hands; start and end of the run are still one run's."""
    told = payloads(await fire([CALL], {"a": Exited(code=0, stdout=REWRITE)}, hook("a", ev.BeforeToolCall)))

    assert [each["run_id"] for each in told] == ["/p/hooks.json:a:1"] * 2
    assert told[-1]["effects"] == ["rewrite_selected"]


async def test_a_message_for_the_user_stands_in_the_record() -> None:
    """What a hook has to say to the person stands beside how it ended."""
    reply = Exited(code=0, stdout=b'{"systemMessage": "mind the gap"}')
    end = payloads(await fire([PROMPT], {"a": reply}, hook("a", ev.BeforeRun)))[-1]

    assert end["system_message"] == "mind the gap"


async def test_async_hooks_leave_no_record() -> None:
    """An async hook runs beside the stream, and so does its fallback."""
    lone = hook("a", ev.BeforeRun, background=True, fallback=hook("b", ev.BeforeRun, background=True))

    assert payloads(await fire([PROMPT], {"a": Exited(code=1), "b": Exited(code=0)}, lone)) == []


async def test_hooks_at_the_end_of_a_session_leave_no_record() -> None:
    """The session's log is closed by the time they end."""
    end = ev.SessionEnd(reason="other", origin=OUTSIDE)

    assert payloads(await fire([end], {"a": Exited(code=0)}, hook("a", ev.SessionEnd))) == []


async def test_a_hook_that_was_not_started_leaves_no_record() -> None:
    """P10: an occurrence whose payload is too large has no run."""
    large = ev.BeforeRun(prompt="x" * 300_000, origin=ORIGIN)

    assert payloads(await fire([large], {"a": Exited(code=0)}, hook("a", ev.BeforeRun))) == []


async def test_handlers_in_code_are_no_runs_of_this_dialect() -> None:
    """The stream tells of the hooks that the dialect has."""
    kept = Kept()
    async with HookEngine(dialects=(DIALECT, code.DIALECT), in_code=code.DIALECT, adapters={}) as engine:
        engine.on(ev.BeforeRun)(lambda _: Deny("no"))
        await engine.recording(kept).dispatch(PROMPT)

    assert kept.records
    assert payloads(kept.records) == []


async def test_a_run_that_is_cut_off_ends_with_its_run() -> None:
    """Cancelling an event ends its runs as cancelled, those that had ended already as what they were."""
    kept = Kept()
    adapter = Scripted({"done": Exited(code=1)})
    hooks = hook("done", ev.BeforeRun), hook("hangs", ev.BeforeRun)
    engine = HookEngine(
        dialects=(DIALECT, code.DIALECT), in_code=code.DIALECT, adapters={CommandTarget: adapter}, hooks=hooks
    )
    async with engine:
        dispatch = asyncio.create_task(engine.recording(kept).dispatch(PROMPT))
        await adapter.waiting.wait()
        dispatch.cancel()
        await asyncio.wait([dispatch])
    told = payloads(
        [*kept.records, ended(Ending.CANCELLED, reason="interrupted"), SessionClosed(origin=OUTSIDE, reason="other")]
    )

    assert [(each["kind"], each.get("status")) for each in told] == [
        ("hook_run_started", None),
        ("hook_run_started", None),
        ("hook_run_terminal", "failed"),
        ("hook_run_terminal", "cancelled"),
        ("run_terminal", None),
    ]


async def test_any_text_is_one_line() -> None:
    """What a hook writes cannot break the stream: each line is one JSON object."""
    reply = Exited(code=1, stdout=b'"\n\xff\x00', stderr=b"\r\n\xe2\x80\xa8")
    stream = Stream()
    lines = [
        line for record in await fire([PROMPT], {"a": reply}, hook("a", ev.BeforeRun)) for line in stream.lines(record)
    ]

    assert all("\n" not in line and isinstance(json.loads(line), dict) for line in lines)
    assert json.loads(lines[-1])["payload"]["stdout"] == '"\n\ufffd\x00'


# Standard error


@pytest.mark.parametrize(
    ("record", "lines"),
    [
        (Noted(origin=ORIGIN, text="mind the gap", hook="h"), ["muse: mind the gap"]),
        (Noted(origin=ORIGIN, text="two\nlines\x1b[2J\r"), ["muse: two", "muse: lines [2J "]),
        (
            ReopenRefused(origin=ORIGIN, point="before_run_end", hook="h", limit=8),
            [
                "muse: Stop hook continuation limit reached; ignoring the continuation and completing normally.",
            ],
        ),
        (RunStarted(origin=ORIGIN, prompt="hello"), []),
    ],
    ids=["message", "control characters", "continuation limit", "anything else"],
)
def test_a_notice_is_a_line_under_the_programs_name(record: Record, lines: list[str]) -> None:
    """A hook's message is shown to the person line by line, each under the program's name, and moves no cursor."""
    assert lines == notices(record, "muse")

"""`trace.jsonl`: the lines of a session, what each belongs to, and what stands in it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.dialects.murmur.rig import CAPSULE, COMMAND, ORIGIN, RUN, SESSION

from hookline._core import events as ev
from hookline._core import records as rec
from hookline._core.capsule import Capsule
from hookline._core.events.session import Totals
from hookline._core.messages import ToolCall, Usage
from hookline._core.points import Event
from hookline._core.resolution import Resolution
from hookline.dialects.murmur.trace import Stream

TASK = "tsk_" + RUN.replace("-", "")
CONTEXT = "0190a7e0-0000-7000-8000-000000000003"
COMMON = ("event_type", "event_id", "parent_id", "session_id", "timestamp")
TOOL: dict[str, Any] = {"tool_name": "editor", "input": {"a": 1}, "call_id": "call-1", "origin": ORIGIN}

OPENED = rec.SessionOpened(origin=ORIGIN, source="startup", workspace="/w")
STARTED = rec.RunStarted(origin=ORIGIN, prompt="go", source="a2a", context_id=CONTEXT, input_bytes=2)
ENDED = rec.RunEnded(
    origin=ORIGIN,
    ending=rec.Ending.COMPLETED,
    totals=rec.TaskTotals(
        status="ok", duration=2.0, steps=1, input_tokens=5, output_tokens=6, tool_calls=1, shell_calls=1, reopened=1
    ),
)
CLOSED = rec.SessionClosed(
    origin=ORIGIN,
    reason="other",
    totals=Totals(steps=1, input_tokens=5, output_tokens=6, tool_calls=1, shell_calls=1, duration=3.0, status="ok"),
)
ASKED = rec.HookAskedModel(
    origin=ORIGIN, hook="watch", model="small", decision="end_turn", input_tokens=1, output_tokens=2
)
SHELL = rec.ShellEnded(
    origin=ORIGIN,
    call_id="call-1",
    tool="bash",
    command=replace(COMMAND, text="x" * 300),
    exit_code=1,
    stdout_bytes=2,
    stderr_bytes=3,
    duration=0.5,
)
FORBIDDEN = rec.CallForbidden(
    origin=ORIGIN,
    call_id="call-1",
    tool="bash",
    target="/bin/bash",
    path="tests/a",
    rule="tests",
    signal=">",
    reason="no",
)
SEEDED = rec.ContextSeeded(
    origin=ORIGIN, hook="memory", outcome="trimmed", proposed=9, tokens=8, budget=8, message_ids=("msg_1",)
)
REJECTED = rec.ContextSeeded(origin=ORIGIN, hook="memory", outcome="rejected", reason="no_budget", proposed=9)


def dispatched(event: Event) -> rec.Dispatched:
    return rec.Dispatched(origin=ORIGIN, event=event, resolution=Resolution(event=event), duration=0.0)


INFERENCE = dispatched(
    ev.AfterModelCall(
        provider="p",
        step=3,
        usage=Usage(input_tokens=5, output_tokens=6),
        calls=(ToolCall(id="call-1", name="editor", input={}),),
        origin=ORIGIN,
    )
)
CALLED = dispatched(ev.AfterToolCall(**TOOL, text="out", duration=0.25))


def told(*records: rec.Record, capsule: Capsule = CAPSULE) -> list[dict[str, Any]]:
    stream = Stream(capsule, ("bash", "editor"))
    return [json.loads(line) for record in records for line in stream.lines(record)]


SESSION_FIELDS = {
    "capsule_name": "builder",
    "capsule_version": "1.2.0",
    "model": "large",
    "max_turns": 10,
    "capabilities": ["shell"],
    "tools_declared": ["bash", "editor"],
}
IDS = {"task_id": TASK, "context_id": "ctx_" + CONTEXT.replace("-", "")}
OF_TASK = {"turn": 3, "task_id": TASK}
TOOL_FIELDS = {
    **OF_TASK,
    "tool_name": "editor",
    "tool_call_id": "call-1",
    "input": {"a": 1},
    "input_bytes": 7,
    "output_bytes": 3,
    "duration_ms": 250,
    "status": "ok",
    "state_effect": None,
    "resource_id": None,
}

# A session in its order: the record, and the lines of it with the kind of the line that each belongs to.
ROWS: list[tuple[rec.Record, list[tuple[str, str | None, dict[str, Any]]]]] = [
    (OPENED, [("session_start", None, SESSION_FIELDS)]),
    (
        STARTED,
        [
            ("a2a_task_received", "session_start", IDS),
            ("task_start", "session_start", {**IDS, "source": "a2a", "message_parts_bytes": 2}),
        ],
    ),
    (
        SEEDED,
        [
            (
                "context_seed",
                "task_start",
                {
                    "task_id": TASK,
                    "hook_name": "memory",
                    "tokens": 8,
                    "proposed_tokens": 9,
                    "budget_tokens": 8,
                    "outcome": "trimmed",
                    "message_ids": ["msg_1"],
                },
            )
        ],
    ),
    (ASKED, []),
    (
        INFERENCE,
        [
            (
                "inference",
                "task_start",
                {
                    **OF_TASK,
                    "input_tokens": 1,
                    "output_tokens": 2,
                    "decision": "end_turn",
                    "tool_name": None,
                    "origin": "hook:watch",
                    "model": "small",
                },
            ),
            (
                "inference",
                "task_start",
                {
                    **OF_TASK,
                    "input_tokens": 5,
                    "output_tokens": 6,
                    "decision": "tool_call",
                    "tool_name": "editor",
                },
            ),
        ],
    ),
    (
        rec.Compacted(origin=ORIGIN, hook="compact", before=9, after=2),
        [("compaction", "inference", {**OF_TASK, "tokens_before": 9, "tokens_after": 2})],
    ),
    (
        rec.CompactionDeclined(origin=ORIGIN, tokens=9, reason="no_hook_replacement"),
        [("compaction_declined", "inference", {**OF_TASK, "tokens": 9, "reason": "no_hook_replacement"})],
    ),
    (CALLED, [("tool_call", "inference", TOOL_FIELDS)]),
    (
        dispatched(ev.ToolCallFailed(**TOOL, error="no", duration=0.25)),
        [("tool_call", "inference", TOOL_FIELDS | {"output_bytes": 2, "status": "error"})],
    ),
    (
        SHELL,
        [
            (
                "shell",
                "inference",
                {
                    **OF_TASK,
                    "binary": "/bin/bash",
                    "command": "x" * 200,
                    "exit_code": 1,
                    "stdout_bytes": 2,
                    "stderr_bytes": 3,
                    "duration_ms": 500,
                    "resource_limit": None,
                },
            )
        ],
    ),
    (
        FORBIDDEN,
        [
            (
                "protected_path_denied",
                "inference",
                {
                    "turn": 3,
                    "call": "bash",
                    "target": "/bin/bash",
                    "path": "tests/a",
                    "rule": "tests",
                    "signal": ">",
                    "reason": "no",
                },
            )
        ],
    ),
    (
        rec.Reopened(origin=ORIGIN, hook="verify", reason="tests fail", number=1),
        [
            (
                "task_reopened",
                "task_start",
                {"task_id": TASK, "hook_name": "verify", "reason": "tests fail", "reopen_number": 1},
            )
        ],
    ),
    (
        CALLED,
        [("tool_call", "task_start", TOOL_FIELDS)],  # the attempt that begins has no turn yet
    ),
    (
        ENDED,
        [
            (
                "task_end",
                "task_start",
                {
                    "task_id": TASK,
                    "exit_status": "ok",
                    "duration_ms": 2000,
                    "turns": 1,
                    "input_tokens": 5,
                    "output_tokens": 6,
                    "tool_calls": 1,
                    "shell_calls": 1,
                    "reopen_count": 1,
                },
            )
        ],
    ),
    (
        CLOSED,
        [
            (
                "session_end",
                "session_start",
                {
                    "total_turns": 1,
                    "total_input_tokens": 5,
                    "total_output_tokens": 6,
                    "total_tool_calls": 1,
                    "total_shell_calls": 1,
                    "duration_ms": 3000,
                    "exit_status": "ok",
                },
            )
        ],
    ),
]


def test_a_session_has_its_lines() -> None:
    """Each record gives rise to its lines, with their fields in their order, and each names what it belongs to."""
    lines = told(*(record for record, _ in ROWS))
    wanted = [line for _, mine in ROWS for line in mine]
    kinds = {line["event_id"]: line["event_type"] for line in lines}

    assert [(kind, fields) for kind, _, fields in wanted] == [
        (line["event_type"], {name: value for name, value in line.items() if name not in COMMON}) for line in lines
    ]
    assert [parent for _, parent, _ in wanted] == [kinds.get(line["parent_id"]) for line in lines]
    assert [list(fields) for *_, fields in wanted] == [list(line)[len(COMMON) :] for line in lines]


def test_lines_have_what_all_have() -> None:
    """The common fields come first, ids are unique, and a line belongs to one before it."""
    lines = told(*(record for record, _ in ROWS))

    assert {COMMON} == {tuple(line)[: len(COMMON)] for line in lines}
    assert {"ses_" + SESSION.replace("-", "")} == {line["session_id"] for line in lines}
    before: set[str | None] = {None}
    for line in lines:
        assert line["parent_id"] in before
        assert line["event_id"] not in before
        before.add(line["event_id"])
    assert all(line["event_id"].startswith("evt_") and len(line["event_id"]) == 36 for line in lines)
    assert {"7"} == {line["event_id"][16] for line in lines}
    assert all(isinstance(line["timestamp"], int) for line in lines)


def test_a_rejected_seed_is_a_fault() -> None:
    """It has its reason, and a fault that is flushed with the others."""
    [_, _, _, seed, fault, _] = told(OPENED, STARTED, REJECTED, CLOSED)[:6]

    assert ("rejected", "no_budget", 0) == (seed["outcome"], seed["reason"], seed["tokens"])
    assert ("memory", "on-task-start", "seed-rejected") == (fault["hook_name"], fault["event"], fault["arm"])


@pytest.mark.parametrize("capture", [False, True])
def test_output_is_traced_where_it_is_captured(capture: bool) -> None:
    """`output` stands in the line with `trace.capture`, and nowhere else."""
    [line] = told(CALLED, capsule=replace(CAPSULE, capture=capture))

    assert ("out" if capture else None) == line.get("output")


def test_a_run_that_is_no_task_has_no_lines_of_one() -> None:
    """The empty run when nobody sent a task is neither begun nor ended, and what happens in it is the session's."""
    lines = told(OPENED, replace(STARTED, source=""), INFERENCE, replace(ENDED, totals=None), CLOSED)

    assert ["session_start", "inference", "session_end"] == [line["event_type"] for line in lines]
    assert (lines[0]["event_id"], None) == (lines[1]["parent_id"], lines[1]["task_id"])


def test_only_a_message_is_received() -> None:
    """A task of the capsule's own folder begins without."""
    lines = told(replace(STARTED, source="task_md"))

    assert ["task_start"] == [line["event_type"] for line in lines]


def test_a_request_that_failed_is_no_inference() -> None:
    """There is no line of it."""
    assert [] == told(dispatched(ev.AfterModelCall(provider="p", status="error", error="no", origin=ORIGIN)))


@pytest.mark.parametrize("last", [CLOSED, ENDED, dispatched(ev.SessionEnd(reason="other", origin=ORIGIN))])
def test_what_a_hook_asked_the_model_is_never_lost(last: rec.Record) -> None:
    """It is told with the next event, and with the end of the task or of the session at the latest."""
    assert ["inference"] == [line["event_type"] for line in told(ASKED, last) if line.get("origin")]


def test_a_session_that_was_not_counted_ends_too() -> None:
    """There is one `session_end`, of zeros where nobody counted."""
    [line] = told(replace(CLOSED, totals=None))

    assert ("session_end", 0) == (line["event_type"], line["total_turns"])

"""What a hook is told, field by field (the records of the lifecycle interface, 0.8.0 and 0.5.0)."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.dialects.murmur.rig import CAPSULE, COMMAND, ORIGIN, hook

from hookline._core import events as ev
from hookline._core.events.session import Totals
from hookline._core.guests import GuestCall
from hookline._core.messages import Message, ToolCall, ToolSpec, Usage
from hookline._core.payload import Payload
from hookline._core.points import Event, Origin
from hookline.dialects.murmur.interfaces import OLDER
from hookline.dialects.murmur.payload import encode
from hookline.dialects.murmur.records import RECORDS
from hookline.dialects.murmur.rules import RULES

TASK, SESSION = "tsk_0190a7e0000070008000000000000002", "ses_0190a7e0000070008000000000000001"
TOOL: dict[str, Any] = {"tool_name": "editor", "input": {"path": "ä", "n": 1}, "call_id": "call-1", "origin": ORIGIN}
INPUT = '{"path":"ä","n":1}'
KIB16 = 16 * 1024


def told(event: Event, **terms: Any) -> GuestCall:
    payload = encode(event, hook(**terms))
    assert isinstance(payload, Payload)
    assert payload.event is event
    assert isinstance(payload.value, GuestCall)
    return payload.value


RAN = ev.AfterShell(
    **TOOL, command=replace(COMMAND, recipe="all:"), exit_code=137, stdout="ä\n", stderr="no", duration=0.0014
)
CALLED = ev.AfterToolCall(**TOOL, response={"a": 1}, text="fünf", duration=1.5)
COMPACTION = ev.BeforeCompaction(
    trigger="threshold",
    messages=(
        Message(role="user", text="go", id="msg_1", source_id="kept"),
        Message(role="tool", text="out", call_id="call-1"),
    ),
    tokens=900,
    ratio=0.9,
    origin=ORIGIN,
)
ENVELOPE = {
    "__murmur_tool_msg__": True,
    "tool_call_id": "call-1",
    "is_error": None,
    "body": [{"type": "text", "text": "out"}],
}
ROWS: list[tuple[Event, str, dict[str, Any]]] = [
    (ev.BeforeStage(shell_allow=("bash", "git"), origin=ORIGIN), "on-stage", {"shell-allow": ["bash", "git"]}),
    (
        ev.SessionStart(source="startup", origin=ORIGIN),
        "on-session-start",
        {
            "capsule-name": "builder",
            "capsule-version": "1.2.0",
            "session-id": SESSION,
            "model": "large",
            "capabilities": ["shell"],
        },
    ),
    (
        ev.BeforeRun(
            prompt="go",
            source="a2a",
            context_id="theirs",
            input_bytes=7,
            seed_budget=100,
            window=1000,
            prior=3,
            origin=ORIGIN,
        ),
        "on-task-start",
        {
            "task-id": TASK,
            "context-id": "theirs",
            "source": "a2a",
            "input-bytes": 7,
            "budget-tokens": 100,
            "context-window": 1000,
            "prior-tokens": 3,
        },
    ),
    (
        ev.BeforeRunEnd(status="max_turns_reached", origin=ORIGIN),
        "on-task-end",
        {"task-id": TASK, "exit-status": "max_turns_reached"},
    ),
    (
        ev.AfterModelCall(
            provider="p",
            step=2,
            messages=(Message(role="user", text="go", id="msg_1", source_id="s"),),
            tools=(ToolSpec(name="git", description="Git.", parameters={"type": "object"}),),
            usage=Usage(input_tokens=5, output_tokens=6),
            output_text="so",
            calls=(ToolCall(id="call-1", name="git", input={"command": "diff"}),),
            origin=ORIGIN,
        ),
        "on-inference",
        {
            "turn": 2,
            "input-tokens": 5,
            "output-tokens": 6,
            "decision": "tool_call",
            "tool-name": "git",
            "prompt": '[{"role":"user","content":[{"type":"text","text":"go"}]}]',
            "output": '[{"type":"text","text":"so"},'
            '{"type":"tool_call","id":"call-1","name":"git","input":{"command":"diff"}}]',
            "tools": '[{"name":"git","description":"Git.","input_schema":{"type":"object"}}]',
        },
    ),
    (
        ev.BeforeDispatch(**TOOL),
        "on-tool-call",
        {"turn": 3, "tool-name": "editor", "input-bytes": 19, "input": INPUT, "outcome": None},
    ),
    (
        CALLED,
        "on-tool-call",
        {
            "turn": 3,
            "tool-name": "editor",
            "input-bytes": 19,
            "input": INPUT,
            "outcome": {"output-bytes": 5, "duration-ms": 1500, "status": "ok"},
        },
    ),
    (
        ev.ToolCallFailed(**TOOL, error="no", duration=0.25),
        "on-tool-call",
        {
            "turn": 3,
            "tool-name": "editor",
            "input-bytes": 19,
            "input": INPUT,
            "outcome": {"output-bytes": 2, "duration-ms": 250, "status": "error"},
        },
    ),
    (
        ev.BeforeDispatch(**TOOL, command=COMMAND),
        "on-shell",
        {
            "turn": 3,
            "binary": "/bin/bash",
            "command": "rm -rf build",
            "argv": ["-c", "rm -rf build"],
            "script": "rm -rf build",
            "recipe": None,
            "outcome": None,
        },
    ),
    (
        RAN,
        "on-shell",
        {
            "turn": 3,
            "binary": "/bin/bash",
            "command": "rm -rf build",
            "argv": ["-c", "rm -rf build"],
            "script": "rm -rf build",
            "recipe": "all:",
            "outcome": {
                "exit-code": 137,
                "stdout": "ä\n",
                "stderr": "no",
                "stdout-bytes": 3,
                "stderr-bytes": 2,
                "duration-ms": 1,
            },
        },
    ),
    (
        COMPACTION,
        "on-compaction",
        {
            "messages": [
                {
                    "role": "user",
                    "content": '[{"type":"text","text":"go"}]',
                    "id": "msg_1",
                    "source-id": "kept",
                },
                {
                    "role": "tool",
                    "content": json.dumps(ENVELOPE, separators=(",", ":")),
                    "id": None,
                    "source-id": None,
                },
            ],
            "session-tokens": 900,
            "threshold": 0.9,
            "model": "small",
            "system-prompt": "Summarize.",
        },
    ),
    (
        ev.SessionEnd(
            reason="other",
            totals=Totals(
                steps=4,
                input_tokens=5,
                output_tokens=6,
                tool_calls=7,
                shell_calls=8,
                duration=9.0,
                status="failed",
            ),
            origin=ORIGIN,
        ),
        "on-session-end",
        {
            "total-turns": 4,
            "total-input-tokens": 5,
            "total-output-tokens": 6,
            "total-tool-calls": 7,
            "total-shell-calls": 8,
            "duration-ms": 9000,
            "exit-status": "failed",
        },
    ),
]


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row[1]}-{type(row[0]).__name__}") for row in ROWS])
def test_each_record_has_its_fields(row: tuple[Event, str, dict[str, Any]]) -> None:
    """The function, and the names, the order and the values of its record."""
    event, function, record = row
    call = told(event)

    assert (function, record) == (call.function, call.argument)
    assert list(record) == list(call.argument)


def test_every_event_has_a_record() -> None:
    """The table of records and that of rules speak of the same events, and each stands among the rows above."""
    assert {rule.event for rule in RULES} == set(RECORDS) == {type(event) for event, _, _ in ROWS}


OLDER_ROWS = [
    (ROWS[2][0], {"task-id": TASK, "context-id": "theirs", "source": "a2a", "input-bytes": 7}),
    (
        CALLED,
        {
            "turn": 3,
            "tool-name": "editor",
            "input-bytes": 19,
            "output-bytes": 5,
            "duration-ms": 1500,
            "status": "ok",
        },
    ),
    (
        RAN,
        {
            "turn": 3,
            "binary": "/bin/bash",
            "command": "rm -rf build",
            "exit-code": 137,
            "stdout": "ä\n",
            "stderr": "no",
            "stdout-bytes": 3,
            "stderr-bytes": 2,
            "duration-ms": 1,
        },
    ),
    (
        replace(COMPACTION, messages=COMPACTION.messages[:1]),
        {
            "messages": [{"role": "user", "content": '[{"type":"text","text":"go"}]'}],
            "session-tokens": 900,
            "threshold": 0.9,
            "model": "small",
            "system-prompt": "Summarize.",
        },
    ),
    (ROWS[3][0], ROWS[3][2]),
    (ROWS[4][0], ROWS[4][2]),
]


@pytest.mark.parametrize("row", [pytest.param(row, id=type(row[0]).__name__) for row in OLDER_ROWS])
def test_an_older_hook_is_told_in_its_own_shapes(row: tuple[Event, dict[str, Any]]) -> None:
    """0.5.0: no identity of messages, no budget of a task, and what a call came to beside its other fields."""
    event, record = row

    assert record == told(event, interface=OLDER.name).argument


@pytest.mark.parametrize(("text", "kept"), [("x" * KIB16, KIB16), ("x" * (KIB16 + 1), KIB16), ("ä" * KIB16, KIB16)])
def test_streams_are_cut_and_counted_after_that(text: str, kept: int) -> None:
    """16 KiB of each stream are kept, up to the last whole character; the count is of what is there."""
    outcome = told(replace(RAN, stdout=text, stderr="x" + "ä" * KIB16)).argument["outcome"]

    assert (kept, kept) == (outcome["stdout-bytes"], len(outcome["stdout"].encode()))
    assert KIB16 - 1 == outcome["stderr-bytes"] == len(outcome["stderr"].encode())


def test_only_the_display_of_a_command_is_clipped() -> None:
    """A script of 300 characters is shown whole wherever a policy decides on it."""
    script = "x" * 300
    command = replace(COMMAND, arguments=("-c", script), script=script, text=script)
    record = told(ev.BeforeDispatch(**TOOL, command=command)).argument

    assert (200, script, ["-c", script]) == (len(record["command"]), record["script"], record["argv"])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_an_input_loses_nothing(input: Any) -> None:
    """What a policy decides on is the call's input to the letter, in bytes that are counted right."""
    record = told(ev.BeforeDispatch(tool_name="editor", input=input, origin=ORIGIN)).argument

    assert input == json.loads(record["input"])
    assert len(record["input"].encode()) == record["input-bytes"]


ANY = st.text(st.characters(codec=None), max_size=6)  # lone surrogates among them
NUMBER = st.integers(-(2**70), 2**70)


def texts_in(value: object) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for inner in value.values() for text in texts_in(inner)]
        case list():
            return [text for inner in value for text in texts_in(inner)]
        case _:
            return []


@given(ANY, NUMBER)
def test_whatever_happened_can_be_told(text: str, number: int) -> None:
    """Every string of a record is UTF-8, and every number within the bounds of its type."""
    origin = Origin(session_id=text, run_id=text, step=number)
    command = replace(COMMAND, program=text, arguments=(text,), text=text, script=text, recipe=text)
    tool: dict[str, Any] = {"tool_name": text, "input": {text: text}, "origin": origin}
    events: list[Event] = [
        ev.BeforeRun(prompt=text, context_id=text, seed_budget=number, window=number, origin=origin),
        ev.AfterModelCall(
            provider="p",
            step=number,
            messages=(Message(role="user", text=text),),
            usage=Usage(input_tokens=number),
            output_text=text,
            calls=(ToolCall(id=text, name=text, input={text: [text]}),),
            origin=origin,
        ),
        ev.AfterToolCall(**tool, text=text),
        ev.AfterShell(**tool, command=command, exit_code=number, stdout=text, stderr=text),
        ev.BeforeCompaction(trigger="seed", messages=(Message(role=text, text=text, id=text),), tokens=number),
        ev.SessionEnd(reason="other", totals=Totals(steps=number, input_tokens=number), origin=origin),
    ]
    for event in events:
        record = told(event).argument
        assert all(each.encode() is not None for each in texts_in(record))
        assert all(-(2**31) <= each < 2**64 for each in record.values() if isinstance(each, int))
        assert 0 <= record.get("turn", 0) < 2**32


def test_the_model_is_the_sessions_where_the_manifest_names_none() -> None:
    """A capsule without a model of its own is told the one that the session has."""
    bare = replace(CAPSULE, inference=replace(CAPSULE.inference, model=""))

    assert "other" == told(ev.SessionStart(source="startup", origin=ORIGIN), capsule=bare).argument["model"]

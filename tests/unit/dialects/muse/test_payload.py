"""What each event puts on a hook's standard input, and what never gets there."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline._core import events as ev
from hookline._core.hooks import Hook
from hookline._core.messages import CallResult, Message, ToolCall, ToolSpec, Usage
from hookline._core.payload import Payload, Refused
from hookline._core.points import Agent, Event, Origin
from hookline._core.reasons import Skip
from hookline._core.targets import CommandTarget
from hookline.dialects.muse.payload import PAYLOAD_BYTES, encode
from hookline.dialects.muse.rules import RULES

SESSION = "01a0ae0d-1cdf-7221-b5e5-96159c9a1ec0"
TURN = "96fcdb40-11de-46e5-bce7-84d8c45c7a68"
PLACE = "/private/tmp/hooks-scratch/project"
ORIGIN = Origin(session_id=SESSION, run_id=TURN, cwd=PLACE)
WHERE = {"cwd": PLACE, "transcript_path": None, "model": "unknown", "permission_mode": "default"}
IN_TURN = {"session_id": SESSION, "turn_id": TURN, **WHERE}
IN_SESSION = {"session_id": SESSION, **WHERE}

CALL: dict[str, Any] = {"tool_name": "bash", "input": {"command": "ls"}, "call_id": "c1", "origin": ORIGIN}
CALL_KEYS = {"tool_name": "bash", "tool_input": {"command": "ls"}, "tool_use_id": "c1"}

MESSAGES = (Message(role="user", text="é" * 300), Message(role="assistant", text="ok"))
TOOLS = (
    ToolSpec(name="bash", description="Runs", parameters={"properties": {"command": {}}, "type": "object"}),
    ToolSpec(name="wait", description="Waits", parameters={"additionalProperties": False}),
)
REQUEST: dict[str, Any] = {
    "provider": "model.unknown.response",
    "request_id": f"{TURN}:0:1",
    "messages": MESSAGES,
    "tools": TOOLS,
    "options": {"temperature": 0},
    "origin": ORIGIN,
}
REQUEST_KEYS = {
    "provider": "model.unknown.response",
    "request_id": f"{TURN}:0:1",
    "attempt": 1,
    "step": 0,
    "messages": [{"role": "user", "text_preview": "é" * 256}, {"role": "assistant", "text_preview": "ok"}],
    "message_count": 2,
    "tools": [
        {"name": "bash", "description": "Runs", "has_parameters": True, "strict": False},
        {"name": "wait", "description": "Waits", "has_parameters": False, "strict": True},
    ],
    "tool_count": 2,
    "options": {"temperature": 0},
}

# The event, and the members of its payload in their order, without the name.
EVENTS: list[tuple[str, Event, dict[str, Any]]] = [
    ("SessionStart", ev.SessionStart(source="startup", origin=ORIGIN), {"source": "startup", **IN_SESSION}),
    ("UserPromptSubmit", ev.BeforeRun(prompt="hello", origin=ORIGIN), {"prompt": "hello", **IN_TURN}),
    ("PreToolUse", ev.BeforeToolCall(**CALL), {**CALL_KEYS, **IN_TURN}),
    (
        "PermissionRequest",
        ev.PermissionRequest(**CALL),
        {"tool_name": "bash", "tool_input": {"command": "ls"}, **IN_TURN},
    ),
    (
        "PostToolUse",
        ev.AfterToolCall(response={"exit_code": 0}, duration=1.0, **CALL),
        {**CALL_KEYS, "tool_response": {"exit_code": 0}, **IN_TURN},
    ),
    (
        "PostToolUseFailure",
        ev.ToolCallFailed(error="no", interrupted=False, duration=0.0126, **CALL),
        {**CALL_KEYS, "error": "no", "is_interrupt": False, "duration_ms": 13, **IN_TURN},
    ),
    (
        "PostToolBatch",
        ev.AfterToolBatch(
            calls=(CallResult(tool_name="wait", input=None, call_id="c2", response="done"),), origin=ORIGIN
        ),
        {
            "tool_calls": [{"tool_name": "wait", "tool_input": {}, "tool_use_id": "c2", "tool_response": "done"}],
            **IN_TURN,
        },
    ),
    ("PreLLMCall", ev.BeforeModelCall(**REQUEST), {**REQUEST_KEYS, **IN_TURN}),
    (
        "PostLLMCall",
        ev.AfterModelCall(
            response_id="r1",
            usage=Usage(input_tokens=1, output_tokens=2, cached_tokens=3, reasoning_tokens=4),
            output_text="x" * 300,
            calls=(ToolCall(id="c1", name="bash", input={}),),
            **REQUEST,
        ),
        {
            **REQUEST_KEYS,
            "status": "success",
            "response_id": "r1",
            "usage": {"input_tokens": 1, "output_tokens": 2, "cached_tokens": 3, "reasoning_tokens": 4},
            "finish_reason": None,
            "error": None,
            "output_text_preview": "x" * 256,
            "tool_call_count": 1,
            **IN_TURN,
        },
    ),
    ("PreCompact", ev.BeforeCompaction(trigger="soft", origin=ORIGIN), {"trigger": "soft", **IN_TURN}),
    ("PostCompact", ev.AfterCompaction(trigger="hard", origin=ORIGIN), {"trigger": "hard", **IN_TURN}),
    (
        "SubagentStart",
        ev.SubagentStart(subagent_id="a1", child_session_id="child", origin=ORIGIN),
        {"subagent_id": "a1", "child_session_id": "child", "session_id": "child", "turn_id": "child", **WHERE},
    ),
    (
        "SubagentStop",
        ev.SubagentEnd(subagent_id="a1", child_session_id="child", reopened=True, origin=ORIGIN),
        {
            "subagent_id": "a1",
            "child_session_id": "child",
            "stop_hook_active": True,
            "last_assistant_message": None,
            "session_id": "child",
            "turn_id": "child",
            **WHERE,
        },
    ),
    (
        "Stop",
        ev.BeforeRunEnd(last_message="done", origin=ORIGIN),
        {"stop_hook_active": False, "last_assistant_message": "done", **IN_TURN},
    ),
    ("StopFailure", ev.RunFailed(category="rate_limit", origin=ORIGIN), {"error": "rate_limit", **IN_TURN}),
    ("SessionEnd", ev.SessionEnd(reason="other", origin=ORIGIN), {"reason": "other", **IN_SESSION}),
    (
        "Notification",
        ev.Notification(notification_type="permission_prompt", title="t", message="m", origin=ORIGIN),
        {
            "notification_type": "permission_prompt",
            "title": "Muse Code needs approval",
            "message": "m",
            **IN_TURN,
        },
    ),
]


def hook_for(event: Event) -> Hook:
    return Hook(id="h", event=type(event), target=CommandTarget(("true",), {}), dialect="muse")


def line(event: Event) -> str:
    payload = encode(event, hook_for(event))
    assert isinstance(payload, Payload)
    return payload.body.decode()


def read(event: Event) -> dict[str, Any]:
    members: dict[str, Any] = json.loads(line(event))
    return members


def tool_input(value: Any) -> Any:
    return read(ev.BeforeToolCall(tool_name="bash", input=value, origin=ORIGIN))["tool_input"]


@pytest.mark.parametrize(("name", "event", "members"), EVENTS, ids=[name for name, _, _ in EVENTS])
def test_an_event_is_told_in_full_and_in_order(name: str, event: Event, members: dict[str, Any]) -> None:
    """The name comes first, then what is the event's own, then where it happened."""
    assert list({"hook_event_name": name, **members}.items()) == list(read(event).items())


def test_every_event_has_a_payload_here() -> None:
    """No event's payload goes untested."""
    assert [rule.name for rule in RULES] == [name for name, _, _ in EVENTS]


def test_a_payload_is_one_spaced_line() -> None:
    """The bytes are those that the source document shows, and a newline ends them, so that a shell can read a line."""
    shown = (
        '{"hook_event_name": "UserPromptSubmit", "prompt": "hello hooks", '
        f'"session_id": "{SESSION}", "turn_id": "{TURN}", "cwd": "{PLACE}", "transcript_path": null, '
        '"model": "unknown", "permission_mode": "default"}\n'
    )

    assert shown == line(ev.BeforeRun(prompt="hello hooks", origin=ORIGIN))


def test_optional_keys_are_left_out_where_there_is_nothing() -> None:
    """A failed run tells its details and its last message only where it has them, and null where null is an answer."""
    event = ev.RunFailed(category="unknown", details="", last_message="so far", origin=ORIGIN)
    told = {"error": "unknown", "error_details": "", "last_assistant_message": "so far"}

    assert told == {key: value for key, value in read(event).items() if key in told}


def test_the_provider_is_named_only_where_it_is_known() -> None:
    """A stand-in for a model has no provider to name."""
    known = read(ev.BeforeRun(prompt="x", origin=Origin(cwd=PLACE, model="spark", provider="meta")))

    assert list(known)[-2:] == ["permission_mode", "model_provider"]
    assert (known["model"], known["model_provider"]) == ("spark", "meta")


@pytest.mark.parametrize(("name", "event", "members"), EVENTS, ids=[name for name, _, _ in EVENTS])
def test_a_child_agent_is_named_at_two_events_only(name: str, event: Event, members: dict[str, Any]) -> None:
    """PostToolBatch and StopFailure say in which child they happened, always with both keys; no other event does."""
    child = Origin(session_id=SESSION, cwd=PLACE, agent=Agent(id="a1", type="explore"))
    told = read(replace(event, origin=child))
    named = {"agent_id": "a1", "agent_type": "explore"} if name in ("PostToolBatch", "StopFailure") else {}

    assert named == {key: value for key, value in told.items() if key.startswith("agent_")}


@pytest.mark.parametrize(
    ("given_input", "delivered"),
    [
        ({"a": 1}, {"a": 1}),
        ("not json", "not json"),
        ("", {}),
        (" \n", {}),
        (None, {}),
        ([1, 2], [1, 2]),
        (0, 0),
        (False, False),
        ({}, {}),
    ],
    ids=["object", "text", "nothing", "blank", "none", "array", "zero", "false", "empty"],
)
def test_a_tool_input_that_is_no_object(given_input: Any, delivered: Any) -> None:
    """Arguments that were not JSON are told as the text they were, and a call without any has an empty object."""
    assert delivered == tool_input(given_input)


@pytest.mark.parametrize(
    ("value", "delivered"),
    [
        ("a\ud800b", "a\ud800b"),
        (float("nan"), None),
        (float("inf"), None),
        (b"\xff.txt", "\\xff.txt"),
        (Path("/a"), "/a"),
        ({1: "x"}, {"1": "x"}),
        ((1, 2), [1, 2]),
    ],
    ids=["lone surrogate", "nan", "infinity", "bytes", "object", "number as key", "tuple"],
)
def test_what_json_has_no_form_for_is_told_in_another(value: Any, delivered: Any) -> None:
    """B-67, B-68: a strange value in an event never keeps a guard from running; its form is the same every time."""
    assert {"p": delivered} == tool_input({"p": value})


def test_a_payload_is_utf8_without_a_byte_order_mark() -> None:
    """B-42, B-67: text beyond ASCII goes out as UTF-8, and nothing stands before it."""
    payload = encode(ev.BeforeRun(prompt="⚙️", origin=ORIGIN), hook_for(ev.BeforeRun(prompt="")))

    assert isinstance(payload, Payload)
    assert payload.body.startswith(b'{"hook_event_name"')
    assert "⚙️".encode() in payload.body


def padded(size: int) -> ev.BeforeToolCall:
    """An event whose payload is *size* bytes of compact JSON."""
    event = ev.BeforeToolCall(tool_name="bash", input={"p": ""}, origin=ORIGIN)
    bare = len(json.dumps(read(event), separators=(",", ":")).encode())
    return ev.BeforeToolCall(tool_name="bash", input={"p": "x" * (size - bare)}, origin=ORIGIN)


def test_the_cap_is_measured_on_compact_json() -> None:
    """P10: 262,144 bytes are delivered, compact where the spaced line would be longer; one more is not, and says so."""
    fits = encode(padded(PAYLOAD_BYTES), hook_for(padded(PAYLOAD_BYTES)))
    over = encode(padded(PAYLOAD_BYTES + 1), hook_for(padded(PAYLOAD_BYTES + 1)))
    why = "the payload is 262145 bytes of JSON, and at most 262144 are delivered"

    assert isinstance(fits, Payload)
    assert PAYLOAD_BYTES + len(b"\n") == len(fits.body)
    assert Refused(Skip.PAYLOAD_TOO_LARGE, why) == over


def test_a_payload_of_half_the_cap_is_spaced() -> None:
    """Only a payload that does not fit otherwise is written without spaces."""
    assert line(padded(PAYLOAD_BYTES // 2))[:53] == '{"hook_event_name": "PreToolUse", "tool_name": "bash"'


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def cyclic() -> list[Any]:
    value: list[Any] = []
    value += [value, value]
    return value


def unfolding() -> list[Any]:
    value: list[Any] = []
    for _ in range(60):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (nested(5000), "the payload is nested deeper than 120 levels"),
        (nested(120), "the payload is nested deeper than 120 levels"),
        (cyclic(), "the payload is nested deeper than 120 levels"),
        (unfolding(), "the payload holds more than 262144 values"),
        (list(range(300_000)), "the payload holds more than 262144 values"),
    ],
    ids=["deep", "one level too deep", "holds itself", "unfolds without end", "wide"],
)
def test_a_payload_is_whole_or_it_is_refused(value: Any, why: str) -> None:
    """A guard is never shown half an input: what is too deep or too wide to be written is not delivered at all."""
    event = ev.BeforeToolCall(tool_name="bash", input=value, origin=ORIGIN)

    assert Refused(Skip.PAYLOAD_TOO_LARGE, why) == encode(event, hook_for(event))


def test_the_deepest_input_is_delivered() -> None:
    """A hundred levels, which is what a model may send, fit with what stands around them."""
    assert nested(100) == tool_input(nested(100))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_any_tool_input_is_delivered(value: Any) -> None:
    """Whatever JSON-like value a tool is given, encoding it raises nothing and gives one line with one JSON object."""
    event = ev.BeforeToolCall(tool_name="bash", input=value, origin=ORIGIN)
    body = line(event)

    assert body.count("\n") == 1
    assert {"hook_event_name", "tool_input", "cwd"} <= set(json.loads(body))


@given(st.text(st.characters(codec="utf-8")))
def test_text_arrives_as_it_was(text: str) -> None:
    """A prompt that is text reaches the hook unchanged."""
    assert text == read(ev.BeforeRun(prompt=text, origin=ORIGIN))["prompt"]


def test_the_directory_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A hook starts where its payload says: an event's folder, or this process's own where it names none."""
    monkeypatch.chdir(tmp_path)
    here = os.getcwd()  # noqa: PTH109  # links resolved, as the code under test sees it
    for given_cwd, told in [("", here), ("sub", f"{here}/sub"), ("/else", "/else")]:
        event = ev.BeforeRun(prompt="x", origin=Origin(cwd=given_cwd))
        payload = encode(event, hook_for(event))

        assert isinstance(payload, Payload)
        assert told == payload.cwd == read(event)["cwd"]


def test_a_folder_that_is_gone_stops_no_payload(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where this process's own folder was removed there still is a payload; its hook will not start, and say so."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert read(ev.BeforeRun(prompt="x"))["cwd"] == ""

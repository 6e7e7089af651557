"""Payloads that a person wrote: what they are read as, and every text about one that is wrong."""

from typing import Any

import pytest

from hookline._core import events as ev
from hookline._core.commands import ResolvedCommand
from hookline._core.messages import Message, ToolCall, ToolSpec, Usage
from hookline._core.points import Agent, Event, Origin
from hookline.dialects._base import Unread
from hookline.dialects.meerkat import PACKAGE as MEERKAT
from hookline.dialects.murmur import PACKAGE as MURMUR
from hookline.dialects.muse import PACKAGE as MUSE


def read(members: Any) -> list[Event | Unread]:
    """What the dialects make of *members*, those apart that it is nothing to."""
    found = (each.read_payload(members) for each in (MUSE, MEERKAT, MURMUR) if each.read_payload)
    return [each for each in found if each is not None]


WHERE = {
    "session_id": "s",
    "turn_id": "t",
    "cwd": "/project",
    "transcript_path": "/project/transcript.jsonl",
    "model": "m",
    "model_provider": "p",
    "permission_mode": "bypassPermissions",
}
PLACE = Origin(session_id="s", run_id="t", cwd="/project", model="m", provider="p", approval_off=True)
CALL = {"tool_name": "bash", "tool_input": {"command": "ls"}}
SCRIPT = ResolvedCommand(program="/bin/sh", arguments=("-c", "ls"), text="sh -c ls", script="ls")
SHELL = {"turn": 1, "binary": "/bin/sh", "command": "sh -c ls", "argv": ["-c", "ls"], "script": "ls", "recipe": None}

READ: list[tuple[dict[str, Any], Event]] = [
    (
        {"hook_event_name": "PreToolUse", **CALL, "tool_use_id": "c", **WHERE},
        ev.BeforeToolCall(tool_name="bash", input={"command": "ls"}, call_id="c", origin=PLACE),
    ),
    ({"hook_event_name": "PreToolUse", **CALL}, ev.BeforeToolCall(tool_name="bash", input={"command": "ls"})),
    (
        {"hook_event_name": "StopFailure", "error": "rate_limit", "agent_id": "a", "agent_type": "general"},
        ev.RunFailed(category="rate_limit", origin=Origin(agent=Agent(id="a", type="general"))),
    ),
    (
        {
            "hook_event_name": "PreLLMCall",
            "provider": "p",
            "step": 2,
            "messages": [{"role": "user", "text_preview": "fix"}],
            "message_count": 40,
            "tools": [{"name": "bash", "description": "Run", "has_parameters": True, "strict": True}],
        },
        ev.BeforeModelCall(
            provider="p",
            step=2,
            messages=(Message(role="user", text="fix"),),
            tools=(
                ToolSpec(
                    name="bash",
                    description="Run",
                    parameters={"type": "object", "properties": {"untold": {}}, "additionalProperties": False},
                ),
            ),
            origin=Origin(step=2),
        ),
    ),
    (
        {
            "point": "post_llm_response",
            "session_id": "s",
            "turn_number": 4,
            "llm_response": {"assistant_text": "so", "tool_call_names": ["bash"], "stop_reason": "tool_use"},
        },
        ev.AfterModelCall(
            provider="unknown",
            step=4,
            output_text="so",
            calls=(ToolCall(id="", name="bash", input={}),),
            finish_reason="tool_calls",
            origin=Origin(session_id="s", step=4),
        ),
    ),
    (
        {
            "point": "post_tool_execution",
            "session_id": "s",
            "turn_number": 4,
            "tool_result": {"name": "look", "content_blocks": [{"type": "text", "text": "gone"}], "is_error": True},
        },
        ev.ToolCallFailed(tool_name="look", input={}, error="gone", origin=Origin(session_id="s", step=4)),
    ),
    (
        {"call": "on-shell", "argument": {**SHELL, "outcome": None}},
        ev.BeforeDispatch(tool_name="bash", input={"command": "sh -c ls"}, command=SCRIPT, origin=Origin(step=1)),
    ),
    (
        {"function": "on-shell", "argument": {**SHELL, "outcome": {"exit-code": 2, "stderr": "no"}}},
        ev.AfterShell(
            tool_name="bash",
            input={"command": "sh -c ls"},
            command=SCRIPT,
            exit_code=2,
            stderr="no",
            origin=Origin(step=1),
        ),
    ),
    (
        {"call": "on-tool-call", "argument": {"tool-name": "look", "input": '{"at":"x"}', "outcome": None}},
        ev.BeforeDispatch(tool_name="look", input={"at": "x"}),
    ),
    (
        {"call": "on-tool-call", "argument": {"tool-name": "look", "input": "[]", "outcome": {"status": "error"}}},
        ev.ToolCallFailed(tool_name="look", input=[]),
    ),
    (
        {"call": "on-inference", "argument": {"input-tokens": 3, "decision": "tool_call", "tool-name": "look"}},
        ev.AfterModelCall(
            provider="unknown",
            usage=Usage(input_tokens=3),
            calls=(ToolCall(id="", name="look", input={}),),
            finish_reason="tool_calls",
        ),
    ),
]


@pytest.mark.parametrize(("members", "event"), READ)
def test_an_event_is_what_the_payload_says(members: dict[str, Any], event: Event) -> None:
    """What is said stands in the event and its origin, and everything else is at its default."""
    assert [event] == read(members)


@pytest.mark.parametrize("members", [{}, {"tool_name": "bash"}, {"call": "them"}, {"function": []}, {"argument": {}}])
def test_an_object_of_no_dialect_is_nothing(members: dict[str, Any]) -> None:
    """It names no event, no point and no function, so no dialect has anything to say about it."""
    assert [] == read(members)


SESSION = {"session_id": "s"}
TOOL = {"call": "on-tool-call"}
WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"hook_event_name": "PreToolUze"},
        '`hook_event_name` has to be the name of an event, found "PreToolUze": did you mean "PreToolUse"?',
    ),
    (
        {"hook_event_name": "pre_tool_use"},
        '`hook_event_name` has to be the name of an event, found "pre_tool_use": did you mean "PreToolUse"?',
    ),
    (
        {"hook_event_name": 3},
        (
            "`hook_event_name` has to be the name of an event, found 3: write one of SessionStart, UserPromptSubmit, "
            "PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure, PostToolBatch, PreLLMCall, PostLLMCall, "
            "PreCompact, PostCompact, SubagentStart, SubagentStop, Stop, StopFailure, SessionEnd, Notification"
        ),
    ),
    (
        {"hook_event_name": "UserPromptSubmit"},
        '`prompt` is missing: write "prompt": "..."',
    ),
    (
        {"hook_event_name": "PreToolUse", "toolName": "bash", "tool_input": {}},
        '`tool_name` is missing, found `toolName` in its place: write "tool_name": "..."',
    ),
    (
        {"hook_event_name": "PreToolUse", "tool_name": ["bash"], "tool_input": {}},
        '`tool_name` has to be a string, found an array: write "tool_name": "..."',
    ),
    (
        {"hook_event_name": "PreToolUse", **CALL, "permission_mode": "bypasspermission"},
        (
            '`permission_mode` has to be "default" or "bypassPermissions", found "bypasspermission": '
            'did you mean "bypassPermissions"?'
        ),
    ),
    (
        {"hook_event_name": "PreToolUse", **CALL, "permission_mode": "plan"},
        (
            '`permission_mode` has to be "default" or "bypassPermissions", found "plan": '
            'write "permission_mode": "default"'
        ),
    ),
    (
        {"hook_event_name": "PostToolBatch", "tool_calls": [{"tool_name": "a"}]},
        '`tool_calls[0].tool_input` is missing: write "tool_input": {}',
    ),
    (
        {"hook_event_name": "PostToolBatch", "tool_calls": ["bash"]},
        "`tool_calls[0]` has to be an object, found a string: write {}",
    ),
    (
        {"hook_event_name": "PostToolUseFailure", **CALL, "duration_ms": -1},
        '`duration_ms` has to be a whole number, 0 or more, of 64 bits at most, found -1: write "duration_ms": 1',
    ),
    (
        {"point": "PreToolExecution", **SESSION},
        '`point` has to be the name of a point, found "PreToolExecution": did you mean "pre_tool_execution"?',
    ),
    ({"point": "run_started"}, '`session_id` is missing: write "session_id": "..."'),
    ({"point": "run_started", **SESSION}, '`prompt_input` is missing: write "prompt_input": {}'),
    (
        {"point": "run_started", **SESSION, "prompt_input": {"kind": "contents"}},
        '`prompt_input.kind` has to be "content" or "pending_tool_results", found "contents": did you mean "content"?',
    ),
    (
        {"point": "run_started", **SESSION, "prompt_input": {"kind": "content", "content": ["x"]}},
        "`prompt_input.content[0]` has to be an object, found a string: write {}",
    ),
    (
        {"point": "pre_llm_request", **SESSION, "llm_request": {"provider_params": {"top_q": 1}}},
        "unknown field `top_q` in provider_params",
    ),
    (
        {"point": "turn_boundary", **SESSION, "turn_number": 1.5},
        '`turn_number` has to be a whole number, 0 or more, of 64 bits at most, found 1.5: write "turn_number": 1',
    ),
    (
        {"point": "peer_egress_committed", **SESSION, "observation": {"observation_type": "peer_ingress_committed"}},
        (
            '`observation.observation_type` has to be "peer_egress_committed", found "peer_ingress_committed": '
            'did you mean "peer_egress_committed"?'
        ),
    ),
    (
        {"call": "on-toolcall", "argument": {}},
        '`call` has to be the name of a function, found "on-toolcall": did you mean "on-tool-call"?',
    ),
    ({"function": "on-shell"}, '`argument` is missing: write "argument": {}'),
    (
        {**TOOL, "argument": []},
        '`argument` has to be an object, found an array: write "argument": {}',
    ),
    (
        {**TOOL, "argument": {"toolName": "look", "input": "{}", "outcome": None}},
        '`argument.tool-name` is missing, found `argument.toolName` in its place: write "tool-name": "..."',
    ),
    (
        {**TOOL, "argument": {"tool-name": "look", "input": "{}"}},
        '`argument.outcome` is missing: write "outcome": null',
    ),
    (
        {**TOOL, "argument": {"tool-name": "look", "input": "{", "outcome": None}},
        (
            "`argument.input` has to be a string with a value in JSON, found what is none: "
            'expecting property name enclosed in double quotes; write "input": "{}"'
        ),
    ),
    (
        {"call": "on-inference", "argument": {"decision": "text", "output": "{}"}},
        '`argument.output` has to be a string with an array in JSON, found an object; write "output": "[]"',
    ),
    (
        {"call": "on-inference", "argument": {"decision": "text", "prompt": '[{"role": "user"}]'}},
        '`argument.prompt[0].content` is missing: write "content": []',
    ),
    (
        {"call": "on-compaction", "argument": {"messages": [{"role": "user", "content": 1}]}},
        '`argument.messages[0].content` has to be a string, found 1: write "content": "..."',
    ),
]


@pytest.mark.parametrize(("members", "why"), WRONG)
def test_a_payload_that_is_wrong_says_what_to_write(members: dict[str, Any], why: str) -> None:
    """The member, what was found there, and what has to stand there; one dialect alone says it."""
    assert [Unread(why)] == read(members)

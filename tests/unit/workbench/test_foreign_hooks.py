"""What a handler of another tool is here: its command, its matcher in our names, its limit; or why it is none."""

from typing import Any

import pytest

from hookline._core.decisions import Deny
from hookline._core.events import AfterToolCall, BeforeToolCall, ToolCallFailed
from hookline._core.hooks import Hook, Source
from hookline._core.matchers import EVERYTHING, names
from hookline._core.rules import FailurePolicy
from hookline.workbench.foreign_hooks import Reading, read_foreign
from hookline.workbench.foreign_tools import TOOLS, Shape

SOURCE = Source(layer="foreign", label="hooks.json", path="/p/hooks.json")
BY_NAME = {tool.name: tool for tool in TOOLS}


def read(tool: str, event: str, handler: Any, matcher: Any = None) -> Reading:
    """What becomes of one handler."""
    row = BY_NAME[tool]
    if row.shape is Shape.GROUPS:
        group = {"hooks": [handler]} if matcher is None else {"matcher": matcher, "hooks": [handler]}
        return read_foreign({"hooks": {event: [group]}}, row, SOURCE)
    entry = handler if matcher is None else {**handler, "matcher": matcher}
    return read_foreign({"hooks": {event: [entry]}}, row, SOURCE)


def only(reading: Reading) -> Hook:
    """The one hook, of which nothing was lost."""
    assert [] == reading.losses
    (hook,) = reading.hooks
    return hook


MATCHERS = [
    ("claude-code", "PreToolUse", "Edit|Write", names("Edit", "Write")),
    ("claude-code", "PreToolUse", "Edit, Write", names("Edit", "Write")),
    ("claude-code", "PreToolUse", "", EVERYTHING),
    ("claude-code", "PreToolUse", "mcp__my-server__get", names("mcp__my-server__get")),
    ("gemini-cli", "BeforeTool", "run_shell_command|replace", names("bash", "edit_file")),
    ("gemini-cli", "BeforeTool", "*", EVERYTHING),
    ("cursor", "beforeShellExecution", None, names("bash")),
    ("cursor", "preToolUse", "Shell|Write", names("bash", "edit_file", "write_file")),
    ("windsurf", "pre_write_code", None, names("edit_file", "write_file")),
    ("kiro", "preToolUse", "execute_bash", names("bash")),
    ("copilot", "preToolUse", None, EVERYTHING),
]


@pytest.mark.parametrize(("tool", "event", "written", "matcher"), MATCHERS)
def test_a_matcher_is_in_our_names(tool: str, event: str, written: str | None, matcher: Any) -> None:
    """An event that is about some tools alone has them for a matcher."""
    (key, *_) = BY_NAME[tool].command_keys
    reading = read(tool, event, {key: "x"}, written)
    (hook,) = reading.hooks

    assert (BeforeToolCall, matcher) == (hook.event, hook.matcher)
    assert Deny in hook.commits


OUT = [
    ("gemini-cli", "BeforeTool", {"command": "x"}, "write_.*", "names what is no tool here (`write_.*`)"),
    ("gemini-cli", "BeforeTool", {"command": "x"}, "replace|glob", "names what is no tool here (`glob`)"),
    ("cursor", "beforeShellExecution", {"command": "x"}, "curl", "is tested against text that is no tool's name"),
    ("cursor", "beforeMCPExecution", {"command": "x"}, None, "tells of tools of MCP servers only"),
    ("cursor", "stop", {"type": "prompt", "prompt": "x"}, None, "this is of the type `prompt`"),
    ("claude-code", "PreToolUse", {"command": "x"}, "(", "is not a valid regular expression"),
    ("claude-code", "PreToolUse", {"command": "x"}, 5, "its matcher is no string"),
    ("claude-code", "PreToolUse", {"command": "x", "shell": "powershell"}, None, "its shell is `powershell`"),
    ("claude-code", "PreToolUse", {"command": "${CLAUDE_PROJECT_DIR}/x"}, None, "reads $CLAUDE_PROJECT_DIR"),
    ("claude-code", "PreToolUse", {"command": "x", "args": [5]}, None, "its `args` are no list of strings"),
    ("claude-code", "PreToolUse", "x", None, "it is no object"),
    ("claude-code", "TeammateIdle", {"command": "x"}, None, "there is no such hook point here"),
    ("claude-code", "OnSave", {"command": "x"}, None, "Claude Code has no event of that name"),
    ("copilot", "preToolUse", {"powershell": "x"}, None, "it has no command but one for Windows"),
    ("copilot", "preToolUse", {"bash": "x", "cwd": "sub"}, None, "it runs in the folder 'sub'"),
    ("windsurf", "pre_run_command", {"command": " "}, None, "it has no command: write `command`"),
]


@pytest.mark.parametrize(("tool", "event", "handler", "matcher", "why"), OUT)
def test_a_handler_that_is_no_hook_here(tool: str, event: str, handler: Any, matcher: Any, why: str) -> None:
    """It is left out, with its reason, and stands in no list of hooks."""
    reading = read(tool, event, handler, matcher)

    assert [] == reading.hooks
    (loss,) = reading.losses
    assert loss.left_out
    assert why in loss.why
    assert loss.hook.startswith(f"hooks.json:{event}")


LOST = [
    ("claude-code", "PostToolUse", {"command": "x", "once": True}, None, "`once` is lost"),
    ("claude-code", "PostToolUse", {"command": "x", "onFailure": {"command": "y"}}, None, "is neither `block` nor"),
    ("claude-code", "PostToolUse", {"command": "$TOOL_INPUT"}, None, "reads $TOOL_INPUT, which nothing sets here"),
    ("claude-code", "PreToolUse", {"command": "x"}, "Task", "its matcher names `Task`, which is no tool here"),
    ("gemini-cli", "Notification", {"command": "x"}, "ToolPermission", "is in the words of Gemini CLI"),
    ("gemini-cli", "BeforeTool", {"command": "x", "timeout": "5"}, None, "it became 60 s, as if there were none"),
    (
        "copilot",
        "postToolUse",
        {"bash": "x", "powershell": "y"},
        None,
        "its command for Windows (`powershell`) is lost",
    ),
    ("kiro", "stop", {"command": "x", "cache_ttl_seconds": 5}, None, "`cache_ttl_seconds` is lost"),
]


@pytest.mark.parametrize(("tool", "event", "handler", "matcher", "why"), LOST)
def test_a_handler_of_which_something_is_lost(tool: str, event: str, handler: Any, matcher: Any, why: str) -> None:
    """It is a hook, and the loss is told under its id."""
    reading = read(tool, event, handler, matcher)

    (hook,), (loss,) = reading.hooks, reading.losses
    assert (hook.id, False) == (loss.hook, loss.left_out)
    assert why in loss.why


def test_failing_closed_is_translated() -> None:
    """Two words for one thing; in the background there is nothing to close."""
    block, closed = {"command": "x", "onFailure": "block"}, {"command": "x", "failClosed": True}
    asked = [
        read("claude-code", "PreToolUse", block),
        read("cursor", "preToolUse", closed),
        read("claude-code", "PreToolUse", {**block, "async": True}),
        read("claude-code", "PreToolUse", {**block, "onFailure": "continue"}),
    ]

    assert [FailurePolicy.DENY, FailurePolicy.DENY, None, None] == [only(each).on_failure for each in asked]


def test_a_program_with_arguments_is_started_without_a_shell() -> None:
    """As its author wrote it, and with its variables."""
    assert ("x", "a b") == only(read("claude-code", "Stop", {"command": "x", "args": ["a b"]})).target.argv
    own = only(read("copilot", "sessionEnd", {"bash": "x", "cwd": ".", "env": {"A": "b"}})).target
    assert (("/bin/sh", "-c", "x"), {"A": "b"}) == (own.argv, own.env)


def test_an_event_that_is_two_points() -> None:
    """What tells of a call however it ended is called at both ends."""
    hook = only(read("gemini-cli", "AfterTool", {"command": "x"}))

    assert (AfterToolCall, ToolCallFailed) == hook.events
    assert Deny not in hook.commits


@pytest.mark.parametrize("document", [None, [], {}, {"hooks": []}, {"hooks": None}])
def test_a_document_without_events(document: Any) -> None:
    """One loss, which says what is missing."""
    reading = read_foreign(document, BY_NAME["cursor"], SOURCE)

    assert ["there is no object `hooks` that has the events"] == [loss.why for loss in reading.losses]

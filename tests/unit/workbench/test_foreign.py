"""The table of other tools, and what is told by it."""

from typing import Any

import pytest

from hookline._core.points import POINTS
from hookline.dialects import PACKAGES
from hookline.workbench.foreign import looks_like, variables_in
from hookline.workbench.foreign_tools import TOOLS, Tool

TOOL = [pytest.param(tool, id=tool.name) for tool in TOOLS]
OURS = {name for package in PACKAGES for name in package.tool_aliases}
ALIASES = {alias for package in PACKAGES for each in package.tool_aliases.values() for alias in each}


@pytest.mark.parametrize("tool", TOOL)
def test_what_an_event_means_is_here(tool: Tool) -> None:
    """Every hook point and every tool of ours that a row names is there, and what can be refused can be denied."""
    meanings = tool.events.values()

    assert {point for each in meanings for point in (each.point, *each.also) if point is not None} <= set(POINTS)
    named = {name for each in meanings for name in each.tools} | {
        name for names in tool.tool_names.values() for name in names
    }
    assert named <= (ALIASES if tool.our_names else OURS)
    denying = {each.point for each in meanings if each.denies}
    assert all(any(word.__name__ == "Deny" for word in POINTS[point or ""].admits) for point in denying)


def test_names_are_of_one_kind_each() -> None:
    """`--from NAME` means one thing."""
    names = [*(tool.name for tool in TOOLS), *(package.dialect.name for package in PACKAGES)]

    assert len(names) == len(set(names))


def hooks(**events: Any) -> dict[str, Any]:
    return {"hooks": events}


CASES = [
    ("claude-code", hooks(PreToolUse=[], Setup=[])),
    ("claude-code", {"permissions": {}, **hooks(PreToolUse=[])}),
    ("claude-code", hooks(PreToolUse=[{"hooks": [{"type": "command", "command": "a", "args": []}]}])),
    ("gemini-cli", hooks(SessionStart=[], AfterTool=[])),
    ("gemini-cli", hooks(SessionStart=[{"sequential": True, "hooks": []}])),
    ("cursor", {"version": 1, **hooks(beforeShellExecution=[{"command": "a"}])}),
    ("cursor", {"version": 1, **hooks(stop=[{"command": "a", "loop_limit": 2}])}),
    ("copilot", {"version": 1, **hooks(preToolUse=[{"type": "command", "bash": "a"}])}),
    ("copilot", {"version": 1, **hooks(userPromptSubmitted=[])}),
    ("windsurf", hooks(pre_run_command=[{"command": "a"}])),
    ("kiro", {"name": "agent", **hooks(agentSpawn=[{"command": "a"}])}),
    ("kiro", hooks(preToolUse=[{"command": "a", "timeout_ms": 5}])),
    ("codex", {"features": {"codex_hooks": True}, **hooks(PreToolUse=[])}),
    ("codex", hooks(Interrupt=[])),
    ("muse", hooks(PreToolUse=[])),
    ("muse", hooks(PreLLMCall=[])),
    ("muse", {"PreToolUse": []}),
    ("meerkat", hooks(entries=[{"point": "run_started", "runtime": {}}])),
    ("meerkat", {"id": "a", "point": "run_started", "runtime": {"type": "command"}}),
    ("murmur", {"name": "a", "artifacts": [{"name": "b", "version": "1.0.0", "runtime": "hook"}]}),
    (None, {"version": 1, **hooks(preToolUse=[{"command": "a"}])}),  # of three tools alike
    (None, hooks(SessionBegin=[])),
    (None, {"name": "package", "version": "1.0.0", "scripts": {"stop": "x"}}),
    (None, {}),
    (None, [1]),
    (None, "PreToolUse"),
]


@pytest.mark.parametrize(("name", "document"), CASES)
def test_a_document_is_known_by_what_only_one_has(name: str | None, document: Any) -> None:
    """No guess without a mark that is one kind's alone; a file with names that Muse Code has, too, is Muse's."""
    likeness = looks_like(document)

    assert name == (likeness and likeness.name)


@pytest.mark.parametrize(
    ("read_as", "document"),
    [
        ("muse", hooks(PreToolUse=[{"hooks": [{"type": "command", "command": "a", "timeout": 5}]}])),
        ("meerkat", hooks(entries=[{"point": "run_started", "env": {}, "timeout_ms": 5, "runtime": {"env": {}}}])),
        ("meerkat", {"permissions": {}, "statusLine": {}, "features": {"codex_hooks": True}, **hooks(entries=[])}),
        ("murmur", {"artifacts": [{"name": "b", "version": "1.0.0", "runtime": "hook"}]}),
    ],
)
def test_a_dialects_own_document_looks_like_no_other(read_as: str, document: Any) -> None:
    """Whoever read it and knows all of it is told nothing."""
    assert looks_like(document, read_as=read_as) is None


def test_marks_have_their_paths() -> None:
    """Each is named once, in the order of the document."""
    likeness = looks_like(hooks(BeforeTool=[{"sequential": True}, {"sequential": False}], AfterTool=[]))

    assert likeness is not None
    assert ["hooks.BeforeTool", "hooks.BeforeTool[0].sequential", "hooks.AfterTool"] == [
        mark.path for mark in likeness.marks
    ]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("echo $TOOL_NAME >> log", [("TOOL_NAME", ())]),
        ('python x.py "$CLAUDE_TOOL_INPUT"', [("CLAUDE_TOOL_INPUT", ())]),
        ('"${CLAUDE_PROJECT_DIR:-.}"/x.sh', [("CLAUDE_PROJECT_DIR", ("Claude Code",))]),
        (
            "$env:GEMINI_PROJECT_DIR %GEMINI_SESSION_ID%",
            [(f"GEMINI_{x}", ("Gemini CLI",)) for x in ("PROJECT_DIR", "SESSION_ID")],
        ),
        ("edit $TOOL_INPUT_file_path $TOOL_INPUT_file_path", [("TOOL_INPUT_file_path", ())]),
        ('echo "$HOME" $PATH $1 $$ CLAUDE_PROJECT_DIR', []),
    ],
)
def test_variables_of_other_tools_are_found(command: str, found: list[tuple[str, tuple[str, ...]]]) -> None:
    """With the tools that set them, if any does."""
    assert found == [(each.name, each.tools) for each in variables_in(command)]

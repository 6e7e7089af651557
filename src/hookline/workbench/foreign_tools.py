"""The hook files of other agent tools, a row each: what is in them, what it is here, and how they are known.

Facts of their public documentation, and nothing that could not be found there. A tool's `marks` may be shared; whoever
compares counts those that only one has.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from hookline.dialects._base import Look, Unit

# Read by hooks in the field, and set by no tool for them: what they ask for comes on standard input.
UNSET = re.compile(r"(?:CLAUDE_)?TOOL_(?:NAME|INPUT|OUTPUT|PARAMS)|TOOL_INPUT_\w+|CLAUDE_(?:EVENT_TYPE|FILE_PATHS)")


class Shape(Enum):
    """What stands under an event."""

    GROUPS = "groups"  # groups of handlers, each behind a matcher
    ENTRIES = "entries"  # handlers, each with its own matcher if any


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """An event of a tool: the hook point that it is, None where there is none, and what more there is to say.

    `tools` are the built-in tools that it is about alone. `also` are further points that it tells of. `denies`: what it
    tells of can be refused. `only` says what it is narrowed to where no matcher says that.
    """

    point: str | None
    tools: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    denies: bool = False
    only: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `timeout` is in the unit of its look, and stands under the first of `timeout_keys` that is there.

    XX are what it sets for its hooks. `reserved` are
        members of its `hooks` that are no events. `shown` are the keys of a handler that only people see.
    """

    name: str
    look: Look
    shape: Shape
    events: Mapping[str, Meaning]
    timeout: float
    timeout_keys: tuple[str, ...] = ("timeout",)
    command_keys: tuple[str, ...] = ("command",)
    tool_names: Mapping[str, tuple[str, ...]]
    our_names: bool = False
    variables: frozenset[str] = frozenset()
    reserved: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        return self.look.title


def _in_groups(*keys: str) -> frozenset[tuple[str, ...]]:
    return frozenset(("hooks", "*", "*", "hooks", "*", key) for key in keys)


def _in_entries(*keys: str) -> frozenset[tuple[str, ...]]:
    return frozenset(("hooks", "*", "*", key) for key in keys)


def _at_top(*keys: str) -> frozenset[tuple[str, ...]]:
    return frozenset((key,) for key in keys)


_NONE = Meaning(point=None)
_SESSION_START, _SESSION_END = Meaning(point="session_start"), Meaning(point="session_end")
_BEFORE_RUN = Meaning(point="before_run", denies=True)
_BEFORE_TOOL = Meaning(point="before_tool_call", denies=True)
_AFTER_TOOL = Meaning(point="after_tool_call")
_AFTER_ANY_TOOL = Meaning(point="after_tool_call", also=("tool_call_failed",))
_FAILED_TOOL = Meaning(point="tool_call_failed")
_BEFORE_COMPACTION, _AFTER_COMPACTION = Meaning(point="before_compaction"), Meaning(point="after_compaction")
_BEFORE_END = Meaning(point="before_run_end")
_SUBAGENT_START, _SUBAGENT_END = Meaning(point="subagent_start"), Meaning(point="subagent_end")
_NOTIFICATION = Meaning(point="notification")
_PERMISSION = Meaning(point="permission_request", denies=True)
_EDITS = ("edit_file", "write_file")
_OF_SERVERS = "tells of tools of MCP servers only, and no matcher says that"

# The names by which Claude Code's matchers know what are built-in tools here; here they are known by them, too.
_CLAUDE_TOOLS = {name: (name,) for name in ("Bash", "Read", "Edit", "Write", "Grep", "WebFetch", "WebSearch")}

CLAUDE_CODE = Tool(
    name="claude-code",
    look=Look(
        title="Claude Code",
        marks=_in_groups("args", "asyncRewake", "once", "prompt", "rewakeMessage", "rewakeSummary", "shell", "url")
        | _at_top("allowedHttpHookUrls", "disableAllHooks", "enabledPlugins", "permissions", "statusLine"),
        unit=Unit.SECONDS,
    ),
    shape=Shape.GROUPS,
    timeout=600,
    events={
        "SessionStart": _SESSION_START,
        "Setup": _NONE,
        "UserPromptSubmit": _BEFORE_RUN,
        "UserPromptExpansion": _NONE,
        "PreToolUse": _BEFORE_TOOL,
        "PermissionRequest": _PERMISSION,
        "PermissionDenied": _NONE,
        "PostToolUse": _AFTER_TOOL,
        "PostToolUseFailure": _FAILED_TOOL,
        "PostToolBatch": Meaning(point="after_tool_batch"),
        "Notification": _NOTIFICATION,
        "SubagentStart": _SUBAGENT_START,
        "SubagentStop": _SUBAGENT_END,
        "TaskCreated": _NONE,
        "TaskCompleted": _NONE,
        "TeammateIdle": _NONE,
        "Stop": _BEFORE_END,
        "StopFailure": Meaning(point="run_failed"),
        "InstructionsLoaded": _NONE,
        "ConfigChange": _NONE,
        "CwdChanged": _NONE,
        "FileChanged": _NONE,
        "WorktreeCreate": _NONE,
        "WorktreeRemove": _NONE,
        "PreCompact": _BEFORE_COMPACTION,
        "PostCompact": _AFTER_COMPACTION,
        "Elicitation": _NONE,
        "ElicitationResult": _NONE,
        "SessionEnd": _SESSION_END,
    },
    tool_names=_CLAUDE_TOOLS,
    our_names=True,
    variables=frozenset({"CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_ENV_FILE"}),
)

GEMINI_CLI = Tool(
    name="gemini-cli",
    look=Look(
        title="Gemini CLI",
        marks=_in_entries("sequential") | {("hooks", "disabled"), ("tools", "enableHooks")},
        unit=Unit.MILLISECONDS,
    ),
    shape=Shape.GROUPS,
    timeout=60_000,
    events={
        "SessionStart": _SESSION_START,
        "SessionEnd": _SESSION_END,
        "BeforeAgent": _BEFORE_RUN,
        "AfterAgent": _BEFORE_END,
        "BeforeModel": Meaning(point="before_model_call", denies=True),
        "AfterModel": Meaning(point="after_model_call"),
        "BeforeToolSelection": _NONE,
        "BeforeTool": _BEFORE_TOOL,
        "AfterTool": _AFTER_ANY_TOOL,
        "PreCompress": _BEFORE_COMPACTION,
        "Notification": _NOTIFICATION,
    },
    tool_names={
        "run_shell_command": ("bash",),
        "read_file": ("read_file",),
        "write_file": ("write_file",),
        "replace": ("edit_file",),
        "search_file_content": ("search",),
        "web_fetch": ("web_fetch",),
        "google_web_search": ("web_search",),
    },
    variables=frozenset({"GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID"}),
    reserved=frozenset({"disabled", "enabled"}),
    shown=frozenset({"name", "description"}),
)

CURSOR = Tool(
    name="cursor",
    look=Look(title="Cursor", marks=_in_entries("failClosed", "loop_limit") | _at_top("version"), unit=Unit.SECONDS),
    shape=Shape.ENTRIES,
    timeout=600,  # its own is not documented: the longest of those that are, so that no hook is cut short
    events={
        "sessionStart": _SESSION_START,
        "sessionEnd": _SESSION_END,
        "preToolUse": _BEFORE_TOOL,
        "postToolUse": _AFTER_TOOL,
        "postToolUseFailure": _FAILED_TOOL,
        "subagentStart": _SUBAGENT_START,
        "subagentStop": _SUBAGENT_END,
        "beforeShellExecution": Meaning(point="before_tool_call", tools=("bash",), denies=True),
        "afterShellExecution": Meaning(point="after_tool_call", tools=("bash",), also=("tool_call_failed",)),
        "beforeMCPExecution": Meaning(point="before_tool_call", denies=True, only=_OF_SERVERS),
        "afterMCPExecution": Meaning(point="after_tool_call", only=_OF_SERVERS),
        "beforeReadFile": Meaning(point="before_tool_call", tools=("read_file",), denies=True),
        "afterFileEdit": Meaning(point="after_tool_call", tools=_EDITS),
        "beforeSubmitPrompt": _BEFORE_RUN,
        "afterAgentResponse": _NONE,
        "afterAgentThought": _NONE,
        "beforeTabFileRead": _NONE,
        "afterTabFileEdit": _NONE,
        "preCompact": _BEFORE_COMPACTION,
        "stop": _BEFORE_END,
    },
    tool_names={"Shell": ("bash",), "Read": ("read_file",), "Write": _EDITS, "Grep": ("search",)},
    variables=frozenset({"CURSOR_PLUGIN_ROOT", "CURSOR_PROJECT_DIR", "CURSOR_VERSION"}),
)

COPILOT = Tool(
    name="copilot",
    look=Look(
        title="GitHub Copilot",
        marks=_in_entries("bash", "powershell", "timeoutSec", "cwd", "env") | _at_top("version"),
        unit=Unit.SECONDS,
    ),
    shape=Shape.ENTRIES,
    timeout=30,
    timeout_keys=("timeoutSec",),
    command_keys=("bash",),
    events={
        "sessionStart": _SESSION_START,
        "sessionEnd": _SESSION_END,
        "userPromptSubmitted": Meaning(point="before_run"),
        "preToolUse": _BEFORE_TOOL,
        "postToolUse": _AFTER_ANY_TOOL,
        "agentStop": _BEFORE_END,
        "subagentStop": _SUBAGENT_END,
        "preCompact": _BEFORE_COMPACTION,
        "notification": _NOTIFICATION,
        "errorOccurred": Meaning(point="run_failed"),
    },
    tool_names={},
)

WINDSURF = Tool(
    name="windsurf",
    look=Look(title="Windsurf", marks=_in_entries("show_output", "working_directory", "powershell"), unit=Unit.SECONDS),
    shape=Shape.ENTRIES,
    timeout=600,  # it has none
    timeout_keys=(),
    events={
        "pre_user_prompt": _BEFORE_RUN,
        "pre_read_code": Meaning(point="before_tool_call", tools=("read_file",), denies=True),
        "post_read_code": Meaning(point="after_tool_call", tools=("read_file",)),
        "pre_write_code": Meaning(point="before_tool_call", tools=_EDITS, denies=True),
        "post_write_code": Meaning(point="after_tool_call", tools=_EDITS),
        "pre_run_command": Meaning(point="before_tool_call", tools=("bash",), denies=True),
        "post_run_command": Meaning(point="after_tool_call", tools=("bash",), also=("tool_call_failed",)),
        "pre_mcp_tool_use": Meaning(point="before_tool_call", denies=True, only=_OF_SERVERS),
        "post_mcp_tool_use": Meaning(point="after_tool_call", only=_OF_SERVERS),
        "post_cascade_response": Meaning(point="run_completed"),
        "post_cascade_response_with_transcript": Meaning(point="run_completed"),
        "post_setup_worktree": _NONE,
    },
    tool_names={},
    shown=frozenset({"show_output"}),
)

KIRO = Tool(
    name="kiro",
    look=Look(
        title="Kiro or Amazon Q",
        marks=_in_entries("timeout_ms", "cache_ttl_seconds", "only_when_turn_complete"),
        unit=Unit.MILLISECONDS,
    ),
    shape=Shape.ENTRIES,
    timeout=30_000,
    timeout_keys=("timeout_ms",),
    events={
        "agentSpawn": _SESSION_START,
        "userPromptSubmit": Meaning(point="before_run"),
        "preToolUse": _BEFORE_TOOL,
        "postToolUse": _AFTER_ANY_TOOL,
        "stop": _BEFORE_END,
    },
    tool_names={"execute_bash": ("bash",), "fs_read": ("read_file",), "fs_write": _EDITS},
    variables=frozenset({"USER_PROMPT"}),
)

CODEX = Tool(
    name="codex",
    look=Look(title="Codex", marks=frozenset({("features", "codex_hooks")}), unit=Unit.SECONDS),
    shape=Shape.GROUPS,
    timeout=600,
    events={
        "SessionStart": _SESSION_START,
        "PreToolUse": _BEFORE_TOOL,
        "PermissionRequest": _PERMISSION,
        "PostToolUse": _AFTER_TOOL,
        "PreCompact": _BEFORE_COMPACTION,
        "PostCompact": _AFTER_COMPACTION,
        "UserPromptSubmit": _BEFORE_RUN,
        "SubagentStop": _SUBAGENT_END,
        "Stop": _BEFORE_END,
        "Interrupt": _NONE,
    },
    tool_names=_CLAUDE_TOOLS,
    our_names=True,
)

TOOLS: tuple[Tool, ...] = (CLAUDE_CODE, GEMINI_CLI, CURSOR, COPILOT, WINDSURF, KIRO, CODEX)

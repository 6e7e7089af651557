"""A tool call, from the model's wish to its result."""

from dataclasses import dataclass
from typing import Any

from hookline._core.commands import ResolvedCommand
from hookline._core.decisions import Allow, Ask, Deny
from hookline._core.effects import AddContext, AddFeedback, EndRun, RewriteInput
from hookline._core.messages import CallResult, Provenance
from hookline._core.points import Event, hook_point


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEvent(Event):
    """Base of the events about one call. `aliases` are other names that a matcher may use for the tool."""

    tool_name: str
    input: Any
    call_id: str = ""
    aliases: tuple[str, ...] = ()
    provenance: Provenance | None = None

    def subjects(self) -> tuple[str, ...]:
        return (self.tool_name, *self.aliases)


@hook_point("before_tool_call", admits=(Deny, Ask, RewriteInput, AddContext), subject="tool_name")
@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeToolCall(ToolEvent):
    """The model asked for a call; it is valid, not yet approved, and has not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownToolCall(BeforeToolCall):
    """The model asked for a tool that there is not: the call is going to fail. An occurrence of `before_tool_call`."""


@hook_point("permission_request", admits=(Allow, Deny), subject="tool_name")
@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRequest(ToolEvent):
    """A call is about to wait for a person's approval."""


@hook_point("before_dispatch", admits=(Deny,), subject="tool_name")
@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeDispatch(ToolEvent):
    """The call is approved and runs next. `command` is what it will execute, None for one that starts no program."""

    command: ResolvedCommand | None = None


@hook_point("after_tool_call", admits=(Deny, AddContext, AddFeedback, EndRun), subject="tool_name")
@dataclass(frozen=True, slots=True, kw_only=True)
class AfterToolCall(ToolEvent):
    """A call succeeded. `response` is the tool's own result. `duration` is in seconds.

    A Deny keeps the result from the model, which is told the reason. What the call did stays done. `text` is what the
    model is about to read.
    """

    response: Any = None
    duration: float = 0.0
    text: str = ""


@hook_point("tool_call_failed", admits=(Deny, AddContext, AddFeedback, EndRun), subject="tool_name")
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFailed(ToolEvent):
    """A call failed. `duration` is in seconds. A Deny keeps the error from the model, which is told the reason."""

    error: str = ""
    interrupted: bool = False
    duration: float = 0.0


@hook_point("after_shell", subject="tool_name")
@dataclass(frozen=True, slots=True, kw_only=True)
class AfterShell(ToolEvent):
    """A shell command ended; its tool call was told of before. `duration` is in seconds.

    `exit_code` is 128 and the number of the signal that ended it, -1 where it is not known.
    """

    command: ResolvedCommand
    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""
    duration: float = 0.0


@hook_point("after_tool_batch", admits=(AddContext, AddFeedback, EndRun))
@dataclass(frozen=True, slots=True, kw_only=True)
class AfterToolBatch(Event):
    """All calls of one step are done and their results committed; the next model call has not begun."""

    calls: tuple[CallResult, ...] = ()

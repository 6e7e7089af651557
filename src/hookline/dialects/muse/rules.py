"""The 17 Muse Code events, one row each. Loader, payloads, answers, records, workbench and documentation read it.

Section numbers in this folder are those of docs/dialects/muse.md.
"""

from dataclasses import dataclass
from enum import Enum

from hookline._core import events as ev
from hookline._core.answer import Word
from hookline._core.decisions import Allow, Ask, Deny
from hookline._core.effects import AddContext, AddFeedback, EndRun, Notify, Reopen, RewriteInput
from hookline._core.events.tool import UnknownToolCall
from hookline._core.points import Event
from hookline._core.rules import Rule
from hookline.dialects._keys import Key, key
from hookline.dialects._kinds import ANYTHING, BOOLEAN
from hookline.dialects.muse.keys import (
    AGENT,
    MODEL_CALL,
    PLACE,
    RUN,
    SESSION,
    SUBAGENT,
    TITLE,
    TOOL,
    TOOL_CALLS,
    TOOL_USE,
    USAGE,
    count,
    milliseconds,
    preview,
)


class Matching(Enum):
    """What a group's `matcher` is tested against."""

    SUBJECT = "subject"
    NOTHING = "nothing"  # any matcher but `*` is a problem
    IGNORED = "ignored"  # accepted for compatibility, always runs


class Stopping(Enum):
    """What `continue: false` does."""

    REJECTED = "rejected"  # the key makes the answer malformed
    INERT = "inert"  # accepted, changes nothing
    EFFECTIVE = "effective"


@dataclass(frozen=True, slots=True, kw_only=True)
class MuseRule(Rule):
    """One Muse event.

    `block` is what exit 2 with a reason, or `decision: block`, asks of the session; None means that it is not legal.
    `blocks` is false where that reason is feedback only and the run's status stays `completed`. `stop_as` is what an
    effective `continue: false` asks for. The two texts are the reasons recorded where a hook gives none.
    """

    snake: str
    payload: tuple[Key, ...]
    matching: Matching = Matching.SUBJECT
    block: Word | None = None
    blocks: bool = True
    block_text: str = ""
    stopping: Stopping = Stopping.INERT
    stop_as: Word = EndRun
    stop_text: str = ""
    stop_feedback: str = ""
    context: bool = False
    plain_context: bool = False
    permission: bool = False
    verdict: bool = False
    skills: bool = False
    selector: bool = False
    strict_form: bool = True
    has_run: bool = True
    in_child: bool = False

    @property
    def place(self) -> tuple[Key, ...]:
        """The members that say where it happened."""
        run = (RUN,) if self.has_run else ()
        return (SESSION, *run, *PLACE, *(AGENT if self.in_child else ()))


def of_a_tool(event: ev.BeforeToolCall) -> bool:
    """A call of a tool that there is not reaches no hook before it."""
    return not isinstance(event, UnknownToolCall)


FEEDBACK = frozenset({AddContext, AddFeedback, EndRun, Notify})
KEPT = frozenset({AddContext, AddFeedback, Notify})  # context from a refused call still helps the model

RULES: tuple[MuseRule, ...] = (
    MuseRule(
        name="SessionStart",
        snake="session_start",
        event=ev.SessionStart,
        payload=(key("source", required=True),),
        admits=frozenset({AddContext, EndRun, Notify}),
        stopping=Stopping.EFFECTIVE,
        stop_text="session start hook stopped this turn",
        context=True,
        plain_context=True,
        has_run=False,
    ),
    MuseRule(
        name="UserPromptSubmit",
        snake="user_prompt_submit",
        event=ev.BeforeRun,
        payload=(key("prompt", required=True),),
        admits=frozenset({Deny, AddContext, Notify}),
        matching=Matching.NOTHING,
        has_subject=False,
        block=Deny,
        block_text="user prompt hook blocked submission",
        context=True,
        plain_context=True,
        skills=True,
    ),
    MuseRule(
        name="PreToolUse",
        snake="pre_tool_use",
        event=ev.BeforeToolCall,
        occurs=of_a_tool,
        payload=TOOL_USE,
        admits=frozenset({Deny, Ask, RewriteInput, AddContext, Notify}),
        survives_deny=KEPT,
        block=Deny,
        stopping=Stopping.REJECTED,
        context=True,
        permission=True,
        selector=True,
    ),
    MuseRule(
        name="PermissionRequest",
        snake="permission_request",
        event=ev.PermissionRequest,
        payload=TOOL,
        admits=frozenset({Allow, Deny, Notify}),
        block=Deny,
        block_text="PermissionRequest hook denied approval",
        stopping=Stopping.REJECTED,
        verdict=True,
        selector=True,
    ),
    MuseRule(
        name="PostToolUse",
        snake="post_tool_use",
        event=ev.AfterToolCall,
        payload=(*TOOL_USE, key("tool_response", "response", ANYTHING)),
        admits=FEEDBACK,
        survives_deny=KEPT,
        block=AddFeedback,
        stopping=Stopping.EFFECTIVE,
        stop_text="post-tool hook stopped this turn",
        stop_feedback="PostToolUse hook stopped execution",
        context=True,
        skills=True,
        selector=True,
    ),
    MuseRule(
        name="PostToolUseFailure",
        snake="post_tool_use_failure",
        event=ev.ToolCallFailed,
        payload=(
            *TOOL_USE,
            key("error"),
            key("is_interrupt", "interrupted", BOOLEAN),
            milliseconds("duration_ms", "duration"),
        ),
        admits=FEEDBACK,
        survives_deny=KEPT,
        block=AddFeedback,
        blocks=False,
        stopping=Stopping.EFFECTIVE,
        stop_text="post-tool failure hook stopped this turn",
        context=True,
        strict_form=False,
    ),
    MuseRule(
        name="PostToolBatch",
        snake="post_tool_batch",
        event=ev.AfterToolBatch,
        payload=(TOOL_CALLS,),
        admits=FEEDBACK,
        survives_deny=KEPT,
        matching=Matching.IGNORED,
        has_subject=False,
        block=AddFeedback,
        stopping=Stopping.EFFECTIVE,
        stop_text="post-tool batch hook stopped this turn",
        context=True,
        strict_form=False,
        in_child=True,
    ),
    MuseRule(
        name="PreLLMCall",
        snake="pre_llm_call",
        event=ev.BeforeModelCall,
        payload=MODEL_CALL,
        admits=frozenset({Deny, AddContext, Notify}),
        block=Deny,
        block_text="pre-LLM hook blocked model call",
        context=True,
    ),
    MuseRule(
        name="PostLLMCall",
        snake="post_llm_call",
        event=ev.AfterModelCall,
        payload=(
            *MODEL_CALL,
            key("status"),
            key("response_id"),
            USAGE,
            key("finish_reason"),
            key("error"),
            preview("output_text_preview", "output_text"),
            count("tool_call_count", "calls"),
        ),
        admits=frozenset({Deny, AddContext, Notify}),
        block=Deny,
        block_text="post-LLM hook blocked model result",
        context=True,
    ),
    MuseRule(
        name="PreCompact",
        snake="pre_compact",
        event=ev.BeforeCompaction,
        payload=(key("trigger", required=True),),
        admits=frozenset({Deny, Notify}),
        stopping=Stopping.EFFECTIVE,
        stop_as=Deny,
        stop_text="pre-compact hook vetoed compaction",
    ),
    MuseRule(
        name="PostCompact",
        snake="post_compact",
        event=ev.AfterCompaction,
        payload=(key("trigger", required=True),),
    ),
    MuseRule(
        name="SubagentStart",
        snake="subagent_start",
        event=ev.SubagentStart,
        payload=SUBAGENT,
        admits=frozenset({AddContext, Notify}),
        context=True,
        plain_context=True,
    ),
    MuseRule(
        name="SubagentStop",
        snake="subagent_stop",
        event=ev.SubagentEnd,
        payload=(
            *SUBAGENT,
            key("stop_hook_active", "reopened", BOOLEAN),
            key("last_assistant_message", "last_message"),
        ),
        admits=frozenset({Reopen, Notify}),
        block=Reopen,
        block_text="subagent stop hook requested continuation",
    ),
    MuseRule(
        name="Stop",
        snake="stop",
        event=ev.BeforeRunEnd,
        payload=(
            key("stop_hook_active", "reopened", BOOLEAN),
            key("last_assistant_message", "last_message"),
        ),
        admits=frozenset({Reopen, EndRun, Notify}),
        matching=Matching.NOTHING,
        has_subject=False,
        block=Reopen,
        stopping=Stopping.EFFECTIVE,
        stop_text="stop hook ended this turn",
    ),
    MuseRule(
        name="StopFailure",
        snake="stop_failure",
        event=ev.RunFailed,
        occurs=lambda event: event.by_model,
        payload=(
            key("error", "category", required=True),
            key("error_details", "details", optional=True),
            key("last_assistant_message", "last_message", optional=True),
        ),
        strict_form=False,
        in_child=True,
    ),
    MuseRule(
        name="SessionEnd",
        snake="session_end",
        event=ev.SessionEnd,
        payload=(key("reason", required=True),),
        has_run=False,
    ),
    MuseRule(
        name="Notification",
        snake="notification",
        event=ev.Notification,
        payload=(key("notification_type", required=True), TITLE, key("message")),
        stopping=Stopping.REJECTED,
        strict_form=False,
    ),
)

NAME = "hook_event_name"  # the member that names the event

BY_NAME: dict[str, MuseRule] = {rule.name: rule for rule in RULES}
BY_EVENT: dict[type[Event], MuseRule] = {rule.event: rule for rule in RULES}

# What a matcher may call a built-in tool besides its own name. Payloads carry the tool's own name. `Glob`, which the
# document knows too, names nothing, so it has no row.
TOOL_ALIASES: dict[str, tuple[str, ...]] = {
    "bash": ("Bash", "shell"),
    "read_file": ("Read",),
    "edit_file": ("Edit",),
    "write_file": ("Write",),
    "search": ("Grep",),
    "web_fetch": ("WebFetch",),
    "web_search": ("WebSearch",),
}
SHELL_TOOL = "bash"

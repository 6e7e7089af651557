"""The account of a session: one vocabulary, of which every dialect's event stream is a rendering.

A record says what happened; the journal adds when, and its number. Records never hold an environment.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from hookline._core.commands import ResolvedCommand
from hookline._core.events.session import Totals
from hookline._core.hooks import Hook
from hookline._core.inputs import InputKind
from hookline._core.messages import Message
from hookline._core.outcomes import Outcome
from hookline._core.points import Event, Origin
from hookline._core.resolution import Resolution


class Ending(Enum):
    """How a run ended."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


class CallStatus(Enum):
    """How a tool call ended. A refused call never ran."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Base of all records. `origin` says in which session, run and step."""

    kind: ClassVar[str]
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened(Record):
    """A session begins. `source` as in `session_start`; `parent` is the session it was forked or spawned from."""

    kind = "session_opened"
    source: str
    workspace: str
    parent: str | None = None
    hooks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionClosed(Record):
    """The session is over; its hooks have ended. `abandoned` names background hooks that were cut off.

    `totals` is what it came to, where that was counted.
    """

    kind = "session_closed"
    reason: str
    abandoned: tuple[str, ...] = ()
    totals: Totals | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Record):
    """A prompt was taken. `input_id` is the admitted input that it came by, empty where none was.

    The others are those of `before_run`: a capsule's task has them.
    """

    kind = "run_started"
    prompt: str
    input_id: str = ""
    source: str = ""
    context_id: str = ""
    input_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InputDecided(Record):
    """An input was accepted, rejected or deduplicated: `outcome`. It is so, however this record came about.

    `existing` is the input that a deduplicated one is the same as. `detail` is how an accepted one was queued, and why
    a rejected one was refused.
    """

    kind = "input_decided"
    input_id: str
    input_kind: InputKind
    source: str
    outcome: str
    key: str | None = None
    existing: str = ""
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionPublished(Record):
    """The end of an input's work stands in the event log of its runtime, as its line `line`."""

    kind = "interaction_published"
    input_id: str
    line: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeSent(Record):
    """A message left for a peer, as far as `delivery` proves. `what` is the kind of the envelope."""

    kind = "envelope_sent"
    envelope_id: str
    what: str
    to: str
    text: str
    delivery: str
    in_reply_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTotals:
    """What a capsule's task came to, all its attempts together. `status` is the dialect's word for how it ended."""

    status: str
    duration: float = 0.0
    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    tool_calls: int = 0
    shell_calls: int = 0
    reopened: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(Record):
    """The one end of a run. `totals` is there for a capsule's task."""

    kind = "run_ended"
    ending: Ending
    text: str = ""
    reason: str | None = None
    totals: TaskTotals | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAdded(Record):
    """A message joined the conversation. Resuming a session reads these."""

    kind = "message_added"
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextAdded(Record):
    """A hook's text joined the conversation. `point` is where, `number` counts within the session."""

    kind = "context_added"
    point: str
    hook: str
    text: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationReplaced(Record):
    """The whole conversation was replaced, by compaction or by clearing."""

    kind = "conversation_replaced"
    why: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled(Record):
    """A model call came back. `duration` in seconds."""

    kind = "model_called"
    request_id: str
    status: str
    duration: float
    usage: Mapping[str, int]
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted(Record):
    """A tool call is about to run: every hook and the approval let it through."""

    kind = "call_started"
    call_id: str
    tool: str
    input: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded(Record):
    """A tool call ended. `text` is what the model is told. `duration` in seconds."""

    kind = "call_ended"
    call_id: str
    tool: str
    status: CallStatus
    text: str
    duration: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellEnded(Record):
    """The program of a call ended. `duration` in seconds; the bytes are those that were kept of each stream."""

    kind = "shell_ended"
    call_id: str
    tool: str
    command: ResolvedCommand
    exit_code: int
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    duration: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallForbidden(Record):
    """A call that the capsule's own manifest forbids: no hook was asked. `target` is the program, or the tool.

    `rule` is the entry of the manifest, `path` what of the call falls under it, `signal` what gave it away.
    """

    kind = "call_forbidden"
    call_id: str
    tool: str
    target: str
    path: str
    rule: str
    signal: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked(Record):
    """A call waited for approval; who decided, and how."""

    kind = "approval_asked"
    call_id: str
    tool: str
    allowed: bool
    by: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStarted(Record):
    """A hook that leaves this process was started. What runs here ends too soon to be worth two lines."""

    kind = "hook_started"
    hook: Hook
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEnded(Record):
    """One attempt ended: a hook that left this process, a fallback of it, or a background hook."""

    kind = "hook_ended"
    outcome: Outcome
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched(Record):
    """All hooks of one event ended and were folded. `event` is as they were asked, the resolution's as they left it."""

    kind = "dispatched"
    event: Event
    resolution: Resolution
    duration: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenRefused(Record):
    """A hook wanted the run to go on once more than is allowed; it completes."""

    kind = "reopen_refused"
    point: str
    hook: str
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened(Record):
    """A hook had a run that was about to end worked on once more. `number` counts within the run, from 1."""

    kind = "reopened"
    hook: str
    reason: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSeeded(Record):
    """What a hook wanted to stand before a run, and what came of it. Tokens throughout; `reason` only of a rejection.

    `outcome` is seeded, trimmed, compacted or rejected.
    """

    kind = "context_seeded"
    hook: str
    outcome: str
    reason: str = ""
    proposed: int = 0
    tokens: int = 0
    budget: int = 0
    message_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted(Record):
    """A hook's messages took the place of the conversation: tokens before and after."""

    kind = "compacted"
    hook: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionDeclined(Record):
    """The conversation was to be shortened, and goes on as it is. `reason` is closed."""

    kind = "compaction_declined"
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HookAskedModel(Record):
    """A hook had the capsule's model answer something. `decision` is end_turn, or error; `duration` in seconds."""

    kind = "hook_asked_model"
    hook: str
    model: str
    decision: str
    input_tokens: int = 0
    output_tokens: int = 0
    duration: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactEmitted(Record):
    """What a hook made beside the answer was handed over with it."""

    kind = "artifact_emitted"
    hook: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosed(Record):
    """A line for a log that is kept beside the account. `log` is its name."""

    kind = "diagnosed"
    log: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted(Record):
    """A line for the person at the terminal: a hook's own message if `hook` names it, else a remark of the session."""

    kind = "noted"
    text: str
    hook: str = ""

"""The file format: a line is an envelope and, in the same object, the fields of one of the bodies below.

Writer and reader both use these classes. A field that has its default value is left out of the line. Words that
come from an enum are plain text here, so that a newer word does not make a line unreadable.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct

from hookline._core import records as rec
from hookline._core.commands import ResolvedCommand
from hookline._core.events.session import Totals
from hookline._core.messages import Message as CoreMessage
from hookline._core.messages import ToolCall

VERSION = 1
KIND_OF_EVENT = "kind_of_event"  # member of an event of a special kind: the name of its class
MAX_LINE = 16 * 1024 * 1024  # bytes: no line is written that is longer, so a longer one is damage and is not kept


Moment = Annotated[int, Meta(ge=0, le=253_402_300_799_999_999)]  # Unix microseconds, up to the end of the year 9999


class Envelope(Struct, frozen=True, kw_only=True):
    """What every line has. `seq` counts lines from 1, `at` is when the line was written."""

    v: int
    seq: int
    at: Moment
    kind: str
    session: str = ""
    run: str = ""
    step: int = 0


class Fields(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of everything inside a line."""


class Hook(Fields, frozen=True):
    """A hook as its author knows it. Its environment and its arguments are never written."""

    id: str
    key: str = ""
    layer: str = ""
    file: str = ""
    dialect: str = ""
    label: str = ""
    background: bool = False
    commits: tuple[str, ...] = ()


class Decision(Fields, frozen=True):
    """A decision: `allow`, `ask` or `deny`. `code` and `data` are what a dialect's denial has besides its reason."""

    decision: str
    reason: str = ""
    code: str = ""
    data: Any = None


class Outcome(Fields, frozen=True):
    """How one hook's turn ended. `started` is 0 if it never began. Of each output stream the beginning is kept.

    `by` is the hook called in the end where that is a fallback; `links` are the attempts before it.
    """

    hook: Hook
    kind: str
    why: str = ""
    detail: str = ""
    by: Hook | None = None
    links: "tuple[Outcome, ...]" = ()
    code: int | None = None
    stdout: str = ""
    stdout_size: int = 0
    stderr: str = ""
    stderr_size: int = 0
    stdin_read: int | None = None
    stdin_size: int = 0
    left_behind: int = 0
    started: Moment = 0
    queued_ms: float = 0.0
    ran_ms: float = 0.0
    decision: Decision | None = None
    effects: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


class Applied(Fields, frozen=True):
    """An effect that counts, and the id of the hook that asked for it."""

    hook: str
    effect: dict[str, Any]


class Ignored(Fields, frozen=True):
    """A decision or an effect that does not count, the id of the hook whose it was, and why."""

    hook: str
    what: str
    why: str


class Message(Fields, frozen=True):
    """A message of the conversation, without what it does not have."""

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    id: str = ""
    source_id: str | None = None
    is_error: bool | None = None

    @classmethod
    def of(cls, message: CoreMessage) -> "Message":
        return cls(**{name: getattr(message, name) for name in cls.__struct_fields__})

    def as_message(self) -> CoreMessage:
        return CoreMessage(**{name: getattr(self, name) for name in self.__struct_fields__})


class Body(Fields, frozen=True):
    """Base of what one kind of record adds to the envelope."""


B = TypeVar("B", bound=type[Body])

BODIES: dict[str, type[Body]] = {}  # by the kind of the record


def body_for(record: type[rec.Record]) -> Callable[[B], B]:
    """Declare the body of a record's line. Each field is written from the record's: enums as words, seconds as `_ms`.

    A body that is more than its record's fields has its own function in `encode.SPECIAL`.
    """

    def declare(body: B) -> B:
        BODIES[record.kind] = body
        return body

    return declare


@body_for(rec.SessionOpened)
class SessionOpened(Body, frozen=True):
    source: str
    workspace: str
    parent: str | None = None
    hooks: int = 0


@body_for(rec.SessionClosed)
class SessionClosed(Body, frozen=True):
    reason: str
    abandoned: tuple[str, ...] = ()
    totals: Totals | None = None


@body_for(rec.RunStarted)
class RunStarted(Body, frozen=True):
    prompt: str
    input_id: str = ""
    source: str = ""
    context_id: str = ""
    input_bytes: int = 0


@body_for(rec.InputDecided)
class InputDecided(Body, frozen=True):
    input_id: str
    input_kind: str
    source: str
    outcome: str
    key: str | None = None
    existing: str = ""
    reason: str = ""
    detail: str = ""


@body_for(rec.InteractionPublished)
class InteractionPublished(Body, frozen=True):
    input_id: str
    line: int
    what: str


@body_for(rec.EnvelopeSent)
class EnvelopeSent(Body, frozen=True):
    envelope_id: str
    what: str
    to: str
    text: str
    delivery: str
    in_reply_to: str | None = None


@body_for(rec.RunEnded)
class RunEnded(Body, frozen=True):
    ending: str
    text: str = ""
    reason: str | None = None
    totals: rec.TaskTotals | None = None


@body_for(rec.MessageAdded)
class MessageAdded(Body, frozen=True):
    message: Message


@body_for(rec.ContextAdded)
class ContextAdded(Body, frozen=True):
    point: str
    hook: str
    text: str
    number: int


@body_for(rec.ConversationReplaced)
class ConversationReplaced(Body, frozen=True):
    why: str
    messages: tuple[Message, ...]


@body_for(rec.ModelCalled)
class ModelCalled(Body, frozen=True):
    request_id: str
    status: str
    duration_ms: float
    usage: dict[str, int]
    error: str | None = None


@body_for(rec.CallStarted)
class CallStarted(Body, frozen=True):
    call_id: str
    tool: str
    input: Any


@body_for(rec.CallEnded)
class CallEnded(Body, frozen=True):
    call_id: str
    tool: str
    status: str
    text: str
    duration_ms: float = 0.0


@body_for(rec.ShellEnded)
class ShellEnded(Body, frozen=True):
    call_id: str
    tool: str
    command: ResolvedCommand
    exit_code: int
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    duration_ms: float = 0.0


@body_for(rec.CallForbidden)
class CallForbidden(Body, frozen=True):
    call_id: str
    tool: str
    target: str
    path: str
    rule: str
    signal: str
    reason: str


@body_for(rec.Reopened)
class Reopened(Body, frozen=True):
    hook: str
    reason: str
    number: int


@body_for(rec.ContextSeeded)
class ContextSeeded(Body, frozen=True):
    hook: str
    outcome: str
    reason: str = ""
    proposed: int = 0
    tokens: int = 0
    budget: int = 0
    message_ids: tuple[str, ...] = ()


@body_for(rec.Compacted)
class Compacted(Body, frozen=True):
    hook: str
    before: int
    after: int


@body_for(rec.CompactionDeclined)
class CompactionDeclined(Body, frozen=True):
    tokens: int
    reason: str


@body_for(rec.HookAskedModel)
class HookAskedModel(Body, frozen=True):
    hook: str
    model: str
    decision: str
    input_tokens: int = 0
    output_tokens: int = 0
    duration_ms: float = 0.0


@body_for(rec.ArtifactEmitted)
class ArtifactEmitted(Body, frozen=True):
    hook: str
    content: str


@body_for(rec.Diagnosed)
class Diagnosed(Body, frozen=True):
    log: str
    text: str


@body_for(rec.ApprovalAsked)
class ApprovalAsked(Body, frozen=True):
    call_id: str
    tool: str
    allowed: bool
    by: str
    reason: str = ""


@body_for(rec.HookStarted)
class HookStarted(Body, frozen=True):
    """`event` only says which one it is: the whole of it is in the line that resolves it."""

    hook: Hook
    event: dict[str, Any]


@body_for(rec.HookEnded)
class HookEnded(Body, frozen=True):
    """`event` as in HookStarted."""

    outcome: Outcome
    event: dict[str, Any]


@body_for(rec.Dispatched)
class Dispatched(Body, frozen=True):
    """`event` has every field of the event, as the hooks left it; `asked` those that they changed, as they were asked.

    `failed_run` is the id of the hook that did. `unheard` are the ids of hooks that could have denied and gave no
    answer, where the action went on.
    """

    event: dict[str, Any]
    duration_ms: float
    asked: dict[str, Any] = {}
    decision: Decision | None = None
    decided_by: str | None = None
    applied: tuple[Applied, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    failed_run: str | None = None
    unheard: tuple[str, ...] = ()
    launched: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()


@body_for(rec.ReopenRefused)
class ReopenRefused(Body, frozen=True):
    point: str
    hook: str
    limit: int


@body_for(rec.Noted)
class Noted(Body, frozen=True):
    text: str
    hook: str = ""

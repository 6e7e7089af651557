"""Compaction: when a conversation is too long, and what takes its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from hookline._core.effects import EndRun
from hookline._core.errors import ModelError
from hookline._core.events import AfterCompaction, BeforeCompaction, SessionStart
from hookline._core.messages import Message
from hookline._core.points import Event, Origin
from hookline._core.ports import Recorder
from hookline._core.records import Noted
from hookline.session.apply import Fired
from hookline.session.conversation import Conversation
from hookline.session.ports import Model


class Trigger(Enum):
    """What started a compaction."""

    SOFT = "soft"  # nearly full
    HARD = "hard"  # full: the next request may fail
    MANUAL = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The size of the conversation, in estimated tokens, at which compaction is due."""

    limit: int = 100_000
    soft_share: float = 0.8

    def due(self, tokens: int, *, soft_vetoed: bool) -> Trigger | None:
        """Which compaction is due. After a veto of the soft one only the hard one is."""
        if tokens >= self.limit:
            return Trigger.HARD
        if tokens >= self.limit * self.soft_share and not soft_vetoed:
            return Trigger.SOFT
        return None


def compacted(messages: Sequence[Message], summary: str) -> tuple[Message, ...]:
    """The conversation that goes on: the summary, and the user's last message, which may still be unanswered."""
    last = next((message for message in reversed(messages) if message.role == "user"), None)
    head = Message(role="developer", text=f"Summary of the conversation so far:\n{summary}")
    return (head,) if last is None else (head, last)


class Host(Protocol):
    """The session as its compaction sees it."""

    @property
    def model(self) -> Model: ...
    @property
    def conversation(self) -> Conversation: ...
    @property
    def recorder(self) -> Recorder: ...

    async def fire(self, event: Event) -> Fired: ...


@dataclass(frozen=True, slots=True)
class Compaction:
    """What became of one: whether a hook objected, and what ends the run, if a hook wants it to end."""

    vetoed: bool
    end: EndRun | None = None


async def compact(host: Host, trigger: Trigger, origin: Origin) -> Compaction:
    """Shorten the conversation, unless a hook objects. Raises ModelError when the model gives no summary."""
    fired = await host.fire(BeforeCompaction(trigger=trigger.value, origin=origin))
    if fired.denied:
        host.recorder.record(Noted(origin=origin, text=f"compaction was refused: {fired.reason}"))
        return Compaction(vetoed=True)
    messages = host.conversation.messages
    summary = await _summary(host.model, messages)
    host.conversation.replace(compacted(messages, summary), why=trigger.value, origin=origin)
    await host.fire(AfterCompaction(trigger=trigger.value, origin=origin))
    return Compaction(vetoed=False, end=(await host.fire(SessionStart(source="compact", origin=origin))).end)


async def _summary(model: Model, messages: Sequence[Message]) -> str:
    try:
        summary: object = await model.summarise(messages)
    except Exception as fault:  # a model from outside that breaks is a failed call
        raise ModelError.of(fault) from fault
    if not isinstance(summary, str):
        raise ModelError("unknown", f"the model gave a {type(summary).__name__} for a summary")
    return summary

"""Compaction: when a conversation is too long, and what takes its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from hookline._core.messages import Message


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

"""Compaction of the conversation."""

from dataclasses import dataclass

from hookline._core.decisions import Deny
from hookline._core.effects import ReplaceContext
from hookline._core.messages import Message
from hookline._core.points import Event, hook_point


@hook_point("before_compaction", admits=(Deny, ReplaceContext), subject="trigger")
@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeCompaction(Event):
    """The conversation is about to be shortened. A Deny leaves it as it is.

    `trigger`: soft, hard or manual; in a capsule threshold, or seed for what was to stand before a run and is too much.
    `messages` are what is to be shortened, `tokens` what they take, `ratio` that as a part of the window.
    """

    trigger: str
    messages: tuple[Message, ...] = ()
    tokens: int = 0
    ratio: float = 0.0

    @property
    def of_seed(self) -> bool:
        """Whether it is not the conversation itself that is to be shortened."""
        return self.trigger == "seed"


@hook_point("after_compaction", subject="trigger")
@dataclass(frozen=True, slots=True, kw_only=True)
class AfterCompaction(Event):
    """The conversation was shortened. `trigger`: soft, hard or manual."""

    trigger: str

"""Outcomes: each hook called, skipped or cut off yields exactly one, with a closed reason."""

from dataclasses import field
from enum import Enum

from hookline._core.answer import Answer
from hookline._core.hooks import Hook
from hookline._core.made import made
from hookline._core.payload import Reply
from hookline._core.reasons import Failure, Skip


class Kind(Enum):
    """How one call ended."""

    ANSWERED = "answered"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


@made(kw_only=True)
class Outcome:
    """How one hook's turn at one event ended. Times are in seconds; `started` is Unix time, 0 if it never started.

    `by` is the hook that was called in the end: the hook itself, or a fallback of it. `links` are the outcomes of the
    attempts before that one, first to last.
    """

    hook: Hook
    kind: Kind
    answer: Answer | None = None
    why: Failure | Skip | None = None
    detail: str = ""
    by: Hook | None = None
    links: "tuple[Outcome, ...]" = ()
    reply: Reply | None = field(default=None, repr=False)
    started: float = 0.0
    queued: float = 0.0
    ran: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the hook gave an answer, an empty one included."""
        return self.kind is Kind.ANSWERED

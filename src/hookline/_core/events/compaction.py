"""Compaction of the conversation."""

from dataclasses import dataclass

from hookline._core.decisions import Deny
from hookline._core.points import Event, hook_point


@hook_point("before_compaction", admits=(Deny,), subject="trigger")
@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeCompaction(Event):
    """The conversation is about to be shortened. `trigger`: soft, hard or manual. A Deny leaves it as it is."""

    trigger: str


@hook_point("after_compaction", subject="trigger")
@dataclass(frozen=True, slots=True, kw_only=True)
class AfterCompaction(Event):
    """The conversation was shortened. `trigger`: soft, hard or manual."""

    trigger: str

"""Lanes: where hooks run that nobody waits for."""

from dataclasses import dataclass
from enum import Enum


class WhenFull(Enum):
    """What a background lane does with a call that it has no room for."""

    DROP = "drop"  # skipped, and recorded as such
    WAIT = "wait"  # the event waits for room


@dataclass(frozen=True, slots=True, kw_only=True)
class LanePolicy:
    """A background lane: calls at once, calls waiting beyond those, and what happens past both."""

    workers: int
    queue: int
    when_full: WhenFull = WhenFull.DROP

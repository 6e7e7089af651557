"""The edges of a session."""

from dataclasses import dataclass

from hookline._core.effects import AddContext, EndRun
from hookline._core.points import Event, hook_point


@hook_point("session_start", admits=(AddContext, EndRun), subject="source")
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart(Event):
    """A session begins, once before its first run. `source`: startup, resume, clear, compact or fork."""

    source: str


@hook_point("session_end", subject="reason")
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd(Event):
    """A session is over. `reason`: other, clear, interrupted or terminated."""

    reason: str

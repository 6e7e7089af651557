"""The edges of a session."""

from dataclasses import dataclass

from hookline._core.effects import AddContext, EndRun
from hookline._core.points import Event, hook_point


@hook_point("session_start", admits=(AddContext, EndRun), subject="source")
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart(Event):
    """A session begins, once before its first run. `source`: startup, resume, clear, compact or fork."""

    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a session came to. `duration` is in seconds; `status` is `ok` or `failed`."""

    steps: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    tool_calls: int = 0
    shell_calls: int = 0
    duration: float = 0.0
    status: str = "ok"


@hook_point("session_end", subject="reason")
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnd(Event):
    """A session is over. `reason`: other, clear, interrupted or terminated."""

    reason: str
    totals: Totals = Totals()

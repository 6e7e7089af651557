"""A script as the model plays it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One tool call. `input` is JSON data, or the text that the model sends in its place."""

    tool: str
    input: Any


@dataclass(frozen=True, slots=True)
class PlannedFailure:
    """How a model call fails."""

    category: str
    details: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One answer. `wait` is how long the model takes, in seconds."""

    say: str = ""
    calls: tuple[PlannedCall, ...] = ()
    fail: PlannedFailure | None = None
    wait: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """All answers of one agent, in order. `agents` are the scripts of its child agents by kind."""

    steps: tuple[Step, ...]
    model: str | None = None
    provider: str | None = None
    summary: str | None = None
    agents: "Mapping[str, Script]" = field(default_factory=dict)

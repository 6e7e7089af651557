"""The conversation: what the session keeps, the model reads and hooks may look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PREVIEW = 256  # characters of a message that leave the session in an event's record: enough to recognise it by


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call that the model asked for. `input` is parsed JSON, or the raw text where it was not JSON."""

    id: str
    name: str
    input: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. `role` is user, assistant, developer or tool; a tool's message names the call it answers."""

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model is told of it. `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that one model call took."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """One finished call of a batch, as `after_tool_batch` reports it."""

    tool_name: str
    input: Any
    call_id: str
    response: Any

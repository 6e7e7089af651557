"""A model call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hookline._core.decisions import Deny
from hookline._core.effects import AddContext, EmitArtifact
from hookline._core.messages import Message, ToolCall, ToolSpec, Usage
from hookline._core.points import Event, hook_point


@hook_point("before_model_call", admits=(Deny, AddContext), subject="provider")
@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeModelCall(Event):
    """A request is about to be sent. `attempt` counts from 1, `step` from 0; `max_tokens` bounds the answer."""

    provider: str
    request_id: str = ""
    attempt: int = 1
    step: int = 0
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = 16_384


@hook_point("after_model_call", admits=(Deny, AddContext, EmitArtifact), subject="provider")
@dataclass(frozen=True, slots=True, kw_only=True)
class AfterModelCall(Event):
    """A response was received; nothing of it has taken effect. A Deny discards it.

    `server_tools` names the tools that the provider itself ran, in their order.
    """

    provider: str
    request_id: str = ""
    attempt: int = 1
    step: int = 0
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    status: str = "success"
    response_id: str = ""
    usage: Usage = Usage()
    finish_reason: str | None = None
    error: str | None = None
    output_text: str = ""
    calls: tuple[ToolCall, ...] = ()
    server_tools: tuple[str, ...] = ()

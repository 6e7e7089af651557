"""The conversation: what the session keeps, the model reads and hooks may look at."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call that the model asked for. `input` is parsed JSON, or the raw text where it was not JSON."""

    id: str
    name: str
    input: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. `role` is user, assistant, developer or tool; a tool's message names the call it answers.

    `id` is its identity where somebody keeps one, `source_id` what a hook joined it to, recorded and never read.
    `is_error`: the call that a tool's message answers went wrong, None where that is not said.
    """

    role: str
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    id: str = ""
    source_id: str | None = None
    is_error: bool | None = None


def blocks_of(text: str, calls: Sequence[ToolCall]) -> list[dict[str, Any]]:
    """What a message says, as blocks: its text, unless it is nothing but calls, and these."""
    said = [{"type": "text", "text": text}] if text or not calls else []
    return [*said, *({"type": "tool_call", "id": each.id, "name": each.name, "input": each.input} for each in calls)]


def wire_form(message: Message) -> dict[str, Any]:
    """A message as a request has it: no identity, which would only spoil the cache of its beginning."""
    told: dict[str, Any] = {"role": message.role, "content": blocks_of(message.text, message.calls)}
    if message.call_id is not None:
        told["tool_call_id"] = message.call_id
    if message.is_error is not None:
        told["is_error"] = message.is_error
    return told


def is_paired(messages: Iterable[Message]) -> bool:
    """Whether the calls of the model's messages are just those that the tools' messages answer."""
    asked: set[str] = set()
    answered: set[str | None] = set()
    for message in messages:
        if message.role == "assistant":
            asked.update(call.id for call in message.calls)
        elif message.role == "tool":
            answered.add(message.call_id)
    return asked == answered


NO_RESULT = "No result: the session ended before this call did."


def with_results(messages: Iterable[Message], ended: Mapping[int, Mapping[str, str]]) -> Iterator[Message]:
    """*messages*, each call with one result: no model takes a conversation with a call or a result by itself.

    A call without one gets what *ended* has, by the place of the message that asked for it and the call's id, or a text
    that says so. A result whose call is missing is left out.
    """
    waiting: dict[str, str] = {}  # the texts for calls without a result, in order

    def missing() -> Iterator[Message]:
        return (Message(role="tool", call_id=call_id, text=text) for call_id, text in waiting.items())

    for place, message in enumerate(messages):
        if message.role == "tool":
            if message.call_id in waiting:
                del waiting[message.call_id]
                yield message
            continue
        if message.role != "developer":  # context may stand among the results
            yield from missing()
            known = ended.get(place, {})
            waiting = {call.id: known.get(call.id, NO_RESULT) for call in message.calls}
        yield message
    yield from missing()


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a tool comes from, as its definition says: a kind such as `builtin`, `shell`, `comms`, `mcp`, and which."""

    kind: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model is told of it. `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    provenance: Provenance | None = None


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

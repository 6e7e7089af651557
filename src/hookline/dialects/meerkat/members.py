"""The members of an envelope behind `point` and `session_id`: the objects of section 3.2, a table each.

`turn` among the fields of a member is the step of the event's origin.
"""

from collections.abc import Callable
from typing import Any

from hookline._core import events as ev
from hookline._core.messages import Provenance, ToolCall, Usage
from hookline._core.strictjson import Path
from hookline.dialects._keys import Fields, Key, check, constant, each, inner, into, key
from hookline.dialects._kinds import ARRAY, BOOLEAN, COUNT, NUMBER, OBJECT, STRING, STRINGS, Kind, one_of
from hookline.dialects.meerkat.content import blocks_of, text_of


def _given(
    name: str, value: Callable[[Any], Any], kind: Kind = STRING, fields: Callable[[Any, Path], Fields] | None = None
) -> Key:
    """A member that is left out where there is no value."""
    return Key(name=name, value=value, kind=kind, fields=fields or into(name), optional=True)


UNKNOWN = "unknown"  # the provider, which no envelope names


def _contents(value: Any, at: Path) -> Fields:
    """A content is a string here, and blocks elsewhere."""
    if isinstance(value, list):
        check_blocks(value, at)
    return {"prompt": text_of(value)}


def check_blocks(blocks: list[Any], at: Path) -> None:
    for index, block in enumerate(blocks):
        check(block, OBJECT, (*at, index))


CONTENT = Kind("a string or an array of blocks", lambda value: isinstance(value, str | list), '"..."')
PROMPT = (
    Key(
        name="kind",
        value=lambda event: "pending_tool_results" if event.resumes else "content",
        kind=one_of(("content", "pending_tool_results")),
        fields=lambda value, _: {"resumes": value == "pending_tool_results"},
        required=True,
    ),
    _given("content", lambda event: None if event.resumes else event.prompt, CONTENT, _contents),
)
PROMPT_INPUT = inner("prompt_input", PROMPT, lambda fields: {"prompt": "", **fields}, required=True)

TURN = Key(name="turn_number", value=lambda event: event.origin.step, kind=COUNT, fields=into("turn"))
TURN_OF_CALL = Key(
    name="turn_number",
    value=lambda event: event.origin.step,
    kind=COUNT,
    fields=lambda value, _: {"turn": value, "step": value},
)
TURNS = Key(
    name="turn_number",
    value=lambda event: event.origin.step + 1,
    kind=COUNT,
    fields=lambda value, _: {"turn": max(value - 1, 0)},
)


OPTIONS = (
    _given("temperature", lambda event: event.options.get("temperature"), NUMBER),
    _given("provider_params", lambda event: event.options.get("provider_params") or None, OBJECT),
)
REQUEST = (
    key("max_tokens", kind=COUNT, optional=True),
    *OPTIONS,
    Key(name="message_count", value=lambda event: len(event.messages), kind=COUNT),
)


def _request(fields: dict[str, Any]) -> Fields:
    options = {row.name: fields.pop(row.name) for row in OPTIONS if row.name in fields}
    return {"provider": UNKNOWN, "options": options, **fields}


LLM_REQUEST = inner("llm_request", REQUEST, _request, required=True)

STOP_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "content_filter",
}  # those of the models that come with hookline; a provider's own words go as they are, if Meerkat has them
KNOWN_STOPS = frozenset({*STOP_REASONS.values(), "stop_sequence", "cancelled"})
FINISHES = {stop: finish for finish, stop in STOP_REASONS.items()}

SERVER_TOOLS = frozenset({"web_search", "google_search"})


def _stop_reason(event: ev.AfterModelCall) -> str | None:
    finish = event.finish_reason
    word = STOP_REASONS.get(finish or "", finish)
    return word if word in KNOWN_STOPS else None


def _finish(stop: str, at: Path) -> Fields:
    return {"finish_reason": FINISHES.get(stop, stop)}


def _usage(event: ev.AfterModelCall) -> Usage | None:
    usage = event.usage
    return usage if usage.input_tokens or usage.output_tokens else None


USAGE = (
    key("input_tokens", kind=COUNT),
    key("output_tokens", kind=COUNT),
    constant("cache_creation_tokens", None, COUNT),
    Key(
        name="cache_read_tokens",
        value=lambda usage: usage.cached_tokens or None,
        kind=COUNT,
        fields=into("cached_tokens"),
    ),
)
SERVER_TOOL = (
    Key(
        name="kind",
        value=lambda name: name if name in SERVER_TOOLS else "provider_native",
        fields=into("kind"),
        required=True,
    ),
    _given("name", lambda name: None if name in SERVER_TOOLS else name),
)


def _server_tool(kind: str, name: str = "") -> str:
    return name if kind == "provider_native" else kind


RESPONSE = (
    key("assistant_text", "output_text", optional=True),
    Key(
        name="tool_call_names",
        value=lambda event: [call.name for call in event.calls],
        kind=STRINGS,
        fields=lambda value, _: {"calls": tuple(ToolCall(id="", name=name, input={}) for name in value)},
    ),
    _given("stop_reason", _stop_reason, one_of(sorted(KNOWN_STOPS)), _finish),
    inner("usage", USAGE, lambda fields: {"usage": Usage(**fields)}, of=_usage, optional=True),
    each("server_tool_content", SERVER_TOOL, _server_tool, "server_tools", optional=True),
)
LLM_RESPONSE = inner("llm_response", RESPONSE, lambda fields: {"provider": UNKNOWN, **fields}, required=True)

PROVENANCE = inner(
    "provenance",
    (key("kind", required=True), key("source_id", "source", required=True)),
    lambda fields: {"provenance": Provenance(**fields)},
    of=lambda event: event.provenance,
    optional=True,
)
CALL = (key("tool_use_id", "call_id", optional=True), key("name", "tool_name", required=True))
ARGS = Key(
    name="args",
    value=lambda event: event.input if isinstance(event.input, dict) else {},
    kind=OBJECT,
    fields=into("input"),
    required=True,
)
TOOL_CALL = inner("tool_call", (*CALL, ARGS, PROVENANCE), dict, required=True)


def _response(blocks: list[Any], at: Path) -> Fields:
    """What a tool gave back, of which these blocks would be made again."""
    check_blocks(blocks, at)
    text = text_of(blocks)
    if not blocks:
        return {}
    inside = [blocks[0].get("text"), blocks[0].get("data")] if len(blocks) == 1 else []
    response = next((value for value in inside if blocks_of(value) == blocks), blocks)
    return {"response": response, "text": text}


def _error(blocks: list[Any], at: Path) -> Fields:
    check_blocks(blocks, at)
    return {"error": text_of(blocks)}


def _result(content: Key, *, failed: bool) -> Key:
    is_error = constant("is_error", failed, BOOLEAN)
    keys = (*CALL, content, is_error, PROVENANCE)
    return inner("tool_result", keys, lambda fields: {"input": {}, **fields}, required=True)


TOOL_RESULT = _result(
    _given("content_blocks", lambda event: blocks_of(event.response) or None, ARRAY, _response),
    failed=False,
)
TOOL_FAILURE = _result(
    _given("content_blocks", lambda event: blocks_of(event.error) or None, ARRAY, _error),
    failed=True,
)


def observation(kind: str, keys: tuple[Key, ...]) -> Key:
    """What a settled point reports."""
    named = constant("observation_type", kind, one_of((kind,)), required=True)
    return inner("observation", (named, inner("observation", keys, dict, required=True)), dict, required=True)

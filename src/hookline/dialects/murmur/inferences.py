"""The record of an answer of the model. What was asked and answered stands in it as JSON in strings."""

from typing import Any

from hookline._core import events as ev
from hookline._core.messages import Message, ToolSpec, blocks_of, wire_form
from hookline._core.strictjson import Path
from hookline.dialects._keys import Fields, Key, fields_in, into, key, told
from hookline.dialects._kinds import ARRAY, BOOLEAN, COUNT, OBJECT, STRING, Kind, one_of, or_null
from hookline.dialects.murmur.messages import said_in
from hookline.dialects.murmur.rows import U32_COUNT, json_in, row
from hookline.dialects.murmur.wire import U32, json_of, text_of, unsigned


def decision_of(event: ev.AfterModelCall) -> str:
    """What the model wants next, in Murmur's words."""
    if event.calls:
        return "tool_call"
    return "end_turn" if event.finish_reason in ("stop", "end_turn") else "text"


FINISHES = {"tool_call": "tool_calls", "end_turn": "stop", "text": None}  # of a decision, how the answer ended


def _wired(name: str, attribute: str, kind: Kind = STRING, *, required: bool = False) -> Key:
    """A member of a message as a request has it."""
    return Key(
        name=name,
        value=lambda message: wire_form(message).get(name),
        kind=kind,
        fields=into(attribute),
        required=required,
    )


WIRED = (
    _wired("role", "role", required=True),
    _wired("content", "content", ARRAY, required=True),
    _wired("tool_call_id", "call_id"),
    _wired("is_error", "is_error", BOOLEAN),
)


def _message(role: str, content: list[Any], **identity: Any) -> Message:
    text, calls = said_in(content, calls=True)
    return Message(role=role, text=text, calls=calls, **identity)


def _prompt(text: str, at: Path) -> Fields:
    messages = json_in(text, ARRAY, at)
    return {"messages": tuple(_message(**fields_in(WIRED, each, (*at, n))) for n, each in enumerate(messages))}


def _output(text: str, at: Path) -> Fields:
    said, calls = said_in(json_in(text, ARRAY, at), calls=True)
    return {"output_text": said, "calls": calls}


TOOL = (
    key("name", required=True),
    key("description", required=True),
    key("input_schema", "parameters", OBJECT, required=True),
)


def _tools(text: str, at: Path) -> Fields:
    tools = json_in(text, ARRAY, at)
    return {"tools": tuple(ToolSpec(**fields_in(TOOL, each, (*at, number))) for number, each in enumerate(tools))}


INFERENCE = (
    row("turn", lambda event: unsigned(event.step, U32), U32_COUNT, lambda value, _: {"turn": value, "step": value}),
    row("input-tokens", lambda event: unsigned(event.usage.input_tokens), COUNT, into("input_tokens")),
    row("output-tokens", lambda event: unsigned(event.usage.output_tokens), COUNT, into("output_tokens")),
    row("decision", decision_of, one_of(FINISHES), lambda value, _: {"finish_reason": FINISHES[value]}, required=True),
    row(
        "tool-name",
        lambda event: text_of(event.calls[0].name) if event.calls else None,
        or_null(STRING),
        into("first_tool"),
    ),
    row("prompt", lambda event: json_of([wire_form(each) for each in event.messages]), fields=_prompt),
    row("output", lambda event: json_of(blocks_of(event.output_text, event.calls)), fields=_output),
    row("tools", lambda event: json_of([told(TOOL, each) for each in event.tools]), fields=_tools),
)

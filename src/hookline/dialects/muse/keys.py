"""The members of payloads that are more than one attribute, or stand in more than one event's (section 11)."""

import os
from typing import Any

from hookline._core import events as ev
from hookline._core.events import SubagentEnd, SubagentStart
from hookline._core.messages import CallResult, Message, ToolSpec, Usage
from hookline._core.points import Event
from hookline.dialects._keys import Key, constant, each, inner, into, key
from hookline.dialects._kinds import ANYTHING, BOOLEAN, COUNT, OBJECT, one_of

PREVIEW = 256  # characters of a message: enough to recognise it by

MODES = {False: "default", True: "bypassPermissions"}  # by whether approval is off


def input_key(*, required: bool = True) -> Key:
    """A call's input. One that came without arguments is an empty object."""

    def given(call: Any) -> Any:
        value = call.input
        blank = value is None or (isinstance(value, str) and not value.strip())
        return {} if blank else value

    return Key(name="tool_input", value=given, kind=ANYTHING, fields=into("input"), required=required)


def milliseconds(name: str, attribute: str) -> Key:
    return Key(
        name=name,
        value=lambda event: round(getattr(event, attribute) * 1000),
        kind=COUNT,
        fields=lambda value, _: {attribute: value / 1000},
    )


def preview(name: str, attribute: str) -> Key:
    """The beginning of a text, which is then all that is known of it."""
    return Key(name=name, value=lambda thing: getattr(thing, attribute)[:PREVIEW], fields=into(attribute))


def count(name: str, of: str) -> Key:
    """How many there are. It stands for none of them."""
    return Key(name=name, value=lambda event: len(getattr(event, of)), kind=COUNT)


TOOL = (key("tool_name", required=True), input_key())
TOOL_USE = (*TOOL, key("tool_use_id", "call_id"))

FINISHED_CALL = (
    key("tool_name", required=True),
    input_key(),
    key("tool_use_id", "call_id", required=True),
    key("tool_response", "response", ANYTHING, required=True),
)
TOOL_CALLS = each("tool_calls", FINISHED_CALL, CallResult, "calls", required=True)

SUMMARY = (key("role", required=True), preview("text_preview", "text"))

SPEC = (
    key("name", required=True),
    key("description"),
    Key(
        name="has_parameters",
        value=lambda spec: bool(spec.parameters.get("properties")),
        kind=BOOLEAN,
        fields=into("has_parameters"),
    ),
    Key(
        name="strict",
        value=lambda spec: spec.parameters.get("additionalProperties") is False,
        kind=BOOLEAN,
        fields=into("strict"),
    ),
)

UNTOLD: dict[str, Any] = {"untold": {}}  # the parameters of a tool of which it is only known that it has some


def _message(role: str, text: str = "") -> Message:
    return Message(role=role, text=text)


def _spec(name: str, description: str = "", *, has_parameters: bool = False, strict: bool = False) -> ToolSpec:
    parameters: dict[str, Any] = {"type": "object"}
    if has_parameters:
        parameters["properties"] = UNTOLD
    if strict:
        parameters["additionalProperties"] = False
    return ToolSpec(name=name, description=description, parameters=parameters)


MODEL_CALL = (
    key("provider", required=True),
    key("request_id"),
    key("attempt", kind=COUNT),
    key("step", kind=COUNT),
    each("messages", SUMMARY, _message),
    count("message_count", "messages"),
    each("tools", SPEC, _spec),
    count("tool_count", "tools"),
    key("options", kind=OBJECT),
)

USAGE = inner(
    "usage",
    tuple(key(f"{what}_tokens", kind=COUNT) for what in ("input", "output", "cached", "reasoning")),
    lambda fields: {"usage": Usage(**fields)},
    of=lambda event: event.usage,
)

SUBAGENT = (key("subagent_id", required=True), key("child_session_id"))


def _title(event: ev.Notification) -> str:
    """Muse Code's own words for the one notification that it has."""
    return "Muse Code needs approval" if event.notification_type == "permission_prompt" else event.title


TITLE = Key(name="title", value=_title, fields=into("title"))


def _identity(event: Event) -> tuple[str, str]:
    """The session and the run as hooks are told of them. A child agent's edges carry the child's id for both."""
    if isinstance(event, SubagentStart | SubagentEnd):
        child = event.child_session_id or event.origin.session_id
        return child, child
    return event.origin.session_id, event.origin.run_id


def absolute(directory: str) -> str:
    """Where the hook starts. Where this process's own folder is gone, as written: the start will say what is wrong."""
    if os.path.isabs(directory):  # noqa: PTH117  # the text as written, which Path would normalise
        return directory
    try:
        return os.path.join(os.getcwd(), directory) if directory else os.getcwd()  # noqa: PTH109, PTH118  # same
    except OSError:
        return directory


def _of_agent(name: str, attribute: str) -> Key:
    def value(event: Event) -> Any:
        return None if event.origin.agent is None else getattr(event.origin.agent, attribute)

    return Key(name=name, value=value, fields=into(name), optional=True)


# Where an event happened: these fields are those of its origin, behind the event's own.
SESSION = Key(name="session_id", value=lambda event: _identity(event)[0], fields=into("session_id"))
RUN = Key(name="turn_id", value=lambda event: _identity(event)[1], fields=into("run_id"))
PLACE = (
    Key(name="cwd", value=lambda event: absolute(event.origin.cwd), fields=into("cwd")),
    constant("transcript_path", None),
    Key(name="model", value=lambda event: event.origin.model, fields=into("model")),
    Key(
        name="permission_mode",
        value=lambda event: MODES[event.origin.approval_off],
        kind=one_of(MODES.values()),
        fields=lambda value, _: {"approval_off": value == MODES[True]},
    ),
    Key(name="model_provider", value=lambda event: event.origin.provider, fields=into("provider"), optional=True),
)
AGENT = (_of_agent("agent_id", "id"), _of_agent("agent_type", "type"))

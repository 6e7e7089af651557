"""What a hook is given: one JSON object (section 3). Three texts in it are derived when written, and never read."""

import copy
import math
from collections.abc import Mapping
from typing import Any

from hookline._core import strictjson
from hookline._core.hooks import Hook
from hookline._core.payload import Payload, Refused
from hookline._core.points import Event
from hookline._core.reasons import Skip
from hookline._core.targets import NamedTarget
from hookline.dialects._keys import told
from hookline.dialects.meerkat.content import text_of
from hookline.dialects.meerkat.rules import BY_EVENT
from hookline.dialects.meerkat.words import HookPoint

Members = dict[str, Any]

NOT_JSON = "structured output holds a number that JSON cannot hold"
TOO_LARGE = "hook payload exceeds max size: {size} > {cap}"

LARGEST, DEEPEST = 64 * 1024 * 1024, 128  # of an envelope that is read; one that is written has its hook's cap

# The members in the order in which they are written.
ORDER = (
    "point",
    "session_id",
    "turn_number",
    "prompt_input",
    "prompt",
    "error_report",
    "error_class",
    "error",
    "llm_request",
    "llm_response",
    "tool_call",
    "tool_result",
    "observation",
)
RESULT_ORDER = ("tool_use_id", "name", "content", "content_blocks", "is_error", "provenance")
OBJECTS = ("prompt_input", "error_report", "llm_request", "llm_response", "tool_call", "tool_result", "observation")
DERIVED = ("prompt", "error")
POINTS = tuple(point.value for point in HookPoint)

PROVIDER_PARAMS = frozenset(
    {"temperature", "top_p", "max_output_tokens", "reasoning", "thinking_budget_tokens", "provider_tag"}
)


class InvalidEnvelope(Exception):  # a value for whoever decodes one, not a fault of the program
    """Bytes that are no envelope; the message says what is wrong."""


def encode(event: Event, hook: Hook) -> Payload | Refused:
    """The envelope of *event* for one hook. A handler of this process is given it as a dict, and it has no cap."""
    members = members_of(event)
    if not _is_finite(members.get("observation")):
        return Refused(Skip.PAYLOAD_TOO_LARGE, NOT_JSON)
    whole = with_projections(members)
    if isinstance(hook.target, NamedTarget):
        return Payload(event, value=copy.deepcopy(whole))  # what a handler does to it reaches nobody else
    body = strictjson.encode(whole, spaced=False)
    cap = hook.output_bytes
    if cap is not None and len(body) > cap:
        return Refused(Skip.PAYLOAD_TOO_LARGE, TOO_LARGE.format(size=len(body), cap=cap))
    return Payload(event, body)


def members_of(event: Event) -> Members:
    """The members that are not derived, in their order."""
    rule = BY_EVENT[event.point.event]
    members: Members = {"point": rule.point.value, "session_id": event.origin.session_id}
    return members | told(rule.members, event)


def with_projections(members: Mapping[str, Any]) -> Members:
    """The same with the texts that are derived, everything in its order."""
    whole = dict(members)
    prompt = whole.get("prompt_input")
    if prompt is not None and prompt.get("kind") == "content":
        whole["prompt"] = text_of(prompt.get("content", ""))
    report = whole.get("error_report")
    if report is not None:
        whole["error"] = report["message"]
    result = whole.get("tool_result")
    if result is not None:
        told = {**result, "content": text_of(result.get("content_blocks", ()))}
        whole["tool_result"] = _in_order(told, RESULT_ORDER)
    return _in_order(whole, ORDER)


def decode(data: bytes) -> Members:
    """The members of an envelope, without what is derived. Unknown keys are left alone, but in `provider_params`.

    Raises InvalidEnvelope.
    """
    try:
        value = strictjson.parse(data, max_bytes=LARGEST, max_depth=DEEPEST)
    except strictjson.JsonFault as fault:
        raise InvalidEnvelope(fault.message) from fault
    if not isinstance(value, dict):
        raise InvalidEnvelope("an envelope is a JSON object")
    return members_in(value)


def members_in(value: Members) -> Members:
    """The same of an envelope that is parsed already. Raises InvalidEnvelope."""
    for name in ("point", "session_id"):
        if not isinstance(value.get(name), str):
            raise InvalidEnvelope(f"`{name}` is required, a string")
    if value["point"] not in POINTS:
        raise InvalidEnvelope(f"unknown point `{value['point']}`")
    _check_parts(value)
    members = {key: each for key, each in value.items() if key not in DERIVED}
    if isinstance(members.get("tool_result"), dict):
        members["tool_result"] = {key: each for key, each in members["tool_result"].items() if key != "content"}
    return members


def _check_parts(value: Members) -> None:
    for name in OBJECTS:
        if not isinstance(value.get(name, {}), dict):
            raise InvalidEnvelope(f"`{name}` has to be an object")
    params = value.get("llm_request", {}).get("provider_params", {})
    if not isinstance(params, dict):
        raise InvalidEnvelope("`provider_params` has to be an object")
    if unknown := sorted(params.keys() - PROVIDER_PARAMS):
        raise InvalidEnvelope(f"unknown field `{unknown[0]}` in provider_params")
    if "tool_call" in value:
        args = value["tool_call"].get("args")
        if not isinstance(args, dict):
            raise InvalidEnvelope(f"tool call arguments must be a JSON object, got {strictjson.kind_of(args)}")


def _in_order(members: Mapping[str, Any], order: tuple[str, ...]) -> Members:
    known = {name: members[name] for name in order if name in members}
    return known | {name: value for name, value in members.items() if name not in known}


def _is_finite(value: Any) -> bool:
    match value:
        case float():
            return math.isfinite(value)
        case Mapping():
            return all(map(_is_finite, value.values()))
        case list() | tuple():
            return all(map(_is_finite, value))
        case _:
            return True

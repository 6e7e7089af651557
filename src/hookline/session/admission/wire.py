"""Inputs as they come from outside, one JSON object each: a line of standard input, or the body of a request."""

import uuid
from typing import Any

import msgspec

from hookline._core import strictjson
from hookline._core.errors import HooklineError
from hookline._core.inputs import Durability, Handling, Input, InputKind, InputSource, SourceType
from hookline.session.identity import new_session_id

MAX_BYTES = 16 * 1024 * 1024  # of one input: more than any model takes
DEEPEST = 128


class InvalidInput(HooklineError):
    """What was given is no input; the message says what is wrong, and what to write."""


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who gives it."""

    type: SourceType
    name: str = ""
    id: str = ""


class Wire(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One input: `{"text": "fix the build"}` is a prompt of the operator's."""

    kind: InputKind = InputKind.PROMPT
    text: str = ""
    id: str | None = None
    idempotency_key: str | None = None
    source: Source = Source(SourceType.OPERATOR)
    durability: Durability | None = Durability.DURABLE
    handling_mode: Handling | None = None
    request_id: str | None = None
    status: str | None = None
    taint: str | None = None
    has_context: bool = False
    data: Any = None


def input_from(data: bytes) -> Input:
    """The input that a JSON text stands for, under an id of its own if it brings none. Raises InvalidInput."""
    try:
        value = strictjson.parse(data, max_bytes=MAX_BYTES, max_depth=DEEPEST)
    except strictjson.JsonFault as fault:
        raise InvalidInput(
            f'an input is one JSON object, such as {{"text": "fix the build"}}: {fault.message}'
        ) from fault
    try:
        wire = msgspec.convert(value, Wire)
        wanted = None if wire.id is None else str(uuid.UUID(wire.id))
    except msgspec.ValidationError as error:
        raise InvalidInput(_words(str(error))) from error
    except ValueError as error:
        raise InvalidInput(f"`id` has to be a UUID; leave it out to have one made ({error})") from error
    return Input(
        id=wanted or new_session_id(),
        kind=wire.kind,
        text=wire.text,
        source=InputSource(type=wire.source.type, name=wire.source.name, id=wire.source.id),
        durability=wire.durability,
        key=wire.idempotency_key,
        handling=wire.handling_mode,
        request_id=wire.request_id,
        status=wire.status,
        taint=wire.taint,
        has_context=wire.has_context,
        data=wire.data,
    )


def _words(error: str) -> str:
    """What msgspec says, and which fields and kinds there are."""
    if "unknown field" in error:
        table = Source if "$.source" in error else Wire
        return f"{error}; the fields are {', '.join(table.__struct_fields__)}"
    if "$.kind" in error:
        return f"{error}; the kinds are {', '.join(kind.value for kind in InputKind)}"
    return error

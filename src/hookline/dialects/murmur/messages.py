"""Messages between the session and its hooks (section 24).

Roles go as they are, `developer` among them; a hook's `system` comes back as `developer`, and a role that no
conversation here has as `user`, which has the least authority.
"""

from collections.abc import Mapping
from typing import Any

from hookline._core import strictjson
from hookline._core.messages import Message, ToolCall, blocks_of
from hookline.dialects.murmur.wire import json_of, text_of

Record = dict[str, Any]

MARK = "__murmur_tool_msg__"
ROLES = {"user": "user", "assistant": "assistant", "developer": "developer", "system": "developer", "tool": "tool"}
DEEPEST = 128  # levels of a content, as deep as common readers go


class NoMessage(Exception):  # a value for whoever decodes, not a fault of the program
    """A value that is no message record; the text says what is wrong."""


def outgoing(message: Message) -> Record:
    """*message* as a hook receives it."""
    content: Any = blocks_of(message.text, message.calls)
    if message.role == "tool":
        content = {MARK: True, "tool_call_id": message.call_id, "is_error": message.is_error, "body": content}
    return {
        "role": text_of(message.role),
        "content": json_of(content),
        "id": text_of(message.id) or None,
        "source-id": None if message.source_id is None else text_of(message.source_id),
    }


def incoming(record: object) -> Message | None:
    """The message that a hook's *record* stands for, None for a tool's that answers no call. Raises NoMessage."""
    fields = _fields(record)
    role, content = ROLES.get(fields["role"], "user"), fields["content"]
    identity: Record = {"id": fields["id"] or "", "source_id": fields["source-id"]}
    value, is_json = _parsed(content)
    if role == "tool":
        return _of_tool(value, identity)
    if isinstance(value, list):
        text, calls = said_in(value, calls=role == "assistant")
        return Message(role=role, text=text, calls=calls, **identity)
    return Message(role=role, text=value if is_json and isinstance(value, str) else content, **identity)


def all_incoming(records: object) -> tuple[Message, ...]:
    """The messages of a list of them. Raises NoMessage."""
    if not isinstance(records, list | tuple):
        raise NoMessage(f"a list of messages is expected, found {type(records).__name__}")
    return tuple(message for each in records if (message := incoming(each)) is not None)


def _fields(record: object) -> Record:
    if not isinstance(record, Mapping):
        raise NoMessage(f"a message is a record, found {type(record).__name__}")
    fields = {name: record.get(name) for name in ("role", "content", "id", "source-id")}
    for name, value in fields.items():
        if not (isinstance(value, str) or (value is None and name in ("id", "source-id"))):
            raise NoMessage(f"`{name}` of a message is text, found {type(value).__name__}")
    return fields


def _parsed(content: str) -> tuple[Any, bool]:
    """The JSON value that *content* is, and whether it is one."""
    data = content.encode("utf-8", "surrogatepass")
    try:
        return strictjson.parse(data, max_bytes=len(data), max_depth=DEEPEST), True
    except strictjson.JsonFault:
        return None, False


def _of_tool(envelope: Any, identity: Record) -> Message | None:
    if not isinstance(envelope, dict) or envelope.get(MARK) is not True or "body" not in envelope:
        return None
    call_id, is_error, body = envelope.get("tool_call_id"), envelope.get("is_error"), envelope["body"]
    if not isinstance(call_id, str) or not call_id:
        return None
    text = body if isinstance(body, str) else said_in(body, calls=False)[0] if isinstance(body, list) else json_of(body)
    failed = is_error if isinstance(is_error, bool) else None
    return Message(role="tool", text=text, call_id=call_id, is_error=failed, **identity)


def said_in(blocks: list[Any], *, calls: bool) -> tuple[str, tuple[ToolCall, ...]]:
    """The text of *blocks*, a line for each, and the calls among them, where there may be any."""
    texts: list[str] = []
    found: list[ToolCall] = []
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "tool_call", "id": str(id), "name": str(name), "input": input} if calls:
                found.append(ToolCall(id=id, name=name, input=input))
            case _:
                texts.append(json_of(block))
    return "\n".join(texts), tuple(found)

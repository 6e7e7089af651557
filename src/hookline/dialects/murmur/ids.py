"""Ids as Murmur writes them: a prefix that says of what, and a UUID without its dashes."""

import uuid

from hookline._core.identity import new_uuid7


def session_id(id: str) -> str:
    return _prefixed("ses_", id)


def task_id(id: str) -> str:
    return _prefixed("tsk_", id)


def context_id(id: str) -> str:
    """A client may have chosen the id of a conversation: one that is no UUID is left as it is."""
    return _prefixed("ctx_", id) if _hex(id) else id


def new_event_id() -> str:
    """Of a UUIDv7 (RFC 9562): ids sort by the time at which they were made."""
    return f"evt_{new_uuid7().hex}"


def _prefixed(prefix: str, id: str) -> str:
    return id if id.startswith(prefix) else prefix + (_hex(id) or id)


def _hex(id: str) -> str:
    try:
        return uuid.UUID(id).hex
    except ValueError:
        return ""

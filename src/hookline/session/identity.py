"""Names for sessions and runs."""

import uuid

from hookline._core.identity import new_uuid7


def new_session_id() -> str:
    """A UUIDv7 (RFC 9562): sorts by the time at which the session began."""
    return str(new_uuid7())


def new_run_id() -> str:
    """A random UUID."""
    return str(uuid.uuid4())

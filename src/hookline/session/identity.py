"""Names for sessions and runs."""

import os
import time
import uuid


def new_session_id() -> str:
    """A UUIDv7 (RFC 9562): sorts by the time at which the session began."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0b11 << 62) | 0b10 << 62
    return str(uuid.UUID(int=value))


def new_run_id() -> str:
    """A random UUID."""
    return str(uuid.uuid4())

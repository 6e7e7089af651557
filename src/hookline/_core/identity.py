"""Identities that sort by the time at which they were made."""

import os
import time
import uuid


def new_uuid7() -> uuid.UUID:
    """A UUIDv7 (RFC 9562)."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0b11 << 62) | 0b10 << 62
    return uuid.UUID(int=value)

"""How long a transport waits for what."""

import asyncio
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a transport waits for what, in seconds."""

    ack_deadline: float = 30.0  # for the server to say that it has stored a message
    ack_wait_for_receiver: float = 0.25  # for the receiver to say that it has decided, once a message is stored
    ack_wait: float = 10.0  # after which a message is delivered again whose receiver has vanished
    delay: float = 1.0  # before a message is delivered again of which the receiver raised; then twice that, and so on
    grace: float = 5.0  # for the receiver to end what it is at when the transport is closed
    connect: float = 2.0  # for one try to connect
    tries: int = 5
    backoff: float = 0.2  # after the first try that fails; then twice that, and so on


def look_at(task: "asyncio.Future[Any]") -> None:
    """For a task that nobody waits for any more: how it ended is then seen by nobody else."""
    if not task.cancelled():
        task.exception()

"""Peers: other agents that a session exchanges messages with, and what is proven of a message that was sent."""

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from hookline._core.errors import HooklineError
from hookline._core.inputs import Admission

_NAMES = uuid.UUID("7c1b7f0e-5d0c-5d6e-9f0b-6f1f3a6f2d51")  # ours alone: a peer's id follows from its name


@dataclass(frozen=True, slots=True)
class Peer:
    """Another agent. Its id, a UUID, follows from its name, so that both sides know it without asking."""

    name: str

    @property
    def id(self) -> str:
        return str(uuid.uuid5(_NAMES, self.name))


class EnvelopeKind(Enum):
    """What is sent."""

    MESSAGE = "message"
    FENCED_MESSAGE = "incarnation_fenced_message"
    LIFECYCLE = "lifecycle"
    REQUEST = "request"
    RESPONSE = "response"


class ReceiptKind(Enum):
    """What a transport says that it sent."""

    MESSAGE_SENT = "message_sent"
    LIFECYCLE_SENT = "lifecycle_sent"
    REQUEST_SENT = "request_sent"
    RESPONSE_SENT = "response_sent"


RECEIPTS = {
    EnvelopeKind.MESSAGE: ReceiptKind.MESSAGE_SENT,
    EnvelopeKind.FENCED_MESSAGE: ReceiptKind.MESSAGE_SENT,
    EnvelopeKind.LIFECYCLE: ReceiptKind.LIFECYCLE_SENT,
    EnvelopeKind.REQUEST: ReceiptKind.REQUEST_SENT,
    EnvelopeKind.RESPONSE: ReceiptKind.RESPONSE_SENT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One message between two peers. `id` is a UUID; a request's is that of the interaction which it begins.

    `in_reply_to` is the id of the request that a response answers, `status` how far that is: `progress`, `completed` or
    `failed`. `taint`: `clean`, `tainted`, or None where the sender declares nothing.
    """

    id: str
    kind: EnvelopeKind
    sender: Peer
    to: Peer
    text: str = ""
    in_reply_to: str | None = None
    status: str | None = None
    taint: str | None = None
    data: Any = None


class Proof(Enum):
    """What is known of a message that was sent, strongest first."""

    DURABLY_RESOLVED = "durably_resolved"  # its receiver committed its decision before we were told
    ACKED = "acked"  # its receiver acknowledged it
    VOLATILE_HANDED_OFF = "volatile_handed_off"  # its receiver has it in memory
    QUEUED = "queued"  # a transport has it; nothing is known of the receiver


@dataclass(frozen=True, slots=True)
class Delivery:
    """The proof, and for a durably resolved one what the receiver decided: accepted, deduplicated or rejected."""

    proof: Proof
    outcome: str = ""

    def __str__(self) -> str:
        return f"{self.proof.value} {self.outcome}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a transport can prove of one envelope."""

    kind: ReceiptKind
    envelope_id: str
    delivery: Delivery


class PeerFault(Enum):
    """Why a message was not sent, or is not known to be."""

    UNKNOWN = "unknown"
    OFFLINE = "offline"
    TRANSPORT = "transport"
    INVALID = "invalid"
    REJECTED = "rejected"
    AMBIGUOUS = "ambiguous"  # it may have arrived


class PeerError(HooklineError):
    """A message could not be sent. `why` is closed; the message names the peer and what the transport said."""

    def __init__(self, why: PeerFault, message: str) -> None:
        super().__init__(message)
        self.why = why


Receiver = Callable[[Envelope], Awaitable[Admission]]  # commits the decision before it returns it


class Transport(Protocol):
    """Carries envelopes between peers. One object serves one peer."""

    async def open(self, me: Peer, receiver: Receiver) -> None:
        """Begin to receive. Each envelope goes to *receiver*, and is acknowledged once that has returned.

        One of which the receiver raises is delivered again later, where the transport can do that. Raises StateError
        when the transport's server cannot be reached.
        """
        ...

    async def send(self, envelope: Envelope) -> Receipt:
        """Send, and say what is proven. Raises PeerError for anything that is not proven to have been sent."""
        ...

    async def aclose(self) -> None:
        """Receive nothing more. A second call does nothing."""
        ...

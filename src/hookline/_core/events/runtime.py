"""Settled facts about inputs and peers. Nothing that a hook says changes them, and nobody waits for their hooks."""

from dataclasses import dataclass
from typing import Any

from hookline._core.inputs import Handling, InputKind, RejectionReason
from hookline._core.peers import Delivery, EnvelopeKind, Peer
from hookline._core.points import Event, hook_point


@hook_point("input_accepted", subject="input_kind")
@dataclass(frozen=True, slots=True, kw_only=True)
class InputAccepted(Event):
    """An input was committed. `handling` is how it was resolved to be queued."""

    input_id: str
    input_kind: InputKind
    handling: Handling = Handling.QUEUE


@hook_point("input_rejected", subject="input_kind")
@dataclass(frozen=True, slots=True, kw_only=True)
class InputRejected(Event):
    """An input was refused for good, and nothing of it is kept. `detail` is the state of a runtime not ready."""

    input_id: str
    input_kind: InputKind
    reason: RejectionReason
    detail: str = ""


@hook_point("input_deduplicated", subject="input_kind")
@dataclass(frozen=True, slots=True, kw_only=True)
class InputDeduplicated(Event):
    """An input had the key of one that was admitted before, `existing_input_id`, which stands for both."""

    input_id: str
    input_kind: InputKind
    existing_input_id: str


@hook_point("peer_received", subject="input_kind")
@dataclass(frozen=True, slots=True, kw_only=True)
class PeerReceived(Event):
    """The input of a peer was committed. `peer_id` may be no UUID. `taint` is what the peer declared, None nothing."""

    input_kind: InputKind
    peer_id: str = ""
    peer_name: str = ""
    request_id: str | None = None
    taint: str | None = None


@hook_point("peer_sent", subject="kind")
@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSent(Event):
    """A message to a peer was sent, as far as `delivery` proves."""

    kind: EnvelopeKind
    peer: Peer
    envelope_id: str
    delivery: Delivery
    interaction_id: str | None = None
    in_reply_to: str | None = None


@hook_point("interaction_completed")
@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionCompleted(Event):
    """The work on one input is done, and its result is in the runtime's event log."""

    interaction_id: str
    result: str = ""
    structured_output: Any = None

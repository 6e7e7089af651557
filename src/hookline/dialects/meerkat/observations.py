"""What the six settled points report, a table each (section 3.2)."""

import uuid
from typing import Any

from hookline._core import events as ev
from hookline._core.inputs import Handling, InputKind, RejectionReason
from hookline._core.peers import Delivery, EnvelopeKind, Peer, Proof
from hookline._core.strictjson import Path
from hookline.dialects._keys import Fields, Key, check, fields_in, inner, into, key, told, word
from hookline.dialects._kinds import ANYTHING, Kind, one_of

INPUT = (key("input_id", required=True), word("input_kind", "input_kind", InputKind, required=True))

ACCEPTED = (*INPUT, word("handling_mode", "handling", Handling))
DEDUPLICATED = (*INPUT, key("existing_input_id", required=True))


def _detail(name: str, *, of_state: bool) -> Key:
    """Why an input was refused: the state of a runtime that was not ready, or other words."""

    def value(event: ev.InputRejected) -> str | None:
        return event.detail if (event.reason is RejectionReason.NOT_READY) is of_state else None

    return Key(name=name, value=value, fields=into("detail"), optional=True)


REASON = (
    word("reason_type", "reason", RejectionReason, required=True),
    _detail("state", of_state=True),
    _detail("detail", of_state=False),
)
REJECTED = (*INPUT, inner("reason", REASON, dict, required=True))

NOTICES = {
    InputKind.PEER_MESSAGE: "message",
    InputKind.PEER_REQUEST: "request",
    InputKind.PEER_RESPONSE_PROGRESS: "response_progress",
    InputKind.PEER_RESPONSE_TERMINAL: "response_terminal",
}
NOTICED = {kind.value: kind for kind in InputKind if kind not in NOTICES} | {
    notice: kind for kind, notice in NOTICES.items()
}


def is_uuid(text: str) -> bool:
    """Whether *text* is a UUID, as ids of peers are told only where they are."""
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def _display_name(attribute: str) -> Key:
    """A name that is left out where there is none."""
    return Key(
        name="display_name",
        value=lambda thing: getattr(thing, attribute) or None,
        fields=into(attribute),
        optional=True,
    )


RECEIVED = (
    Key(
        name="kind",
        value=lambda event: NOTICES.get(event.input_kind, event.input_kind.value),
        kind=one_of(NOTICED),
        fields=lambda value, _: {"input_kind": NOTICED[value]},
        required=True,
    ),
    inner(
        "peer",
        (key("id", "peer_id", required=True), _display_name("peer_name")),
        dict,
        of=lambda event: event if is_uuid(event.peer_id) else None,
        optional=True,
    ),
    key("request_id", optional=True),
    key("sender_taint", "taint", optional=True),
)

RESOLVED = Proof.DURABLY_RESOLVED
OUTCOME = inner(
    RESOLVED.value,
    (key("outcome", required=True),),
    lambda fields: {"delivery": Delivery(RESOLVED, **fields)},
    of=lambda event: event.delivery,
    required=True,
)
PROOF = one_of(proof.value for proof in Proof if proof is not RESOLVED)
DELIVERY = Kind("a string or an object", lambda value: isinstance(value, str | dict), PROOF.sample)


def _proven(event: ev.PeerSent) -> Any:
    proof = event.delivery.proof
    return told((OUTCOME,), event) if proof is RESOLVED else proof.value


def _delivery(value: Any, at: Path) -> Fields:
    if isinstance(value, dict):
        return fields_in((OUTCOME,), value, at)
    check(value, PROOF, at)
    return {"delivery": Delivery(Proof(value))}


SENT = (
    word("kind", "kind", EnvelopeKind, required=True),
    # The id of a peer follows from its name, so nothing is made of it.
    Key(name="peer_id", value=lambda event: event.peer.id),
    Key(
        name="display_name",
        value=lambda event: event.peer.name or None,
        fields=lambda value, _: {"peer": Peer(value)},
        optional=True,
        required=True,
    ),
    key("envelope_id", required=True),
    Key(name="delivery", value=_proven, kind=DELIVERY, fields=_delivery, required=True),
    key("interaction_id", optional=True),
    key("in_reply_to", optional=True),
)

COMPLETED = (
    key("interaction_id", required=True),
    key("result", optional=True),
    key("structured_output", kind=ANYTHING, optional=True),
)

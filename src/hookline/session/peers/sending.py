"""What every transport does alike when something is sent."""

from hookline._core.peers import (
    RECEIPTS,
    Delivery,
    Envelope,
    EnvelopeKind,
    Peer,
    PeerError,
    PeerFault,
    Proof,
    Receipt,
)

QUEUED = Delivery(Proof.QUEUED)


def check_sender(envelope: Envelope, me: Peer | None) -> None:
    """Raises PeerError unless the peer that *envelope* comes from is the one that the transport is open for."""
    to = envelope.to.name
    if me is None:
        raise PeerError(PeerFault.TRANSPORT, f"a message to {to!r:.80} was not sent: the transport is not open")
    if envelope.sender != me:
        raise PeerError(
            PeerFault.INVALID,
            f"a message to {to!r:.80} was not sent: it says that it is from {envelope.sender.name!r:.80}, "
            f"and the transport is open for {me.name!r}",
        )


def receipt_for(envelope: Envelope, delivery: Delivery) -> Receipt:
    """What is proven of *envelope*. A response never claims more than to be queued, whatever is known of it."""
    proven = QUEUED if envelope.kind is EnvelopeKind.RESPONSE else delivery
    return Receipt(kind=RECEIPTS[envelope.kind], envelope_id=envelope.id, delivery=proven)


def rejected(envelope: Envelope, detail: str) -> PeerError:
    return PeerError(PeerFault.REJECTED, f"{envelope.to.name!r} rejected the message: {detail}")

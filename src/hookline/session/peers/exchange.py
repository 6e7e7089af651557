"""A session's side of its peers: what comes in is admitted, what goes out counts once its transport has proof."""

import uuid
from collections.abc import Iterable
from typing import Protocol

from hookline._core.errors import UsageError
from hookline._core.events import PeerSent
from hookline._core.inputs import (
    Admission,
    Durability,
    Input,
    InputKind,
    InputSource,
    Rejected,
    RejectionReason,
    SourceType,
)
from hookline._core.peers import (
    RECEIPTS,
    Envelope,
    EnvelopeKind,
    Peer,
    PeerError,
    PeerFault,
    Receipt,
    Transport,
)
from hookline._core.points import Event, Origin
from hookline._core.ports import Recorder
from hookline._core.records import EnvelopeSent, Noted
from hookline.session.admission.store import RequestPhase, Store
from hookline.session.identity import new_session_id

PROGRESS = "progress"
STATUSES = (PROGRESS, "completed", "failed")


_UNASKED = {
    InputKind.PEER_RESPONSE_PROGRESS: RejectionReason.VALIDATION_FAILED,
    InputKind.PEER_RESPONSE_TERMINAL: RejectionReason.PEER_RESPONSE_TERMINAL_INVALID,
}


class Host(Protocol):
    """The session as its exchange sees it."""

    @property
    def recorder(self) -> Recorder: ...

    def origin(self) -> Origin: ...

    def tell_aside(self, event: Event) -> None: ...

    async def admit(self, input: Input) -> Admission: ...

    def refuse(self, input: Input, reason: RejectionReason, detail: str) -> Rejected:
        """Refuse *input* for a reason that only peers know of."""
        ...


class Peers:
    """What a session is called among its peers, who they are, and what carries messages between them.

    *known* are the names that may be written to; empty, anybody may.
    """

    def __init__(self, name: str, transport: Transport, known: Iterable[str] = ()) -> None:
        self.me = Peer(name)
        self.known = frozenset(known)
        self.transport = transport


class Exchange:
    """One session's traffic with its peers, under the runtime *name* in *store*."""

    def __init__(self, peers: Peers, host: Host, store: Store, name: str) -> None:
        self._peers = peers
        self._host = host
        self._store = store
        self._name = name

    async def open(self) -> None:
        """Begin to receive. Raises StateError when the transport's server cannot be reached."""
        await self._peers.transport.open(self._peers.me, self.receive)

    async def aclose(self) -> None:
        await self._peers.transport.aclose()

    async def message(self, to: str, text: str, *, taint: str | None = None) -> Receipt:
        """Send a message. Raises PeerError for anything that is not proven to have been sent."""
        return await self._send(self._envelope(EnvelopeKind.MESSAGE, to, text, taint=taint))

    async def request(self, to: str, text: str, *, taint: str | None = None) -> Receipt:
        """Send a request; its envelope's id is that of the interaction. Noted before it leaves, so an answer is known.

        One that did not leave is forgotten again; one of which nobody knows is not.
        """
        envelope = self._envelope(EnvelopeKind.REQUEST, to, text, taint=taint)
        await self._store.note_request(self._name, envelope.id, envelope.to.id)
        try:
            return await self._send(envelope)
        except PeerError as error:
            if error.why is not PeerFault.AMBIGUOUS:
                await self._store.drop_request(self._name, envelope.id)
            raise

    async def respond(self, request_id: str, to: str, text: str, *, status: str = "completed") -> Receipt:
        """Answer a request that was received. After a terminal answer there is no other."""
        if status not in STATUSES:
            raise UsageError(f"the status of a response is one of {', '.join(STATUSES)}, found {status!r}")
        known = await self._store.request(self._name, request_id)
        if known is None or known != (RequestPhase.RECEIVED, Peer(to).id):
            raise PeerError(PeerFault.INVALID, f"there is no open request {request_id} of {to} to be answered")
        envelope = self._envelope(EnvelopeKind.RESPONSE, to, text, in_reply_to=request_id, status=status)
        receipt = await self._peers.transport.send(envelope)
        if status != PROGRESS and not await self._store.reply(self._name, request_id):
            raise PeerError(PeerFault.INVALID, f"the request {request_id} was answered by somebody else meanwhile")
        self._sent(envelope, receipt)
        return receipt

    async def owes(self, request_id: str) -> bool:
        """Whether a received request has no terminal answer yet."""
        known = await self._store.request(self._name, request_id)
        return known is not None and known[0] is RequestPhase.RECEIVED

    async def receive(self, envelope: Envelope) -> Admission:
        """Have what a peer sent admitted."""
        given = _input(envelope)
        if envelope.kind is EnvelopeKind.RESPONSE:
            expected = (RequestPhase.SENT, envelope.sender.id)
            if await self._store.request(self._name, envelope.in_reply_to or "") != expected:
                detail = f"no request {envelope.in_reply_to} was sent to {envelope.sender.name}"
                return self._host.refuse(given, _UNASKED[given.kind], detail)
        return await self._host.admit(given)

    async def _send(self, envelope: Envelope) -> Receipt:
        receipt = await self._peers.transport.send(envelope)
        self._sent(envelope, receipt)
        return receipt

    def _sent(self, envelope: Envelope, receipt: Receipt) -> None:
        """Tell of a message that was sent, if its receipt is one for it."""
        event = sent_event(envelope, receipt, self._host.origin())
        if event is None:
            text = f"the transport gave a receipt of another kind for {envelope.id}: {receipt.kind.value}"
            self._host.recorder.record(Noted(origin=self._host.origin(), text=text))
            return
        self._host.recorder.record(
            EnvelopeSent(
                origin=self._host.origin(),
                envelope_id=envelope.id,
                what=envelope.kind.value,
                to=envelope.to.name,
                text=envelope.text,
                delivery=str(receipt.delivery),
                in_reply_to=envelope.in_reply_to,
            )
        )
        self._host.tell_aside(event)

    def _envelope(
        self,
        kind: EnvelopeKind,
        to: str,
        text: str,
        *,
        taint: str | None = None,
        in_reply_to: str | None = None,
        status: str | None = None,
    ) -> Envelope:
        known = self._peers.known
        if known and to not in known:
            raise PeerError(PeerFault.UNKNOWN, f"there is no peer {to}; there are {', '.join(sorted(known))}")
        return Envelope(
            id=str(uuid.uuid4()),
            kind=kind,
            sender=self._peers.me,
            to=Peer(to),
            text=text,
            in_reply_to=in_reply_to,
            status=status,
            taint=taint,
        )


def sent_event(envelope: Envelope, receipt: Receipt, origin: Origin) -> PeerSent | None:
    """The fact that a message was sent, or None where the receipt is not one for it: that proves nothing."""
    if receipt.kind is not RECEIPTS[envelope.kind] or receipt.envelope_id != envelope.id:
        return None
    return PeerSent(
        kind=envelope.kind,
        peer=envelope.to,
        envelope_id=envelope.id,
        delivery=receipt.delivery,
        interaction_id=envelope.id if envelope.kind is EnvelopeKind.REQUEST else None,
        in_reply_to=_answered(envelope),
        origin=origin,
    )


def _input(envelope: Envelope) -> Input:
    """What a peer sent, as an input. Its key follows from what it is, so that a second delivery is the same input."""
    sender = envelope.sender
    kind = _kind(envelope)
    key = f"peer-ingress:{sender.id}:{envelope.id}"
    if kind is InputKind.PEER_RESPONSE_TERMINAL:
        key = f"peer_response_terminal:{sender.id}:{envelope.in_reply_to}"
    return Input(
        id=new_session_id(),
        kind=kind,
        text=envelope.text,
        source=InputSource(type=SourceType.PEER, name=sender.name, id=sender.id),
        durability=Durability.EPHEMERAL if kind is InputKind.PEER_RESPONSE_PROGRESS else Durability.DURABLE,
        key=key,
        request_id=envelope.id if kind is InputKind.PEER_REQUEST else _answered(envelope),
        status=envelope.status,
        taint=envelope.taint,
        data=envelope.data,
    )


def _kind(envelope: Envelope) -> InputKind:
    match envelope.kind:
        case EnvelopeKind.MESSAGE | EnvelopeKind.FENCED_MESSAGE:
            return InputKind.PEER_MESSAGE
        case EnvelopeKind.REQUEST | EnvelopeKind.LIFECYCLE:
            return InputKind.PEER_REQUEST
        case EnvelopeKind.RESPONSE if envelope.status == PROGRESS:
            return InputKind.PEER_RESPONSE_PROGRESS
        case EnvelopeKind.RESPONSE:
            return InputKind.PEER_RESPONSE_TERMINAL


def _answered(envelope: Envelope) -> str | None:
    """The request that a response answers."""
    return envelope.in_reply_to if envelope.kind is EnvelopeKind.RESPONSE else None

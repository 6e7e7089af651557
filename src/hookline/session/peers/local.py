"""Peers in one process. The receiver decides before `send` returns, and its decision is the proof."""

import asyncio
from dataclasses import dataclass, field

from hookline._core.errors import UsageError
from hookline._core.inputs import Admission, Rejected
from hookline._core.peers import Delivery, Envelope, Peer, PeerError, PeerFault, Proof, Receipt, Receiver
from hookline.session.peers.coding import Undecodable, check_name, decode, encode
from hookline.session.peers.sending import check_sender, receipt_for, rejected

GRACE = 5.0  # seconds for a receiver to end what it is at when its peer is closed: far more than a commit takes


@dataclass(slots=True, eq=False)
class Seat:
    """A peer that is open: its receiver, the loop that this runs in, and the calls to it that are not over."""

    peer: Peer
    receiver: Receiver
    loop: asyncio.AbstractEventLoop
    calls: set[asyncio.Task[Admission]] = field(default_factory=set)

    def call(self, envelope: Envelope) -> asyncio.Task[Admission]:
        """Begin to receive *envelope*, in a task of its own: a sender that gives up ends no commit half-way."""
        call = asyncio.create_task(self._decide(envelope), name=f"hookline peer {self.peer.name}")
        self.calls.add(call)
        call.add_done_callback(self._end)
        return call

    async def _decide(self, envelope: Envelope) -> Admission:
        return await self.receiver(envelope)

    def _end(self, call: "asyncio.Task[Admission]") -> None:
        self.calls.discard(call)
        if not call.cancelled():
            call.exception()  # looked at here, as nobody else does when the sender has gone


class LocalHub:
    """Where the peers of one process find one another. It knows who is open, and who was."""

    def __init__(self) -> None:
        self._seats: dict[Peer, Seat | None] = {}  # None: was open once

    def transport(self) -> "LocalTransport":
        return LocalTransport(self)

    def enter(self, peer: Peer, receiver: Receiver) -> Seat:
        """Open *peer*. Raises UsageError when somebody else has it open."""
        seat = self._seats.get(peer)
        if seat is not None and not seat.loop.is_closed():
            raise UsageError(f"the peer {peer.name!r} is open already in this process: close it first, or name another")
        seat = self._seats[peer] = Seat(peer, receiver, asyncio.get_running_loop())
        return seat

    def leave(self, seat: Seat) -> None:
        if self._seats.get(seat.peer) is seat:
            self._seats[seat.peer] = None

    def seat_of(self, peer: Peer) -> Seat:
        """Where *peer* receives. Raises PeerError: UNKNOWN for one that never was open, OFFLINE for one that was."""
        if peer not in self._seats:
            raise PeerError(PeerFault.UNKNOWN, f"nobody in this process has opened the peer {peer.name!r}")
        seat = self._seats[peer]
        if seat is None or seat.loop.is_closed():
            raise PeerError(PeerFault.OFFLINE, f"the peer {peer.name!r} was closed")
        if seat.loop is not asyncio.get_running_loop():
            raise PeerError(PeerFault.OFFLINE, f"the peer {peer.name!r} is open in another event loop than the sender")
        return seat


class LocalTransport:
    """Hands envelopes to receivers of this process, and says what they decided.

    What was sent is what NATS would carry: the receiver has a copy, and data that is not plain JSON is INVALID. Nothing
    is kept for a peer that is closed, and nothing is delivered a second time: whoever sends is told at once. A receiver
    that raises leaves the sender with AMBIGUOUS, as it may have committed before it did.
    """

    def __init__(self, hub: LocalHub, *, grace: float = GRACE) -> None:
        self._hub = hub
        self._grace = grace
        self._seat: Seat | None = None
        self._is_closed = False

    async def open(self, me: Peer, receiver: Receiver) -> None:
        if self._seat is not None or self._is_closed:
            raise UsageError("a transport serves one peer, once: make another")
        check_name(me)
        self._seat = self._hub.enter(me, receiver)

    async def send(self, envelope: Envelope) -> Receipt:
        check_sender(envelope, None if self._seat is None or self._is_closed else self._seat.peer)
        copy = decode(encode(envelope))
        assert not isinstance(copy, Undecodable)  # noqa: S101 - `encode` has read it once
        call = self._hub.seat_of(envelope.to).call(copy)
        await asyncio.wait({call})
        admission = _decided(call, envelope)
        if isinstance(admission, Rejected):
            raise rejected(envelope, str(admission))
        return receipt_for(envelope, Delivery(Proof.DURABLY_RESOLVED, admission.outcome))

    async def aclose(self) -> None:
        """Receive nothing more. What is being received ends first, for as long as that takes within the grace."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._seat is None:
            return
        self._hub.leave(self._seat)
        calls = self._seat.calls - {asyncio.current_task()}  # a receiver may close its own peer
        if not calls:
            return
        _, late = await asyncio.wait(calls, timeout=self._grace)
        for call in late:
            call.cancel()
        if late:
            await asyncio.wait(late, timeout=self._grace)


def _decided(call: asyncio.Task[Admission], envelope: Envelope) -> Admission:
    """What the receiver decided. Raises PeerError(AMBIGUOUS) when it never said."""
    to = envelope.to.name
    if call.cancelled():
        raise PeerError(PeerFault.AMBIGUOUS, f"{to!r} was stopped while it received the message: it may have it")
    fault = call.exception()
    if isinstance(fault, Exception):
        raise PeerError(
            PeerFault.AMBIGUOUS, f"{to!r} failed while it received the message: {type(fault).__name__}: {fault}"
        ) from fault
    return call.result()

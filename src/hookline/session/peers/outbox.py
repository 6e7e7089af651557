"""What one peer sends through a NATS server, and what is heard of it."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from hookline._core.peers import Delivery, Envelope, EnvelopeKind, PeerError, PeerFault, Proof, Receipt
from hookline.session.peers.coding import Acknowledgement, Undecodable, decode_acknowledgement, encode
from hookline.session.peers.patience import Patience, look_at
from hookline.session.peers.queueing import Place
from hookline.session.peers.sending import QUEUED, receipt_for, rejected


@dataclass(slots=True, eq=False)
class Sent:
    """A message on its way, and what may be heard of it besides the server's answer to it."""

    envelope: Envelope
    subject: str
    said: "asyncio.Future[Acknowledgement]" = field(default_factory=asyncio.Future)
    failed: "asyncio.Future[PeerError]" = field(default_factory=asyncio.Future)

    def fail(self, why: PeerFault, what: str) -> None:
        if not self.failed.done():
            self.failed.set_result(PeerError(why, f"a message to {self.envelope.to.name!r}: {what}"))


class Outbox:
    """*what* is how messages name the server. Nothing of it outlives the `send` that it belongs to."""

    def __init__(self, what: str, place: Place, patience: Patience) -> None:
        self._what = what
        self._place = place
        self._patience = patience
        self._client: Any = None
        self._js: Any = None
        self._sent: set[Sent] = set()

    def connect(self, client: Any, js: Any) -> None:
        self._client, self._js = client, js

    async def send(self, envelope: Envelope) -> Receipt:
        payload = encode(envelope)
        headers = {"Nats-Msg-Id": envelope.id, "Nats-Expected-Stream": self._place.stream}
        self._check_size(envelope, payload, headers)
        sent = Sent(envelope, self._place.subject_of(envelope.to))
        self._sent.add(sent)
        try:
            await self._store(sent, payload, headers)
            return receipt_for(envelope, await self._proof_of(sent))
        finally:
            self._sent.discard(sent)

    def lose(self) -> None:
        """The connection is lost: what the server did not say by now, it will not say any more."""
        for sent in self._sent:
            sent.fail(PeerFault.AMBIGUOUS, f"{self._what} was lost before it said whether it has it")

    def refuse(self, text: str) -> None:
        """The server said *text* outside of any call, which may be that something must not be sent."""
        lowered = text.lower()
        if "permissions violation for publish" in lowered:
            for sent in self._sent:
                if f'"{sent.subject}"'.lower() in lowered:
                    sent.fail(PeerFault.TRANSPORT, f"{self._what} refused it: {text}")

    def hear(self, data: bytes) -> str:
        """A receiver says what it decided. It counts for the envelope that it names, from and to those it names.

        What is wrong with *data*, or nothing.
        """
        said = decode_acknowledgement(data)
        if isinstance(said, Undecodable):
            return said.detail
        for sent in self._sent:
            envelope = sent.envelope
            named = (said.id, said.sender, said.to) == (envelope.id, envelope.sender.name, envelope.to.name)
            if named and not sent.said.done():
                sent.said.set_result(said)
        return ""

    def _check_size(self, envelope: Envelope, payload: bytes, headers: dict[str, str]) -> None:
        """The server drops the whole connection over a message that is too large, headers included."""
        size = len(payload) + sum(len(f"{name}: {value}\r\n") for name, value in headers.items())
        size += len("NATS/1.0\r\n\r\n")
        most = self._client.max_payload
        if size > most:
            said = f"a message to {envelope.to.name!r} has {size} bytes, and {self._what} takes {most}"
            raise PeerError(PeerFault.INVALID, said)

    async def _store(self, sent: Sent, payload: bytes, headers: dict[str, str]) -> None:
        """Give the message to the server. Raises PeerError unless it, or even the receiver, says so."""
        deadline = self._patience.ack_deadline
        publish = asyncio.create_task(self._js.publish(sent.subject, payload, timeout=deadline, headers=headers))
        heard = {publish, sent.said, sent.failed}
        try:
            await asyncio.wait(heard, timeout=deadline, return_when=asyncio.FIRST_COMPLETED)
            if sent.said.done():
                return
            if publish.done():
                if (error := publish.exception()) is not None:
                    raise self._fault_of(sent, error) from error
            elif sent.failed.done():
                raise sent.failed.result()
            else:
                raise self._unanswered(sent)
        finally:
            publish.cancel()
            publish.add_done_callback(look_at)

    def _fault_of(self, sent: Sent, error: BaseException) -> PeerError:
        """What it means that publishing ended with *error*."""
        from nats import errors
        from nats.js.errors import APIError, NoStreamResponseError

        to = sent.envelope.to.name
        match error:
            case errors.TimeoutError():
                return self._unanswered(sent)
            case errors.MaxPayloadError():
                return PeerError(PeerFault.INVALID, f"a message to {to!r} has more bytes than {self._what} takes")
            case NoStreamResponseError():
                what = f"{self._what} has no stream for {sent.subject}"
            case APIError():
                what = f"{self._what} refused it: {error.description or error}"
            case errors.OutboundBufferLimitError() | errors.ConnectionClosedError():
                what = f"{self._what} is away"
            case errors.ConnectionDrainingError() | errors.ConnectionReconnectingError():
                what = f"{self._what} is away"
            case _:
                said = f"{self._what} may have it: {type(error).__name__}: {error}"
                return PeerError(PeerFault.AMBIGUOUS, f"a message to {to!r}: {said}")
        return PeerError(PeerFault.TRANSPORT, f"a message to {to!r} was not sent: {what}")

    def _unanswered(self, sent: Sent) -> PeerError:
        said = f"{self._what} did not say within {self._patience.ack_deadline:g} s whether it has it"
        return PeerError(PeerFault.AMBIGUOUS, f"a message to {sent.envelope.to.name!r}: {said}")

    async def _proof_of(self, sent: Sent) -> Delivery:
        """What is proven of a stored message, once its receiver has had its moment. Raises PeerError if it said no."""
        if sent.envelope.kind is EnvelopeKind.RESPONSE:
            return QUEUED
        await asyncio.wait({sent.said}, timeout=self._patience.ack_wait_for_receiver)
        if not sent.said.done():
            return QUEUED
        said = sent.said.result()
        if said.outcome == "rejected":
            raise rejected(sent.envelope, said.detail)
        return Delivery(Proof.ACKED)

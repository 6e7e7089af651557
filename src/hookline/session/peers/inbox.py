"""What one peer receives from a NATS server: one message after the other, and an answer for each."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from hookline._core.inputs import Admission, Rejected
from hookline._core.peers import Envelope, EnvelopeKind, Peer, Receiver
from hookline.session.peers.coding import Acknowledgement, Undecodable, decode, encode_acknowledgement
from hookline.session.peers.patience import Patience, look_at
from hookline.session.peers.queueing import Place, Pull

PAUSE = 1.0  # seconds before a consumer that was refused is asked for again
LONGEST_DELAY = 30.0  # seconds: where a store is away, nothing is gained by asking more seldom
LONGEST_DETAIL = 1000  # characters of a rejection that go back to the sender
BEATS = 3  # how often within `ack_wait` the server hears that a message is still worked on
CLOSING = 2.0  # seconds for the last acknowledgements to leave


class Inbox:
    """Gives what arrives for *me* to *receiver*. *restore* makes stream and consumer again where they are gone."""

    def __init__(
        self,
        me: Peer,
        receiver: Receiver,
        *,
        client: Any,
        place: Place,
        patience: Patience,
        restore: Callable[[], Awaitable[None]],
        tell: Callable[[str], None],
    ) -> None:
        self._me = me
        self._receiver = receiver
        self._client = client
        self._place = place
        self._patience = patience
        self._restore = restore
        self._tell = tell
        self._pull = Pull(client, place, me)
        self._is_there = asyncio.Event()
        self._is_closing = False
        self._is_busy = False  # between having a message and having answered for it
        self._call: asyncio.Task[Admission] | None = None
        self._receiving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self._pull.start()
        self._is_there.set()
        self._receiving = asyncio.create_task(self._receive(), name=f"hookline peer {self._me.name}")

    def lose(self) -> None:
        """The connection is lost: nothing is asked for until it is back."""
        self._is_there.clear()

    def resume(self) -> None:
        """The connection is back, or closed for good."""
        self._is_there.set()
        self._pull.ask_again()

    async def aclose(self) -> None:
        """Take nothing more, let the message at work end within the grace, and give back what was not begun."""
        self._is_closing = True
        receiving = self._receiving
        if receiving is None:
            return
        if not self._is_busy:
            receiving.cancel()
        if asyncio.current_task() is not self._call:  # a receiver may close its own peer
            await asyncio.wait({receiving}, timeout=self._patience.grace)
            if not receiving.done():
                receiving.cancel()
                await asyncio.wait({receiving}, timeout=self._patience.grace)
        if self._client.is_connected:
            with suppress(Exception):  # then the server finds out by itself, after `ack_wait`
                async with asyncio.timeout(CLOSING):
                    await self._pull.stop()
                    await self._client.flush()

    async def _receive(self) -> None:
        while not self._is_closing and not self._client.is_closed:
            try:
                await self._receive_one()
            except Exception as error:  # noqa: BLE001 - whatever becomes of one message, the next one has to be fetched
                await self._recover(error)

    async def _receive_one(self) -> None:
        message = await self._pull.next()
        self._is_busy = True
        try:
            await self._take(message)
        finally:
            self._is_busy = False

    async def _recover(self, error: Exception) -> None:
        """Wait until it is worth while to ask again."""
        if self._is_closing:
            return
        if not self._is_there.is_set():
            await self._is_there.wait()
            return
        self._tell(f"receiving is interrupted: {str(error) or type(error).__name__}")
        await asyncio.sleep(PAUSE)
        try:
            await self._restore()
        except Exception as again:  # noqa: BLE001 - it is tried again with the next message
            self._tell(f"receiving is interrupted: {str(again) or type(again).__name__}")

    async def _take(self, message: Any) -> None:
        """Give a message to the receiver, and answer for it: to the server always, to its sender unless it replied."""
        envelope = decode(message.data)
        if isinstance(envelope, Undecodable):
            await self._drop(message, envelope.detail)
            return
        if envelope.to != self._me:
            await self._drop(message, f"it is for {envelope.to.name!r:.80}")
            return
        self._call = asyncio.create_task(self._decide(envelope), name=f"hookline peer {envelope.to.name} receives")
        try:
            await self._watch(self._call, message)
            if self._call.cancelled() or self._call.exception() is not None:
                await self._put_back(message, envelope, self._call)
                return
            admission = self._call.result()
        finally:
            self._call.cancel()
            self._call.add_done_callback(look_at)
            self._call = None
        if envelope.kind is not EnvelopeKind.RESPONSE:
            await self._acknowledge(envelope, admission)
        if isinstance(admission, Rejected):
            await message.term()
        else:
            await message.ack()

    async def _decide(self, envelope: Envelope) -> Admission:
        return await self._receiver(envelope)

    async def _watch(self, call: "asyncio.Task[Admission]", message: Any) -> None:
        """Wait for the receiver, and tell the server meanwhile that the message is in good hands."""
        while not call.done():
            await asyncio.wait({call}, timeout=self._patience.ack_wait / BEATS)
            if not call.done():
                with suppress(Exception):  # the server is away; the receiver goes on all the same
                    await message.in_progress()

    async def _put_back(self, message: Any, envelope: Envelope, call: "asyncio.Task[Admission]") -> None:
        fault = None if call.cancelled() else call.exception()
        delivered = message.metadata.num_delivered
        delay = min(self._patience.delay * 2 ** min(delivered - 1, 16), LONGEST_DELAY)
        said = "it was stopped" if fault is None else f"{type(fault).__name__}: {fault}"
        self._tell(
            f"message {envelope.id} from {envelope.sender.name!r:.80} could not be received at delivery {delivered}: "
            f"{said}; the next in {delay:g} s"
        )
        await message.nak(delay=delay)

    async def _drop(self, message: Any, why: str) -> None:
        number = message.metadata.sequence.stream
        self._tell(f"message {number} of the stream {self._place.stream} cannot be read and is dropped: {why}")
        await message.term()

    async def _acknowledge(self, envelope: Envelope, admission: Admission) -> None:
        said = Acknowledgement(
            id=envelope.id,
            sender=envelope.sender.name,
            to=envelope.to.name,
            outcome=admission.outcome,
            detail=str(admission)[:LONGEST_DETAIL] if isinstance(admission, Rejected) else "",
        )
        with suppress(Exception):  # the sender then knows less; the message is received all the same
            subject = self._place.acknowledgements_of(envelope.sender)
            await self._client.publish(subject, encode_acknowledgement(said))

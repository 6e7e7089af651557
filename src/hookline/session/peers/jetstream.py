"""Peers in any number of processes, over a NATS server with JetStream. nats-py is imported when one is opened."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hookline._core.errors import StateError, UsageError
from hookline._core.peers import Envelope, Peer, Receipt, Receiver
from hookline.session.peers.coding import check_name
from hookline.session.peers.connecting import Server, close, connect, persist
from hookline.session.peers.inbox import Inbox
from hookline.session.peers.outbox import Outbox
from hookline.session.peers.patience import Patience
from hookline.session.peers.queueing import Place
from hookline.session.peers.sending import check_sender

API_TIMEOUT = 5.0  # seconds for the server to answer what it can answer from memory
PLACE = Place()
PATIENCE = Patience()


class NatsTransport:
    """Sends through one stream of the server at *url*, and receives from it, each message until it is acknowledged.

    The server keeps a message once it says so, and that proves QUEUED: also for a peer that nobody has opened yet, as
    the server knows of no peers. What it has written survives the end of its process, and a failure of its machine as
    far as its own setting `sync_interval` goes. A receiver that acknowledges within the time that *patience* has for it
    makes it ACKED. Nobody waits for a response's.

    Messages wait for a week at the most. Of one sender they arrive in order; one of which the receiver raised is
    delivered again before those behind it. An envelope with an id that was sent within two minutes is not stored again,
    and one that is delivered twice, for its receiver died before it acknowledged, is for admission to recognise. Where
    two processes open one peer, each message goes to one of them.

    *on_status* is told of every try to connect, of a connection that is lost or back, and of messages that could not be
    read or received.
    """

    def __init__(
        self,
        url: str,
        *,
        place: Place = PLACE,
        patience: Patience = PATIENCE,
        on_status: Callable[[str], None] | None = None,
    ) -> None:
        self._server = Server.at(url)
        self._what = f"the NATS server at {self._server.address}"
        self._place = place
        self._patience = patience
        self._on_status = on_status
        self._told = ""
        self._me: Peer | None = None
        self._is_open = False
        self._closed = asyncio.Event()
        self._client: Any = None
        self._inbox: Inbox | None = None
        self._outbox = Outbox(self._what, place, patience)

    async def open(self, me: Peer, receiver: Receiver) -> None:
        """Raises StateError once the tries are used up, and at once for a stream that cannot be used as it is."""
        if self._me is not None or self._closed.is_set():
            raise UsageError("a transport serves one peer, once: make another")
        check_name(me)
        self._me = me
        patience = self._patience
        try:
            await persist(
                lambda: self._join(me, receiver),
                what=self._what,
                tries=patience.tries,
                backoff=patience.backoff,
                tell=self._tell,
            )
        except BaseException:
            self._me = None
            raise
        if self._closed.is_set():
            await self._let_go()
            raise StateError(f"{self._what}: the transport was closed while it was being opened")
        self._is_open = True

    async def send(self, envelope: Envelope) -> Receipt:
        check_sender(envelope, self._me if self._is_open and not self._closed.is_set() else None)
        return await self._outbox.send(envelope)

    async def aclose(self) -> None:
        """Receive nothing more. What is being received ends first, for as long as that takes within the grace."""
        if self._closed.is_set():
            return
        self._closed.set()
        await self._let_go()

    async def _let_go(self) -> None:
        try:
            if self._inbox is not None:
                await self._inbox.aclose()
        finally:
            if self._client is not None:
                await close(self._client)

    async def _join(self, me: Peer, receiver: Receiver) -> None:
        """Connect, make sure of the stream and of the consumer, and begin to receive."""
        client = await connect(self._server, self, self._patience.connect)
        try:
            js = client.jetstream(timeout=API_TIMEOUT)

            async def make_queue() -> None:
                await self._place.make_stream(js)
                await self._place.make_consumer(js, me, self._patience.ack_wait)

            async def hear(message: Any) -> None:
                if fault := self._outbox.hear(message.data):
                    self._tell(f"an acknowledgement cannot be read: {fault}")

            await make_queue()
            await client.subscribe(self._place.acknowledgements_of(me), cb=hear)
            inbox = Inbox(
                me,
                receiver,
                client=client,
                place=self._place,
                patience=self._patience,
                restore=make_queue,
                tell=self._tell,
            )
            self._outbox.connect(client, js)
            self._client, self._inbox = client, inbox
            await inbox.start()
        except BaseException:
            self._client = self._inbox = None
            await close(client)
            raise

    def on_lost(self) -> None:
        if self._inbox is not None:
            if not self._closed.is_set():
                self._say("the connection is lost, and tried again until it is back")
            self._inbox.lose()
        self._outbox.lose()

    def on_back(self) -> None:
        self._say("the connection is back")
        if self._inbox is not None:
            self._inbox.resume()

    def on_closed(self) -> None:
        if self._inbox is not None:
            if not self._closed.is_set():
                self._say("the connection was closed for good: close the transport and open another")
            self._inbox.resume()

    def on_error(self, error: Exception) -> None:
        self._say(str(error) or type(error).__name__)
        self._outbox.refuse(str(error))

    def _say(self, text: str) -> None:
        self._tell(f"{self._what}: {text}")

    def _tell(self, text: str) -> None:
        """Tell the listener, once: nats-py repeats itself while a server is away."""
        if self._on_status is None or text == self._told:
            return
        self._told = text
        with suppress(Exception):  # whoever listens badly must not keep messages from others
            self._on_status(text)

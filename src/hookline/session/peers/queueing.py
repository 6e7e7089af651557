"""The stream in which a NATS server keeps messages between peers, and one durable consumer a peer to read them with."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from hookline._core.errors import StateError, UsageError
from hookline._core.peers import Peer

STREAM = "HOOKLINE_PEERS"
PREFIX = "hookline.peers"
MAX_AGE = 7 * 24 * 3600.0  # seconds: what nobody fetched in a week is dropped
MAX_STORED = 256 * 1024 * 1024  # bytes, of all peers together; the server sets them aside when the stream is made
MAX_WAITING = 10_000  # messages for one peer, so that one that never comes back cannot fill the stream
DUPLICATE_WINDOW = 120.0  # seconds in which a second message with an id is the first
PULL = 20.0  # seconds after which a request for the next message is made anew
HEARTBEAT = 2.0  # seconds in which the server says that a request for the next message still stands
SILENCE = 2.5 * HEARTBEAT  # after which it does not stand any more
HASTE = 0.2  # seconds after a request that was refused at once, so that a server that keeps refusing is not flooded
DELIVERED = "$JS.ACK."  # what the reply subject of a message begins with; other news of the server have none
HEARTBEATS = "100"
EXPIRED = "408"
MEANS_ASK_AGAIN = frozenset({"404", EXPIRED, "409"})  # no message, none in time, or the server moved the consumer
REQUEST = json.dumps({"batch": 1, "expires": int(PULL * 1e9), "idle_heartbeat": int(HEARTBEAT * 1e9)}).encode()
NAME_IN_USE = 10058  # the server's number for: a stream of this name and other settings exists


@dataclass(frozen=True, slots=True)
class Place:
    """Where messages are kept: the name of the stream, what their subjects begin with, and how large it may get."""

    stream: str = STREAM
    prefix: str = PREFIX
    max_stored: int = MAX_STORED

    def __post_init__(self) -> None:
        if not self.stream or any(char in self.stream for char in " .*>/\\\t\r\n"):
            raise UsageError(f"the name of a stream has no blanks, dots, slashes or wildcards: {self.stream!r:.80}")
        if not all(part and not any(char in part for char in " *>\t\r\n") for part in self.prefix.split(".")):
            raise UsageError(f"the prefix of subjects is words with dots between them: {self.prefix!r:.80}")

    def subject_of(self, peer: Peer) -> str:
        """What is sent to *peer* goes here, and is kept."""
        return f"{self.prefix}.{peer.id}"

    def acknowledgements_of(self, peer: Peer) -> str:
        """What receivers tell *peer* about its own messages goes here. One word longer, so it is not kept."""
        return f"{self.prefix}.{peer.id}.acknowledgements"

    async def make_stream(self, js: Any) -> None:
        """Make the stream unless it is there. Raises StateError when one of that name keeps something else."""
        from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
        from nats.js.errors import APIError, NotFoundError

        try:
            info = await js.stream_info(self.stream)
        except NotFoundError:
            config = StreamConfig(
                name=self.stream,
                subjects=[f"{self.prefix}.*"],
                retention=RetentionPolicy.WORK_QUEUE,  # what was acknowledged takes no more room
                storage=StorageType.FILE,
                discard=DiscardPolicy.NEW,  # a full stream refuses what is new: nothing that was taken is lost
                discard_new_per_subject=True,
                max_msgs_per_subject=MAX_WAITING,
                max_bytes=self.max_stored,
                max_age=MAX_AGE,
                duplicate_window=DUPLICATE_WINDOW,
            )
            try:
                info = await js.add_stream(config)
            except APIError as error:
                if error.err_code != NAME_IN_USE:
                    raise self._unusable(error) from error
                info = await js.stream_info(self.stream)  # another process was faster
        if f"{self.prefix}.*" not in (info.config.subjects or ()):
            raise StateError(
                f"the NATS stream {self.stream} is not for {self.prefix}.*, but for {info.config.subjects}: "
                "name another stream or prefix"
            )

    async def make_consumer(self, js: Any, peer: Peer, ack_wait: float) -> None:
        """Make *peer*'s consumer unless it is there.

        One message at a time is handed out, so that those of one sender stay in order also when one has to be
        delivered again.
        """
        from nats.js.api import AckPolicy, ConsumerConfig
        from nats.js.errors import APIError, ServiceUnavailableError

        config = ConsumerConfig(
            name=peer.id,
            durable_name=peer.id,
            filter_subject=self.subject_of(peer),
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=ack_wait,
            max_ack_pending=1,
        )
        try:
            await js.add_consumer(self.stream, config)
        except ServiceUnavailableError:
            raise
        except APIError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Any) -> StateError:
        return StateError(f"the NATS stream {self.stream} cannot be used: {error.description or error}")


class PullRefused(Exception):
    """The server has no such consumer, as far as can be seen, or will not serve it now."""


class Pull:
    """Takes the messages of one consumer, one at a time. A request that may have been lost is made again."""

    def __init__(self, client: Any, place: Place, peer: Peer) -> None:
        self._client = client
        self._next = f"$JS.API.CONSUMER.MSG.NEXT.{place.stream}.{peer.id}"
        self._inbox = client.new_inbox()
        self._arrived: asyncio.Queue[Any] = asyncio.Queue()  # messages; None asks for another request
        self._subscription: Any = None

    async def start(self) -> None:
        self._subscription = await self._client.subscribe(self._inbox, cb=self._arrived.put)

    def ask_again(self) -> None:
        """The connection was lost and is back: an earlier request is not answered any more."""
        self._arrived.put_nowait(None)

    async def next(self) -> Any:
        """The next message, however long it takes. Raises PullRefused, or an error of nats-py when it is away."""
        asked = stands = False
        while True:
            if not stands and self._arrived.empty():
                await self._client.publish(self._next, REQUEST, reply=self._inbox)
                asked = True
            try:
                async with asyncio.timeout(SILENCE):
                    message = await self._arrived.get()
            except TimeoutError:  # a consumer that is gone gives no answer at all
                raise PullRefused(f"the server has been silent for {SILENCE:g} s") from None
            stands = False
            if message is None:
                continue
            if message.reply.startswith(DELIVERED):
                return message
            status = (message.headers or {}).get("Status", "")
            if status == HEARTBEATS:
                stands = asked  # or it is about a request of before
            elif status not in MEANS_ASK_AGAIN:
                raise PullRefused(f"{status} {(message.headers or {}).get('Description', 'no such consumer')}")
            elif status != EXPIRED:
                await asyncio.sleep(HASTE)

    async def stop(self) -> None:
        """Take no more, and give back what arrived and was not taken, so that it need not wait to be delivered."""
        await self._subscription.drain()
        while not self._arrived.empty():
            message = self._arrived.get_nowait()
            if message is not None and message.reply.startswith(DELIVERED):
                await message.nak()

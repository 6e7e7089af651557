"""Peers that write down what they receive, and two ways to bring them together."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from hookline._core.inputs import Accepted, Admission, Handling
from hookline._core.peers import Envelope, EnvelopeKind, Peer, Receipt, Transport
from hookline.session.peers.jetstream import NatsTransport
from hookline.session.peers.local import LocalHub
from hookline.session.peers.patience import Patience
from hookline.session.peers.queueing import Place

ACCEPTED = Accepted("input", Handling.QUEUE)

# Whoever expects an acknowledgement has it in milliseconds; nobody here waits for one that does not come.
QUICK = Patience(ack_wait_for_receiver=10.0, ack_wait=1.0, delay=0.05, connect=1.0, tries=3, backoff=0.01)


Says = Callable[[Envelope], Admission | Awaitable[Admission]]


def accepts(envelope: Envelope) -> Admission:
    return ACCEPTED


def new_id() -> str:
    return str(uuid.uuid4())


@dataclass(eq=False)
class Party:
    """A peer and its transport. Its receiver keeps what it gets and answers what *says* says."""

    name: str
    transport: Transport
    says: Says = accepts
    got: list[Envelope] = field(default_factory=list)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def peer(self) -> Peer:
        return Peer(self.name)

    async def open(self) -> None:
        await self.transport.open(self.peer, self.receive)

    async def receive(self, envelope: Envelope) -> Admission:
        async with self.news:
            self.got.append(envelope)
            self.news.notify_all()
        said = self.says(envelope)
        return await said if isinstance(said, Awaitable) else said

    async def until(self, count: int) -> list[str]:
        """The texts of what was received, once that is *count* of them."""
        async with self.news:
            await self.news.wait_for(lambda: len(self.got) >= count)
        return [each.text for each in self.got]

    def letter(self, to: Peer, text: str = "hello", **fields: Any) -> Envelope:
        fields = {"id": new_id(), "kind": EnvelopeKind.MESSAGE, **fields}
        return Envelope(sender=self.peer, to=to, text=text, **fields)

    async def write(self, to: Peer, text: str = "hello", **fields: Any) -> Receipt:
        return await self.transport.send(self.letter(to, text, **fields))


@dataclass
class Meeting:
    """Where parties meet: *new* makes a transport there. Closes those that it made."""

    new: Callable[[], Transport]
    made: list[Transport] = field(default_factory=list)

    def party(self, name: str, says: Says = accepts) -> Party:
        """A party that is not open yet."""
        transport = self.new()
        self.made.append(transport)
        return Party(name, transport, says)

    async def joined(self, name: str, says: Says = accepts) -> Party:
        party = self.party(name, says)
        await party.open()
        return party

    async def aclose(self) -> None:
        for transport in self.made:
            await transport.aclose()


def local_meeting() -> Meeting:
    return Meeting(LocalHub().transport)


def new_place() -> Place:
    """A stream of a test's own, of a size that any server has room for."""
    name = uuid.uuid4().hex
    return Place(f"TEST_{name}", f"test.{name}", max_stored=8 * 1024 * 1024)


def nats_meeting(url: str, place: Place, **settings: Any) -> Meeting:
    settings = {"patience": QUICK, **settings}
    return Meeting(lambda: NatsTransport(url, place=place, **settings))


async def forget(url: str, place: Place) -> None:
    """Delete a test's stream with everything in it."""
    import nats
    from nats.js.errors import NotFoundError

    client = await nats.connect(url)
    try:
        await client.jetstream().delete_stream(place.stream)
    except NotFoundError:
        pass
    finally:
        await client.close()


async def until_no_task_is_left() -> None:
    """Only the tasks are left that run the tests; what is just ending may do so."""
    left = [each for each in asyncio.all_tasks() if not _is_of_tests(each)]
    if left:
        _, left_behind = await asyncio.wait(left, timeout=2)
        assert not left_behind, f"left behind: {left_behind}"


def _is_of_tests(task: "asyncio.Task[Any]") -> bool:
    code: Any = getattr(task.get_coro(), "cr_code", None)
    return task is asyncio.current_task() or (code is not None and "anyio" in code.co_filename)

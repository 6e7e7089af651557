"""What only a server can do: keep messages, deliver them again, be away, and come back."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nats
import pytest
from tests.services import nats_program, require_nats
from tests.unit.session.peers.own_server import OwnServer, free_port
from tests.unit.session.peers.rig import (
    ACCEPTED,
    QUICK,
    Meeting,
    Party,
    forget,
    nats_meeting,
    new_id,
    new_place,
    until_no_task_is_left,
)

from hookline._core.errors import StateError, UsageError
from hookline._core.inputs import Admission
from hookline._core.peers import Delivery, Envelope, EnvelopeKind, Peer, PeerError, PeerFault, Proof
from hookline.session.peers.coding import Acknowledgement, encode, encode_acknowledgement
from hookline.session.peers.jetstream import NatsTransport
from hookline.session.peers.patience import Patience
from hookline.session.peers.queueing import Place

BOB = Peer("bob")
CHILD = Path(__file__).with_name("child.py")
HASTY = replace(QUICK, ack_wait_for_receiver=0.01)  # for receivers that are not there
QUEUED = Delivery(Proof.QUEUED)
ACKED = Delivery(Proof.ACKED)


@dataclass(eq=False)
class Told:
    """What a transport said of itself."""

    lines: list[str] = field(default_factory=list)
    more: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, text: str) -> None:
        self.lines.append(text)
        self.more.set()

    async def until(self, part: str) -> str:
        """The first line that has *part* in it, once there is one."""
        while True:
            for line in self.lines:
                if part in line:
                    return line
            self.more.clear()
            await self.more.wait()


@dataclass
class Ground:
    """A server, a stream of the test's own on it, and what the transports there say."""

    url: str
    place: Place
    told: Told

    def meeting(self, patience: Patience = QUICK) -> Meeting:
        return nats_meeting(self.url, self.place, patience=patience, on_status=self.told)

    @asynccontextmanager
    async def raw(self) -> AsyncIterator[Any]:
        """A client that knows nothing of peers."""
        client = await nats.connect(self.url)
        try:
            yield client
        finally:
            await client.close()


@pytest.fixture
async def ground() -> AsyncIterator[Ground]:
    ground = Ground(require_nats(), new_place(), Told())
    yield ground
    await forget(ground.url, ground.place)
    await until_no_task_is_left()


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[OwnServer]:
    server = OwnServer(nats_program(), tmp_path)
    await server.start()
    yield server
    await server.kill()


@pytest.fixture
async def meeting(ground: Ground) -> AsyncIterator[Meeting]:
    meeting = ground.meeting()
    yield meeting
    await meeting.aclose()


@pytest.fixture
async def hasty(ground: Ground) -> AsyncIterator[Meeting]:
    meeting = ground.meeting(HASTY)
    yield meeting
    await meeting.aclose()


async def test_never_opened(hasty: Meeting) -> None:
    """A message to a peer that was never open is stored, and received once it is."""
    ada = await hasty.joined("ada")

    assert QUEUED == (await ada.write(BOB, "one")).delivery
    bob = await hasty.joined("bob")
    assert ["one"] == await bob.until(1)


async def test_closed_peer_loses_nothing(hasty: Meeting) -> None:
    """What is sent to a peer that was closed waits for its next opening, and what it had is not delivered again."""
    ada, bob = await hasty.joined("ada"), await hasty.joined("bob")
    await ada.write(bob.peer, "one")
    await bob.until(1)
    await bob.transport.aclose()
    await ada.write(bob.peer, "two")

    again = await hasty.joined("bob")
    await ada.write(bob.peer, "three")
    assert ["two", "three"] == await again.until(2)


async def test_receiver_raises(ground: Ground, hasty: Meeting) -> None:
    """A message of which the receiver raised is delivered again, before those behind it, and somebody is told."""
    faults = [OSError("the disk is full"), OSError("the disk is still full")]

    def fails(envelope: Envelope) -> Admission:
        if faults:
            raise faults.pop(0)
        return ACCEPTED

    ada = await hasty.joined("ada")
    for text in ("one", "two", "three"):
        await ada.write(BOB, text)
    bob = await hasty.joined("bob", fails)

    assert ["one", "one", "one", "two", "three"] == await bob.until(5)
    assert "delivery 1: OSError: the disk is full; the next in 0.05 s" in await ground.told.until("delivery 1")
    assert "delivery 2: OSError: the disk is still full; the next in 0.1 s" in await ground.told.until("delivery 2")


async def test_receiver_cancels_itself(meeting: Meeting) -> None:
    """A receiver that ends by a cancellation of its own has not decided: the message comes again."""
    turns = 0

    async def stops(envelope: Envelope) -> Admission:
        nonlocal turns
        turns += 1
        if turns == 1:
            raise asyncio.CancelledError
        return ACCEPTED

    ada, bob = await meeting.joined("ada"), await meeting.joined("bob", stops)

    assert ACKED == (await ada.write(bob.peer)).delivery
    assert ["hello", "hello"] == await bob.until(2)


@pytest.mark.slow
async def test_killed_between_receipt_and_acknowledgement(ground: Ground, hasty: Meeting) -> None:
    """A process that is killed while it receives loses no message: another process gets every one, in order."""
    ada = await hasty.joined("ada")
    for text in ("one", "two", "three"):
        await ada.write(BOB, text)

    first = await _child(ground, count=0)
    assert b"one\n" == await _line(first)
    first.kill()
    await first.communicate()
    await ada.write(BOB, "four")

    second = await _child(ground, count=4)
    said, _ = await second.communicate()
    assert (b"one\ntwo\nthree\nfour\n", 0) == (said, second.returncode)

    third = await hasty.joined("bob")  # nothing is left over
    await ada.write(BOB, "five")
    assert ["five"] == await third.until(1)


async def _child(ground: Ground, count: int) -> asyncio.subprocess.Process:
    place = ground.place
    return await asyncio.create_subprocess_exec(
        sys.executable, CHILD, ground.url, place.stream, place.prefix, "bob", str(count), stdout=asyncio.subprocess.PIPE
    )


async def _line(process: asyncio.subprocess.Process) -> bytes:
    assert process.stdout is not None
    return await process.stdout.readline()


async def test_bad_bytes(ground: Ground, hasty: Meeting) -> None:
    """Bytes that are no message, or a message for somebody else, are dropped and told of, and block nothing."""
    ada = await hasty.joined("ada")
    subject = ground.place.subject_of(BOB)
    async with ground.raw() as client:
        js = client.jetstream()
        await js.publish(subject, b"\xff\x00")
        await js.publish(subject, b"")
        await js.publish(subject, b"x", headers={"Status": "503"})
        await js.publish(subject, encode(ada.letter(Peer("eve"))))
    await ada.write(BOB, "one")
    bob = await hasty.joined("bob")

    assert ["one"] == await bob.until(1)
    dropped = [line.partition("dropped: ")[2] for line in ground.told.lines if "dropped" in line]
    assert ["line 1, column 1: not UTF-8: byte 0 is 0xff", "line 1, column 1: nothing in it"] == dropped[:2]
    assert "it is for 'eve'" == dropped[3]


async def test_what_was_decided_is_gone(ground: Ground, meeting: Meeting) -> None:
    """Nothing that was received, rejected or dropped takes room in the stream."""
    ada, bob = await meeting.joined("ada"), await meeting.joined("bob")
    await ada.write(bob.peer, "one")
    await meeting.aclose()

    async with ground.raw() as client:
        info = await client.jetstream().stream_info(ground.place.stream)
    assert 0 == info.state.messages


async def test_sent_twice(meeting: Meeting) -> None:
    """An envelope that is sent a second time is delivered once."""
    ada, bob = await meeting.joined("ada"), await meeting.joined("bob")
    letter = ada.letter(bob.peer, "one", kind=EnvelopeKind.RESPONSE)

    await ada.transport.send(letter)
    await ada.transport.send(letter)
    await ada.write(bob.peer, "two")

    assert ["one", "two"] == [each.text for each in bob.got]


async def test_too_large(hasty: Meeting) -> None:
    """What the server takes is sent to the last byte; one more is INVALID, and the connection lives on."""
    ada = await hasty.joined("ada")
    bare = ada.letter(BOB, "")
    with pytest.raises(PeerError, match=r"bytes, and the NATS server at [^ ]+ takes \d+") as caught:
        await ada.transport.send(replace(bare, text="x" * 7_000_000))
    size, most = [int(word) for word in str(caught.value).split() if word.isdigit()]
    room = most - (size - 7_000_000)

    with pytest.raises(PeerError) as caught:
        await ada.transport.send(replace(bare, text="x" * (room + 1)))
    assert PeerFault.INVALID is caught.value.why
    assert QUEUED == (await ada.transport.send(replace(bare, text="x" * room))).delivery
    assert QUEUED == (await ada.write(BOB)).delivery


async def test_full(ground: Ground) -> None:
    """A stream that is full refuses what is new, which is a fault of the transport, and keeps what it has."""
    ground.place = replace(ground.place, max_stored=100_000)
    meeting = ground.meeting(HASTY)
    ada = await meeting.joined("ada")
    sent: list[str] = []

    async def fill() -> None:
        while True:
            text = "x" * 30_000 + str(len(sent))
            await ada.write(BOB, text)
            sent.append(text)

    with pytest.raises(PeerError, match="refused it: maximum bytes exceeded") as caught:
        await fill()
    assert PeerFault.TRANSPORT is caught.value.why

    bob = await meeting.joined("bob")
    assert sent == await bob.until(len(sent))
    await meeting.aclose()


@pytest.mark.slow
async def test_stream_gone(ground: Ground, meeting: Meeting) -> None:
    """Without a stream nothing is sent, and a peer that is open makes stream and consumer again."""
    ada, bob = await meeting.joined("ada"), await meeting.joined("bob")
    await forget(ground.url, ground.place)

    with pytest.raises(PeerError, match="no stream") as caught:
        await ada.write(bob.peer)
    assert PeerFault.TRANSPORT is caught.value.why

    again = await ground.meeting().joined("carol")  # makes it
    async with ground.raw() as client:
        await client.jetstream().publish(ground.place.subject_of(bob.peer), encode(ada.letter(bob.peer, "one")))
    assert ["one"] == await bob.until(1)
    await again.transport.aclose()


@pytest.mark.slow
async def test_consumer_gone(ground: Ground, meeting: Meeting) -> None:
    """A peer whose consumer was deleted makes it again, and what was sent meanwhile arrives."""
    ada, bob = await meeting.joined("ada"), await meeting.joined("bob")
    await ada.write(bob.peer, "one")
    async with ground.raw() as client:
        await client.jetstream().delete_consumer(ground.place.stream, bob.peer.id)

    await ada.write(bob.peer, "two", kind=EnvelopeKind.RESPONSE)
    assert ["one", "two"] == await bob.until(2)


async def test_stream_of_others(ground: Ground) -> None:
    """A stream that is for something else is not touched: StateError at once, with the name."""
    async with ground.raw() as client:
        await client.jetstream().add_stream(name=ground.place.stream, subjects=[f"other.{ground.place.stream}"])

    with pytest.raises(StateError, match="is not for test"):
        await ground.meeting().joined("ada")
    assert [] == ground.told.lines


async def test_subjects_of_others(ground: Ground) -> None:
    """So are subjects that another stream keeps."""
    async with ground.raw() as client:
        await client.jetstream().add_stream(name=ground.place.stream, subjects=[f"{ground.place.prefix}.*"])
    other = replace(ground, place=replace(ground.place, stream=ground.place.stream + "_2"))

    with pytest.raises(StateError, match="_2 cannot be used: subjects overlap"):
        await other.meeting().joined("ada")


async def test_opened_at_once(ground: Ground, meeting: Meeting) -> None:
    """Peers that are opened at the same time make one stream."""
    parties = [meeting.party(f"peer {number}") for number in range(4)]

    await asyncio.gather(*(each.open() for each in parties))

    assert ACKED == (await parties[0].write(parties[3].peer)).delivery


async def test_acknowledgement_is_checked(ground: Ground) -> None:
    """An acknowledgement counts if it names envelope, sender and recipient, and not if it names only two of them."""
    meeting = ground.meeting(replace(QUICK, ack_wait_for_receiver=15.0))
    ada = await meeting.joined("ada")
    letter = ada.letter(BOB)
    sending = asyncio.create_task(ada.transport.send(letter))
    right = Acknowledgement(id=letter.id, sender="ada", to="bob", outcome="accepted")
    wrong = [{"id": new_id()}, {"sender": "eve"}, {"to": "eve"}]
    async with ground.raw() as client:
        subject = ground.place.acknowledgements_of(ada.peer)
        for change in wrong:
            fields = {"id": letter.id, "sender": "ada", "to": "bob", "outcome": "rejected", **change}
            await client.publish(subject, json.dumps({"v": 1, **fields}).encode())
        await client.publish(subject, b"{}")
        await ground.told.until("an acknowledgement cannot be read")  # so the ones before were heard
        assert not sending.done()
        while not sending.done():  # it may come before the envelope has left
            await client.publish(subject, encode_acknowledgement(right))
            await client.flush()

    assert ACKED == (await sending).delivery
    await meeting.aclose()


@pytest.mark.slow
async def test_long_at_work(ground: Ground, hasty: Meeting) -> None:
    """A receiver may take longer than the server would wait for one that is gone: nothing is delivered twice."""
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow(envelope: Envelope) -> Admission:
        begun.set()
        await may_end.wait()
        return ACCEPTED

    ada, bob = await hasty.joined("ada"), await hasty.joined("bob", slow)
    async with ground.raw() as client:
        answers = await client.subscribe(f"$JS.ACK.{ground.place.stream}.{bob.peer.id}.>")
        await ada.write(bob.peer, "one")
        for _ in range(7):  # each is a third of `ack_wait`
            assert b"+WPI" == (await answers.next_msg(timeout=10)).data
        may_end.set()
        assert b"" == (await answers.next_msg(timeout=10)).data
    await ada.write(bob.peer, "two")

    assert ["one", "two"] == await bob.until(2)


@pytest.mark.slow
async def test_grace(ground: Ground, hasty: Meeting) -> None:
    """A receiver that does not end within the grace is stopped, and the message delivered at the next opening."""
    begun = asyncio.Event()
    cancelled = asyncio.Event()

    async def hangs(envelope: Envelope) -> Admission:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return ACCEPTED

    ada = await hasty.joined("ada")
    impatient = ground.meeting(replace(HASTY, grace=0.05, ack_wait=0.2))
    await impatient.joined("bob", hangs)
    await ada.write(BOB, "one")
    await begun.wait()
    await impatient.aclose()
    assert cancelled.is_set()

    bob = await hasty.joined("bob")
    assert ["one"] == await bob.until(1)


async def test_away_from_the_start() -> None:
    """A server that is away is tried so many times, each is told, and then it is a StateError without the password."""
    told = Told()
    url = f"nats://ada:secret@127.0.0.1:{free_port()}"
    transport = NatsTransport(url, patience=replace(QUICK, tries=4), on_status=told)

    with pytest.raises(StateError, match=r"127\.0\.0\.1:\d+ cannot be used after 4 tries: .*[Cc]onnect") as caught:
        await Party("ada", transport).open()

    assert ["try 1 of 4", "try 2 of 4", "try 3 of 4", "try 4 of 4"] == [line.split(": ")[1][:10] for line in told.lines]
    assert ["0.01", "0.02", "0.04"] == [line.split()[-2] for line in told.lines[:3]]
    assert "secret" not in " ".join([*told.lines, str(caught.value), repr(vars(transport))])
    await transport.aclose()
    await until_no_task_is_left()


@pytest.mark.parametrize("greeting", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"INFO {\r\n", b"x" * 100_000])
async def test_no_nats_server(greeting: bytes) -> None:
    """Something else that answers there is a StateError, too, and not tried for ever."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        with suppress(ConnectionError):
            await writer.drain()
        writer.close()

    stranger = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = stranger.sockets[0].getsockname()[1]
    transport = NatsTransport(f"nats://127.0.0.1:{port}", patience=replace(QUICK, tries=2))

    with pytest.raises(StateError, match="after 2 tries"):
        await Party("ada", transport).open()
    stranger.close()
    await stranger.wait_closed()
    await until_no_task_is_left()


async def test_silent_server() -> None:
    """Something that accepts and says nothing is given up within the bound."""
    writers = []

    async def listen(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)

    silent = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    transport = NatsTransport(f"nats://127.0.0.1:{port}", patience=replace(QUICK, tries=2, connect=0.05))

    with pytest.raises(StateError, match="after 2 tries"):
        await Party("ada", transport).open()
    for writer in writers:
        writer.close()
    silent.close()
    await silent.wait_closed()
    await until_no_task_is_left()


async def test_opening_is_given_up(ground: Ground) -> None:
    """Opening that is cancelled, or closed meanwhile, leaves nothing behind."""
    first, second = ground.meeting().party("ada"), ground.meeting().party("bob")
    opening = asyncio.create_task(first.open())
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening

    opening = asyncio.create_task(second.open())
    await asyncio.sleep(0)
    await second.transport.aclose()
    with pytest.raises(StateError, match="closed while it was being opened"):
        await opening


def test_names_of_places() -> None:
    """A stream or prefix that NATS could not take is refused before anything is sent."""
    for stream in ("", "a b", "a.b", "a*", "a/b"):
        with pytest.raises(UsageError, match="name of a stream"):
            Place(stream)
    for prefix in ("", "a..b", "a.*", "a b", ".a"):
        with pytest.raises(UsageError, match="prefix of subjects"):
            Place(prefix=prefix)


@pytest.mark.slow
async def test_server_killed_and_back(server: OwnServer) -> None:
    """What a server stored before it was killed is delivered once it is back; meanwhile sending fails at once."""
    ground = Ground(server.url, new_place(), Told())
    meeting = ground.meeting(replace(QUICK, ack_wait_for_receiver=0.01))
    ada, carol = await meeting.joined("ada"), await meeting.joined("carol")
    assert QUEUED == (await ada.write(BOB, "one")).delivery

    await server.kill()
    await ground.told.until("the connection is lost")
    with pytest.raises(PeerError, match="is away") as caught:
        await ada.write(BOB, "lost")
    assert PeerFault.TRANSPORT is caught.value.why

    await server.start()
    while True:  # each of the two has a connection of its own
        with suppress(PeerError):
            await ada.write(BOB, "two")
            break
        await asyncio.sleep(0.05)
    bob = await meeting.joined("bob")
    assert ["one", "two"] == await bob.until(2)

    await ada.write(carol.peer, "three")  # who was open all the time
    assert ["three"] == await carol.until(1)
    await meeting.aclose()
    await until_no_task_is_left()


@pytest.mark.slow
async def test_server_killed_while_it_is_asked(server: OwnServer) -> None:
    """A connection that is lost before the server has answered leaves it open whether the message was stored."""
    ground = Ground(server.url, new_place(), Told())
    meeting = ground.meeting()
    ada = await meeting.joined("ada")
    server.pause()
    sending = await _begin_to_send(ada)
    await server.kill()

    with pytest.raises(PeerError, match="lost before it said") as caught:
        await sending
    assert PeerFault.AMBIGUOUS is caught.value.why
    await meeting.aclose()  # while it is away
    await until_no_task_is_left()


async def _begin_to_send(party: Party) -> "asyncio.Task[Any]":
    """Begin, and return once the message has left."""
    transport = party.transport
    assert isinstance(transport, NatsTransport)
    before = transport._client.stats["out_msgs"]
    sending = asyncio.create_task(party.write(BOB))
    while transport._client.stats["out_msgs"] == before:  # noqa: ASYNC110 - nats-py counts, and sets no event
        await asyncio.sleep(0)
    return sending


@pytest.mark.slow
async def test_server_does_not_answer(server: OwnServer) -> None:
    """A server that does not say within the deadline that it has a message leaves that open."""
    ground = Ground(server.url, new_place(), Told())
    meeting = ground.meeting(replace(QUICK, ack_deadline=0.2))
    ada = await meeting.joined("ada")
    server.pause()

    with pytest.raises(PeerError, match=r"did not say within 0\.2 s") as caught:
        await ada.write(BOB)
    assert PeerFault.AMBIGUOUS is caught.value.why
    await server.kill()
    await meeting.aclose()
    await until_no_task_is_left()


@pytest.mark.slow
async def test_not_permitted(tmp_path: Path) -> None:
    """What the server does not permit to send was not sent: TRANSPORT, without waiting for the deadline."""
    place = new_place()
    denied = place.subject_of(BOB)
    user = f'{{user: a, password: "s3cret", permissions: {{publish: {{deny: "{denied}"}}}}}}'
    server = OwnServer(nats_program(), tmp_path, f"authorization {{ users = [{user}] }}")
    await server.start()
    ground = Ground(server.url.replace("//", "//a:s3cret@"), place, Told())
    meeting = ground.meeting()
    ada, carol = await meeting.joined("ada"), await meeting.joined("carol")

    with pytest.raises(PeerError, match=r"refused it: .*[Pp]ermissions [Vv]iolation") as caught:
        await ada.write(BOB)
    assert PeerFault.TRANSPORT is caught.value.why
    assert ACKED == (await ada.write(carol.peer)).delivery
    with pytest.raises(StateError, match=r"[Aa]uthorization [Vv]iolation") as refused:
        await nats_meeting(server.url.replace("//", "//a:wr0ng@"), place).joined("ada")
    assert "wr0ng" not in str(refused.value)
    await meeting.aclose()
    await server.kill()
    await until_no_task_is_left()


@pytest.mark.slow
async def test_no_jetstream(tmp_path: Path) -> None:
    """A user without JetStream is told so after the tries."""
    server = OwnServer(nats_program(), tmp_path, "accounts { A { users = [{user: a, password: b}] } }")
    await server.start()

    with pytest.raises(StateError, match=r"after 3 tries: .*(not enabled|ServiceUnavailable)"):
        await nats_meeting(server.url.replace("//", "//a:b@"), new_place()).joined("ada")
    await server.kill()
    await until_no_task_is_left()

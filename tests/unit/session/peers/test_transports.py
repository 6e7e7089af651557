"""What holds for every transport. Where the proof differs, the parameter says which it is."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from tests.services import require_nats
from tests.unit.session.peers.rig import (
    ACCEPTED,
    Meeting,
    Party,
    forget,
    local_meeting,
    nats_meeting,
    new_id,
    new_place,
    until_no_task_is_left,
)

from hookline._core.errors import UsageError
from hookline._core.inputs import Admission, Deduplicated, Rejected, RejectionReason
from hookline._core.peers import (
    Delivery,
    Envelope,
    EnvelopeKind,
    Peer,
    PeerError,
    PeerFault,
    Proof,
    Receipt,
    ReceiptKind,
)
from hookline.session.peers.jetstream import NatsTransport
from hookline.session.peers.local import LocalHub, LocalTransport
from hookline.session.peers.transports import transport_for

REJECTED = Rejected("input", RejectionReason.NOT_READY, "stopped")


@dataclass
class Case:
    """A transport under test: where to meet, and what it can prove of a message that was accepted."""

    meeting: Meeting
    accepted: Delivery
    deduplicated: Delivery


@pytest.fixture(params=["local", "nats"])
async def case(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    if request.param == "local":
        meeting = local_meeting()
        durably = Proof.DURABLY_RESOLVED
        yield Case(meeting, Delivery(durably, "accepted"), Delivery(durably, "deduplicated"))
        await meeting.aclose()
    else:
        url, place = require_nats(), new_place()
        meeting = nats_meeting(url, place)
        yield Case(meeting, Delivery(Proof.ACKED), Delivery(Proof.ACKED))
        await meeting.aclose()
        await forget(url, place)
    await until_no_task_is_left()


@pytest.fixture
async def pair(case: Case) -> tuple[Party, Party]:
    return await case.meeting.joined("ada"), await case.meeting.joined("bob")


@pytest.mark.parametrize(
    ("kind", "receipt"),
    [
        (EnvelopeKind.MESSAGE, ReceiptKind.MESSAGE_SENT),
        (EnvelopeKind.FENCED_MESSAGE, ReceiptKind.MESSAGE_SENT),
        (EnvelopeKind.LIFECYCLE, ReceiptKind.LIFECYCLE_SENT),
        (EnvelopeKind.REQUEST, ReceiptKind.REQUEST_SENT),
    ],
    ids=lambda kind: kind.value,
)
async def test_receipt(case: Case, pair: tuple[Party, Party], kind: EnvelopeKind, receipt: ReceiptKind) -> None:
    """A message arrives as it was sent; its receipt matches its kind and carries the transport's strongest proof."""
    ada, bob = pair
    letter = ada.letter(bob.peer, "how are you?", kind=kind, taint="clean", data={"n": [1, 2.5, None, "ü"]})

    assert Receipt(kind=receipt, envelope_id=letter.id, delivery=case.accepted) == await ada.transport.send(letter)
    assert [letter] == bob.got


async def test_response_is_queued(pair: tuple[Party, Party]) -> None:
    """A response reports QUEUED, whatever its transport knows of it, and arrives."""
    ada, bob = pair
    letter = ada.letter(bob.peer, kind=EnvelopeKind.RESPONSE, in_reply_to=new_id(), status="completed")

    receipt = await ada.transport.send(letter)
    await bob.until(1)

    assert (ReceiptKind.RESPONSE_SENT, Delivery(Proof.QUEUED)) == (receipt.kind, receipt.delivery)
    assert [letter] == bob.got


async def test_deduplicated(case: Case) -> None:
    """A receiver that knew the message already has decided as well."""
    ada = await case.meeting.joined("ada")
    bob = await case.meeting.joined("bob", lambda _: Deduplicated("second", "first"))

    assert case.deduplicated == (await ada.write(bob.peer)).delivery


async def test_rejected(case: Case) -> None:
    """A rejected message was not sent, and the sender learns why; the next one is delivered."""
    answers: list[Admission] = [REJECTED, ACCEPTED]
    ada = await case.meeting.joined("ada")
    bob = await case.meeting.joined("bob", lambda _: answers.pop(0))

    with pytest.raises(PeerError, match="'bob' rejected the message: Runtime not ready: stopped") as caught:
        await ada.write(bob.peer)
    assert PeerFault.REJECTED is caught.value.why
    assert case.accepted == (await ada.write(bob.peer)).delivery


async def test_order(pair: tuple[Party, Party]) -> None:
    """Messages of one sender arrive in the order in which they were sent."""
    ada, bob = pair
    texts = [str(number) for number in range(30)]

    for text in texts:
        await ada.write(bob.peer, text)

    assert texts == await bob.until(30)


async def test_both_ways_at_once(case: Case) -> None:
    """A receiver may send, also to whoever is sending to it just then."""
    ada = await case.meeting.joined("ada")

    async def reply(envelope: Envelope) -> Admission:
        answer = bob.letter(envelope.sender, "fine", kind=EnvelopeKind.RESPONSE, in_reply_to=envelope.id)
        await bob.transport.send(answer)
        return ACCEPTED

    bob = await case.meeting.joined("bob", reply)

    assert case.accepted == (await ada.write(bob.peer, kind=EnvelopeKind.REQUEST)).delivery
    assert ["fine"] == await ada.until(1)


async def test_to_oneself(case: Case) -> None:
    """A peer may write to itself."""
    ada = await case.meeting.joined("ada")

    assert case.accepted == (await ada.write(ada.peer, "remember")).delivery
    assert ["remember"] == await ada.until(1)


async def test_many_senders(case: Case) -> None:
    """What several peers send at once arrives, each message once."""
    bob = await case.meeting.joined("bob")
    senders = [await case.meeting.joined(f"sender {number}") for number in range(4)]

    await asyncio.gather(*(each.write(bob.peer, f"{each.name}: {n}") for each in senders for n in range(5)))

    assert sorted(f"{each.name}: {n}" for each in senders for n in range(5)) == sorted(await bob.until(20))


async def test_a_sender_that_gives_up_ends_no_commit(case: Case) -> None:
    """Cancelling `send` does not cancel the receiver."""
    begun, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(envelope: Envelope) -> Admission:
        begun.set()
        await may_end.wait()
        ended.set()
        return ACCEPTED

    ada = await case.meeting.joined("ada")
    bob = await case.meeting.joined("bob", slow)
    sending = asyncio.create_task(ada.write(bob.peer))
    await begun.wait()
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending

    may_end.set()
    await ended.wait()


async def test_closing_lets_the_receiver_end(case: Case) -> None:
    """`aclose` waits for the message that is being received, and its sender has the proof."""
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow(envelope: Envelope) -> Admission:
        begun.set()
        await may_end.wait()
        return ACCEPTED

    ada = await case.meeting.joined("ada")
    bob = await case.meeting.joined("bob", slow)
    sending = asyncio.create_task(ada.write(bob.peer))
    await begun.wait()
    closing = asyncio.create_task(bob.transport.aclose())
    await asyncio.sleep(0)
    may_end.set()
    await closing

    assert case.accepted == (await sending).delivery


async def test_a_receiver_may_close_its_own_peer(case: Case) -> None:
    """`aclose` from within the receiver does not wait for itself."""
    ada = await case.meeting.joined("ada")
    closed = asyncio.Event()

    async def leave(envelope: Envelope) -> Admission:
        await bob.transport.aclose()
        closed.set()
        return ACCEPTED

    bob = await case.meeting.joined("bob", leave)
    await ada.write(bob.peer, kind=EnvelopeKind.RESPONSE)

    await closed.wait()


async def test_closed(pair: tuple[Party, Party]) -> None:
    """A closed transport sends nothing, cannot be opened again, and closing it again does nothing."""
    ada, bob = pair
    await ada.transport.aclose()
    await ada.transport.aclose()

    with pytest.raises(PeerError, match="not open") as caught:
        await ada.write(bob.peer)
    assert PeerFault.TRANSPORT is caught.value.why
    with pytest.raises(UsageError, match="once"):
        await ada.open()
    assert [] == bob.got


async def test_not_opened(case: Case) -> None:
    """A transport that was not opened sends nothing, and may be closed."""
    ada = case.meeting.party("ada")

    with pytest.raises(PeerError, match="not open") as caught:
        await ada.write(Peer("bob"))
    assert PeerFault.TRANSPORT is caught.value.why
    await ada.transport.aclose()


async def test_one_peer_a_transport(pair: tuple[Party, Party]) -> None:
    """A transport serves one peer, and a peer has to have a name."""
    ada, _ = pair

    with pytest.raises(UsageError, match="one peer"):
        await ada.transport.open(Peer("eve"), ada.receive)


async def test_a_name_that_no_message_can_carry(case: Case) -> None:
    """A peer without a name cannot be opened."""
    with pytest.raises(UsageError, match="1 to 256"):
        await case.meeting.joined("")


async def test_sender_is_whoever_opened(pair: tuple[Party, Party]) -> None:
    """Nobody sends in another's name."""
    ada, bob = pair
    forged = Envelope(id=new_id(), kind=EnvelopeKind.MESSAGE, sender=Peer("eve"), to=bob.peer)

    with pytest.raises(PeerError, match="eve") as caught:
        await ada.transport.send(forged)
    assert PeerFault.INVALID is caught.value.why


async def test_invalid(pair: tuple[Party, Party]) -> None:
    """Data that cannot be carried is refused before anything is sent."""
    ada, bob = pair

    with pytest.raises(PeerError, match="plain JSON") as caught:
        await ada.write(bob.peer, data={"when": (1, 2)})
    assert PeerFault.INVALID is caught.value.why


async def test_receiver_has_a_copy(pair: tuple[Party, Party]) -> None:
    """What a receiver does with the data is its own affair."""
    ada, bob = pair
    data = {"items": [1]}

    await ada.write(bob.peer, data=data)
    bob.got[0].data["items"].append(2)

    assert {"items": [1]} == data


async def test_factory() -> None:
    """Without a URL peers meet in this process, in one hub for all who name none; with one, at that server."""
    ours, theirs = transport_for(None), transport_for(None)
    ada, bob = Party("ada", ours), Party("bob", theirs)
    await ada.open()
    await bob.open()
    await ada.write(bob.peer, "hello")
    await ours.aclose()
    await theirs.aclose()

    assert ["hello"] == [each.text for each in bob.got]
    assert isinstance(transport_for(None, LocalHub()), LocalTransport)
    assert isinstance(transport_for("nats://localhost"), NatsTransport)
    with pytest.raises(UsageError, match="not both"):
        transport_for("nats://localhost", LocalHub())


@pytest.mark.parametrize(
    "url", ["", "localhost:4222", "http://localhost", "nats://", "nats://host:port", "nats://h:99999"]
)
def test_urls(url: str) -> None:
    """A URL that names no server is refused, without showing it: there may be a password in it."""
    with pytest.raises(UsageError, match="nats://host:port") as caught:
        transport_for(url)
    assert not url or url not in str(caught.value).replace("nats://host:port", "")

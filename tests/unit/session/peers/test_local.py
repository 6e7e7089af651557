import asyncio

import pytest
from tests.unit.session.peers.rig import ACCEPTED, Party, local_meeting

from hookline._core.errors import UsageError
from hookline._core.inputs import Admission
from hookline._core.peers import Envelope, EnvelopeKind, Peer, PeerError, PeerFault
from hookline.session.peers.local import LocalHub, LocalTransport


async def test_unknown() -> None:
    """A peer that nobody has opened is UNKNOWN."""
    ada = await local_meeting().joined("ada")

    with pytest.raises(PeerError, match="nobody in this process has opened the peer 'bob'") as caught:
        await ada.write(Peer("bob"))
    assert PeerFault.UNKNOWN is caught.value.why


async def test_offline() -> None:
    """A peer that was closed is OFFLINE, until it is opened again."""
    meeting = local_meeting()
    ada, bob = await meeting.joined("ada"), await meeting.joined("bob")
    await bob.transport.aclose()

    with pytest.raises(PeerError, match="'bob' was closed") as caught:
        await ada.write(bob.peer)
    assert PeerFault.OFFLINE is caught.value.why

    again = await meeting.joined("bob")
    await ada.write(bob.peer)
    assert (0, 1) == (len(bob.got), len(again.got))


async def test_one_at_a_time() -> None:
    """Two cannot have the same peer open, and the second one's closing does not close the first."""
    meeting = local_meeting()
    bob = await meeting.joined("bob")
    with pytest.raises(UsageError, match="'bob' is open already"):
        await meeting.joined("bob")
    await meeting.aclose()

    assert [] == bob.got


@pytest.mark.parametrize("kind", [EnvelopeKind.MESSAGE, EnvelopeKind.RESPONSE], ids=lambda kind: kind.value)
async def test_receiver_raises(kind: EnvelopeKind) -> None:
    """A receiver that raises may have committed: the sender is told that this is not known."""

    def fails(envelope: Envelope) -> Admission:
        raise OSError("the disk is full")

    meeting = local_meeting()
    ada, bob = await meeting.joined("ada"), await meeting.joined("bob", fails)

    with pytest.raises(PeerError, match=r"'bob' failed .* OSError: the disk is full") as caught:
        await ada.write(bob.peer, kind=kind)
    assert PeerFault.AMBIGUOUS is caught.value.why


async def test_grace() -> None:
    """A receiver that does not end within the grace is stopped, and its sender told that nothing is known."""
    begun = asyncio.Event()

    async def hangs(envelope: Envelope) -> Admission:
        begun.set()
        await asyncio.Event().wait()
        return ACCEPTED

    hub = LocalHub()
    ada, bob = Party("ada", hub.transport()), Party("bob", LocalTransport(hub, grace=0.01), hangs)
    await ada.open()
    await bob.open()
    sending = asyncio.create_task(ada.write(bob.peer))
    await begun.wait()
    await bob.transport.aclose()

    with pytest.raises(PeerError, match="'bob' was stopped") as caught:
        await sending
    assert PeerFault.AMBIGUOUS is caught.value.why


async def test_sender_gone_and_receiver_raises() -> None:
    """What a receiver raises after its sender has given up is nobody's unseen exception."""
    unseen: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def fails(envelope: Envelope) -> Admission:
        begun.set()
        await may_end.wait()
        raise OSError("the disk is full")

    meeting = local_meeting()
    ada, bob = await meeting.joined("ada"), await meeting.joined("bob", fails)
    sending = asyncio.create_task(ada.write(bob.peer))
    await begun.wait()
    sending.cancel()
    await asyncio.wait({sending})
    may_end.set()
    await bob.transport.aclose()
    asyncio.get_running_loop().set_exception_handler(None)

    assert [] == unseen


def test_another_loop() -> None:
    """A peer of another event loop is OFFLINE, and one whose loop has ended may be opened again."""
    hub = LocalHub()

    async def opens() -> None:
        await Party("bob", hub.transport()).open()

    async def writes() -> None:
        ada = Party("ada", hub.transport())
        await ada.open()
        with pytest.raises(PeerError) as caught:
            await ada.write(Peer("bob"))
        assert PeerFault.OFFLINE is caught.value.why
        bob = Party("bob", hub.transport())
        await bob.open()
        await ada.write(Peer("bob"))
        assert ["hello"] == [each.text for each in bob.got]

    asyncio.run(opens())
    asyncio.run(writes())


def test_another_living_loop() -> None:
    """A receiver is never called in a loop that is not its own."""
    hub = LocalHub()
    other = asyncio.new_event_loop()
    bob = Party("bob", hub.transport())
    other.run_until_complete(bob.open())

    async def writes() -> None:
        ada = Party("ada", hub.transport())
        await ada.open()
        with pytest.raises(PeerError, match="another event loop") as caught:
            await ada.write(bob.peer)
        assert PeerFault.OFFLINE is caught.value.why

    asyncio.run(writes())
    other.close()

    assert [] == bob.got

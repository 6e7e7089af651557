"""A session's traffic with its peers: what is admitted, what counts as sent, and what is answered."""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

import hookline as hl
from hookline._core.inputs import (
    Accepted,
    Deduplicated,
    Durability,
    Handling,
    Input,
    InputKind,
    InputSource,
    Rejected,
    RejectionReason,
    SourceType,
)
from hookline._core.peers import (
    RECEIPTS,
    Delivery,
    Envelope,
    EnvelopeKind,
    Peer,
    PeerError,
    PeerFault,
    Proof,
    Receipt,
    ReceiptKind,
    Receiver,
)
from hookline._core.points import Origin
from hookline._core.records import CallEnded, EnvelopeSent, InputDecided, Noted
from hookline.session.admission.store import RequestPhase
from hookline.session.peers.exchange import sent_event
from hookline.session.peers.local import LocalHub

ADA, BOB = Peer("ada"), Peer("bob")
DONE = {"say": "done"}
QUEUED = Delivery(Proof.QUEUED)
INGRESS = "peer-ingress:{peer}:{id}"
RESOLVED = Delivery(Proof.DURABLY_RESOLVED, "accepted")


def step(tool: str, **given: Any) -> dict[str, Any]:
    return {"call": {"tool": tool, "input": given}}


def letter(text: str = "hello", kind: EnvelopeKind = EnvelopeKind.MESSAGE, **fields: Any) -> Envelope:
    """What bob sends to ada."""
    return Envelope(id=str(uuid.uuid4()), kind=kind, sender=BOB, to=ADA, text=text, **fields)


def receipt_of(envelope: Envelope) -> Receipt:
    return Receipt(kind=RECEIPTS[envelope.kind], envelope_id=envelope.id, delivery=QUEUED)


@dataclass
class Canned:
    """A transport that says of each envelope what the test has it say. Implements Transport."""

    says: Callable[[Envelope], Receipt] = receipt_of

    def __post_init__(self) -> None:
        self.sent: list[Envelope] = []

    async def open(self, me: Peer, receiver: Receiver) -> None:
        self.receiver = receiver

    async def send(self, envelope: Envelope) -> Receipt:
        self.sent.append(envelope)
        return self.says(envelope)

    async def aclose(self) -> None:
        """Nothing is open."""


class Friends:
    """Sessions of one engine that meet in one hub."""

    def __init__(self, play: Any) -> None:
        self._play = play
        self._hub = LocalHub()

    def new(self, name: str, *steps: dict[str, Any], **more: Any) -> hl.Session:
        peers = hl.Peers(name, self._hub.transport())
        session: hl.Session = self._play(*steps or (DONE,), tools=hl.peer_tools(), peers=peers, **more)
        return session


@pytest.fixture
def friends(play: Any) -> Friends:
    return Friends(play)


async def phase_of(session: hl.Session, request_id: str) -> RequestPhase | None:
    known = await session.runtime.store.request(session.runtime.name, request_id)
    return None if known is None else known[0]


def texts(session: hl.Session, role: str) -> list[str]:
    return [message.text for message in session.conversation.messages if message.role == role]


# Between two sessions


async def test_a_message_is_an_input_of_its_receiver(friends: Friends, seen: Any, kept: Any) -> None:
    """It is admitted over there before `message` returns, which proves as much, and told on both sides."""
    async with friends.new("ada") as ada, friends.new("bob") as bob:
        receipt = await ada.peers.message("bob", "hello")
        assert (ReceiptKind.MESSAGE_SENT, RESOLVED) == (receipt.kind, receipt.delivery)
        assert 1 == await bob.work_off()
        assert 0 == await ada.work_off()
        assert ["Message from ada:\nhello"] == texts(bob, "user")

    (sent,) = seen.of(hl.PeerSent)
    assert sent == hl.PeerSent(
        kind=EnvelopeKind.MESSAGE, peer=BOB, envelope_id=receipt.envelope_id, delivery=RESOLVED, origin=sent.origin
    )
    assert ada.id == sent.origin.session_id
    (received,) = seen.of(hl.PeerReceived)
    assert (InputKind.PEER_MESSAGE, ADA.id, "ada", bob.id) == (
        received.input_kind,
        received.peer_id,
        received.peer_name,
        received.origin.session_id,
    )
    (record,) = kept.of(EnvelopeSent)
    assert ("message", "bob", "hello", "durably_resolved accepted") == (
        record.what,
        record.to,
        record.text,
        record.delivery,
    )


async def test_a_request_is_answered_with_what_its_run_came_to(friends: Friends, seen: Any) -> None:
    """The run of a request answers it, once; the answer is an input of the asker that names the request."""
    async with friends.new("ada") as ada, friends.new("bob", {"say": "it is green"}) as bob:
        request_id = (await ada.peers.request("bob", "how is the build?")).envelope_id
        assert RequestPhase.SENT is await phase_of(ada, request_id)
        assert RequestPhase.RECEIVED is await phase_of(bob, request_id)
        assert await bob.peers.owes(request_id)
        await bob.work_off()
        assert RequestPhase.REPLIED is await phase_of(bob, request_id)
        assert not await bob.peers.owes(request_id)
        await ada.work_off()
        assert [f"Response from bob to the request {request_id} (completed):\nit is green"] == texts(ada, "user")

    assert [(EnvelopeKind.REQUEST, request_id, None), (EnvelopeKind.RESPONSE, None, request_id)] == [
        (event.kind, event.interaction_id, event.in_reply_to) for event in seen.of(hl.PeerSent)
    ]
    assert [RESOLVED, QUEUED] == [event.delivery for event in seen.of(hl.PeerSent)]
    assert [(InputKind.PEER_REQUEST, request_id), (InputKind.PEER_RESPONSE_TERMINAL, request_id)] == [
        (event.input_kind, event.request_id) for event in seen.of(hl.PeerReceived)
    ]


async def test_a_request_reads_as_one(friends: Friends) -> None:
    """The model that answers reads who asks and under which id, and that its last words are the answer."""
    async with friends.new("ada") as ada, friends.new("bob") as bob:
        request_id = (await ada.peers.request("bob", "how is it?")).envelope_id
        await bob.work_off()
        told = f"Request {request_id} from ada. What you answer at last is sent back to it:\nhow is it?"
        assert [told] == texts(bob, "user")


async def test_a_run_that_fails_answers_that_it_failed(friends: Friends) -> None:
    """The asker of a request whose run failed is told so, with the reason."""
    failing = {"fail": {"category": "rate_limit", "details": "slow down"}}
    async with friends.new("ada") as ada, friends.new("bob", failing) as bob:
        request_id = (await ada.peers.request("bob", "how is it?")).envelope_id
        await bob.work_off()
        await ada.work_off()
        assert [f"Response from bob to the request {request_id} (failed):\nslow down"] == texts(ada, "user")


async def test_an_answer_of_the_models_own_is_the_only_one(friends: Friends, kept: Any) -> None:
    """A model that answers by `peer_respond` has answered: what its run comes to is not sent as well."""
    async with friends.new("ada") as ada, friends.new("bob", DONE, DONE) as bob:
        request_id = (await ada.peers.request("bob", "how is it?")).envelope_id
        bob.model = hl.ScriptModel.parse(
            script(step("peer_respond", to="ada", request_id=request_id, text="fine"), DONE)
        )
        await bob.work_off()
        assert 1 == await ada.work_off()
        assert [f"Response from bob to the request {request_id} (completed):\nfine"] == texts(ada, "user")

    assert ["how is it?", "fine"] == [record.text for record in kept.of(EnvelopeSent)]


def script(*steps: dict[str, Any]) -> str:
    return msgspec.json.encode({"steps": list(steps)}).decode()


async def test_an_answer_that_cannot_be_sent_leaves_the_run_as_it_was(friends: Friends, kept: Any, seen: Any) -> None:
    """An asker that is gone by then gets no answer; the run has its result, and the account says why."""
    async with friends.new("bob", {"say": "fine"}) as bob:
        async with friends.new("ada") as ada:
            await ada.peers.request("bob", "how is it?")
        await bob.work_off()

    assert "fine" in [event.result for event in seen.of(hl.InteractionCompleted)]
    assert ["no answer to ada: the peer 'ada' was closed"] == [record.text for record in kept.of(Noted)]


async def test_progress_joins_the_conversation_without_a_run(friends: Friends, seen: Any) -> None:
    """What is said on the way is read with the next request; it ends nothing, and may be said again."""
    async with friends.new("ada") as ada, friends.new("bob") as bob:
        request_id = (await ada.peers.request("bob", "how is it?")).envelope_id
        for share in ("half", "nearly all"):
            await bob.peers.respond(request_id, "ada", share, status="progress")
        assert 2 == await ada.work_off()
        assert await bob.peers.owes(request_id)
        heading = f"bob is still at work on the request {request_id}:\n"
        assert [f"{heading}half", f"{heading}nearly all"] == texts(ada, "developer")
        assert [] == texts(ada, "user")

    assert [] == seen.of(hl.BeforeRun)
    assert {InputKind.PEER_REQUEST, InputKind.PEER_RESPONSE_PROGRESS} == {
        event.input_kind for event in seen.of(hl.PeerReceived)
    }


@pytest.mark.parametrize("taint", ["clean", "tainted"])
async def test_a_declared_taint_is_shown_and_told(taint: str, friends: Friends, seen: Any) -> None:
    """What the sender declares of its words stands before them, and in the event, as it was said."""
    async with friends.new("ada") as ada, friends.new("bob") as bob:
        await ada.peers.message("bob", "hello", taint=taint)
        await bob.work_off()
        assert [f"Message from ada, which declares it {taint}:\nhello"] == texts(bob, "user")

    assert [taint] == [event.taint for event in seen.of(hl.PeerReceived)]


# What may be answered


async def test_after_a_terminal_answer_there_is_no_other(friends: Friends, seen: Any) -> None:
    """A request is answered once: neither progress nor a second end leaves after it."""
    async with friends.new("ada") as ada, friends.new("bob") as bob:
        request_id = (await ada.peers.request("bob", "how is it?")).envelope_id
        await bob.peers.respond(request_id, "ada", "no", status="failed")
        for status in ("progress", "completed", "failed"):
            with pytest.raises(PeerError, match=f"no open request {request_id} of ada") as caught:
                await bob.peers.respond(request_id, "ada", "yes", status=status)
            assert PeerFault.INVALID is caught.value.why
        assert 1 == await ada.work_off()

    assert [EnvelopeKind.REQUEST, EnvelopeKind.RESPONSE] == [event.kind for event in seen.of(hl.PeerSent)]


async def test_only_the_peer_that_asked_is_answered(friends: Friends, seen: Any) -> None:
    """Neither another peer nor a request that never came is answered, nor one that was ours."""
    async with friends.new("ada") as ada, friends.new("bob") as bob, friends.new("eve") as eve:
        request_id = (await ada.peers.request("bob", "how is it?")).envelope_id
        for session, which, to in [(bob, request_id, "eve"), (bob, str(uuid.uuid4()), "ada"), (ada, request_id, "bob")]:
            with pytest.raises(PeerError, match="no open request"):
                await session.peers.respond(which, to, "fine")
        assert 0 == await eve.work_off()
        assert await bob.peers.owes(request_id)

    assert [EnvelopeKind.REQUEST] == [event.kind for event in seen.of(hl.PeerSent)]


async def test_a_status_that_there_is_not_is_wrong_use(friends: Friends) -> None:
    """A response is progress, completed or failed; another word is told so before anything leaves."""
    async with friends.new("ada") as ada:
        with pytest.raises(hl.UsageError, match="one of progress, completed, failed, found 'cancelled'"):
            await ada.peers.respond(str(uuid.uuid4()), "bob", "", status="cancelled")


async def test_an_answer_that_another_gave_meanwhile_counts_as_not_sent(play: Any, seen: Any) -> None:
    """Where the request was replied to while this answer left, the send is an error and tells nothing."""
    async with play(DONE, peers=hl.Peers("ada", Canned())) as ada:
        asked = letter("how is it?", EnvelopeKind.REQUEST)
        await ada.peers.receive(asked)
        first = ada.peers.respond(asked.id, "bob", "one")
        second = ada.peers.respond(asked.id, "bob", "two")
        said = await asyncio.gather(first, second, return_exceptions=True)

    faults = [each for each in said if isinstance(each, PeerError)]
    assert 1 == len(faults)
    assert 1 == len(seen.of(hl.PeerSent))


UNASKED = {
    "completed": RejectionReason.PEER_RESPONSE_TERMINAL_INVALID,
    "failed": RejectionReason.PEER_RESPONSE_TERMINAL_INVALID,
    "progress": RejectionReason.VALIDATION_FAILED,
}


@pytest.mark.parametrize("status", UNASKED)
async def test_an_answer_that_nobody_asked_for_is_rejected(status: str, play: Any, seen: Any, kept: Any) -> None:
    """A response to a request that never left, or that went to another peer, is refused for good and told so."""
    async with play(DONE, peers=hl.Peers("ada", Canned())) as ada:
        to_eve = (await ada.peers.request("eve", "how is it?")).envelope_id
        for request_id in (str(uuid.uuid4()), to_eve, None):
            response = letter("fine", EnvelopeKind.RESPONSE, in_reply_to=request_id, status=status)
            decided = await ada.peers.receive(response)
            assert isinstance(decided, Rejected)
            expected = (UNASKED[status], f"no request {request_id} was sent to bob")
            assert expected == (decided.reason, decided.detail)
        assert 0 == await ada.work_off()

    assert 3 == len(seen.of(hl.InputRejected))
    assert [] == seen.of(hl.PeerReceived)
    assert ["rejected"] * 3 == [record.outcome for record in kept.of(InputDecided)]


# What comes in


@pytest.mark.parametrize(
    ("envelope", "kind", "durability", "key"),
    [
        (letter(), InputKind.PEER_MESSAGE, Durability.DURABLE, INGRESS),
        (letter(kind=EnvelopeKind.FENCED_MESSAGE), InputKind.PEER_MESSAGE, Durability.DURABLE, INGRESS),
        (letter(kind=EnvelopeKind.REQUEST), InputKind.PEER_REQUEST, Durability.DURABLE, INGRESS),
        (letter(kind=EnvelopeKind.LIFECYCLE), InputKind.PEER_REQUEST, Durability.DURABLE, INGRESS),
        (
            letter(kind=EnvelopeKind.RESPONSE, in_reply_to="r", status="progress"),
            InputKind.PEER_RESPONSE_PROGRESS,
            Durability.EPHEMERAL,
            INGRESS,
        ),
        (
            letter(kind=EnvelopeKind.RESPONSE, in_reply_to="r", status="failed"),
            InputKind.PEER_RESPONSE_TERMINAL,
            Durability.DURABLE,
            "peer_response_terminal:{peer}:r",
        ),
    ],
    ids=["message", "fenced message", "request", "lifecycle", "progress", "terminal response"],
)  # fmt: skip
async def test_an_envelope_is_an_input(
    envelope: Envelope, kind: InputKind, durability: Durability, key: str, play: Any
) -> None:
    """Kind, source, durability, key and correlation of what is admitted follow from the envelope."""
    async with play(DONE, peers=hl.Peers("ada", Canned())) as ada:
        store, name = ada.runtime.store, ada.runtime.name
        await store.note_request(name, "r", BOB.id)
        decided = await ada.peers.receive(envelope)
        assert isinstance(decided, Accepted)
        row = await store.find(name, decided.input_id)
        assert row is not None
        names_itself = envelope.kind in (EnvelopeKind.REQUEST, EnvelopeKind.LIFECYCLE)
        assert row.input == Input(
            id=decided.input_id,
            kind=kind,
            text="hello",
            source=InputSource(type=SourceType.PEER, name="bob", id=BOB.id),
            durability=durability,
            key=key.format(peer=BOB.id, id=envelope.id),
            request_id=envelope.id if names_itself else envelope.in_reply_to,
            status=envelope.status,
        )


@pytest.mark.parametrize("kind", [EnvelopeKind.MESSAGE, EnvelopeKind.REQUEST], ids=lambda kind: kind.value)
async def test_a_second_delivery_is_the_same_input(kind: EnvelopeKind, play: Any, seen: Any) -> None:
    """An envelope that comes twice is admitted once, and the second time tells nobody of a peer."""
    async with play(DONE, peers=hl.Peers("ada", Canned())) as ada:
        envelope = letter(kind=kind)
        first, second = [await ada.peers.receive(envelope) for _ in range(2)]
        assert isinstance(first, Accepted)
        assert isinstance(second, Deduplicated)
        assert first.input_id == second.existing

    assert 1 == len(seen.of(hl.PeerReceived))


async def test_a_request_is_answered_to_its_end_once(play: Any) -> None:
    """Two terminal responses to one request are one input, whatever envelopes they come in."""
    async with play(DONE, peers=hl.Peers("ada", Canned())) as ada:
        request_id = (await ada.peers.request("bob", "how is it?")).envelope_id
        said = [
            await ada.peers.receive(letter(kind=EnvelopeKind.RESPONSE, in_reply_to=request_id, status=status))
            for status in ("completed", "failed")
        ]
    assert [Accepted, Deduplicated] == [type(each) for each in said]


async def test_a_terminal_answer_in_other_words_is_rejected(play: Any) -> None:
    """A response to a request of ours whose status is no end is refused as what it says it is."""
    async with play(DONE, peers=hl.Peers("ada", Canned())) as ada:
        request_id = (await ada.peers.request("bob", "how is it?")).envelope_id
        decided = await ada.peers.receive(
            letter(kind=EnvelopeKind.RESPONSE, in_reply_to=request_id, status="cancelled")
        )
    assert isinstance(decided, Rejected)
    assert RejectionReason.PEER_RESPONSE_TERMINAL_INVALID is decided.reason
    assert "completed or failed, not cancelled" in decided.detail


# What counts as sent


def wrong_kind(envelope: Envelope) -> Receipt:
    return Receipt(kind=ReceiptKind.LIFECYCLE_SENT, envelope_id=envelope.id, delivery=QUEUED)


def of_another(envelope: Envelope) -> Receipt:
    return Receipt(kind=RECEIPTS[envelope.kind], envelope_id=str(uuid.uuid4()), delivery=QUEUED)


@pytest.mark.parametrize("says", [wrong_kind, of_another])
async def test_a_receipt_for_something_else_proves_nothing(
    says: Callable[[Envelope], Receipt], play: Any, seen: Any, kept: Any
) -> None:
    """Of another kind, or for another envelope, it is noted: no event, no line that something was sent."""
    async with play(DONE, peers=hl.Peers("ada", Canned(says))) as ada:
        await ada.peers.message("bob", "hello")

    assert [] == seen.of(hl.PeerSent)
    assert [] == kept.of(EnvelopeSent)
    (noted,) = kept.of(Noted)
    assert noted.text.startswith("the transport gave a receipt of another kind for ")


@pytest.mark.parametrize("kind", EnvelopeKind, ids=lambda kind: kind.value)
def test_only_the_receipt_of_its_kind_is_one_for_an_envelope(kind: EnvelopeKind) -> None:
    """Of all receipts that there are, one kind proves that an envelope of a kind was sent."""
    envelope, origin = letter(kind=kind, in_reply_to="r"), Origin(session_id="s")
    told = {
        receipt: sent_event(envelope, Receipt(kind=receipt, envelope_id=envelope.id, delivery=QUEUED), origin)
        for receipt in ReceiptKind
    }

    assert [RECEIPTS[kind]] == [receipt for receipt, event in told.items() if event is not None]
    event = told[RECEIPTS[kind]]
    assert event == hl.PeerSent(
        kind=kind,
        peer=ADA,
        envelope_id=envelope.id,
        delivery=QUEUED,
        interaction_id=envelope.id if kind is EnvelopeKind.REQUEST else None,
        in_reply_to="r" if kind is EnvelopeKind.RESPONSE else None,
        origin=origin,
    )


@pytest.mark.parametrize("why", PeerFault, ids=lambda why: why.value)
async def test_what_is_not_proven_to_have_left_tells_nothing(why: PeerFault, play: Any, seen: Any, kept: Any) -> None:
    """A message that a transport raises of has no event and no line."""

    def fails(envelope: Envelope) -> Receipt:
        raise PeerError(why, "no")

    async with play(DONE, peers=hl.Peers("ada", Canned(fails))) as ada:
        with pytest.raises(PeerError):
            await ada.peers.message("bob", "hello")

    assert [] == seen.of(hl.PeerSent)
    assert [] == kept.of(EnvelopeSent)


async def test_an_unknown_peer_is_not_written_to(play: Any) -> None:
    """Where the peers are named, another name is UNKNOWN, with the names that there are, and nothing leaves."""
    transport = Canned()
    async with play(DONE, peers=hl.Peers("ada", transport, known=("eve", "bob"))) as ada:
        for write in (ada.peers.message, ada.peers.request):
            with pytest.raises(PeerError, match="there is no peer mallory; there are bob, eve") as caught:
                await write("mallory", "hello")
            assert PeerFault.UNKNOWN is caught.value.why
        await ada.peers.message("bob", "hello")

    assert ["bob"] == [envelope.to.name for envelope in transport.sent]


async def test_a_request_is_noted_before_it_leaves(play: Any) -> None:
    """An answer that comes while the request is still on its way is known to be asked for."""
    answers: list[asyncio.Task[Any]] = []

    class Prompt(Canned):
        async def send(self, envelope: Envelope) -> Receipt:
            response = letter(kind=EnvelopeKind.RESPONSE, in_reply_to=envelope.id, status="completed")
            answers.append(asyncio.ensure_future(self.receiver(response)))
            await asyncio.wait(answers)
            return await super().send(envelope)

    async with play(DONE, peers=hl.Peers("ada", Prompt())) as ada:
        await ada.peers.request("bob", "how is it?")

    assert [Accepted] == [type(each.result()) for each in answers]


@pytest.mark.parametrize("why", PeerFault, ids=lambda why: why.value)
async def test_a_request_that_did_not_leave_is_forgotten(why: PeerFault, play: Any) -> None:
    """Its note is dropped, unless nobody knows: then an answer may come, and is asked for."""
    transport = Canned()

    def fails(envelope: Envelope) -> Receipt:
        raise PeerError(why, "no")

    transport.says = fails
    async with play(DONE, peers=hl.Peers("ada", transport)) as ada:
        with pytest.raises(PeerError) as caught:
            await ada.peers.request("bob", "how is it?")
        (envelope,) = transport.sent
        kept = RequestPhase.SENT if why is PeerFault.AMBIGUOUS else None
        assert kept is await phase_of(ada, envelope.id)
    assert why is caught.value.why


@pytest.mark.parametrize("why", PeerFault, ids=lambda why: why.value)
async def test_an_answer_that_did_not_leave_is_still_owed(why: PeerFault, play: Any, seen: Any) -> None:
    """A terminal answer of which nothing is proven may be given again."""

    def fails(envelope: Envelope) -> Receipt:
        raise PeerError(why, "no")

    transport = Canned(fails)
    async with play(DONE, peers=hl.Peers("ada", transport)) as ada:
        asked = letter("how is it?", EnvelopeKind.REQUEST)
        await ada.peers.receive(asked)
        with pytest.raises(PeerError):
            await ada.peers.respond(asked.id, "bob", "fine")
        assert await ada.peers.owes(asked.id)
        transport.says = receipt_of
        await ada.peers.respond(asked.id, "bob", "fine")
        assert not await ada.peers.owes(asked.id)

    assert 1 == len(seen.of(hl.PeerSent))


# The tools


async def test_the_tools_write_to_peers(friends: Friends, kept: Any) -> None:
    """A model writes, asks and is told what is proven; the id of a request stands in the result."""
    steps = [step("peer_message", to="bob", text="hello"), step("peer_request", to="bob", text="how is it?"), DONE]
    async with friends.new("ada", *steps) as ada, friends.new("bob") as bob:
        await ada.run("go")
        assert 2 == await bob.work_off()

    sent = [record for record in kept.of(EnvelopeSent) if record.to == "bob"]
    assert [("message", "hello"), ("request", "how is it?")] == [(record.what, record.text) for record in sent]
    assert [
        "message to bob was sent (durably_resolved accepted)",
        f"request {sent[1].envelope_id} to bob was sent (durably_resolved accepted)",
    ] == [record.text for record in kept.of(CallEnded)]


TOOLS = {
    "peer_message": {"to": "bob", "text": "hello"},
    "peer_request": {"to": "bob", "text": "how is it?"},
    "peer_respond": {"to": "bob", "request_id": "r", "text": "fine"},
}


@pytest.mark.parametrize("point", [hl.BeforeToolCall, hl.BeforeDispatch], ids=lambda point: point.point.name)
@pytest.mark.parametrize("tool", TOOLS)
async def test_what_a_hook_denies_does_not_leave(
    tool: str, point: Any, play: Any, engine: hl.HookEngine, seen: Any
) -> None:
    """The tools go through the gate: behind a denial nothing reaches the transport, and nothing is told as sent."""

    @engine.on(point, match=hl.names(tool))
    async def never(event: Any) -> hl.Deny:
        return hl.Deny("not a word")

    transport = Canned()
    given = TOOLS[tool]
    async with play(step(tool, **given), DONE, tools=hl.peer_tools(), peers=hl.Peers("ada", transport)) as ada:
        await ada.runtime.store.admit(
            ada.runtime.name,
            Input(
                id=str(uuid.uuid4()),
                kind=InputKind.PEER_REQUEST,
                request_id="r",
                source=InputSource(type=SourceType.PEER, name="bob", id=BOB.id),
            ),
            Handling.STEER,
        )
        claimed = await ada.runtime.store.claim(ada.runtime.name)  # so that no run of ours answers it
        assert claimed is not None
        await ada.run("go")
        assert "not a word" in texts(ada, "tool")[0]

    assert [] == transport.sent
    assert [] == seen.of(hl.PeerSent)


@pytest.mark.parametrize("tool", TOOLS)
async def test_the_same_leaves_where_nobody_denies(tool: str, play: Any, kept: Any) -> None:
    """Without that hook each of the calls reaches the transport: the test above can fail."""
    transport = Canned()
    async with play(step(tool, **TOOLS[tool]), DONE, tools=hl.peer_tools(), peers=hl.Peers("ada", transport)) as ada:
        asked = letter("how is it?", EnvelopeKind.REQUEST)
        await ada.runtime.admit(
            Input(
                id=asked.id,
                kind=InputKind.PEER_REQUEST,
                request_id="r",
                source=InputSource(type=SourceType.PEER, name="bob", id=BOB.id),
            )
        )
        await ada.runtime.store.claim(ada.runtime.name)
        await ada.run("go")

    assert [TOOLS[tool]["text"]] == [envelope.text for envelope in transport.sent]


async def test_a_peer_that_is_not_there_is_a_failed_call(friends: Friends, kept: Any) -> None:
    """What a transport raises of is what the model reads; the run goes on."""
    async with friends.new("ada", step("peer_message", to="bob", text="hello"), DONE) as ada:
        result = await ada.run("go")

    assert "done" == result.text
    assert ["nobody in this process has opened the peer 'bob'"] == [record.text for record in kept.of(CallEnded)]


async def test_a_session_without_peers_says_so(play: Any) -> None:
    """Asking it for its peers is wrong use, with the remedy."""
    async with play(DONE) as session:
        with pytest.raises(hl.UsageError, match="this session has no peers: give it some"):
            session.peers.message  # noqa: B018  # asking is enough


async def test_a_session_that_is_closed_receives_nothing(friends: Friends) -> None:
    """Its peers learn that it is gone, and what they send is not admitted."""
    async with friends.new("ada") as ada:
        async with friends.new("bob"):
            pass
        with pytest.raises(PeerError, match="'bob' was closed") as caught:
            await ada.peers.message("bob", "hello")
    assert PeerFault.OFFLINE is caught.value.why

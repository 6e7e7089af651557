"""Cases of a session's runtime and its peers: steps, what each came to, and what hooks were told of it."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from tests.conformance.meerkat.account import Account, admission_line
from tests.conformance.meerkat.loading import opened
from tests.conformance.meerkat.making import made
from tests.conformance.meerkat.said import Played, handlers_of
from tests.conformance.meerkat.sessions import SESSION_ID, ending_line, model_of
from tests.conformance.place import Place
from tests.conformance.reading import Case

from hookline._compose import inputs_store, peer_tools
from hookline._core.errors import StateError
from hookline._core.inputs import Handling, RuntimeState
from hookline._core.peers import (
    RECEIPTS,
    Delivery,
    Envelope,
    EnvelopeKind,
    Peer,
    PeerError,
    PeerFault,
    Receipt,
    ReceiptKind,
    Receiver,
)
from hookline._engines import Project
from hookline.session.admission.runtime import COMPLETE, Completion, InputRefused
from hookline.session.admission.store import Phase, Store
from hookline.session.admission.wire import InvalidInput, input_from
from hookline.session.approval import ApprovalMode
from hookline.session.beginning import Beginning
from hookline.session.peers.exchange import Peers
from hookline.session.session import Session

QUEUE = f"rt:session:{SESSION_ID}"
NAMES = {str(number): f"00000000-0000-7000-8000-00000000000{number}" for number in range(10)}
NAMES |= {f"id of {name}": Peer(name).id for name in ("me", "other")}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TURNS = 2000  # of the loop, for tasks that wait for nothing to end


class Breakable:
    """A store that works until a case breaks one of its methods."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.broken = ""

    def __getattr__(self, name: str) -> Any:
        if name == self.broken:
            return self._fail
        return getattr(self._store, name)

    async def _fail(self, *_: object, **__: object) -> None:
        raise StateError("the disk is full")


class Carrier:
    """A transport that gives the receipts of a case, one for each envelope. Implements Transport."""

    def __init__(self, receipts: list[dict[str, Any]]) -> None:
        self._receipts = list(receipts)
        self.sent: list[Envelope] = []

    async def open(self, me: Peer, receiver: Receiver) -> None:
        """Nothing comes in by itself."""

    async def send(self, envelope: Envelope) -> Receipt:
        given = dict(self._receipts.pop(0))
        if "fault" in given:
            raise PeerError(PeerFault(given["fault"]), f"the transport says {given['fault']}")
        kind = ReceiptKind(given.pop("kind")) if "kind" in given else RECEIPTS[envelope.kind]
        self.sent.append(envelope)
        return Receipt(
            kind=kind,
            envelope_id=given.pop("envelope_id", envelope.id),
            delivery=made({"proof": "queued", **given}, Delivery),
        )

    async def aclose(self) -> None:
        """Nothing is open."""


class Life:
    """A session of the case, from its start to its end, over the store that all of them share."""

    def __init__(self, case: Case, place: Place, project: Project, played: Played, account: Account) -> None:
        self._case = case
        self._place = place
        self._engine = project.engine
        self._played = played
        self._account = account
        self.carrier = Carrier(place.filled(case.given.get("transport", [])))
        self.store: Any = None
        self.session: Any = None
        self.model = model_of(case, place)

    @property
    def path(self) -> str | None:
        return None if self._case.given.get("memory") else str(self._place.home / "inputs.sqlite3")

    def new_store(self) -> Store:
        return inputs_store(self.path, env=self._place.env, kept=self.path is not None)

    async def begin(self) -> None:
        self.store = Breakable(self.new_store())
        await self.store.open()
        self.session = Session(
            self._engine,
            model=self.model,
            tools=peer_tools() if "transport" in self._case.given else (),
            journals=self._account,
            workspace=self._place.workspace,
            approval=ApprovalMode.NEVER,
            env=self._place.env,
            beginning=Beginning(session_id=SESSION_ID),
            inputs=self.store,
            peers=Peers("me", self.carrier) if "transport" in self._case.given else None,
        )
        await self.session.__aenter__()

    async def end(self) -> None:
        await self.session.close()
        await self.store.aclose()


def admitting(case: Case, place: Place) -> dict[str, Any]:
    """What each step came to, and what was told of it."""
    for name, text in NAMES.items():
        place.name(name, text)
    return asyncio.run(_admitting(case, place))


async def _admitting(case: Case, place: Place) -> dict[str, Any]:
    given = case.given
    played, account = Played(given.get("handlers", {"seen": {}})), Account()
    project = opened(case, place, handlers_of(played))
    async with project.engine:
        life = Life(case, place, project, played, account)
        await life.begin()
        lines = []
        for step in given["inputs"]:
            ((name, about),) = step.items()
            lines.append(await STEPS[name](life, place.filled(about)))
        telling = await _still_telling(life, case)
        found = await _kept(life, place.filled(case.want), account)
        played.release()
        await life.end()
    return {
        **found,
        "steps": lines,
        "telling": telling,
        "told": _told(played),
        "called": played.called,
        "payloads": played.payloads,
        "cut_off": [name for name, each in played.behaviours.items() if each.cut_off],
        "notes": account.notes(),
        "events": account.events(),
        "ledger": account.ledger(),
        "model_calls": len(life.model.asked),
        "sent": [f"{each.kind.value} to {each.to.name}: {each.text}" for each in life.carrier.sent],
    }


async def _still_telling(life: Life, case: Case) -> int:
    """How many facts are still being told, once whatever can end has ended."""
    for _ in range(TURNS):
        if life.session._aside.telling <= case.want.get("telling", 0):
            break
        await asyncio.sleep(0)
    telling: int = life.session._aside.telling
    return telling


def _told(played: Played) -> list[dict[str, Any]]:
    """What hooks were told, by point and in no order of its own."""
    told = [each for payloads in played.payloads.values() for each in payloads if "observation" in each]
    facts = [{each["point"]: each["observation"]["observation"]} for each in told]
    return sorted(facts, key=_without_random_ids)


def _without_random_ids(fact: dict[str, Any]) -> str:
    """What a fact is sorted by: an id that was made up meanwhile comes last, whatever it is."""
    known = NAMES.values()
    return UUID.sub(lambda found: found[0] if found[0] in known else "~", json.dumps(fact))


async def _kept(life: Life, want: dict[str, Any], account: Account) -> dict[str, Any]:
    """What stands in the store."""
    store = life.new_store() if life.path is not None else life.store
    if life.path is not None:
        await store.open()
    try:
        rows = {name: await store.find(QUEUE, name) for name in want.get("rows", {})}
        log = [json.loads(each.payload) for each in await store.events(QUEUE)]
        keys = {key: await store.owner_of(QUEUE, key) for key in want.get("keys", {})}
    finally:
        if life.path is not None:
            await store.aclose()
    return {
        "rows": {name: None if row is None else row.phase.value for name, row in rows.items()},
        "log": log,
        "keys": keys,
        "conversation": [f"{each.role}: {each.text}" for each in life.session.conversation.messages],
    }


async def _admit(life: Life, wire: Any) -> str:
    try:
        return admission_line(await life.session.admit(_input(wire)))
    except StateError as error:
        return f"not known: {error}"
    except InvalidInput as error:
        return f"no input: {error}"


async def _admit_many(life: Life, about: Any) -> str:
    for _ in range(about["times"]):
        await life.session.admit(_input(about["input"]))
    return f"{about['times']} admitted"


async def _admit_at_once(life: Life, wires: Any) -> str:
    """What came of inputs that were given at the same time, each told apart by a comma."""
    admissions = await asyncio.gather(*[life.session.admit(_input(wire)) for wire in wires])
    return ", ".join(admission_line(each) for each in admissions)


async def _run(life: Life, wire: Any) -> str:
    try:
        return ending_line(await life.session.submit(_input({"text": wire} if isinstance(wire, str) else wire)))
    except InputRefused as refused:
        return f"refused: {refused}"


def _input(wire: Any) -> Any:
    return input_from(json.dumps(wire).encode())


async def _work_off(life: Life, about: Any) -> str:
    return f"worked on {await life.session.work_off()}"


async def _move(life: Life, state: Any) -> str:
    await life.session.runtime.move(RuntimeState(state))
    return life.session.runtime.state.value


async def _restart(life: Life, about: Any) -> str:
    await life.end()
    await life.begin()
    return "restarted"


async def _break(life: Life, method: Any) -> str:
    """Have the store fail at one thing; `nothing` mends it."""
    life.store.broken = method
    return "broken"


async def _commit(life: Life, wire: Any) -> str:
    """What a process leaves behind that ends between the commit and the telling: a row, and nothing else."""
    store = life.new_store()
    await store.open()
    found = await store.admit(QUEUE, _input(wire), Handling.QUEUE)
    await store.aclose()
    return "committed" if found is None else f"not committed: {found}"


async def _finished(life: Life, about: Any) -> str:
    """The same between the end of the work and its publication."""
    store = life.new_store()
    await store.open()
    given = _input(about["input"])
    await store.admit(QUEUE, given, Handling.QUEUE)
    await store.claim(QUEUE, given.id)
    completion = Completion(type=COMPLETE, interaction_id=given.id, result=about["result"])
    await store.finish(QUEUE, given.id, Phase.CONSUMED, msgspec.json.encode(completion))
    await store.aclose()
    return "finished"


async def _send(life: Life, about: Any) -> str:
    """Have an envelope of any kind sent, as the tools and whoever embeds the session do."""
    peers, given = life.session.peers, dict(about)
    kind, to, text = EnvelopeKind(given.pop("kind")), given.pop("to"), given.pop("text", "")
    try:
        match kind:
            case EnvelopeKind.MESSAGE:
                receipt = await peers.message(to, text, **given)
            case EnvelopeKind.REQUEST:
                receipt = await peers.request(to, text, **given)
            case EnvelopeKind.RESPONSE:
                receipt = await peers.respond(given.pop("in_reply_to"), to, text, **given)
            case _:
                receipt = await peers._send(peers._envelope(kind, to, text, **given))
    except PeerError as error:
        return f"not sent {error.why.value}: {error}"
    return f"sent {receipt.delivery.proof.value}"


async def _receive(life: Life, about: Any) -> str:
    given = dict(about)
    envelope = Envelope(
        kind=EnvelopeKind(given.pop("kind")), sender=Peer(given.pop("sender", "other")), to=Peer("me"), **given
    )
    try:
        return admission_line(await life.session.peers.receive(envelope))
    except StateError as error:
        return f"not known: {error}"


STEPS: dict[str, Callable[[Life, Any], Awaitable[str]]] = {
    "admit": _admit,
    "admit_many": _admit_many,
    "admit_at_once": _admit_at_once,
    "run": _run,
    "work_off": _work_off,
    "move": _move,
    "restart": _restart,
    "break": _break,
    "commit": _commit,
    "finish": _finished,
    "send": _send,
    "receive": _receive,
}

"""The runtime of a session: what is admitted, what is told of it, what is worked on, and what is kept of the end."""

import asyncio
import sqlite3
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine_rig import idle

import hookline as hl
from hookline._core.inputs import (
    Accepted,
    Admission,
    Deduplicated,
    Durability,
    Handling,
    Input,
    InputKind,
    InputSource,
    Rejected,
    RejectionReason,
    RuntimeState,
    SourceType,
)
from hookline._core.points import Event, Origin
from hookline._core.records import Ending, InputDecided, InteractionPublished, Noted, Record, RunStarted
from hookline.session.admission.runtime import MAX_ATTEMPTS, InputRefused, Runtime
from hookline.session.admission.sqlite import MEMORY, SqliteStore
from hookline.session.admission.store import Phase, Row
from hookline.session.ports import ModelReply, ModelRequest, RunResult

QUEUE = "rt:session:shared"
DONE = {"say": "done"}
CLOSED = [RuntimeState.RETIRED, RuntimeState.STOPPED, RuntimeState.DESTROYED]

Work = Callable[[Input], Awaitable[RunResult]]
Opener = Callable[[], Awaitable[SqliteStore]]


def prompt(text: str = "", **fields: Any) -> Input:
    return Input(**{"id": str(uuid.uuid4()), "kind": InputKind.PROMPT, "text": text, **fields})


def invalid(**fields: Any) -> Input:
    return prompt(**{"durability": None, **fields})


async def do_it(given: Input) -> RunResult:
    return RunResult(ending=Ending.COMPLETED, text=f"did {given.text}")


class Desk:
    """A host that keeps what it is told, and works as the test says. Implements Host, and the recorder of it."""

    def __init__(self, work: Work = do_it) -> None:
        self.records: list[Record] = []
        self.told: list[Event] = []
        self.taken: list[str] = []
        self.on_telling: Callable[[Event], None] = self.told.append
        self.work = work

    @property
    def recorder(self) -> "Desk":
        return self

    def record(self, record: Record) -> None:
        self.records.append(record)

    def close(self) -> None:
        """Nothing to let go of."""

    def origin(self) -> Origin:
        return Origin(session_id="s")

    def tell_aside(self, event: Event) -> None:
        self.on_telling(event)

    async def take(self, given: Input) -> RunResult:
        self.taken.append(given.text)
        return await self.work(given)

    def of(self, kind: type[Any]) -> list[Any]:
        return [record for record in self.records if isinstance(record, kind)]

    def points(self) -> list[str]:
        return [event.point.name for event in self.told]


class Held:
    """Work that tells when it has begun, and ends when the test lets it."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.released = asyncio.Event()

    async def __call__(self, given: Input) -> RunResult:
        self.begun.set()
        await self.released.wait()
        return await do_it(given)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "inputs.db"


@pytest.fixture
async def open_store(path: Path) -> AsyncIterator[Opener]:
    """Opens one more store in the same file, each time."""
    stores: list[SqliteStore] = []

    async def open_one() -> SqliteStore:
        stores.append(SqliteStore(path))
        await stores[-1].open()
        return stores[-1]

    yield open_one
    for store in stores:
        await store.aclose()


@pytest.fixture
async def inputs(open_store: Opener) -> SqliteStore:
    return await open_store()


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def own(inputs: SqliteStore, desk: Desk) -> Runtime:
    """A runtime of *desk* that is open."""
    return await opened(inputs, desk)


async def opened(store: SqliteStore, host: Desk, name: str = QUEUE) -> Runtime:
    runtime = Runtime(store, name, host)
    await runtime.open()
    return runtime


async def until(seen: Callable[[], object]) -> None:
    """Let everything run until *seen* is true."""
    while not seen():  # noqa: ASYNC110
        await asyncio.sleep(0)  # nothing in the runtime tells of who begins to wait


async def log_of(store: SqliteStore, name: str = QUEUE) -> list[dict[str, Any]]:
    """The event log, its payloads read."""
    return [msgspec.json.decode(line.payload) for line in await store.events(name)]


def kept_rows(path: Path) -> int:
    """How many inputs a reader of the file finds at this moment."""
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM hookline_inputs").fetchone()[0])
    finally:
        connection.close()


# What is decided is told


async def test_what_is_accepted_is_told_once(own: Runtime, desk: Desk) -> None:
    """One event and one line in the account, with the handling that it was resolved to."""
    given = prompt("go", key="k", handling=Handling.STEER)

    assert Accepted(given.id, Handling.STEER) == await own.admit(given)
    (event,) = desk.told
    assert event == hl.InputAccepted(
        input_id=given.id, input_kind=InputKind.PROMPT, handling=Handling.STEER, origin=desk.origin()
    )
    (record,) = desk.of(InputDecided)
    assert record == InputDecided(
        origin=desk.origin(),
        input_id=given.id,
        input_kind=InputKind.PROMPT,
        source="operator",
        outcome="accepted",
        key="k",
        detail="steer",
    )


async def test_what_is_rejected_is_told_once(own: Runtime, desk: Desk) -> None:
    """One event and one line in the account, with reason and detail; nothing of it is kept."""
    given = invalid()
    why = (RejectionReason.DURABILITY_VIOLATION, "input durability observation missing")

    assert Rejected(given.id, *why) == await own.admit(given)
    (event,) = desk.told
    assert isinstance(event, hl.InputRejected)
    assert (given.id, *why) == (event.input_id, event.reason, event.detail)
    (record,) = desk.of(InputDecided)
    assert ("rejected", "durability_violation", why[1]) == (record.outcome, record.reason, record.detail)
    assert await own.store.find(own.name, given.id) is None


async def test_what_is_deduplicated_is_told_once(own: Runtime, desk: Desk) -> None:
    """One event and one line in the account, each with the first owner of the key; the duplicate has no row."""
    first, second = prompt("one", key="k"), prompt("two", key="k")
    await own.admit(first)
    desk.told.clear()

    assert Deduplicated(second.id, first.id) == await own.admit(second)
    (event,) = desk.told
    assert isinstance(event, hl.InputDeduplicated)
    assert (second.id, first.id) == (event.input_id, event.existing_input_id)
    assert [("accepted", ""), ("deduplicated", first.id)] == [
        (record.outcome, record.existing) for record in desk.of(InputDecided)
    ]
    assert await own.store.find(own.name, second.id) is None


async def test_a_refusal_from_outside_is_told_like_any_other(own: Runtime, desk: Desk) -> None:
    """What is refused for a reason that the runtime knows nothing of has its event and its line too."""
    given = prompt(key="k")
    why = (RejectionReason.VALIDATION_FAILED, "not here")

    assert Rejected(given.id, *why) == own.refuse(given, *why)
    assert ["input_rejected"] == desk.points()
    assert ["rejected"] == [record.outcome for record in desk.of(InputDecided)]
    assert isinstance(await own.admit(prompt(key="k")), Accepted)


async def test_a_fact_is_told_after_its_commit_and_before_admit_returns(own: Runtime, desk: Desk, path: Path) -> None:
    """At the moment of telling another reader of the file finds the row, and the caller has no answer yet."""
    order: list[tuple[str, int]] = []
    desk.on_telling = lambda event: order.append((event.point.name, kept_rows(path)))
    await own.admit(prompt(key="k"))
    order.append(("admitted", kept_rows(path)))
    await own.admit(invalid())
    await own.admit(prompt(key="k"))

    assert [("input_accepted", 1), ("admitted", 1), ("input_rejected", 1), ("input_deduplicated", 1)] == order


async def test_a_hook_finds_the_row_in_the_store(play: Any, engine: hl.HookEngine, inputs: SqliteStore) -> None:
    """`input_accepted` is told of what is in the store already, by its id, queued or further."""
    found: list[Row | None] = []

    @engine.on(hl.InputAccepted)
    async def look(event: hl.InputAccepted) -> None:
        found.append(await inputs.find(QUEUE, event.input_id))

    async with play(DONE, inputs=inputs, queue=QUEUE) as session:
        await session.run("go")

    (row,) = found
    assert row is not None
    assert "go" == row.input.text


async def test_a_peers_input_is_told_of_twice_and_only_if_a_peer_gave_it(own: Runtime, desk: Desk) -> None:
    """`peer_received` follows `input_accepted` for a peer's input: no other's, and none that was there before."""
    of_a_peer = {"kind": InputKind.PEER_MESSAGE, "source": InputSource(type=SourceType.PEER, name="ada", id="p")}
    await own.admit(prompt("hi", key="k", taint="tainted", **of_a_peer))
    await own.admit(prompt("hi", key="k", **of_a_peer))
    await own.admit(prompt("hi", kind=InputKind.PEER_MESSAGE))
    await own.admit(prompt("hi", durability=None, **of_a_peer))

    expected = ["input_accepted", "peer_received", "input_deduplicated", "input_accepted", "input_rejected"]
    assert expected == desk.points()
    received = desk.told[1]
    assert isinstance(received, hl.PeerReceived)
    assert ("ada", "p", "tainted") == (received.peer_name, received.peer_id, received.taint)


# Who refuses first


async def test_a_key_comes_before_validity(own: Runtime) -> None:
    """An invalid input under a used key is the one that was admitted before; under a new key it is refused."""
    first = prompt(key="k")
    await own.admit(first)
    again = invalid(key="k")

    assert Deduplicated(again.id, first.id) == await own.admit(again)
    assert isinstance(await own.admit(invalid(key="other")), Rejected)


@pytest.mark.parametrize("state", CLOSED, ids=lambda state: state.value)
@pytest.mark.parametrize("given", [prompt("new"), prompt(key="k"), invalid()], ids=["new", "used key", "invalid"])
async def test_the_state_comes_before_everything(given: Input, state: RuntimeState, own: Runtime, desk: Desk) -> None:
    """A runtime that is not open says so of any input, with its state for the detail, and tells of it."""
    await own.admit(prompt(key="k"))
    await own.move(state)
    desk.told.clear()

    assert Rejected(given.id, RejectionReason.NOT_READY, state.value) == await own.admit(given)
    assert ["input_rejected"] == desk.points()


@pytest.mark.parametrize("state", CLOSED, ids=lambda state: state.value)
@pytest.mark.parametrize("given", [prompt("new"), prompt(key="k"), invalid()], ids=["new", "used key", "invalid"])
async def test_a_state_that_another_runtime_set_counts_as_well(
    given: Input, state: RuntimeState, own: Runtime, open_store: Opener
) -> None:
    """A runtime of the same name elsewhere closed the gate: it is closed here, and nothing comes before it."""
    await own.admit(prompt(key="k"))
    elsewhere = await opened(await open_store(), Desk())
    await elsewhere.move(state)

    assert Rejected(given.id, RejectionReason.NOT_READY, state.value) == await own.admit(given)


@pytest.mark.parametrize("state", CLOSED, ids=lambda state: state.value)
async def test_a_closed_gate_stays_closed_for_those_who_come_after(
    state: RuntimeState, own: Runtime, open_store: Opener
) -> None:
    """A runtime that opens where another was closed is closed."""
    await own.move(state)

    later = await opened(await open_store(), Desk())
    given = prompt()
    assert state is later.state
    assert Rejected(given.id, RejectionReason.NOT_READY, state.value) == await later.admit(given)


async def test_a_stopped_runtime_can_be_started_again(own: Runtime) -> None:
    """Stopped and then idle it takes inputs as before."""
    await own.move(RuntimeState.STOPPED)
    await own.move(RuntimeState.IDLE)

    assert isinstance(await own.admit(prompt()), Accepted)


async def test_a_rejection_binds_no_key(own: Runtime) -> None:
    """What was refused under a key leaves it free, whichever way it was refused."""
    await own.admit(invalid(key="k"))
    await own.move(RuntimeState.STOPPED)
    await own.admit(prompt(key="k"))
    await own.move(RuntimeState.IDLE)

    assert isinstance(await own.admit(prompt(key="k")), Accepted)


async def test_keys_of_two_runtimes_are_strangers(own: Runtime) -> None:
    """One key in two runtimes stands for two inputs."""
    await own.admit(prompt(key="k"))
    other = await opened(own.store, Desk(), "rt:session:other")  # type: ignore[arg-type]  # a SqliteStore here

    assert isinstance(await other.admit(prompt(key="k")), Accepted)


async def test_a_prompt_that_is_refused_raises(play: Any, seen: Any, inputs: SqliteStore) -> None:
    """Through `run` a refusal is an InputRefused in the words of the runtime, no run begins, and hooks are told."""
    async with play(DONE, inputs=inputs, queue=QUEUE) as session:
        await session.runtime.move(RuntimeState.RETIRED)
        with pytest.raises(InputRefused, match=r"^Runtime not ready: retired$"):
            await session.run("go")

    assert ["not_ready"] == [event.reason.value for event in seen.of(hl.InputRejected)]
    assert [] == seen.of(hl.BeforeRun)


# In which order, and how often


async def test_steered_inputs_go_first(own: Runtime, desk: Desk) -> None:
    """What is steered is worked on before what is queued, each in the order of its admission."""
    for text, handling in [("a", None), ("b", Handling.STEER), ("c", Handling.QUEUE), ("d", Handling.STEER)]:
        await own.admit(prompt(text, handling=handling))
    while await own.work_once():
        pass

    assert ["b", "d", "a", "c"] == desk.taken


async def test_work_until_works_off_what_was_there_before(own: Runtime, desk: Desk) -> None:
    """Inputs that were queued before the awaited one are worked on before it, and none behind it."""
    given = [prompt(text) for text in "abc"]
    for each in given:
        await own.admit(each)

    assert "did b" == (await own.work_until(given[1].id)).text
    assert ["a", "b"] == desk.taken


async def test_a_session_works_off_what_was_queued_before_its_prompt(play: Any, seen: Any) -> None:
    """`run` gives the result of its own prompt, and what was admitted earlier has been worked on by then."""
    async with play({"say": "first"}, {"say": "second"}) as session:
        await session.admit(prompt("earlier"))
        result = await session.run("now")

    assert "second" == result.text
    assert ["earlier", "now"] == [event.prompt for event in seen.of(hl.BeforeRun)]


async def test_a_run_says_by_which_input_it_came(play: Any, kept: Any) -> None:
    """The account of a run names the input that was admitted, and the one line of its end has the same id."""
    async with play(DONE) as session:
        await session.run("go")

    (decided,) = kept.of(InputDecided)
    assert [decided.input_id] == [record.input_id for record in kept.of(RunStarted)]
    assert [(decided.input_id, 1, "interaction_complete")] == [
        (record.input_id, record.line, record.what) for record in kept.of(InteractionPublished)
    ]


@pytest.mark.parametrize("place", ["one store", "two stores", "memory"])
async def test_a_duplicate_waits_for_the_first_and_has_its_result(place: str, open_store: Opener) -> None:
    """Whoever asks under a key at which another is at work waits, runs nothing, and has the result of the first."""
    if place == "memory":
        store = other = SqliteStore(MEMORY)
        await store.open()
    else:
        store = await open_store()
        other = store if place == "one store" else await open_store()
    held = Held()
    here, there = Desk(held), Desk()
    first, second = await opened(store, here), await opened(other, there)
    given, again = prompt("it", key="k"), prompt("again", key="k")
    await first.admit(given)
    working = asyncio.ensure_future(first.work_until(given.id))
    await held.begun.wait()

    assert Deduplicated(again.id, given.id) == await second.admit(again)
    waiting = asyncio.ensure_future(second.work_until(given.id))
    await until(lambda: second._news._waiting)
    assert not waiting.done()
    held.released.set()
    _, hung = await asyncio.wait([working, waiting], timeout=10)
    for each in hung:
        each.cancel()
    await store.aclose()
    assert set() == hung
    assert ["did it", "did it"] == [(await each).text for each in (working, waiting)]
    assert [] == there.taken


async def test_a_key_outlives_the_session_and_its_process(play: Any, seen: Any, open_store: Opener) -> None:
    """Under a used key another session on the same file gives the kept result, and neither model nor hook is asked."""
    first = await open_store()
    async with play({"say": "once"}, inputs=first, queue=QUEUE) as session:
        await session.run("go", key="k")
    await first.aclose()
    seen.events.clear()

    async with play({"say": "twice"}, inputs=await open_store(), queue=QUEUE) as session:
        result = await session.run("something else", key="k")

    assert (Ending.COMPLETED, "once") == (result.ending, result.text)
    assert [] == seen.of(hl.BeforeRun)


async def test_a_failure_under_a_key_is_kept_as_well(play: Any, open_store: Opener) -> None:
    """A run that failed is not tried again under its key: its ending and its reason come back."""
    failing = {"fail": {"category": "rate_limit", "details": "slow down"}}
    for steps in ([failing], [DONE]):
        async with play(*steps, inputs=await open_store(), queue=QUEUE) as session:
            result = await session.run("go", key="k")
        assert (Ending.FAILED, "slow down") == (result.ending, result.reason)


async def test_two_sessions_on_one_queue_work_on_each_input_once(
    play: Any, kept: Any, open_store: Opener, path: Path
) -> None:
    """What is given to either is worked on by one of them, and everyone has the result of its own input."""
    one = play(DONE, inputs=await open_store(), queue=QUEUE, model=Echo())
    two = play(DONE, inputs=await open_store(), queue=QUEUE, model=Echo())
    async with one, two:
        queued = [prompt(f"{number}") for number in range(6)]
        for number, each in enumerate(queued):
            await (one, two)[number % 2].admit(each)
        results = await asyncio.gather(one.run("mine"), two.run("yours"))
        await one.runtime.worked_off()

    assert ["mine", "yours"] == [result.text for result in results]
    started = sorted(record.prompt for record in kept.of(RunStarted))
    assert sorted(["mine", "yours", *(each.text for each in queued)]) == started
    assert kept_rows(path) == len(started)


class Echo:
    """A model that says what it was asked last."""

    name = provider = "echo"
    provider_known = False

    async def complete(self, request: ModelRequest) -> ModelReply:
        return ModelReply(text=request.messages[-1].text)

    async def summarise(self, messages: Any) -> str:
        return ""

    def for_child(self, kind: str) -> "Echo":
        return self


async def test_serving_works_on_whatever_comes(own: Runtime, desk: Desk) -> None:
    """`serve` takes what is there and what comes later, until it is cancelled."""
    await own.admit(prompt("a"))
    serving = asyncio.ensure_future(own.serve())
    await own.worked_off()
    assert ["a"] == desk.taken

    await own.admit(prompt("b"))
    await own.worked_off()
    assert ["a", "b"] == desk.taken
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving


# How work ends


async def test_a_result_is_kept_published_and_told_once(own: Runtime, desk: Desk) -> None:
    """The event log has the end of the work as its next line, and `interaction_completed` has the text of it."""
    given = prompt("it")
    await own.admit(given)
    await own.work_once()

    assert [{"type": "interaction_complete", "interaction_id": given.id, "result": "did it"}] == await log_of(
        own.store  # type: ignore[arg-type]  # a SqliteStore here
    )
    (event,) = [each for each in desk.told if isinstance(each, hl.InteractionCompleted)]
    assert (given.id, "did it") == (event.interaction_id, event.result)
    assert () == await own.store.unpublished(QUEUE)
    assert Phase.CONSUMED is await phase_of(own, given)


async def phase_of(runtime: Runtime, given: Input) -> Phase | None:
    row = await runtime.store.find(runtime.name, given.id)
    return None if row is None else row.phase


@pytest.mark.parametrize("ending", [Ending.FAILED, Ending.CANCELLED], ids=lambda ending: ending.value)
async def test_a_run_that_did_not_complete_is_published_and_not_told(ending: Ending, inputs: SqliteStore) -> None:
    """The event log says that the interaction failed, and how; no hook hears of its completion."""

    async def come_to_nothing(given: Input) -> RunResult:
        return RunResult(ending=ending, text="so far", reason="why")

    desk = Desk(come_to_nothing)
    own = await opened(inputs, desk)
    given = prompt()
    await own.admit(given)
    result = await own.work_until(given.id)

    assert (ending, "why") == (result.ending, result.reason)
    (line,) = await log_of(inputs)
    assert ("interaction_failed", ending.value, "why") == (line["type"], line["ending"], line["reason"])
    assert ["input_accepted"] == desk.points()
    assert ["interaction_failed"] == [record.what for record in desk.of(InteractionPublished)]
    assert result == await own.result_of(given.id)


@pytest.mark.parametrize("kind", [InputKind.OPERATION, InputKind.PEER_RESPONSE_PROGRESS], ids=lambda kind: kind.value)
async def test_what_takes_no_run_completes_with_nothing(kind: InputKind, play: Any, seen: Any) -> None:
    """An input of which the model hears later, if at all, is consumed without a run; its result is empty."""
    async with play(DONE) as session:
        await session.admit(prompt("more to come", kind=kind, durability=Durability.EPHEMERAL))
        assert 1 == await session.work_off()

    assert [""] == [event.result for event in seen.of(hl.InteractionCompleted)]
    assert [] == seen.of(hl.BeforeRun)


async def test_a_run_that_is_cancelled_is_abandoned_for_good(
    play: Any, engine: hl.HookEngine, seen: Any, inputs: SqliteStore
) -> None:
    """An input whose run was cut off is never worked on again, its key says so, and it is published as failed."""
    asked = asyncio.Event()

    @engine.on(hl.BeforeModelCall)
    async def note(event: hl.BeforeModelCall) -> None:
        asked.set()

    async with play({"say": "late", "wait": 60}, DONE, inputs=inputs, queue=QUEUE) as session:
        run = asyncio.ensure_future(session.run("go", key="k"))
        await asked.wait()
        run.cancel()
        await asyncio.wait([run])
        assert run.cancelled()
        assert 0 == await session.work_off()
        result = await session.run("go", key="k")

    assert (Ending.CANCELLED, "interrupted") == (result.ending, result.reason)
    assert 1 == len(seen.of(hl.BeforeRun))
    assert [] == seen.of(hl.InteractionCompleted)
    (line,) = await log_of(inputs)
    assert ("interaction_failed", "cancelled", "interrupted") == (line["type"], line["ending"], line["reason"])


async def test_another_who_has_taken_over_counts(own: Runtime, desk: Desk, path: Path) -> None:
    """A result for an input that is another's by now is not kept and not told, and the account says so."""

    async def lose_it(given: Input) -> RunResult:
        connection = sqlite3.connect(path)
        with connection:
            connection.execute("UPDATE hookline_inputs SET owner = owner + 1000")
        connection.close()
        return await do_it(given)

    desk.work = lose_it
    given = prompt()
    await own.admit(given)
    await own.work_once()

    assert [] == await log_of(own.store)  # type: ignore[arg-type]  # a SqliteStore here
    assert ["input_accepted"] == desk.points()
    (noted,) = desk.of(Noted)
    assert f"the input {given.id} was taken over by another process, whose result counts" == noted.text


# What a process that is gone left behind


async def test_the_next_session_works_on_what_was_queued(play: Any, seen: Any, open_store: Opener) -> None:
    """Inputs that were admitted and not worked on are worked on by the next session on the same queue, in order."""
    first = await open_store()
    async with play(DONE, inputs=first, queue=QUEUE) as session:
        for text in "ab":
            await session.admit(prompt(text))
    await first.aclose()
    assert [] == seen.of(hl.BeforeRun)

    async with play(DONE, DONE, inputs=await open_store(), queue=QUEUE) as session:
        assert 2 == await session.work_off()

    assert ["a", "b"] == [event.prompt for event in seen.of(hl.BeforeRun)]


async def test_what_was_at_work_when_its_process_went_is_worked_on_again(open_store: Opener) -> None:
    """An input that an owner took and never ended is taken over by the runtime that opens next."""
    gone = await open_store()
    given = prompt("it")
    await gone.admit(QUEUE, given, Handling.QUEUE)
    await gone.claim(QUEUE)
    await gone.aclose()

    desk = Desk()
    own = await opened(await open_store(), desk)
    assert "did it" == (await own.work_until(given.id)).text
    row = await own.store.find(QUEUE, given.id)
    assert row is not None
    assert 2 == row.attempt


async def test_a_result_that_was_kept_and_not_published_is_published_at_the_start(
    play: Any, seen: Any, open_store: Opener
) -> None:
    """Killed between the two, a process leaves a result: the next publishes and tells it, once, and runs nothing."""
    gone = await open_store()
    given = prompt("it", key="k")
    await gone.admit(QUEUE, given, Handling.QUEUE)
    await gone.claim(QUEUE)
    said = {"type": "interaction_complete", "interaction_id": given.id, "result": "what it said"}
    assert await gone.finish(QUEUE, given.id, Phase.CONSUMED, msgspec.json.encode(said))
    await gone.aclose()

    for _ in range(2):
        store = await open_store()
        async with play(DONE, inputs=store, queue=QUEUE) as session:
            assert "what it said" == (await session.run("again", key="k")).text
        assert [said] == await log_of(store)

    assert [(given.id, "what it said")] == [
        (event.interaction_id, event.result) for event in seen.of(hl.InteractionCompleted)
    ]
    assert [] == seen.of(hl.BeforeRun)


async def test_an_input_that_ends_its_process_is_given_up(open_store: Opener) -> None:
    """After as many attempts as there are, an input is abandoned without another, and everyone is told why."""
    given = prompt("deadly")
    for attempt in range(MAX_ATTEMPTS):
        gone = await open_store()
        if attempt == 0:
            await gone.admit(QUEUE, given, Handling.QUEUE)
        await gone.recover(QUEUE)
        assert await gone.claim(QUEUE) is not None
        await gone.aclose()

    desk = Desk()
    own = await opened(await open_store(), desk)
    result = await own.work_until(given.id)
    assert (Ending.FAILED, "max_attempts_exhausted") == (result.ending, result.reason)
    assert [] == desk.taken
    assert Phase.ABANDONED is await phase_of(own, given)
    (line,) = await log_of(own.store)  # type: ignore[arg-type]  # a SqliteStore here
    assert ("interaction_failed", "max_attempts_exhausted") == (line["type"], line["reason"])


async def test_an_input_whose_work_raises_is_for_the_next_up_to_the_last_attempt(inputs: SqliteStore) -> None:
    """What breaks the runtime itself is tried again by whoever comes next, as often as any other, and then given up."""

    async def break_down(given: Input) -> RunResult:
        raise hl.StateError("the disk is full")

    desk = Desk(break_down)
    own = await opened(inputs, desk)
    given = prompt("it")
    await own.admit(given)
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(hl.StateError, match="the disk is full"):
            await own.work_once()
        assert Phase.QUEUED is await phase_of(own, given)
    await own.work_once()

    assert ["it"] * MAX_ATTEMPTS == desk.taken
    assert Phase.ABANDONED is await phase_of(own, given)


# When the store cannot be used


async def test_a_store_that_cannot_be_used_decides_nothing_and_tells_nothing(path: Path, desk: Desk) -> None:
    """StateError out of `admit`: no event, no line in the account, and the key is free once the store is back."""
    async with SqliteStore(path, busy_timeout=0.01) as store:
        own = await opened(store, desk)
        with locked(path), pytest.raises(hl.StateError, match="another process has been writing"):
            await own.admit(prompt(key="k"))
        assert ([], []) == (desk.told, desk.records)

        assert isinstance(await own.admit(prompt(key="k")), Accepted)


class locked:  # noqa: N801  # reads as the function that it would be
    """Another writer has the file to itself."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, *_: object) -> None:
        self._connection.execute("ROLLBACK")
        self._connection.close()


async def test_cancelling_an_admission_undoes_no_commit(own: Runtime, desk: Desk) -> None:
    """Whoever stops waiting is let go once the decision is made: what was committed is told all the same."""
    given = prompt("it")
    with locked(Path(str(own.store._where))):  # type: ignore[attr-defined]  # a SqliteStore here
        admitting: asyncio.Task[Admission] = asyncio.ensure_future(own.admit(given))
        await idle()
        admitting.cancel()
        await idle()
        assert not admitting.done()
        assert [] == desk.told
    with pytest.raises(asyncio.CancelledError):
        await admitting

    assert ["input_accepted"] == desk.points()
    assert ["accepted"] == [record.outcome for record in desk.of(InputDecided)]
    assert Phase.QUEUED is await phase_of(own, given)


async def test_an_input_that_vanished_from_the_store_is_an_error(own: Runtime) -> None:
    """Waiting for what is not there any more raises, rather than for ever."""
    with pytest.raises(hl.StateError, match="is not in the store any more"):
        await own.work_until(str(uuid.uuid4()))

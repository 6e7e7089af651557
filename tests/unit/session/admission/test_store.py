"""What every store of inputs promises, whatever it keeps them in."""

import asyncio
import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from hookline._core.errors import UsageError
from hookline._core.inputs import Durability, Handling, Input, InputKind, InputSource, RuntimeState, SourceType
from hookline.session.admission.places import store_for
from hookline.session.admission.postgres import PostgresStore
from hookline.session.admission.sqlite import SqliteStore
from hookline.session.admission.store import Phase, Published, RequestPhase, Row, Store

# Text that some database or some encoder would not take.
STRANGE = ["", "\0", "a\0b", "\ud800", "\ud83d\ude00", "😀", "\0sha256:", "é" * 5000, "' OR 1=1 --", "\x7f\x80\u2028"]


def prompt(text: str = "", **fields: Any) -> Input:
    return Input(**{"id": str(uuid.uuid4()), "kind": InputKind.PROMPT, "text": text, **fields})


async def admitted(store: Store, runtime: str, *texts: str, handling: Handling = Handling.QUEUE) -> list[Input]:
    inputs = [prompt(text) for text in texts]
    for each in inputs:
        assert await store.admit(runtime, each, handling) is None
    return inputs


async def finished(store: Store, runtime: str, completion: bytes | None = b"{}") -> Input:
    """An input that was admitted and worked on."""
    (one,) = await admitted(store, runtime, "work")
    await store.claim(runtime, one.id)
    assert await store.finish(runtime, one.id, Phase.CONSUMED, completion)
    return one


async def test_a_state_is_kept(store: Store, runtime: str) -> None:
    """None until one was kept, then the last."""
    assert await store.state(runtime) is None
    for state in RuntimeState:
        await store.set_state(runtime, state)
        assert state is await store.state(runtime)
    assert await store.state(runtime + "2") is None


async def test_an_admission_makes_no_state(store: Store, runtime: str) -> None:
    """An input in a runtime that never had a state leaves it without one."""
    await admitted(store, runtime, "a")
    assert await store.state(runtime) is None


async def test_an_admitted_input_is_kept_as_it_was(store: Store, runtime: str) -> None:
    """What was admitted is found, every field of it."""
    given = Input(
        id=str(uuid.uuid4()),
        kind=InputKind.PEER_RESPONSE_PROGRESS,
        text="half way",
        source=InputSource(type=SourceType.PEER, name="ada", id="p1"),
        durability=Durability.EPHEMERAL,
        key="k",
        handling=Handling.STEER,
        request_id="r",
        status="progress",
        taint="clean",
        has_context=True,
        data={"a": [1, 2.5, None, True, {"b": "c"}], "big": 2**70},
    )
    assert await store.admit(runtime, given, Handling.QUEUE) is None

    assert Row(input=given, handling=Handling.QUEUE, phase=Phase.QUEUED) == await store.find(runtime, given.id)
    assert await store.find(runtime + "2", given.id) is None
    assert await store.find(runtime, str(uuid.uuid4())) is None


@pytest.mark.parametrize("text", STRANGE, ids=lambda text: ascii(text)[:20])
async def test_any_text_is_kept(store: Store, runtime: str, text: str) -> None:
    """NUL, half of a pair and any length: in a text, in data, in a key, in an id, it comes back as it was."""
    runtime += text
    given = Input(
        id=text,
        kind=InputKind.PEER_REQUEST,
        text=text,
        key=text,
        request_id=text,
        source=InputSource(type=SourceType.PEER, name=text, id=text),
        data={text: text},
    )
    if len(text) > 1000:
        given = prompt(text, key=text)
    assert await store.admit(runtime, given, Handling.QUEUE) is None

    assert given.id == await store.owner_of(runtime, text)
    row = await store.find(runtime, given.id)
    assert row is not None
    assert given == row.input
    if given.request_id is not None:
        assert (RequestPhase.RECEIVED, text) == await store.request(runtime, text)


async def test_keys_are_exact(store: Store, runtime: str) -> None:
    """Two keys that differ are two keys, however much they look alike."""
    alike = ["k", "K", "k ", "k\0", "\u00e9", "e\u0301", "\ud83d\ude00", "😀", "x" * 600, "x" * 601]
    for key in alike:
        assert await store.admit(runtime, prompt(key=key), Handling.QUEUE) is None
    owners = {await store.owner_of(runtime, key) for key in alike}
    assert len(alike) == len(owners)
    assert await store.owner_of(runtime, "nobody's") is None


def endless() -> list[Any]:
    data: list[Any] = []
    data.append(data)
    return data


@pytest.mark.parametrize("data", [object(), {(1, 2): 3}, endless()], ids=["an object", "a tuple as key", "itself"])
async def test_data_that_is_no_json_is_refused(store: Store, runtime: str, data: Any) -> None:
    """Wrong use is an error of its own, and nothing is kept."""
    given = prompt(data=data, key="k")
    with pytest.raises(UsageError, match=given.id):
        await store.admit(runtime, given, Handling.QUEUE)
    assert await store.owner_of(runtime, "k") is None


@pytest.mark.parametrize("state", RuntimeState, ids=lambda state: state.value)
async def test_only_an_open_runtime_takes_inputs(store: Store, runtime: str, state: RuntimeState) -> None:
    """A state that is not open is the answer, before the key is looked at, and nothing is written."""
    first, second = prompt(key="k"), prompt(key="k")
    assert await store.admit(runtime, first, Handling.QUEUE) is None
    await store.set_state(runtime, state)

    assert (first.id if state.is_open else state) == await store.admit(runtime, second, Handling.QUEUE)
    new = prompt(key="new")
    assert (None if state.is_open else state) == await store.admit(runtime, new, Handling.QUEUE)
    assert (new.id if state.is_open else None) == await store.owner_of(runtime, "new")


async def test_a_runtime_that_was_closed_takes_nothing_more(opened: Any, runtime: str) -> None:
    """Whatever is admitted was there when the change of state had returned."""
    stores = [await opened(), await opened()]
    await admitted(stores[0], runtime, "before")
    inputs = [prompt() for _ in range(60)]
    admissions = [asyncio.ensure_future(stores[0].admit(runtime, each, Handling.QUEUE)) for each in inputs]
    await asyncio.wait(admissions, return_when=asyncio.FIRST_COMPLETED)
    await stores[1].set_state(runtime, RuntimeState.RETIRED)

    there = [await stores[1].find(runtime, each.id) is not None for each in inputs]
    assert [None if each else RuntimeState.RETIRED for each in there] == await asyncio.gather(*admissions)


async def test_a_key_belongs_to_the_first_input(store: Store, runtime: str) -> None:
    """Whatever else it says, a second input with the key is not admitted; in another runtime it is."""
    first = prompt("one", key="k")
    second = prompt("two", key="k", kind=InputKind.EXTERNAL_EVENT)
    assert await store.admit(runtime, first, Handling.QUEUE) is None

    assert first.id == await store.admit(runtime, second, Handling.STEER)
    assert first.id == await store.owner_of(runtime, "k")
    assert await store.find(runtime, second.id) is None
    assert await store.admit(runtime + "2", second, Handling.QUEUE) is None


async def test_a_key_outlives_the_work(store: Store, runtime: str) -> None:
    """A finished input keeps its key for good."""
    for phase in (Phase.CONSUMED, Phase.ABANDONED):
        given = prompt(key=phase.value)
        await store.admit(runtime, given, Handling.QUEUE)
        await store.claim(runtime)
        await store.finish(runtime, given.id, phase, None)
        assert given.id == await store.admit(runtime, prompt(key=phase.value), Handling.QUEUE)


async def test_inputs_without_a_key_are_all_new(store: Store, runtime: str) -> None:
    """No key is not a key."""
    first, second = await admitted(store, runtime, "same", "same")
    assert {first.id, second.id} == {
        row.input.id for row in [await store.claim(runtime), await store.claim(runtime)] if row
    }


async def test_an_id_is_admitted_once(store: Store, runtime: str) -> None:
    """An input that was admitted before is answered with its id, with or without a key, and stays as it was."""
    given = prompt("first")
    assert await store.admit(runtime, given, Handling.QUEUE) is None
    for again in (given, prompt("second", id=given.id), prompt("third", id=given.id, key="k")):
        assert given.id == await store.admit(runtime, again, Handling.QUEUE)
    row = await store.find(runtime, given.id)
    assert row is not None
    assert given == row.input


async def test_one_of_many_gets_a_key(store: Store, runtime: str) -> None:
    """Of eight admissions of one key at once one is new, and all others are told of it."""
    inputs = [prompt(str(number), key="k") for number in range(8)]
    answers = await asyncio.gather(*(store.admit(runtime, each, Handling.QUEUE) for each in inputs))

    assert answers.count(None) == 1
    owner = inputs[answers.index(None)].id
    assert [owner] * 7 == [answer for answer in answers if answer is not None]


async def test_steered_inputs_come_first(store: Store, runtime: str) -> None:
    """Claims take the steered ones, then the others, both in the order of their admission."""
    await admitted(store, runtime, "1", "2")
    await admitted(store, runtime, "3", "4", handling=Handling.STEER)
    await admitted(store, runtime, "5")
    await admitted(store, runtime + "2", "elsewhere")

    rows = [await store.claim(runtime) for _ in range(6)]
    assert ["3", "4", "1", "2", "5", None] == [row and row.input.text for row in rows]
    assert {(Phase.STAGED, 1)} == {(row.phase, row.attempt) for row in rows if row}


async def test_a_named_input_is_claimed(store: Store, runtime: str) -> None:
    """Out of turn, but only while it is queued, and only in its runtime."""
    _, second = await admitted(store, runtime, "1", "2")

    assert await store.claim(runtime + "2", second.id) is None
    row = await store.claim(runtime, second.id)
    assert Row(input=second, handling=Handling.QUEUE, phase=Phase.STAGED, attempt=1) == row
    assert row == await store.find(runtime, second.id)
    assert await store.claim(runtime, second.id) is None
    assert await store.claim(runtime, str(uuid.uuid4())) is None


async def test_an_unclaimed_input_is_as_before(store: Store, runtime: str) -> None:
    """It is the next again, and its attempt was none. What is not claimed cannot be put back."""
    first, _ = await admitted(store, runtime, "1", "2")
    assert not await store.unclaim(runtime, first.id)
    await store.claim(runtime)

    assert await store.unclaim(runtime, first.id)
    assert not await store.unclaim(runtime, first.id)
    row = await store.claim(runtime)
    assert row is not None
    assert (first, 1) == (row.input, row.attempt)


async def test_two_at_once_claim_two(store: Store, runtime: str) -> None:
    """No two claims get the same input, and none goes without while there is one."""
    inputs = await admitted(store, runtime, *map(str, range(8)))
    rows = await asyncio.gather(*(store.claim(runtime) for _ in range(8)))

    assert sorted(each.id for each in inputs) == sorted(row.input.id for row in rows if row)


@pytest.mark.parametrize("phase", [Phase.CONSUMED, Phase.ABANDONED], ids=lambda phase: phase.value)
@pytest.mark.parametrize("completion", [None, b'{"ok":true}', b"\0\xff"], ids=["none", "json", "bytes"])
async def test_work_ends_once(store: Store, runtime: str, phase: Phase, completion: bytes | None) -> None:
    """Only what is claimed can be finished, and only once; its completion then waits to be published."""
    (given,) = await admitted(store, runtime, "1")
    assert not await store.finish(runtime, given.id, phase, completion)
    assert await store.unpublished(runtime) == ()
    await store.claim(runtime)

    assert await store.finish(runtime, given.id, phase, completion)
    assert not await store.finish(runtime, given.id, phase, completion)
    assert not await store.unclaim(runtime, given.id)
    assert await store.claim(runtime) is None
    row = await store.find(runtime, given.id)
    assert row is not None
    assert phase is row.phase
    assert (() if completion is None else (given.id,)) == await store.unpublished(runtime)


@pytest.mark.parametrize("phase", [Phase.QUEUED, Phase.STAGED], ids=lambda phase: phase.value)
async def test_work_ends_in_a_final_phase(store: Store, runtime: str, phase: Phase) -> None:
    """Anything else is wrong use, and the input stays claimed."""
    (given,) = await admitted(store, runtime, "1")
    await store.claim(runtime)
    with pytest.raises(UsageError, match=phase.value):
        await store.finish(runtime, given.id, phase, None)
    assert await store.finish(runtime, given.id, Phase.CONSUMED, None)


async def test_a_completion_is_published_once(store: Store, runtime: str) -> None:
    """The event log has each completion once, and publishing again answers nothing."""
    given = await finished(store, runtime, b'{"n":1}')

    assert Published(1, b'{"n":1}') == await store.publish(runtime, given.id)
    assert await store.publish(runtime, given.id) is None
    assert await store.unpublished(runtime) == ()
    assert (Published(1, b'{"n":1}'),) == await store.events(runtime)


async def test_what_has_no_completion_is_not_published(store: Store, runtime: str) -> None:
    """Neither an input that is not over, nor one that ended without, nor one that nobody knows."""
    silent = await finished(store, runtime, None)
    (queued,) = await admitted(store, runtime, "1")
    for input_id in (silent.id, queued.id, str(uuid.uuid4())):
        assert await store.publish(runtime, input_id) is None
    assert await store.events(runtime) == ()


async def test_completions_wait_in_the_order_of_their_end(store: Store, runtime: str) -> None:
    """Not in that of their admission."""
    inputs = await admitted(store, runtime, "1", "2", "3")
    for _ in inputs:
        await store.claim(runtime)
    for each in reversed(inputs):
        await store.finish(runtime, each.id, Phase.CONSUMED, each.text.encode())

    assert tuple(each.id for each in reversed(inputs)) == await store.unpublished(runtime)
    await store.publish(runtime, inputs[1].id)
    assert (inputs[2].id, inputs[0].id) == await store.unpublished(runtime)


async def test_the_event_log_counts_by_runtime(store: Store, runtime: str) -> None:
    """1, 2, 3 in each runtime, whatever happens in others; it is read from any line on, as many as are asked for."""
    for number in range(1, 6):
        for where in (runtime, runtime + "2"):
            given = await finished(store, where, str(number).encode())
            assert Published(number, str(number).encode()) == await store.publish(where, given.id)

    assert [1, 2, 3, 4, 5] == [line.seq for line in await store.events(runtime)]
    assert [3, 4] == [line.seq for line in await store.events(runtime, after=2, limit=2)]
    assert await store.events(runtime, after=5) == ()


async def test_a_recovery_leaves_what_is_at_work(store: Store, runtime: str) -> None:
    """An owner that lives keeps its work, and can end it afterwards."""
    (given,) = await admitted(store, runtime, "1")
    await store.claim(runtime)

    assert await store.recover(runtime) == 0
    assert await store.claim(runtime) is None
    assert await store.finish(runtime, given.id, Phase.CONSUMED, None)


async def test_a_request_of_ours_is_noted_once(store: Store, runtime: str) -> None:
    """Until it is taken back."""
    assert await store.request(runtime, "r") is None
    assert await store.note_request(runtime, "r", "p1")
    assert not await store.note_request(runtime, "r", "p2")
    assert (RequestPhase.SENT, "p1") == await store.request(runtime, "r")
    assert not await store.reply(runtime, "r")

    await store.drop_request(runtime, "r")
    assert await store.request(runtime, "r") is None
    assert await store.note_request(runtime, "r", "p2")


async def test_a_request_of_theirs_is_replied_once(store: Store, runtime: str) -> None:
    """An admitted request is received; a reply is marked once; it cannot be taken back as if it were ours."""
    peer = InputSource(type=SourceType.PEER, name="ada", id="p1")
    given = prompt(kind=InputKind.PEER_REQUEST, source=peer, request_id="r")
    assert await store.admit(runtime, given, Handling.QUEUE) is None

    await store.drop_request(runtime, "r")
    assert (RequestPhase.RECEIVED, "p1") == await store.request(runtime, "r")
    assert not await store.note_request(runtime, "r", "p1")
    assert await store.reply(runtime, "r")
    assert not await store.reply(runtime, "r")
    assert (RequestPhase.REPLIED, "p1") == await store.request(runtime, "r")


async def test_only_an_admitted_request_is_noted(store: Store, runtime: str) -> None:
    """Neither a duplicate nor what a closed runtime refuses, nor another kind of input that names a request."""
    await store.admit(runtime, prompt(key="k"), Handling.QUEUE)
    await store.admit(runtime, prompt(key="k", kind=InputKind.PEER_REQUEST, request_id="1"), Handling.QUEUE)
    await store.admit(runtime, prompt(kind=InputKind.PEER_MESSAGE, request_id="2"), Handling.QUEUE)
    await store.set_state(runtime, RuntimeState.STOPPED)
    await store.admit(runtime, prompt(kind=InputKind.PEER_REQUEST, request_id="3"), Handling.QUEUE)

    assert [None] * 3 == [await store.request(runtime, request) for request in "123"]


async def test_a_request_id_of_ours_is_not_taken_over(store: Store, runtime: str) -> None:
    """A peer that uses the id of a request that we sent changes nothing about that."""
    await store.note_request(runtime, "r", "p1")
    theirs = prompt(kind=InputKind.PEER_REQUEST, request_id="r", source=InputSource(type=SourceType.PEER, id="p2"))
    assert await store.admit(runtime, theirs, Handling.QUEUE) is None
    assert (RequestPhase.SENT, "p1") == await store.request(runtime, "r")


async def test_a_cancelled_claim_goes_back(place: str | Path | None, runtime: str) -> None:
    """An input that was claimed for a caller who does not wait any more can be claimed by the next."""
    store = store_for(place)
    await store.open()
    inputs = await admitted(store, runtime, *map(str, range(5)))
    claims = [asyncio.ensure_future(store.claim(runtime)) for _ in inputs]
    await asyncio.sleep(0)  # they have begun
    for claim in claims:
        claim.cancel()
    await asyncio.wait(claims)

    while isinstance(store, SqliteStore | PostgresStore) and store._returning:
        await asyncio.wait(store._returning)
    rows = [await store.claim(runtime) for _ in inputs]
    assert [(each, 1) for each in inputs] == [(row.input, row.attempt) for row in rows if row]
    await store.aclose()


async def test_a_cancelled_admission_is_whole(store: Store, runtime: str) -> None:
    """Nobody waits for it, and it is there, or it is not; the store works on."""
    inputs = [prompt(key=str(number), kind=InputKind.PEER_REQUEST, request_id=str(number)) for number in range(20)]
    tasks = [asyncio.ensure_future(store.admit(runtime, each, Handling.QUEUE)) for each in inputs]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)

    await admitted(store, runtime, "after")
    for each in inputs:
        there = await store.find(runtime, each.id)
        assert (there is None) == (await store.owner_of(runtime, each.key or "") is None)
        assert (there is None) == (await store.request(runtime, each.request_id or "") is None)


async def test_a_store_that_is_not_open_says_so(place: str | Path | None, runtime: str) -> None:
    """Before it was opened and after it was closed; closing twice does nothing, opening twice is wrong use."""
    store = store_for(place)
    await store.aclose()
    with pytest.raises(UsageError, match="not open"):
        await store.state(runtime)
    await store.open()
    with pytest.raises(UsageError, match="open already"):
        await store.open()
    assert await store.state(runtime) is None
    await store.aclose()
    await store.aclose()
    with pytest.raises(UsageError, match="not open"):
        await store.admit(runtime, prompt(), Handling.QUEUE)
    with pytest.raises(UsageError, match="not open"):
        await store.claim(runtime)


async def test_what_was_kept_is_there_for_the_next(opened: Any, runtime: str) -> None:
    """Everything that a store was told outlives it; what it was at work on is queued again, once."""
    first = await opened()
    done = await finished(first, runtime, b"done")
    staged, queued = await admitted(first, runtime, "staged", "queued")
    await first.claim(runtime)
    await first.note_request(runtime, "r", "p1")
    await first.set_state(runtime, RuntimeState.IDLE)
    await first.aclose()

    second = await opened()
    assert await second.recover(runtime) == 1
    assert await second.recover(runtime) == 0
    assert RuntimeState.IDLE is await second.state(runtime)
    assert (done.id,) == await second.unpublished(runtime)
    assert (RequestPhase.SENT, "p1") == await second.request(runtime, "r")
    rows = [await second.claim(runtime) for _ in range(3)]
    assert [(staged, 2), (queued, 1), None] == [row and (row.input, row.attempt) for row in rows]


async def test_another_owner_does_not_end_my_work(opened: Any, runtime: str) -> None:
    """Only who claimed an input can finish it or put it back, and nobody takes it from who lives."""
    mine, theirs = await opened(), await opened()
    (given,) = await admitted(mine, runtime, "1")
    await mine.claim(runtime)

    assert await theirs.recover(runtime) == 0
    assert not await theirs.finish(runtime, given.id, Phase.CONSUMED, b"theirs")
    assert not await theirs.unclaim(runtime, given.id)
    assert await theirs.claim(runtime) is None
    assert await mine.finish(runtime, given.id, Phase.CONSUMED, b"mine")
    assert Published(1, b"mine") == await theirs.publish(runtime, given.id)


async def test_two_stores_claim_each_input_once(opened: Any, runtime: str) -> None:
    """200 inputs, two stores, four claimers in each: every input is claimed, and by one."""
    stores = [await opened(), await opened()]
    inputs = [prompt(str(number)) for number in range(200)]
    await asyncio.gather(*(stores[n % 2].admit(runtime, each, Handling.QUEUE) for n, each in enumerate(inputs)))
    claimed: list[str] = []

    async def work(store: Store) -> None:
        while (row := await store.claim(runtime)) is not None:
            claimed.append(row.input.id)

    await asyncio.gather(*(work(store) for store in stores for _ in range(4)))
    assert sorted(each.id for each in inputs) == sorted(claimed)


async def test_two_stores_publish_without_a_gap(opened: Any, runtime: str) -> None:
    """Lines are numbered 1 to n, each completion has one, and one publisher of each is told so."""
    stores = [await opened(), await opened()]
    inputs = [await finished(stores[0], runtime, json.dumps(number).encode()) for number in range(40)]
    told = await asyncio.gather(*(store.publish(runtime, each.id) for each in inputs for store in stores))

    lines = await stores[0].events(runtime)
    assert list(range(1, 41)) == [line.seq for line in lines]
    assert list(range(40)) == sorted(json.loads(line.payload) for line in lines)
    assert list(lines) == sorted((line for line in told if line), key=lambda line: line.seq)


async def test_one_of_two_stores_gets_a_key(opened: Any, runtime: str) -> None:
    """Of eight admissions of one key at once through two stores one is new, and all others are told of it."""
    stores = [await opened(), await opened()]
    inputs = [prompt(str(number), key="k") for number in range(8)]
    answers = await asyncio.gather(
        *(stores[n % 2].admit(runtime, each, Handling.QUEUE) for n, each in enumerate(inputs))
    )

    assert answers.count(None) == 1
    assert {inputs[answers.index(None)].id} == set(answers) - {None}


async def test_two_stores_recover_an_input_once(opened: Any, runtime: str) -> None:
    """However many recover at once, each input that was left is queued again by one."""
    left = await opened()
    await admitted(left, runtime, *map(str, range(10)))
    for _ in range(10):
        await left.claim(runtime)
    await left.aclose()

    stores = [await opened(), await opened()]
    counts = await asyncio.gather(*(store.recover(runtime) for store in stores for _ in range(3)))
    assert sum(counts) == 10


async def test_a_kill_loses_nothing_and_repeats_nothing(
    opened: Any, told_by_killed: dict[str, list[str]], runtime: str
) -> None:
    """What a killed process was told stays true: admitted inputs are there, finished ones are not worked on again.

    What it had begun is worked on again, and every completion is published, once, without a gap.
    """
    store = await opened()
    for input_id in told_by_killed["admitted"]:
        assert input_id == await store.owner_of(runtime, input_id)
    unpublished = await store.unpublished(runtime)
    assert set() == set(unpublished) & set(told_by_killed["published"])
    for input_id in unpublished:
        assert await store.publish(runtime, input_id) is not None
    lines = await store.events(runtime)
    assert list(range(1, len(lines) + 1)) == [line.seq for line in lines]
    ended = [line.payload.decode() for line in lines]
    assert told_by_killed["finished"] == ended[: len(told_by_killed["finished"])]
    assert len(set(ended)) == len(ended) <= len(told_by_killed["finished"]) + 1

    left = set(told_by_killed["admitted"]) - set(ended)
    again: set[str] = set()
    while not left <= again:  # a server needs a moment to see that a process is gone
        await store.recover(runtime)
        while (row := await store.claim(runtime)) is not None:
            again.add(row.input.id)
    assert set() == again & set(ended)


def test_a_place_names_its_store() -> None:
    """A URL of PostgreSQL, a file, or nothing: the memory of this process."""
    assert isinstance(store_for("postgresql://u@h/d"), PostgresStore)
    assert isinstance(store_for("postgres://u@h/d"), PostgresStore)
    for where, shared in ((None, False), (":memory:", False), ("inputs.db", True), (Path("inputs.db"), True)):
        store = store_for(where)
        assert isinstance(store, SqliteStore)
        assert shared is store.shared
    assert store_for("postgres://u@h/d").shared

"""What only a store in PostgreSQL can meet: a server that is away, connections that break, schemas, other sessions."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from hookline._core.errors import StateError
from hookline._core.inputs import Handling, Input, InputKind, RuntimeState
from hookline.session.admission import statements as sql
from hookline.session.admission.postgres import PostgresStore
from hookline.session.admission.store import Indeterminate, Phase, Published

CLOSED = "postgresql://ada:sekret@127.0.0.1:1/test"  # a port that nothing listens on
FIELDS = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"
FAREWELL = b"E" + (len(FIELDS) + 4).to_bytes(4, "big") + FIELDS  # as a server says that it ends a connection
QUICK = 0.001  # seconds between two tries
COMMIT = b"COMMIT\0"  # as it is sent


def prompt(text: str = "", **fields: Any) -> Input:
    return Input(id=str(uuid.uuid4()), kind=InputKind.PROMPT, text=text, **fields)


def and_then(url: str, **settings: str) -> str:
    return url + ("&" if "?" in url else "?") + "&".join(f"{name}={value}" for name, value in settings.items())


@pytest.fixture
def name() -> str:
    """What the store under test calls itself to the server."""
    return f"hookline-{uuid.uuid4()}"


@pytest.fixture
async def server(postgres: str) -> AsyncIterator[Any]:
    """A connection of the test's own."""
    connection = await asyncpg.connect(postgres)
    yield connection
    await connection.close()


@pytest.fixture
async def store(postgres: str, name: str) -> AsyncIterator[PostgresStore]:
    async with PostgresStore(and_then(postgres, application_name=name), backoff=QUICK) as store:
        yield store


@pytest.fixture
async def schema(server: Any, postgres: str) -> AsyncIterator[str]:
    """The URL of an empty schema."""
    name = f"hookline_{uuid.uuid4().hex}"
    await server.execute(f"CREATE SCHEMA {name}")
    yield and_then(postgres, search_path=name)
    await server.execute(f"DROP SCHEMA {name} CASCADE")


class Line:
    """Lies between a store and its server.

    Once, at certain bytes, it is cut before or after it has passed them on, or it falls silent.
    """

    def __init__(self, host: str, port: int) -> None:
        self.before: bytes | None = None
        self.after: bytes | None = None
        self.mute: bytes | None = None
        self.was_cut = False
        self.stores: list[asyncio.StreamWriter] = []
        self._server = (host, port)
        self._open: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None

    async def lay(self) -> int:
        self._listener = await asyncio.start_server(self._join, "127.0.0.1", 0)
        return int(self._listener.sockets[0].getsockname()[1])

    async def remove(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for task in tuple(self._open):
            task.cancel()
        if self._open:
            await asyncio.wait(tuple(self._open))

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.stores.append(writer)
        answers, sends = await asyncio.open_connection(*self._server)
        back = asyncio.ensure_future(_pass_on(answers, writer))
        try:
            while sent := await reader.read(65536):
                if self._is_cut(self.before, sent):
                    break
                if self._is_cut(self.mute, sent):
                    await asyncio.Event().wait()
                sends.write(sent)
                if self._is_cut(self.after, sent):
                    back.cancel()
                    await asyncio.wait([back])
                    await answers.read(65536)  # the server has done it
                    break
        except asyncio.CancelledError:
            pass
        finally:
            self._open.discard(task)
            back.cancel()
            await asyncio.wait([back])
            for each in (writer, sends):
                each.transport.abort()

    def _is_cut(self, at: bytes | None, sent: bytes) -> bool:
        if at is None or at not in sent or self.was_cut:
            return False
        self.was_cut = True
        return True


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while got := await reader.read(65536):
        writer.write(got)
    writer.close()


@asynccontextmanager
async def behind_a_line(url: str, **terms: Any) -> AsyncIterator[tuple[Line, PostgresStore]]:
    parts = urlsplit(url)
    line = Line(parts.hostname or "127.0.0.1", parts.port or 5432)
    port = await line.lay()
    user = parts.netloc.rpartition("@")[0]
    url = parts._replace(netloc=f"{user}@127.0.0.1:{port}").geturl()
    async with PostgresStore(url, backoff=QUICK, **terms) as store:
        yield line, store
        await line.remove()


async def backends(server: Any, name: str) -> int:
    return int(await server.fetchval("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", name))


async def end_backends(server: Any, name: str) -> int:
    """End every connection of the store, as an administrator may. How many that were."""
    ended = await server.fetch(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", name
    )
    while await backends(server, name):
        pass
    return len(ended)


async def staged_by(server: Any, given: Input) -> int | None:
    owner: int | None = await server.fetchval(
        "SELECT owner FROM hookline_inputs WHERE input_id = $1", given.id.encode()
    )
    return owner


async def test_a_server_that_is_away_is_asked_so_many_times() -> None:
    """Each try that failed is told, with the pause before the next; then comes an error without the password."""
    told: list[str] = []
    store = PostgresStore(CLOSED, tries=4, backoff=QUICK, on_status=told.append)
    with pytest.raises(
        StateError, match=r"PostgreSQL at 127\.0\.0\.1:1/test: cannot connect: .*; tried 4 times"
    ) as caught:
        await store.open()

    assert ["try 2 of 4 in 0.001 s", "try 3 of 4 in 0.002 s", "try 4 of 4 in 0.004 s"] == [
        each.rpartition("; ")[2] for each in told
    ]
    assert not any("sekret" in text for text in (*told, str(caught.value), repr(caught.value.__cause__)))
    assert all(text.startswith("PostgreSQL at 127.0.0.1:1/test: cannot connect") for text in told)
    await store.aclose()


async def test_who_does_not_wait_for_a_server_is_let_go() -> None:
    """A cancelled start ends between two tries, however long the pause is."""
    told = asyncio.Event()
    store = PostgresStore(CLOSED, backoff=1000, on_status=lambda _: told.set())
    start = asyncio.ensure_future(store.open())
    await told.wait()
    start.cancel()
    await asyncio.wait([start])
    assert start.cancelled()
    assert not store._at_work


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("postgresql://h/d", "PostgreSQL at h:5432/d"),
        ("postgres://u:p@h:1,i:2/d?sslmode=require", "PostgreSQL at h:1,i:2/d"),
        ("postgresql://u:p@[::1]/d", "PostgreSQL at [::1]:5432/d"),
        ("postgresql://u:a@b@[::1]:7/d", "PostgreSQL at [::1]:7/d"),
        ("postgresql:///d?host=/run/postgresql&password=x", "PostgreSQL at /run/postgresql/d"),
        ("postgresql:///d", "PostgreSQL at this machine's socket/d"),
    ],
    ids=str,
)
def test_a_message_names_the_server_and_no_password(url: str, named: str) -> None:
    """Host and port of each server that may be meant, and the database."""
    assert named == PostgresStore(url)._place


async def test_what_will_not_pass_is_not_tried_again(postgres: str) -> None:
    """A database that does not exist is an error at once."""
    told: list[str] = []
    url = urlsplit(postgres)._replace(path="/no-such-database").geturl()
    with pytest.raises(StateError, match=r'cannot use PostgreSQL at .*: database "no-such-database" does not exist'):
        await PostgresStore(url, on_status=told.append).open()
    assert [] == told


async def test_connections_that_were_ended_are_made_again(
    store: PostgresStore, server: Any, name: str, runtime: str
) -> None:
    """What was not being committed is done all the same, once, by a new owner."""
    first, second = prompt(key="1"), prompt(key="2")
    await store.admit(runtime, first, Handling.QUEUE)
    owner = store._owner
    assert await end_backends(server, name) >= 2

    assert await store.admit(runtime, second, Handling.QUEUE) is None
    assert first.id == await store.owner_of(runtime, "1")
    row = await store.claim(runtime)
    assert row is not None
    assert (first, 1) == (row.input, row.attempt)
    assert owner < store._owner == await staged_by(server, first)


async def test_a_connection_whose_end_was_said_is_not_used(postgres: str, server: Any, runtime: str) -> None:
    """A server says that it ends a connection before it does: what is asked in between is asked on another one."""
    told: list[str] = []
    async with behind_a_line(postgres, on_status=told.append) as (line, store):
        await store.admit(runtime, prompt(), Handling.QUEUE)
        (idle,) = store._idle
        for each in line.stores:
            each.write(FAREWELL)
        await server.fetchval("SELECT 1")  # by the time that this has come back, so has that
        assert await store.admit(runtime, prompt(), Handling.QUEUE) is None
        assert len(told) == 1
        assert idle.is_closed()


async def test_work_goes_on_when_its_owner_has_lost_its_connection(
    store: PostgresStore, server: Any, name: str, runtime: str
) -> None:
    """What nobody has taken over by the end of the work is finished, and our own recovery does not take it."""
    inputs = [prompt(), prompt()]
    for each in inputs:
        await store.admit(runtime, each, Handling.QUEUE)
    await store.claim(runtime)
    await end_backends(server, name)

    assert await store.recover(runtime) == 0  # not yet a new owner
    await store.claim(runtime)
    assert await store.recover(runtime) == 0
    for number, each in enumerate(inputs):
        assert await store.finish(runtime, each.id, Phase.CONSUMED, b"done")
        assert Published(number + 1, b"done") == await store.publish(runtime, each.id)


async def test_work_that_was_taken_over_is_not_finished_twice(
    store: PostgresStore, postgres: str, server: Any, name: str, runtime: str
) -> None:
    """An owner whose connection is lost counts as gone: others may take over, and then its own finish is refused."""
    given = prompt()
    await store.admit(runtime, given, Handling.QUEUE)
    await store.claim(runtime)
    async with PostgresStore(postgres) as other:
        assert await other.recover(runtime) == 0
        await end_backends(server, name)
        assert await other.recover(runtime) == 1
        row = await other.claim(runtime)
        assert row is not None
        assert row.attempt == 2

        assert not await store.finish(runtime, given.id, Phase.CONSUMED, b"late")
        assert not await store.unclaim(runtime, given.id)
        assert await other.finish(runtime, given.id, Phase.CONSUMED, b"done")
        assert Published(1, b"done") == await other.publish(runtime, given.id)


async def test_a_claim_that_may_have_been_lost_is_found_again(postgres: str, server: Any, runtime: str) -> None:
    """A claim whose commit nobody knows of is queued again by the next recovery, also by our own."""
    given = prompt()
    async with behind_a_line(postgres) as (line, store):
        await store.admit(runtime, given, Handling.QUEUE)
        line.after = COMMIT
        with pytest.raises(Indeterminate):
            await store.claim(runtime)
        assert await staged_by(server, given) == store._owner

        assert await store.claim(runtime) is None  # as a new owner
        assert await store.recover(runtime) == 1
        row = await store.claim(runtime)
        assert row is not None
        assert given == row.input


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "not kept"])
async def test_an_answer_to_a_commit_that_was_lost_is_told(postgres: str, runtime: str, kept: bool) -> None:
    """It says that it is not known; it is not tried again; asking shows what became of it, and the same key is safe."""
    given, told = prompt(key="k"), list[str]()
    async with behind_a_line(postgres, on_status=told.append) as (line, store):
        line.before, line.after = (None, COMMIT) if kept else (COMMIT, None)
        with pytest.raises(Indeterminate, match=r"not known whether PostgreSQL at 127\.0\.0\.1:\d+/\w+ kept"):
            await store.admit(runtime, given, Handling.QUEUE)
        assert line.was_cut
        assert [] == told

        assert (given.id if kept else None) == await store.owner_of(runtime, "k")
        assert (given.id if kept else None) == await store.admit(runtime, given, Handling.QUEUE)


@pytest.mark.parametrize("where", [b"BEGIN", b"INSERT INTO hookline_inputs"], ids=["begin", "insert"])
@pytest.mark.parametrize("side", ["before", "after"])
async def test_what_was_not_being_committed_is_tried_again(
    postgres: str, runtime: str, where: bytes, side: str
) -> None:
    """A connection that breaks before the commit costs one more try, and nothing is there twice."""
    given, told = prompt(key="k"), list[str]()
    async with behind_a_line(postgres, on_status=told.append) as (line, store):
        setattr(line, side, where)
        assert await store.admit(runtime, given, Handling.QUEUE) is None
        assert line.was_cut
        assert ["try 2 of 5 in 0.001 s"] == [each.rpartition("; ")[2] for each in told]
        assert given.id == await store.owner_of(runtime, "k")


async def test_a_server_that_falls_silent_counts_as_away(postgres: str, runtime: str) -> None:
    """A statement that is not answered in time is tried again on another connection; a commit is not known."""
    first, second = prompt(key="1"), prompt(key="2")
    async with behind_a_line(postgres, answer_timeout=0.2) as (line, store):
        line.mute = b"BEGIN"
        assert await store.admit(runtime, first, Handling.QUEUE) is None
        assert line.was_cut

        line.mute, line.was_cut = COMMIT, False
        with pytest.raises(Indeterminate, match="not known"):
            await store.admit(runtime, second, Handling.QUEUE)
        assert await store.owner_of(runtime, "2") is None


async def test_a_server_that_goes_away_for_good_is_an_error(postgres: str, runtime: str) -> None:
    """After so many tries, and the store can still be closed."""
    told: list[str] = []
    async with behind_a_line(postgres, tries=3, on_status=told.append) as (line, store):
        await store.admit(runtime, prompt(key="k"), Handling.QUEUE)
        await line.remove()
        for act in (store.claim(runtime), store.owner_of(runtime, "k"), store.set_state(runtime, RuntimeState.IDLE)):
            told.clear()
            with pytest.raises(
                StateError, match=r"cannot use PostgreSQL at .*; tried 3 times, and nothing was changed"
            ):
                await act
            assert len(told) == 2


async def test_a_lock_is_not_waited_for_without_end(postgres: str, server: Any, runtime: str) -> None:
    """Another session that holds a row for too long: the message says so, nothing is kept, and it passes."""
    first, second = prompt(key="k"), prompt(key="k")
    async with PostgresStore(and_then(postgres, lock_timeout="50ms")) as store:
        await store.admit(runtime, prompt(), Handling.QUEUE)
        async with server.transaction():
            await server.execute("SELECT 1 FROM hookline_runtimes WHERE runtime_id = $1 FOR UPDATE", runtime.encode())
            with pytest.raises(StateError, match="another session has been at work on the same for too long"):
                await store.admit(runtime, first, Handling.QUEUE)
            assert await store.owner_of(runtime, "k") is None
        assert await store.admit(runtime, second, Handling.QUEUE) is None


async def test_a_change_of_state_waits_for_admissions(
    store: PostgresStore, server: Any, name: str, runtime: str
) -> None:
    """One that has passed the gate is committed first; a publication goes by."""
    given = prompt()
    await store.admit(runtime, given, Handling.QUEUE)
    await store.claim(runtime)
    await store.finish(runtime, given.id, Phase.CONSUMED, b"done")
    async with server.transaction():
        await server.fetch(sql.GATE.postgres, runtime.encode())
        assert Published(1, b"done") == await store.publish(runtime, given.id)
        change = asyncio.ensure_future(store.set_state(runtime, RuntimeState.RETIRED))
        waits = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'"
        while not change.done() and not await server.fetchval(waits, name):
            pass
        assert not change.done()
    await change
    assert RuntimeState.RETIRED is await store.state(runtime)


async def test_a_cancelled_transaction_runs_whole(store: PostgresStore, server: Any, runtime: str) -> None:
    """One that waits for another session when its caller is cancelled is committed all the same."""
    given = prompt(key="k")
    await store.admit(runtime, prompt(), Handling.QUEUE)
    async with server.transaction():
        await server.execute("SELECT 1 FROM hookline_runtimes WHERE runtime_id = $1 FOR UPDATE", runtime.encode())
        admission = asyncio.ensure_future(store.admit(runtime, given, Handling.QUEUE))
        await asyncio.sleep(0)
        admission.cancel()
        await asyncio.wait([admission])
        assert await store.owner_of(runtime, "k") is None
    await asyncio.wait(store._at_work)
    assert given.id == await store.owner_of(runtime, "k")


async def test_a_newer_schema_is_left_alone(schema: str, server: Any, name: str) -> None:
    """The message names both versions and what to do, and no connection stays."""
    async with PostgresStore(schema) as store:
        assert await store._reading(_versions) == [sql.VERSION]
        await store._writing(_age)

    told: list[str] = []
    with pytest.raises(
        StateError, match=rf"PostgreSQL at .* has schema version 99 .* up to {sql.VERSION}: use a newer"
    ):
        await PostgresStore(and_then(schema, application_name=name), on_status=told.append).open()
    assert [] == told
    while await backends(server, name):
        pass


def _versions() -> Any:
    rows = yield sql.READ_VERSION, ()
    return [version for (version,) in rows]


def _age() -> Any:
    yield sql.DROP_VERSION, ()
    yield sql.WRITE_VERSION, (99,)


async def test_many_make_the_tables_at_once(schema: str) -> None:
    """All of them find the tables made, once."""
    stores = [PostgresStore(schema) for _ in range(5)]
    await asyncio.gather(*(store.open() for store in stores))
    assert {1, 2, 3, 4, 5} == {store._owner for store in stores}
    assert await stores[0]._reading(_versions) == [sql.VERSION]
    await asyncio.gather(*(store.aclose() for store in stores))


async def test_owners_of_two_schemas_are_strangers(schema: str, store: PostgresStore, runtime: str) -> None:
    """An owner that lives in one does not stand for its number in another."""
    async with PostgresStore(schema) as left:
        await left.admit(runtime, prompt(), Handling.QUEUE)
        await left.claim(runtime)
        number = left._owner
    assert number <= store._owner
    async with PostgresStore(schema) as next_one:
        assert await next_one.recover(runtime) == 1


async def test_nothing_stays_after_closing(store: PostgresStore, server: Any, name: str, runtime: str) -> None:
    """Neither a connection nor a lock nor an owner."""
    inputs = [prompt() for _ in range(30)]
    await asyncio.gather(*(store.admit(runtime, each, Handling.QUEUE) for each in inputs))
    await store.claim(runtime)
    assert 2 <= await backends(server, name) <= 5  # four at once, and the owner's own
    owner = store._owner
    await store.aclose()

    while await backends(server, name):
        pass
    assert 0 == await server.fetchval("SELECT count(*) FROM hookline_owners WHERE owner = $1", owner)
    async with PostgresStore(store._url) as other:
        assert await other.recover(runtime) == 1


async def test_work_of_a_killed_process_is_queued(
    store: PostgresStore, postgres: str, runtime: str, start_worker: Any
) -> None:
    """While it lives the input is its own; once the server has seen its end the input is anybody's."""
    given = prompt("work")
    await store.admit(runtime, given, Handling.QUEUE)
    worker, claimed = start_worker(postgres, runtime)
    assert given.id == claimed
    assert await store.recover(runtime) == 0
    assert await store.claim(runtime) is None

    worker.kill()
    worker.wait()
    while (recovered := await store.recover(runtime)) == 0:
        pass
    assert recovered == 1
    row = await store.claim(runtime)
    assert row is not None
    assert (given, 2) == (row.input, row.attempt)

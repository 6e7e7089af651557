"""What only a store in a SQLite file can meet: other writers, a full disk, strange files, owners that died."""

import asyncio
import os
import resource
import sqlite3
import stat
import tempfile
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hookline._core.errors import StateError
from hookline._core.inputs import Handling, Input, InputKind
from hookline.session.admission import statements as sql
from hookline.session.admission import transactions as tx
from hookline.session.admission.sqlite import SqliteStore
from hookline.session.admission.store import Indeterminate, Phase, Published

RUNTIME = "rt:session:1"
NOBODY = 65534  # a user that owns nothing


def prompt(text: str = "", **fields: Any) -> Input:
    return Input(id=str(uuid.uuid4()), kind=InputKind.PROMPT, text=text, **fields)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "inputs.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(path, busy_timeout=0.05) as store:
        yield store


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Somebody else in the middle of a transaction."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield other


def pragma(store: SqliteStore, name: str) -> asyncio.Future[Any]:
    return store._visit(lambda: store._connected.execute(f"PRAGMA {name}").fetchone()[0])


def descriptors() -> dict[str, str]:
    """Where each descriptor of this process leads."""
    found = {}
    for each in Path("/proc/self/fd").iterdir():
        try:
            found[each.name] = str(each.readlink())
        except FileNotFoundError:  # the one that listed them
            continue
    return found


async def test_what_is_made_is_the_owners_alone(tmp_path: Path) -> None:
    """The folders that were missing, the file, and what SQLite and we put beside it."""
    path = tmp_path / "a" / "b" / "inputs.db"
    async with SqliteStore(path) as store:
        await store.admit(RUNTIME, prompt(), Handling.QUEUE)
        made = {each.relative_to(tmp_path): stat.S_IMODE(each.stat().st_mode) for each in tmp_path.rglob("*")}

    folders = {Path("a"): 0o700, Path("a/b"): 0o700, Path("a/b/inputs.db.owners"): 0o700}
    files = dict.fromkeys(
        map(Path, ["a/b/inputs.db", "a/b/inputs.db-wal", "a/b/inputs.db-shm", "a/b/inputs.db.owners/1"]), 0o600
    )
    assert {**folders, **files} == made


async def test_a_commit_is_on_disk(store: SqliteStore) -> None:
    """The journal is written ahead and every commit is flushed."""
    assert await pragma(store, "journal_mode") == "wal"
    assert await pragma(store, "synchronous") == 2  # FULL


async def test_a_locked_file_is_an_error(store: SqliteStore, path: Path) -> None:
    """Somebody who writes for longer than we wait: the message says where and why, nothing is kept, and it passes."""
    given = prompt(key="k")
    with writing(path):
        with pytest.raises(StateError, match=r"inputs\.db: another process has been writing for more than 0\.05 s"):
            await store.admit(RUNTIME, given, Handling.QUEUE)
        assert await store.owner_of(RUNTIME, "k") is None  # reading goes on
    assert await store.admit(RUNTIME, given, Handling.QUEUE) is None


async def test_a_file_that_is_locked_at_the_start_is_an_error(path: Path) -> None:
    """Also one that was never opened before, and in which the journal mode cannot be changed."""
    store = SqliteStore(path, busy_timeout=0.05)
    with writing(path), pytest.raises(StateError, match=r"inputs\.db: another process has been writing"):
        await store.open()
    async with store:
        await store.admit(RUNTIME, prompt(), Handling.QUEUE)


async def test_a_writer_is_waited_for(path: Path) -> None:
    """A transaction that ends in time delays ours and changes nothing about it."""
    async with SqliteStore(path, busy_timeout=10) as store:
        with writing(path) as other:
            admission = asyncio.ensure_future(store.admit(RUNTIME, prompt(), Handling.QUEUE))
            await asyncio.sleep(0)
            other.execute("COMMIT")
            assert await admission is None


async def test_a_full_disk_is_an_error(store: SqliteStore) -> None:
    """The message says so, what was kept before is there, and what fits is taken once there is room."""
    first, second = prompt("first"), prompt("x" * 100_000, key="k")
    await store.admit(RUNTIME, first, Handling.QUEUE)
    await pragma(store, "max_page_count = 1")  # which SQLite takes for the pages that there are

    with pytest.raises(StateError, match=r"inputs\.db: there is no room left"):
        await store.admit(RUNTIME, second, Handling.QUEUE)
    assert await store.owner_of(RUNTIME, "k") is None
    row = await store.find(RUNTIME, first.id)
    assert row is not None
    assert first == row.input
    await pragma(store, "max_page_count = 1000000")
    assert await store.admit(RUNTIME, second, Handling.QUEUE) is None


async def test_work_that_could_not_be_ended_is_still_ours(store: SqliteStore) -> None:
    """A finish that failed can be tried again."""
    given = prompt()
    await store.admit(RUNTIME, given, Handling.QUEUE)
    await store.claim(RUNTIME)
    await pragma(store, "max_page_count = 1")
    with pytest.raises(StateError, match="no room"):
        await store.finish(RUNTIME, given.id, Phase.CONSUMED, b"x" * 100_000)

    assert await store.unpublished(RUNTIME) == ()
    await pragma(store, "max_page_count = 1000000")
    assert await store.finish(RUNTIME, given.id, Phase.CONSUMED, b"x" * 100_000)
    assert (given.id,) == await store.unpublished(RUNTIME)


async def test_a_commit_that_the_disk_broke_is_not_known(store: SqliteStore) -> None:
    """An error of the disk while a commit is written is told as what it is."""
    await store.admit(RUNTIME, prompt(), Handling.QUEUE)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # no file grows past that
    try:
        with pytest.raises(Indeterminate, match=r"not known whether .*inputs\.db kept"):
            await store.admit(RUNTIME, prompt(), Handling.QUEUE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert await store.admit(RUNTIME, prompt(), Handling.QUEUE) is None


async def test_a_newer_schema_is_left_alone(path: Path) -> None:
    """The message names both versions and what to do, and the file stays as it is."""
    async with SqliteStore(path):
        pass
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE hookline_schema SET version = 99")
    before = path.read_bytes()

    with pytest.raises(StateError, match=rf"inputs\.db has schema version 99 .* up to {sql.VERSION}: use a newer"):
        await SqliteStore(path).open()
    assert before == path.read_bytes()
    assert [] == list(path.with_name("inputs.db.owners").iterdir())


async def test_an_older_schema_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Step by step, with everything in it; and a step that fails leaves it as it was."""
    given = prompt()
    async with SqliteStore(path) as store:
        await store.admit(RUNTIME, given, Handling.QUEUE)
    more = sql.Statement("CREATE TABLE hookline_more (n bigint)")
    monkeypatch.setattr(sql, "STEPS", (*sql.STEPS, (more,), (more,)))
    monkeypatch.setattr(sql, "VERSION", len(sql.STEPS))
    with pytest.raises(StateError, match="hookline_more already exists"):
        await SqliteStore(path).open()

    monkeypatch.setattr(sql, "STEPS", sql.STEPS[:-1])
    monkeypatch.setattr(sql, "VERSION", len(sql.STEPS))
    async with SqliteStore(path) as store:
        row = await store.claim(RUNTIME)
        assert row is not None
        assert given == row.input
    with closing(sqlite3.connect(path)) as other:
        assert [(sql.VERSION,)] == other.execute("SELECT version FROM hookline_schema").fetchall()
        assert [] == other.execute("SELECT n FROM hookline_more").fetchall()


async def test_other_tables_in_the_file_are_left_alone(path: Path) -> None:
    """A database that holds something else gets our tables beside it."""
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE mine (n)")
        other.execute("INSERT INTO mine VALUES (7)")
    async with SqliteStore(path) as store:
        assert await store.admit(RUNTIME, prompt(), Handling.QUEUE) is None
    with closing(sqlite3.connect(path)) as other:
        assert [(7,)] == other.execute("SELECT n FROM mine").fetchall()


async def test_a_file_that_is_no_database_is_left_alone(path: Path) -> None:
    """The message names it."""
    text = b"this is a letter, and no database at all" * 50
    path.write_bytes(text)
    with pytest.raises(StateError, match=r"inputs\.db: file is not a database: name another file"):
        await SqliteStore(path).open()
    assert text == path.read_bytes()


async def test_a_place_where_no_file_can_be(tmp_path: Path) -> None:
    """A folder's own name, and one below a file."""
    with pytest.raises(StateError, match=r"cannot use .*: unable to open database file"):
        await SqliteStore(tmp_path).open()
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match=r"cannot open .*file/inputs\.db: Not a directory"):
        await SqliteStore(tmp_path / "file" / "inputs.db").open()


@pytest.fixture
def read_only_folder() -> Iterator[Path]:
    """A folder that nobody may write in, and a user whom that binds."""
    with tempfile.TemporaryDirectory() as name:
        outer = Path(name)
        outer.chmod(0o755)
        folder = outer / "folder"
        folder.mkdir(mode=0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(user)
            folder.chmod(0o755)


async def test_a_read_only_place_is_an_error(read_only_folder: Path) -> None:
    """The message names the file and what the system said."""
    with pytest.raises(StateError, match=r"cannot open .*inputs\.db: Permission denied"):
        await SqliteStore(read_only_folder / "inputs.db").open()
    assert [] == list(read_only_folder.iterdir())


async def test_nothing_stays_after_closing(path: Path) -> None:
    """Neither a descriptor, nor a thread, nor an owner, nor SQLite's own files; after a failed start as well."""
    before, threads = descriptors(), threading.active_count()
    async with SqliteStore(path) as store:
        await store.admit(RUNTIME, prompt(), Handling.QUEUE)
        await store.claim(RUNTIME)
    assert {"inputs.db", "inputs.db.owners"} == {each.name for each in path.parent.iterdir()}
    assert [] == list(path.with_name("inputs.db.owners").iterdir())
    with closing(sqlite3.connect(path)) as other, other:
        assert [] == other.execute("SELECT * FROM hookline_owners").fetchall()
        other.execute("UPDATE hookline_schema SET version = 99")

    with pytest.raises(StateError):
        await SqliteStore(path).open()
    assert (before, threads) == (descriptors(), threading.active_count())


async def test_work_of_a_killed_process_is_queued_at_once(store: SqliteStore, path: Path, start_worker: Any) -> None:
    """Nobody waits for a clock: while it lives the input is its own, when it is killed the input is anybody's."""
    given = prompt("work")
    await store.admit(RUNTIME, given, Handling.QUEUE)
    worker, claimed = start_worker(path, RUNTIME)
    assert given.id == claimed
    assert await store.recover(RUNTIME) == 0
    assert await store.claim(RUNTIME) is None

    worker.kill()
    worker.wait()
    assert await store.recover(RUNTIME) == 1
    row = await store.claim(RUNTIME)
    assert row is not None
    assert (given, 2) == (row.input, row.attempt)
    assert ["1"] == [each.name for each in path.with_name("inputs.db.owners").iterdir()]
    with closing(sqlite3.connect(path)) as other:
        assert [(1,)] == other.execute("SELECT owner FROM hookline_owners").fetchall()


async def test_an_owner_is_found_by_any_name_of_the_file(path: Path) -> None:
    """Through a link to the file its owners are the same."""
    link = path.with_name("link.db")
    link.symlink_to(path)
    async with SqliteStore(path) as one, SqliteStore(link) as other:
        await one.admit(RUNTIME, prompt(), Handling.QUEUE)
        await one.claim(RUNTIME)
        assert await other.recover(RUNTIME) == 0


async def test_no_number_of_an_owner_is_used_twice(path: Path) -> None:
    """What an owner left is never taken for another's."""
    for number in range(1, 4):
        async with SqliteStore(path) as store:
            assert number == store._owner
            await store.admit(RUNTIME, prompt(), Handling.QUEUE)
            await store.claim(RUNTIME)
    async with SqliteStore(path) as store:
        assert await store.recover(RUNTIME) == 3


async def test_a_cancelled_transaction_runs_whole(path: Path) -> None:
    """One that waits for another writer when its caller is cancelled is committed all the same, in every table."""
    given = prompt(key="k")
    async with SqliteStore(path, busy_timeout=10) as store:
        with writing(path) as other:
            admission = asyncio.ensure_future(store.admit(RUNTIME, given, Handling.QUEUE))
            await asyncio.sleep(0)
            admission.cancel()
            await asyncio.wait([admission])
            other.execute("COMMIT")
        assert admission.cancelled()
        assert given.id == await store.owner_of(RUNTIME, "k")


async def test_a_transaction_that_breaks_leaves_nothing(store: SqliteStore) -> None:
    """Whatever raises in the middle of one, and the store works on."""

    def breaks() -> tx.Transaction[None]:
        yield from tx.admit(RUNTIME, prompt(key="k"), Handling.QUEUE, b"{}")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store._writing(breaks)
    assert await store.owner_of(RUNTIME, "k") is None
    assert await store.admit(RUNTIME, prompt(key="k"), Handling.QUEUE) is None


async def test_a_completion_that_was_changed_is_not_published(store: SqliteStore, path: Path) -> None:
    """Its digest tells; the log stays dense."""
    inputs = [prompt(), prompt()]
    for given in inputs:
        await store.admit(RUNTIME, given, Handling.QUEUE)
        await store.claim(RUNTIME)
        await store.finish(RUNTIME, given.id, Phase.CONSUMED, b"kept")
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE hookline_outbox SET payload = x'00' WHERE ended = 1")

    with pytest.raises(StateError, match=f"{inputs[0].id} .* digest"):
        await store.publish(RUNTIME, inputs[0].id)
    assert Published(1, b"kept") == await store.publish(RUNTIME, inputs[1].id)


async def test_an_append_is_not_repeated(store: SqliteStore, path: Path) -> None:
    """A completion that is in the log already is only marked as published."""
    given = prompt()
    await store.admit(RUNTIME, given, Handling.QUEUE)
    await store.claim(RUNTIME)
    await store.finish(RUNTIME, given.id, Phase.CONSUMED, b"kept")
    await store.publish(RUNTIME, given.id)
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE hookline_outbox SET phase = 'finalised', seq = NULL")

    assert await store.publish(RUNTIME, given.id) is None
    assert await store.unpublished(RUNTIME) == ()
    assert (Published(1, b"kept"),) == await store.events(RUNTIME)


async def test_a_body_that_was_damaged_is_an_error(store: SqliteStore, path: Path) -> None:
    """It is not worked on, and not taken for another."""
    given = prompt()
    await store.admit(RUNTIME, given, Handling.QUEUE)
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE hookline_inputs SET body = x'ff'")
    with pytest.raises(StateError, match="cannot be read"):
        await store.claim(RUNTIME)


async def test_many_open_a_new_file_at_once(path: Path) -> None:
    """All of them find the tables made, once, and each is an owner."""
    stores = [SqliteStore(path, busy_timeout=15) for _ in range(12)]
    await asyncio.gather(*(store.open() for store in stores))
    assert set(range(1, 13)) == {store._owner for store in stores}
    await asyncio.gather(*(store.admit(RUNTIME, prompt(), Handling.QUEUE) for store in stores))
    assert 12 == await stores[0]._reading(partial(_count, RUNTIME))
    await asyncio.gather(*(store.aclose() for store in stores))


def _count(runtime: str) -> tx.Transaction[int]:
    rows = yield sql.Statement("SELECT count(*) FROM hookline_inputs WHERE runtime_id = ?1"), (runtime.encode(),)
    return int(rows[0][0])

"""Inputs in a SQLite file, or in memory. One thread has the connection; each call is one visit to it."""

import asyncio
import contextlib
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from hookline._core.errors import StateError, UsageError
from hookline._core.private_folders import make_private
from hookline.session.admission import statements as sql
from hookline.session.admission import transactions as tx
from hookline.session.admission.owners import OwnerFiles
from hookline.session.admission.sql import Make, SqlStore
from hookline.session.admission.store import Indeterminate, Row

T = TypeVar("T")

MEMORY = ":memory:"
BUSY_TIMEOUT = 5.0  # longer than any transaction of ours takes, short enough that a caller learns of one that hangs
NEEDED = (3, 35)  # RETURNING
PAUSE = 0.02  # between two tries to change the journal mode, for which SQLite does not always wait itself

# While one thread makes a file, no other opens it: closing any descriptor of a file ends all of this process's locks.
_making = threading.Lock()


@dataclass(slots=True)
class Visit:
    """One call, on its way through the thread."""

    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.done = self.loop.create_future()

    def run(self) -> None:
        try:
            end = partial(self._end, self.done.set_result, self.work())
        except BaseException as fault:  # noqa: BLE001  # whatever it is, it belongs to who asked
            end = partial(self._end, self.done.set_exception, fault)
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody is there to be told
            self.loop.call_soon_threadsafe(end)

    def _end(self, tell: Callable[[Any], None], what: object) -> None:
        if not self.done.done():
            tell(what)


class SqliteStore(SqlStore):
    """Implements `Store` in the file *path*, or in memory for as long as it is open.

    The file is its owner's alone. *busy_timeout*: seconds to wait for another process that is writing.
    """

    def __init__(self, path: Path | str, *, busy_timeout: float = BUSY_TIMEOUT) -> None:
        super().__init__()
        # By its real name, as the owners' files have to be found by everybody who opens it.
        self._path = None if str(path) == MEMORY else Path(os.path.realpath(path))
        self._busy_timeout = busy_timeout
        self._visits: queue.SimpleQueue[Visit | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._connection: sqlite3.Connection | None = None
        self._owners: OwnerFiles | None = None
        self._owner = 0

    @property
    def shared(self) -> bool:
        return self._path is not None

    async def open(self) -> None:
        if self._thread is not None:
            raise UsageError(f"the store {self._where} is open already")
        self._thread = threading.Thread(target=self._work, name="hookline-store", daemon=True)
        self._thread.start()
        try:
            await asyncio.shield(self._visit(self._connect))
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        while self._returning:
            await asyncio.wait(self._returning)
        thread, self._thread = self._thread, None
        if thread is None:
            return
        ended = self._send(self._disconnect)
        self._visits.put(None)
        self._claims.clear()
        try:
            await asyncio.shield(ended)
        finally:
            if ended.done():
                thread.join()

    async def recover(self, runtime: str) -> int:
        return await asyncio.shield(self._visit(partial(self._recover, runtime)))

    def _reading(self, make: Make[T]) -> asyncio.Future[T]:
        return self._visit(partial(self._read, make))

    def _writing(self, make: Make[T]) -> asyncio.Future[T]:
        return self._visit(partial(self._write, make))

    def _claiming(self, runtime: str, input_id: str | None) -> asyncio.Future[tuple[int, Row | None]]:
        return self._visit(partial(self._claim, runtime, input_id))

    def _visit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        if self._thread is None:
            raise UsageError(f"the store {self._where} is not open")
        return self._send(work)

    def _send(self, work: Callable[[], T]) -> asyncio.Future[T]:
        visit = Visit(work, asyncio.get_running_loop())
        self._visits.put(visit)
        return visit.done

    @property
    def _where(self) -> str:
        return MEMORY if self._path is None else str(self._path)

    # What follows runs in the thread.

    def _work(self) -> None:
        while (visit := self._visits.get()) is not None:
            visit.run()
            del visit  # or the last call's parameters would live until the next one

    def _connect(self) -> None:
        if sqlite3.sqlite_version_info < NEEDED:
            raise StateError(f"a store needs SQLite 3.35 or newer, this is {sqlite3.sqlite_version}")
        try:
            with _making:
                if self._path is not None:
                    _make_file(self._path)
                self._connection = sqlite3.connect(self._where, timeout=self._busy_timeout, isolation_level=None)
            self._connection.execute("PRAGMA synchronous = FULL")
            version = self._read(partial(tx.version, self._where))
            self._write_ahead()
            if version != sql.VERSION:
                self._write(partial(tx.migrate, self._where))
            self._owner = self._write(tx.register)
            if self._path is not None:
                self._owners = OwnerFiles(self._path)
                self._owners.hold(self._owner)
        except OSError as error:
            raise StateError(f"cannot open {self._where}: {error.strerror}") from error
        except sqlite3.Error as error:
            raise self._fault(error) from error

    def _write_ahead(self) -> None:
        """Journal ahead, so that readers and a writer do not wait for one another."""
        if self._path is None:
            return
        give_up = time.monotonic() + self._busy_timeout
        while True:
            try:
                self._connected.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= give_up:
                    raise
                time.sleep(PAUSE)
            else:
                return

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        owners, self._owners = self._owners, None
        try:
            if connection is not None and owners is not None:
                with contextlib.suppress(sqlite3.Error):  # a number that stays on the list does no harm
                    connection.execute(sql.UNREGISTER.sqlite, (self._owner,))
        finally:
            if connection is not None:
                connection.close()
            if owners is not None:
                with contextlib.suppress(OSError):  # the folder may be gone by now
                    owners.let_go()

    @property
    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            raise UsageError(f"the store {self._where} is not open")
        return self._connection

    def _read(self, make: Make[T]) -> T:
        try:
            return _driven(self._connected, make())
        except sqlite3.Error as error:
            raise self._fault(error) from error

    def _write(self, make: Make[T]) -> T:
        """Run a whole transaction, or leave everything as it was."""
        connection = self._connected
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = _driven(connection, make())
                self._commit(connection)
            except BaseException:
                if connection.in_transaction:  # not if SQLite has rolled back by itself
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._fault(error) from error
        return result

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if _code(error) == sqlite3.SQLITE_IOERR:  # what had reached the disk by then may come back from there
                message = f"it is not known whether {self._where} kept what was written: {error}"
                raise Indeterminate(message) from error
            raise

    def _claim(self, runtime: str, input_id: str | None) -> tuple[int, Row | None]:
        return self._owner, self._write(partial(tx.claim, runtime, input_id, self._owner))

    def _recover(self, runtime: str) -> int:
        if self._owners is None:  # in memory: nobody else was ever here
            return 0
        count = 0
        try:
            for owner in self._read(partial(tx.owners_at_work, runtime)):
                with self._owners.gone(owner) as is_gone:
                    if is_gone:
                        count += self._write(partial(tx.queue_again, runtime, owner))
        except OSError as error:
            raise StateError(f"cannot use {self._owners.folder}: {error.strerror}") from error
        return count

    def _fault(self, error: sqlite3.Error) -> StateError:
        match _code(error):
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                why = f"another process has been writing for more than {self._busy_timeout:g} s ({error})"
            case sqlite3.SQLITE_FULL:
                why = f"there is no room left ({error})"
            case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
                why = f"{error}: name another file, or put back a copy of this one"
            case _:
                why = str(error)
        return StateError(f"cannot use {self._where}: {why}")


def _driven(connection: sqlite3.Connection, transaction: tx.Transaction[T]) -> T:
    """Give *transaction* the rows that it asks for, and return what it returns."""
    try:
        statement, parameters = next(transaction)
        while True:
            rows = connection.execute(statement.sqlite, parameters).fetchall()
            statement, parameters = transaction.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result


def _code(error: sqlite3.Error) -> int:
    """The primary code. Errors that the module raises by itself have none."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


def _make_file(path: Path) -> None:
    """An empty file where there is none, and the folders that it needs. What is made is the owner's alone."""
    missing = make_private(path.parent)
    try:
        # Never one that is there: see `_making`.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    for folder in {path.parent, *(each.parent for each in missing)}:
        _sync(folder)


def _sync(folder: Path) -> None:
    """Make the names in *folder* last."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

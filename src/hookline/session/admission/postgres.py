"""Inputs in PostgreSQL. asyncpg is imported when a store is opened."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from hookline._core.errors import StateError, UsageError
from hookline.session.admission import statements as sql
from hookline.session.admission import transactions as tx
from hookline.session.admission.sql import Make, SqlStore
from hookline.session.admission.store import Indeterminate, Row

T = TypeVar("T")

TRIES = 5
BACKOFF = 0.2  # seconds before the second try; doubled before each one after
AT_ONCE = 4  # connections for transactions; as many again gained nothing on one disk
CONNECT_TIMEOUT = 5.0  # seconds a try
ANSWER_TIMEOUT = 10.0  # seconds a statement, after which its server counts as away; longer than a lock is waited for
CLOSE_TIMEOUT = 5.0
NO_ASYNCPG = "a store in PostgreSQL needs asyncpg, which is not installed: pip install 'hookline[postgres]'"

SETTINGS = {
    "application_name": "hookline",
    "lock_timeout": "5s",  # as SQLite waits for another writer
    # Or a server would keep the lock of an owner whose machine is gone for two hours.
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}

BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"  # whatever the server's default: the statements count on it
LOCK_SCHEMA = sql.Statement("", "SELECT pg_advisory_xact_lock(7283946)")  # any number; no other lock has just one
# A lock is a pair of numbers: the owners' table, which tells schemas of one database apart, and the owner.
LOCK_OWNER = "SELECT pg_try_advisory_lock('hookline_owners'::regclass::oid::bigint::bit(32)::int, $1::bigint::int)"
OWNER_IS_GONE = sql.Statement(
    "",
    "SELECT pg_try_advisory_xact_lock('hookline_owners'::regclass::oid::bigint::bit(32)::int, ?1::bigint::int)",
)

AWAY = frozenset({"57P01", "57P02", "57P03"})  # a server that shuts down, crashed, or has only begun to start
BUSY = frozenset({"53300", "40001", "40P01"})  # no room for one more connection; undone for another transaction's sake
REASONS = {
    "55P03": "another session has been at work on the same for too long",
    "53100": "there is no room left on its disk",
}


class _Undone(Exception):
    """A try failed for a reason that may pass, and has certainly changed nothing."""


class PostgresStore(SqlStore):
    """Implements `Store` in the database that *url* names.

    A try that failed and has certainly changed nothing is made again, up to *tries* in all, with *backoff* seconds
    before the second and twice as long before each one after; *on_status* is told of each. A server that does not
    answer a statement for *answer_timeout* seconds counts as away. Locks are a session's, so a pooler in between has
    to give each connection a session of its own.
    """

    def __init__(
        self,
        url: str,
        *,
        tries: int = TRIES,
        backoff: float = BACKOFF,
        answer_timeout: float = ANSWER_TIMEOUT,
        on_status: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self._url = url
        self._place, self._secrets, named = _parts_of(url)
        self._settings = {name: value for name, value in SETTINGS.items() if name not in named}
        self._tries = tries
        self._backoff = backoff
        self._answer_timeout = answer_timeout
        self._on_status = on_status
        self._is_open = False
        self._closing: asyncio.Future[None] | None = None
        self._at_work: set[asyncio.Task[Any]] = set()
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._idle: list[Any] = []
        # The connection whose session holds our lock. Claims are made on it: none is committed without the lock.
        self._own: Any = None
        self._own_turn = asyncio.Lock()
        self._owner = 0

    @property
    def shared(self) -> bool:
        return True

    async def open(self) -> None:
        if self._is_open:
            raise UsageError(f"the store {self._place} is open already")
        try:
            import asyncpg  # type: ignore[import-untyped]
        except ImportError:
            raise StateError(NO_ASYNCPG) from None
        self._driver = asyncpg
        # The last is what asyncpg raises on a connection that was ended while nothing was asked of it.
        self._faults = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
        self._is_open = True
        try:
            if await self._reading(partial(tx.version, self._place)) != sql.VERSION:
                await self._writing(self._migration)
            await self._begin(self._persistent(self._hold))
        except BaseException:
            for task in self._at_work:  # who does not wait for a server any more has no use for another try
                task.cancel()
            await self.aclose()
            raise

    async def aclose(self) -> None:
        while self._returning:
            await asyncio.wait(self._returning)
        if not self._is_open:
            return
        self._is_open = False
        self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def recover(self, runtime: str) -> int:
        count = 0
        for owner in await asyncio.shield(self._reading(partial(tx.owners_at_work, runtime))):
            if owner != self._owner:
                count += await asyncio.shield(self._writing(partial(self._take_over, runtime, owner)))
        return count

    def _reading(self, make: Make[T]) -> asyncio.Future[T]:
        return self._begin(self._persistent(partial(self._read, make)))

    def _writing(self, make: Make[T]) -> asyncio.Future[T]:
        return self._begin(self._persistent(partial(self._write, make)))

    def _claiming(self, runtime: str, input_id: str | None) -> asyncio.Future[tuple[int, Row | None]]:
        return self._begin(self._persistent(partial(self._claim, runtime, input_id)))

    def _begin(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Let *work* run to its end, whatever becomes of who waits for it."""
        if not self._is_open:
            work.close()
            raise UsageError(f"the store {self._place} is not open")
        task = asyncio.ensure_future(work)
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)
        return task

    async def _persistent(self, attempt: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """What *attempt* returns, in one of the tries that it has."""
        tried = 0
        while True:
            try:
                return await attempt()
            except _Undone as fault:
                tried += 1
                if tried >= self._tries:
                    message = f"cannot use {self._place}: {fault}; tried {tried} times, and nothing was changed"
                    raise StateError(message) from fault.__cause__
                pause = self._backoff * 2 ** (tried - 1)
                if self._on_status is not None:
                    self._on_status(f"{self._place}: {fault}; try {tried + 1} of {self._tries} in {pause:g} s")
            await asyncio.sleep(pause)

    async def _read(self, make: Make[T]) -> T:
        async with self._connected() as connection:
            return await _driven(connection, make())

    async def _write(self, make: Make[T]) -> T:
        async with self._connected() as connection:
            return await self._committed(connection, make)

    async def _claim(self, runtime: str, input_id: str | None) -> tuple[int, Row | None]:
        async with self._own_turn:
            await self._hold_within()
            async with self._explained(self._own):
                make = partial(tx.claim, runtime, input_id, self._owner)
                return self._owner, await self._committed(self._own, make)

    async def _hold(self) -> None:
        async with self._own_turn:
            await self._hold_within()

    async def _hold_within(self) -> None:
        """Be an owner: a new one, if the connection was lost that the lock of the last one hung on."""
        if self._own is not None and not self._own.is_closed():
            return
        connection = await self._connect()
        try:
            async with self._explained(connection):
                owner = await self._committed(connection, tx.register)
                while not await connection.fetchval(LOCK_OWNER, owner):  # a stranger's lock has these numbers
                    owner = await self._committed(connection, tx.register)
        except BaseException:
            connection.terminate()
            raise
        self._own, self._owner = connection, owner

    def _migration(self) -> tx.Transaction[None]:
        yield LOCK_SCHEMA, ()
        yield from tx.migrate(self._place)

    def _take_over(self, runtime: str, owner: int) -> tx.Transaction[int]:
        """Queue again what *owner* was at work on, if it is gone. It may be who we were: what is at work here stays."""
        ((is_gone,),) = yield OWNER_IS_GONE, (owner,)
        if not is_gone or owner == self._owner:
            return 0
        ours = {which for (where, which), as_owner in self._claims.items() if where == runtime and as_owner == owner}
        return (yield from tx.queue_again(runtime, owner, but=frozenset(ours)))

    async def _committed(self, connection: Any, make: Make[T]) -> T:
        """Run a whole transaction. Raises Indeterminate if the connection broke while it was being committed."""
        await connection.execute(BEGIN)
        try:
            result = await _driven(connection, make())
        except Exception as error:
            if not self._is_away(connection, error):
                await connection.execute("ROLLBACK")
            raise
        try:
            await connection.execute("COMMIT")
        except Exception as error:
            if self._is_away(connection, error):
                connection.terminate()
                message = f"it is not known whether {self._place} kept what was written: {self._told(error)}"
                raise Indeterminate(message) from error
            raise
        return result

    @contextlib.asynccontextmanager
    async def _connected(self) -> AsyncIterator[Any]:
        """A connection for one transaction, in its turn."""
        async with self._turns:
            self._idle = [each for each in self._idle if not each.is_closed()]
            connection = self._idle.pop() if self._idle else await self._connect()
            try:
                async with self._explained(connection):
                    yield connection
            finally:
                if not connection.is_closed():
                    self._idle.append(connection)

    async def _connect(self) -> Any:
        try:
            return await self._driver.connect(
                self._url,
                timeout=CONNECT_TIMEOUT,
                command_timeout=self._answer_timeout,
                server_settings=self._settings,
            )
        except (ValueError, *self._faults) as error:
            if isinstance(error, OSError) or _code(error) in BUSY or _says_away(error):
                raise _Undone(f"cannot connect: {self._told(error)}") from error
            raise self._fault(error) from error

    @contextlib.asynccontextmanager
    async def _explained(self, connection: Any) -> AsyncIterator[None]:
        """Say what a fault on *connection* means, and end it if it is not fit for another transaction."""
        try:
            yield
        except (StateError, UsageError, _Undone):
            raise
        except self._faults as error:
            if self._is_away(connection, error):
                for each in (connection, *self._idle):  # what ended this one has ended those as well, as a rule
                    each.terminate()
                raise _Undone(self._told(error)) from error
            if _code(error) in BUSY:
                raise _Undone(self._told(error)) from error
            raise self._fault(error) from error
        except BaseException:
            connection.terminate()
            raise

    def _is_away(self, connection: Any, error: Exception) -> bool:
        broken = isinstance(error, OSError | self._driver.InternalClientError)
        return broken or connection.is_closed() or _says_away(error)

    def _fault(self, error: Exception) -> StateError:
        why = REASONS.get(_code(error))
        told = self._told(error) if why is None else f"{why} ({self._told(error)})"
        return StateError(f"cannot use {self._place}: {told}")

    def _told(self, error: Exception) -> str:
        """What the system said, and no password."""
        told = str(error) or type(error).__name__
        for secret in self._secrets:
            told = told.replace(secret, "***")
        return told

    async def _close(self) -> None:
        if self._at_work:
            await asyncio.wait(self._at_work)
        self._claims.clear()
        connections, self._idle = self._idle, []
        if self._own is not None and not self._own.is_closed():
            connections.append(self._own)
            with contextlib.suppress(*self._faults):
                await self._own.execute(sql.UNREGISTER.postgres, self._owner)  # one that stays listed does no harm
        self._own = None
        for connection in connections:
            try:
                await connection.close(timeout=CLOSE_TIMEOUT)
            except self._faults:
                connection.terminate()


async def _driven(connection: Any, transaction: tx.Transaction[T]) -> T:
    """Give *transaction* the rows that it asks for, and return what it returns."""
    try:
        statement, parameters = next(transaction)
        while True:
            rows = await connection.fetch(statement.postgres, *parameters)
            statement, parameters = transaction.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result


def _code(error: Exception) -> str:
    return getattr(error, "sqlstate", None) or ""


def _says_away(error: Exception) -> bool:
    return _code(error) in AWAY or _code(error).startswith("08")  # 08: whatever is wrong with a connection


def _parts_of(url: str) -> tuple[str, frozenset[str], frozenset[str]]:
    """How messages call the place, what they must not say, and which settings *url* makes by itself."""
    try:
        parts = urlsplit(url)
        said = parse_qs(parts.query)
        password = parts.password or ""
    except ValueError:
        raise UsageError(
            "the URL of a PostgreSQL store has to be postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        ) from None
    hosts = parts.netloc.rpartition("@")[2] or ",".join(said.get("host", ()))
    named = ",".join(map(_with_port, hosts.split(","))) if hosts else "this machine's socket"
    secrets = {password, unquote(password), *said.get("password", ())} - {""}
    return f"PostgreSQL at {named}{parts.path}", frozenset(secrets), frozenset(said)


def _with_port(host: str) -> str:
    return host if ":" in host.rpartition("]")[2] or host.startswith("/") else f"{host}:5432"

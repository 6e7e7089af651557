"""Where the inputs of a trial are kept, and what is there, read past the code that is tested."""

import asyncio
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from tests.crash.law import Line, Row, State
from tests.crash.plan import Point
from tests.crash.wire import Ended, Wire

QUESTIONS = (
    "SELECT input_id, idempotency_key, phase, attempt, body FROM hookline_inputs WHERE runtime_id = {} ORDER BY seq",
    "SELECT seq, input_id, '' AS payload, phase FROM hookline_outbox WHERE runtime_id = {} ORDER BY ended",
    "SELECT seq, input_id, payload FROM hookline_events WHERE runtime_id = {} ORDER BY seq",
    "SELECT published FROM hookline_runtimes WHERE runtime_id = {}",
)

Rows = Sequence[Sequence[Any]]


class Place(Protocol):
    """A place for one trial after the other. `runtime` is that of the trial."""

    runtime: str

    def begin(self, *, fresh: bool) -> None:
        """Make room for another trial: where nothing was ever kept, if *fresh* says so."""
        ...

    def url(self) -> str:
        """How a process that is watched names it."""
        ...

    def watch(self, pid: int, last: Point | None) -> Ended:
        """Wait for the end of the process *pid*, or bring it about."""
        ...

    def state(self) -> State: ...

    def close(self) -> None: ...


def _state(inputs: Rows, outbox: Rows, events: Rows, published: Rows) -> State:
    return State(
        inputs=tuple(
            Row(_text(which), None if key is None else _text(key), phase, attempt, json.loads(_text(body))["text"])
            for which, key, phase, attempt, body in inputs
        ),
        outbox=tuple(Line(seq, _text(which), phase=phase) for seq, which, _, phase in outbox),
        events=tuple(Line(seq, _text(which), _text(payload)) for seq, which, payload in events),
        published=published[0][0] if published else 0,
    )


def _text(kept: bytes) -> str:
    return bytes(kept).decode()


class InSqlite:
    """A file for each trial."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._place = folder / "place"
        self.runtime = "rt:crash"

    def begin(self, *, fresh: bool) -> None:
        shutil.rmtree(self._place, ignore_errors=True)
        self._place.mkdir()

    def url(self) -> str:
        return str(self._place / "inputs.db")

    def watch(self, pid: int, last: Point | None) -> Ended:
        return Ended(os.waitpid(pid, 0)[1], 0)

    def state(self) -> State:
        """Read from a copy: whoever opens the file itself, mends it."""
        with tempfile.TemporaryDirectory(dir=self._folder) as copies:
            for each in self._place.glob("inputs.db*"):
                if each.is_file():
                    shutil.copy(each, copies)
            with sqlite3.connect(Path(copies) / "inputs.db") as connection:
                if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'hookline_events'").fetchall():
                    state = State()
                else:
                    asked = (question.format("?") for question in QUESTIONS)
                    state = _state(*(connection.execute(each, (self.runtime.encode(),)).fetchall() for each in asked))
            connection.close()
        return state

    def close(self) -> None:
        pass


class InPostgres:
    """Schemas in the database that *url* names, which begin with *name*. Trials share one, each with a runtime."""

    def __init__(self, url: str, name: str) -> None:
        import asyncpg  # type: ignore[import-untyped]

        self._url = url
        self._name = name
        self._schema = ""
        self._count = 0
        parts = urlsplit(url)
        self._wire = Wire((parts.hostname or "127.0.0.1", parts.port or 5432))
        self._loop = asyncio.new_event_loop()
        self._connection = self._loop.run_until_complete(asyncpg.connect(url))

    def begin(self, *, fresh: bool) -> None:
        self._count += 1
        self.runtime = f"rt:crash:{self._count}"
        if fresh or not self._schema:
            self._drop()
            self._schema = f"{self._name}_{self._count}"
            self._execute(f'CREATE SCHEMA "{self._schema}"')

    def url(self) -> str:
        parts = urlsplit(self._url)
        user = f"{parts.username or 'postgres'}{f':{parts.password}' if parts.password else ''}"
        url = parts._replace(netloc=f"{user}@127.0.0.1:{self._wire.port}").geturl()
        return f"{url}{'&' if parts.query else '?'}search_path={self._schema}"

    def watch(self, pid: int, last: Point | None) -> Ended:
        return self._wire.carry(pid, last)

    def state(self) -> State:
        return self._loop.run_until_complete(self._read())

    async def _read(self) -> State:
        async with self._connection.transaction(isolation="repeatable_read", readonly=True):
            if await self._connection.fetchval("SELECT to_regclass($1)", f"{self._schema}.hookline_events") is None:
                return State()
            asked = (question.format("$1") for question in QUESTIONS)
            named = (each.replace(" hookline_", f' "{self._schema}".hookline_') for each in asked)
            return _state(*[await self._connection.fetch(each, self.runtime.encode()) for each in named])

    def _execute(self, statement: str) -> None:
        self._loop.run_until_complete(self._connection.execute(statement))

    def _drop(self) -> None:
        if self._schema:
            self._execute(f'DROP SCHEMA "{self._schema}" CASCADE')
            self._schema = ""

    def close(self) -> None:
        self._drop()
        self._loop.run_until_complete(self._connection.close())
        self._loop.close()
        self._wire.close()

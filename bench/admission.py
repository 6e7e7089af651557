"""Durable admissions a second, beside bare `sqlite3` inserts of the same row with the same durability."""

import asyncio
import gc
import sqlite3
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

from figures import TARGETS, interleaved, median, p95, print_heading, print_table, target

from hookline._core.inputs import Handling, Input, InputKind
from hookline.session.admission import statements as sql
from hookline.session.admission.coding import body_of, raw
from hookline.session.admission.sqlite import SqliteStore

ROUNDS = 2_000
TEXT_BYTES = 1024
RUNTIME = "rt:session:1"

Admit = Callable[[], Awaitable[None]]


def given() -> Input:
    name = str(uuid.uuid4())
    return Input(id=name, kind=InputKind.PROMPT, text="x" * TEXT_BYTES, key=f"key:{name}")


def row_of(input: Input) -> tuple[object, ...]:
    key = raw(input.key or "")
    return raw(RUNTIME), raw(input.id), input.kind.value, key, "queue", body_of(input), time.time_ns() // 1000


def connected(path: Path) -> sqlite3.Connection:
    """A database with the same tables, and with the same durability."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    for step in sql.STEPS:
        for statement in step:
            connection.execute(statement.sqlite)
    return connection


def insert(connection: sqlite3.Connection, row: tuple[object, ...]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(sql.ADMIT.sqlite, row).fetchall()
    connection.execute("COMMIT")


async def bare(connection: sqlite3.Connection) -> None:
    insert(connection, row_of(given()))


async def one_hop(connection: sqlite3.Connection, thread: ThreadPoolExecutor) -> None:
    await asyncio.get_running_loop().run_in_executor(thread, insert, connection, row_of(given()))


async def through(store: SqliteStore) -> None:
    if await store.admit(RUNTIME, given(), Handling.QUEUE) is not None:
        raise RuntimeError("an input was not new")


async def measured(cases: Mapping[str, Admit]) -> dict[str, list[float]]:
    """Microseconds of every admission."""
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for admit in cases.values():
        await admit()
    gc.collect()
    gc.freeze()
    for name in interleaved(cases, ROUNDS):
        begun = time.perf_counter()
        await cases[name]()
        samples[name].append((time.perf_counter() - begun) * 1e6)
    return samples


async def measure(folder: Path) -> dict[str, list[float]]:
    with (
        closing(connected(folder / "same.db")) as same,
        closing(connected(folder / "other.db")) as other,
        ThreadPoolExecutor(1) as thread,
    ):
        async with SqliteStore(folder / "store.db") as store:
            return await measured(
                {
                    "sqlite3, same thread": partial(bare, same),
                    "sqlite3, one hop": partial(one_hop, other, thread),
                    "SqliteStore.admit": partial(through, store),
                }
            )


def report(samples: Mapping[str, list[float]]) -> None:
    middle = {name: median(taken) for name, taken in samples.items()}
    print_table(
        ["one durable admission", "p50, us", "p95, us", "a second"],
        (
            [name, f"{middle[name]:.0f}", f"{p95(taken):.0f}", f"{1e6 / middle[name]:.0f}"]
            for name, taken in samples.items()
        ),
    )
    admit = middle["SqliteStore.admit"]
    print_table(
        TARGETS,
        [
            target("admit / bare sqlite3, p50", admit / middle["sqlite3, same thread"], 1.5, "x"),
            target("admit / sqlite3 with one hop, p50", admit / middle["sqlite3, one hop"], 1.2, "x"),
        ],
    )


def main() -> None:
    print_heading(f"durable admissions, WAL, synchronous=FULL, {TEXT_BYTES} bytes of text, {ROUNDS} interleaved rounds")
    with tempfile.TemporaryDirectory() as name:
        report(asyncio.run(measure(Path(name))))


if __name__ == "__main__":
    main()

"""Killed at any step of admission and publication, a process loses nothing that was admitted and does nothing twice."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MEMORY = Path("/dev/shm")
SEED = 1
SQLITE_CHUNKS = 6  # which have every point there is between them
POSTGRES_CHUNKS = 20  # of which the suite takes every third; tests/crash/worker.py takes all, and any seed
POSTGRES_POINTS = 12  # of a chunk, which has some twenty
WITHIN = 18  # seconds, which is before pytest gives up: then nothing is left behind
TWICE = {"sqlite": 2, "postgres": 1}  # trials of a chunk in which the process that recovers is killed too


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder, in memory if there is one: killing a process takes nothing from a file, a disk is only slow."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as name:
        yield Path(name)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(SQLITE_CHUNKS))
def test_a_crash_at_any_statement_of_sqlite_loses_and_repeats_nothing(folder: Path, chunk: int) -> None:
    """Before and after each statement and each line of the log, every death is survived as the law says."""
    found = _killed("sqlite", "--folder", folder, "--chunk", chunk, "--of", SQLITE_CHUNKS)

    assert [] == found["broken"]
    assert found["wanted"] == found["killed"]
    assert found["points"] // SQLITE_CHUNKS + 2 * TWICE["sqlite"] <= found["killed"]
    assert found["points"] > 300


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(0, POSTGRES_CHUNKS, 3))
def test_a_crash_at_any_message_to_postgres_loses_and_repeats_nothing(postgres: str, folder: Path, chunk: int) -> None:
    """Before the server gets a message, and when it has answered and the process does not know yet."""
    of = ("--chunk", chunk, "--of", POSTGRES_CHUNKS, "--most", POSTGRES_POINTS)
    found = _killed("postgres", "--url", postgres, "--folder", folder, *of)

    assert [] == found["broken"]
    assert found["wanted"] == found["killed"] == POSTGRES_POINTS + 2 * TWICE["postgres"]
    assert found["points"] > 300


def _killed(store: str, *words: object) -> Any:
    """What the program that kills has to say."""
    options = ("--seed", SEED, "--twice", TWICE[store], "--within", WITHIN)
    command = [sys.executable, "-m", "tests.crash.worker", *map(str, (store, *words, *options))]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    ended = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)

"""Processes that share a queue do each piece of work once; peers lose no message when one of them is killed."""

import asyncio
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.crash.peer import place, runtime
from tests.crash.plan import Point, What, When

from hookline._core.peers import Peer

ROOT = Path(__file__).parents[2]
INPUTS = 300
MESSAGES = 20  # each way
PATIENCE = 14.0  # seconds for everything that was sent to arrive and be worked on
STEPS = {What.LINE: 100, What.STATEMENT: 600}  # a peer makes at least so many in a conversation
LOOK = 0.05  # seconds between two looks at a process of which nothing else can be heard

INPUTS_OF = (
    "SELECT i.idempotency_key, i.phase, count(e.seq) FROM hookline_inputs i LEFT JOIN hookline_events e"
    " ON i.input_id = e.input_id AND i.runtime_id = e.runtime_id WHERE i.runtime_id = ?"
    " GROUP BY i.seq"
)

ENV = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}


@pytest.mark.slow
def test_processes_that_share_a_queue_run_each_input_once(postgres: str, nats: str) -> None:
    """Two processes admit at once, a fifth of it twice, and work at once: each input is run by one of them, once."""
    command = [sys.executable, "bench/exactly_once.py", "--postgres", postgres, "--nats", nats]
    command += ["--inputs", str(INPUTS), "--seed", "2"]
    ended = subprocess.run(command, cwd=ROOT, env=ENV, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.endswith("exactly once\n")
    figures = {line[:20].strip(): line[20:].strip() for line in ended.stdout.splitlines()}
    assert str(INPUTS * 4 // 5) == figures["admitted"] == figures["events"]
    assert all(int(count) for count in figures["runs per process"].split(", "))


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where two peers meet: a NATS server, a name that is theirs there, and a folder for what they keep."""

    nats: str
    name: str
    folder: Path

    async def start(self, me: str, to: str, *, life: int, first: int, last: object = "") -> asyncio.subprocess.Process:
        words = {"name": self.name, "me": me, "to": to, "nats": self.nats, "folder": self.folder, "life": life}
        words |= {"first": first, "messages": MESSAGES, "last": last}
        command = [word for name, value in words.items() for word in (f"--{name}", str(value))]
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.crash.peer", *command, cwd=ROOT, env=ENV, stdin=pipe, stderr=pipe
        )

    def lines(self, me: str, *words: str) -> list[list[str]]:
        """What a peer has logged in all its lives under one of *words*, without the number of the life."""
        log = self.folder / f"{me}.log"
        lines = [line.split()[1:] for line in log.read_text().splitlines()] if log.exists() else []
        return [line for line in lines if line[0] in words]

    def due(self, me: str, to: str) -> set[str]:
        """The keys under which *to* has to have what *me* has a receipt for, or owes it as an answer."""
        sent = self.lines(me, "sent", "told")
        keys = {f"peer-ingress:{Peer(me).id}:{which}" for _, which, kind, *_ in sent if kind != "response"}
        answered = {reply for _, _, kind, reply in sent if kind == "response"}
        asked = {which for _, which, kind, *_ in self.lines(to, "sent", "told") if kind.startswith("request")}
        return keys | {f"peer_response_terminal:{Peer(me).id}:{request}" for request in answered | asked}

    def inputs(self, me: str) -> dict[str, tuple[str, int]]:
        """Every input that a peer has admitted, by its key: its phase, and how many events there are of its end."""
        connection = sqlite3.connect(f"file:{self.folder / me}.db?mode=ro", uri=True)
        try:
            rows = connection.execute(INPUTS_OF, (runtime(me).encode(),)).fetchall()
        except sqlite3.OperationalError:  # it has not made its tables yet
            rows = []
        finally:
            connection.close()
        return {key.decode(): (phase, events) for key, phase, events in rows}

    def all_sent(self) -> bool:
        """Whether both have sent all that they had to."""
        return all(len(self.lines(me, "sent")) == MESSAGES for me in ("ada", "ben"))

    def is_done(self, me: str, to: str) -> bool:
        """Whether *to* has all that *me* has sent, and has worked on all it has."""
        inputs = self.inputs(to)
        return self.due(me, to) <= set(inputs) and {("consumed", 1)} == set(inputs.values())


@pytest.fixture
async def meeting(nats: str) -> AsyncIterator[Meeting]:
    from nats import connect
    from nats.js.errors import NotFoundError

    with tempfile.TemporaryDirectory() as folder:
        meeting = Meeting(nats, uuid.uuid4().hex, Path(folder))
        yield meeting
    client = await connect(nats)
    try:
        with contextlib.suppress(NotFoundError):  # no peer has come so far
            await client.jetstream().delete_stream(place(meeting.name).stream)
    finally:
        await client.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
async def test_a_peer_that_is_killed_in_a_conversation_loses_no_message(meeting: Meeting, seed: int) -> None:
    """What has a receipt is admitted once at the other side, whatever the one who was killed was at.

    A request that has a receipt has one answer, also where the one who owes it is killed.
    """
    chance = random.Random(seed)  # noqa: S311 - an order is no secret
    what = (What.LINE, What.STATEMENT)[seed % 2]
    last = Point(what, chance.randrange(1, STEPS[what]), chance.choice(list(When)))
    peers = [await meeting.start("ada", "ben", life=0, first=0)]
    try:
        victim = await meeting.start("ben", "ada", life=0, first=0, last=last)
        peers.append(victim)
        assert b"" == (await victim.communicate())[1]
        assert -signal.SIGKILL == victim.returncode

        begun = [int(number) for _, number in meeting.lines("ben", "sending")]
        done = len(meeting.lines("ben", "sent"))
        peers[1] = await meeting.start("ben", "ada", life=1, first=done)
        assert max(begun, default=0) - done in {-1, 0}  # of that one nobody knows, and it is sent again
        await _until(lambda: meeting.all_sent() and meeting.is_done("ada", "ben") and meeting.is_done("ben", "ada"))
        for peer in peers:
            assert b"" == (await peer.communicate(b"\n"))[1]
            assert 0 == peer.returncode
    finally:
        for peer in peers:
            if peer.returncode is None:
                peer.kill()
                await peer.communicate()

    for me, to, killed in (("ada", "ben", 1), ("ben", "ada", 0)):
        inputs = meeting.inputs(to)
        assert set() == meeting.due(me, to) - set(inputs)
        assert {("consumed", 1)} == set(inputs.values())
        runs = len(meeting.lines(to, "run"))
        assert len(inputs) <= runs <= len(inputs) + killed
        assert [] == _more_than_once(meeting, to)


def _more_than_once(meeting: Meeting, me: str) -> list[str]:
    """What a peer was told more than once in all its lives."""
    told = Counter(" ".join(line[:2]) for line in meeting.lines(me, "accepted", "completed", "told", "sent"))
    return [what for what, count in told.items() if count > 1]


async def _until(is_so: Callable[[], bool]) -> None:
    """Wait for what another process brings about. Whether it did is for the caller to find out."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while not is_so():  # noqa: ASYNC110 - it is another process that changes it
                await asyncio.sleep(LOOK)

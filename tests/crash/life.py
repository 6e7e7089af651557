"""One life of a process that works with a session, up to its end or to the point at which it is killed."""

import asyncio
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from threading import Lock
from typing import Any

from tests.crash.plan import Given, Group, Point, Way, What, When

import hookline as hl
from hookline._core.events import InputAccepted, InputDeduplicated, InteractionCompleted
from hookline._core.inputs import Accepted, Deduplicated, Input, InputKind
from hookline._core.messages import Message
from hookline.session import ModelReply, ModelRequest
from hookline.session.admission.places import store_for


class Program(Enum):
    """What a life does."""

    WHOLE = "whole"  # gives every input, also those that an earlier life has given, and works all off
    RECOVER = "recover"  # gives nothing, and works off what is left


class Steps:
    """Counts the steps of this process, and kills it at the one that is its last."""

    def __init__(self, last: Point | None) -> None:
        self.counts: Counter[What] = Counter()
        self._last = last
        self._lock = Lock()  # SQLite's steps are made in a thread

    def before(self, what: What) -> int:
        with self._lock:
            self.counts[what] += 1
            number = self.counts[what]
        self._end_at(Point(what, number, When.BEFORE))
        return number

    def after(self, what: What, number: int) -> None:
        self._end_at(Point(what, number, When.AFTER))

    def _end_at(self, point: Point) -> None:
        if point == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


class Log:
    """What this process did, one line each, which is in the file before the next step is made."""

    def __init__(self, path: Path, life: int, steps: Steps) -> None:
        self._life = life
        self._steps = steps
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, *words: str) -> None:
        number = self._steps.before(What.LINE)
        os.write(self._file, f"{self._life} {' '.join(words)}\n".encode())
        os.fsync(self._file)
        self._steps.after(What.LINE, number)

    def close(self) -> None:
        os.close(self._file)


def result_of(label: str) -> str:
    """What a run of the input *label* comes to."""
    return f"did {label}"


class Logging:
    """A model that says what it was told to do, and logs the beginning and the end of each call."""

    name = "unknown"
    provider = "model.unknown.response"
    provider_known = False

    def __init__(self, log: Log) -> None:
        self._log = log

    async def complete(self, request: ModelRequest) -> ModelReply:
        text = next(message.text for message in reversed(request.messages) if message.role == "user")
        label = text.splitlines()[-1].replace(" ", "_")  # before a peer's words stands who it is
        self._log.write("run", label)
        await asyncio.sleep(0)
        self._log.write("ran", label)
        return ModelReply(text=result_of(label), finish_reason="stop")

    async def summarise(self, messages: Sequence[Message]) -> str:
        return messages[0].text

    def for_child(self, kind: str) -> "Logging":
        return self


def observed(log: Log) -> hl.HookEngine:
    """An engine whose observers log what they are told."""
    engine = hl.new_engine()

    @engine.on(InputAccepted)
    async def accepted(event: InputAccepted) -> None:
        log.write("accepted", event.input_id)

    @engine.on(InputDeduplicated)
    async def deduplicated(event: InputDeduplicated) -> None:
        log.write("deduplicated", event.input_id, event.existing_input_id)

    @engine.on(InteractionCompleted)
    async def completed(event: InteractionCompleted) -> None:
        log.write("completed", event.interaction_id, event.result.replace(" ", "_"))

    return engine


def step_at_statements(steps: Steps) -> None:
    """Make every statement of SQLite a step of this process."""

    class Stepping(sqlite3.Connection):
        def execute(self, *args: Any) -> sqlite3.Cursor:
            number = steps.before(What.STATEMENT)
            rows = super().execute(*args)
            steps.after(What.STATEMENT, number)
            return rows

    connect = sqlite3.connect

    def connect_stepping(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        return connect(*args, factory=Stepping, **kwargs)

    sqlite3.connect = connect_stepping  # type: ignore[assignment]


async def live(program: Program, groups: Sequence[Group], *, url: str, runtime: str, log: Log, workspace: Path) -> None:
    """Do what *program* is, with the inputs of *groups* in the runtime *runtime* of the store at *url*."""
    store = store_for(url)
    await store.open()
    try:
        session = hl.Session(observed(log), model=Logging(log), workspace=workspace, inputs=store, queue=runtime)
        async with session:
            if program is Program.RECOVER:
                await _work_off_all(session)
            else:
                for group in groups:
                    await _give(session, group, log)
                await session.work_off()
    finally:
        await store.aclose()


async def _work_off_all(session: hl.Session) -> None:
    """Also what is still claimed by a process that its server does not know to be gone."""
    serving = asyncio.create_task(session.serve())
    done = asyncio.create_task(session.runtime.worked_off())
    await asyncio.wait({serving, done}, return_when=asyncio.FIRST_COMPLETED)
    for task in (serving, done):
        task.cancel()
    for ended in await asyncio.gather(serving, done, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended


async def _give(session: hl.Session, group: Group, log: Log) -> None:
    match group.way:
        case Way.ADMIT:
            for given in group.given:
                await _admit(session, given, log)
        case Way.TOGETHER:
            await asyncio.gather(*(_admit(session, given, log) for given in group.given))
        case Way.RUN:
            first, *others = group.given
            await asyncio.gather(_run(session, first, log), *(_admit(session, given, log) for given in others))


async def _admit(session: hl.Session, given: Given, log: Log) -> None:
    match await session.admit(Input(id=given.id, kind=InputKind.PROMPT, text=given.label, key=given.key)):
        case Accepted(input_id=input_id):
            log.write("returned", input_id)
        case Deduplicated(existing=existing):
            log.write("existing", given.label, existing)
        case rejected:
            log.write("rejected", given.label, str(rejected).replace(" ", "_"))


async def _run(session: hl.Session, given: Given, log: Log) -> None:
    result = await session.run(given.label, key=given.key)
    log.write("answered", given.label, result.ending.value, result.text.replace(" ", "_"))

"""Laws of cancellation: wherever it meets a session, everything that began has ended, and the account says so."""

import asyncio
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import hookline as hl
from hookline._core.ports import Recorder
from hookline._core.records import (
    CallEnded,
    CallStarted,
    CallStatus,
    HookEnded,
    HookStarted,
    Record,
    RunEnded,
    RunStarted,
    SessionClosed,
    SessionOpened,
)

PAIRS = ((SessionOpened, SessionClosed), (RunStarted, RunEnded), (CallStarted, CallEnded), (HookStarted, HookEnded))

SCRIPT = """
steps:
  - calls:
      - {tool: bash, input: {command: "true"}}
      - {tool: bash, input: {command: sleep 300, background: true}}
      - {tool: subagent_spawn, input: {objective: look}}
  - say: waiting
  - say: done
agents:
  default: {steps: [{call: {tool: bash, input: {command: "false"}}}, {say: seen}]}
"""


class Book:
    """The accounts of all sessions, and which of them were closed."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.opened = 0
        self.closed = 0

    def recorder(self, session_id: str) -> Recorder:
        self.opened += 1
        return self

    def record(self, record: Record) -> None:
        self.records.append(record)

    def close(self) -> None:
        self.closed += 1

    def unpaired(self) -> list[str]:
        """What began and has no end, or the other way round. A call that was refused has an end alone."""
        begun_or_not = (each for each in self.records if getattr(each, "status", None) is not CallStatus.REFUSED)
        counts = Counter(type(record) for record in begun_or_not)
        return [begun.__name__ for begun, ended in PAIRS if counts[begun] != counts[ended]]


def hook_file(folder: Path) -> Path:
    path = folder / "hooks.json"
    command = {"type": "command", "command": "cat >/dev/null"}
    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop", "SessionEnd")
    hooks = {event: [{"hooks": [command, {**command, "async": True}]}] for event in events}
    path.write_text(json.dumps({"hooks": hooks}))
    return path


def carriers(token: str) -> list[str]:
    """The living processes that have *token* in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if token.encode() in (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
    return found


async def session_of(path: Path, book: Book, token: str) -> None:
    env = {"PATH": os.environ["PATH"], "TMPDIR": "/tmp", "TERM": token}
    async with hl.load(path, env=env) as engine:
        session = hl.Session(
            engine,
            model=hl.ScriptModel.parse(SCRIPT, file="script.yaml"),
            tools=hl.tools(),
            journals=book,
            workspace=path.parent,
            approval=hl.ApprovalMode.NEVER,
            env=env,
        )
        async with session:
            await session.run("go")


async def turn(task: "asyncio.Task[Any]", times: int) -> None:
    """Let the loop turn so often, or until *task* is done."""
    for _ in range(times):
        if task.done():
            return
        await asyncio.sleep(0)


# Where to cancel, in turns of the loop: everywhere at the beginning, then further and further apart, past the end.
PLACES = sorted({*range(1, 40), *(int(40 * 1.12**power) for power in range(60))})


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("again", [False, True], ids=["once", "and once more while it ends"])
async def test_a_session_that_is_cancelled_anywhere_leaves_nothing_behind(tmp_path: Path, *, again: bool) -> None:
    """Every session, run, call and hook that began has its end on record; no task, process or open account is left."""
    path = hook_file(tmp_path)
    before = asyncio.all_tasks()
    for turns in PLACES:
        book, token = Book(), uuid4().hex
        task = asyncio.ensure_future(session_of(path, book, token))
        await turn(task, turns)
        task.cancel()
        if again:
            await turn(task, 25)
            task.cancel()
        await asyncio.wait([task])

        assert task.cancelled() or task.exception() is None, (turns, task)
        assert [] == book.unpaired(), turns
        assert book.opened == book.closed, turns
        assert [] == carriers(token), turns
        assert asyncio.all_tasks() == before, turns

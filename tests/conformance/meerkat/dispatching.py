"""Cases of events: through loader and engine, with replies that the case has, or with real programs and servers."""

import asyncio
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.conformance.meerkat.account import Account, decision_line, failure_line
from tests.conformance.meerkat.loading import opened, registered
from tests.conformance.meerkat.making import event_from
from tests.conformance.meerkat.said import Canned, Played, handlers_of, register_again
from tests.conformance.meerkat.server import Server, serving
from tests.conformance.place import Place
from tests.conformance.reading import Case

from hookline._core.errors import ConfigError
from hookline._core.hooks import Hook
from hookline._core.points import Event
from hookline._core.resolution import Resolution
from hookline._engine.engine import HookEngine
from hookline._engines import new_engine
from hookline.dialects.meerkat.report import report_of
from hookline.journal import Journal, journal_path

PATIENCE = 15.0  # seconds for background hooks that were let go: they need none of it


def canned(case: Case, place: Place) -> dict[str, Any]:
    """What comes of events where every hook has the reply that the case gives it."""
    try:
        hooks = registered(opened(case, place))
    except ConfigError as error:
        return {"refused": str(error), "called": [], "failed": None, "ledger": []}
    return {"refused": None, **asyncio.run(_canned(case, hooks))}


async def _canned(case: Case, hooks: tuple[Hook, ...]) -> dict[str, Any]:
    played = Played(case.given.get("replies", {}))
    adapters = Canned(hooks, played).everywhere()
    account = Account()
    events = [event_from(each) for each in _listed(case.given["event"])]
    async with new_engine(hooks=hooks, adapters=adapters) as engine:
        resolutions = await _dispatched(engine, events, account, case)
        running = await _at_work(engine, played)
    return _found(resolutions, hooks, account, played) | {"running": running}


def real(case: Case, place: Place) -> dict[str, Any]:
    """The same where every hook is called: programs of the case, a server on loopback, handlers by their names."""
    return asyncio.run(_real(case, place))


async def _real(case: Case, place: Place) -> dict[str, Any]:
    given = case.given
    place.name("here", str(Path.cwd()))
    place.name("python", shutil.which("python3") or "python3")
    async with (
        serving(given.get("server", {}), place.filled) as server,
        serving(given.get("other", {}), place.filled) as other,
    ):
        place.name("server", server.url)
        place.name("other", other.url)
        for name, text in given.get("files", {}).items():
            place.write(place.workspace / name, text)
        played = Played(given.get("handlers", {}))
        handlers = handlers_of(played) if "handlers" in given else None
        project = opened(case, place, handlers)
        hooks, account = registered(project), Account()
        events = [event_from(place.filled(each)) for each in _listed(given["real"])]
        async with project.engine as engine:
            resolutions = await _dispatched(engine, events[:1], account, case)
            again = register_again(handlers, played, given.get("then", {})) if handlers else []
            resolutions += await _dispatched(engine, events[1:], account, case)
            running = await _at_work(engine, played)
    found = _found(resolutions, hooks, account, played)
    told = {"registered": again, "running": running, "journal": _lines_with(case, place, account)}
    return found | _outside(case, place, server, other) | told


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


async def _dispatched(engine: HookEngine, events: Sequence[Event], account: Account, case: Case) -> list[Resolution]:
    """What came of each event, one after the other, or of all at once."""
    recording = engine.recording(account)
    if case.given.get("at_once"):
        return list(await asyncio.gather(*[recording.dispatch(event) for event in events]))
    return [await recording.dispatch(event) for event in events]


async def _at_work(engine: HookEngine, played: Played) -> list[str]:
    """The background hooks that are at work when the events are over; then let everybody end."""
    await asyncio.sleep(0)  # a task that was made begins with the next turn of the loop
    running = played.running()
    played.release()
    await engine.drain("session", PATIENCE)
    return running


def _found(resolutions: list[Resolution], hooks: tuple[Hook, ...], account: Account, played: Played) -> dict[str, Any]:
    reports = [report_of(each, hooks) for each in resolutions]
    failed = [failure_line(each.failed_run) for each in resolutions]
    decisions = [decision_line(each.get("decision")) for each in reports]
    return {
        "started": _one([each["started"] for each in reports]),
        "outcomes": _one([[_outcome(outcome) for outcome in each["outcomes"]] for each in reports]),
        "report": _one(reports),
        "decision": _one(decisions),
        "failed": _one(failed),
        "events": account.events(),
        "stream": account.stream(),
        "ledger": account.ledger(),
        "called": played.called,
        "payloads": played.payloads,
        "bodies": played.bodies,
        "ended": [name for name, each in played.behaviours.items() if each.ended],
        "cut_off": [name for name, each in played.behaviours.items() if each.cut_off],
    }


def _one(each: list[Any]) -> Any:
    """What came of the one event that most cases have, or of each."""
    return each[0] if len(each) == 1 else each


def _outcome(outcome: dict[str, Any]) -> str:
    """`<hook> <what it decided>`, or behind a colon why it failed."""
    if "failure_reason" in outcome:
        return f"{outcome['hook_id']} failed: {json.dumps(outcome['failure_reason'])}"
    decision = outcome.get("decision")
    return f"{outcome['hook_id']} {'nothing' if decision is None else decision['decision']}"


def _lines_with(case: Case, place: Place, account: Account) -> dict[str, int]:
    """How many lines of the journal hold each of the words that the case wants counted."""
    words = case.want.get("journal", {})
    if not words:
        return {}
    journal = Journal.create(place.home / "sessions", "session")
    for record in account.records:
        journal.record(record)
    journal.close()
    lines = journal_path(place.home / "sessions", "session").read_text(encoding="utf-8").splitlines()
    return {word: sum(word in line for line in lines) for word in words}


def _outside(case: Case, place: Place, server: Server, other: Server) -> dict[str, Any]:
    """What programs and servers saw, and left."""
    want = case.want
    asked = [each["headers"] for each in server.requests]
    return {
        "requests": [f"{each['method']} {each['path']}: {each['body']}" for each in server.requests],
        "redirected": len(other.requests),
        "headers": {name: [each.get(name, []) for each in asked] for name in want.get("headers", {})},
        "files": {name: place.text(name) for name in want.get("files", {})},
        "dead": place.dead(want.get("dead", [])),
        "alive": _alive(str(place.workspace)),
    }


def _alive(word: str) -> list[str]:
    """The command lines of processes that have *word* in them, where there is a way to see them."""
    lines = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:  # it has ended meanwhile
            continue
        if word in line and entry.parent.name != str(os.getpid()):
            lines.append(line)
    return lines

"""Reports about the edges of a session: each fires once, and the end has time of its own."""

import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.rig import PATIENCE, Place, bash, command, document

import hookline as hl
from hookline.journal import entries as en

CLEANS_UP = "trap 'echo cleaned >> log' EXIT; sleep 0.3; echo done >> log"


@pytest.fixture
def bash_place(place: Place) -> Place:
    """Hooks run under bash here: its EXIT trap runs after a signal too, which POSIX leaves open."""
    place.env["SHELL"] = str(shutil.which("bash"))
    return place


def test_b86_the_end_waits_for_its_hooks(bash_place: Place) -> None:
    """A session that ends by itself is over when its SessionEnd hooks are, trap and all."""
    bash_place.write_project(document(SessionEnd=[command(CLEANS_UP, timeout=10)]))

    told = bash_place.exec()

    assert (bash_place.project / "log").read_text() == "done\ncleaned\n"
    assert [outcome.kind for outcome in told.outcomes("session_end")] == ["answered"]


@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [
        pytest.param(signal.SIGINT, 130, "interrupted", id="ctrl-c"),
        pytest.param(signal.SIGTERM, 143, "terminated", id="term"),
        pytest.param(signal.SIGHUP, 129, "terminated", id="hang up"),
    ],
)
def test_b86_a_signal_leaves_the_end_its_time(bash_place: Place, number: int, code: int, reason: str) -> None:
    """Interrupted at work, the session still ends: its hooks run to their end and are on record."""
    os.mkfifo(bash_place.project / "begun")
    bash_place.write_project(document(SessionEnd=[command(CLEANS_UP, timeout=10)]))

    host = bash_place.start(bash("echo x > begun; exec sleep 300"))
    assert (bash_place.project / "begun").read_text() == "x\n"
    host.send_signal(number)
    host.communicate(timeout=PATIENCE)

    assert host.returncode == code
    assert (bash_place.project / "log").read_text() == "done\ncleaned\n"
    ends = [entry.body for entry in bash_place.entries() if isinstance(entry.body, en.Dispatched)]
    assert [(end.event["reason"], end.outcomes[0].kind) for end in ends if end.outcomes] == [(reason, "answered")]


def test_b86_a_signal_while_it_begins_is_told_at_its_end(bash_place: Place) -> None:
    """Terminated before its first run, a session that has begun has an end, with the reason."""
    os.mkfifo(bash_place.project / "begun")
    start, end = command("echo x > begun; exec sleep 300"), command(CLEANS_UP, timeout=10)
    bash_place.write_project(document(SessionStart=[start], SessionEnd=[end]))

    host = bash_place.start()
    assert (bash_place.project / "begun").read_text() == "x\n"
    host.send_signal(signal.SIGTERM)
    host.communicate(timeout=PATIENCE)

    assert host.returncode == 143
    ends = [entry.body for entry in bash_place.entries() if isinstance(entry.body, en.Dispatched)]
    assert [end.event["reason"] for end in ends if end.event["point"] == "session_end"] == ["terminated"]


def test_b86_ctrl_c_during_the_end_lets_traps_run(bash_place: Place) -> None:
    """Who does not want to wait for a SessionEnd hook ends it: it is told first, so its trap runs, and is on record."""
    os.mkfifo(bash_place.project / "begun")
    line = "trap 'echo cleaned >> log' EXIT; echo x > begun; sleep 300; echo done >> log"
    bash_place.write_project(document(SessionEnd=[command(line)]))

    host = bash_place.start()
    assert (bash_place.project / "begun").read_text() == "x\n"
    host.send_signal(signal.SIGINT)
    host.communicate(timeout=PATIENCE)

    assert host.returncode == 130
    assert (bash_place.project / "log").read_text() == "cleaned\n"
    bodies = [entry.body for entry in bash_place.entries()]
    assert [body.outcome.kind for body in bodies if isinstance(body, en.HookEnded)] == ["cancelled"]
    assert isinstance(bodies[-1], en.SessionClosed)


Edge = tuple[str, str, str]

GOLDEN: list[Edge] = [
    ("one", "session_start", "startup"),
    ("one", "session_end", "clear"),
    ("one", "session_start", "clear"),
    ("one", "session_start", "compact"),
    ("two", "session_start", "fork"),
    ("two", "session_end", "other"),
    ("one", "session_end", "other"),
    ("one", "session_start", "resume"),
    ("one", "session_end", "other"),
]


async def test_b88_every_edge_fires_once(tmp_path: Path) -> None:
    """New, three prompts, clear, compact, fork, exit, resume: the start and the end of each, once and in order."""
    engine = hl.new_engine()
    edges: list[Edge] = []
    ids: dict[str, str] = {}

    @engine.on(hl.SessionStart)
    async def started(event: hl.SessionStart) -> None:
        name = ids.setdefault(event.origin.session_id, "one" if not ids else "two")
        edges.append((name, event.point.name, event.source))

    @engine.on(hl.SessionEnd)
    async def ended(event: hl.SessionEnd) -> None:
        edges.append((ids[event.origin.session_id], event.point.name, event.reason))

    journals = hl.JournalFolder(tmp_path)

    def session(**more: Any) -> hl.Session:
        return hl.Session(engine, model=hl.EchoModel(), journals=journals, workspace=tmp_path, **more)

    async with session() as first:
        for prompt in ("a", "b", "c"):
            await first.run(prompt)
        await first.clear()
        await first.run("d")
        await first.compact_now()
        async with first.fork() as other:
            await other.run("e")
    async with session(beginning=journals.resumed(first.id)) as again:
        await again.run("f")

    assert edges == GOLDEN


def test_b89_the_same_hook_in_two_sources_runs_twice(place: Place) -> None:
    """Equal hooks of the user and of the project are two hooks, each on record under its own file."""
    hooks = document(Stop=[command("echo ran >> log")])
    place.write_settings(hooks)
    place.write_project(hooks)

    told = place.exec()

    assert (place.project / "log").read_text() == "ran\nran\n"
    assert [(outcome.hook.id, outcome.hook.layer) for outcome in told.outcomes("before_run_end")] == [
        ("settings.json:Stop[0].hooks[0]", "user"),
        ("hooks.json:Stop[0].hooks[0]", "project"),
    ]

"""Reports of answers that met: the configured order decides, never the order in which hooks finish."""

import asyncio
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.rig import (
    PROGRAM,
    TOUCH,
    Place,
    bash_call,
    command,
    document,
    engine_for,
    rewriting,
)
from tests.tool_rig import Willing

import hookline as hl
from hookline._core.messages import ToolSpec
from hookline._core.outcomes import Kind
from hookline._core.reasons import Failure
from hookline._core.resolution import Ignored
from hookline.events import Origin
from hookline.journal import Entry, read
from hookline.journal import entries as en
from hookline.session.ports import CallContext, Risk, ToolResult

REPEATS = 100  # for each of the two orders

LATE = command(f"sleep 0.05; {rewriting(command='echo late')}")
EARLY = command(rewriting(command="echo early"))
FIRST, SECOND = "hooks.json:PreToolUse[0].hooks[0]", "hooks.json:PreToolUse[1].hooks[0]"


@pytest.mark.parametrize(("hooks", "wins"), [([LATE, EARLY], "early"), ([EARLY, LATE], "late")], ids=["early", "late"])
async def test_b51_the_last_in_the_file_wins_every_time(tmp_path: Path, hooks: list[Any], wins: str) -> None:
    """Of two rewrites the later in the file counts, in all of 100 repeats, and the other is reported as ignored.

    The engine is asked directly, twenty events at a time: a start of the program for each would only take longer.
    """
    async with engine_for(tmp_path, document(PreToolUse=hooks)) as engine:
        rounds = [
            await asyncio.gather(*(engine.dispatch(bash_call()) for _ in range(20))) for _ in range(REPEATS // 20)
        ]

    for resolution in chain.from_iterable(rounds):
        assert resolution.event.input == {"command": f"echo {wins}"}  # type: ignore[attr-defined]
        assert resolution.ignored == (Ignored(FIRST, hl.RewriteInput, f"{SECOND} supersedes it"),)


def test_b51_the_session_runs_the_winner_and_tells_of_the_loser(place: Place) -> None:
    """In a session: the last one's input runs, and the stream has a tag for each of the two."""
    place.write_project(document(PreToolUse=[command(f"sleep 0.5; {rewriting(command='touch A')}"), EARLY]))

    told = place.exec(TOUCH, options=("--json",))

    assert told.of(en.CallStarted)[0].input == {"command": "echo early"}
    assert [run["effects"] for run in told.payloads("hook_run_terminal")] == [["rewrite_ignored"], ["rewrite_selected"]]


@pytest.mark.parametrize("quiet_first", [True, False])
def test_b52_silence_erases_nothing(place: Place, quiet_first: bool) -> None:
    """An empty answer beside a rewrite leaves it as it is, on whichever side it stands."""
    quiet, rewrites = command("echo '{}'"), command(rewriting(command="touch REWRITTEN"))
    place.write_project(document(PreToolUse=[quiet, rewrites] if quiet_first else [rewrites, quiet]))

    place.exec(TOUCH)

    assert not place.mark
    assert (place.project / "REWRITTEN").exists()


def test_b53_a_rewrite_is_the_whole_input_and_is_checked(place: Place) -> None:
    """A new input takes the place of the whole old one; one that the tool cannot take fails the call by name."""
    place.write_project(document(PreToolUse=[command(rewriting(timeout_ms=5))]))

    told = place.exec(TOUCH)

    assert not place.mark
    assert told.of(en.CallStarted) == []
    [ended] = told.of(en.CallEnded)
    assert (ended.status, ended.text) == ("failed", f"input rewritten by hook {FIRST}: field `command` is missing")


def test_b53_a_field_that_the_tool_lacks_is_refused(place: Place) -> None:
    """A field under another tool's name for it never reaches the tool, and the error says which hook wrote it."""
    place.write_project(document(PreToolUse=[command(rewriting(command="touch MARK", timeout=5))]))

    told = place.exec(TOUCH)

    assert not place.mark
    [ended] = told.of(en.CallEnded)
    assert ended.text.startswith(f"input rewritten by hook {FIRST}: there is no field `timeout`")


# Both have read before either writes: what happens by chance otherwise happens here every time.
RACES = "n=$(cat n); touch read.$$; while [ $(ls read.* | wc -l) -lt 2 ]; do :; done; echo $((n + 1)) > n"
ADDS = "n=$(cat n); echo $((n + 1)) > n"


async def test_b55_hooks_of_one_event_run_at_once(tmp_path: Path) -> None:
    """Without a lock two hooks that add one to a file lose an addition: they are concurrent, as documented."""
    (tmp_path / "n").write_text("0\n")
    event = hl.AfterToolCall(tool_name="bash", input={}, response="", origin=Origin(cwd=str(tmp_path)))
    async with engine_for(tmp_path, document(PostToolUse=[command(RACES)] * 2), timeout=10) as engine:
        resolution = await engine.dispatch(event)

    assert [outcome.kind for outcome in resolution.outcomes] == [Kind.ANSWERED] * 2
    assert (tmp_path / "n").read_text() == "1\n"


@pytest.mark.slow
async def test_b55_the_lock_keeps_every_addition(tmp_path: Path) -> None:
    """Two hooks an event that take turns with `hookline lock`: 25 events, 50 additions.

    The report had twice as many; each addition starts Python once, and the others would only be more of the same.
    """
    (tmp_path / "n").write_text("0\n")
    event = hl.AfterToolCall(tool_name="bash", input={}, response="", origin=Origin(cwd=str(tmp_path)))
    locked = command(f"{PROGRAM} lock n sh -c '{ADDS}'")
    async with engine_for(tmp_path, document(PostToolUse=[locked] * 2), timeout=10) as engine:
        for _ in range(25):
            assert all(outcome.ok for outcome in (await engine.dispatch(event)).outcomes)

    assert (tmp_path / "n").read_text() == "50\n"


async def test_b56_a_session_travels_with_its_event(tmp_path: Path) -> None:
    """1,000 events of two sessions at once on one engine: each answer and each journal hold their own session only."""
    engine = hl.new_engine()

    @engine.on(hl.BeforeToolCall)
    async def says_where(event: hl.BeforeToolCall) -> hl.AddContext:
        await asyncio.sleep(0)
        return hl.AddContext(event.origin.session_id)

    journals = hl.JournalFolder(tmp_path)
    recorders = {name: journals.recorder(name) for name in ("one", "two")}
    sessions = ["one", "two"] * 500
    dispatches = (
        engine.recording(recorders[name]).dispatch(bash_call(str(number), origin=Origin(session_id=name)))
        for number, name in enumerate(sessions)
    )

    resolutions = await asyncio.gather(*dispatches)
    for recorder in recorders.values():
        recorder.close()

    assert [each.effects(hl.AddContext) for each in resolutions] == [(hl.AddContext(name),) for name in sessions]
    for name in recorders:
        entries = list(read(tmp_path / f"{name}.jsonl"))
        assert len(entries) == 500
        assert {entry.session for entry in entries if isinstance(entry, Entry)} == {name}


class Flag(Willing):
    """A tool that takes effect as soon as it is called. Implements Tool."""

    spec = ToolSpec(name="flag", description="Sets a flag.", parameters={"type": "object"})

    def __init__(self) -> None:
        self.is_set = False

    def risk(self, input: Any, workspace: Path) -> Risk:
        return Risk.CHANGES

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        self.is_set = True
        return ToolResult(text="set")


async def test_b59_a_guard_ends_before_the_action_begins(tmp_path: Path) -> None:
    """A guard that takes 200 ms to deny is waited for: the tool has not set its flag by then, nor ever."""
    engine = hl.new_engine()
    flag = Flag()
    seen: list[bool] = []

    @engine.on(hl.BeforeToolCall)
    async def guard(event: hl.BeforeToolCall) -> hl.Deny:
        await asyncio.sleep(0.2)
        seen.append(flag.is_set)
        return hl.Deny("no")

    model = hl.ScriptModel.parse("steps: [{call: {tool: flag}}]")
    session = hl.Session(engine, model=model, tools=[flag], workspace=tmp_path, approval=hl.ApprovalMode.NEVER)
    async with session:
        await session.run("go")

    assert seen == [False]
    assert not flag.is_set


async def test_f18_an_observer_sees_what_was_denied(tmp_path: Path) -> None:
    """The first answer does not keep later handlers from the event, and a failing observer fails no run."""
    engine = hl.new_engine()
    audit: list[str] = []

    @engine.on(hl.BeforeToolCall)
    async def guard(event: hl.BeforeToolCall) -> hl.Deny:
        return hl.Deny("no")

    @engine.on(hl.BeforeToolCall)
    async def breaks(event: hl.BeforeToolCall) -> None:
        raise RuntimeError("broken")

    @engine.on(hl.BeforeToolCall)
    async def audits(event: hl.BeforeToolCall) -> None:
        audit.append(event.input["command"])

    model = hl.ScriptModel.parse("steps: [{call: {tool: bash, input: {command: touch MARK}}}, {say: done}]")
    async with hl.Session(engine, model=model, tools=hl.tools(), workspace=tmp_path) as session:
        result = await session.run("go")

    assert audit == ["touch MARK"]
    assert (result.ending.value, result.text) == ("completed", "done")
    assert list(tmp_path.iterdir()) == []


async def test_f20_a_second_writer_is_a_conflict_and_no_error() -> None:
    """Two handlers rewrite: the second counts, the first is listed as ignored, nothing is raised. An error refuses."""
    engine = hl.new_engine()

    @engine.on(hl.BeforeToolCall)
    async def first(event: hl.BeforeToolCall) -> hl.RewriteInput:
        return hl.RewriteInput({"command": "first"})

    @engine.on(hl.BeforeToolCall)
    async def second(event: hl.BeforeToolCall) -> hl.RewriteInput:
        return hl.RewriteInput({"command": f"second after {event.input['command']}"})

    rewritten = await engine.dispatch(bash_call())

    assert rewritten.event.input == {"command": "second after first"}  # type: ignore[attr-defined]
    assert [(each.what, each.hook.rpartition(".")[2]) for each in rewritten.ignored] == [(hl.RewriteInput, "first")]

    @engine.on(hl.BeforeToolCall)
    async def breaks(event: hl.BeforeToolCall) -> hl.Deny | None:
        raise KeyError("command")

    refused = await engine.dispatch(bash_call())

    assert refused.denied
    assert refused.outcomes[-1].why is Failure.CRASHED

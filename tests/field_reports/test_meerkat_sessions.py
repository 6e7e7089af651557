"""Reports of order, of several sessions and of a session's edges, under Meerkat: asked in turn, once, and by name."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.meerkat_rig import (
    BACKGROUND,
    DENIES,
    GUARD,
    MARKED,
    OBSERVER,
    QUIET,
    Json,
    calls,
    configuration,
    denial,
    entry,
    guard,
    live,
    opened,
    printing,
    runs,
)
from tests.field_reports.rig import CHILD, PATIENCE, Place, bash, wait_for_end
from tests.tool_rig import Willing

import hookline as hl
from hookline._core.messages import ToolSpec
from hookline._core.outcomes import Kind
from hookline._core.records import SessionClosed
from hookline._core.resolution import Resolution
from hookline.events import Origin
from hookline.session.ports import CallContext, ToolResult


@pytest.mark.parametrize("slow_first", [True, False])
async def test_b51_the_priority_decides_and_never_who_is_faster(tmp_path: Path, slow_first: bool) -> None:
    """Two guards deny, one of them slow: the one of the lower priority is asked first, and its word is the reason."""
    slow = runs(f"sleep 0.1; {printing(denial('slow'))}")
    fast = runs(printing(denial("fast")))
    config = configuration(
        entry("slow", slow, priority=1 if slow_first else 2, **GUARD),
        entry("fast", fast, priority=2 if slow_first else 1, **GUARD),
    )

    lived = await live(tmp_path, config)

    assert lived.told == [f"tool blocked by hook: {'slow' if slow_first else 'fast'}"]


async def test_b51_equals_are_asked_in_the_order_of_the_file(tmp_path: Path) -> None:
    """The priority, as far apart as they may be, and among equals the place in the file: nothing else decides."""
    wanted = {"d": 2**31 - 1, "a": -(2**31), "c": 100, "b": 0, "e": 2**31 - 1}
    known, order = hl.Handlers(), list[str]()

    def notes(name: str) -> Callable[[Json], None]:
        return lambda _: order.append(name)

    for name in wanted:
        known.register(name, notes(name))
    config = configuration(*(entry(name, calls(name), priority=number) for name, number in wanted.items()))

    lived = await live(tmp_path, config, handlers=known)

    assert order == ["a", "b", "c", "d", "e"]
    assert [outcome.hook.label for outcome in lived.kept.outcomes("before_tool_call")] == order


ADDS = "n=$(cat {n}); echo $((n + 1)) > {n}; echo '{{}}'"


async def test_b55_hooks_of_one_event_take_turns(tmp_path: Path) -> None:
    """Two hooks that each read, add one and write: 10 events, 20 additions, none of them lost."""
    counter = tmp_path / "n"
    counter.write_text("0\n")
    adds = runs(ADDS.format(n=counter))
    config = configuration(*(entry(name, adds, point="post_tool_execution") for name in ("a", "b")))

    lived = await live(tmp_path, config, *[bash("true")] * 10)

    assert [outcome.kind for outcome in lived.kept.outcomes("after_tool_call")] == [Kind.ANSWERED] * 20
    assert counter.read_text() == "20\n"


async def test_b56_a_session_travels_with_its_event(tmp_path: Path) -> None:
    """500 events of two sessions at once on one engine: each envelope, and so each denial, has its own session only."""
    known = hl.Handlers()

    async def says_where(envelope: Json) -> hl.Deny:
        await asyncio.sleep(0)
        return hl.Deny(envelope["session_id"])

    known.register("says_where", says_where)
    ids = [f"0190a7e0-0000-7000-8000-00000000000{number % 2}" for number in range(500)]
    config = configuration(entry("guard", calls("says_where"), **GUARD))
    async with opened(tmp_path, config, handlers=known).engine as engine:

        async def asked(session_id: str) -> Resolution:
            event = hl.BeforeToolCall(tool_name="bash", input={}, origin=Origin(session_id=session_id))
            return await engine.dispatch(event)

        resolutions = await asyncio.gather(*map(asked, ids))

    assert [resolution.reason for resolution in resolutions] == ids


class Flag(Willing):
    """A tool that takes effect as soon as it is called. Implements Tool."""

    spec = ToolSpec(name="flag", description="Sets a flag.", parameters={"type": "object"})

    def __init__(self) -> None:
        self.sets = 0

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        self.sets += 1
        return ToolResult(text="set")


@pytest.mark.parametrize("count", [1, 3])
async def test_b59_every_guard_ends_before_any_action_begins(tmp_path: Path, count: int) -> None:
    """A guard that takes its time is waited for, for all calls of a batch, before the first of them is run."""
    flag, known, seen = Flag(), hl.Handlers(), list[int]()

    async def looks(envelope: Json) -> hl.Deny | None:
        await asyncio.sleep(0.05)
        seen.append(flag.sets)
        return hl.Deny("no") if envelope["tool_call"]["args"].get("last") else None

    known.register("looks", looks)
    batch = [{"tool": "flag", "input": {"last": number == count - 1}} for number in range(count)]
    config = configuration(entry("guard", calls("looks"), **GUARD))

    await live(tmp_path, config, {"calls": batch}, tools=[flag], handlers=known)

    assert seen == [0] * count
    assert flag.sets == count - 1


async def test_b35_a_denial_survives_every_allow(tmp_path: Path) -> None:
    """An allow is no answer for others: a guard behind it is asked all the same, and denies."""
    allow = runs(printing({"decision": {"decision": "allow"}}))
    config = configuration(entry("allows", allow, priority=1, **GUARD), guard(DENIES), entry("last", allow, **GUARD))

    lived = await live(tmp_path, config)

    assert lived.told == ["tool blocked by hook: no"]
    assert not lived.mark


async def test_b52_silence_erases_nothing(tmp_path: Path) -> None:
    """Of two denials' neighbours those that say nothing leave them as they are, on whichever side they stand."""
    for before, after in ((1, 200), (200, 1)):
        quiet = entry("quiet", runs(QUIET), priority=before, **GUARD)
        other = entry("null", runs(printing({"decision": None})), priority=after, **OBSERVER)

        lived = await live(tmp_path, configuration(quiet, guard(DENIES), other))

        assert (lived.told, lived.mark) == (["tool blocked by hook: no"], False)


GOLDEN = [
    ("run_started", None),
    ("pre_llm_request", 0),
    ("post_llm_response", 0),
    ("pre_tool_execution", 0),
    ("pre_tool_execution", 0),
    ("post_tool_execution", 0),
    ("post_tool_execution", 0),
    ("turn_boundary", 0),
    ("pre_llm_request", 1),
    ("post_llm_response", 1),
    ("turn_boundary", 1),
    ("run_completed", 2),
    ("run_started", None),
    ("pre_llm_request", 0),
    ("post_llm_response", 0),
    ("turn_boundary", 0),
    ("run_completed", 1),
]
LOOP = sorted({point for point, _ in GOLDEN} | {"run_failed"})


async def test_b88_every_point_fires_once_and_in_order(tmp_path: Path) -> None:
    """Two prompts, a batch of two calls in the first: the golden list, with `turn_number` where there is one."""
    known, fired = hl.Handlers(), list[tuple[str, int | None]]()
    known.register("log", lambda envelope: fired.append((envelope["point"], envelope.get("turn_number"))))
    config = configuration(*(entry(point, calls("log"), point=point) for point in LOOP))
    batch = {"calls": [{"tool": "bash", "input": {"command": "true"}}] * 2}

    lived = await live(tmp_path, config, batch, prompts=("one", "two"), handlers=known)

    assert [result.ending.value for result in lived.results] == ["completed", "completed"]
    assert fired == GOLDEN


@pytest.mark.parametrize("point", [point for point in LOOP if point != "run_failed"])
async def test_b88_a_run_that_fails_has_one_end(tmp_path: Path, point: str) -> None:
    """Wherever its hook fails, `run_failed` fires once, with that hook's failure, and `run_completed` does not."""
    known, ends = hl.Handlers(), list[Json]()
    known.register("log", ends.append)
    watches = [entry(name, calls("log"), point=name) for name in ("run_failed", "run_completed")]
    guards = entry("guard", runs("exit 3"), point=point, priority=1, **GUARD)

    lived = await live(tmp_path, configuration(guards, *watches), handlers=known)

    assert [(end["point"], end["error_class"]) for end in ends] == [("run_failed", "hook")]
    assert ends[0]["error_report"] == {
        "class": "hook",
        "reason": {
            "reason_type": "hook_execution_failed",
            "hook_id": "guard",
            "reason": "command hook exited with exit status: 3: ",
        },
        "message": "Hook execution failed for 'guard': command hook exited with exit status: 3: ",
    }
    assert lived.ending == "failed"


async def test_b88_a_session_goes_on_after_a_run_that_failed(tmp_path: Path) -> None:
    """One that fails costs its own run: the next prompt has all its hooks again, and completes."""
    once = tmp_path / "once"
    lived = await live(tmp_path, configuration(guard(f"mkdir {once} && exit 3; {QUIET}")), MARKED, MARKED, prompts="ab")

    assert [result.ending.value for result in lived.results] == ["failed", "completed"]
    assert lived.mark


@pytest.mark.slow
async def test_b86_background_hooks_have_two_seconds_and_are_named(tmp_path: Path) -> None:
    """One that would end in time does; one that would not is ended, with its children, and named at the end."""
    quick = entry("quick", runs(f"sleep 0.3; touch {tmp_path}/QUICK; {QUIET}"), **BACKGROUND)
    line = f"sleep 300 & echo $$ $! > {tmp_path}/pids; sleep 300"
    stuck = entry("stuck", runs(line), timeout_ms=60_000, **BACKGROUND)

    lived = await live(tmp_path, configuration(quick, stuck))

    assert (tmp_path / "QUICK").exists()
    [closed] = lived.kept.of(SessionClosed)
    assert closed.abandoned == ("meerkat:stuck",)
    assert [outcome.kind for outcome in lived.kept.ended("stuck")] == [Kind.CANCELLED]
    for pid in (tmp_path / "pids").read_text().split():
        assert wait_for_end(int(pid))


def test_b86_an_interrupted_run_is_told_as_failed(place: Place) -> None:
    """Ctrl-C while a tool runs: hooks of `run_failed` run to their end, and know that it was an interruption."""
    os.mkfifo(place.project / "begun")
    line = f"cat > failed; sleep 0.3; touch TOLD; {QUIET}"
    place.write_rkat(configuration(entry("last", runs(line), point="run_failed")))

    host = place.start(bash("echo x > begun; exec sleep 300"))
    assert (place.project / "begun").read_text() == "x\n"
    host.send_signal(signal.SIGINT)
    host.communicate(timeout=PATIENCE)

    assert host.returncode == 130
    assert (place.project / "TOLD").exists()
    assert json.loads((place.project / "failed").read_text())["error_class"] == "cancelled"


def test_b95_a_child_agent_has_the_same_guards(place: Place) -> None:
    """A call that a child makes is asked about, under the child's own session, and denied like its parent's."""
    judge = f"cat >> envelopes; echo >> envelopes; tail -n 1 envelopes | grep -q MARK && {DENIES} || {QUIET}"
    place.write_rkat(configuration(guard(judge)))
    told = place.exec(script=CHILD)

    assert (told.code, place.mark) == (0, False)
    envelopes = [json.loads(line) for line in (place.project / "envelopes").read_text().splitlines()]
    assert [each["tool_call"]["name"] for each in envelopes] == ["subagent_spawn", "bash"]
    assert len({each["session_id"] for each in envelopes}) == 2

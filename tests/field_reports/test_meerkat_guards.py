"""Reports of guards that did not guard, under Meerkat: whoever is waited for and gives no answer fails the run."""

import asyncio
import sys
import threading
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
    printing,
    runs,
)
from tests.field_reports.rig import INPUTS, PATIENCE, TOUCH, Place

import hookline as hl
from hookline._core.reasons import Failure, Skip
from hookline._core.records import CallEnded, CallStarted
from hookline.journal import entries as en

STRICT = pytest.mark.parametrize("strict", [False, True], ids=["", "strict"])
WAITED_FOR = pytest.mark.parametrize("capability", [GUARD, OBSERVER], ids=["guardrail", "observe"])


@WAITED_FOR
def test_b01_a_guard_that_times_out_fails_the_run(place: Place, capability: Json) -> None:
    """The call is never made, and the run says whose answer did not come; observers are waited for like guards."""
    place.write_rkat(configuration(guard(f"sleep 8; {DENIES}", timeout_ms=200, **capability)))

    told = place.exec(TOUCH)

    assert (told.code, place.mark) == (1, False)
    assert "run ended with Failed: hook meerkat:guard failed: hook timed out after 200ms" in told.lines
    [outcome] = told.outcomes("before_tool_call")
    assert (outcome.kind, outcome.why) == ("failed", "timeout")
    assert told.of(en.CallStarted) == []


def test_b01_a_background_hook_that_times_out_is_on_record(place: Place) -> None:
    """Nobody waits for it, so nothing depends on it; that it gave no answer is told at the end all the same."""
    place.write_rkat(configuration(guard("sleep 8", timeout_ms=200, **BACKGROUND)))

    told = place.exec(TOUCH)

    assert (told.code, place.mark) == (0, True)
    assert [body.outcome.why for body in told.of(en.HookEnded)] == ["timeout"]
    assert "hookline: hook meerkat:guard failed: hook timed out after 200ms" in told.lines


@STRICT
@pytest.mark.parametrize("code", [1, 2, 77])
async def test_b04_no_exit_status_but_zero_is_an_answer(tmp_path: Path, code: int, strict: bool) -> None:
    """Exit 1 with BLOCKED, and exit 2 too: a failure with its status and its words, which fails the run."""
    lived = await live(tmp_path, configuration(guard(f"echo BLOCKED >&2; exit {code}")), strict=strict)

    reason = f"hook meerkat:guard failed: command hook exited with exit status: {code}: BLOCKED"
    assert (lived.ending, lived.result.reason, lived.mark) == ("failed", reason, False)


@STRICT
async def test_b05_a_guard_that_cannot_start_fails_the_run(tmp_path: Path, strict: bool) -> None:
    """A path that leads nowhere, and a file without the x bit: an outcome of its own, with the path and the reason."""
    script = tmp_path / "guard.py"
    script.write_text("#!/bin/sh\necho '{}'\n")
    told = {
        "/no/such/guard.py": "program /no/such/guard.py: No such file or directory (os error 2)",
        str(script): f"program {script}: Permission denied (os error 13)",
    }
    for command, why in told.items():
        config = configuration(entry("guard", {"type": "command", "command": command}, **GUARD))
        lived = await live(tmp_path, config, strict=strict)

        [outcome] = lived.kept.outcomes("before_tool_call")
        assert (outcome.why, outcome.detail) == (Failure.COULD_NOT_START, f"failed to spawn command hook: {why}")
        assert (lived.ending, lived.mark) == ("failed", False)


async def test_b07_a_guard_that_keeps_failing_stays_a_guard(tmp_path: Path) -> None:
    """Three infra failures switch nothing off: each fails its run, and the next call is asked about again."""
    judge = f"grep -q 'cat a' && exit 70; {DENIES}"
    fails, denied = {"call": {"tool": "bash", "input": {"command": "cat a"}}}, MARKED

    lived = await live(tmp_path, configuration(guard(judge)), fails, fails, fails, denied, prompts=("1", "2", "3", "4"))

    assert [result.ending.value for result in lived.results] == ["failed", "failed", "failed", "completed"]
    assert lived.told == [*["no result: the run was interrupted"] * 3, "tool blocked by hook: no"]
    assert not lived.mark


async def test_b08_a_guard_that_crashes_says_its_last_words(tmp_path: Path) -> None:
    """A crash before anything was printed fails the run, with what stood on standard error."""
    crash = {"type": "command", "command": sys.executable, "args": ["-I", "-c", "import missing_module"]}
    lived = await live(tmp_path, configuration(entry("guard", crash, **GUARD)))

    assert (lived.ending, lived.mark) == ("failed", False)
    assert "No module named 'missing_module'" in str(lived.result.reason)


@pytest.mark.parametrize("line", ["exec /no/such/bin", "sleep 9", "kill -9 $$", "exit 0", "echo", "echo null"])
async def test_b09_the_outcome_decides_and_never_a_number(tmp_path: Path, line: str) -> None:
    """However a guard ends without an answer, exit status 0 and empty output included, the call is not made."""
    lived = await live(tmp_path, configuration(guard(line, timeout_ms=300)))

    assert (lived.ending, lived.mark) == ("failed", False)
    [outcome] = lived.kept.outcomes("before_tool_call")
    assert isinstance(outcome.why, Failure)
    assert lived.result.reason == f"hook meerkat:guard failed: {outcome.detail}"


@pytest.mark.parametrize("tool_denial", ["tool_error", "fail_run"])
def test_b11_an_always_deny_guard_means_no_call_at_all(place: Place, tool_denial: str) -> None:
    """Every tool there is, asked for in one batch: none starts, and none is told of as finished."""
    wanted = [{"tool": name, "input": given} for name, given in INPUTS.items()]
    after = entry("after", runs("touch AFTER; echo '{}'"), point="post_tool_execution")
    place.write_rkat(configuration(guard(printing(denial("never"))), after, tool_denial=tool_denial))
    (place.project / "there.txt").write_text("here")

    told = place.exec({"calls": wanted})

    assert told.of(en.CallStarted) == told.dispatched("after_tool_call") == told.dispatched("subagent_start") == []
    assert sorted(path.name for path in place.project.iterdir()) == [".rkat", "there.txt"]
    assert (place.project / "there.txt").read_text() == "here"
    if tool_denial == "tool_error":
        assert [ended.text for ended in told.of(en.CallEnded)] == ["tool blocked by hook: never"] * len(INPUTS)
        assert told.code == 0
    else:
        assert told.code == 1
        assert told.lines[-1] == "run ended with Failed: never"


@STRICT
@pytest.mark.parametrize("line", ["exit 3", "sleep 9", "echo '{not-json'", "echo 'not-json{'", "echo '[]'"])
@WAITED_FOR
async def test_b13_nothing_sound_means_no_mark(tmp_path: Path, line: str, capability: Json, strict: bool) -> None:
    """Three ways to give no answer before a tool that makes MARK: there is none, strict or not."""
    lived = await live(tmp_path, configuration(guard(line, timeout_ms=300, **capability)), strict=strict)

    assert (lived.ending, lived.mark) == ("failed", False)


async def test_b13_a_failing_guard_keeps_the_whole_batch(tmp_path: Path) -> None:
    """Where one call of a batch gets no answer none of them runs, also those that were allowed."""
    fails = f"grep -q second && exit 3; {QUIET}"
    batch = [{"tool": "bash", "input": {"command": f"touch {name}"}} for name in ("first", "second", "third")]

    lived = await live(tmp_path, configuration(guard(fails)), {"calls": batch})

    assert lived.ending == "failed"
    assert lived.kept.of(CallStarted) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [".rkat"]


def handlers() -> hl.Handlers:
    known = hl.Handlers()

    async def hangs(envelope: Any) -> None:
        await asyncio.Event().wait()

    def breaks(envelope: Any) -> None:
        raise OSError("gone")

    def babbles(envelope: Any) -> Any:
        return {"action": "certainly"}

    def leaves(envelope: Any) -> None:
        raise SystemExit(0)

    for function in (hangs, breaks, babbles, leaves):
        known.register(function.__name__, function)
    return known


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("hangs", "hook timed out after 50ms"),
        ("breaks", "OSError: gone"),
        ("babbles", "invalid in-process hook response: unknown field `action`, expected `decision`"),
        ("leaves", "SystemExit: 0"),
    ],
)
@WAITED_FOR
async def test_f12_a_handler_that_breaks_fails_the_run(tmp_path: Path, name: str, why: str, capability: Json) -> None:
    """A handler of the program's that hangs, raises, leaves or babbles is no allow, and bounded by its limit."""
    config = configuration(entry("guard", calls(name), timeout_ms=50, **capability))
    lived = await live(tmp_path, config, handlers=handlers())

    assert (lived.ending, lived.mark) == ("failed", False)
    assert lived.result.reason == f"hook meerkat:guard failed: {why}"


async def test_f15_a_blocking_handler_does_not_stop_the_loop(tmp_path: Path) -> None:
    """A synchronous handler runs beside the loop, is given up at its limit, and has not allowed anything by then."""
    known, over = hl.Handlers(), threading.Event()
    ticks = 0

    def blocks(envelope: Any) -> None:
        over.wait(PATIENCE)

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    known.register("blocks", blocks)
    ticking = asyncio.ensure_future(tick())
    lived = await live(
        tmp_path, configuration(entry("guard", calls("blocks"), timeout_ms=200, **GUARD)), handlers=known
    )
    ticking.cancel()
    over.set()

    assert lived.result.reason == "hook meerkat:guard failed: hook timed out after 200ms"
    assert not lived.mark
    assert ticks > 3


async def test_f16_at_the_end_of_a_failed_run_nobody_stops_the_others(tmp_path: Path) -> None:
    """At `run_failed` nothing depends on any hook any more, so those behind one that failed are called."""
    last = [
        entry(f"h{number}", runs(line), point="run_failed") for number, line in enumerate(("exit 3", "echo", QUIET))
    ]
    lived = await live(tmp_path, configuration(guard("exit 9"), *last))

    assert [outcome.ok for outcome in lived.kept.outcomes("run_failed")] == [False, False, True]
    assert lived.result.reason == "hook meerkat:guard failed: command hook exited with exit status: 9: "


@pytest.mark.parametrize("line", ["exit 3", DENIES], ids=["fails", "denies"])
async def test_f16_a_failed_observer_stops_those_behind_it_only_where_it_is_waited_for(
    tmp_path: Path, line: str
) -> None:
    """Background hooks of one event are independent: the second is called whatever the first comes to."""
    first, second = (entry(name, runs(said), **BACKGROUND) for name, said in (("a", line), ("b", QUIET)))
    lived = await live(tmp_path, configuration(first, second))

    assert (lived.ending, lived.mark) == ("completed", True)
    assert [outcome.ok for outcome in lived.kept.ended("b")] == [True]


async def test_trap6_a_denial_skips_those_behind_it_and_says_so(tmp_path: Path) -> None:
    """An auditor behind a denial misses it, in the background too; one before it, and one after the call, do not."""
    log = tmp_path / "log"
    noting = {name: runs(f"echo {name} >> {log}; {QUIET}") for name in ("before", "behind", "background")}
    lived = await live(
        tmp_path,
        configuration(
            entry("behind", noting["behind"], priority=200),
            entry("background", noting["background"], **BACKGROUND),
            guard(DENIES, priority=100),
            entry("before", noting["before"], priority=1),
        ),
    )

    assert log.read_text() == "before\n"
    skipped = {outcome.hook.label: outcome.why for outcome in lived.kept.outcomes("before_tool_call") if not outcome.ok}
    assert skipped["behind"] is Skip.DENIED_EARLIER
    assert [outcome.why for outcome in lived.kept.ended("background")] == [Skip.DENIED_EARLIER]
    assert [ended.text for ended in lived.kept.of(CallEnded)] == ["tool blocked by hook: no"]


@pytest.mark.parametrize("capability", [OBSERVER, BACKGROUND], ids=["foreground", "background"])
async def test_trap6_who_may_not_deny_has_not_allowed_either(tmp_path: Path, capability: Json) -> None:
    """A denial by an observer is a breach: it fails the run where it is waited for, and has a note where it is not."""
    lived = await live(tmp_path, configuration(guard(DENIES, **capability)))

    [outcome] = lived.kept.ended("guard")
    if capability is OBSERVER:
        assert outcome.detail.startswith("observe_only_violation: ")
        assert (lived.ending, lived.mark) == ("failed", False)
    else:
        assert outcome.answer is not None
        assert outcome.answer.notes == ("the deny of a background hook changes nothing",)
        assert (lived.ending, lived.mark) == ("completed", True)


@STRICT
async def test_trap1_padding_a_call_past_the_cap_fails_the_run(tmp_path: Path, strict: bool) -> None:
    """An envelope over `payload_max_bytes` reaches no hook, and passes none: the run fails with both sizes."""
    padded = {"call": {"tool": "bash", "input": {"command": "touch MARK", "description": "x" * 1000}}}
    lived = await live(tmp_path, configuration(guard(QUIET), payload_max_bytes=1000), padded, strict=strict)

    assert (lived.ending, lived.mark) == ("failed", False)
    assert str(lived.result.reason).startswith("hook meerkat:guard failed: hook payload exceeds max size: 1")
    assert str(lived.result.reason).endswith(" > 1000")

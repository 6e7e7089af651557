import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookline._core import records as rec
from hookline._core.answer import Answer
from hookline._core.decisions import Deny
from hookline._core.effects import AddContext, RewriteInput
from hookline._core.events import AfterToolCall, BeforeToolCall, InputAccepted
from hookline._core.hooks import Hook, Source
from hookline._core.inputs import InputKind
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import Exited
from hookline._core.points import Event, Origin
from hookline._core.reasons import Failure, Skip
from hookline._core.resolution import Applied, Ignored, Resolution
from hookline._core.targets import CommandTarget
from hookline.journal import Damage, Journal, read
from hookline.workbench.report import HookRow, Report, report
from hookline.workbench.report_rows import report_lines, size

SESSION = Origin(session_id="s1")
RUN = Origin(session_id="s1", run_id="r1")
CALL = BeforeToolCall(tool_name="bash", input={"command": "ls"}, call_id="c1", origin=RUN)
OPENED = rec.SessionOpened(origin=SESSION, source="startup", workspace="/p")
CLOSED = rec.SessionClosed(origin=SESSION, reason="other")
ENDED = rec.RunEnded(origin=RUN, ending=rec.Ending.CANCELLED)

Written = Sequence[tuple[float, rec.Record]]  # milliseconds since the beginning, and what was recorded then
Reported = Callable[..., Report]


def written(folder: Path, name: str, lines: Written) -> Path:
    at = iter([1_790_000_000_000_000 + int(after * 1000) for after, _ in lines])
    journal = Journal.create(folder, name, clock=at.__next__)
    for _, record in lines:
        journal.record(record)
    journal.close()
    return journal.path


@pytest.fixture
def reported(tmp_path: Path) -> Reported:
    """The report of some records, each a millisecond after the one before unless it says when it was written."""

    def tell(*lines: Any) -> Report:
        timed = [each if isinstance(each, tuple) else (place, each) for place, each in enumerate(lines)]
        return report(read(written(tmp_path, "s1", timed)))

    return tell


def hook(id: str = "guard", file: str = "hooks.json", **changes: Any) -> Hook:
    given: dict[str, Any] = {
        "id": id,
        "event": BeforeToolCall,
        "target": CommandTarget((id,), {}),
        "dialect": "muse",
        "commits": frozenset({Deny, AddContext, RewriteInput}),
        "source": Source(layer="project", label=file, path=file),
    }
    return Hook(**{**given, **changes})


GUARD = hook()
AUDITOR = hook("auditor", background=True)


def outcome(of: Hook = GUARD, kind: Kind = Kind.ANSWERED, *, ran: float = 0.01, **more: Any) -> Outcome:
    return Outcome(hook=of, kind=kind, ran=ran, **{"started": 1_790_000_000.0, **more})


def failed(of: Hook = GUARD, why: Failure = Failure.TIMEOUT, **more: Any) -> Outcome:
    return outcome(of, Kind.FAILED, why=why, **more)


def dispatched(*outcomes: Outcome, event: Event = CALL, took: float = 0.0, **more: Any) -> rec.Dispatched:
    resolution = Resolution(event=event, outcomes=outcomes, **more)
    return rec.Dispatched(origin=event.origin, event=event, resolution=resolution, duration=took)


def began(of: Hook, event: Event = CALL) -> rec.HookStarted:
    return rec.HookStarted(origin=event.origin, hook=of, event=event)


def ended(how: Outcome, event: Event = CALL) -> rec.HookEnded:
    return rec.HookEnded(origin=event.origin, outcome=how, event=event)


def only(made: Report) -> HookRow:
    [row] = made.hooks
    return row


def test_a_hook_counts_once_at_each_event(reported: Reported) -> None:
    """It has two lines of its own and stands in the resolution too; that is one call, at one of two occurrences."""
    made = reported(began(GUARD), ended(outcome()), dispatched(outcome()), dispatched())

    row = only(made)
    assert (1, 1, 1, 2) == (row.calls, row.matched, row.answered, row.occurrences)
    assert ("muse", "project", "hooks.json", "guard") == (row.dialect, row.layer, row.file, row.id)
    assert ("before_tool_call",) == row.points


def test_an_event_counts_only_where_the_hook_was_asked(tmp_path: Path) -> None:
    """Of two sessions the second never asked the hook, so what happened there are no occurrences of its event."""
    first = written(tmp_path, "s1", [(0, dispatched(outcome())), (1, dispatched())])
    second = written(tmp_path, "s2", [(0, dispatched(outcome(AUDITOR))), (1, dispatched()), (2, dispatched())])

    made = report(entry for path in (first, second) for entry in read(path))

    assert {"guard": 2, "auditor": 3} == {row.id: row.occurrences for row in made.hooks}
    assert (2, 5) == (made.journals, made.lines)


def test_decisions_that_were_said_and_those_that_counted(reported: Reported) -> None:
    """Two hooks denied; the first one's word counts. What it changed, and what was ignored, is its own."""
    denying = Answer(decision=Deny("no"))
    made = reported(
        dispatched(
            outcome(answer=denying),
            outcome(AUDITOR, answer=denying),
            decision=Deny("no"),
            decided_by="guard",
            applied=(Applied("guard", AddContext("look")), Applied("guard", RewriteInput({}))),
            ignored=(Ignored("auditor", Deny, "denied already"),),
        )
    )

    guard, auditor = sorted(made.hooks, key=lambda row: row.id, reverse=True)
    assert ({"deny": 1}, {"deny": 1}) == (guard.said, guard.decided)
    assert ({"deny": 1}, {}, 1) == (auditor.said, auditor.decided, auditor.ignored)
    assert {"add_context": 1, "rewrite_input": 1} == guard.applied


def test_failures_skips_and_kills(reported: Reported) -> None:
    """By their reasons; a call that ran into a limit was killed, and so was one that left processes behind."""
    left = Exited(code=0, stdout=b"12345", stderr=b"1", stdin_size=100, left_behind=2)
    made = reported(
        dispatched(failed(), decision=Deny("x"), decided_by=None),
        dispatched(failed(why=Failure.EXIT_CODE)),
        dispatched(failed(why=Failure.OUTPUT_TOO_LARGE), failed_run=failed()),
        dispatched(outcome(reply=left)),
        dispatched(outcome(kind=Kind.SKIPPED, why=Skip.DENIED_EARLIER, started=0.0)),
    )

    row = only(made)
    assert {"timeout": 1, "exit_code": 1, "output_too_large": 1} == row.failed
    assert {"denied_earlier": 1} == row.skipped
    assert (5, 4, 1) == (row.matched, row.calls, row.answered)
    assert (3, 2) == (row.killed, row.left_behind)
    assert (2, 1) == (row.unheard, row.failed_runs)  # the second, and the one that was skipped; not those that denied
    assert (100, 6) == (row.bytes_in, row.bytes_out)


def test_a_background_hook_is_told_by_its_own_lines(reported: Reported) -> None:
    """It began, was resolved without, and ended behind the run; another found its lane full."""
    told = AfterToolCall(tool_name="bash", input={}, call_id="c1", origin=RUN)
    full = outcome(AUDITOR, Kind.SKIPPED, why=Skip.LANE_FULL, started=0.0)
    made = reported(
        began(AUDITOR, told), dispatched(event=told), ENDED, ended(outcome(AUDITOR), told), ended(full, told), CLOSED
    )

    row = only(made)
    assert (2, 1, 1, 0) == (row.matched, row.calls, row.answered, row.no_end)
    assert {"lane_full": 1} == row.skipped
    assert 10 == made.background_ms


def test_what_was_cut_off_counts_as_far_as_it_is_told(reported: Reported) -> None:
    """A run was interrupted while one hook had answered and another had not: no resolution tells of either."""
    other = hook("other")
    made = reported(began(GUARD), began(other), ended(outcome()), ended(outcome(other, Kind.CANCELLED)), ENDED)

    assert {"guard": (1, 0), "other": (0, 1)} == {row.id: (row.answered, row.cancelled) for row in made.hooks}


def test_a_hook_that_was_at_work_when_its_program_died(reported: Reported) -> None:
    """Its call has no end, and no time; a background hook's neither. A session that is resumed does not end them."""
    made = reported(OPENED, began(GUARD), began(AUDITOR), replace(OPENED, source="resume"))

    assert [(1, 1, 0)] * 2 == [(row.calls, row.no_end, row.ran.longest) for row in made.hooks]


def test_a_fallback_has_a_row_of_its_own(reported: Reported) -> None:
    """The hook failed, its fallback denied: the time of each is its own, and so is the denial."""
    fallback = hook("guard.onFailure")
    link = failed(ran=0.5)
    both = outcome(answer=Answer(decision=Deny("no")), by=fallback, links=(link,), ran=0.001)
    made = reported(
        ended(link), ended(replace(both, hook=fallback)), dispatched(both, decision=Deny("no"), decided_by="guard")
    )

    first, second = made.hooks
    assert ("guard", 1, {"timeout": 1}, {}, 500) == (
        first.id,
        first.calls,
        first.failed,
        first.decided,
        first.ran.total,
    )
    assert ("guard.onFailure", 1, {"deny": 1}, 1) == (second.id, second.answered, second.decided, second.ran.total)


def test_times_are_percentiles_of_what_ran(reported: Reported) -> None:
    """Of a hundred calls the 50th and the 95th, within 1 %; the longest and the sum are exact."""
    made = reported(*(dispatched(outcome(ran=number / 1000, queued=0.002)) for number in range(1, 101)))

    row = only(made)
    assert (50, 95) == (pytest.approx(row.ran.p50, rel=0.01), pytest.approx(row.ran.p95, rel=0.01))
    assert (100, 5050) == (row.ran.longest, pytest.approx(row.ran.total))
    assert 2 == pytest.approx(row.queued.p95, rel=0.01)


def test_the_time_that_was_waited_counts_once(reported: Reported) -> None:
    """Events that were asked about at once, or within one another, were one wait; what is told aside was none."""
    aside = InputAccepted(origin=SESSION, input_id="i", input_kind=InputKind.PROMPT)
    made = reported(
        (0, OPENED),
        (100, dispatched(outcome(), took=0.050)),
        (110, dispatched(outcome(), took=0.040)),
        (300, dispatched(outcome(), took=0.230)),
        (400, dispatched(outcome(), event=aside, took=0.090)),
        (1000, CLOSED),
    )

    assert (1000, 250, 0.25) == (made.took_ms, made.waited_ms, made.share)


def test_the_time_between_an_end_and_a_resumption_is_nobodys(reported: Reported) -> None:
    """A session that was resumed a day later did not take a day."""
    made = reported((0, OPENED), (50, CLOSED), (86_400_000, replace(OPENED, source="resume")), (86_400_050, CLOSED))

    assert (100, 0.0) == (made.took_ms, made.share)


def test_hooks_of_two_files_are_two(reported: Reported) -> None:
    """The same id in another project's file is another hook, and then the file is shown."""
    made = reported(dispatched(outcome(hook(file="/a/hooks.json")), outcome(hook(file="/b/hooks.json"))))

    assert ["/a/hooks.json", "/b/hooks.json"] == [row.file for row in made.hooks]
    assert any(line.endswith("/a/hooks.json") for line in report_lines(made))


def test_damage_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    """Lines that are no entries change nothing but their number."""
    path = written(tmp_path, "s1", [(0, dispatched(outcome()))])
    path.write_text("damaged\n" + path.read_text() + '{"v":1')
    made = report(read(path))

    assert (1, 3, 2, 1) == (made.journals, made.lines, made.damaged, only(made).calls)


def test_nothing_makes_an_empty_report() -> None:
    """No line, no hook, no share of anything; damage alone is no hook either."""
    assert ((), 0.0, 0) == (report([]).hooks, report([]).share, report([]).journals)
    assert (1, 1) == (report([Damage(1, "no")]).damaged, report([Damage(1, "no")]).journals)


def test_the_object_has_every_field(reported: Reported) -> None:
    """What is printed as JSON says which version it is in, how far percentiles may be off, and all of the rows."""
    made = reported(dispatched(outcome()))
    told = json.loads(json.dumps(made.as_json()))

    assert ["v", "error", *Report.__slots__] == list(told)
    assert list(HookRow.__slots__) == list(told["hooks"][0])
    assert (1, 0.01) == (told["v"], told["error"])


def test_lines_fit_a_screen(reported: Reported) -> None:
    """At 80 columns nothing is longer, however much there is to say; the figures stand below what they are."""
    long = hook("hooks.json:PreToolUse[12].hooks[3]." + "onFailure." * 3)
    kinds = [outcome(long, Kind.FAILED, why=why, ran=4000.0, queued=70.0) for why in Failure]
    big = Exited(code=0, stdout=b"x" * 2_000_000, stdin_size=12_000_000)
    made = reported(*map(dispatched, kinds), dispatched(outcome(long, reply=big)))

    lines = list(report_lines(made))
    assert [] == [line for line in lines if len(line) > 80]
    assert " calls      of       p50       p95       max     total     queue     in    out" == lines[0][1:]
    figures = "12 12 66.7 min 66.7 min 66.7 min 733.3 min 70.00 s 11M 1M"
    assert figures == " ".join(lines[2].split())
    assert "failed 11 (could_not_start 1, crashed 1" in lines[3]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (1023, "1023"), (1024, "1K"), (1_500_000, "1M"), (10**18, "909494T")]
)
def test_sizes(count: int, text: str) -> None:
    """Bytes in the unit that a person would take."""
    assert text == size(count)

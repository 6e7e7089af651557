from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hookline._core import records as rec
from hookline._core.answer import NOTHING, Answer
from hookline._core.decisions import Allow, Deny
from hookline._core.effects import AddContext, EndRun, RewriteInput
from hookline._core.events import AfterToolCall, BeforeDispatch, BeforeRun, BeforeToolCall, SessionStart, StepEnd
from hookline._core.hooks import Hook
from hookline._core.messages import Message
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import CallFailed, Exited
from hookline._core.points import Event, Origin
from hookline._core.reasons import Failure, Skip
from hookline._core.resolution import Applied, Ignored, Resolution
from hookline._core.targets import CommandTarget
from hookline.journal import Damage, Entry, Journal, read
from hookline.workbench.rows import Role
from hookline.workbench.tree import tree

BEGUN = 1_790_000_000_000_000
SESSION = Origin(session_id="s1")
RUN = Origin(session_id="s1", run_id="0199f3aa-bbbb")
STEP = Origin(session_id="s1", run_id="0199f3aa-bbbb", step=1)
CALL = BeforeToolCall(tool_name="bash", input={"command": "ls"}, call_id="c1", origin=STEP)

Told = Callable[..., str]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    """The tree of some records, each a millisecond after the one before."""

    def tell(*records: rec.Record, **options: Any) -> str:
        journal = Journal.create(tmp_path, "s1", clock=count(BEGUN, 1000).__next__)
        for record in records:
            journal.record(record)
        journal.close()
        return "\n".join(tree(read(journal.path), **options)) + "\n"

    return tell


def want(text: str) -> str:
    """What stands right of the margin."""
    return "".join(line.split("|", 1)[1] + "\n" for line in text.splitlines() if "|" in line)


def hook(id: str = "guard", **changes: Any) -> Hook:
    return Hook(
        **{
            "id": id,
            "event": BeforeToolCall,
            "target": CommandTarget((id,), {}),
            "dialect": "muse",
            "commits": frozenset({Deny, AddContext, RewriteInput}),
            **changes,
        }
    )


def answered(hook: Hook, *effects: Any, decision: Any = None, **more: Any) -> Outcome:
    answer = Answer(decision, effects, more.pop("notes", ()))
    return Outcome(hook=hook, kind=Kind.ANSWERED, answer=answer, started=BEGUN / 1e6, ran=0.0125, **more)


def failed(hook: Hook, why: Failure = Failure.TIMEOUT, **more: Any) -> Outcome:
    return Outcome(hook=hook, kind=Kind.FAILED, why=why, started=BEGUN / 1e6, ran=5.0, **more)


def dispatched(event: Event, *outcomes: Outcome, **resolved: Any) -> rec.Dispatched:
    resolution = Resolution(event=event, outcomes=outcomes, **resolved)
    return rec.Dispatched(origin=event.origin, event=event, resolution=resolution, duration=0.0005)


def test_a_session_as_a_tree(told: Told) -> None:
    """Session, run, step, call, hook, each within the other, with what came of it and the time it took."""
    before = dispatched(
        CALL,
        answered(hook("a"), AddContext("mind the gap\nand more")),
        answered(hook("b", label="Guard"), decision=Deny("no ls here")),
        decision=Deny("no ls here"),
        decided_by="b",
        applied=(Applied("a", AddContext("mind the gap\nand more")),),
    )
    text = told(
        rec.SessionOpened(origin=SESSION, source="startup", workspace="/home/me/project", hooks=2),
        dispatched(SessionStart(source="startup", origin=SESSION)),
        rec.RunStarted(origin=RUN, prompt="list the files\nplease"),
        dispatched(BeforeRun(prompt="list the files", origin=RUN), answered(hook("greeter"))),
        rec.MessageAdded(origin=RUN, message=Message(role="user", text="list the files")),
        rec.ModelCalled(
            origin=STEP,
            request_id="q",
            status="success",
            duration=1.25,
            usage={"input_tokens": 7, "output_tokens": 3, "cached_tokens": 0},
        ),
        before,
        rec.CallEnded(
            origin=STEP, call_id="c1", tool="bash", status=rec.CallStatus.REFUSED, text="blocked: no ls here"
        ),
        dispatched(StepEnd(tool_calls=1, origin=STEP)),
        rec.RunEnded(origin=RUN, ending=rec.Ending.COMPLETED, text="there are none"),
        rec.SessionClosed(origin=SESSION, reason="other", abandoned=("slow",)),
    )

    assert text == want("""
        |   +0.000 session  s1  startup
        |          2026-09-21 14:13:20Z  2 hooks  /home/me/project
        |   +0.002   run  0199f3aa  list the files
        |   +0.003     before_run  0.5 ms
        |   +0.000       answered  12.5 ms  greeter
        |   +0.005     step 1
        |   +0.005       model  success  7 input, 3 output  1.25 s
        |   +0.005       bash  c1  {"command": "ls"}
        |   +0.005         before_tool_call  deny by b: no ls here  0.5 ms
        |   +0.000           answered  12.5 ms  a
        |                      add_context  mind the gap
        |   +0.000           answered  12.5 ms  b  Guard
        |                      deny  no ls here
        |   +0.007         refused  blocked: no ls here
        |   +0.009     completed  there are none
        |   +0.010 closed  other
        |            cut off in the background  slow
    """)


def test_a_call_that_runs(told: Told) -> None:
    """A call has one heading, whatever is told of it; approval and result stand below, its time beside the result."""
    text = told(
        dispatched(CALL, answered(hook())),
        rec.ApprovalAsked(origin=STEP, call_id="c1", tool="bash", allowed=True, by="person", reason="fine"),
        rec.CallStarted(origin=STEP, call_id="c1", tool="bash", input={"command": "ls"}),
        dispatched(AfterToolCall(tool_name="bash", input={}, call_id="c1", response="", origin=STEP), answered(hook())),
        rec.CallEnded(origin=STEP, call_id="c1", tool="bash", status=rec.CallStatus.DONE, text="a.txt", duration=0.5),
    )

    assert text == want("""
        |   +0.000 session  s1
        |   +0.000   run  0199f3aa
        |   +0.000     step 1
        |   +0.000       bash  c1  {"command": "ls"}
        |   +0.000         before_tool_call  0.5 ms
        |   +0.000           answered  12.5 ms  guard
        |   +0.001         approved  by person  fine
        |   +0.003         after_tool_call  0.5 ms
        |   +0.000           answered  12.5 ms  guard
        |   +0.004         done  500.0 ms
    """)


def lines_below(text: str, beginning: str) -> list[str]:
    lines = [line[10:].strip() for line in text.splitlines()]
    return lines[next(number for number, line in enumerate(lines) if line.startswith(beginning)) + 1 :]


def test_a_failure_shows_why(told: Told) -> None:
    """A hook that failed shows its detail, the first line it wrote on standard error, and what it left behind."""
    reply = Exited(code=1, stderr=b"\n  Traceback:\nmore\n", stdin_read=65536, stdin_size=204800, left_behind=2)
    text = told(dispatched(CALL, failed(hook(commits=frozenset()), Failure.EXIT_CODE, detail="exit 1", reply=reply)))

    assert "failed(exit_code)  5.00 s  guard" in text
    assert [
        "exit 1",
        "stderr  Traceback:",
        "read 65536 of 204800 bytes of its input",
        "left 2 of its processes running; they were killed",
    ] == lines_below(text, "failed")


SKIPPED = Outcome(hook=hook(), kind=Kind.SKIPPED, why=Skip.PAYLOAD_TOO_LARGE)
MARK = "! proceeded_without_answer  it may deny, and was not heard"


@pytest.mark.parametrize(
    ("record", "marked"),
    [
        (dispatched(CALL, failed(hook())), True),
        (dispatched(CALL, SKIPPED), True),
        (dispatched(CALL, failed(hook()), answered(hook("b"), decision=Allow()), decision=Allow()), True),
        (dispatched(CALL, failed(hook(commits=frozenset({AddContext})))), False),
        (dispatched(StepEnd(origin=STEP), failed(hook())), True),
        (dispatched(CALL, failed(hook()), decision=Deny("strict"), decided_by="guard"), False),
        (dispatched(CALL, failed(hook()), failed_run=failed(hook())), False),
        (dispatched(CALL, answered(hook(), by=hook("b"), links=(failed(hook()),))), False),
    ],
    ids=[
        "failed",
        "skipped",
        "another one allowed it",
        "an observer",
        "a step",
        "denied",
        "the run failed",
        "its fallback answered",
    ],
)
def test_a_guard_that_was_not_heard_is_marked(told: Told, record: rec.Dispatched, *, marked: bool) -> None:
    """The mark stands where a hook that may deny gave no answer and the action went on, and nowhere else."""
    assert marked == (MARK in told(record))


def test_what_counts_and_what_does_not(told: Told) -> None:
    """An effect or a decision that was ignored says so and why; the others show what they hold."""
    text = told(
        dispatched(
            CALL,
            answered(
                hook("a"), RewriteInput({"command": "ls -a"}), AddContext("mind"), notes=("key `x` was not read",)
            ),
            answered(hook("b"), RewriteInput({"command": "pwd"})),
            applied=(Applied("b", RewriteInput({"command": "pwd"})), Applied("a", AddContext("mind"))),
            ignored=(Ignored("a", RewriteInput, "b rewrote it after this one"),),
        )
    )

    assert [
        "rewrite_input ignored: b rewrote it after this one",
        "add_context  mind",
        "note  key `x` was not read",
        "answered  12.5 ms  b",
        'rewrite_input  {"command": "pwd"}',
    ] == lines_below(text, "answered  12.5 ms  a")


def test_fallbacks_are_shown(told: Told) -> None:
    """The attempts before the one that counted, and which hook that was."""
    link = failed(hook(), reply=CallFailed(why=Failure.TIMEOUT, detail="after 5 s", stderr=b"too slow"))
    text = told(dispatched(CALL, answered(hook(), by=hook("guard#onFailure[1]"), links=(link,))))

    assert [
        "first  failed(timeout)  5.00 s  guard  too slow",
        "answered by its fallback  guard#onFailure[1]",
    ] == lines_below(text, "answered  12.5 ms  guard")


def test_a_fallback_that_failed_too_answered_nothing(told: Told) -> None:
    """Where the whole chain failed, no line says that anybody answered."""
    link = failed(hook(), reply=CallFailed(why=Failure.TIMEOUT, detail="after 5 s"))
    text = told(dispatched(CALL, failed(hook(), by=hook("guard#onFailure[1]"), links=(link,), detail="exit 4")))

    assert "its fallback failed too  guard#onFailure[1]" in text
    assert "answered" not in text


def test_what_has_not_ended_says_so(told: Told) -> None:
    """A session that runs still, or was killed, does not look like one that ended, nor does its last call."""
    text = told(
        rec.SessionOpened(origin=SESSION, source="startup", workspace="/p"),
        rec.CallStarted(origin=STEP, call_id="c1", tool="bash", input={}),
    )

    assert ["no end  bash  c1", "no end  it is running still, or was cut off"] == lines_below(text, "bash")


def test_a_journal_of_nothing_says_so() -> None:
    """An empty file is a session that has not begun to be recorded."""
    assert ["          nothing is recorded yet"] == list(tree([]))


def test_a_failed_run_names_the_hook(told: Told) -> None:
    """Where a failure fails the run, the point says whose it was."""
    outcome = failed(hook("strict"))

    assert "before_tool_call  run failed by strict  0.5 ms" in told(dispatched(CALL, outcome, failed_run=outcome))


def test_background_hooks_are_shown_when_they_end(told: Told) -> None:
    """A background hook has its line where it ended, with what it said and the point that it was called at."""
    later = hook("later", background=True)
    text = told(
        rec.HookStarted(origin=STEP, hook=later, event=CALL),
        dispatched(CALL),
        rec.CallEnded(origin=STEP, call_id="c1", tool="bash", status=rec.CallStatus.DONE, text=""),
        rec.HookEnded(origin=STEP, outcome=answered(later, AddContext("late")), event=CALL),
    )

    assert ["background  answered  12.5 ms  later  before_tool_call", "add_context  late"] == lines_below(text, "done")


def test_a_crash_shows_what_was_at_work(told: Told) -> None:
    """A hook that never ended, and one whose event was never resolved, stand where the session broke off."""
    other = BeforeDispatch(tool_name="bash", input={}, call_id="c0", origin=STEP)
    text = told(
        rec.HookStarted(origin=STEP, hook=hook("done"), event=other),
        rec.HookEnded(origin=STEP, outcome=answered(hook("done")), event=other),
        dispatched(other, answered(hook("done"))),
        rec.HookStarted(origin=STEP, hook=hook("a"), event=CALL),
        rec.HookStarted(origin=STEP, hook=hook("b"), event=CALL),
        rec.HookEnded(origin=STEP, outcome=answered(hook("b")), event=CALL),
        rec.SessionOpened(origin=SESSION, source="resume", workspace="/p"),
    )

    assert ["no end  before_tool_call  a", "answered  12.5 ms  b  before_tool_call was cut off"] == lines_below(
        text, "answered  12.5 ms  done"
    )[:2]


def test_the_rest_of_the_vocabulary(told: Told) -> None:
    """Notes, refused reopenings and replaced conversations have their line where they happened."""
    text = told(
        rec.RunStarted(origin=RUN, prompt="go"),
        rec.ConversationReplaced(origin=RUN, why="hard", messages=()),
        rec.ReopenRefused(origin=RUN, point="before_run_end", hook="judge", limit=8),
        rec.Noted(origin=RUN, text="for you", hook="greeter"),
        rec.RunEnded(origin=RUN, ending=rec.Ending.CANCELLED, reason="interrupted"),
    )

    assert [
        "conversation replaced (hard): 0 messages",
        "not reopened again for judge: 8 times is the limit",
        "note  greeter  for you",
        "cancelled  interrupted",
    ] == lines_below(text, "run")


def test_another_session_stands_where_it_began(told: Told) -> None:
    """A child session is named within the call that started it; lines of its own have their own heading."""
    child = Origin(session_id="s2", run_id="s2")
    text = told(
        rec.SessionOpened(origin=SESSION, source="startup", workspace="/p", hooks=1, parent="s0"),
        rec.CallStarted(origin=STEP, call_id="c1", tool="subagent_spawn", input={}),
        rec.SessionOpened(origin=child, source="startup", workspace="/p", parent="s1"),
        rec.CallEnded(origin=STEP, call_id="c1", tool="subagent_spawn", status=rec.CallStatus.DONE, text=""),
        rec.RunStarted(origin=child, prompt="look"),
    )

    assert text == want("""
        |   +0.000 session  s1  startup
        |          2026-09-21 14:13:20Z  1 hook  /p
        |          parent  s0
        |   +0.001   run  0199f3aa
        |   +0.001     step 1
        |   +0.001       subagent_spawn  c1  {}
        |   +0.002         child session  s2  startup
        |   +0.003         done
        |   +0.004 session  s2
        |   +0.004   run  s2  look
        |          no end  it is running still, or was cut off
    """)


def test_damage_is_shown() -> None:
    """A line that could not be read is named where it stands."""
    assert ["          line 3 is damaged: not an entry"] == list(tree([Damage(3, "not an entry")]))


def test_lines_fit_and_take_colour(told: Told) -> None:
    """No line is wider than the screen, and a style is given every piece with its role."""
    roles: set[Role] = set()

    def style(role: Role, text: str) -> str:
        roles.add(role)
        return text

    event = BeforeToolCall(tool_name="bash", input={"command": "x" * 200}, call_id="c1", origin=STEP)
    text = told(dispatched(event, failed(hook("y" * 200), detail="z" * 200)), width=60, style=style)

    assert all(len(line) <= 60 for line in text.splitlines())
    assert roles >= {Role.TIME, Role.HEADING, Role.NAME, Role.BAD, Role.MARK, Role.TEXT}


def test_a_tree_grows_with_what_is_read(told: Told, tmp_path: Path) -> None:
    """The lines of an entry come before the next entry is asked for, and nothing of it is kept."""
    told(*(dispatched(CALL, answered(hook(), *NOTHING.effects)) for _ in range(3)))
    asked: list[int] = []

    def entries() -> Iterator[Entry | Damage]:
        for entry in read(tmp_path / "s1.jsonl"):
            asked.append(entry.line)
            yield entry

    lines = tree(entries())
    while "answered" not in next(lines):
        continue

    assert asked == [1]


def test_an_effect_that_ends_the_run(told: Told) -> None:
    """What an effect holds is told beside it, also where that is nothing."""
    text = told(dispatched(CALL, answered(hook(), EndRun()), applied=(Applied("guard", EndRun()),)))

    assert ["end_run"] == lines_below(text, "answered")

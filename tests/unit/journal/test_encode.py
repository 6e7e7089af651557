from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import msgspec
import pytest

from hookline._core import records as rec
from hookline._core.answer import Answer
from hookline._core.decisions import Ask, Deny
from hookline._core.effects import AddContext, Effect, EndRun, RewriteInput
from hookline._core.events import AfterModelCall, AfterToolBatch, BeforeToolCall, SessionStart
from hookline._core.hooks import IN_CODE, Hook
from hookline._core.messages import CallResult, Message
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import CallFailed, Exited, Returned
from hookline._core.points import Agent, Origin
from hookline._core.reasons import Failure, Skip
from hookline._core.resolution import Applied, Ignored, Resolution
from hookline.journal import encode
from hookline.journal import entries as en


def told(body: msgspec.Struct) -> Any:
    """The fields that a line would have."""
    return msgspec.json.decode(msgspec.json.encode(body))


RECORDS = [each for each in vars(rec).values() if isinstance(each, type) and rec.Record in each.__mro__[1:]]


def test_every_record_has_a_line() -> None:
    """A new class of record needs a body, or this says so."""
    assert {each.kind for each in RECORDS} == set(en.BODIES)


@pytest.mark.parametrize("record", [each for each in RECORDS if each not in encode.SPECIAL], ids=lambda each: each.kind)
def test_a_line_has_every_field_of_its_record(record: type[rec.Record]) -> None:
    """A body without a function of its own has the fields of its record, and only its times have other names."""
    names = {each.name for each in fields(record)} - {"origin"}

    assert {name.removesuffix("_ms") for name in en.BODIES[record.kind].__struct_fields__} == names


def test_a_hook_is_named_never_exposed(make_hook: Callable[..., Hook]) -> None:
    """A line says which hook it was, and neither its environment nor its arguments."""
    hook = make_hook()

    want = {
        "id": "PreToolUse[0].hooks[0]",
        "key": "k1",
        "layer": "project",
        "file": "/p/.muse/hooks.json",
        "dialect": "muse",
        "label": "guard",
        "commits": ["add_context", "deny", "notify"],
    }
    assert want == told(encode.hook_fields(hook))


def test_a_hook_in_code_has_no_file(make_hook: Callable[..., Hook]) -> None:
    """Where there is no path, the source's label stands for the file; what is false or empty is left out."""
    hook = make_hook("code[0]", source=IN_CODE, key="", label="", commits=frozenset(), background=True)

    want = {"id": "code[0]", "layer": "code", "file": "code", "dialect": "muse", "background": True}
    assert want == told(encode.hook_fields(hook))


def test_each_hook_keeps_its_own_description(make_hook: Callable[..., Hook]) -> None:
    """Descriptions are kept between lines, and that of one hook is never taken for another's."""
    for number in range(3000):
        assert str(number) == encode.hook_fields(make_hook(str(number))).id


def test_an_event_is_written_whole(origin: Origin) -> None:
    """Every field of an event stands in the line that resolves it, and where it happened, as far as it is special."""
    event = BeforeToolCall(
        tool_name="bash", input={"command": "ls"}, call_id="c1", aliases=("Bash",), origin=replace(origin, provider="x")
    )

    want = {
        "point": "before_tool_call",
        "origin": {"cwd": "/home/me/project", "model": "echo", "provider": "x"},
        "tool_name": "bash",
        "input": {"command": "ls"},
        "call_id": "c1",
        "aliases": ("Bash",),
        "provenance": None,
    }
    assert want == encode.event_fields(event)


def test_messages_of_a_model_call_are_counted() -> None:
    """A conversation is written once, message by message; the events about it say how many there were."""
    messages = (Message(role="user", text="a" * 1000), Message(role="tool", text="b", call_id="c1"))
    event = AfterModelCall(provider="x", messages=messages, output_text="c" * 1000)
    line = encode.event_fields(event)

    assert line["messages"] == 2
    assert line["output_text"] == "c" * 1000


@pytest.mark.parametrize(
    ("event", "want"),
    [
        (
            BeforeToolCall(tool_name="bash", input={"command": "ls"}, call_id="c1"),
            {"point": "before_tool_call", "tool_name": "bash", "call_id": "c1"},
        ),
        (SessionStart(source="resume"), {"point": "session_start", "source": "resume"}),
        (
            AfterToolBatch(calls=(CallResult(tool_name="bash", input={}, call_id="c1", response=""),)),
            {"point": "after_tool_batch"},
        ),
    ],
    ids=["tool", "subject", "nothing to tell apart by"],
)
def test_a_hooks_own_lines_name_the_event(event: Any, want: dict[str, Any]) -> None:
    """The lines of one hook say which event it was, without repeating what may be megabytes."""
    assert want == encode.event_mention(event)


def test_output_is_kept_from_its_beginning(make_hook: Callable[..., Hook]) -> None:
    """Of each stream the first 2,000 characters stand, as text whatever the bytes, with the size in bytes."""
    reply = Exited(code=1, stdout="é".encode() * 3000, stderr=b"bad \xff", stdin_read=10, stdin_size=20, left_behind=1)
    outcome = Outcome(hook=make_hook(), kind=Kind.FAILED, why=Failure.EXIT_CODE, detail="exit 1", reply=reply)

    line = encode.outcome_fields(outcome)

    assert (line.stdout, line.stdout_size) == ("é" * 2000, 6000)
    assert (line.stderr, line.stderr_size) == ("bad �", 5)
    assert (line.code, line.stdin_read, line.stdin_size, line.left_behind) == (1, 10, 20, 1)
    assert (line.kind, line.why, line.detail) == ("failed", "exit_code", "exit 1")


def test_what_a_failed_call_left_is_kept(make_hook: Callable[..., Hook]) -> None:
    """A call without a reply keeps what was captured until then."""
    reply = CallFailed(why=Failure.TIMEOUT, detail="after 5 s", stdout=b"half", stderr=b"", left_behind=2)

    line = encode.outcome_fields(Outcome(hook=make_hook(), kind=Kind.FAILED, why=Failure.TIMEOUT, reply=reply))

    assert (line.code, line.stdout, line.left_behind, line.why) == (None, "half", 2, "timeout")


def test_an_outcome_has_its_answer_and_its_attempts(make_hook: Callable[..., Hook]) -> None:
    """Decision, effects, notes, the fallback that answered, what failed before it, and the times are all there."""
    hook, fallback = make_hook("a"), make_hook("a#onFailure[1]")
    outcome = Outcome(
        hook=hook,
        kind=Kind.ANSWERED,
        answer=Answer(Deny("no"), (AddContext("mind"), RewriteInput({"x": 1})), ("key `y` was read by nobody",)),
        by=fallback,
        links=(Outcome(hook=hook, kind=Kind.SKIPPED, why=Skip.PAYLOAD_TOO_LARGE),),
        reply=Returned("not written"),
        started=1_790_000_000.25,
        queued=0.0015,
        ran=0.012_345_6,
    )

    line = encode.outcome_fields(outcome)

    assert en.Decision(decision="deny", reason="no") == line.decision
    assert line.effects == ({"effect": "add_context", "text": "mind"}, {"effect": "rewrite_input", "input": {"x": 1}})
    assert line.notes == ("key `y` was read by nobody",)
    assert line.by is not None
    assert line.by.id == "a#onFailure[1]"
    assert [(link.kind, link.why) for link in line.links] == [("skipped", "payload_too_large")]
    assert (line.started, line.queued_ms, line.ran_ms) == (1_790_000_000_250_000, 1.5, 12.346)
    assert b"not written" not in msgspec.json.encode(line)


def test_a_resolution_says_what_counts_and_what_does_not(make_hook: Callable[..., Hook], origin: Origin) -> None:
    """Decision, whose it was, effects that count, what was ignored and why, and the outcome that failed the run."""
    failed = Outcome(hook=make_hook("b"), kind=Kind.FAILED, why=Failure.CRASHED)
    resolution = Resolution(
        event=BeforeToolCall(tool_name="bash", input={}, origin=origin),
        decision=Ask("really?"),
        decided_by="a",
        applied=(Applied("a", AddContext("mind")),),
        ignored=(Ignored("b", EndRun, "the first one counts"),),
        outcomes=(failed,),
        failed_run=failed,
    )

    line = told(
        encode.body_of(rec.Dispatched(origin=origin, event=resolution.event, resolution=resolution, duration=0.25))
    )

    assert line["decision"] == {"decision": "ask", "reason": "really?"}
    assert line["decided_by"] == "a"
    assert line["applied"] == [{"hook": "a", "effect": {"effect": "add_context", "text": "mind"}}]
    assert line["ignored"] == [{"hook": "b", "what": "end_run", "why": "the first one counts"}]
    assert (line["failed_run"], line["duration_ms"], len(line["outcomes"])) == ("b", 250.0, 1)


def test_an_effect_from_outside_has_a_line() -> None:
    """An effect that somebody adds is written by the fields that it has, with no edit here."""
    from dataclasses import dataclass

    @dataclass(frozen=True, slots=True)
    class SeedMemory(Effect):
        topic: str

    assert encode.effect_fields(SeedMemory("x")) == {"effect": "seed_memory", "topic": "x"}


def test_a_child_agent_is_told(origin: Origin) -> None:
    """Which child agent an event happened in is part of where it happened."""
    child = replace(origin, agent=Agent(id="agent-1", type="reviewer"), approval_off=True)

    told = encode.origin_fields(child)

    assert (child.agent, True) == (told["agent"], told["approval_off"])

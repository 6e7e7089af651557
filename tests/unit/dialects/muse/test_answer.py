"""Each reply of the table means what the row says, down to the text of the failure."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookline._core import decisions, effects
from hookline._core.answer import Answer
from hookline._core.events import BeforeRun, BeforeToolCall, PermissionRequest
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import CallFailed, Exited, Reply, Returned
from hookline._core.points import Event
from hookline._core.reasons import Failure, Skip
from hookline._core.resolution import Resolution
from hookline._core.targets import CommandTarget
from hookline._engine.fold import fold
from hookline.dialects.muse.answer import decode
from hookline.dialects.muse.rules import BY_EVENT, BY_NAME
from hookline.dialects.muse.tags import Status, effects_of, status_of

ROWS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text())


def sample(kind: type[Event], **given: Any) -> Event:
    """An event of this kind; every field that must be there says `x`."""
    bare = [each for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING]
    return kind(**{each.name: "x" for each in bare} | given)


def hook_at(kind: type[Event], name: str = "h", *, background: bool = False) -> Hook:
    return Hook(
        id=name,
        event=kind,
        target=CommandTarget(("true",), {}),
        dialect="muse",
        commits=BY_EVENT[kind].admits,
        background=background,
    )


def outcome_of(reply: Reply, hook: Hook) -> Outcome:
    answer = decode(reply, sample(hook.event), hook)
    if isinstance(answer, Answer):
        return Outcome(hook=hook, kind=Kind.ANSWERED, answer=answer, reply=reply)
    return Outcome(hook=hook, kind=Kind.FAILED, why=answer.why, detail=answer.detail, reply=reply)


def folded(*outcomes: Outcome) -> Resolution:
    kind = outcomes[0].hook.event
    return fold(sample(kind), outcomes, BY_EVENT[kind])


def replied(row: Mapping[str, Any]) -> Exited:
    return Exited(
        code=row.get("exit", 0),
        stdout=row.get("stdout", "").encode(),
        stderr=row.get("stderr", "").encode(),
    )


def word(said: list[Any]) -> Any:
    name, value = said
    return getattr(decisions if hasattr(decisions, name) else effects, name)(value)


def wanted(want: Mapping[str, Any], reply: Exited) -> Answer | CallFailed:
    if "failed" in want:
        return CallFailed(
            why=Failure(want["failed"]),
            detail=want["text"],
            code=reply.code,
            stdout=reply.stdout,
            stderr=reply.stderr,
        )
    return Answer(
        decision=word(want["decision"]) if "decision" in want else None,
        effects=tuple(word(said) for said in want.get("effects", [])),
        notes=tuple(want.get("notes", [])),
        doubt=want.get("doubt", ""),
    )


@pytest.mark.parametrize("row", ROWS, ids=[row["note"] for row in ROWS])
def test_a_reply_means_what_the_table_says(row: dict[str, Any]) -> None:
    """Exit status, standard output and standard error together decide, event by event, and nothing else does."""
    kind = BY_NAME[row["event"]].event
    reply = replied(row)
    want = row["want"]
    got = decode(reply, sample(kind), hook_at(kind))
    if "begins" in want:
        assert isinstance(got, CallFailed)
        assert got.detail.startswith(want["begins"])
        want = {**want, "text": got.detail}

    assert wanted(want, reply) == got


@pytest.mark.parametrize("row", ROWS, ids=[row["note"] for row in ROWS])
def test_a_run_is_recorded_as_the_table_says(row: dict[str, Any]) -> None:
    """The status says whether anything was held up; the tags say which parts of the answer count."""
    outcome = outcome_of(replied(row), hook_at(BY_NAME[row["event"]].event))

    assert Status(row["status"]) is status_of(outcome)
    assert tuple(row.get("tags", ())) == effects_of(outcome, folded(outcome))


def test_the_table_has_every_event() -> None:
    """No event's answers go untested."""
    assert set(BY_NAME) - {"PostLLMCall", "PostCompact"} <= {row["event"] for row in ROWS}


REWRITE = b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "%s"}}}'
CONTEXT = b'{"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "c"}}'
ALLOW = b'{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}'


def test_the_last_of_two_rewrites_is_selected() -> None:
    """A17: the later rewrite in configured order counts, and the earlier one's record says that it was ignored."""
    first = outcome_of(Exited(code=0, stdout=REWRITE % b"a"), hook_at(BeforeToolCall, "first"))
    last = outcome_of(Exited(code=0, stdout=REWRITE % b"b"), hook_at(BeforeToolCall, "last"))
    resolution = folded(first, last)

    assert effects_of(first, resolution) == ("rewrite_ignored",)
    assert effects_of(last, resolution) == ("rewrite_selected",)


def test_a_rewrite_of_a_denied_call_is_ignored() -> None:
    """B-35's neighbour: a call that another hook refuses has no input to rewrite."""
    rewrite = outcome_of(Exited(code=0, stdout=REWRITE % b"a"), hook_at(BeforeToolCall, "first"))
    deny = outcome_of(Exited(code=2, stderr=b"no"), hook_at(BeforeToolCall, "last"))

    assert effects_of(rewrite, folded(rewrite, deny)) == ("rewrite_ignored",)


def test_context_for_a_rejected_prompt_has_no_tag() -> None:
    """A tag says that a part was applied; nobody reads the context of a prompt that another hook rejected."""
    context = outcome_of(Exited(code=0, stdout=CONTEXT), hook_at(BeforeRun, "first"))
    deny = outcome_of(Exited(code=2, stderr=b"no"), hook_at(BeforeRun, "last"))

    assert effects_of(context, folded(context, deny)) == ()


def test_an_overruled_allow_has_no_tag() -> None:
    """An allow beside a deny allowed nothing."""
    allow = outcome_of(Exited(code=0, stdout=ALLOW), hook_at(PermissionRequest, "first"))
    deny = outcome_of(Exited(code=2, stderr=b"no"), hook_at(PermissionRequest, "last"))

    assert effects_of(allow, folded(allow, deny)) == ()


@pytest.mark.parametrize(
    ("status", "kind", "why"),
    [
        (Status.TIMED_OUT, Kind.FAILED, Failure.TIMEOUT),
        (Status.FAILED, Kind.FAILED, Failure.COULD_NOT_START),
        (Status.CANCELLED, Kind.CANCELLED, None),
        (None, Kind.SKIPPED, Skip.PAYLOAD_TOO_LARGE),
    ],
    ids=["timeout", "could not start", "cancelled", "skipped"],
)
def test_an_outcome_without_an_answer_has_a_status(
    status: Status | None, kind: Kind, why: Failure | Skip | None
) -> None:
    """A timeout is told from other failures, and what never ran has no status."""
    assert status is status_of(Outcome(hook=hook_at(BeforeRun), kind=kind, why=why))


@pytest.mark.parametrize("length", [999, 1000, 1001, 1500])
def test_a_long_message_is_cut_and_the_answer_stands(length: int) -> None:
    """A26: at most 1000 characters of a message are kept, counted as characters, and a cut is noted."""
    text = "é" * length
    answer = decode(
        Exited(code=0, stdout=f'{{"systemMessage": "{text}"}}'.encode()), sample(BeforeRun), hook_at(BeforeRun)
    )

    assert isinstance(answer, Answer)
    assert (effects.Notify("é" * min(length, 1000)),) == answer.effects
    assert (length > 1000) == any("cut to 1000 characters" in note for note in answer.notes)


def test_invalid_utf8_is_replaced_before_it_is_read() -> None:
    """Bytes that are no text become U+FFFD, in an answer as in plain text, and decide nothing by themselves."""
    said = decode(Exited(code=0, stdout=b'{"systemMessage": "\xff"}'), sample(BeforeRun), hook_at(BeforeRun))
    plain = decode(Exited(code=0, stdout=b"caf\xe9"), sample(BeforeRun), hook_at(BeforeRun))
    reason = decode(Exited(code=2, stderr=b"\xf0\x9f\x92"), sample(BeforeRun), hook_at(BeforeRun))

    assert Answer(effects=(effects.Notify("\ufffd"),)) == said
    assert Answer(effects=(effects.AddContext("caf\ufffd"),)) == plain
    assert Answer(decision=decisions.Deny("\ufffd")) == reason


def test_an_answer_nested_too_deep_is_malformed() -> None:
    """Depth is bounded, so that no reply can exhaust the stack."""
    deep = b'{"hookSpecificOutput": ' + b"[" * 50_000
    reply = Exited(code=0, stdout=deep)

    failed = decode(reply, sample(BeforeRun), hook_at(BeforeRun))

    assert isinstance(failed, CallFailed)
    assert Failure.MALFORMED_ANSWER is failed.why


@pytest.mark.parametrize("detail", ["{} was over the cap", "over the cap"], ids=["named", "not named"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_an_output_over_the_cap_is_told_in_the_dialects_words(stream: str, detail: str) -> None:
    """P09: the failure names the stream and the cap, whether or not the adapter named it."""
    reply = CallFailed(
        why=Failure.OUTPUT_TOO_LARGE,
        detail=detail.format(stream),
        stdout=b"x" * 16_384 if stream == "stdout" else b"",
        stderr=b"x" * 16_384 if stream == "stderr" else b"",
    )
    failed = decode(reply, sample(BeforeRun), hook_at(BeforeRun))

    assert isinstance(failed, CallFailed)
    assert (
        f"output_too_large: hook {stream} exceeded its 16384-byte ceiling; "
        "the process tree was terminated and no stream was parsed"
    ) == failed.detail
    assert (reply.stdout, reply.stderr) == (failed.stdout, failed.stderr)


def test_other_failures_pass_through() -> None:
    """What an adapter found out about a call needs no reading."""
    reply = CallFailed(why=Failure.TIMEOUT, detail="hook timed out after 1s", stdout=b"half")

    assert reply is decode(reply, sample(BeforeRun), hook_at(BeforeRun))


def test_a_returned_value_is_no_reply_of_a_process() -> None:
    """Handlers registered in code belong to another dialect."""
    failed = decode(Returned(None), sample(BeforeRun), hook_at(BeforeRun))

    assert isinstance(failed, CallFailed)
    assert failed.detail == "the hook returned a NoneType; it has to end with an exit status"


def test_an_async_hook_changes_nothing() -> None:
    """P11: exit 2 of an async hook is a failure like any other, and a sound answer of it is only noted."""
    hook = hook_at(BeforeRun, background=True)
    block = decode(Exited(code=2, stderr=b"no"), sample(BeforeRun), hook)
    context = decode(Exited(code=0, stdout=CONTEXT), sample(BeforeRun), hook)
    silent = decode(Exited(code=0), sample(BeforeRun), hook)
    status = decode(Exited(code=1, stderr=b"no"), sample(BeforeRun), hook)

    assert isinstance(block, CallFailed)
    assert block.detail == "exited with 2, and an async hook blocks nothing"
    assert Answer(notes=("the answer of an async hook changes nothing",)) == context
    assert Answer() == silent
    assert isinstance(status, CallFailed)
    assert status.detail == "exited with 1: no"

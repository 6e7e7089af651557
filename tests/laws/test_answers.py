"""Laws of the Muse dialect's answers: any bytes, any exit status, any event."""

import json
from dataclasses import MISSING, fields, replace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from hookline._core.answer import Answer
from hookline._core.decisions import Deny
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import CallFailed, Exited
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline._core.resolution import Resolution
from hookline._core.targets import CommandTarget
from hookline.dialects.muse.answer import decode
from hookline.dialects.muse.answer_schema import NESTED, SPECIFIC, TOP
from hookline.dialects.muse.rules import BY_EVENT, RULES, MuseRule
from hookline.dialects.muse.tags import Status, effects_of, status_of


def event_at(rule: MuseRule) -> Event:
    bare = [each for each in fields(rule.event) if each.default is MISSING and each.default_factory is MISSING]
    required: dict[str, Any] = {each.name: "x" for each in bare}
    return rule.event(**required)


def hook_at(rule: MuseRule) -> Hook:
    return Hook(
        id="h",
        event=rule.event,
        target=CommandTarget(("true",), {}),
        dialect="muse",
        commits=BY_EVENT[rule.event].admits,
    )


def decoded(reply: Exited, rule: MuseRule) -> Answer | CallFailed:
    return decode(reply, event_at(rule), hook_at(rule))


RULE = st.sampled_from(RULES)
CODE = st.sampled_from([0, 0, 0, 1, 2, 2, 126, 127, -9, 255])
OUTPUT = st.binary(max_size=60) | st.text(max_size=30).map(str.encode)

# Values that some key accepts at some event, and values that none does.
VALUE = st.one_of(
    st.sampled_from([None, True, False, 5, "", " ", "block", "approve", "allow", "deny", "ask", "text"]),
    st.sampled_from([[], {}, {"behavior": "allow"}, {"behavior": "deny", "message": "m"}, {"command": "ls"}]),
)


@st.composite
def answers(draw: st.DrawFn, rule: MuseRule) -> dict[str, Any]:
    """Something near an answer: keys of the schema with values that may or may not be right."""
    said: dict[str, Any] = draw(st.dictionaries(st.sampled_from([each for each in TOP if each != SPECIFIC]), VALUE))
    if draw(st.booleans()):
        specific = draw(st.dictionaries(st.sampled_from([each for each in NESTED if each != "hookEventName"]), VALUE))
        said[SPECIFIC] = {"hookEventName": rule.name, **specific}
    return said


def printed(said: dict[str, Any]) -> Exited:
    return Exited(code=0, stdout=json.dumps(said).encode())


@given(RULE, CODE, OUTPUT, OUTPUT)
@example(RULES[0], 0, b"{" * 20_000, b"")
@example(RULES[0], 0, b"\xef\xbb\xbf{", b"")
@example(RULES[0], 0, b"[" + b"9" * 9_000 + b"]", b"")
@example(RULES[0], 0, b'{"\\n": 1, "\\n": 2}', b"")
def test_any_reply_is_an_answer_or_a_failure(rule: MuseRule, code: int, stdout: bytes, stderr: bytes) -> None:
    """Whatever a process writes and however it exits, decoding raises nothing, and keeps what the failed wrote."""
    said = decoded(Exited(code=code, stdout=stdout, stderr=stderr), rule)

    assert isinstance(said, Answer | CallFailed)
    if isinstance(said, CallFailed):
        assert (code, stdout, stderr) == (said.code, said.stdout, said.stderr)
        assert "\n" not in said.detail


@given(st.data(), RULE)
def test_an_answer_says_only_what_its_event_admits(data: st.DataObject, rule: MuseRule) -> None:
    """The engine never has to turn down an answer that this dialect understood."""
    said = decoded(printed(data.draw(answers(rule))), rule)

    assert isinstance(said, CallFailed) or said.words() <= rule.admits


@given(RULE, st.sampled_from([1, 2, 3, 126, 127, -15]), OUTPUT, OUTPUT)
def test_only_exit_2_with_a_reason_blocks(rule: MuseRule, code: int, stdout: bytes, stderr: bytes) -> None:
    """Every other status but 0 is a failure, and so is 2 without a reason, whatever stands on standard output."""
    said = decoded(Exited(code=code, stdout=stdout, stderr=stderr), rule)
    speaks = (
        code == 2 and rule.block is not None and stderr.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").strip()
    )

    assert bool(speaks) == isinstance(said, Answer)
    if isinstance(said, Answer):
        assert {rule.block} == said.words()


@given(st.data(), RULE, st.sampled_from(["additional_context", "permission", "Decision", "", "updatedMCPToolOutput"]))
def test_one_illegal_key_discards_everything(data: st.DataObject, rule: MuseRule, key: str) -> None:
    """A key outside the schema, at either level, makes all of an answer malformed; nothing of it is applied."""
    said = data.draw(answers(rule))
    nested = {**said, SPECIFIC: {"hookEventName": rule.name, **said.get(SPECIFIC, {}), key: "x"}}

    for spoilt in ({**said, key: "x"}, nested):
        failed = decoded(printed(spoilt), rule)
        assert isinstance(failed, CallFailed)
        assert Failure.MALFORMED_ANSWER is failed.why


@given(st.data(), RULE)
def test_the_wrong_event_name_discards_everything(data: st.DataObject, rule: MuseRule) -> None:
    """An answer meant for another event is applied to none."""
    said = data.draw(answers(rule))
    other = data.draw(st.sampled_from([each.name for each in RULES if each is not rule]))
    spoilt = {**said, SPECIFIC: {**said.get(SPECIFIC, {}), "hookEventName": other}}

    assert isinstance(decoded(printed(spoilt), rule), CallFailed)


@given(st.data(), RULE, CODE, OUTPUT)
def test_an_async_hook_says_nothing(data: st.DataObject, rule: MuseRule, code: int, stderr: bytes) -> None:
    """Exit status and output of an async hook never change anything."""
    reply = replace(printed(data.draw(answers(rule))), code=code, stderr=stderr)
    said = decode(reply, event_at(rule), replace(hook_at(rule), background=True))

    assert isinstance(said, CallFailed) or said.words() == frozenset()


@given(st.data(), RULE, st.sampled_from([0, 2]), OUTPUT)
def test_a_status_agrees_with_its_tags(data: st.DataObject, rule: MuseRule, code: int, stderr: bytes) -> None:
    """A run is blocked exactly when a tag says that it blocked or stopped, and every Deny is such a run."""
    reply = replace(printed(data.draw(answers(rule))), code=code, stderr=stderr)
    said = decoded(reply, rule)
    if isinstance(said, CallFailed):
        return
    outcome = Outcome(hook=hook_at(rule), kind=Kind.ANSWERED, answer=said, reply=reply)
    tags = effects_of(outcome, Resolution(event=event_at(rule), outcomes=(outcome,)))
    blocked = status_of(outcome) is Status.BLOCKED

    assert bool({"blocked", "stopped"} & set(tags)) == blocked
    assert blocked or not isinstance(said.decision, Deny)

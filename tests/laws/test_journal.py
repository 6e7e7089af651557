"""Laws of the journal: what is written is read again, damage stays where it is, a crash costs one line at most."""

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline._core import records as rec
from hookline._core.answer import Answer
from hookline._core.decisions import Allow, Ask, Deny
from hookline._core.effects import AddContext, AddFeedback, EndRun, Notify, Reopen, RewriteInput
from hookline._core.events import AfterToolCall, BeforeRun, BeforeToolCall, RunFailed
from hookline._core.hooks import Hook, Source
from hookline._core.messages import Message, ToolCall
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import CallFailed, Exited
from hookline._core.points import Agent, Origin
from hookline._core.reasons import Failure, Skip
from hookline._core.resolution import Applied, Ignored, Resolution
from hookline._core.targets import CommandTarget
from hookline.journal import (
    Damage,
    Entry,
    Journal,
    Occurrence,
    Redactor,
    conversation,
    events_from,
    outline,
    read,
    summary,
)
from hookline.journal.encode import body_of
from hookline.workbench.report import report
from hookline.workbench.report_rows import report_lines
from hookline.workbench.rows import columns
from hookline.workbench.tree import tree

LAW = settings(deadline=None)  # files are written; how fast the disk is belongs to no law

words = st.text(max_size=20)
texts = st.one_of(words, st.builds(lambda before, after: f"{before}\ud800{after}", words, words))
numbers = st.integers(0, 1000)
seconds = st.floats(0, 1e6)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, json_values, max_size=3)

origins = st.builds(
    Origin,
    session_id=st.just("s1"),
    run_id=texts,
    step=numbers,
    cwd=texts,
    model=texts,
    provider=st.none() | texts,
    approval_off=st.booleans(),
    agent=st.none() | st.builds(Agent, id=texts, type=texts),
)
call_ids = st.sampled_from(["c1", "c2", "c3"])
calls = st.builds(ToolCall, id=call_ids, name=texts, input=json_values)
plain_messages = st.builds(Message, role=st.sampled_from(["user", "assistant", "developer"]), text=texts)
messages = plain_messages | st.builds(
    Message, role=st.just("assistant"), text=texts, calls=st.lists(calls, max_size=2).map(tuple)
)
events = st.one_of(
    st.builds(BeforeRun, prompt=texts, origin=origins),
    st.builds(BeforeToolCall, tool_name=texts, input=json_values, call_id=call_ids, origin=origins),
    st.builds(AfterToolCall, tool_name=texts, input=objects, response=json_values, duration=seconds, origin=origins),
    st.builds(RunFailed, category=texts, details=st.none() | texts, origin=origins),
)
effects = st.one_of(
    st.builds(AddContext, texts),
    st.builds(AddFeedback, texts),
    st.builds(Notify, texts),
    st.builds(EndRun, texts),
    st.builds(Reopen, texts),
)
decisions = st.one_of(st.builds(Allow, texts), st.builds(Ask, texts), st.builds(Deny, texts))
hooks = st.builds(
    Hook,
    id=texts,
    event=st.just(BeforeToolCall),
    target=st.just(CommandTarget(("guard",), {"TOKEN": "never written"})),
    dialect=texts,
    source=st.builds(Source, layer=texts, label=texts, path=texts),
    commits=st.frozensets(st.sampled_from([Deny, AddContext, RewriteInput])),
    label=texts,
    background=st.booleans(),
)
replies = st.one_of(
    st.none(),
    st.builds(Exited, code=numbers, stdout=st.binary(), stderr=st.binary(), stdin_read=st.none() | numbers),
    st.builds(CallFailed, why=st.sampled_from(Failure), detail=texts, stderr=st.binary()),
)
outcomes = st.builds(
    Outcome,
    hook=hooks,
    kind=st.sampled_from(Kind),
    answer=st.none() | st.builds(Answer, decision=st.none() | decisions, effects=st.tuples(effects)),
    why=st.none() | st.sampled_from(Failure) | st.sampled_from(Skip),
    detail=texts,
    reply=replies,
    started=st.floats(0, 2e9),
    queued=seconds,
    ran=seconds,
)
resolutions = st.builds(
    Resolution,
    event=events,
    decision=st.none() | decisions,
    decided_by=st.none() | texts,
    applied=st.lists(st.builds(Applied, texts, effects), max_size=2).map(tuple),
    ignored=st.lists(st.builds(Ignored, texts, st.sampled_from([Deny, EndRun]), texts), max_size=2).map(tuple),
    outcomes=st.lists(outcomes, max_size=2).map(tuple),
    failed_run=st.none() | outcomes,
)
dispatches = st.builds(
    lambda origin, resolution, duration: rec.Dispatched(
        origin=origin, event=resolution.event, resolution=resolution, duration=duration
    ),
    origins,
    resolutions,
    seconds,
)
records: st.SearchStrategy[rec.Record] = st.one_of(
    st.builds(rec.SessionOpened, origin=origins, source=texts, workspace=texts, parent=st.none() | texts),
    st.builds(rec.SessionClosed, origin=origins, reason=texts, abandoned=st.lists(texts, max_size=2).map(tuple)),
    st.builds(rec.RunStarted, origin=origins, prompt=texts),
    st.builds(rec.RunEnded, origin=origins, ending=st.sampled_from(rec.Ending), text=texts, reason=st.none() | texts),
    st.builds(rec.MessageAdded, origin=origins, message=messages),
    st.builds(rec.ContextAdded, origin=origins, point=texts, hook=texts, text=texts, number=numbers),
    st.builds(rec.ConversationReplaced, origin=origins, why=texts, messages=st.lists(messages, max_size=2).map(tuple)),
    st.builds(
        rec.ModelCalled,
        origin=origins,
        request_id=texts,
        status=texts,
        duration=seconds,
        usage=st.dictionaries(texts, numbers, max_size=2),
    ),
    st.builds(rec.CallStarted, origin=origins, call_id=texts, tool=texts, input=json_values),
    st.builds(
        rec.CallEnded, origin=origins, call_id=texts, tool=texts, status=st.sampled_from(rec.CallStatus), text=texts
    ),
    st.builds(rec.ApprovalAsked, origin=origins, call_id=texts, tool=texts, allowed=st.booleans(), by=texts),
    st.builds(rec.HookStarted, origin=origins, hook=hooks, event=events),
    st.builds(rec.HookEnded, origin=origins, outcome=outcomes, event=events),
    dispatches,
    st.builds(rec.ReopenRefused, origin=origins, point=texts, hook=texts, limit=numbers),
    st.builds(rec.Noted, origin=origins, text=texts, hook=texts),
)


def journal_of(folder: str, account: Sequence[rec.Record], **secrets: str) -> Path:
    """A journal with *account* in it."""
    journal = Journal.create(Path(folder), "s1", redactor=Redactor(secrets))
    for record in account:
        journal.record(record)
    journal.close()
    return journal.path


def entries_of(path: Path) -> list[Entry]:
    return [entry for entry in read(path) if isinstance(entry, Entry)]


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value, and every name of a member that is not just a lower-case word."""
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from texts_in(each)
        case dict():
            for name, each in value.items():
                if not re.fullmatch("[a-z_]{1,24}", name):
                    yield name
                yield from texts_in(each)
        case _:
            yield json.dumps(value)


@LAW
@given(st.lists(records, max_size=5))
def test_what_is_written_is_read(account: list[rec.Record]) -> None:
    """Every record comes back: its place, its number, and all that its line says, half surrogate pairs included."""
    with tempfile.TemporaryDirectory() as folder:
        entries = list(read(journal_of(folder, account)))

    assert all(isinstance(entry, Entry) for entry in entries)
    assert len(account) == len(entries)
    for number, (record, entry) in enumerate(zip(account, entries, strict=True), 1):
        assert isinstance(entry, Entry)
        place = (entry.seq, entry.kind, entry.session, entry.run, entry.step)
        assert (number, record.kind, "s1", record.origin.run_id, record.origin.step) == place
        want, got = body_of(record), entry.body
        for name in want.__struct_fields__:
            if name != "event":  # the law below
                assert getattr(want, name) == getattr(got, name)


@LAW
@given(st.lists(dispatches, max_size=3))
def test_every_event_can_be_asked_again(account: list[rec.Dispatched]) -> None:
    """An event that is rebuilt from the journal equals the one that was dispatched, where it happened included."""
    with tempfile.TemporaryDirectory() as folder:
        occurrences = list(events_from(journal_of(folder, account)))

    for record, occurrence in zip(account, occurrences, strict=True):
        assert isinstance(occurrence, Occurrence)
        want, got = record.resolution.event, occurrence.event
        for each in fields(want):
            if each.name != "origin":
                assert getattr(want, each.name) == getattr(got, each.name)
        for name in ("cwd", "model", "provider", "approval_off", "agent"):
            assert getattr(want.origin, name) == getattr(got.origin, name)


@LAW
@given(st.lists(plain_messages, max_size=6))
def test_a_conversation_comes_back(said: list[Message]) -> None:
    """The messages that were recorded are the conversation."""
    account = [rec.MessageAdded(origin=Origin(session_id="s1"), message=message) for message in said]
    with tempfile.TemporaryDirectory() as folder:
        assert tuple(said) == conversation(journal_of(folder, account))


@LAW
@given(st.lists(records, min_size=1, max_size=5), st.data())
def test_damage_stays_where_it_is(account: list[rec.Record], data: st.DataObject) -> None:
    """Whatever bytes take the place of others, every line that they do not touch is read as before."""
    with tempfile.TemporaryDirectory() as folder:
        path = journal_of(folder, account)
        whole = path.read_bytes()
        before = entries_of(path)
        start = data.draw(st.integers(0, len(whole) - 1), label="from")
        end = data.draw(st.integers(start, len(whole)), label="to")
        path.write_bytes(whole[:start] + data.draw(st.binary(max_size=20), label="damage") + whole[end:])
        after = {(entry.seq, entry.text) for entry in entries_of(path)}

    position = 0
    for entry in before:
        length = len(entry.text.encode()) + 1
        if position + length <= start or position > end:  # the newline before a line belongs to it as its own does
            assert (entry.seq, entry.text) in after
        position += length


@LAW
@given(st.lists(records, max_size=4), st.data())
def test_a_crash_costs_one_line(account: list[rec.Record], data: st.DataObject) -> None:
    """Cut off at any byte, a journal is a beginning of what happened; what is recorded next is read after it."""
    with tempfile.TemporaryDirectory() as folder:
        path = journal_of(folder, account)
        whole = path.read_bytes()
        want = [entry.text for entry in entries_of(path)]
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole)), label="cut at")])
        left = list(read(path))
        texts_left = [entry.text for entry in left if isinstance(entry, Entry)]
        journal = Journal.open(path)
        journal.record(rec.Noted(origin=Origin(session_id="s1"), text="afterwards"))
        journal.close()
        *resumed, last = read(path)

    assert want[: len(texts_left)] == texts_left
    assert len([each for each in left if isinstance(each, Damage)]) <= 1
    assert [type(each) for each in left] == [type(each) for each in resumed]
    assert isinstance(last, Entry)
    assert last.kind == "noted"


@LAW
@given(
    # With a digit, so that no word of the format holds one.
    st.dictionaries(
        st.sampled_from(["A_KEY", "B_TOKEN", "C_PASSWORD"]),
        st.tuples(st.text(max_size=10), st.from_regex(r"[0-9]{8}", fullmatch=True)).map("".join),
        min_size=1,
    ),
    st.data(),
)
def test_no_secret_is_written(secrets: dict[str, str], data: st.DataObject) -> None:
    """No text in a line holds a secret, wherever it stood and however it was escaped, and every line can be read.

    One exception: a member's name that is a lower-case word may be the format's own, and stands.
    """
    secret = st.sampled_from(sorted(secrets.values()))
    spelled = secret | secret.map(lambda text: json.dumps({"k": text})) | secret.map(lambda text: json.dumps([text, 1]))
    holding = st.builds(lambda before, text, after: before + text + after, texts, spelled, texts)
    origin = Origin(session_id="s1")
    hook = data.draw(hooks)
    reply = Exited(code=1, stdout=data.draw(holding).encode("utf-8", "replace"))
    outcome = Outcome(hook=hook, kind=Kind.FAILED, detail=data.draw(holding), reply=reply)
    event = BeforeToolCall(tool_name="bash", input={"a": [data.draw(holding)], data.draw(holding): 1}, origin=origin)
    account = [
        rec.RunStarted(origin=origin, prompt=data.draw(holding)),
        rec.Dispatched(
            origin=origin, event=event, resolution=Resolution(event=event, outcomes=(outcome,)), duration=0.0
        ),
    ]
    with tempfile.TemporaryDirectory() as folder:
        entries = list(read(journal_of(folder, account, **secrets)))

    assert all(isinstance(entry, Entry) for entry in entries)
    for entry in entries:
        assert isinstance(entry, Entry)
        for text in texts_in(json.loads(entry.text)):
            assert not any(each in text for each in secrets.values())


@LAW
@given(st.lists(records, max_size=6))
def test_every_journal_has_a_tree(account: list[rec.Record]) -> None:
    """Whatever is in a journal, its tree is lines that fit a screen and that a terminal can show."""
    with tempfile.TemporaryDirectory() as folder:
        lines = list(tree(read(journal_of(folder, account))))

    assert all(line.isprintable() and columns(line) <= 80 for line in lines)


@LAW
@given(st.lists(records, max_size=6))
def test_every_journal_has_a_report(account: list[rec.Record]) -> None:
    """Whatever is in a journal: every call of a hook has one end or none, and its lines are fit for a screen."""
    with tempfile.TemporaryDirectory() as folder:
        made = report(read(journal_of(folder, account)))

    for row in made.hooks:
        assert row.calls == row.answered + row.cancelled + row.no_end + sum(row.failed.values())
        assert row.matched == row.calls + sum(row.skipped.values())
        assert row.ran.p50 <= row.ran.p95 <= row.ran.longest
    assert 0 <= made.waited_ms <= made.took_ms
    assert json.loads(json.dumps(made.as_json()))["hooks"] == [
        json.loads(json.dumps(asdict(row))) for row in made.hooks
    ]
    assert all(line.isprintable() and columns(line) <= 80 for line in report_lines(made))


@LAW
@given(st.lists(records, max_size=6))
def test_an_outline_is_a_summary(account: list[rec.Record]) -> None:
    """It is the same of every journal that is whole, in less time."""
    with tempfile.TemporaryDirectory() as folder:
        path = journal_of(folder, account)

        assert summary(path) == outline(path)

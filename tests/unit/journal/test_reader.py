import json
import os
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookline._core import records as rec
from hookline._core.effects import RewriteInput
from hookline._core.errors import StateError, UsageError
from hookline._core.events import AfterModelCall, BeforeModelCall, BeforeToolCall, SessionStart
from hookline._core.hooks import Hook
from hookline._core.messages import Message, ToolCall, ToolSpec, Usage
from hookline._core.outcomes import Kind, Outcome
from hookline._core.points import Agent, Event, Origin
from hookline._core.resolution import Applied, Resolution
from hookline.journal import entries as en
from hookline.journal.reader import (
    Damage,
    Entry,
    Occurrence,
    Summary,
    children,
    conversation,
    events_from,
    find,
    outline,
    read,
    sessions,
    summary,
)
from hookline.journal.writer import Journal

ORIGIN = Origin(session_id="s1", run_id="r1", step=2)
CHILD = Origin(session_id="child")

GOOD = b'{"v":1,"seq":1,"at":5,"kind":"noted","session":"s1","run":"r1","step":2,"text":"hello"}'


def write(path: Path, *records: rec.Record) -> Path:
    journal = Journal.create(path.parent, path.stem)
    for record in records:
        journal.record(record)
    journal.close()
    return path


def message(role: str, text: str, *calls: str, call_id: str | None = None) -> rec.MessageAdded:
    asked = tuple(ToolCall(id=call, name="bash", input={"command": "ls"}) for call in calls)
    return rec.MessageAdded(origin=ORIGIN, message=Message(role=role, text=text, calls=asked, call_id=call_id))


def dispatched(event: Event, *, asked: Event | None = None, **resolved: Any) -> rec.Dispatched:
    resolution = Resolution(event=event, **resolved)
    return rec.Dispatched(origin=event.origin, event=asked or event, resolution=resolution, duration=0.0)


def test_an_entry_is_what_was_written(tmp_path: Path) -> None:
    """An entry has the envelope, the fields of its kind, the number of its line and the line itself."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(GOOD + b"\n")

    want = Entry(
        line=1,
        seq=1,
        at=5,
        kind="noted",
        session="s1",
        run="r1",
        step=2,
        body=en.Noted(text="hello"),
        text=GOOD.decode(),
    )
    assert [want] == list(read(path))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "not an entry"),
        (b"{}", "not an entry: Object missing required field `v`"),
        (b"[1]", "not an entry"),
        (GOOD[:-1], "not an entry"),
        (GOOD + GOOD, "not an entry"),
        (GOOD.replace(b"hello", b"h\xffllo"), "not an entry: 'utf-8' codec"),
        (GOOD.replace(b"hello", b"h\nllo"), "not an entry"),
        (GOOD.replace(b'"hello"', b"NaN"), "not an entry"),
        (GOOD.replace(b'"hello"', b'["\\ud800", NaN]'), "not an entry"),
        (GOOD.replace(b'"hello"', b"7"), "not an entry: Expected `str`, got `int`"),
        (GOOD.replace(b'"at":5', b'"at":-5'), "not an entry"),
        (GOOD.replace(b'"at":5', b'"at":' + b"9" * 4000), "not an entry"),
        (GOOD.replace(b'"text":"hello"', b""), "not an entry"),
        (b'{"v":1,"a":' + b"[" * 100_000 + b"}", "not an entry"),
        (GOOD.replace(b'"v":1', b'"v":2'), "written in version 2 of the format; this program reads 1"),
        (GOOD.replace(b"noted", b"moved"), "of an unknown kind, 'moved'"),
    ],
    ids=range(16),
)
def test_damage_is_reported_and_passed_over(tmp_path: Path, line: bytes, why: str) -> None:
    """A line that cannot be read is named with its number and the reason, and the lines around it are read."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(GOOD + b"\n" + line + b"\n" + GOOD + b"\n")

    first, *damaged, last = read(path)

    assert isinstance(first, Entry)
    assert isinstance(last, Entry)
    assert all(isinstance(each, Damage) for each in damaged)
    assert damaged[0].line == 2
    assert damaged[0].why.startswith(why)  # type: ignore[union-attr]


def test_a_line_that_was_cut_off_says_so(tmp_path: Path) -> None:
    """The last line, where a crash cut it off, is told from a line that was damaged later."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(GOOD + b"\n" + GOOD[:40])

    assert [Damage(2, "cut off: the file ends within this line")] == list(read(path))[1:]


def test_a_whole_line_without_its_end_counts(tmp_path: Path) -> None:
    """A line of which only the newline is missing has lost nothing."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(GOOD)

    assert [GOOD.decode()] == [entry.text for entry in read(path) if isinstance(entry, Entry)]


def test_an_endless_line_takes_no_memory(tmp_path: Path) -> None:
    """A line that is too long is reported after its beginning, and the next one is read."""
    path = tmp_path / "s1.jsonl"
    with path.open("wb") as file:
        file.truncate(200 * 1024 * 1024)  # a hole: no disk is used
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + GOOD + b"\n")

    tracemalloc.start()
    try:
        damage, good = read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert Damage(1, "longer than 16777216 bytes") == damage
    assert isinstance(good, Entry)
    assert peak < 100 * 1024 * 1024


def test_unknown_fields_are_passed_over(tmp_path: Path) -> None:
    """A field that a later version adds does not keep a line from being read."""
    path = tmp_path / "s1.jsonl"
    path.write_bytes(GOOD.replace(b'"text"', b'"mood":"fine","text"') + b"\n")

    assert [en.Noted(text="hello")] == [entry.body for entry in read(path) if isinstance(entry, Entry)]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """A journal that is not there is an error that names it, not an empty journal."""
    with pytest.raises(StateError, match=rf"cannot read {tmp_path}/none\.jsonl: No such file"):
        list(read(tmp_path / "none.jsonl"))


def test_a_conversation_is_rebuilt(tmp_path: Path) -> None:
    """Messages and hooks' context, in order, as the model saw them; other sessions' lines are not among them."""
    path = write(
        tmp_path / "s1.jsonl",
        message("user", "go"),
        rec.ContextAdded(origin=ORIGIN, point="before_run", hook="h", text="mind", number=1),
        rec.MessageAdded(origin=CHILD, message=Message(role="user", text="elsewhere")),
        message("assistant", "", "c1"),
        message("tool", "a.txt", call_id="c1"),
        rec.Noted(origin=ORIGIN, text="for a person"),
        message("assistant", "done"),
    )

    want = [("user", "go"), ("developer", "mind"), ("assistant", ""), ("tool", "a.txt"), ("assistant", "done")]
    said = conversation(path)
    assert want == [(each.role, each.text) for each in said]
    assert (ToolCall(id="c1", name="bash", input={"command": "ls"}),) == said[2].calls


def test_a_replacement_replaces_everything(tmp_path: Path) -> None:
    """What was said before a compaction or a clearing is no longer part of the conversation."""
    path = write(
        tmp_path / "s1.jsonl",
        message("user", "old"),
        rec.ConversationReplaced(origin=ORIGIN, why="hard", messages=(Message(role="developer", text="in short"),)),
        message("user", "new"),
    )

    assert [each.text for each in conversation(path)] == ["in short", "new"]


def test_calls_and_results_stay_paired(tmp_path: Path) -> None:
    """A call without its result gets one, a result without its call is left out: no model takes either."""
    path = write(
        tmp_path / "s1.jsonl",
        message("tool", "lost its call", call_id="c0"),
        message("assistant", "", "c1", "c2"),
        message("tool", "one", call_id="c1"),
        rec.ContextAdded(origin=ORIGIN, point="after_tool_call", hook="h", text="mind", number=1),
        message("user", "go on"),
        message("assistant", "", "c3"),
    )

    none = "No result: the session ended before this call did."
    want = [
        ("assistant", "", None),
        ("tool", "one", "c1"),
        ("developer", "mind", None),
        ("tool", none, "c2"),
        ("user", "go on", None),
        ("assistant", "", None),
        ("tool", none, "c3"),
    ]
    assert want == [(each.role, each.text, each.call_id) for each in conversation(path)]


def test_a_summary(tmp_path: Path) -> None:
    """A session in short: where, when, how many runs, and how it came to an end; a child's lines do not count."""
    path = write(
        tmp_path / "s1.jsonl",
        rec.SessionOpened(origin=ORIGIN, source="fork", workspace="/p", parent="s0"),
        rec.RunStarted(origin=ORIGIN, prompt="one"),
        rec.RunEnded(origin=ORIGIN, ending=rec.Ending.COMPLETED),
        rec.RunStarted(origin=CHILD, prompt="elsewhere"),
        rec.RunStarted(origin=ORIGIN, prompt="two"),
        rec.RunEnded(origin=ORIGIN, ending=rec.Ending.FAILED),
        rec.SessionClosed(origin=ORIGIN, reason="other"),
    )
    with path.open("ab") as file:
        file.write(b"half a li")

    told = summary(path)

    want = Summary(
        path=path,
        session="s1",
        started=told.started,
        workspace="/p",
        parent="s0",
        runs=2,
        ending="failed",
        closed="other",
        damaged=1,
    )
    assert want == told
    assert told.started > 0
    assert replace(want, damaged=0) == outline(path)


def test_a_summary_of_a_session_that_goes_on(tmp_path: Path) -> None:
    """A run that has not ended has no ending, and a session that was resumed is not closed."""
    path = write(
        tmp_path / "s1.jsonl",
        rec.RunStarted(origin=ORIGIN, prompt="one"),
        rec.RunEnded(origin=ORIGIN, ending=rec.Ending.COMPLETED),
        rec.SessionClosed(origin=ORIGIN, reason="other"),
        rec.SessionOpened(origin=ORIGIN, source="resume", workspace="/p"),
        rec.RunStarted(origin=ORIGIN, prompt="two"),
    )

    assert (summary(path).runs, summary(path).ending, summary(path).closed) == (2, "", "")
    assert summary(path) == outline(path)


def test_an_outline_reads_only_what_it_tells(tmp_path: Path) -> None:
    """Lines that span what is read at once are whole to it; what only looks like a line, within a text, is none."""
    look_alike = '\n{"v":1,"seq":1,"at":1,"kind":"run_started","prompt":""}\n'
    long = rec.Noted(origin=ORIGIN, text=look_alike * 30_000)
    call = rec.CallStarted(origin=ORIGIN, call_id="c", tool="t", input={"kind": "run_started", "prompt": look_alike})
    records = [rec.RunStarted(origin=ORIGIN, prompt="x" * 700_000), long, call]
    path = write(tmp_path / "s1.jsonl", *records, *records)
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))

    assert 2 == outline(path).runs
    assert summary(path) == outline(path)
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert Summary(path=tmp_path / "empty.jsonl") == outline(tmp_path / "empty.jsonl")
    with pytest.raises(StateError, match=r"cannot read .*none\.jsonl"):
        outline(tmp_path / "none.jsonl")


def test_sessions_are_listed_newest_first(tmp_path: Path) -> None:
    """The journal last written to is the first; what is no journal is not listed."""
    for age, name in enumerate(("b", "a", "c")):
        os.utime(write(tmp_path / f"{name}.jsonl"), (1000 - age, 1000 - age))
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "folder.jsonl").mkdir()

    assert [path.stem for path in sessions(tmp_path)] == ["b", "a", "c"]
    assert sessions(tmp_path / "missing") == ()


@pytest.mark.parametrize(("text", "want"), [("0199a", "0199a"), ("0199ab", "0199ab"), ("01a", "01a7")])
def test_a_session_is_found_by_the_start_of_its_id(tmp_path: Path, text: str, want: str) -> None:
    """A whole id names its session even where others begin with it; else the start does, if it is the only one."""
    for name in ("0199a", "0199ab", "01a7"):
        write(tmp_path / f"{name}.jsonl")

    assert tmp_path / f"{want}.jsonl" == find(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("02", "no session 02 in "),
        ("01", "write more of the id, or `last`"),
        ("../01", "'../01' is no session id"),
        ("*", "is no session id"),
    ],
)
def test_a_session_that_is_not_found(tmp_path: Path, text: str, message: str) -> None:
    """None, several, or no id at all: each is said, with what to do, and nothing outside the folder is looked at."""
    for number in range(7):
        write(tmp_path / f"01{number}.jsonl")

    with pytest.raises(UsageError) as raised:
        find(tmp_path, text)

    assert message in str(raised.value)


def test_the_newest_of_several_is_named_first(tmp_path: Path) -> None:
    """Whoever wrote too little of an id most likely means what is newest; `last` is the last one written to."""
    for number in range(7):
        os.utime(write(tmp_path / f"01{number}.jsonl"), (number, number))

    with pytest.raises(UsageError, match=r"the newest first: 016, 015, 014, 013, 012, \.\.\.; write more"):
        find(tmp_path, "01")
    assert tmp_path / "016.jsonl" == find(tmp_path, "last")


def test_a_folder_that_cannot_be_listed_is_said(tmp_path: Path) -> None:
    """Sessions that cannot be listed are not sessions that are not there."""
    (tmp_path / "file").write_text("")

    with pytest.raises(StateError, match="cannot list"):
        find(tmp_path / "file", "01")


def test_children_are_found_by_their_parent(tmp_path: Path) -> None:
    """The sessions that name this one as their parent, in the order in which they began."""
    for name, parent in (("a", "s1"), ("b", None), ("c", "s2"), ("d", "s1")):
        opened = rec.SessionOpened(origin=Origin(session_id=name), source="startup", workspace="/p", parent=parent)
        write(tmp_path / f"{name}.jsonl", opened)

    assert [entry.session for entry in children(tmp_path, "s1")] == ["a", "d"]


def test_children_are_not_looked_for_in_what_is_older(tmp_path: Path) -> None:
    """Whoever was last written to before a session began has nothing of it; a second is left for coarse clocks."""
    for age, name in ((10, "a"), (19, "b"), (30, "c")):
        opened = rec.SessionOpened(origin=Origin(session_id=name), source="startup", workspace="/p", parent="s1")
        os.utime(write(tmp_path / f"{name}.jsonl", opened), (age, age))

    assert [entry.session for entry in children(tmp_path, "s1", since=20_000_000)] == ["b", "c"]


@pytest.mark.parametrize(
    "event",
    [
        SessionStart(source="resume", origin=Origin(session_id="s1")),
        BeforeToolCall(
            tool_name="bash",
            input={"command": "ls", "n": [1, None, 2.5]},
            call_id="c1",
            aliases=("Bash", "shell"),
            origin=Origin(
                session_id="s1",
                run_id="r1",
                step=3,
                cwd="/p",
                model="m",
                provider="x",
                approval_off=True,
                agent=Agent(id="agent-1", type="reviewer"),
            ),
        ),
        AfterModelCall(
            provider="x",
            messages=(Message(role="user", text="go"), Message(role="tool", text="a", call_id="c1")),
            tools=(ToolSpec(name="bash", description="runs", parameters={"properties": {}}),),
            options={"temperature": 1},
            usage=Usage(input_tokens=3),
            calls=(ToolCall(id="c2", name="bash", input="not JSON"),),
            origin=ORIGIN,
        ),
    ],
    ids=lambda event: event.point.name,
)
def test_an_event_is_an_object_again(tmp_path: Path, event: Event) -> None:
    """An event comes back from its line as it was, where it happened included, so that it can be asked again."""
    said = [rec.MessageAdded(origin=ORIGIN, message=each) for each in getattr(event, "messages", ())]
    path = write(tmp_path / "s1.jsonl", rec.Noted(origin=ORIGIN, text="x"), *said, dispatched(event))

    (occurrence,) = events_from(path)

    assert isinstance(occurrence, Occurrence)
    assert event == occurrence.event
    assert event.origin == occurrence.event.origin
    assert occurrence.entry.kind == "dispatched"


def test_an_event_about_messages_that_are_not_there_is_not_made_up(tmp_path: Path) -> None:
    """A model call whose conversation began in another journal is reported, not replayed with half of it."""
    messages = (Message(role="user", text="go"),)
    path = write(tmp_path / "s1.jsonl", dispatched(BeforeModelCall(provider="x", messages=messages, origin=ORIGIN)))

    (strange,) = events_from(path)

    assert isinstance(strange, Damage)
    assert strange.why == "an event about 1 messages, of which 0 are in the journal"


def test_an_event_comes_back_as_hooks_were_asked(tmp_path: Path, make_hook: Callable[..., Hook]) -> None:
    """An input that a hook rewrote is the model's own again: replaying the rewritten one would ask another question."""
    asked = BeforeToolCall(tool_name="bash", input={"command": "ls"}, call_id="c1", origin=ORIGIN)
    left = BeforeToolCall(tool_name="bash", input={"command": "ls --safe"}, call_id="c1", origin=ORIGIN)
    outcome = Outcome(hook=make_hook(), kind=Kind.ANSWERED)
    applied = (Applied(outcome.hook.id, RewriteInput({"command": "ls --safe"})),)
    path = write(tmp_path / "s1.jsonl", dispatched(left, asked=asked, applied=applied, outcomes=(outcome,)))

    (occurrence,) = events_from(path)

    assert isinstance(occurrence, Occurrence)
    assert occurrence.event == asked


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"point": "before_lunch"}, "an event of an unknown hook point, 'before_lunch'"),
        ({"point": ["x"]}, "an event of an unknown hook point"),
        ({"tool_name": 7}, "an event that before_tool_call does not have: Expected `str`, got `int`"),
        ({"origin": 7}, "an event that before_tool_call does not have"),
        ({"origin": {"agent": 7}}, "an event that before_tool_call does not have"),
    ],
    ids=range(5),
)
def test_an_event_that_cannot_be_rebuilt(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    """An event of another version, or of somebody else's making, is reported and passed over."""
    path = write(tmp_path / "s1.jsonl", dispatched(BeforeToolCall(tool_name="bash", input={}, origin=ORIGIN)))
    line = json.loads(path.read_text())
    line["event"] |= change
    path.write_text(json.dumps(line) + "\n" + "damaged\n")

    strange, damaged = events_from(path)

    assert isinstance(strange, Damage)
    assert strange.why.startswith(why)
    assert isinstance(damaged, Damage)

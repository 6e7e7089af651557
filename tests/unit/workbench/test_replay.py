"""Replaying from Python."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import hookline as hl
from hookline._core import records as rec
from hookline._core.events.tool import UnknownToolCall
from hookline._core.messages import Message
from hookline._core.points import POINTS, Event, Origin
from hookline._core.resolution import Resolution
from hookline.events import AfterModelCall, BeforeModelCall
from hookline.journal import Damage, Entry, Journal, Occurrence, events_from
from hookline.journal.reader import SPECIAL, entries_and_events
from hookline.workbench.opening import Chosen
from hookline.workbench.replay import Beat, Terms, replay
from hookline.workbench.replay_all import replay_all
from hookline.workbench.replayed import Change, Found, Kind, Replayed, Trouble, together

pytestmark = pytest.mark.anyio

HERE = Origin(session_id="s1")
GUARD = """
[[hooks.entries]]
id = "judge"
point = "{point}"
capability = "guardrail"
runtime = {{ type = "in_process", handler = "judge" }}
"""


def recorded(folder: Path, name: str, events: Sequence[Event], *, messages: int = 0) -> Path:
    """A session with these events, none of which reached a hook."""
    origin = Origin(session_id=name)
    journal = Journal.create(folder, name)
    journal.record(rec.SessionOpened(origin=origin, source="startup", workspace="/gone"))
    for number in range(messages):
        journal.record(rec.MessageAdded(origin=origin, message=Message(role="user", text=f"message {number}")))
    for event in events:
        resolution = Resolution(event=event)
        journal.record(rec.Dispatched(origin=origin, event=event, resolution=resolution, duration=0.001))
    journal.close()
    return journal.path


def bash(command: str) -> Event:
    return hl.BeforeToolCall(tool_name="bash", input={"command": command})


def chosen(folder: Path, point: str = "pre_tool_execution") -> Chosen:
    """A guard in this process against what is forbidden, and empty conversations."""

    def judge(envelope: dict[str, dict[str, object]]) -> hl.Deny | None:
        return hl.Deny("no") if "forbidden" in str(envelope) else None

    handlers = hl.Handlers()
    handlers.register("judge", judge)
    (folder / "config.toml").write_text(GUARD.format(point=point))
    return Chosen(files=[folder / "config.toml"], handlers=handlers)


async def test_functions_of_this_process_are_asked_in_it(tmp_path: Path) -> None:
    """However many processes are allowed: another could not call them."""
    paths = [recorded(tmp_path, name, [bash("ls"), bash("forbidden")]) for name in ("s1", "s2")]

    found = [each async for each in replay_all(paths, chosen(tmp_path), jobs=2)]

    kinds = [type(each) for each in found]
    assert [Change, Replayed] * 2 == kinds
    total = together(each for each in found if isinstance(each, Replayed))
    assert (2, 4, 4, {Kind.NEWLY_DENIED: 2}) == (total.sessions, total.events, total.asked, total.by_kind)


async def test_the_first_change_ends_it_where_that_is_wanted(tmp_path: Path) -> None:
    """That session is told of as far as it came."""
    paths = [recorded(tmp_path, name, [bash("forbidden")] * 3) for name in ("s1", "s2")]

    found = [each async for each in replay_all(paths, chosen(tmp_path), Terms(fail_fast=True), jobs=1)]

    assert [Change, Replayed] == [type(each) for each in found]


async def test_a_journal_that_is_not_there_is_one_trouble(tmp_path: Path) -> None:
    """The others are replayed."""
    paths = [tmp_path / "nowhere.jsonl", recorded(tmp_path, "s1", [bash("ls")])]

    found: list[Found] = [each async for each in replay_all(paths, chosen(tmp_path), jobs=1)]

    trouble, *_, last = found
    assert isinstance(trouble, Trouble)
    assert trouble.text.startswith(f"{tmp_path}/nowhere.jsonl: not replayed: cannot read ")
    assert isinstance(last, Replayed)
    assert last.is_fine


async def test_hooks_of_model_calls_see_the_conversation(tmp_path: Path) -> None:
    """It stands in other lines, and is kept for them alone."""
    said = tuple(Message(role="user", text=f"message {number}") for number in range(3))
    events = [kind(provider="echo", messages=said, origin=HERE) for kind in (BeforeModelCall, AfterModelCall)]
    path = recorded(tmp_path, "s1", events, messages=3)

    assert events == [each.event for each in events_from(path) if isinstance(each, Occurrence)]
    (ended,) = [each async for each in replay(path, chosen(tmp_path, "pre_llm_request"))]
    assert isinstance(ended, Replayed)
    assert (2, 1) == (ended.events, ended.asked)


async def test_word_is_given_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much of the journal is read, how many events that were, what changed."""
    monkeypatch.setattr("hookline.workbench.replay.TURN", 1)
    monkeypatch.setattr("hookline.workbench.replay.BETWEEN_BEATS", -1.0)
    path = recorded(tmp_path, "s1", [bash("forbidden")])
    beats: list[Beat] = []

    async for _ in replay(path, chosen(tmp_path), told=beats.append):
        continue

    assert Beat(path, path.stat().st_size, 1, 1) == beats[-1]


def test_only_what_is_wanted_is_rebuilt(tmp_path: Path) -> None:
    """An event that nobody is asked about stays a line, whatever is wrong with it, and the conversation is not kept."""
    wrong = BeforeModelCall(provider="echo", messages=(Message(role="user", text="not in the journal"),))
    path = recorded(tmp_path, "s1", [wrong, bash("ls")])

    def calls(entry: Entry) -> bool:
        return "before_tool_call" in entry.text

    kinds = [type(each) for each in entries_and_events(path, rebuild=calls, about_messages=False)]
    assert [Entry, Entry, Occurrence] == kinds
    assert [Damage, Occurrence] == [type(each) for each in events_from(path)]


def test_an_event_of_a_special_kind_comes_back_as_that(tmp_path: Path) -> None:
    """Every class of events beside that of its point is known to the reader."""
    event = UnknownToolCall(tool_name="nothing", input={}, origin=HERE)
    path = recorded(tmp_path, "s1", [event])

    (found,) = events_from(path)
    assert isinstance(found, Occurrence)
    assert event == found.event
    ours = {
        each.__name__
        for point in POINTS.values()
        for each in point.event.__subclasses__()
        if each.__module__.startswith("hookline.")
    }
    assert ours == {each.__name__ for each in SPECIAL}

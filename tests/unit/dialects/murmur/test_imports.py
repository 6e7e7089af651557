"""What a hook may ask of its host, under which grant, and what it is told where there is nothing to tell."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline._core.capsule import NO_GRANT, Grant
from hookline._core.guests import GuestError, Inferred
from hookline._core.messages import Message
from hookline.dialects.murmur.imports import Host, part_of

TASK, READ = "murmur:task-io/read@0.1.0#", "murmur:conversation/read@0.1.0#read-messages"
INFER = "murmur:runtime/inference@0.3.0#run-inference"
ALL = Grant(reads_task=True, reads_conversation=True)


class Around:
    """A session in the middle of a task. Implements Surroundings."""

    def __init__(self, **has: Any) -> None:
        self.given: str | None = has.get("given", "götter")
        self.original: str | None = has.get("original", "original")
        self.output: str | None = has.get("output")
        self.messages: list[Message] = has.get("messages", [])
        self.broken: str = has.get("broken", "")
        self.asked: list[Any] = []

    async def infer(self, hook: str, messages: Sequence[Message], system: str, model: str | None) -> Inferred:
        self.asked.append((hook, tuple(messages), system, model))
        if self.broken:
            raise GuestError(self.broken)
        return Inferred(text="short", model=model or "large", input_tokens=3, output_tokens=4)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def task_input(self, *, original: bool) -> str | None:
        return self.original if original else self.given

    def task_output(self) -> str | None:
        return self.output

    async def conversation(self) -> Sequence[Message]:
        if self.broken:
            raise GuestError(self.broken)
        return self.messages


def host(grant: Grant = ALL, **has: Any) -> Host:
    return Host(Around(**has), "watch", grant)


async def refusal(of: Host, name: str, *arguments: Any) -> str:
    with pytest.raises(GuestError) as caught:
        await of.ask(name, arguments)
    return str(caught.value)


READERS = [
    ("input-len", ("as-given",)),
    ("read-input", ("original", 0, 10)),
    ("output-len", ()),
    ("read-output", (0, 10)),
]


async def test_readers_read() -> None:
    """Lengths are bytes, both forms of the input are there, and the output once there is one."""
    of = host(output="done")
    said = [await of.ask(TASK + name, arguments) for name, arguments in READERS]

    assert [7, "original", 4, "done"] == said


@pytest.mark.parametrize(("name", "arguments"), READERS)
async def test_readers_say_what_there_is_not(name: str, arguments: tuple[Any, ...]) -> None:
    """Without the grant nothing leaks; outside of a task there is none; before its end there is no output."""
    outside = {"given": None, "original": None, "output": None}

    assert "not-granted" == await refusal(host(NO_GRANT, output="done"), TASK + name, *arguments)
    assert "no-task" == await refusal(host(**outside), TASK + name, *arguments)
    if "output" in name:
        assert "no-output" == await refusal(host(), TASK + name, *arguments)


@pytest.mark.parametrize(
    ("offset", "most", "text"),
    [(0, 1, "g"), (0, 2, "g"), (0, 3, "gö"), (1, 1, ""), (1, 2, "ö"), (3, 9, "tter"), (7, 9, ""), (0, 0, "")],
)
async def test_a_part_ends_between_characters(offset: int, most: int, text: str) -> None:
    """The longest prefix that fits and ends on a boundary; none of it at the end, or where nothing is wanted."""
    assert text == await host().ask(TASK + "read-input", ("as-given", offset, most))


@pytest.mark.parametrize("offset", [2, 8, 2**63])
async def test_a_part_begins_between_characters(offset: int) -> None:
    """Inside of a character and past the end is out of range."""
    assert "out-of-range" == await refusal(host(), TASK + "read-input", "as-given", offset, 1)


@given(st.text(max_size=20), st.integers(4, 9))
def test_parts_make_the_whole(text: str, most: int) -> None:
    """Reading on from where the last part ended comes to all of it, however little is read at once."""
    data, read = text.encode(), b""
    while len(read) < len(data):
        read += part_of(data, len(read), most).encode()

    assert data == read


async def walk(of: Host, limit: int) -> list[tuple[list[str], str | None, int]]:
    pages: list[tuple[list[str], str | None, int]] = []
    cursor = None
    while True:
        page = await of.ask(READ, (cursor, limit))
        cursor = page["next-cursor"]
        pages.append(([each["id"] for each in page["messages"]], cursor, page["total"]))
        if cursor is None:
            return pages


def said(count: int) -> list[Message]:
    return [Message(role="user", text=str(number), id=str(number)) for number in range(1, count + 1)]


async def test_a_record_is_read_newest_first() -> None:
    """Five messages, two a page."""
    pages = await walk(host(messages=said(5)), 2)

    assert [(["5", "4"], "mc_3", 5), (["3", "2"], "mc_1", 5), (["1"], None, 5)] == pages


async def test_what_is_added_shifts_no_cursor() -> None:
    """A cursor counts from the oldest message."""
    around = Around(messages=said(3))
    of = Host(around, "watch", ALL)
    first = await of.ask(READ, (None, 1))
    around.messages = said(9)
    page = await of.ask(READ, (first["next-cursor"], 1))

    assert (["2"], 9) == ([each["id"] for each in page["messages"]], page["total"])


@pytest.mark.parametrize(("limit", "count"), [(0, 1), (1, 1), (100, 100), (4_000_000_000, 100)])
async def test_a_page_has_a_size(limit: int, count: int) -> None:
    """The limit is clamped to 1 and 100."""
    assert count == len((await host(messages=said(120)).ask(READ, (None, limit)))["messages"])


async def test_an_empty_record_is_an_empty_page() -> None:
    """No message, no cursor, a total of 0."""
    assert {"messages": [], "next-cursor": None, "total": 0} == await host().ask(READ, (None, 10))


@pytest.mark.parametrize(
    "cursor", ["", "mc_", "mc_0", "mc_01", "mc_6", "mc_-1", "mc_1 ", "mc_٣", "1", "mc_" + "9" * 5000]
)
async def test_a_cursor_is_the_hosts(cursor: str) -> None:
    """Whatever it did not make, it does not take."""
    assert "invalid-cursor" == await refusal(host(messages=said(5)), READ, cursor, 1)


async def test_a_record_may_not_be_had() -> None:
    """Without the grant, and where it cannot be read."""
    assert "not-granted" == await refusal(host(NO_GRANT), READ, "mc_99", 1)
    assert "unavailable: the disk is gone" == await refusal(host(broken="the disk is gone"), READ, None, 1)


async def test_tool_messages_carry_their_envelope() -> None:
    """A page has messages in the form that compaction hands them over in."""
    page = await host(messages=[Message(role="tool", text="out", call_id="1")]).ask(READ, (None, 1))

    assert page["messages"][0]["content"].startswith('{"__murmur_tool_msg__":true,"tool_call_id":"1"')


@pytest.mark.parametrize("name", [INFER, "murmur:runtime/inference@0.2.0#run-inference"])
async def test_the_model_is_asked_in_plain_text(name: str) -> None:
    """The content goes as it is, JSON or not; what is absent is the capsule's own."""
    around = Around()
    request = {"messages": [{"role": "user", "content": '"q"'}], "system-prompt": None, "model": None}
    answer = await Host(around, "watch", NO_GRANT).ask(name, (request,))

    assert [("watch", (Message(role="user", text='"q"'),), "", None)] == around.asked
    assert {"text": "short", "model-used": "large", "input-tokens": 3, "output-tokens": 4} == answer


async def test_a_model_that_is_not_there_is_an_error() -> None:
    """The text is the session's."""
    text = "inference driver is not configured; add inference.driver.artifact to murmur.yaml"
    request = {"messages": [], "system-prompt": "s", "model": "m"}

    assert text == await refusal(host(broken=text), INFER, request)


async def test_tokens_are_counted_for_anybody() -> None:
    """There is no grant to it."""
    assert 2 == await host(NO_GRANT).ask("murmur:runtime/tokens@0.3.0#count", ("two words",))


async def test_all_that_is_served_is_there_under_every_grant() -> None:
    """So that a component loads whatever it was granted; what is not served is told so."""
    assert host(NO_GRANT).imports() == host(ALL).imports()
    assert 8 == len(host().imports())
    assert "x#y is not served here" == await refusal(host(), "x#y")

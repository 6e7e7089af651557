"""Messages between the session and hooks: both ways, and back again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline._core.messages import Message, ToolCall, is_paired, wire_form
from hookline.dialects.murmur.messages import NoMessage, all_incoming, incoming, outgoing
from hookline.dialects.murmur.wire import json_of

TEXT = st.text(max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.lists(st.builds(ToolCall, id=TEXT, name=TEXT, input=JSON), max_size=3).map(tuple)
IDENTITY = {"id": TEXT, "source_id": st.none() | TEXT}
MESSAGES = st.one_of(
    st.builds(Message, role=st.sampled_from(["user", "developer"]), text=TEXT, **IDENTITY),
    st.builds(Message, role=st.just("assistant"), text=TEXT, calls=CALLS, **IDENTITY),
    st.builds(
        Message,
        role=st.just("tool"),
        text=TEXT,
        call_id=st.text(min_size=1, max_size=5),
        is_error=st.none() | st.booleans(),
        **IDENTITY,
    ),
)


@given(MESSAGES)
def test_what_goes_out_comes_back(message: Message) -> None:
    """A hook that hands a message back hands back the same one, with its identity."""
    assert message == incoming(outgoing(message))


@given(MESSAGES)
def test_a_request_has_no_identity(message: Message) -> None:
    """What tokens are counted of holds role and content, and no id that would defeat a cache of prompts."""
    form = json.loads(json_of(wire_form(message)))

    assert {"role", "content"} <= set(form) <= {"role", "content", "tool_call_id", "is_error"}
    assert message.role == form["role"]


BLOCKS = [{"type": "text", "text": "a"}, {"type": "image", "url": "u"}, {"type": "text", "text": "b"}]
CALL = {"type": "tool_call", "id": "1", "name": "git", "input": {"a": 1}}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (json.dumps([{"type": "text", "text": "a"}]), "a"),
        (json.dumps(BLOCKS), 'a\n{"type":"image","url":"u"}\nb'),
        (json.dumps([CALL]), '{"type":"tool_call","id":"1","name":"git","input":{"a":1}}'),
        ("[]", ""),
        ('"a \\" string"', 'a " string'),
        ('{"a":  1}', '{"a":  1}'),
        ("12", "12"),
        ("null", "null"),
        ("plain text", "plain text"),
        ("[1", "[1"),
        ("", ""),
    ],
)
def test_a_content_becomes_text(content: str, text: str) -> None:
    """An array is its blocks, a string itself, any other JSON its text, and what is no JSON the raw text."""
    assert Message(role="user", text=text) == incoming({"role": "user", "content": content})


def test_calls_are_the_assistants() -> None:
    """Its `tool_call` blocks are calls; in any other message they are text, as is a block that lacks something."""
    said = incoming({"role": "assistant", "content": json.dumps([CALL, {"type": "tool_call", "id": "2"}])})

    assert said is not None
    assert (ToolCall(id="1", name="git", input={"a": 1}),) == said.calls
    assert '{"type":"tool_call","id":"2"}' == said.text


@pytest.mark.parametrize(
    ("role", "becomes"), [("system", "developer"), ("developer", "developer"), ("robot", "user"), ("", "user")]
)
def test_roles_that_come_in(role: str, becomes: str) -> None:
    """`system` is ours under another name, and a role that there is not has no authority."""
    said = incoming({"role": role, "content": "x"})

    assert said is not None
    assert becomes == said.role


ENVELOPE = {
    "__murmur_tool_msg__": True,
    "tool_call_id": "1",
    "is_error": True,
    "body": [{"type": "text", "text": "out"}],
}


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, Message(role="tool", text="out", call_id="1", is_error=True)),
        ({"is_error": None}, Message(role="tool", text="out", call_id="1")),
        ({"is_error": "yes"}, Message(role="tool", text="out", call_id="1")),
        ({"body": "plain"}, Message(role="tool", text="plain", call_id="1", is_error=True)),
        ({"body": {"a": 1}}, Message(role="tool", text='{"a":1}', call_id="1", is_error=True)),
        ({"tool_call_id": ""}, None),
        ({"tool_call_id": None}, None),
        ({"tool_call_id": 1}, None),
        ({"__murmur_tool_msg__": False}, None),
        ({"__murmur_tool_msg__": 1}, None),
    ],
)
def test_a_tool_message_is_rebuilt_or_dropped(change: dict[str, Any], kept: Message | None) -> None:
    """An intact envelope that names its call is one; anything else is none."""
    assert kept == incoming({"role": "tool", "content": json.dumps(ENVELOPE | change)})


@pytest.mark.parametrize("content", ["out", "[]", '"out"', "{}", '{"__murmur_tool_msg__":true,"tool_call_id":"1"}'])
def test_without_its_envelope_a_tool_message_is_dropped(content: str) -> None:
    """It would answer no call."""
    assert () == all_incoming([{"role": "tool", "content": content}])


@pytest.mark.parametrize(
    "record",
    [None, 1, "x", [], {}, {"role": "user"}, {"role": 1, "content": ""}, {"role": "user", "content": "", "id": 1}],
)
def test_what_is_no_record_is_no_message(record: object) -> None:
    """The types of the fields are the interface's."""
    with pytest.raises(NoMessage):
        incoming(record)


ASKS = Message(role="assistant", text="", calls=(ToolCall(id="1", name="git", input={}),))
ANSWERS = Message(role="tool", text="", call_id="1")


@pytest.mark.parametrize(
    ("messages", "is_unpaired"),
    [((), False), ((ASKS, ANSWERS), False), ((ANSWERS, ASKS), False), ((ASKS,), True), ((ANSWERS,), True)],
)
def test_pairs(messages: tuple[Message, ...], is_unpaired: bool) -> None:
    """The ids of calls and those of results are one set."""
    assert is_unpaired is not is_paired(messages)

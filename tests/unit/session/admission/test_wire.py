"""Inputs as they come from outside: any bytes are an input, or a fault that says what to write."""

import uuid
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import drawn

from hookline._core.inputs import Durability, Handling, Input, InputKind, InputSource, SourceType
from hookline.session.admission.wire import MAX_BYTES, InvalidInput, Wire, input_from

FIELDS = (
    "kind, text, id, idempotency_key, source, durability, handling_mode, request_id, status, taint, has_context, data"
)


def line(**members: Any) -> bytes:
    return msgspec.json.encode(members)


def told(data: bytes) -> Input | str:
    """The input, or the words of the fault."""
    try:
        return input_from(data)
    except InvalidInput as fault:
        return str(fault)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
members = st.dictionaries(st.sampled_from([*Wire.__struct_fields__, "kinds"]), anything, max_size=4)


@drawn.THOROUGHLY
@given(st.binary() | st.text().map(str.encode) | anything.map(msgspec.json.encode) | members.map(msgspec.json.encode))
def test_any_bytes(data: bytes) -> None:
    """Whatever comes is an input with a UUID, or an InvalidInput that says something."""
    made = told(data)
    if isinstance(made, Input):
        assert made.id == str(uuid.UUID(made.id))
        assert (InputKind, str) == (type(made.kind), type(made.text))
    else:
        assert made.strip()


@drawn.LAW
@given(
    st.sampled_from(InputKind),
    st.text(),
    st.sampled_from([None, *Durability]),
    st.sampled_from([None, *Handling]),
    st.sampled_from(SourceType),
    st.none() | st.text(),
    anything,
)
def test_every_field_arrives(
    kind: InputKind,
    text: str,
    durability: Durability | None,
    handling: Handling | None,
    source: SourceType,
    key: str | None,
    data: Any,
) -> None:
    """Each member is a field of the input, as it was written."""
    wanted = str(uuid.uuid4())
    written = line(
        kind=kind.value,
        text=text,
        id=wanted,
        idempotency_key=key,
        source={"type": source.value, "name": "n", "id": "i"},
        durability=None if durability is None else durability.value,
        handling_mode=None if handling is None else handling.value,
        request_id="r",
        status="completed",
        taint="clean",
        has_context=True,
        data=data,
    )

    expected = Input(
        id=wanted,
        kind=kind,
        text=text,
        source=InputSource(type=source, name="n", id="i"),
        durability=durability,
        key=key,
        handling=handling,
        request_id="r",
        status="completed",
        taint="clean",
        has_context=True,
        data=data,
    )
    assert expected == input_from(written)


def test_a_text_alone_is_a_prompt() -> None:
    """What is left out is that of an operator's prompt, durable, queued as its kind is, under an id of its own."""
    first, second = input_from(line(text="fix the build")), input_from(line(text="fix the build"))

    assert Input(id=first.id, kind=InputKind.PROMPT, text="fix the build") == first
    assert first.id != second.id


def test_an_id_is_written_in_one_way() -> None:
    """Ids that differ in their spelling only are one id."""
    wanted = str(uuid.uuid4())
    assert wanted == input_from(line(id=wanted.upper())).id


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"", 'an input is one JSON object, such as {"text": "fix the build"}: ', id="nothing"),
        pytest.param(b"fix the build", 'an input is one JSON object, such as {"text": "fix the build"}: ', id="words"),
        pytest.param(b'{"text": "\xff"}', "an input is one JSON object", id="no UTF-8"),
        pytest.param(b'{"text": "a", "text": "b"}', "an input is one JSON object", id="twice"),
        pytest.param(b" " * (MAX_BYTES + 1), "an input is one JSON object", id="too long"),
        pytest.param(b"[" * 1000 + b"]" * 1000, "an input is one JSON object", id="too deep"),
        pytest.param(b'"fix the build"', "Expected `object`, got `str`", id="a text"),
        pytest.param(b'[{"text": "a"}]', "Expected `object`, got `array`", id="a list"),
        pytest.param(line(id="7"), "`id` has to be a UUID; leave it out to have one made", id="another id"),
        pytest.param(line(text=7), "Expected `str`, got `int` - at `$.text`", id="a number"),
        pytest.param(line(source={"name": "n"}), "missing required field `type` - at `$.source`", id="source"),
        pytest.param(line(handling_mode="now"), "Invalid enum value 'now' - at `$.handling_mode`", id="handling"),
    ],
)
def test_what_is_no_input_is_told_why(data: bytes, words: str) -> None:
    """The words name the place and what belongs there."""
    with pytest.raises(InvalidInput) as caught:
        input_from(data)
    assert words in str(caught.value)


def test_a_misspelt_field_is_told_which_there_are() -> None:
    """An unknown field is no input: the message names it, and every field that there is."""
    with pytest.raises(InvalidInput) as caught:
        input_from(line(txt="fix the build"))
    assert f"Object contains unknown field `txt`; the fields are {FIELDS}" == str(caught.value)


def test_a_misspelt_field_of_the_source_is_told_which_it_has() -> None:
    """The fields that are named are those of the object which has the unknown one."""
    with pytest.raises(InvalidInput) as caught:
        input_from(line(source={"type": "peer", "nam": "ada"}))
    assert "unknown field `nam` - at `$.source`" in str(caught.value)
    assert "the fields are type, name, id" in str(caught.value)


def test_a_misspelt_kind_is_told_which_there_are() -> None:
    """An unknown kind is no input: the message names it, and every kind that there is."""
    with pytest.raises(InvalidInput) as caught:
        input_from(line(kind="promt"))
    kinds = ", ".join(kind.value for kind in InputKind)
    assert f"Invalid enum value 'promt' - at `$.kind`; the kinds are {kinds}" == str(caught.value)

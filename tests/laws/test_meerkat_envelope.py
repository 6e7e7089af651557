"""Meerkat's envelopes: what is derived is never read, and whatever is written can be read again."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import drawn

from hookline._core.events import AfterToolCall, BeforeRun, BeforeToolCall, InteractionCompleted
from hookline._core.hooks import Hook
from hookline._core.payload import Payload, Refused
from hookline._core.points import Event
from hookline._core.targets import HttpTarget
from hookline.dialects.meerkat import envelope
from hookline.dialects.meerkat.rules import RULES
from hookline.testing import SAMPLES

TARGET = HttpTarget("http://127.0.0.1:1/")

texts = st.text(max_size=20)
data: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, data, max_size=4)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(BeforeRun, prompt=texts, resumes=st.booleans()),
    st.builds(BeforeToolCall, tool_name=texts, input=objects, call_id=texts),
    st.builds(AfterToolCall, tool_name=texts, input=objects, call_id=texts, response=data),
    st.sampled_from([SAMPLES[rule.event] for rule in RULES]),
)


def written(event: Event) -> bytes:
    payload = envelope.encode(event, Hook(id="h", event=type(event), target=TARGET, dialect="meerkat"))
    assert isinstance(payload, Payload)
    return payload.body


@drawn.ON_PAPER
@given(events)
def test_what_is_written_reads_as_what_was_meant(event: Event) -> None:
    """Decoding gives the members that are not derived, and encoding those again gives the same bytes."""
    body = written(event)
    members = envelope.decode(body)

    assert json.loads(json.dumps(envelope.members_of(event))) == members
    assert json.loads(body) == envelope.with_projections(members)
    assert not body.endswith(b"\n")


@drawn.ON_PAPER
@given(events, texts)
def test_forged_texts_are_not_read(event: Event, forged: str) -> None:
    """Whatever stands where a derived text belongs, the envelope is the same."""
    value = json.loads(written(event))
    lie = {**value, "prompt": forged, "error": forged}
    if "tool_result" in lie:
        lie["tool_result"] = {**lie["tool_result"], "content": forged}

    assert envelope.decode(json.dumps(value).encode()) == envelope.decode(json.dumps(lie).encode())


@drawn.THOROUGHLY
@given(
    st.binary(max_size=60)
    | st.sampled_from([written(SAMPLES[rule.event]) for rule in RULES]).flatmap(
        lambda whole: st.integers(0, len(whole)).map(lambda cut: whole[:cut])
    )
)
def test_any_bytes_are_an_envelope_or_a_fault(body: bytes) -> None:
    """Nothing but InvalidEnvelope comes of bytes that are none."""
    try:
        members = envelope.decode(body)
    except envelope.InvalidEnvelope:
        return
    assert {"point", "session_id"} <= members.keys()


@pytest.mark.parametrize("part", envelope.OBJECTS)
@pytest.mark.parametrize("value", [3, "text", [], None, True])
def test_a_part_of_another_kind_is_a_fault(part: str, value: object) -> None:
    """What has to be an object and is none is said, not stumbled over."""
    whole = {"point": "run_started", "session_id": "s", part: value}

    with pytest.raises(envelope.InvalidEnvelope, match=part):
        envelope.decode(json.dumps(whole).encode())


@given(st.integers(-3, 3))
def test_the_cap_is_met_exactly(excess: int) -> None:
    """An envelope of exactly the cap is sent, one byte more is refused with both numbers."""
    event = SAMPLES[BeforeRun]
    size = len(written(event))
    hook = Hook(id="h", event=BeforeRun, target=TARGET, dialect="meerkat", output_bytes=size - excess)
    payload = envelope.encode(event, hook)

    if excess <= 0:
        assert isinstance(payload, Payload)
    else:
        assert isinstance(payload, Refused)
        assert payload.detail == f"hook payload exceeds max size: {size} > {size - excess}"


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_refused(number: float) -> None:
    """Q17: structured output that JSON cannot hold is not told as something else."""
    event = replace(SAMPLES[InteractionCompleted], structured_output={"x": [number]})  # type: ignore[type-var]
    refused = envelope.encode(event, Hook(id="h", event=InteractionCompleted, target=TARGET, dialect="meerkat"))

    assert isinstance(refused, Refused)

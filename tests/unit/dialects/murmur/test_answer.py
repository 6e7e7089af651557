"""Laws of answers: whatever a component yields is an answer or a failure, at every event."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.dialects.murmur.rig import hook

from hookline._core.answer import Answer
from hookline._core.hooks import Hook
from hookline._core.payload import CallFailed, Yielded
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline.dialects.murmur.answer import decode
from hookline.dialects.murmur.rules import ARMS, BY_EVENT
from hookline.testing import SAMPLES

EVENTS = [event for kind, event in SAMPLES.items() if kind in BY_EVENT]
HOOKS = [
    hook(),
    hook(is_async=True),
    *(hook(policy=policy) for policy in ARMS if policy not in ("artifact", "deny")),
    *(hook(binding=binding, policy="deny") for binding in ("on-shell", "on-tool-call")),
]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3)
KEYS = st.sampled_from(["role", "content", "id", "source-id", "binary-name"]) | st.text(max_size=3)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
RECORD = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "tool", "system", "", "robot"]), "content": st.text(max_size=20) | VALUES},
    optional={"id": VALUES, "source-id": VALUES},
)
PAYLOADS = VALUES | st.lists(RECORD, max_size=3)


@given(
    st.sampled_from(sorted(ARMS)) | st.text(max_size=5) | VALUES,
    PAYLOADS,
    st.sampled_from(EVENTS),
    st.sampled_from(HOOKS),
)
def test_whatever_is_yielded_is_understood_or_failed(arm: Any, value: Any, event: Event, of: Hook) -> None:
    """Decoding never raises, and an answer holds only what its hook commits and its event honors."""
    said = decode(Yielded(arm=arm, value=value), event, of)

    if isinstance(said, CallFailed):
        assert said.detail
    else:
        assert isinstance(said, Answer)
        assert said.words() <= of.commits & BY_EVENT[event.point.event].admits


@given(st.sampled_from(list(Failure)), st.text(max_size=5), st.integers(0, 9), st.sampled_from(EVENTS))
def test_a_failed_call_is_never_an_answer(why: Failure, detail: str, size: int, event: Event) -> None:
    """It keeps its closed reason, whatever words are found for it, and those name the hook unless they are its own."""
    for of in HOOKS:
        for stream in ("", "memory", "table"):
            said = decode(CallFailed(why=why, detail=detail, stream=stream, size=size), event, of)
            assert isinstance(said, CallFailed)
            assert (why, stream, size) == (said.why, said.stream, said.size)
            assert "watch" in said.detail or (why is Failure.ERROR and said.detail == detail)


def test_there_is_an_event_for_every_rule() -> None:
    """The laws above speak of every event that Murmur has."""
    assert set(BY_EVENT) == {type(event) for event in EVENTS}

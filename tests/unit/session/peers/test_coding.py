import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookline._core.errors import UsageError
from hookline._core.peers import Envelope, EnvelopeKind, Peer, PeerError, PeerFault
from hookline.session.peers.coding import (
    MAX_BYTES,
    Acknowledgement,
    Undecodable,
    check_name,
    decode,
    decode_acknowledgement,
    encode,
    encode_acknowledgement,
)

ID = "7c1b7f0e-5d0c-4d6e-9f0b-6f1f3a6f2d51"
LETTER = Envelope(id=ID, kind=EnvelopeKind.MESSAGE, sender=Peer("a"), to=Peer("b"), text="hello")
WRITTEN = {"v": 1, "id": ID, "kind": "message", "sender": "a", "to": "b", "text": "hello"}

names = st.text(min_size=1, max_size=256)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
envelopes = st.builds(
    Envelope,
    id=st.uuids().map(str),
    kind=st.sampled_from(EnvelopeKind),
    sender=st.builds(Peer, names),
    to=st.builds(Peer, names),
    text=st.text(),
    in_reply_to=st.none() | st.text(),
    status=st.none() | st.sampled_from(["progress", "completed", "failed", "cancelled"]),
    taint=st.sampled_from([None, "clean", "tainted"]),
    data=plain,
)
documents = st.dictionaries(st.sampled_from([*WRITTEN, "data", "taint", "status", "other"]), plain).map(
    lambda fields: json.dumps({**WRITTEN, **fields}).encode()
)


@given(envelopes)
@example(replace(LETTER, text="\x00\U0001f600", data={"": [2**70, -0.0, 1e308]}))
def test_round_trip(envelope: Envelope) -> None:
    """What is written decodes to an equal envelope."""
    assert envelope == decode(encode(envelope))


@given(st.binary() | documents)
@example(b"")
@example(b'{"data":' + b"[" * 100_000)
@example(json.dumps(WRITTEN).encode() + b" x")
def test_any_bytes(data: bytes) -> None:
    """Any bytes decode to an envelope, which can be written again, or to a fault that says something."""
    read = decode(data)

    if isinstance(read, Undecodable):
        assert read.detail
    else:
        assert read == decode(encode(read))


@given(st.binary() | documents)
def test_any_acknowledgement(data: bytes) -> None:
    """Any bytes decode to an acknowledgement or to a fault that says something."""
    read = decode_acknowledgement(data)

    assert not isinstance(read, Undecodable) or read.detail


@pytest.mark.parametrize("outcome", ["accepted", "deduplicated", "rejected"])
def test_acknowledgement_round_trip(outcome: Any) -> None:
    """An acknowledgement decodes to an equal one."""
    said = Acknowledgement(id=ID, sender="a", to="b", outcome=outcome, detail="why")

    assert said == decode_acknowledgement(encode_acknowledgement(said))


def test_bytes_are_a_format() -> None:
    """The bytes are one JSON object with the version first; what has its default value is left out."""
    assert json.dumps(WRITTEN, separators=(",", ":")).encode() == encode(replace(LETTER, text="hello"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"v": 2}, "`v` is 2"),
        ({"v": True}, "`v` is True"),
        ({"v": 1.0}, "`v` is 1.0"),
        ({"id": "7"}, "$.id"),
        ({"id": ID + "\n"}, "$.id"),
        ({"kind": "shout"}, "shout"),
        ({"sender": ""}, "$.sender"),
        ({"to": "b" * 257}, "$.to"),
        ({"to": None}, "$.to"),
        ({"taint": "perhaps"}, "perhaps"),
        ({"other": 1}, "other"),
        ({"text": 1}, "$.text"),
    ],
)
def test_faults_are_named(change: dict[str, Any], said: str) -> None:
    """A fault names what is wrong with the document."""
    read = decode(json.dumps({**WRITTEN, **change}).encode())

    assert isinstance(read, Undecodable)
    assert said in read.detail


@pytest.mark.parametrize("missing", sorted(WRITTEN.keys() - {"text"}))
def test_missing(missing: str) -> None:
    """Version, id, kind, sender and recipient have to be there."""
    read = decode(json.dumps({key: value for key, value in WRITTEN.items() if key != missing}).encode())

    assert isinstance(read, Undecodable)


def test_duplicate_key() -> None:
    """A document of two meanings has none."""
    assert Undecodable("line 1, column 8: duplicate key `v`") == decode(b'{"v":1,"v":1}')


ROUND: list[Any] = []
ROUND.append(ROUND)
DEEP: list[Any] = []
for _ in range(200):
    DEEP = [DEEP]


NOT_JSON: dict[str, Any] = {
    "tuple": (1, 2),
    "number as key": {1: 2},
    "bytes": b"x",
    "set": {1},
    "nan": float("nan"),
    "infinity": float("inf"),
    "object": object(),
    "half a character": "\ud800",
    "half a character as key": {"\ud800": 1},
    "deep": DEEP,
    "round": ROUND,
    "endless number": 10**5000,
}


@pytest.mark.parametrize("name", NOT_JSON)
def test_data_that_would_arrive_as_something_else(name: str) -> None:
    """Data that JSON does not have is refused, never bent."""
    with pytest.raises(PeerError) as caught:
        encode(replace(LETTER, data=NOT_JSON[name]))

    assert PeerFault.INVALID is caught.value.why


@pytest.mark.parametrize(
    "change",
    [
        {"id": "7"},
        {"to": Peer("")},
        {"text": "\ud800"},
        {"text": None},
        {"taint": "perhaps"},
        {"text": "x" * (MAX_BYTES + 1)},
    ],
    ids=["no id", "no name", "half a character", "no text", "unknown taint", "too large"],
)
def test_envelopes_that_cannot_be_written(change: dict[str, Any]) -> None:
    """An envelope that would not be read is not written."""
    with pytest.raises(PeerError) as caught:
        encode(replace(LETTER, **change))

    assert PeerFault.INVALID is caught.value.why


@pytest.mark.parametrize("name", ["", "x" * 257, "\ud800"], ids=["empty", "long", "surrogate"])
def test_names(name: str) -> None:
    """A peer can only have a name that an envelope can carry."""
    with pytest.raises(UsageError, match="1 to 256"):
        check_name(Peer(name))

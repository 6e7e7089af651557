"""Envelopes, and what a receiver says about them, as bytes: one JSON object in UTF-8 that begins with a version.

Reading is strict: one text has one meaning, so duplicate and unknown keys, NaN and numbers that would have to be bent
are faults. Writing reads its own bytes again and refuses what would arrive as something else.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from hookline._core.errors import UsageError
from hookline._core.peers import Envelope, EnvelopeKind, Peer, PeerError, PeerFault
from hookline._core.strictjson import DEEPEST_WRITTEN, JsonFault, parse

VERSION = 1
MAX_BYTES = 8 * 1024 * 1024  # the most that a NATS server should be set to take; its default is 1 MiB
MAX_NAME = 256

Id = Annotated[str, Meta(pattern=r"\A[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")]
Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Outcome = Literal["accepted", "deduplicated", "rejected"]


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Bytes that are nothing of ours, or of another version. `detail` says what is wrong and where."""

    detail: str


class Acknowledgement(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a receiver tells the sender of the envelope *id* once it has decided. `detail` says why it was rejected."""

    id: Id
    sender: Name
    to: Name
    outcome: Outcome
    detail: str = ""


class _Written(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An envelope as it is written. What a response has to say is for admission to judge, so `status` is any text."""

    id: Id
    kind: EnvelopeKind
    sender: Name
    to: Name
    text: str = ""
    in_reply_to: str | None = None
    status: str | None = None
    taint: Literal["clean", "tainted"] | None = None
    data: Any = None


Shape = TypeVar("Shape", bound=Struct)


def encode(envelope: Envelope) -> bytes:
    """*envelope* as bytes that decode to an equal one. Raises PeerError(INVALID) when there are none.

    Its data has to be what JSON has: None, booleans, finite numbers, text, lists, and mappings with keys of text.
    """
    try:
        written = _line(_written(envelope))
        read = decode(written)
        is_same = read == envelope
    except (TypeError, ValueError, ArithmeticError, AttributeError, RecursionError) as error:
        raise _invalid(envelope, str(error)) from None
    if isinstance(read, Undecodable):
        raise _invalid(envelope, read.detail)
    if not is_same:
        raise _invalid(envelope, "its data is not plain JSON (lists, not tuples; text as keys; no NaN, no bytes)")
    return written


def decode(data: bytes) -> Envelope | Undecodable:
    """The envelope that *data* stands for, whatever *data* is."""
    read = _read(data, _Written)
    if isinstance(read, Undecodable):
        return read
    return Envelope(
        id=read.id,
        kind=read.kind,
        sender=Peer(read.sender),
        to=Peer(read.to),
        text=read.text,
        in_reply_to=read.in_reply_to,
        status=read.status,
        taint=read.taint,
        data=read.data,
    )


def encode_acknowledgement(said: Acknowledgement) -> bytes:
    return _line(said)


def decode_acknowledgement(data: bytes) -> Acknowledgement | Undecodable:
    """The acknowledgement that *data* stands for, whatever *data* is."""
    return _read(data, Acknowledgement)


def check_name(peer: Peer) -> None:
    """Raises UsageError when *peer* has a name that no envelope can carry."""
    try:
        msgspec.convert(peer.name, Name)
        peer.name.encode()
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise UsageError(f"a peer's name is text of 1 to {MAX_NAME} characters, not {peer.name!r:.80}") from error


def _written(envelope: Envelope) -> _Written:
    return _Written(
        id=envelope.id,
        kind=envelope.kind,
        sender=envelope.sender.name,
        to=envelope.to.name,
        text=envelope.text,
        in_reply_to=envelope.in_reply_to,
        status=envelope.status,
        taint=envelope.taint,  # type: ignore[arg-type] # checked when it is read again
        data=envelope.data,
    )


def _line(struct: Struct) -> bytes:
    fields = ((name, getattr(struct, name)) for name in struct.__struct_fields__)
    return msgspec.json.encode({"v": VERSION, **{name: value for name, value in fields if value is not None}})


def _read(data: bytes, shape: type[Shape]) -> Shape | Undecodable:
    try:
        value = parse(data, max_bytes=MAX_BYTES, max_depth=DEEPEST_WRITTEN)
    except JsonFault as fault:
        return Undecodable(f"line {fault.line}, column {fault.column}: {fault.message}")
    if not isinstance(value, dict):
        return Undecodable("not a JSON object")
    version = value.pop("v", None)
    if version != VERSION or isinstance(version, bool | float):
        return Undecodable(f"written by another version: `v` is {version!r:.40}, and {VERSION} is read here")
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        return Undecodable(str(error))


def _invalid(envelope: Envelope, why: str) -> PeerError:
    return PeerError(PeerFault.INVALID, f"a message to {envelope.to.name!r:.80} cannot be written: {why}")

"""Inputs as the JSON that is kept of them, and texts as bytes. Any text that Python can hold comes back as it was."""

import hashlib
import json

import msgspec

from hookline._core.errors import StateError, UsageError
from hookline._core.inputs import Input

LONGEST_INDEXED = 512  # bytes; PostgreSQL refuses an index's row of more than 2,700, and ours have two such columns
_HASHED = b"\0sha256:"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Input).decode


def raw(text: str) -> bytes:
    """*text* in UTF-8, lone surrogates and NUL included, which no text in PostgreSQL may hold."""
    return text.encode("utf-8", "surrogatepass")


def text_of(kept: bytes) -> str:
    return kept.decode("utf-8", "surrogatepass")


def indexed(text: str) -> bytes:
    """*text* as it is looked for, however long it is. Two texts that differ do so here as well."""
    kept = raw(text)
    if len(kept) <= LONGEST_INDEXED and not kept.startswith(_HASHED):
        return kept
    return _HASHED + hashlib.sha256(kept).digest()


def body_of(input: Input) -> bytes:
    """*input* as one JSON object. Raises UsageError for `data` that JSON does not have."""
    try:
        try:
            return _encode(input)
        except UnicodeEncodeError:  # a lone surrogate, which msgspec does not write
            return raw(json.dumps(msgspec.to_builtins(input), ensure_ascii=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"input {input.id} cannot be kept, its `data` has to be JSON: {error}") from error


def input_of(body: bytes) -> Input:
    """The input that *body* was made of."""
    try:
        try:
            return _decode(body)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            return msgspec.convert(json.loads(text_of(body)), Input)
    except (ValueError, RecursionError) as error:
        raise StateError(f"an input that was kept cannot be read: {error}: {body[:200]!r}") from error

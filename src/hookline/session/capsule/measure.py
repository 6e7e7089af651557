"""Tokens: what messages, requests and responses take, as the window and its budgets count them."""

import json
import warnings
from collections.abc import Callable, Sequence
from functools import cache

from hookline._core.messages import Message, ToolSpec, blocks_of, wire_form
from hookline.session.ports import ModelReply

BYTES_PER_TOKEN = 4  # where the encoder is not to be had

Count = Callable[[str], int]


def counter() -> Count:
    """How many tokens of cl100k a text takes; a fourth of its bytes where `bpe-openai` is not installed.

    The vocabulary is loaded by the first text that is counted, which takes half a second.
    """
    return _counted


def _counted(text: str) -> int:
    return (_encoder() or _by_bytes)(text)


@cache
def _encoder() -> Count | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the way in which it reads its own files
            import bpe_openai
    except ImportError:
        return None
    encode = bpe_openai.get_encoding("cl100k_base").encode_ordinary
    return lambda text: len(encode(_sound(text)))


def _by_bytes(text: str) -> int:
    return len(text.encode(errors="replace")) // BYTES_PER_TOKEN


def _sound(text: str) -> str:
    """Half of a surrogate pair is in no vocabulary."""
    return text.encode(errors="replace").decode() if not text.isascii() else text


def text_of(value: object) -> str:
    """JSON, as compact as it is sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def tokens_of_messages(messages: Sequence[Message], count: Count) -> int:
    """What messages take as part of a request, each by itself."""
    return sum(count(text_of(wire_form(each))) for each in messages)


def tokens_of_request(messages: Sequence[Message], tools: Sequence[ToolSpec], count: Count) -> int:
    """What a whole request takes."""
    described = [{"name": each.name, "description": each.description, "input": each.parameters} for each in tools]
    return count(text_of({"messages": [wire_form(each) for each in messages], "tools": described}))


def tokens_of_reply(reply: ModelReply, count: Count) -> int:
    """What a response takes."""
    return count(text_of(blocks_of(reply.text, reply.calls)))

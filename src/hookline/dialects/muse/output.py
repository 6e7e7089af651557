"""A hook's standard output, from bytes to the members of its answer (section 13.1)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookline._core import strictjson
from hookline.dialects.muse.terminal import one_line

OUTPUT_BYTES = 16_384  # of each output stream; one byte more and the hook is ended
DEEPEST = 100  # levels; a tool input has a few

DID_NOT_PARSE = "malformed_output: hook stdout started as JSON but did not parse: "


@dataclass(frozen=True, slots=True)
class Malformed:
    """Why a reply that started as JSON is no answer, in the dialect's words."""

    text: str


def text_of(stream: bytes) -> str:
    """What a hook wrote, as text: without a byte order mark, and with U+FFFD for bytes that are not UTF-8."""
    return stream.removeprefix(strictjson.BOM).decode("utf-8", "replace")


def starts_as_json(stdout: str) -> bool:
    """Whether this output is to be read as an answer and not as plain text."""
    return stdout.lstrip().startswith(("{", "["))


def parse(stdout: bytes) -> Mapping[str, Any] | Malformed:
    """The members of the one object on *stdout*, which starts as JSON."""
    text = text_of(stdout)
    start = len(text) - len(text.lstrip())
    blank = re.sub(r"[^\n]", " ", text[:start])  # JSON knows fewer kinds of white space than text does
    body = (blank + text[start:].rstrip()).encode()
    try:
        said = strictjson.parse(body, max_bytes=3 * OUTPUT_BYTES, max_depth=DEEPEST)  # U+FFFD takes three bytes
    except strictjson.JsonFault as fault:
        where = f"{one_line(fault.message)} (line {fault.line}, column {fault.column})"
        mark = len(stdout) - len(stdout.removeprefix(strictjson.BOM))
        return Malformed(DID_NOT_PARSE + (_several(text, start, mark) or where))
    if not isinstance(said, dict):
        return Malformed("hook output must be a JSON object")
    return said


def _several(text: str, start: int, before: int) -> str:
    """What to say of *text* when it is several documents in a row, each of them sound; else nothing.

    *start* is the offset of the first; *before* is how many bytes stood before the text.
    """
    decoder = json.JSONDecoder()
    starts: list[int] = []
    at = start
    try:
        while at < len(text):
            starts.append(at)
            _, at = decoder.raw_decode(text, at)
            while at < len(text) and text[at].isspace():
                at += 1
    except (ValueError, RecursionError):
        return ""
    if len(starts) == 1:
        return ""
    second = before + len(text[: starts[1]].encode())
    return f"{len(starts)} JSON documents on stdout (second starts at byte {second})"

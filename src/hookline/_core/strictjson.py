"""JSON as every dialect reads and writes it: one text, one meaning, and a place for every fault.

Reading is strict where the standard library is lenient: UTF-8 only, no duplicate keys, no NaN, no number that Python
would have to bend, no lone surrogates, bounded size and depth. Good documents are parsed at C speed; only a bad one,
or one whose positions are asked for, is read a second time token by token.
"""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NoReturn

BOM = b"\xef\xbb\xbf"
DEEPEST_WRITTEN = 120  # more than any file or reply of ours may have, so what was read can be wrapped and written


class JsonFault(ValueError):
    """What is wrong with a document. Line and column count from 1; columns count characters."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class Part(Enum):
    """The last step of a path that leads to a member's key instead of its value."""

    KEY = "key"


Path = tuple[str | int | Part, ...]
Place = tuple[int, int]  # line and column


class _NotStrict(ValueError):
    """Raised inside the C parser; the scanner then finds the place and the words."""


def parse(data: bytes, *, max_bytes: int, max_depth: int) -> Any:
    """The value that *data* stands for. Raises JsonFault, and nothing else, for everything that is wrong with it."""
    if len(data) > max_bytes:
        raise JsonFault(f"larger than {max_bytes} bytes", 1, 1)
    text = decode(data)
    if (deep := _beyond(text, max_depth)) is not None:  # how deep the C parser itself can go depends on the version
        raise _fault(text, deep, f"nested more than {max_depth} levels deep")
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse, parse_int=_integer, parse_float=_float
        )
    except json.JSONDecodeError as error:
        raise _syntax_fault(text, error, skipped=len(data) - len(text.encode())) from None
    except (_NotStrict, RecursionError):
        raise _first_fault(text) from None
    surrogate = _lone_surrogate(text)
    if surrogate is not None:
        raise _fault(text, surrogate, "a \\u escape for half a character (a lone surrogate)")
    return value


def decode(data: bytes) -> str:
    """*data* as text, without a byte order mark. Raises JsonFault at the first byte that is not UTF-8."""
    body = data.removeprefix(BOM)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        before = body[: error.start].decode()
        offset = error.start + len(data) - len(body)
        raise _fault(before, len(before), f"not UTF-8: byte {offset} is 0x{body[error.start]:02x}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NotStrict
    return members


def _refuse(constant: str) -> NoReturn:
    raise _NotStrict


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python reads only so many digits, to stay quick
        raise _NotStrict from None


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _NotStrict
    return number


# Strings are passed over whole: a bracket within one opens nothing.
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_NO_BRACKET = re.compile(r"[^{}\[\]]+")
_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(?P<opens>[{\[])|(?P<closes>[}\]])')


def _beyond(text: str, max_depth: int) -> int | None:
    """Where the first container begins that lies deeper than *max_depth*."""
    if text.count("{") + text.count("[") <= max_depth:
        return None
    if not _is_deep(_NO_BRACKET.sub("", _STRING.sub("", text)), max_depth):
        return None
    depth = 0
    for found in _BRACKET.finditer(text):
        if found["opens"]:
            depth += 1
            if depth > max_depth:
                return found.start()
        elif found["closes"]:
            depth -= 1
    return None


def _is_deep(brackets: str, max_depth: int) -> bool:
    """Whether a text of brackets alone goes deeper."""
    depth = 0
    for each in brackets:
        depth += 1 if each in "{[" else -1
        if depth > max_depth:
            return True
    return False


# Only strings hold backslashes, so walking the escapes in order finds every surrogate and the half it lacks.
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u(?P<lone>[dD][89a-fA-F])|.)")


def _lone_surrogate(text: str) -> int | None:
    if "\\ud" not in text and "\\uD" not in text:
        return None
    return next((found.start() for found in _ESCAPE.finditer(text) if found["lone"]), None)


def _fault(text: str, at: int, message: str) -> JsonFault:
    line_start = text.rfind("\n", 0, at) + 1
    return JsonFault(message, text.count("\n", 0, at) + 1, at - line_start + 1)


def _syntax_fault(text: str, error: json.JSONDecodeError, *, skipped: int) -> JsonFault:
    """*skipped* is the size of a byte order mark: byte numbers count from the very start of the document."""
    at = error.pos
    if error.msg == "Extra data":
        offset = skipped + len(text[:at].encode())
        return _fault(text, at, f"{_what_follows(text, at)} byte {offset}")
    if not text.strip():
        return _fault(text, at, "nothing in it")
    if text.startswith(("//", "/*"), at):
        return _fault(text, at, "JSON has no comments")
    comma = at if text.startswith(",", at) else len(text[:at].rstrip()) - 1
    if text[comma] == "," and text[comma + 1 :].lstrip().startswith(("}", "]")):
        return _fault(text, comma, "a comma with nothing after it")
    message = error.msg.removesuffix(" at").removesuffix(" starting").rstrip(": ")
    return _fault(text, at, message[0].lower() + message[1:])


def _what_follows(text: str, at: int) -> str:
    try:
        json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return "more text after the JSON document, from"
    return "a second JSON document starts at"


_TOKEN = re.compile(
    r"""[ \t\n\r]*
    (?: (?P<mark>[{}\[\],:]) | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*") | (?P<scalar>[^ \t\n\r{}\[\],:"]+) )""",
    re.VERBOSE,
)
_NAMED = {"true", "false", "null"}
_WHOLE = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def _tokens(text: str) -> Iterator[tuple[Path, int, str]]:
    """Every key, value and opening bracket: its path, offset and raw text (a string's is empty).

    Meant for text that the C parser accepted or stopped in for strictness only; ends early at anything else.
    """
    path: list[str | int] = []  # the innermost container's current key or index stands last
    opened: list[str] = []
    at, expects_key = 0, False
    while (token := _TOKEN.match(text, at)) is not None:
        at = token.end()
        mark = token["mark"]
        if mark in ("}", "]"):
            opened.pop()
            path.pop()
        elif mark == ",":
            last = path[-1]
            if isinstance(last, int):
                path[-1] = last + 1
            expects_key = opened[-1] == "{"
        elif mark in ("{", "["):
            yield tuple(path), at - 1, mark
            opened.append(mark)
            path.append("" if mark == "{" else 0)
            expects_key = mark == "{"
        elif token["string"]:
            start = token.start("string")
            if expects_key:
                path[-1] = json.loads(token["string"])
                expects_key = False
                yield (*path, Part.KEY), start, ""
            else:
                yield tuple(path), start, ""
        elif mark is None:
            yield tuple(path), token.start("scalar"), token["scalar"]
        if not opened:
            return


def _first_fault(text: str) -> JsonFault:
    """The first breach of strictness in the order of the text."""
    seen: set[Path] = set()
    for path, at, raw in _tokens(text):
        if path and path[-1] is Part.KEY:
            if path in seen:
                return _fault(text, at, f"duplicate key `{_shown(str(path[-2]))}`")
            seen.add(path)
        elif raw and raw not in ("{", "[") and raw not in _NAMED:
            message = _number_fault(raw)
            if message:
                return _fault(text, at, message)
    return JsonFault("nested too deep to be read", 1, 1)


def _shown(key: str) -> str:
    """*key* as a message can quote it: not endless, and free of half characters, which no stream would take."""
    return key[:80].encode("utf-8", "backslashreplace").decode()


def _number_fault(raw: str) -> str:
    if not _NUMBER.fullmatch(raw):
        return f"`{raw[:40]}` is not JSON"
    try:
        if _WHOLE.fullmatch(raw):
            _integer(raw)
        else:
            _float(raw)
    except _NotStrict:
        return "a number that is too large to be kept as it is"
    return ""


_KINDS = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", tuple: "array"}


def kind_of(value: object) -> str:
    """What JSON calls a parsed *value*: null, boolean, number, string, array or object."""
    return "null" if value is None else _KINDS.get(type(value), "object")


def positions(text: str) -> Mapping[Path, Place]:
    """Line and column of every value, and of every member's key under its path and `Part.KEY`.

    *text* must be a document that `parse` accepted.
    """
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    places: dict[Path, Place] = {}
    for path, at, _ in _tokens(text):
        line = bisect_right(starts, at)
        places[path] = (line, at - starts[line - 1] + 1)
    return places


def encode(value: Any, *, spaced: bool) -> bytes:
    """*value* as one line of JSON in UTF-8, whatever it holds, and the same bytes every time.

    *spaced* puts a space after every comma and colon. A lone surrogate is written as its escape. NaN and the
    infinities become null. Bytes become text, a set a sorted array, and anything else that JSON does not have, keys
    included, a string. What lies deeper than `DEEPEST_WRITTEN`, or within itself, becomes a string that says so.
    """
    separators = (", ", ": ") if spaced else (",", ":")
    plain = value if _is_plain(value) else _plain(value, ())
    try:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=separators)
    except ValueError:  # an integer with more digits than Python writes
        text = json.dumps(_plain(value, ()), ensure_ascii=False, allow_nan=False, separators=separators)
    return text.encode("utf-8", "backslashreplace")  # only lone surrogates, all inside strings, cannot be encoded


def _is_plain(value: Any) -> bool:
    pending = [(value, 1)]
    while pending:
        each, depth = pending.pop()
        kind = type(each)
        if kind is str or kind is int or kind is bool or each is None:
            continue
        if kind is float:
            if not math.isfinite(each):
                return False
        elif depth > DEEPEST_WRITTEN:
            return False
        elif kind is dict:
            if not all(type(key) is str for key in each):
                return False
            pending.extend((inner, depth + 1) for inner in each.values())
        elif kind is list or kind is tuple:
            pending.extend((inner, depth + 1) for inner in each)
        else:
            return False
    return True


def _plain(value: Any, around: tuple[int, ...]) -> Any:
    """*value* in JSON's own types. *around* are the identities of the containers that it stands in."""
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case int():
            return _digits(int.__index__(value))
        case float():
            return float.__float__(value) if math.isfinite(value) else None
        case bytes() | bytearray():
            return bytes(value).decode("utf-8", "backslashreplace")
        case Mapping() | list() | tuple() | set() | frozenset():
            return _container(value, around)
        case _:
            return _string(value)


def _container(value: Any, around: tuple[int, ...]) -> Any:
    if id(value) in around:
        return "(contains itself)"
    if len(around) >= DEEPEST_WRITTEN:
        return f"(nested more than {DEEPEST_WRITTEN} levels deep)"
    around = (*around, id(value))
    if isinstance(value, Mapping):
        return {_key(key, around): _plain(inner, around) for key, inner in value.items()}
    inside = [_plain(inner, around) for inner in value]
    return inside if isinstance(value, list | tuple) else sorted(inside, key=lambda each: encode(each, spaced=False))


def _key(key: Any, around: tuple[int, ...]) -> str:
    plain = _plain(key, around)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _digits(number: int) -> int | str:
    try:
        str(number)
    except ValueError:
        return hex(number)
    return number


def _string(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a stranger's __str__ may raise anything; the payload is written all the same
        return f"<{type(value).__name__}>"

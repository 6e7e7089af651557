"""What a field of a configuration accepts: a noun for messages, a check with a place for every fault, a conversion.

The last of them are stricter than Meerkat, which lets a value through that no call can ever work with.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from enum import Enum
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from hookline._core.strictjson import Path
from hookline.dialects._places import key_of, path_text
from hookline.dialects.meerkat.document import Finding, did_you_mean, quoted

WRONG_TYPE = "WrongType"
OUT_OF_RANGE = "OutOfRange"


class Slot(NamedTuple):
    """Where a value stands. Its name in messages is what follows the first *around* steps, the way to its table."""

    at: Path
    around: int

    def within(self, step: str | int) -> "Slot":
        return Slot((*self.at, step), self.around)

    def fault(self, code: str, words: str) -> Finding:
        return Finding(code=code, message=f"`{path_text(self.at[self.around :])}` {words}", at=self.at)

    def wrong_type(self, value: Any, noun: str) -> Finding:
        return self.fault(WRONG_TYPE, f"must be {noun}, found {found(value)}")


Check = Callable[[Any, Slot], Sequence[Finding]]


@dataclass(frozen=True, slots=True)
class Kind:
    """`check` names the faults of the value in a slot; `convert` is for one without faults."""

    noun: str
    check: Check
    convert: Callable[[Any], Any] = lambda value: value


def found(value: Any) -> str:
    """What *value* is, in one noun: `a string`, `null`."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int():
            return "a whole number"
        case float():
            return "a number with a fraction"
        case list() | tuple():
            return "an array"
        case dict():
            return "a table"
        case datetime() | date() | time():
            return "a date or time"
        case _:
            return f"a value of type {type(value).__name__}"


def _string(value: Any, slot: Slot) -> Sequence[Finding]:
    if not isinstance(value, str):
        return (slot.wrong_type(value, "a string"),)
    if not _is_text(value):
        return (slot.fault(WRONG_TYPE, "holds half a character (a lone surrogate): take it out"),)
    return ()


def _is_text(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _boolean(value: Any, slot: Slot) -> Sequence[Finding]:
    return () if isinstance(value, bool) else (slot.wrong_type(value, BOOLEAN.noun),)


def _whole(low: int, high: int) -> Kind:
    noun = f"a whole number from {low} to {high}"

    def check(value: Any, slot: Slot) -> Sequence[Finding]:
        if not isinstance(value, int) or isinstance(value, bool):  # to Python, true is a 1
            return (slot.wrong_type(value, noun),)
        if low <= value <= high:
            return ()
        number = str(value) if abs(value) < 10**24 else "one that is far from it"  # not all digits can be printed
        return (slot.fault(OUT_OF_RANGE, f"must be {noun}, found {number}"),)

    return Kind(noun, check)


def _table(value: Any, slot: Slot) -> Sequence[Finding]:
    return () if isinstance(value, dict) else (slot.wrong_type(value, TABLE.noun),)


def array_of(member: Kind, noun: str, convert: Callable[[Any], Any] = tuple) -> Kind:
    def check(value: Any, slot: Slot) -> Sequence[Finding]:
        if not isinstance(value, list | tuple):
            return (slot.wrong_type(value, noun),)
        return [fault for index, each in enumerate(value) for fault in member.check(each, slot.within(index))]

    return Kind(noun, check, convert)


def _pairs(value: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(value.items())


def _table_of_strings(check_pair: Callable[[str, str, Slot], Iterator[Finding]]) -> Kind:
    noun = "a table of strings"

    def check(value: Any, slot: Slot) -> Sequence[Finding]:
        return list(faults(value, slot)) if isinstance(value, dict) else (slot.wrong_type(value, noun),)

    def faults(value: dict[Any, Any], slot: Slot) -> Iterator[Finding]:
        for name, each in value.items():
            if not isinstance(name, str):  # only a caller from Python can have one
                yield slot.fault(WRONG_TYPE, f"must have strings for keys, found {found(name)}")
                continue
            inner = slot.within(name)
            yield from _string(each, inner) or check_pair(name, each, inner)

    return Kind(noun, check, _pairs)


def optional(kind: Kind) -> Kind:
    """*kind*, or the null that JSON has and TOML has not."""

    def check(value: Any, slot: Slot) -> Sequence[Finding]:
        return () if value is None else kind.check(value, slot)

    return Kind(kind.noun, check, lambda value: None if value is None else kind.convert(value))


def choice(words: type[Enum], code: str, *, noun: str = "", removed: dict[str, str] | None = None) -> Kind:
    """One of the values of *words*. *removed* says of former values why they are none."""
    by_word = {str(each.value): each for each in words}
    noun = noun or " or ".join(f'"{word}"' for word in by_word)

    def check(value: Any, slot: Slot) -> Sequence[Finding]:
        if not isinstance(value, str):
            return (slot.wrong_type(value, noun),)
        if value in by_word:
            return ()
        why = (removed or {}).get(value) or did_you_mean(value, by_word)
        return (slot.fault(code, f"must be {noun}, found {quoted(value)}{why}"),)

    return Kind(noun, check, by_word.__getitem__)


STRING = Kind("a string", _string)
BOOLEAN = Kind("true or false", _boolean)
U64 = _whole(0, 2**64 - 1)
USIZE = _whole(0, 2**64 - 1)  # as on every machine that the original runs on
I32 = _whole(-(2**31), 2**31 - 1)
TABLE = Kind("a table", _table)
TABLES = array_of(TABLE, "an array of tables: in TOML, each under a header in two pairs of brackets")
STRINGS = array_of(STRING, "an array of strings")


def _stricter(kind: Kind, code: str, fault: Callable[[str], str | None]) -> Kind:
    """*kind*, of which a value for which *fault* has words is none."""

    def check(value: Any, slot: Slot) -> Sequence[Finding]:
        faults = kind.check(value, slot)
        if faults or (words := fault(value)) is None:
            return faults
        return (slot.fault(code, words),)

    return Kind(kind.noun, check, kind.convert)


def _command_fault(command: str) -> str | None:
    if not command.strip():
        return "cannot be empty: write the program to start, by its name or its path"
    return _nul_fault(command)


def _nul_fault(text: str) -> str | None:
    return "holds a NUL character, which no program can be given: take it out" if "\0" in text else None


def _variable(name: str, value: str, slot: Slot) -> Iterator[Finding]:
    if not name or "=" in name or "\0" in name or not _is_text(name):
        message = f"{quoted(name)} cannot be the name of an environment variable: write one without `=`"
        yield Finding(code="InvalidVariable", message=message, at=key_of(slot.at))
    elif (words := _nul_fault(value)) is not None:
        yield slot.fault("InvalidVariable", words)


def _url_fault(url: str) -> str | None:
    """The words quote nothing but the scheme: a URL may hold a password or a token."""
    remedy = 'write a whole one, such as "https://example.com/hook"'
    if any(each.isspace() or not each.isprintable() for each in url):
        return f"must be a URL without spaces and control characters: {remedy}"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return f"must be a URL with a host and, if any, a port that exist: {remedy}"
    if parts.scheme not in ("http", "https"):
        there = f"found the scheme {quoted(parts.scheme)}" if parts.scheme else "found no scheme"
        return f"must begin with http:// or https://, {there}: {remedy}"
    if not host or port == 0:
        return f"must name a host{' and a port' if host else ''}: {remedy}"
    return None


_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2


def _method_fault(method: str) -> str | None:
    if _TOKEN.fullmatch(method):
        return None
    return f'must be an HTTP method, found {quoted(method)}: write one word without spaces, such as "POST"'


FRAMING = frozenset({"content-length", "expect", "transfer-encoding"})  # of headers, in lower case


def _header(name: str, value: str, slot: Slot) -> Iterator[Finding]:
    """The words never quote a value: it may be a credential."""
    if not _TOKEN.fullmatch(name):
        message = f"{quoted(name)} cannot be the name of a header: write letters, digits and hyphens"
        yield Finding(code="InvalidHeader", message=message, at=key_of(slot.at))
    elif name.lower() in FRAMING:
        message = f"{quoted(name)} says where the body ends, which is not the author's to say: leave it out"
        yield Finding(code="InvalidHeader", message=message, at=key_of(slot.at))
    elif any((each < " " and each != "\t") or each == "\x7f" for each in value):
        yield slot.fault("InvalidHeader", "holds a line end or a control character: take it out")


COMMAND = _stricter(STRING, "InvalidCommand", _command_fault)
ARGUMENTS = array_of(_stricter(STRING, "InvalidCommand", _nul_fault), STRINGS.noun)
ENVIRONMENT = _table_of_strings(_variable)
URL = _stricter(STRING, "InvalidUrl", _url_fault)
METHOD = _stricter(STRING, "InvalidMethod", _method_fault)
HEADERS = _table_of_strings(_header)

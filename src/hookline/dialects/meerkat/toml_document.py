"""TOML with a place for every fault, key and value. The standard library decides what is TOML and what it means.

What it says of a text that is none becomes a place and a remedy.
"""

import re
import tomllib
from typing import Any

from hookline._core.strictjson import JsonFault, Part, Place, decode
from hookline.dialects.meerkat.document import quoted
from hookline.dialects.meerkat.toml_positions import STRING, Scanner


class TomlFault(ValueError):
    """What is wrong with a text. Line and column count from 1; columns count characters."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def parse(data: bytes, *, max_bytes: int, max_depth: int) -> tuple[dict[str, Any], str]:
    """The document that *data* stands for, and its text. Raises TomlFault, and nothing else, for whatever is wrong."""
    if len(data) > max_bytes:
        raise TomlFault(f"larger than {max_bytes} bytes", 1, 1)
    try:
        text = _with_plain_line_ends(decode(data))
    except JsonFault as fault:
        raise TomlFault(fault.message, fault.line, fault.column) from None
    # The library recurses into what nests, and takes the square of a dotted key's length in time.
    if (deep := _beyond(text, max_depth)) is not None:
        raise _fault(text, deep, f"nested more than {max_depth} levels deep")
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise _syntax_fault(text, str(error)) from None
    except ValueError:  # Python reads only so many digits, to stay quick, and the library passes on what it says
        raise _number_fault(text) from None
    except RecursionError:  # the caller itself stands deep in the stack
        raise TomlFault("nested too deep to be read", 1, 1) from None


def _with_plain_line_ends(text: str) -> str:
    """What TOML allows a reader to do: no column changes by it."""
    return text.replace("\r\n", "\n")


def _fault(text: str, at: int, message: str) -> TomlFault:
    line, column = _place(text, at)
    return TomlFault(message, line, column)


def _place(text: str, at: int) -> Place:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


# The next bracket or dots of one key. Strings and comments are passed over whole: a bracket within one opens nothing.
_NESTING = re.compile(
    rf"""(?: [^"'\#\[\]{{}}.]++ | {STRING.pattern} | \#[^\n]*+ )*
    (?: (?P<opens>[\[{{]) | (?P<closes>[\]}}]) | (?P<dots>(?: \. (?: [^"'\#\[\]{{}}.\n=,]++ | {STRING.pattern} )* )+)
    | (?P<unclosed>["']) | \Z )""",
    re.VERBOSE | re.DOTALL,
)


def _beyond(text: str, max_depth: int) -> int | None:
    """Where a text first nests deeper than *max_depth*, be it by brackets or by the dots of one key.

    As far as the text is right, this reads it as the library does; what it makes of the rest does no harm.
    """
    if text.count("[") + text.count("{") + text.count(".") <= max_depth:
        return None
    depth = dots = 0
    opened: list[int] = []  # for each open bracket, the levels that it and the key before it add
    for found in _NESTING.finditer(text):
        kind = found.lastgroup
        if dots and ("\n" in (between := text[found.start() : found.start(kind or 0)]) or "," in between):
            dots = 0  # they were of another key
        match kind:
            case "dots":
                dots = STRING.sub("", found["dots"]).count(".")
            case "opens":
                opened.append(dots + 1)
                depth, dots = depth + dots + 1, 0
            case "closes":
                depth, dots = depth - (opened.pop() if opened else 0), 0
            case _:
                return None
        if depth + dots > max_depth:
            return found.end() - 1
    return None


_SAID = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)
# What the library says of a key or a table that is already there, whatever the key holds.
_TAKEN = re.compile(r"Cannot (?:overwrite a value|declare .* twice|redefine .*|mutate .*)|Duplicate .*", re.DOTALL)
_REMEDIES = {
    "Invalid value": "write text in quotes, and true and false in lower case",
    "Invalid statement": "write `name = value`, `[table]` or `[[array of tables]]`",
    "Expected '=' after a key in a key/value pair": "write `name = value`",
    "Expected newline or end of document after a statement": "write one `name = value` a line, and text in quotes",
    "Invalid initial character for a key part": "write the key in quotes",
    "Unescaped '\\' in a string": "write two backslashes, or the text in single quotes",
    "Unclosed array": "write a comma after each element and `]` at the end",
    "Unclosed inline table": "write a comma after each pair and `}` at the end",
    "Unterminated string": "write the closing quotes",
}


def _syntax_fault(text: str, said: str) -> TomlFault:
    found = _SAID.fullmatch(said)
    if found is None:
        return TomlFault(said[:1].lower() + said[1:], 1, 1)
    what = found["what"]
    at = len(text)
    if found["line"]:
        at = _offset(text, int(found["line"]), int(found["column"]))
    if _TAKEN.fullmatch(what) and (taken := _taken(text, at)) is not None:
        return taken
    remedy = f": {_REMEDIES[what]}" if what in _REMEDIES else ""
    return _fault(text, at, what[:1].lower() + what[1:] + remedy)


def _offset(text: str, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    return start + column - 1


def _taken(text: str, end: int) -> TomlFault | None:
    """The fault of the statement that ends at *end* and whose key is taken. Up to there, the text is right."""
    scanner = Scanner(text[:end])
    scanner.scan()
    path, at = scanner.last
    offsets = scanner.offsets()
    for length in range(len(path), 0, -1):
        first = offsets.get((*path[:length], Part.KEY), offsets.get(path[:length], at))
        if first < at:
            line = _place(text, first)[0]
            name = next(step for step in reversed(path[:length]) if isinstance(step, str))
            return _fault(text, at, f"{quoted(name)} is already defined at line {line}: write it once, in one way")
    return None


_DIGITS = re.compile(rf"(?:{STRING.pattern}) | \#[^\n]*+ | (?P<digits>[0-9][0-9_]{{4300,}}+)", re.VERBOSE | re.DOTALL)


def _number_fault(text: str) -> TomlFault:
    at = next((found.start() for found in _DIGITS.finditer(text) if found["digits"]), 0)
    return _fault(text, at, "a number that is too large to be read")

"""Where the keys and values of a TOML text stand.

The standard library keeps no positions, so a text that it accepted is read a second time, for nothing but them.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping

from hookline._core.strictjson import Part, Path, Place

# Only sets of characters are taken possessively: with groups, early releases of Python 3.11 do that wrong.
STRING = re.compile(
    r"""\"{3}[^"\\]*+(?:(?:\\.|"{1,2}(?!"))[^"\\]*+)*"{3,5} | '{3}[^']*+(?:'{1,2}(?!')[^']*+)*'{3,5}
    | "(?!"")[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*" | '(?!\'\')[^'\n]*+' """,
    re.VERBOSE | re.DOTALL,
)


def positions(text: str) -> Mapping[Path, Place]:
    """Line and column of every value, and of every key under its value's path and `Part.KEY`.

    *text* must be TOML, with plain line ends. A table stands where its header does, or where a key first names it.
    """
    scanner = Scanner(text)
    scanner.scan()
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    places: dict[Path, Place] = {}
    for path, at in scanner.offsets().items():
        line = bisect_right(starts, at)
        places[path] = (line, at - starts[line - 1] + 1)
    return places


_GAP = re.compile(r"[ \t\n]*+(?:#[^\n]*+[ \t\n]*+)*")
_SPACE = re.compile(r"[ \t]*+")
_PART = re.compile(
    r"""[ \t]*+ (?: (?P<bare>[^\s"'.=\[\]{}\#,]++) | (?P<quoted>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*" | '[^'\n]*+') )
    [ \t]*+ (?P<more>\.)?""",
    re.VERBOSE,
)
_SCALAR = re.compile(r"[^,\]}#\n]++")


class _LostError(Exception):
    """The text goes on in a way that this scanner does not know: places end here."""


class Scanner:
    """Where keys and values stand in a text, up to its end or to the first thing that is no TOML."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._named: dict[Path, int] = {}  # by a pair, an element or a header of its own
        self._implied: dict[Path, int] = {}  # tables that a longer key or header passes through
        self._elements: dict[Path, int] = {}  # the last index of each array of tables
        self._table: Path = ()
        self.last: tuple[Path, int] = ((), 0)  # the pair that ended last, or the header that began last

    def scan(self) -> None:
        try:
            while self._statement():
                pass
        except _LostError:
            pass

    def offsets(self) -> dict[Path, int]:
        return self._implied | self._named

    def _statement(self) -> bool:
        self._take(_GAP)
        if self._at >= len(self._text):
            return False
        if self._text.startswith("[[", self._at):
            self._array_header()
        elif self._text.startswith("[", self._at):
            self._table_header()
        else:
            self._pair(self._table)
        return True

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise _LostError
        self._at = found.end()
        return found

    def _mark(self, mark: str) -> None:
        if not self._text.startswith(mark, self._at):
            raise _LostError
        self._at += len(mark)

    def _table_header(self) -> None:
        start = self._at
        self._at += 1
        path, at = self._header(start)
        self._named.setdefault(path, start)
        self._named.setdefault((*path, Part.KEY), at)
        self._mark("]")
        self._table = path

    def _array_header(self) -> None:
        start = self._at
        self._at += 2
        path, at = self._header(start)
        self._named.setdefault(path, start)
        self._named.setdefault((*path, Part.KEY), at)
        self._mark("]]")
        self._elements[path] = self._elements.get(path, -1) + 1
        self._table = (*path, self._elements[path])
        self._named[self._table] = start

    def _header(self, start: int) -> tuple[Path, int]:
        """The path that a header names, and where its last part stands."""
        *through, (name, at) = self._key()
        path = (*self._through((), through), name)
        self.last = (path, start)
        return path, at

    def _key(self) -> list[tuple[str, int]]:
        """The parts of a key, and where each stands."""
        parts: list[tuple[str, int]] = []
        while True:
            found = self._take(_PART)
            if found["bare"]:
                parts.append((found["bare"], found.start("bare")))
            else:
                parts.append((_unquoted(found["quoted"]), found.start("quoted")))
            if not found["more"]:
                return parts

    def _through(self, base: Path, parts: list[tuple[str, int]]) -> Path:
        """The table that *parts* lead to from *base*: of an array of tables, always the last so far."""
        for name, at in parts:
            path = (*base, name)
            self._implied.setdefault(path, at)
            self._implied.setdefault((*path, Part.KEY), at)
            base = (*path, self._elements[path]) if path in self._elements else path
        return base

    def _pair(self, base: Path) -> None:
        *through, (name, at) = self._key()
        path = (*self._through(base, through), name)
        self._named.setdefault((*path, Part.KEY), at)
        self._mark("=")
        self._value(path)
        self.last = (path, through[0][1] if through else at)

    def _value(self, path: Path) -> None:
        self._take(_SPACE)
        self._named.setdefault(path, self._at)
        match self._text[self._at : self._at + 1]:
            case '"' | "'":
                self._take(STRING)
            case "[":
                self._array(path)
            case "{":
                self._inline_table(path)
            case _:
                self._take(_SCALAR)

    def _array(self, path: Path) -> None:
        index = 0
        self._at += 1
        while not self._is_closed("]"):
            self._value((*path, index))
            index += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        while not self._is_closed("}"):
            self._pair(path)

    def _is_closed(self, bracket: str) -> bool:
        """Whether the array or inline table ends here; if not, its next member is up."""
        self._take(_GAP)
        if self._text.startswith(",", self._at):
            self._at += 1
            self._take(_GAP)
        if not self._text.startswith(bracket, self._at):
            return False
        self._at += 1
        return True


def _unquoted(key: str) -> str:
    if key[0] == "'" or "\\" not in key:
        return key[1:-1]
    return next(iter(tomllib.loads(f"{key} = 0")))

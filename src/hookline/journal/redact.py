"""Secrets never reach a journal: each is replaced by its name before the line is written."""

import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from hookline.journal.entries import MAX_LINE
from hookline.journal.plain import line_of

SHORTEST = 8  # characters; anything shorter is a word that an innocent text may hold too
LONG = 16  # characters of a part that is looked for within a text, where nothing says that it was cut

# A text or a number of a line of JSON, as our encoders write them.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*')

# The name of a member, if it is one of the format's own or might be. Without it the line could not be read back.
_OWN_NAME = re.compile(rb'"[a-z_]{1,24}"')


class Redactor:
    """Replaces secrets, given by name, in a line of JSON. Without any secret it costs nothing.

    A secret is found as it is and as JSON or a URL within a text spells it. So is the half of one: it may have been cut
    at the end of a text, and a long one before or after a mark that says how much of a text was left out.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        named = [(spelling, name) for name, value in values.items() for spelling in _spellings(value)]
        named.sort(key=lambda pair: -len(pair[0]))  # a secret that holds another goes first
        spelled = [spelling for spelling, _ in named]
        self._marks = {spelling: _mark(name, spelled) for spelling, name in reversed(named)}
        self._pattern = re.compile("|".join(re.escape(spelling) for spelling in spelled))
        ends = {end for spelling in spelled for end in (spelling[:SHORTEST], spelling[-SHORTEST:])}
        self._signs = tuple({form for end in ends for form in _in_a_line(end)})

    def redacted(self, line: bytes) -> bytes:
        """*line* with no secret in it, still JSON of the same shape."""
        return _TOKEN.sub(self._token, line) if self._suspects(line) else line

    def _suspects(self, line: bytes) -> bool:
        return any(sign in line for sign in self._signs)

    def _token(self, match: re.Match[bytes]) -> bytes:
        token = match[0]
        if not self._suspects(token) or (_OWN_NAME.fullmatch(token) and match.string[match.end() :][:1] == b":"):
            return token
        text: str = json.loads(token) if token.startswith(b'"') else token.decode("ascii")
        clean = self._without_parts(self._pattern.sub(lambda found: self._marks[found[0]], text))
        return token if clean == text else line_of(clean, limit=MAX_LINE)

    def _without_parts(self, text: str) -> str:
        """*text* without what is left of a secret that was cut in two, wherever the cut was made and marked."""
        for spelling, mark in self._marks.items():
            least = max(LONG, len(spelling) // 2)
            if least < len(spelling):
                text = _without_beginnings(text, spelling, least, mark)
                text = _without_beginnings(text[::-1], spelling[::-1], least, mark[::-1])[::-1]
        return self._without_cut_secret(text)

    def _without_cut_secret(self, text: str) -> str:
        for spelling, mark in self._marks.items():
            beginning = spelling[: max(SHORTEST, len(spelling) // 2)]
            at = text.find(beginning, max(0, len(text) - len(spelling) + 1))
            while at >= 0:
                if spelling.startswith(text[at:]):
                    return text[:at] + mark
                at = text.find(beginning, at + 1)
        return text


def _without_beginnings(text: str, secret: str, least: int, mark: str) -> str:
    """*text* with *mark* for each stretch of *least* characters or more that goes as *secret* begins."""
    kept: list[str] = []
    at = 0
    while (found := text.find(secret[:least], at)) >= 0:
        end = found + least
        while end < len(text) and end - found < len(secret) and text[end] == secret[end - found]:
            end += 1
        kept += (text[at:found], mark)
        at = end
    return "".join((*kept, text[at:])) if kept else text


def _mark(name: str, spelled: list[str]) -> str:
    """What stands in the place of a secret. It must not hold one itself."""
    marks = (f"[redacted:{name}]", "[redacted]")
    return next((mark for mark in marks if not any(spelling in mark for spelling in spelled)), "***")


def _spellings(value: str) -> Iterator[str]:
    """How a secret may stand in a text: as it is, in JSON, in JSON within JSON, in a URL."""
    seen = value.encode("utf-8", "surrogateescape" if _came_as_bytes(value) else "replace").decode("utf-8", "replace")
    bare = {value, value.strip(), seen, seen.strip()}  # `seen`: as the output of a program shows what is not UTF-8
    in_json = {form for text in bare for form in _escaped(text)}
    in_json_twice = {form for text in in_json for form in _escaped(text)}
    in_url = {quote(text, safe="", errors="replace") for text in bare}
    yield from sorted(form for form in bare | in_json | in_json_twice | in_url if len(form) >= SHORTEST)


def _came_as_bytes(value: str) -> bool:
    return all(not "\ud800" <= each <= "\udc7f" and not "\udd00" <= each <= "\udfff" for each in value)


def _escaped(text: str) -> set[str]:
    readable = json.dumps(text, ensure_ascii=False)[1:-1]
    return {readable, readable.replace("/", "\\/"), json.dumps(text)[1:-1]}


def _in_a_line(text: str) -> tuple[bytes, ...]:
    """The forms that our two encoders give a text."""
    return line_of(text, limit=MAX_LINE)[1:-1], json.dumps(text).encode("ascii")[1:-1]


NO_SECRETS = Redactor({})

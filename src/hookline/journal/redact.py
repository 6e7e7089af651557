"""Secrets never reach a journal: each is replaced by its name before the line is written."""

import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from hookline.journal.entries import MAX_LINE
from hookline.journal.plain import line_of

SHORTEST = 8  # characters; anything shorter is a word that an innocent text may hold too

# A text or a number of a line of JSON, as our encoders write them.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*')

# The name of a member, if it is one of the format's own or might be. Without it the line could not be read back.
_OWN_NAME = re.compile(rb'"[a-z_]{1,24}"')


class Redactor:
    """Replaces secrets, given by name, in a line of JSON. Without any secret it costs nothing.

    A secret is found as it is and as JSON or a URL within a text spells it. It is also found at the end of a text,
    where its second half may have been cut off.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        named = [(spelling, name) for name, value in values.items() for spelling in _spellings(value)]
        named.sort(key=lambda pair: -len(pair[0]))  # a secret that holds another goes first
        spelled = [spelling for spelling, _ in named]
        self._marks = {spelling: _mark(name, spelled) for spelling, name in reversed(named)}
        self._pattern = re.compile("|".join(re.escape(spelling) for spelling in spelled))
        self._heads = tuple({form for spelling in spelled for form in _in_a_line(spelling[:SHORTEST])})

    def redacted(self, line: bytes) -> bytes:
        """*line* with no secret in it, still JSON of the same shape."""
        return _TOKEN.sub(self._token, line) if self._suspects(line) else line

    def _suspects(self, line: bytes) -> bool:
        return any(head in line for head in self._heads)

    def _token(self, match: re.Match[bytes]) -> bytes:
        token = match[0]
        if not self._suspects(token) or (_OWN_NAME.fullmatch(token) and match.string[match.end() :][:1] == b":"):
            return token
        text: str = json.loads(token) if token.startswith(b'"') else token.decode("ascii")
        clean = self._without_cut_secret(self._pattern.sub(lambda found: self._marks[found[0]], text))
        return token if clean == text else line_of(clean, limit=MAX_LINE)

    def _without_cut_secret(self, text: str) -> str:
        for spelling, mark in self._marks.items():
            least = max(SHORTEST, len(spelling) // 2)
            for length in range(min(len(spelling) - 1, len(text)), least - 1, -1):
                if text.endswith(spelling[:length]):
                    return text[:-length] + mark
        return text


def _mark(name: str, spelled: list[str]) -> str:
    """What stands in the place of a secret. It must not hold one itself."""
    marks = (f"[redacted:{name}]", "[redacted]")
    return next((mark for mark in marks if not any(spelling in mark for spelling in spelled)), "***")


def _spellings(value: str) -> Iterator[str]:
    """How a secret may stand in a text: as it is, in JSON, in JSON within JSON, in a URL."""
    bare = {value, value.strip()}
    in_json = {form for text in bare for form in _escaped(text)}
    in_json_twice = {form for text in in_json for form in _escaped(text)}
    in_url = {quote(text, safe="", errors="replace") for text in bare}
    yield from sorted(form for form in bare | in_json | in_json_twice | in_url if len(form) >= SHORTEST)


def _escaped(text: str) -> set[str]:
    readable = json.dumps(text, ensure_ascii=False)[1:-1]
    return {readable, readable.replace("/", "\\/"), json.dumps(text)[1:-1]}


def _in_a_line(text: str) -> tuple[bytes, ...]:
    """The forms that our two encoders give a text."""
    return line_of(text, limit=MAX_LINE)[1:-1], json.dumps(text).encode("ascii")[1:-1]


NO_SECRETS = Redactor({})

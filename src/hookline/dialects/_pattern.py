"""Matchers as text: everything, a list of exact names, or a regular expression that takes linear time."""

import re
from dataclasses import dataclass, field
from typing import Protocol

from hookline._core.matchers import EVERYTHING, Matcher, Names

LONGEST = 4096  # characters; far beyond any list of tool names, and short enough to compile in milliseconds

_NAMES = re.compile(r"[A-Za-z0-9_|]+")


class Expression(Protocol):
    """A compiled regular expression of RE2, the engine that cannot be made to backtrack."""

    def search(self, text: bytes) -> object | None: ...


@dataclass(frozen=True, slots=True)
class Pattern:
    """Matches a subject in which the regular expression is found anywhere. Safe to share between threads."""

    text: str
    expression: Expression = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"pattern {self.text}"

    def matches(self, subjects: tuple[str, ...]) -> bool:
        return any(self.expression.search(_bytes(subject)) is not None for subject in subjects)


def compile_matcher(text: str) -> Matcher | str:
    """The matcher that *text* stands for, or the words that say why it stands for none.

    Empty and `*`: everything. Only ASCII letters, digits, `_` and `|`: exact names, of which an empty one names
    nothing. Anything else: a case-sensitive RE2 regular expression, as it is written.
    """
    if text in ("", "*"):
        return EVERYTHING
    if _NAMES.fullmatch(text):
        return Names(frozenset(filter(None, text.split("|"))))
    return compile_expression(text)


def compile_expression(text: str) -> Pattern | str:
    """The matcher that *text* stands for as a regular expression, or the words that say why it does not compile."""
    import re2

    if len(text) > LONGEST:
        return f"longer than {LONGEST} characters"

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True  # a search that need not report groups stays fast whatever the pattern
    try:
        return Pattern(text, re2.compile(_bytes(text), options))
    except re2.error as error:
        said = error.args[0] if error.args else "refused"
        return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)


def _bytes(text: str) -> bytes:
    """UTF-8, in which half a character counts as one unknown character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()

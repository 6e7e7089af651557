"""Shell lines taken apart, as far as that helps a reader: which programs they start, which variables they read.

This is no shell. What it cannot take apart it says nothing about.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh"})
ENDS = frozenset(";&|()\n")
BEFORE_A_COMMAND = frozenset(
    {"!", "{", "}", "if", "then", "elif", "else", "while", "until", "do", "time", "exec", "command"}
)
NO_COMMANDS = frozenset({"fi", "done", "esac", "in"})

_QUOTED = re.compile(r"'[^']*'|\\.")
_READ = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)(?P<more>[^}]*)\}|(?P<bare>[A-Za-z_]\w*))")
_SET = re.compile(r"(?:^|[\s;&|(])(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w*)\+?=")
_TAKEN = re.compile(r"\b(?:read(?:\s+-\w+)*|for|getopts\s+\S+)\s+([A-Za-z_]\w*)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_DOCUMENT = re.compile(r"<<-?\s*[\w'\"\\]")
HAS_DEFAULT = (":-", "-", ":=", "=", ":+", "+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellLine:
    """A line that a shell runs: its simple commands, each as its words without quotes, and the variables that it reads
    and does not set itself."""

    text: str
    commands: tuple[tuple[str, ...], ...]
    reads: tuple[str, ...]


def parsed(argv: Sequence[str]) -> ShellLine | None:
    """The line that *argv* has a shell run. None where no shell is run, or where the line is too much for this."""
    if len(argv) < 3 or argv[-2] != "-c" or PurePath(argv[0]).name not in SHELLS:  # noqa: PLR2004  # sh, -c, line
        return None
    text = argv[-1]
    try:
        commands = tuple(_commands(_before_document(text)))
    except ValueError:  # a quote that is never closed
        return None
    return ShellLine(text=text, commands=commands, reads=tuple(_reads(text)))


def _before_document(text: str) -> str:
    """*text* up to the end of the line that begins a here-document: what follows is no command."""
    found = _DOCUMENT.search(text)
    return text if found is None else text[: text.find("\n", found.start()) % (len(text) + 1)]


def _commands(text: str) -> Iterator[tuple[str, ...]]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    skips = False
    for token in lexer:
        if set(token) <= ENDS:
            yield from _command(words)
            words, skips = [], False
        elif set(token) <= set("<>&|"):
            if words and words[-1].isdigit():
                words.pop()  # the number of what is redirected
            skips = True  # the next is where to
        elif skips:
            skips = False
        else:
            words.append(token)
    yield from _command(words)


def _command(words: list[str]) -> Iterator[tuple[str, ...]]:
    while words and (words[0] in BEFORE_A_COMMAND or _ASSIGNMENT.match(words[0])):
        words = words[1:]
    if words and words[0] not in NO_COMMANDS and words[0] not in ("for", "case", "function", "#"):
        yield tuple(words)


def _reads(text: str) -> Iterator[str]:
    plain = _QUOTED.sub(" ", text)
    own = {*_SET.findall(plain), *_TAKEN.findall(plain)}
    seen: set[str] = set()
    for found in _READ.finditer(plain):
        name = found["braced"] or found["bare"]
        if name not in own and name not in seen and not (found["more"] or "").startswith(HAS_DEFAULT):
            seen.add(name)
            yield name


def expanded(word: str, env: Mapping[str, str]) -> str | None:
    """*word* with the variables of *env* put in. None where it holds another, or what only a shell can tell."""
    missing = False

    def value(found: re.Match[str]) -> str:
        nonlocal missing
        name = found["braced"] or found["bare"]
        missing |= name not in env or bool(found["more"])
        return env.get(name, "")

    told = _READ.sub(value, word)
    if told.startswith("~/") and "HOME" in env:
        told = env["HOME"] + told[1:]
    return None if missing or any(each in told for each in "$`*?[{") else told

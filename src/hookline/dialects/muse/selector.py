"""The `if` compatibility selector: `Bash`, `Bash(*)` or `Bash(<glob>)` (section 8).

A selector saves starting a hook; it cannot prove what a shell will do. Whatever it cannot take apart runs the hook.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import dropwhile

from hookline._core.events.tool import ToolEvent
from hookline._core.hooks import Condition
from hookline._core.points import Event
from hookline.dialects.muse.rules import SHELL_TOOL, TOOL_ALIASES, MuseRule

EMPTY = "selector_empty"
UNSUPPORTED_TOOL = "selector_unsupported_tool"
MALFORMED = "selector_malformed"
UNSUPPORTED_EVENT = "selector_unsupported_event"

_SHELL_NAMES = frozenset({SHELL_TOOL, *TOOL_ALIASES[SHELL_TOOL]})
_SELECTOR = re.compile(r"Bash(?:\((?P<glob>.+)\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """Selects the shell calls of which one command, or the whole line, matches *glob*."""

    glob: str

    def __call__(self, event: Event) -> bool:
        if not isinstance(event, ToolEvent) or _SHELL_NAMES.isdisjoint(event.subjects()):
            return False
        line = event.input.get("command") if isinstance(event.input, Mapping) else None
        if not isinstance(line, str):
            return True
        commands = simple_commands(line)
        return commands is None or any(matches_glob(self.glob, text) for text in (line.strip(), *commands))


def compile_selector(text: str, rule: MuseRule) -> Condition | str:
    """The condition that *text* stands for at this event, or the code that says why it stands for none."""
    if not rule.selector:
        return UNSUPPORTED_EVENT
    if not text:
        return EMPTY
    parts = _SELECTOR.fullmatch(text)
    if parts is None:
        return MALFORMED if text.startswith(("Bash(", "Bash)")) else UNSUPPORTED_TOOL
    return ShellCommand(parts["glob"] or "*")


def matches_glob(glob: str, text: str) -> bool:
    """Whether all of *text* is described by *glob*, in which `*` stands for any characters and nothing else is special.

    A trailing ` *` or `:*` asks for the words before it, alone or followed by more.
    """
    for ending in (" *", ":*"):
        if glob.endswith(ending):
            start = glob.removesuffix(ending)
            if _matches(start, text) or _matches(f"{start} *", text):
                return True
    return _matches(glob, text)


def _matches(glob: str, text: str) -> bool:
    first, *rest = glob.split("*")
    if not rest:
        return text == glob
    *middle, last = rest
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:  # the earliest place leaves the most room for what follows
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


# What a command line is made of, tried in this order. Parentheses, backquotes, `$(` and a quote that is never closed
# are missing on purpose: where one stands, the line cannot be taken apart.
_LEXEME = re.compile(
    r"""
    (?P<gap>[ \t]+)
  | (?P<continued>\\\n)
  | (?P<redirect>[0-9]*[<>]&|&>|>\||[<>])
  | (?P<end>&&|\|\||[;|&\n])
  | '(?P<literal>[^']*)'
  | "(?P<quoted>(?:[^"\\`$]|\\.|\$(?!\())*)"
  | \\(?P<escaped>.)
  | (?P<bare>[^ \t\n;|&'"\\`()<>]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_BEFORE_A_COMMAND = frozenset({"!", "{", "if", "then", "elif", "else", "while", "until", "do", "time"})


@dataclass(slots=True)
class _Word:
    start: int
    end: int
    pieces: list[str] = field(default_factory=list)  # without their quotes
    expands: bool = False  # has a `$` that the shell replaces


def simple_commands(line: str) -> list[str] | None:
    """Every command in *line*, as written and without its quotes; None when that cannot be told.

    Assignments and keywords before a command are left out. A command whose name is only known when it runs cannot be
    told either.
    """
    spellings: list[str] = []
    words: list[_Word] = []
    at, adjoins = 0, False
    while at < len(line):
        lexeme = _LEXEME.match(line, at)
        if lexeme is None:
            return None
        if lexeme["gap"] is not None:
            adjoins = False
        elif lexeme["end"] is not None:
            if not _finish(words, line, spellings):
                return None
            words, adjoins = [], False
        elif lexeme["continued"] is None:
            if not adjoins:
                words.append(_Word(at, at))
            _grow(words[-1], lexeme)
            adjoins = True
        at = lexeme.end()
    return spellings if _finish(words, line, spellings) else None


def _grow(word: _Word, lexeme: re.Match[str]) -> None:
    kind = lexeme.lastgroup or ""
    word.end = lexeme.end()
    word.pieces.append(lexeme[kind])
    word.expands |= kind in ("bare", "quoted") and "$" in lexeme[kind]


def _finish(words: list[_Word], line: str, spellings: list[str]) -> bool:
    """Add the command that *words* make up to *spellings*. False when its name is not known yet."""
    command = list(dropwhile(lambda word: _leads(line[word.start : word.end]), words))
    if not command:
        return True
    spellings.append(line[command[0].start : command[-1].end])
    spellings.append(" ".join("".join(word.pieces) for word in command))
    return not command[0].expands


def _leads(written: str) -> bool:
    """Whether a word stands before a command's name rather than for it."""
    return _ASSIGNMENT.match(written) is not None or written in _BEFORE_A_COMMAND

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

    def __str__(self) -> str:
        return f"Bash({self.glob})"

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


# What a command line is made of, tried in this order. Parentheses, backquotes, `$(`, `$'`, `${` with more in it than
# plain characters, here-documents and a quote that is never closed are missing on purpose: where one stands, the line
# cannot be taken apart.
_BRACES = r"\$\{[\w:?+=@#%/.,^!*-]*\}"
_LEXEME = re.compile(
    rf"""
    (?P<gap>[ \t]+)
  | (?P<continued>\\\n)
  | (?P<redirect>[0-9]*(?:[<>]&|&>>?|>\||>>|<>|<<<|>|<(?!<)))
  | (?P<end>&&|\|\||[;|&\n])
  | '(?P<literal>[^']*)'
  | "(?P<quoted>(?:[^"\\`$]|\\.|{_BRACES}|\$(?![({{]))*)"
  | \\(?P<escaped>.)
  | (?P<bare>(?:[^ \t\n;|&'"\\`()<>$]|{_BRACES}|\$(?![('"{{]))+)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"#[^\n]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[.*\])?\+?=", re.DOTALL)
_BEFORE_A_COMMAND = frozenset({"!", "{", "if", "then", "elif", "else", "while", "until", "do", "time"})
_RUN_ANOTHER = frozenset({".", "builtin", "command", "coproc", "eval", "exec", "function", "source", "trap"})
_NAMES = frozenset({"[", "[[", "}"})  # these stand for themselves
_EXPANDING = re.compile(r"[${}*?\[\]~]")


@dataclass(slots=True)
class _Word:
    """A word as it is written from *start* to *end*, or a redirection with its target."""

    start: int
    end: int
    redirects: bool = False
    awaits: bool = False  # the target of this redirection comes next
    pieces: list[str] = field(default_factory=list)  # without their quotes
    expands: bool = False  # it has something that the shell may put other words in the place of

    def grow(self, lexeme: re.Match[str]) -> None:
        kind = lexeme.lastgroup or ""
        self.end = lexeme.end()
        self.pieces.append(lexeme[kind])
        self.expands |= kind in ("bare", "quoted") and _EXPANDING.search(lexeme[kind]) is not None
        self.awaits = kind == "redirect"

    def text(self) -> str:
        return "".join(self.pieces)


def simple_commands(line: str) -> list[str] | None:
    """Every command in *line*, as written, without its quotes and without its redirections; None when it is not told.

    Assignments, redirections and keywords before a command are left out. A command whose name is only known when it
    runs cannot be told, nor one that runs another.
    """
    spellings: list[str] = []
    words: list[_Word] = []
    at, adjoins = 0, False
    while at < len(line):
        lexeme = _LEXEME.match(line, at) if adjoins or line[at] != "#" else _COMMENT.match(line, at)
        if lexeme is None:
            return None
        kind = lexeme.lastgroup
        if kind == "gap":
            adjoins = bool(words) and words[-1].awaits
        elif kind == "end":
            if not _finish(words, line, spellings):
                return None
            words, adjoins = [], False
        elif kind in {"redirect", "literal", "quoted", "escaped", "bare"}:
            if kind == "redirect" or not adjoins:
                words.append(_Word(at, at, redirects=kind == "redirect"))
            words[-1].grow(lexeme)
            adjoins = True
        at = lexeme.end()
    return spellings if _finish(words, line, spellings) else None


def _finish(words: list[_Word], line: str, spellings: list[str]) -> bool:
    """Add the command that *words* make up to *spellings*. False when it is not known yet what it runs."""
    command = list(dropwhile(lambda word: word.redirects or _leads(line[word.start : word.end]), words))
    if not command:
        return True
    spellings.append(line[command[0].start : command[-1].end])
    spellings.append(" ".join(word.text() for word in command))
    spellings.append(" ".join(word.text() for word in command if not word.redirects))
    name = command[0]
    told = not name.expands or name.text() in _NAMES
    return told and name.text() not in _RUN_ANOTHER and not name.text().startswith("-")  # an option of `time`


def _leads(written: str) -> bool:
    """Whether a word stands before a command's name rather than for it."""
    return _ASSIGNMENT.match(written) is not None or written in _BEFORE_A_COMMAND

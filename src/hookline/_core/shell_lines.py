"""Shell lines taken apart, as far as that helps a reader: which programs they start, which variables they read.

This is no shell. What it cannot take apart it says nothing about.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from hookline._core.shell_scan import Found, Scanner

SHELLS = frozenset({"sh", "bash", "dash", "ksh", "zsh"})
BEFORE_A_COMMAND = frozenset(
    {"!", "{", "}", "if", "then", "elif", "else", "while", "until", "do", "time", "exec", "command", "coproc"}
)
NO_COMMANDS = frozenset({"fi", "done", "esac", "in", "for", "select", "case"})
DECLARE = frozenset({"export", "local", "readonly", "declare", "typeset", "let"})
READ = frozenset({"read", "mapfile", "readarray"})
TAKES = {"for": 1, "select": 1, "getopts": 2}  # which word is the name of a variable that is given a value

_READ = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)(?P<more>[^}]*)\}|(?P<bare>[A-Za-z_]\w*))")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=")
_LINE_FOLLOWS = re.compile(r"-[A-Za-z]*c")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellLine:
    """A line that a shell runs.

    `commands` are its simple commands, each as its words without quotes, those of substitutions and of lines for
    further shells among them; `inputs` the files that they are given as standard input. `reads` are the variables that
    it reads and does not set itself, `sets` those that it sets, `functions` those that it defines.
    """

    text: str
    commands: tuple[tuple[str, ...], ...]
    reads: tuple[str, ...]
    sets: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    inputs: tuple[str, ...] = ()

    @property
    def runs_unseen(self) -> bool:
        """Whether it has the shell itself run what does not stand in it, which may set and define anything."""
        return any(words[0] in (".", "source", "eval") for words in self.commands)


def parsed(argv: Sequence[str]) -> ShellLine | None:
    """The line that *argv* has a shell run. None where no shell is run, or where the line is too much for this."""
    return shell_line(argv[-1]) if runs_a_shell(argv) else None


def runs_a_shell(argv: Sequence[str]) -> bool:
    """Whether *argv* has a shell run a line."""
    return len(argv) >= 3 and argv[-2] == "-c" and PurePath(argv[0]).name in SHELLS  # noqa: PLR2004  # sh, -c, line


def shell_line(text: str) -> ShellLine | None:
    """*text* as a shell would read it. None where a quote is never closed, and the like."""
    try:
        found = Scanner(text).scan()
    except ValueError:
        return None
    sets = found.sets | {name for words in found.commands for name in _set_by(words)}
    return ShellLine(
        text=text,
        commands=tuple(_commands(found)),
        reads=tuple(name for name in found.reads if name not in sets),
        sets=frozenset(sets),
        functions=frozenset(found.functions.union(*(words[1:2] for words in found.commands if words[0] == "function"))),
        inputs=tuple(found.inputs),
    )


def _commands(found: Found) -> Iterator[tuple[str, ...]]:
    for words in found.commands:
        command = _command(words)
        if not command:
            continue
        yield command
        inner = None if PurePath(command[0]).name not in SHELLS else _line_for_a_shell(command)
        if inner is not None:
            yield from inner.commands


def _line_for_a_shell(words: Sequence[str]) -> ShellLine | None:
    at = next((place for place, word in enumerate(words[:-1]) if _LINE_FOLLOWS.fullmatch(word)), None)
    return None if at is None else shell_line(words[at + 1])


def _command(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words from the name of the program on."""
    if words[0] == "function":
        words = words[2:]
    while words and (words[0] in BEFORE_A_COMMAND or _ASSIGNMENT.match(words[0])):
        if words[1:] and words[1].startswith("-"):
            return words if words[0] == "command" else ()  # `command -v NAME` asks whether there is one
        words = words[1:]
    return () if words and words[0] in NO_COMMANDS else words


def _set_by(words: tuple[str, ...]) -> Iterator[str]:
    """The variables that a command gives a value, or says that they have one."""
    while words and words[0] in BEFORE_A_COMMAND:
        words = words[1:]
    while words and (found := _ASSIGNMENT.match(words[0])):
        yield found[1]
        words = words[1:]
    match words:
        case (name, *rest) if name in DECLARE | READ:
            yield from (word.partition("=")[0] for word in rest if not word.startswith("-"))
        case (name, *rest) if name in TAKES:
            yield from rest[TAKES[name] - 1 : TAKES[name]]
        case ("printf", "-v", name, *_):
            yield name
        case _:
            return


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

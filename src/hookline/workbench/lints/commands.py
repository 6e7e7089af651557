"""Whether what a hook starts can be started at all."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath

from hookline._core.shell_lines import SHELLS, expanded
from hookline.dialects._base import Part
from hookline.workbench.findings import Finding, Level
from hookline.workbench.lints.asking import Asked, lint
from hookline.workbench.lints.programs import BUILT_IN, INTERPRETERS, is_executable

NO_START = "this hook cannot start, and gives no answer"
NO_PART = "this part of it fails when its turn comes"
# Programs that start the one behind them, with how many plain arguments of their own come first.
STARTERS = {"env": 0, "nohup": 0, "setsid": 0, "timeout": 1}
# Options of interpreters that take no argument; what is none of these is left alone.
_FLAGS = {**dict.fromkeys(SHELLS, re.compile(r"-[befhuvxl]+")), "python": re.compile(r"-[uBEsSIbqvxPO]+")}
ASK_FOR_ONE = frozenset({"test", "[", "[[", "which", "type", "hash", "command"})
GO_ELSEWHERE = frozenset({"cd", "pushd"})


@lint
def commands_that_cannot_start(asked: Asked) -> Iterator[Finding]:
    """Each program of its line, or its own, that is missing, is not executable, or depends on where a tool works."""
    command, line = asked.command, asked.line
    if command is None:
        return
    if line is None:
        yield from _of_words(asked, command.argv, in_shell=False)
        return
    asked_for = {word for words in line.commands if words[0] in ASK_FOR_ONE for word in words[1:] if word[:1] != "-"}
    goes = any(words[0] in GO_ELSEWHERE for words in line.commands)
    for words in line.commands:
        named = words[:2] if PurePath(words[0]).name in INTERPRETERS else words[:1]
        if asked_for.intersection(named) or (goes and _is_relative(words[0])):
            continue  # it starts only where it is there, or where another command has gone
        yield from _of_words(asked, _started(words), in_shell=True, goes=goes)


def _is_relative(name: str) -> bool:
    return "/" in name and not name.startswith(("/", "~", "$"))


def _started(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words from the program on that `env` and its like start; all of them where options make that uncertain."""
    own = STARTERS.get(PurePath(words[0]).name)
    if own is None:
        return words
    rest = list(words[1:])
    while rest and "=" in rest[0]:
        rest.pop(0)
    inner = rest[own:]
    return words if not inner or rest[0].startswith("-") else _started(tuple(inner))


def _of_words(asked: Asked, words: tuple[str, ...], *, in_shell: bool, goes: bool = False) -> Iterator[Finding]:
    env = {} if asked.command is None else asked.command.env
    name = expanded(words[0], env) if in_shell else words[0]
    if not name or (in_shell and (name in BUILT_IN or _is_own(asked, name))):
        return
    if "/" in name:
        yield from _of_a_file(asked, name, runs=True)
    elif asked.programs.on_path(name, env.get("PATH", os.defpath)) is None:
        yield _missing(asked, f"there is no program `{name}` on the PATH that this hook gets", _near(asked, name))
    program = PurePath(name).name
    script = _script(program, words[1:], env, in_shell=in_shell) if program in INTERPRETERS else None
    if script is not None and not (goes and not Path(script).is_absolute()):
        yield from _of_a_file(asked, script, runs=False)


def _is_own(asked: Asked, name: str) -> bool:
    """Whether it is a function of the line, or may be one of what the line reads or have a PATH that the line sets."""
    line = asked.line
    return line is not None and (
        name in line.functions or ("/" not in name and (line.runs_unseen or "PATH" in line.sets))
    )


def _near(asked: Asked, name: str) -> str:
    """A file of that name beside the hooks is what was meant, more often than not."""
    if (asked.folder / name).is_file():
        return f"write its path, as in {asked.folder / name}"
    return "mend its name, install it, or write its path"


def _script(interpreter: str, arguments: tuple[str, ...], env: Mapping[str, str], *, in_shell: bool) -> str | None:
    """The file that an interpreter is given: its first argument behind options that take none, as in `bash -e FILE`."""
    flags = _FLAGS.get(interpreter.rstrip("3"))
    while flags is not None and arguments and flags.fullmatch(arguments[0]):
        arguments = arguments[1:]
    if not arguments or arguments[0].startswith("-"):
        return None
    return expanded(arguments[0], env) if in_shell else arguments[0]


def _of_a_file(asked: Asked, name: str, *, runs: bool) -> Iterator[Finding]:
    path = Path(name)
    if not path.is_absolute():
        yield asked.finding(
            Level.WARNING,
            "RelativeCommand",
            f"`{name}` is looked for in the folder of the tool call or of the session, which need not be the project's",
            effect="this hook starts in some folders only",
            remedy=f"write {asked.folder / path}, or a path that begins with $HOME",
            part=Part.COMMAND,
        )
        path = asked.folder / path
    if not path.exists():
        yield _missing(asked, f"there is no file {path}", "mend the path")
    elif path.is_dir():
        yield _missing(asked, f"{path} is a folder", "write the program in it")
    elif runs and not is_executable(path):
        yield _missing(asked, f"{path} is not executable", f"chmod +x {path}", code="NotExecutable")


def _missing(asked: Asked, message: str, remedy: str, *, code: str = "NoSuchCommand") -> Finding:
    is_part = asked.line is not None and len(asked.line.commands) > 1
    effect = NO_PART if is_part else NO_START
    return asked.finding(Level.ERROR, code, message, effect=effect, remedy=remedy, part=Part.COMMAND)

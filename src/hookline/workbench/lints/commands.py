"""Whether what a hook starts can be started at all."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePath

from hookline._core.shell_lines import expanded
from hookline.dialects._base import Part
from hookline.workbench.findings import Finding, Level
from hookline.workbench.lints.asking import Asked, lint
from hookline.workbench.lints.programs import BUILT_IN, INTERPRETERS, is_executable

NO_START = "this hook cannot start, and gives no answer"


@lint
def commands_that_cannot_start(asked: Asked) -> Iterator[Finding]:
    """Each program of its line, or its own, that is missing, is not executable, or depends on where a tool works."""
    command = asked.command
    if command is None:
        return
    if asked.line is not None:
        for words in asked.line.commands:
            yield from _of_words(asked, words, in_shell=True)
    else:
        yield from _of_words(asked, command.argv, in_shell=False)


def _of_words(asked: Asked, words: tuple[str, ...], *, in_shell: bool) -> Iterator[Finding]:
    env = {} if asked.command is None else asked.command.env
    name = expanded(words[0], env) if in_shell else words[0]
    if not name or (in_shell and name in BUILT_IN):
        return
    if "/" in name:
        yield from _of_a_file(asked, name, runs=True)
    elif asked.programs.on_path(name, env.get("PATH", os.defpath)) is None and not _is_function(asked, name):
        yield _missing(asked, f"there is no program `{name}` on the PATH that this hook gets", _near(asked, name))
    if PurePath(name).name in INTERPRETERS and (script := _script(words[1:], env, in_shell=in_shell)) is not None:
        yield from _of_a_file(asked, script, runs=False)


def _is_function(asked: Asked, name: str) -> bool:
    return asked.line is not None and f"{name}()" in asked.line.text.replace(" ", "")


def _near(asked: Asked, name: str) -> str:
    """A file of that name beside the hooks is what was meant, more often than not."""
    if (asked.folder / name).is_file():
        return f"write its path, as in {asked.folder / name}"
    return "mend its name, install it, or write its path"


def _script(arguments: tuple[str, ...], env: object, *, in_shell: bool) -> str | None:
    """The file that an interpreter is given: its first argument, where that is no option."""
    if not arguments or arguments[0].startswith("-"):
        return None
    word = arguments[0]
    return expanded(word, env) if in_shell else word  # type: ignore[arg-type]  # a mapping


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
    return asked.finding(Level.ERROR, code, message, effect=NO_START, remedy=remedy, part=Part.COMMAND)

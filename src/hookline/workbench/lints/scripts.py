"""How a script ends against how its dialect listens."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from hookline._core.decisions import Deny
from hookline._core.effects import Reopen
from hookline._core.shell_lines import ShellLine, expanded, shell_line
from hookline.dialects._base import Part
from hookline.workbench.findings import Finding, Level
from hookline.workbench.lints.asking import Asked, lint
from hookline.workbench.lints.programs import INTERPRETERS

_ENDS = r"(?:\bexit\s*\(?\s*{code}\b|SystemExit\(\s*{code}\b)"
_COMPLAINS = re.compile(r">&2|sys\.stderr|console\.error|process\.stderr|STDERR|\$stderr|/dev/stderr|\bwarn\b")
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_FOR_A_SHELL = re.compile(r"#!.*\b(?:ba|da|k|z)?sh\b")
# What has others write to standard error, or does so by itself.
_STARTS_OTHERS = re.compile(
    r"\bsubprocess\b|os\.system|logging|logger|warnings|traceback|argparse|child_process|execSync|spawnSync|\b2>&1"
)
CODE_FOLLOWS = frozenset({"-", "-c", "-e"})  # in the line itself, where it has been read
# Programs of a shell that say nothing on standard error where they fail as they are meant to.
SILENT = frozenset(
    """[ [[ test true false : exit return echo printf read set cat grep egrep fgrep jq case cd command which type
    tr cut head tail sort uniq wc basename dirname date sleep shift local export trap let""".split()  # noqa: SIM905
)


@lint
def an_exit_status_that_blocks_nothing(asked: Asked) -> Iterator[Finding]:
    """A script that complains and exits 1, where only another status blocks."""
    habits = asked.conventions
    if habits is None or habits.blocks_by is None or not _may_block(asked):
        return
    text = script_text(asked)
    blocks, fails = _ends(text, habits.blocks_by), _ends(text, 1)
    complains = _COMPLAINS.search(text) is not None
    if fails and complains and not blocks and not _answers(text, habits.denies_with):
        yield asked.finding(
            Level.WARNING,
            "ExitOneBlocksNothing",
            "this script writes to standard error and exits 1, which never blocks here",
            effect="the action goes on, whatever it says",
            remedy=f"exit {habits.blocks_by} instead, with the reason on standard error",
            part=Part.COMMAND,
        )
    if blocks and habits.needs_reason and not complains and _is_silent(asked, text):
        yield asked.finding(
            Level.WARNING,
            "BlockWithoutReason",
            f"this script exits {habits.blocks_by} and never writes to standard error, so nothing is blocked",
            effect="the action goes on",
            remedy="write the reason to standard error first: echo 'why' >&2",
            part=Part.COMMAND,
        )


def _answers(text: str, members: frozenset[str]) -> bool:
    """Whether it may deny by an answer: then it exits 1 where it fails, which is not how it blocks."""
    return any(re.search(rf"\b{member}\b", text) is not None for member in members)


def _is_silent(asked: Asked, text: str) -> bool:
    """Whether nothing that it starts can have written the reason, as far as that can be told."""
    if asked.line is None or _STARTS_OTHERS.search(text) is not None:
        return False
    lines = (asked.line, *(shell_line(script) for script in _scripts(asked) if _FOR_A_SHELL.match(script)))
    return all(line is not None and all(_is_known(asked, line, words) for words in line.commands) for line in lines)


def _is_known(asked: Asked, line: ShellLine, words: tuple[str, ...]) -> bool:
    """Whether a program is one that never complains, or one whose text has been read."""
    name = words[0]
    if name in SILENT or name in line.functions:
        return True
    if PurePath(name).name in INTERPRETERS:
        name = words[1] if len(words) > 1 else "-"
        if name in CODE_FOLLOWS:
            return True
    elif "/" not in name:
        return False
    path = expanded(name, {} if asked.command is None else asked.command.env)
    return path is not None and "\0" not in path and asked.programs.script(Path(asked.folder, path)) != ""


def _may_block(asked: Asked) -> bool:
    return bool(asked.hook.commits & {Deny, Reopen})


def _ends(text: str, code: int) -> bool:
    return re.search(_ENDS.format(code=code), text) is not None


def script_text(asked: Asked) -> str:
    """The line of a hook and the scripts that it runs, as far as they can be read, without comments."""
    line = "" if asked.line is None else asked.line.text
    return "\n".join(_COMMENT.sub("", text) for text in (line, *_scripts(asked)))


def _scripts(asked: Asked) -> Iterator[str]:
    """The texts of the scripts that it runs."""
    command = asked.command
    if command is None:
        return
    for each in [command.argv] if asked.line is None else asked.line.commands:
        for word in each[:2] if PurePath(each[0]).name in INTERPRETERS else each[:1]:
            name = expanded(word, command.env) if asked.line is not None else word
            if name and "\0" not in name and "/" in name + ("/" if word is not each[0] else ""):
                yield asked.programs.script(Path(asked.folder, name))

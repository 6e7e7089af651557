"""How a script ends against how its dialect listens."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from hookline._core.decisions import Deny
from hookline._core.effects import Reopen
from hookline._core.shell_lines import expanded
from hookline.dialects._base import Part
from hookline.workbench.findings import Finding, Level
from hookline.workbench.lints.asking import Asked, lint
from hookline.workbench.lints.programs import INTERPRETERS

_ENDS = r"(?:\bexit\s*\(?\s*{code}\b|SystemExit\(\s*{code}\b)"
_COMPLAINS = re.compile(r">&2|sys\.stderr|console\.error|process\.stderr|STDERR|\$stderr|/dev/stderr|\bwarn\b")


@lint
def an_exit_status_that_blocks_nothing(asked: Asked) -> Iterator[Finding]:
    """A script that complains and exits 1, where only another status blocks."""
    habits = asked.conventions
    if habits is None or habits.blocks_by is None or not _may_block(asked):
        return
    text = script_text(asked)
    blocks, fails = _ends(text, habits.blocks_by), _ends(text, 1)
    complains = _COMPLAINS.search(text) is not None
    if fails and complains and not blocks:
        yield asked.finding(
            Level.WARNING,
            "ExitOneBlocksNothing",
            "this script writes to standard error and exits 1, which never blocks here",
            effect="the action goes on, whatever it says",
            remedy=f"exit {habits.blocks_by} instead, with the reason on standard error",
            part=Part.COMMAND,
        )
    if blocks and habits.needs_reason and not complains:
        yield asked.finding(
            Level.WARNING,
            "BlockWithoutReason",
            f"this script exits {habits.blocks_by} and never writes to standard error, so nothing is blocked",
            effect="the action goes on",
            remedy="write the reason to standard error first: echo 'why' >&2",
            part=Part.COMMAND,
        )


def _may_block(asked: Asked) -> bool:
    return bool(asked.hook.commits & {Deny, Reopen})


def _ends(text: str, code: int) -> bool:
    return re.search(_ENDS.format(code=code), text) is not None


def script_text(asked: Asked) -> str:
    """The line of a hook and the scripts that it runs, as far as they can be read."""
    command = asked.command
    if command is None:
        return ""
    if asked.line is None:
        words, texts = [command.argv], []
    else:
        words, texts = list(asked.line.commands), [asked.line.text]
    for each in words:
        for word in each[:2] if PurePath(each[0]).name in INTERPRETERS else each[:1]:
            name = expanded(word, command.env) if asked.line is not None else word
            if name and "/" in name + ("/" if word is not each[0] else ""):
                texts.append(asked.programs.script(Path(asked.folder, name)))
    return "\n".join(texts)

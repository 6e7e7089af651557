"""The capsule's own guard of its read-only paths, which stands before every hook.

Exact for inputs that name a file; of the text of a command best effort: a protected path that is named together with
something that writes refuses the call.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from hookline._core.commands import ResolvedCommand
from hookline.session.capsule.words import split

REASON = "Refused by the capsule manifest: '{path}' is read-only (capabilities.filesystem.read_only: {rule})"

WRITERS = frozenset(
    {"tee", "patch", "cp", "mv", "install", "ln", "rm", "rmdir", "truncate", "dd", "touch", "chmod", "chown", "mkdir"}
)
WRITING_FORMS = re.compile(r">|\bsed\b.*\s-\w*i|\bperl\b.*\s-\w*i|\bgit\s+(checkout|restore|apply|clean|reset|stash)\b")
SEPARATORS = re.compile(r"[\s;|&()<>`=]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden:
    """A call that the manifest forbids: `path` is what it would change, `rule` the entry that protects it."""

    target: str
    path: str
    rule: str
    signal: str
    reason: str


def forbidden(
    tool: str,
    input: Any,
    command: ResolvedCommand | None,
    *,
    read_only: Sequence[str],
    workdir: Path,
    reads_only: bool,
) -> Forbidden | None:
    """Why a call may not be made, or None. *reads_only*: the tool changes nothing, whatever it is given."""
    if not read_only or reads_only:
        return None
    if command is None:
        named, signal, target = _texts(input), "input", tool
    else:
        text = "\n".join(each for each in (command.text, command.script, command.recipe) if each)
        if not _writes(command.program, text):
            return None
        named, signal, target = iter(_words(command, text)), "command", command.program
    for path in named:
        rule = _protecting(path, read_only, workdir)
        if rule is not None:
            reason = REASON.format(path=path, rule=rule)
            return Forbidden(target=target, path=path, rule=rule, signal=signal, reason=reason)
    return None


def _texts(value: Any) -> Iterator[str]:
    """Every text in an input, at any depth."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case Mapping() as members:
                waiting.extend(members.values())
            case list() | tuple() as items:
                waiting.extend(items)
            case _:
                continue


def _writes(program: str, text: str) -> bool:
    """Whether anything in a command writes to a file that it names."""
    words = {PurePath(word).name for word in SEPARATORS.split(text)}
    return PurePath(program).name in WRITERS or bool(words & WRITERS) or WRITING_FORMS.search(text) is not None


def _words(command: ResolvedCommand, text: str) -> list[str]:
    """Whatever in a command may name a path."""
    found = [*command.arguments, *SEPARATORS.split(text), *split(text)]
    return [each.strip("'\"") for each in found if each.strip("'\"")]


def _protecting(path: str, read_only: Sequence[str], workdir: Path) -> str | None:
    """The entry that protects what *path* names, written so or reached by a link."""
    if len(path) > 4096 or "\0" in path:  # noqa: PLR2004  # no system takes a longer path
        return None
    places = {Path(os.path.normpath(workdir / path)), Path(os.path.realpath(workdir / path))}
    for rule in read_only:
        guarded = {Path(os.path.normpath(workdir / rule)), Path(os.path.realpath(workdir / rule))}
        if any(place == guard or place.is_relative_to(guard) for place in places for guard in guarded):
            return rule
    return None

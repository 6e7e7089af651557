"""What a hook does, as a digest: two hooks with the same one do the same when they are called."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hookline._core.hooks import Hook
from hookline._core.packages import PackagedTarget
from hookline._core.shell_lines import expanded, parsed
from hookline._core.targets import CommandTarget, HttpTarget, NamedTarget, Target


def definition_digest(hook: Hook) -> str:
    """SHA-256 over all that its file says of *hook*, but for where it stands there. Environments are left out."""
    told = json.dumps(_definition(hook), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def _definition(hook: Hook) -> dict[str, Any]:
    return {
        "dialect": hook.dialect,
        "points": [event.point.name for event in hook.events],
        "target": _target(hook.target),
        "matcher": str(hook.matcher),
        "condition": "" if hook.condition is None else str(hook.condition),
        "commits": sorted(word.__name__ for word in hook.commits),
        "timeout": hook.timeout,
        "background": hook.background,
        "priority": hook.priority,
        "fallback": None if hook.fallback is None else _definition(hook.fallback),
    }


def _target(target: Target) -> list[Any]:
    kind = type(target).__name__
    match target:
        case PackagedTarget():
            return [kind, target.packaged.digest, *target.argv]
        case CommandTarget():
            by_shell = target.argv[-1:] == (target.written,)  # which shell that is, is the machine's, not the file's
            return [kind, target.written] if by_shell else [kind, *target.argv]
        case HttpTarget():
            return [kind, target.method, target.url, *sorted(name for name, _ in target.headers)]
        case NamedTarget():
            return [kind, target.name]
        case _:
            return [kind, str(target)]


def scripts_of(hook: Hook, root: Path) -> Iterator[Path]:
    """The files below *root* that the command of *hook* names, fallbacks included: what is run, and what runs it."""
    link: Hook | None = hook
    while link is not None:
        if isinstance(link.target, CommandTarget):
            yield from _scripts(link.target, root)
        link = link.fallback


def _scripts(target: CommandTarget, root: Path) -> Iterator[Path]:
    line = parsed(target.argv)
    words = target.argv if line is None else [*(word for command in line.commands for word in command), *line.inputs]
    for word in words:
        name = word if line is None else expanded(word, target.env)
        path = None if not name or "\0" in name else Path(root, name)
        if path is not None and path.is_relative_to(root) and path.is_file():
            yield path

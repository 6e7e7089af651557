"""Commands for the wrong system: a Windows path that a POSIX shell eats, POSIX words that `cmd.exe` does not know."""

import re
from collections.abc import Iterator
from typing import Any

from hookline._core.problems import Scope
from hookline._core.strictjson import Path
from hookline.dialects.muse.document import Finding
from hookline.dialects.muse.walking import links_in

CODE = "WrongShell"

_BACKSLASHES = re.compile(r"""(?<!["'\w])[A-Za-z]:\\[^\s"']+""")
_POSIX = (
    (re.compile(r"\|\|\s*true\b"), "`|| true`", "`|| exit /b 0`"),
    (re.compile(r"/dev/null"), "`/dev/null`", "`NUL`"),
    (re.compile(r"\$\{?[A-Za-z_]"), "`$NAME`", "`%NAME%`"),
    (re.compile(r"\bexport\s"), "`export`", "`set`"),
    (re.compile(r"(?<!\w)'[^']*'"), "single quotes", "double quotes"),
)


def windows_problems(value: Any) -> Iterator[Finding]:
    """What of a well-formed document's commands is written for the other kind of shell."""
    hooks = value.get("hooks") if isinstance(value, dict) else None
    for handler, at in links_in(hooks, ("hooks",)):
        command = handler.get("command")
        if isinstance(command, str) and (path := _BACKSLASHES.search(command)):
            shown = path[0]
            message = f"a POSIX shell takes the backslashes out of `{shown}`"
            yield _note(message, (*at, "command"), "put it in single quotes, or into `commandWindows`")
        for name in ("commandWindows", "command_windows"):
            yield from _posix_in(handler.get(name), (*at, name))


def _posix_in(command: Any, at: Path) -> Iterator[Finding]:
    if not isinstance(command, str):
        return
    for pattern, what, instead in _POSIX:
        if pattern.search(command):
            yield _note(f"{what} means nothing to `cmd.exe`, which runs this command", at, f"write {instead}")


def _note(message: str, at: Path, remedy: str) -> Finding:
    return Finding(scope=Scope.DOUBT, code=CODE, message=message, at=at, remedy=remedy)

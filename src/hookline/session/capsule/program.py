"""Which file a name runs."""

import os
import stat
from pathlib import Path

INTERPRETERS = frozenset({"bash", "sh", "zsh", "fish", "dash", "ksh"})  # these are given a script, and no words


def located(name: str, path: str) -> str:
    """The canonical path of the program *name*, found along *path*; the name itself where there is none.

    An entry of *path* that is empty or relative is passed over: a working directory must not choose what is run.
    """
    if "/" in name:
        return _canonical(name) or name
    for entry in path.split(os.pathsep):
        if entry.startswith("/") and _is_program(found := os.path.join(entry, name)):  # noqa: PTH118  # a Path would drop a final dot
            return _canonical(found) or found
    return name


def _canonical(name: str) -> str:
    try:
        return str(Path(name).resolve(strict=True))
    except (OSError, ValueError, RuntimeError):  # a loop of links is one of these
        return ""


def _is_program(path: str) -> bool:
    try:
        return stat.S_ISREG(Path(path).stat().st_mode) and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False

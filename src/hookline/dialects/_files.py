"""Configuration files: each read once, as bytes, from a regular file, however it is reached; a project's folder."""

import os
from dataclasses import dataclass
from pathlib import Path

from hookline._core.regular_files import read_regular

LARGEST = 1_048_576  # bytes; a hook file that large was not written by anyone
DEEPEST = 100  # levels; a hook four fallbacks deep needs 10


@dataclass(frozen=True, slots=True)
class Unreadable:
    """There is something at that path, and it cannot be read."""

    why: str


def read_file(path: Path) -> bytes | Unreadable | None:
    """The bytes of *path*, or None where there is nothing. At most one byte more than `LARGEST` is read."""
    try:
        return read_regular(path, LARGEST)[0]
    except (FileNotFoundError, NotADirectoryError):
        return Unreadable("the link leads nowhere") if path.is_symlink() else None
    except OSError as error:
        return Unreadable(error.strerror or str(error))
    except ValueError as error:  # a path that no file can have
        return Unreadable(str(error))


def project_root(workspace: Path) -> Path:
    """The nearest folder at or above *workspace* that holds a `.git`, else *workspace*; free of links either way."""
    start = Path(os.path.realpath(workspace))
    return next((folder for folder in (start, *start.parents) if os.path.lexists(folder / ".git")), start)

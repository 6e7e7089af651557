"""Folders that are their owner's alone."""

from pathlib import Path

PRIVATE = 0o700


def make_private(folder: Path) -> tuple[Path, ...]:
    """Have *folder*: it and what is missing above it are made for their owner alone. What was made, the highest first.

    `Path.mkdir(parents=True)` would give the mode to the last of them only. Raises OSError.
    """
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=PRIVATE, exist_ok=True)
    return tuple(reversed(missing))

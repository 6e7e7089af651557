"""Finding the processes that a benchmark's hooks have started, by a variable of their environment."""

import os
from pathlib import Path

NAME = "HOOKLINE_BENCH"
MARK = f"bench-{os.getpid()}"
ENVIRONMENT = {NAME: MARK, "PATH": os.environ["PATH"]}  # what the hooks get, and hand on to whomever they start


def survivors() -> list[int]:
    """The processes that are alive and carry our mark. One that is dead and not yet reaped has no environment."""
    entry = f"{NAME}={MARK}".encode()
    return [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit() and _carries(folder, entry)]


def _carries(folder: Path, entry: bytes) -> bool:
    try:
        return entry in (folder / "environ").read_bytes().split(b"\0")
    except OSError:  # it is gone, or somebody else's
        return False

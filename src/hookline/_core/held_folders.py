"""Folders for work in progress: each belongs to one living program, and what a killed one left is taken away.

Whose a folder is shows in a lock that ends with its owner, never in a clock or a process's number.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from hookline._core.package_files import take_away
from hookline._core.private_folders import make_private

HELD = ".held"  # in each folder: the file that is locked
OURS = "hookline-"  # how the names of such folders begin: no other is anybody's to take away
PATIENCE, AGAIN = 5.0, 0.01  # seconds to wait for others who make one, and between two looks
MAKING = ".making"  # beside them: the file that is locked while one is made


@dataclass(slots=True, kw_only=True)
class HeldFolder:
    """One folder of ours alone. `lock` is held until it is closed."""

    path: Path
    lock: int

    @classmethod
    def within(cls, parent: Path) -> "HeldFolder":
        """A new one below *parent*, which is made if need be. Those that nobody holds any more go. Raises OSError."""
        import tempfile  # takes longer to import than most hooks to run, and few have a package

        make_private(parent)
        with _alone(parent):
            for left in _left_behind(parent):
                take_away(left)
            path = Path(tempfile.mkdtemp(prefix=OURS, dir=parent))
            lock = os.open(path / HELD, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
        return cls(path=path, lock=lock)

    def close(self) -> None:
        """Take it away, with all that is in it."""
        take_away(self.path)
        os.close(self.lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _alone(parent: Path) -> Iterator[None]:
    """Nobody else makes or takes away folders here meanwhile: whatever is there without an owner has lost it."""
    lock = os.open(parent / MAKING, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(lock)
        yield
    finally:
        os.close(lock)


def _wait_for(lock: int) -> None:
    """Have the lock soon, or raise TimeoutError: whoever asks may be waited for."""
    last = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > last:
                raise TimeoutError(errno.ETIMEDOUT, "somebody else has kept it locked for too long") from None
            time.sleep(AGAIN)
        else:
            return


def _left_behind(parent: Path) -> Iterator[Path]:
    """The folders whose owners are no more: whose lock can be had, or that never came to have one."""
    for folder in [each for each in parent.iterdir() if each.name.startswith(OURS)]:
        try:
            lock = os.open(folder / HELD, os.O_RDWR | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            yield folder
            continue
        except OSError:  # whose it is cannot be told
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # somebody has it
            continue
        else:
            yield folder
        finally:
            os.close(lock)

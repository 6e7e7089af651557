"""Who is at work in a file of inputs: one lock file an owner, which the system lets go of however its owner ends."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path


class OwnerFiles:
    """The lock files of the owners of one database, in a folder beside it."""

    def __init__(self, database: Path) -> None:
        self.folder = database.with_name(f"{database.name}.owners")
        self._held: dict[int, int] = {}

    def hold(self, owner: int) -> None:
        """Lock the file of *owner*, a new number, until `let_go`, or until this process is gone."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(self._path(owner), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(descriptor)
            raise
        self._held[owner] = descriptor

    def let_go(self) -> None:
        for owner, descriptor in self._held.items():
            self._path(owner).unlink(missing_ok=True)
            _release(descriptor)
        self._held.clear()

    @contextlib.contextmanager
    def gone(self, owner: int) -> Iterator[bool]:
        """Whether *owner* is gone. Its file goes too, once the block has ended well."""
        if owner in self._held:
            yield False
            return
        try:
            descriptor = os.open(self._path(owner), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:  # it ended in order, or was found gone before
            yield True
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            yield False
            return
        try:
            yield True
            self._path(owner).unlink(missing_ok=True)
        finally:
            _release(descriptor)

    def _path(self, owner: int) -> Path:
        return self.folder / str(owner)


def _release(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing is not enough while a forked process holds a copy
    os.close(descriptor)

"""Reads a journal while it is being written, and finds out which ones are."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from hookline._core.errors import StateError
from hookline.journal import entries as en
from hookline.journal.reader import Damage, Entry, parsed, sessions

CHUNK = 64 * 1024  # bytes read at once: many lines, one system call
LOCKS = Path("/proc/locks")  # Linux has it; who writes a journal holds a lock on it


class Tail:
    """A journal that grows. Nothing is kept of it but where its last whole line ends.

    A line without an end is not there yet: its writer adds the rest, or takes it back.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_closed = False  # whether the last line read says that the session has ended
        self._end = 0
        self._line = 0
        self._skipping = False  # whether the line at hand is too long, and its end was not seen yet
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise StateError(f"cannot read {path}: {error.strerror}") from error
        self._file = os.fstat(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def new_lines(self) -> Iterator[Entry | Damage]:
        """Every whole line that was not read yet."""
        for line in self._new_lines():
            self._line += 1
            entry = parsed(self._line, line)
            self.is_closed = isinstance(entry, Entry) and isinstance(entry.body, en.SessionClosed)
            yield entry

    def check(self) -> None:
        """StateError if the path leads to another file by now, to none, or to less than was read."""
        try:
            now = self.path.stat()
        except OSError as error:
            raise StateError(f"{self.path} was removed while it was followed: {error.strerror}") from error
        if not os.path.samestat(now, self._file):
            raise StateError(f"{self.path} was replaced while it was followed; follow it anew to see what it has now")
        if now.st_size < self._end:
            raise StateError(f"{self.path} was cut short while it was followed: what it had is gone")

    def is_being_written(self) -> bool:
        """Whether a program of this machine has it open to write to; True where that cannot be told."""
        held = held_files()
        return held is None or self._file.st_ino in held

    def _new_lines(self) -> Iterator[bytes]:
        size = CHUNK
        while data := self._read(size):
            whole = data.rfind(b"\n") + 1
            if self._skipping:
                begun = data.find(b"\n") + 1
                self._end += begun or len(data)
                self._skipping = not begun
            elif whole:
                for line in data[: whole - 1].split(b"\n"):
                    self._end += len(line) + 1
                    yield line + b"\n"
                size = CHUNK
            elif len(data) > en.MAX_LINE:
                self._end += len(data)
                self._skipping = True
                yield data
            elif len(data) < size:
                return
            else:
                size *= 2

    def _read(self, size: int) -> bytes:
        try:
            return os.pread(self._descriptor, size, self._end)
        except OSError as error:
            raise StateError(f"cannot read {self.path}: {error.strerror}") from error


def held_files() -> frozenset[int] | None:
    """The inode numbers of the files that somebody holds a lock on as a journal's writer does. None: not known here."""
    try:
        lines = LOCKS.read_text(encoding="ascii").splitlines()
        fields = [line.split() for line in lines]
        return frozenset(int(each[5].rpartition(":")[2]) for each in fields if each[1] == "FLOCK")
    except (OSError, ValueError, IndexError):
        return None


def being_written(folder: Path) -> tuple[Path, ...]:
    """The journals in *folder* that a program of this machine writes to, the one last written to first."""
    held = held_files()
    if not held:
        return ()
    return tuple(path for path in sessions(folder) if _inode(path) in held)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:  # it has just been removed
        return 0

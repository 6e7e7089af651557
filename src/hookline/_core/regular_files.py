"""Reading files that somebody else put there: only regular ones, only so much, and never waiting for a writer."""

import errno
import os
import stat
from pathlib import Path
from threading import get_ident

from hookline._core.errors import StateError

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # the file itself may not be a link

# Nothing that is started meanwhile may inherit the file.
_FLAGS = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))


class NotRegular(OSError):
    """There is something else at the path: a folder, by its `errno`, or what cannot be read to an end."""

    def __init__(self, mode: int) -> None:
        if stat.S_ISDIR(mode):
            super().__init__(errno.EISDIR, os.strerror(errno.EISDIR))
        else:
            super().__init__(errno.EINVAL, "not a regular file")


def read_regular(path: Path, most: int, *, flags: int = 0) -> tuple[bytes, int]:
    """The bytes of a regular file, and its mode. One byte more than *most* says that there are more.

    *flags* are further ones of `os.open`. Raises OSError, NotRegular among them, and ValueError for a path that no
    file can have.
    """
    descriptor = os.open(path, _FLAGS | flags)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise NotRegular(mode)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most + 1), mode
    finally:
        os.close(descriptor)


def replace_text(path: Path, text: str, *, mode: int | None = None) -> None:
    """Have *text* stand in the file at *path*, whole or not at all, under *mode* or else the one that it has.

    Raises StateError.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}")
    try:
        draft.unlink(missing_ok=True)  # of one that was killed, and had our number
        own = mode or (stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644)
        with open(draft, "x", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, own)) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise StateError(f"cannot write {path}: {error.strerror}") from error

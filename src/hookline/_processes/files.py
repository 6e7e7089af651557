"""Files that no directory lists: gone when the last descriptor is closed, however this program ends."""

import errno
import os
from pathlib import Path


def nameless_file() -> int:
    """The descriptor of an empty file, in memory where the system can do that."""
    try:
        # Random, so that whoever holds this one open can be told from whoever holds another.
        return os.memfd_create(f"hookline-{os.urandom(8).hex()}")
    except AttributeError:  # not Linux
        pass
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):  # else a sandbox does not let us
            raise
    import tempfile

    fd, path = tempfile.mkstemp(prefix="hookline-")
    Path(path).unlink()
    return fd


def fill(fd: int, body: bytes) -> None:
    """Have *body* in a file, to be read from its start by whoever shares the descriptor."""
    written = 0
    while written < len(body):
        written += os.pwrite(fd, memoryview(body)[written:], written)
    os.utime(fd, ns=(0, 0))  # any later access time says that somebody has read it


def bytes_read(fd: int) -> int | None:
    """How far a file that was filled has been read; None if it was opened anew, as /dev/stdin, with another offset."""
    offset = os.lseek(fd, 0, os.SEEK_CUR)
    seen = os.fstat(fd)
    if offset == 0 and seen.st_size and seen.st_atime_ns:
        return None
    return min(offset, seen.st_size)

"""What a program is given to read: all of it there before it starts, so that nobody has to write while it runs."""

import contextlib
import fcntl
import os
import struct
import termios
from dataclasses import dataclass

from hookline._processes.files import nameless_file

PIPE = 65_536  # bytes that a pipe holds by itself
SET_SIZE = getattr(fcntl, "F_SETPIPE_SZ", None)  # Linux only


@dataclass(frozen=True, slots=True)
class Given:
    """An open standard input with *size* bytes to read. The program shares it with us, so it tells how far it got."""

    fd: int
    size: int
    is_pipe: bool

    def read(self) -> int | None:
        """How much of it has been read; None if a file was opened anew, as /dev/stdin, with another offset."""
        if self.is_pipe:
            return self.size - _unread(self.fd)
        offset = os.lseek(self.fd, 0, os.SEEK_CUR)
        if offset == 0 and self.size and os.fstat(self.fd).st_atime_ns:
            return None
        return min(offset, self.size)


def give(body: bytes) -> Given:
    """A pipe with *body* in it and nobody who writes; where no pipe holds that much, a file."""
    reading, writing = os.pipe()
    try:
        held = _fill_pipe(writing, body)
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    if held:
        return Given(reading, len(body), is_pipe=True)
    os.close(reading)
    return Given(_filled_file(body), len(body), is_pipe=False)


def _fill_pipe(writing: int, body: bytes) -> bool:
    """Whether the pipe took all of it."""
    if len(body) > PIPE:
        if SET_SIZE is None:
            return False
        with contextlib.suppress(OSError):  # more than the system allows us
            fcntl.fcntl(writing, SET_SIZE, len(body))
    os.set_blocking(writing, False)
    try:
        return os.write(writing, body) == len(body)
    except BlockingIOError:
        return False


def _unread(fd: int) -> int:
    (count,) = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))
    return int(count)


def _filled_file(body: bytes) -> int:
    fd = nameless_file()
    try:
        written = 0
        while written < len(body):
            written += os.pwrite(fd, memoryview(body)[written:], written)
        os.utime(fd, ns=(0, 0))  # any later access time says that somebody has read it
    except BaseException:
        os.close(fd)
        raise
    return fd

"""Writes a session's journal. A line is written whole or not at all."""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from hookline._core import records as rec
from hookline._core.errors import StateError, UsageError
from hookline._core.private_folders import make_private
from hookline.journal.encode import body_of
from hookline.journal.entries import MAX_LINE, VERSION, Envelope
from hookline.journal.places import journal_path
from hookline.journal.plain import line_of
from hookline.journal.redact import NO_SECRETS, Redactor

Clock = Callable[[], int]

FLAGS = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
ENVELOPE_ROOM = 64 * 1024  # bytes kept free for the envelope, whose ids are as long as the caller makes them
CHUNK = 64 * 1024  # bytes read at once from the end of a file: many lines, one system call

LINE_START = re.compile(rb'\n\{"v":[0-9]{1,9},"seq":([0-9]{1,15}),')

# After these something happens. They are refused once the journal cannot be written, so that nothing happens that
# it does not tell of.
ANNOUNCEMENTS = (rec.SessionOpened, rec.RunStarted, rec.CallStarted)


def unix_microseconds() -> int:
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class Tail:
    """A file that is ours to append to: its size, which is where its last line ends, and the number of that line."""

    descriptor: int
    end: int
    seq: int


class Journal:
    """One session's journal, open for appending by this process alone. Implements `_core.ports.Recorder`.

    When a line cannot be written, `record` raises StateError, and the file ends with the line before. Nothing is
    written from then on. A record that announces an action raises again; one that tells what is over is dropped, so
    that the session can still end in order. `failure` is the error.
    """

    def __init__(self, path: Path, tail: Tail, *, redactor: Redactor, clock: Clock) -> None:
        """Goes on after *tail*. Use `create` or `open`."""
        self.path = path
        self.failure: StateError | None = None
        self._descriptor = tail.descriptor
        self._end = tail.end
        self._seq = tail.seq
        self._redactor = redactor
        self._clock = clock
        self._closed = False

    @classmethod
    def create(
        cls, folder: Path, session_id: str, *, redactor: Redactor = NO_SECRETS, clock: Clock = unix_microseconds
    ) -> Self:
        """The journal of a session in *folder*: a new one, or the one that is there, to go on after its last line.

        The folder is made if it is missing. What is made is the owner's alone.
        """
        path = journal_path(folder, session_id)
        try:
            make_private(folder)
            tail = _claimed(path, FLAGS | os.O_CREAT)
        except OSError as error:
            raise StateError(f"cannot open {path}: {error.strerror}") from error
        return cls(path, tail, redactor=redactor, clock=clock)

    @classmethod
    def open(cls, path: Path, *, redactor: Redactor = NO_SECRETS, clock: Clock = unix_microseconds) -> Self:
        """An existing journal, to go on after its last line."""
        try:
            tail = _claimed(path, FLAGS)
        except OSError as error:
            raise StateError(f"cannot open {path}: {error.strerror}") from error
        return cls(path, tail, redactor=redactor, clock=clock)

    def record(self, record: rec.Record) -> None:
        """Append one line. It is with the operating system when this returns: it outlives this process."""
        if self._closed:
            raise UsageError(f"the journal {self.path} is closed")
        if self.failure is not None:
            if isinstance(record, ANNOUNCEMENTS):
                raise StateError(str(self.failure))
            return
        self._append(self._line(record))

    def close(self) -> None:
        """Let go of the file. Further calls do nothing."""
        if not self._closed:
            self._closed = True
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)  # closing is not enough while a forked process holds a copy
            os.close(self._descriptor)

    def _line(self, record: rec.Record) -> bytes:
        origin = record.origin
        envelope = Envelope(
            v=VERSION,
            seq=self._seq + 1,
            at=self._clock(),
            kind=record.kind,
            session=origin.session_id,
            run=origin.run_id,
            step=origin.step,
        )
        body = self._redactor.redacted(line_of(body_of(record), limit=MAX_LINE - ENVELOPE_ROOM))
        return line_of(envelope, limit=ENVELOPE_ROOM)[:-1] + b"," + body[1:] + b"\n"

    def _append(self, line: bytes) -> None:
        try:
            written = os.write(self._descriptor, line)
            while written < len(line):  # a disk that fills up takes a part first, and says so the next time
                written += os.write(self._descriptor, line[written:])
            self._end += written
            self._seq += 1
        except OSError as error:
            self._take_back()
            self.failure = StateError(f"cannot write {self.path}: {error.strerror}")
            raise self.failure from error
        except BaseException:
            self._take_back()
            raise

    def _take_back(self) -> None:
        """Cut off what was written of the current line. Where that fails too, a reader reports it as damage."""
        try:
            os.ftruncate(self._descriptor, self._end)
        except OSError:
            return


def _claimed(path: Path, flags: int) -> Tail:
    """Where to go on in a file that nobody else appends to from now on."""
    descriptor = os.open(path, flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")  # noqa: TRY301  every way out closes the descriptor
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        end = _end_of_lines(descriptor)
        return Tail(descriptor, end, _last_seq(descriptor, end))
    except BlockingIOError:
        os.close(descriptor)
        raise StateError(f"session {path.stem} is in use: another journal appends to {path}") from None
    except BaseException:
        os.close(descriptor)
        raise


def _end_of_lines(descriptor: int) -> int:
    """The size of the file, once its last line has an end."""
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        size += os.write(descriptor, b"\n")
    return size


def _last_seq(descriptor: int, end: int) -> int:
    """The number of the last line whose beginning can be read, 0 if there is none. Looks from the end."""
    tail, start, step = b"", end, CHUNK
    while start > 0:
        step = min(step * 2, start)
        start -= step
        tail = os.pread(descriptor, step, start) + tail
        numbers = LINE_START.findall(tail if start else b"\n" + tail)
        if numbers:
            return int(numbers[-1])
    return 0

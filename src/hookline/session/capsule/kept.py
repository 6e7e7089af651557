"""The files of a launch that are renderings of its account: the trace, and the logs beside it."""

import os
from collections.abc import Callable, Sequence

from hookline._core.errors import StateError
from hookline._core.ports import Journals, Recorder
from hookline._core.records import Record
from hookline.session.account import Followed
from hookline.session.capsule.layout import Layout

Lines = Callable[[Record], Sequence[str]]
LogLines = Callable[[Record], Sequence[tuple[str, str]]]

FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class TraceFiles:
    """Writes what *lines* makes of each record to `trace.jsonl`, and what *log_lines* makes of it to logs.

    Implements Journals: wraps the account of the session, which stays the one source. A trace that cannot be written
    ends the session; a log line that cannot be is lost.
    """

    def __init__(self, layout: Layout, *, lines: Lines, log_lines: LogLines, journals: Journals | None) -> None:
        self._layout = layout
        self._lines = lines
        self._log_lines = log_lines
        self._journals = journals
        self._first: dict[str, Recorder] = {}

    def recorder(self, session_id: str) -> Recorder:
        """The account of a session, which the files follow. Staging asks for it before the session does: it is one."""
        if session_id not in self._first:
            inner = None if self._journals is None else self._journals.recorder(session_id)
            self._first[session_id] = Followed(inner, self.render)
        return self._first[session_id]

    def render(self, record: Record) -> None:
        if lines := self._lines(record):
            self._append(lines)
        for name, text in self._log_lines(record):
            self._log(name, text)

    def _append(self, lines: Sequence[str]) -> None:
        try:
            _write(str(self._layout.trace), "".join(f"{line}\n" for line in lines))
        except OSError as error:
            raise StateError(f"E-RUN-007: the trace {self._layout.trace}: {error.strerror}") from error

    def _log(self, name: str, text: str) -> None:
        try:
            _write(str(self._layout.log(name)), f"{text}\n")
        except OSError:
            return


def _write(path: str, text: str) -> None:
    fd = os.open(path, FLAGS, 0o600)
    try:
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(fd, data) :]
    finally:
        os.close(fd)

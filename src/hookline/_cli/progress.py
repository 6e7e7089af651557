"""One line on a terminal that says how far long work is: none before a second is over, and none in a pipe."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO, TypeVar

T = TypeVar("T")

PATIENCE = 1.0  # seconds that anybody waits without asking
BETWEEN = 0.1  # seconds between two looks of it: what flickers cannot be read
ERASE = "\r\x1b[2K"
FEW = 1000  # things between two looks at the clock
NARROW = 80  # columns that every terminal has


class Progress:
    """A line on standard error that takes the place of itself. Whoever prints anything else takes it away before."""

    def __init__(self, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._can = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._next = clock() + PATIENCE
        self._shown = False

    def show(self, text: Callable[[], str], *, width: int) -> None:
        """Show what *text* says, if it is time for that."""
        now = self._clock()
        if self._can and now >= self._next:
            self._next = now + BETWEEN
            self._write(ERASE + text()[: width - 1])
            self._shown = True

    def take_away(self) -> None:
        """Leave nothing of it."""
        if self._shown:
            self._shown = False
            self._write(ERASE)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def told_how_far(
    things: Iterable[T],
    *,
    doing: str,
    total: int,
    size: Callable[[T], int],
    progress: Progress | None = None,
) -> Iterator[T]:
    """The same things. A terminal is told how much of *total* they come to, and has its line back in the end."""
    line = Progress() if progress is None else progress
    done = 0
    try:
        for number, thing in enumerate(things, 1):
            done += size(thing)
            if number % FEW == 0:
                far = min(done / total, 1.0) if total else 1.0
                line.show(lambda far=far: f"{doing}: {far:.0%}", width=NARROW)  # type: ignore[misc]
            yield thing
    finally:
        line.take_away()

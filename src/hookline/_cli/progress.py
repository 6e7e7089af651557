"""How far some work is, on a terminal, for work that takes longer than a person likes to wait for in the dark."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO, TypeVar

T = TypeVar("T")

SOON = 1.0  # seconds before anything is shown
OFTEN = 0.2  # seconds between two figures
FEW = 1000  # things between two looks at the clock


def told_how_far(
    things: Iterable[T],
    *,
    doing: str,
    total: int,
    size: Callable[[T], int],
    terminal: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[T]:
    """The same things. A terminal is told how much of *total* they come to, and has its line back in the end.

    Whoever prints a line there meanwhile begins it where ours stands, and overwrites it.
    """
    screen = sys.stderr if terminal is None else terminal
    if not screen.isatty():
        yield from things
        return
    done, due, shown = 0, clock() + SOON, ""
    for number, thing in enumerate(things, 1):
        done += size(thing)
        if number % FEW == 0 and clock() >= due:
            shown = f"{doing}: {min(done / total, 1.0) if total else 1.0:.0%}"
            print(shown, end="\r", file=screen, flush=True)
            due = clock() + OFTEN
        yield thing
    if shown:
        print(" " * len(shown), end="\r", file=screen, flush=True)

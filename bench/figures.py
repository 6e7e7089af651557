"""Figures as the benchmarks print them: percentiles, tables, targets."""

import os
import platform
import random
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import hookline

T = TypeVar("T")


def print_heading(title: str) -> None:
    """What was measured, and on what: a figure means nothing without."""
    package = Path(hookline.__file__).parent
    installed = "installed" if "site-packages" in package.parts else "not installed, so start-up figures do not count"
    print(f"{title}")
    print(
        f"hookline {version('hookline')} ({installed}), {platform.python_implementation()} "
        f"{platform.python_version()}, {sys.platform} {platform.machine()}, {os.cpu_count()} CPUs"
    )


def interleaved(cases: Iterable[T], rounds: int) -> Iterator[T]:
    """Every case once a round, so that what disturbs the machine disturbs all of them.

    The order differs from round to round: who follows whom counts, as a case finds the caches as the last one left
    them.
    """
    order = list(cases)
    chance = random.Random(0)  # noqa: S311  # an order is no secret
    for _ in range(rounds):
        chance.shuffle(order)
        yield from order


def median(samples: Sequence[float]) -> float:
    return statistics.median(samples)


def p95(samples: Sequence[float]) -> float:
    return sorted(samples)[int(len(samples) * 0.95)]


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """The first column is text and stands left, the others are figures and stand right."""
    lines = [tuple(head), *map(tuple, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    print()
    for first, *others in lines:
        cells = (f"{cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
        print("  ".join((f"{first:<{widths[0]}}", *cells)).rstrip())


def target(what: str, found: float, most: float, unit: str) -> tuple[str, str, str, str]:
    """A row of a table of targets."""
    return what, f"<= {most:g}{unit}", f"{found:.2f}{unit}", "ok" if found <= most else "OVER"


TARGETS = ("target", "", "found", "")

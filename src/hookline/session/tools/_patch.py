"""What a replacement changed, as hunks: the form in which hooks see an edit."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

CONTEXT = 3  # lines around a change, as every diff shows them


@dataclass(frozen=True, slots=True)
class Change:
    """The lines from *first* up to *end*, counted from 0, became *new*."""

    first: int
    end: int
    new: tuple[str, ...]


def hunks_of(text: str, find: str, replace: str, places: Sequence[int]) -> list[dict[str, Any]]:
    """The hunks of putting *replace* for *find* at *places*: all that `str.replace` would take, or the only one."""
    lines = lines_of(text)
    starts = list(accumulate(map(len, lines), initial=0))
    made: list[dict[str, Any]] = []
    shift = 0
    for group in _close_ones(_changes(lines, starts, find, replace, places)):
        hunk = _hunk(lines, group, shift)
        shift += hunk["newLines"] - hunk["oldLines"]
        made.append(hunk)
    return made


def lines_of(text: str) -> list[str]:
    """The lines of *text*, each with its newline. The last one may have none."""
    parts = text.split("\n")
    lines = [part + "\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _changes(
    lines: Sequence[str], starts: Sequence[int], find: str, replace: str, places: Sequence[int]
) -> Iterator[Change]:
    """The changes in order, one for all places that touch the same lines."""
    for first, last in _touched(starts, len(find), places):
        old = lines[first : last + 1]
        new = lines_of("".join(old).replace(find, replace))
        same = _common(old, new)
        old, new = old[same:], new[same:]
        alike = _common(reversed(old), reversed(new))
        end = last + 1 - alike
        yield Change(first + same, end, tuple(new[: len(new) - alike]))


def _touched(starts: Sequence[int], length: int, places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each run of places that share a line."""
    bottom = len(starts) - 2
    run: tuple[int, int] | None = None
    for place in places:
        first = bisect_right(starts, place) - 1
        last = min(bisect_right(starts, place + length) - 1, bottom)  # a newline found may join the next line on
        if run and first <= run[1]:
            run = (run[0], last)
            continue
        if run:
            yield run
        run = (first, last)
    if run:
        yield run


def _close_ones(changes: Iterable[Change]) -> Iterator[list[Change]]:
    """Changes in groups: those whose context would touch."""
    group: list[Change] = []
    for change in changes:
        if group and change.first - group[-1].end > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(lines: Sequence[str], group: Sequence[Change], shift: int) -> dict[str, Any]:
    start = max(group[0].first - CONTEXT, 0)
    stop = min(group[-1].end + CONTEXT, len(lines))
    shown: list[str] = []
    at = start
    for change in group:
        shown += [f" {line}" for line in lines[at : change.first]]
        shown += [f"-{line}" for line in lines[change.first : change.end]]
        shown += [f"+{line}" for line in change.new]
        at = change.end
    shown += [f" {line}" for line in lines[at:stop]]
    added = sum(len(change.new) - (change.end - change.first) for change in group)
    return {
        "oldStart": start + 1,
        "oldLines": stop - start,
        "newStart": start + 1 + shift,
        "newLines": stop - start + added,
        "lines": [line.removesuffix("\n") for line in shown],
    }


def _common(one: Iterable[str], other: Iterable[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count

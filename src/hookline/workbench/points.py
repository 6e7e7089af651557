"""Hook points by whatever name people call them: ours, or that of any dialect."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from hookline._core import events as _events  # noqa: F401  fills POINTS
from hookline._core.errors import UsageError
from hookline._core.points import POINTS, Event, Point
from hookline.dialects import PACKAGES


@dataclass(frozen=True, slots=True)
class Spelling:
    """What one dialect calls a point."""

    dialect: str
    name: str


def points_named(name: str) -> tuple[type[Event], ...]:
    """The events that *name* stands for: most names mean one, a dialect's may mean several of ours.

    Letter case, `_` and `-` make no difference. Raises UsageError for a name that nobody has.
    """
    wanted = _plain(name)
    if point := POINTS.get(name):
        return (point.event,)
    found = [event for event, spelling in _spellings() if _plain(spelling) == wanted]
    if found:
        return tuple(dict.fromkeys(found))
    raise UsageError(f"no hook point is called {name!r}{_near(wanted)}")


def spellings_of(point: Point) -> tuple[Spelling, ...]:
    """What the dialects that have *point* call it."""
    rules = ((package.dialect.name, package.dialect.rule(point.event)) for package in PACKAGES)
    return tuple(
        Spelling(dialect, rule.name) for dialect, rule in rules if rule is not None and rule.name != point.name
    )


def _spellings() -> Iterator[tuple[type[Event], str]]:
    for point in POINTS.values():
        yield point.event, point.name
        for spelling in spellings_of(point):
            yield point.event, spelling.name
        for package in PACKAGES:
            rule = package.dialect.rule(point.event)
            for name in () if rule is None else rule.also_named:
                yield point.event, name


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def _near(wanted: str) -> str:
    known = {_plain(spelling): spelling for _, spelling in _spellings()}
    near = difflib.get_close_matches(wanted[:80], known, n=2, cutoff=0.6)
    if near:
        return f"; did you mean {' or '.join(known[each] for each in near)}?"
    return "; `hookline list --points` has them all"

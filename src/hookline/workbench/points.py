"""Hook points by whatever name people call them: ours, or that of any dialect."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from hookline._core import events as _events  # noqa: F401  fills POINTS
from hookline._core.errors import UsageError
from hookline._core.points import POINTS, Event, Point
from hookline.dialects import PACKAGES

# From the first that can happen to the last.
LIFECYCLE = (
    "before_stage",
    "session_start",
    "input_accepted",
    "input_rejected",
    "input_deduplicated",
    "peer_received",
    "before_run",
    "before_compaction",
    "after_compaction",
    "before_model_call",
    "after_model_call",
    "before_tool_call",
    "permission_request",
    "notification",
    "before_dispatch",
    "after_tool_call",
    "tool_call_failed",
    "after_shell",
    "after_tool_batch",
    "step_end",
    "subagent_start",
    "subagent_end",
    "peer_sent",
    "before_run_end",
    "run_completed",
    "run_failed",
    "interaction_completed",
    "session_end",
)


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


def is_a_point(name: str) -> bool:
    """Whether anybody calls a point *name*."""
    return any(_plain(spelling) == _plain(name) for _, spelling in _spellings())


def all_points() -> tuple[Point, ...]:
    """Every hook point in the order of the lifecycle; those declared elsewhere come last."""
    known = [POINTS[name] for name in LIFECYCLE]
    return (*known, *(point for point in POINTS.values() if point not in known))


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

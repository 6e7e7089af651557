"""Limits in the wrong unit, and limits that hold up a start."""

from collections.abc import Iterator

from hookline._core.events import SessionStart
from hookline.dialects._base import Part, Unit
from hookline.workbench.findings import Finding, Level
from hookline.workbench.lints.asking import Asked, lint

LONGEST = 1000  # seconds that anybody means; who writes more has counted in milliseconds
SHORTEST = 100  # milliseconds in which a program can be expected to start; who writes fewer has counted in seconds
AT_START = 60.0  # seconds that a person waits for a session to begin


@lint
def limits_in_another_unit(asked: Asked) -> Iterator[Finding]:
    """Seconds where milliseconds are meant, and the reverse."""
    habits, unit = asked.conventions, asked.unit
    if habits is None or unit is None:
        return
    written = round(asked.hook.timeout / unit.value)
    seconds = unit is Unit.SECONDS
    if seconds and written >= LONGEST and written % LONGEST == 0:
        told = f"`{habits.timeout_key}` counts in seconds: {written} is {_long(written)}"
        yield _unit(
            asked, told, f"write {written // 1000} if {written} milliseconds were meant", "it is waited for that long"
        )
    if not seconds and written < SHORTEST:
        told = f"`{habits.timeout_key}` counts in milliseconds: {written} is over before most programs have started"
        yield _unit(
            asked, told, f"write {written * 1000} if {written} seconds were meant", "it is cut off, and gives no answer"
        )


def _unit(asked: Asked, message: str, remedy: str, effect: str) -> Finding:
    return asked.finding(Level.WARNING, "TimeoutUnit", message, effect=effect, remedy=remedy, part=Part.TIMEOUT)


def _long(seconds: int) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{seconds / 60:.0f} minutes"  # noqa: PLR2004


@lint
def limits_that_hold_up_a_start(asked: Asked) -> Iterator[Finding]:
    """A hook that a session's start waits for, with more time than a person has."""
    hook = asked.hook
    if hook.event is SessionStart and not hook.background and hook.timeout > AT_START:
        habits = asked.conventions
        key = "its time limit" if habits is None else f"`{habits.timeout_key}`"
        yield asked.finding(
            Level.NOTE,
            "SlowStart",
            f"a session begins only when this hook has ended, for which it has {hook.timeout:g} s",
            effect="if it hangs, so does every start",
            remedy=f"set {key}: a few seconds are plenty at a start",
            part=Part.TIMEOUT,
        )

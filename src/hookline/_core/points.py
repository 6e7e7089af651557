"""Hook points: a named place in the lifecycle, and the event class that stands for one occurrence of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, TypeVar

from hookline._core.answer import Word
from hookline._core.effects import Notify


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Which child agent an event happened in."""

    id: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where an event happened. It travels with the event, so one engine serves any number of sessions.

    `cwd` is the directory that a command hook starts in: the tool's effective directory at tool points, else the
    session's workspace. Empty means the directory of this process. `approval_off`: no call waits for a person.
    """

    session_id: str = ""
    run_id: str = ""
    step: int = 0
    cwd: str = ""
    model: str = "unknown"
    provider: str | None = None
    approval_off: bool = False
    agent: Agent | None = None


NOWHERE = Origin()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One occurrence of a hook point. Read-only; a handler answers by returning."""

    origin: Origin = field(default=NOWHERE, repr=False)
    point: ClassVar["Point"]

    def subjects(self) -> tuple[str, ...]:
        """The strings that a matcher is tested against; any one that matches selects the hook."""
        name = self.point.subject
        if name is None:
            return ()
        value = getattr(self, name)
        return (value.value if isinstance(value, Enum) else str(value),)


@dataclass(frozen=True, slots=True)
class Point:
    """A place in the lifecycle: its name, what it can honour, and which field matchers are tested against."""

    name: str
    event: type[Event]
    admits: frozenset[Word]
    subject: str | None


POINTS: dict[str, Point] = {}

E = TypeVar("E", bound=type[Event])


def hook_point(name: str, *, admits: tuple[Any, ...] = (), subject: str | None = None) -> Callable[[E], E]:
    """Make an event class the one for the point *name*. Every point admits Notify."""

    def register(event: E) -> E:
        if name in POINTS:
            raise ValueError(f"hook point {name!r} is declared twice")
        if subject is not None and not hasattr(event, subject) and subject not in event.__dataclass_fields__:
            raise ValueError(f"hook point {name!r}: {event.__name__} has no field {subject!r} to match against")
        if words := [word for word in admits if not isinstance(word, type)]:
            raise ValueError(f"hook point {name!r} admits classes of decisions and effects, found {words[0]!r}")
        point = Point(name, event, frozenset((*admits, Notify)), subject)
        event.point = point
        POINTS[name] = point
        return event

    return register

"""Every hook point's event class, and the table of points."""

from hookline._core.events import *  # noqa: F403
from hookline._core.events import __all__ as _events
from hookline._core.points import POINTS, Agent, Event, Origin, Point, hook_point

__all__ = ["POINTS", "Agent", "Event", "Origin", "Point", "hook_point", *_events]  # noqa: PLE0604

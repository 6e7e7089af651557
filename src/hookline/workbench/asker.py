"""Hooks to put recorded events to, and what they say, in the words in which a journal has it."""

import json
from dataclasses import fields

import msgspec

from hookline._core import events as _events  # noqa: F401  fills POINTS
from hookline._core.points import POINTS, Event
from hookline._core.records import Dispatched
from hookline._core.resolution import Resolution
from hookline._engine.engine import HookEngine
from hookline.journal import entries as en
from hookline.journal.encode import body_of
from hookline.journal.plain import line_of
from hookline.journal.redact import Redactor
from hookline.workbench.replayed import NOTHING, Said, said_in


class Asker:
    """An engine that recorded events are put to. *points* are the only ones that are, all if there are none."""

    def __init__(self, engine: HookEngine, redactor: Redactor, points: frozenset[str]) -> None:
        self.engine = engine
        self._redactor = redactor
        meant = [point for point in POINTS.values() if not points or point.name in points]
        with_hooks = [point for point in meant if engine.groups(point.event)]
        self._without_hooks = POINTS.keys() - {point.name for point in with_hooks}
        self.hears_messages = any(each.name == "messages" for point in with_hooks for each in fields(point.event))

    def has_hooks_for(self, line: en.Dispatched) -> bool:
        """Whether the event has to be there again, to be put to hooks, or to find out that it is none."""
        return line.event.get("point") not in self._without_hooks

    async def resolution(self, event: Event) -> Resolution:
        return await self.engine.dispatch(event)

    def said(self, event: Event, resolution: Resolution) -> Said:
        """What *resolution* would be in the journal of a session, secrets and all."""
        reached = tuple(
            [outcome.hook.id for outcome in resolution.outcomes] + [each.id for each in resolution.launched]
        )
        if not reached:
            return NOTHING
        if _says_nothing(event, resolution):
            return Said(asked=reached)
        record = Dispatched(origin=event.origin, event=event, resolution=resolution, duration=0.0)
        line = self._redactor.redacted(line_of(body_of(record), limit=en.MAX_LINE))
        return said_in(msgspec.convert(json.loads(line), en.Dispatched))


def _says_nothing(event: Event, resolution: Resolution) -> bool:
    """As nearly always; then the line need not be made."""
    said = resolution.decision or resolution.applied or resolution.failed_run
    return not said and resolution.event is event and all(each.why is None for each in resolution.outcomes)

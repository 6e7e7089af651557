"""An occasion: one event put to the hooks of one dialect, and everything that calling them takes."""

from collections.abc import Mapping

from hookline._core.made import made
from hookline._core.outcomes import Outcome
from hookline._core.points import Event
from hookline._core.ports import Adapter, Dialect, Recorder
from hookline._core.records import HookEnded, Record
from hookline._core.rules import Rule
from hookline._core.targets import Target

Adapters = Mapping[type[Target], Adapter]


@made(kw_only=True)
class Occasion:
    """`since` is when the event was dispatched, on the monotonic clock. `denied`: an earlier dialect denied it.

    `requests` is how many requests to cancel the calling task had when it began: more than that is somebody's wish.
    """

    event: Event
    dialect: Dialect
    rule: Rule
    adapters: Adapters
    recorder: Recorder | None
    since: float
    strict: bool
    requests: int = 0
    denied: bool = False

    def record(self, record: Record) -> None:
        """Add to the account, if somebody keeps one."""
        if self.recorder is not None:
            self.recorder.record(record)

    def record_end(self, outcome: Outcome) -> None:
        """Add the end of one hook's call to the account."""
        self.record(HookEnded(origin=self.event.origin, outcome=outcome, event=self.event))

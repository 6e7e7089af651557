"""The agent events about hooks (section 11): a rendering of the account, a line each."""

from typing import Any

from hookline._core import strictjson
from hookline._core.outcomes import Outcome
from hookline._core.records import Dispatched, Record
from hookline._core.resolution import Resolution
from hookline.dialects.meerkat.faults import entry_id, milliseconds
from hookline.dialects.meerkat.report import decision_of, failure_reason, foreground, launched, rule_of, was_called

Object = dict[str, Any]


class Stream:
    """Renders records, in their order, as JSON lines."""

    def lines(self, record: Record) -> list[str]:
        """The lines that *record* gives rise to, none for most."""
        return [strictjson.encode(event, spaced=False).decode() for event in _events(record)]


def _events(record: Record) -> list[Object]:
    match record:
        case Dispatched(resolution=resolution) if foreground(resolution) or launched(resolution):
            return events_of(resolution)
        case _:
            return []


def events_of(resolution: Resolution) -> list[Object]:
    """The events about the hooks of one event: all after it, starts first, a denial last.

    A background hook has none but its start. Where a hook failed that fails the run nobody else is told of: their
    report is discarded. Hooks of a settled fact have no events.
    """
    rule = rule_of(resolution)
    if rule.settled:
        return []
    point = rule.point.value
    called = [outcome for outcome in foreground(resolution) if was_called(outcome)]
    if resolution.failed_run in called:
        called = [outcome for outcome in called if outcome is resolution.failed_run]
    begun = [*(outcome.hook for outcome in called), *launched(resolution)]
    started = [_event("hook_started", hook.id, point) for hook in begun]
    ended = [_ended(outcome, point) for outcome in called]
    denied = [_denied(each, outcome, point) for outcome in called if (each := decision_of(outcome)) is not None]
    return [*started, *ended, *(each for each in denied if each is not None)]


def _ended(outcome: Outcome, point: str) -> Object:
    reason = failure_reason(outcome)
    if reason is not None:
        return _event("hook_failed", outcome.hook.id, point, reason=reason)
    return _event("hook_completed", outcome.hook.id, point, duration_ms=milliseconds(outcome.ran))


def _denied(decision: Object, outcome: Outcome, point: str) -> Object | None:
    if decision["decision"] != "deny":
        return None
    told = {key: decision[key] for key in ("reason_code", "message", "payload") if key in decision}
    return _event("hook_denied", outcome.hook.id, point, **told)


def _event(kind: str, hook: str, point: str, **more: Any) -> Object:
    return {"type": kind, "hook_id": entry_id(hook), "point": point, **more}

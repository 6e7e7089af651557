"""The runs of hooks in the `--json` stream: a line when each starts and one when it has ended (section 17.1)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from hookline._core.effects import Notify
from hookline._core.events import SessionEnd
from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._core.payload import CallFailed, Exited
from hookline._core.points import Event, Origin
from hookline._core.records import Dispatched, HookEnded, HookStarted
from hookline.dialects.muse.build import DIALECT
from hookline.dialects.muse.origins import origin_of
from hookline.dialects.muse.output import text_of
from hookline.dialects.muse.rules import BY_EVENT
from hookline.dialects.muse.tags import Status, effects_of, status_of

Body = dict[str, Any]
Where = tuple[str, str, str, int, str, str]  # of one attempt: hook, session, run, step, point, call

UNRECORDED = frozenset({SessionEnd})
UNPRINTED = frozenset({Status.COMPLETED, Status.BLOCKED})  # what these printed was understood
FIRST_OF_PLUGINS = 100_000  # the display order of plugins' hooks begins here


@dataclass(slots=True)
class _Run:
    """One attempt of one hook, from its start until its end was told. `outcome` is there once it has ended."""

    origin: Origin
    head: Body
    outcome: Outcome | None = None


class HookRuns:
    """Turns the records of hooks into bodies of stream records; each run has one of each kind.

    A run's end is told after its event was folded: what became of an answer, and so the run's effects, stands in the
    resolution. `HookEnded` is therefore only remembered, for runs whose event is cut off and never folded.
    """

    def __init__(self) -> None:
        self._orders: dict[str, int] = {}
        self._plugins: dict[str, int] = {}
        self._numbers: Counter[str] = Counter()
        self._open: dict[Where, list[_Run]] = {}

    def started(self, record: HookStarted) -> list[Body]:
        """The start of a run."""
        if not is_recorded(record.hook):
            return []
        run = self._begin(record.hook, record.origin)
        self._open.setdefault(_where(record.hook, record.event), []).append(run)
        return [{"kind": "hook_run_started", **run.head}]

    def ended(self, record: HookEnded) -> None:
        """Remember how a run ended."""
        runs = self._open.get(_where(record.outcome.hook, record.event), [])
        for run in runs:
            if run.outcome is None:
                run.outcome = record.outcome
                return

    def folded(self, record: Dispatched) -> list[Body]:
        """The ends of an event's runs, in configured order; each fallback has its own."""
        resolution = record.resolution
        bodies: list[Body] = []
        for outcome in resolution.outcomes:
            if not is_recorded(outcome.hook):
                continue
            for attempt in (*outcome.links, outcome):
                status = status_of(attempt)
                if status is None:
                    continue
                hook = attempt.by or attempt.hook
                run = self._take(_where(hook, resolution.event))
                if run is None:
                    run = self._begin(hook, record.origin)
                    bodies.append({"kind": "hook_run_started", **run.head})
                bodies.append(terminal_body(run.head, status, attempt, effects_of(attempt, resolution)))
        return bodies

    def cut_off(self, origin: Origin) -> list[Body]:
        """The ends of runs whose event was never folded, now that their run, or their session, is over."""
        bodies: list[Body] = []
        for where, runs in list(self._open.items()):
            over = [run for run in runs if _belongs(run.origin, origin)]
            if over:
                self._keep(where, [run for run in runs if run not in over])
            bodies.extend(terminal_body(run.head, _status(run), run.outcome, ()) for run in over)
        return bodies

    def _begin(self, hook: Hook, origin: Origin) -> _Run:
        key = hook.key or hook.id
        self._numbers[origin.session_id] += 1
        head: Body = {
            "run_id": f"{key}:{self._numbers[origin.session_id]}",
            "hook_key": key,
            "event": BY_EVENT[hook.event].name,
            "display_order": self._order(hook),
        }
        if hook.label:
            head["status_message"] = hook.label
        origin_of_plugin = origin_of(hook.facts)
        if origin_of_plugin is not None:
            head["origin"] = asdict(origin_of_plugin)
        return _Run(origin, head)

    def _order(self, hook: Hook) -> int:
        orders, first = (self._orders, 0) if origin_of(hook.facts) is None else (self._plugins, FIRST_OF_PLUGINS)
        return orders.setdefault(hook.id, first + len(orders))

    def _take(self, where: Where) -> _Run | None:
        runs = self._open.get(where)
        if not runs:
            return None
        run = runs[0]
        self._keep(where, runs[1:])
        return run

    def _keep(self, where: Where, runs: list[_Run]) -> None:
        if runs:
            self._open[where] = runs
        else:
            del self._open[where]


def is_recorded(hook: Hook) -> bool:
    """Whether a hook's runs stand in the stream: an async hook's do not, nor those that end with the session."""
    return hook.dialect == DIALECT and not hook.background and hook.event not in UNRECORDED


def _where(hook: Hook, event: Event) -> Where:
    """One place for a start and its end. The event itself may be another by then: with its input rewritten."""
    origin = event.origin
    call_id = getattr(event, "call_id", "")
    return hook.id, origin.session_id, origin.run_id, origin.step, event.point.name, call_id


def _belongs(origin: Origin, over: Origin) -> bool:
    return origin.session_id == over.session_id and over.run_id in ("", origin.run_id)


def _status(run: _Run) -> Status:
    ended = None if run.outcome is None else status_of(run.outcome)
    return ended or Status.CANCELLED


def terminal_body(
    head: Body, status: Status, outcome: Outcome | None, effects: Iterable[str], *, elide: bool = True
) -> Body:
    """The end of a run that began with *head*. *elide*: what a run that went well printed is left out."""
    reply = outcome.reply if outcome is not None and isinstance(outcome.reply, Exited | CallFailed) else None
    code = None if reply is None or reply.code is None or reply.code < 0 else reply.code
    body: Body = {
        "kind": "hook_run_terminal",
        **head,
        "status": status.value,
        "duration_ms": 0 if outcome is None else round(outcome.ran * 1000),
        "exit_code": code,
        "stdout": "" if reply is None or (elide and status in UNPRINTED) else text_of(reply.stdout),
        "stderr": "" if reply is None else text_of(reply.stderr),
        "error": None if outcome is None or outcome.answer is not None else outcome.detail or None,
    }
    answer = None if outcome is None else outcome.answer
    messages = [] if answer is None else [each.message for each in answer.effects if isinstance(each, Notify)]
    if messages:
        body["system_message"] = messages[0]
    if tags := list(effects):
        body["effects"] = tags
    return body

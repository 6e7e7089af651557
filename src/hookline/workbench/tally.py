"""Counting what hooks did, line by line. What is kept grows with the hooks, not with the lines."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hookline._core.events import runtime
from hookline.journal import entries as en
from hookline.journal.reader import Damage, Entry
from hookline.workbench.sketch import Sketch

# Failures for which hookline ends the process itself.
ENDED_BY_US = frozenset({"timeout", "output_too_large"})

# Hooks are told of these aside: nobody waits for them.
ASIDE = frozenset(
    event.point.name
    for event in (
        runtime.InputAccepted,
        runtime.InputRejected,
        runtime.InputDeduplicated,
        runtime.PeerReceived,
        runtime.PeerSent,
        runtime.InteractionCompleted,
    )
)

AT_WORK = 10_000  # events whose hooks are at work at once: far more than any session has, so the rest have no end
OVERLAPPING = 64  # stretches of time that a later one may still reach back into: as many calls at once

_Key = tuple[str, str, str, str]
_Which = tuple[str, str, str, str]


@dataclass(slots=True, kw_only=True)
class Tally:
    """What one hook did so far. The fields are those of `report.HookRow`."""

    hook: en.Hook
    points: set[str] = field(default_factory=set)
    occurrences: int = 0
    calls: int = 0
    answered: int = 0
    cancelled: int = 0
    no_end: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)
    decided: Counter[str] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)
    ignored: int = 0
    failed_runs: int = 0
    unheard: int = 0
    killed: int = 0
    left_behind: int = 0
    ran: Sketch = field(default_factory=Sketch)
    queued: Sketch = field(default_factory=Sketch)
    bytes_in: int = 0
    bytes_out: int = 0

    def count(self, outcome: en.Outcome) -> None:
        """One attempt of this hook. That of another, before or behind it, is not looked at."""
        if outcome.kind == "skipped":
            self.skipped[outcome.why] += 1
            return
        self.calls += 1
        if outcome.kind == "failed":
            self.failed[outcome.why] += 1
        self.answered += outcome.kind == "answered"
        self.cancelled += outcome.kind == "cancelled"
        self.killed += outcome.why in ENDED_BY_US or outcome.left_behind > 0
        self.left_behind += outcome.left_behind
        self.bytes_in += outcome.stdin_size
        self.bytes_out += outcome.stdout_size + outcome.stderr_size
        if outcome.decision is not None:
            self.said[outcome.decision.decision] += 1
        if outcome.started:
            self.ran.add(outcome.ran_ms)
            self.queued.add(outcome.queued_ms)


@dataclass(slots=True)
class _Pending:
    """Attempts at one event that has no `dispatched` line yet: those begun, and those that ended."""

    begun: Counter[_Key] = field(default_factory=Counter)
    ended: list[en.Outcome] = field(default_factory=list)

    def end(self, key: _Key) -> None:
        """An attempt of this hook has ended, one that was seen to begin or another."""
        if self.begun[key] > 1:
            self.begun[key] -= 1
        else:
            del self.begun[key]


class Tallies:
    """Hears the lines of journals, one journal behind the other, and has a tally for every hook in them.

    A foreground hook counts when its event is resolved. Where that never happened, because the run or its program
    was cut off, it counts as far as the journal has it.
    """

    def __init__(self) -> None:
        self.of_hooks: dict[_Key, Tally] = {}
        self.journals = self.lines = self.damaged = 0
        self.took = 0  # microseconds
        self._waited = _Covered()
        self._last: int | None = None  # when the line before was written
        self._since = 0  # when the session began, or was resumed
        self._occurred: Counter[str] = Counter()  # events of the journal at hand, by their points
        self._asked: dict[_Key, set[str]] = {}  # the points in it at which each hook was asked
        self._pending: dict[_Which, _Pending] = {}

    @property
    def waited(self) -> int:
        """Microseconds in which an event waited for its hooks."""
        return self._waited.total

    def hear(self, entry: Entry | Damage) -> None:
        if entry.line == 1:
            self.end_journal()
            self.journals += 1
        self.lines += 1
        if isinstance(entry, Damage):
            self.damaged += 1
            return
        self._pass_time(entry)
        match entry.body:
            case en.SessionOpened():
                self._settle(self._pending)
            case en.RunEnded():
                self._settle_run(entry)
            case en.HookStarted(hook=hook, event=event):
                self._tally(hook, str(event.get("point", "?")))
                self._of(_which(entry, event)).begun[_key(hook)] += 1
            case en.HookEnded() as ended:
                self._hook_ended(entry, ended)
            case en.Dispatched() as dispatched:
                self._dispatched(entry, dispatched)
            case _:
                pass

    def end_journal(self) -> None:
        """What comes now is another session's."""
        self._settle(self._pending)
        for key, points in self._asked.items():
            self.of_hooks[key].occurrences += sum(self._occurred[point] for point in points)
        self._asked.clear()
        self._occurred.clear()
        self._waited.begin_anew()
        self._last = None

    def _pass_time(self, entry: Entry) -> None:
        """A session that is resumed did not last in between."""
        if self._last is None or isinstance(entry.body, en.SessionOpened):
            self._since = entry.at
        else:
            self.took += max(0, entry.at - self._last)
        self._last = entry.at

    def _tally(self, hook: en.Hook, point: str) -> Tally:
        key = _key(hook)
        tally = self.of_hooks.get(key)
        if tally is None:
            tally = self.of_hooks[key] = Tally(hook=hook)
        tally.points.add(point)
        self._asked.setdefault(key, set()).add(point)
        return tally

    def _of(self, which: _Which) -> _Pending:
        pending = self._pending.get(which)
        if pending is None:
            if len(self._pending) >= AT_WORK:
                self._settle(self._pending)
            pending = self._pending[which] = _Pending()
        return pending

    def _hook_ended(self, entry: Entry, ended: en.HookEnded) -> None:
        outcome, which = ended.outcome, _which(entry, ended.event)
        tally = self._tally(outcome.hook, which[2])
        pending = self._of(which)
        pending.end(_key(outcome.hook))
        if outcome.hook.background:
            tally.count(outcome)
        else:
            pending.ended.append(outcome)
        if not (pending.begun or pending.ended):
            del self._pending[which]

    def _dispatched(self, entry: Entry, dispatched: en.Dispatched) -> None:
        which = _which(entry, dispatched.event)
        self._occurred[which[2]] += 1
        self._forget_foreground(which)
        if not dispatched.outcomes:
            return
        if which[2] not in ASIDE:
            self._waited.add(max(entry.at - int(dispatched.duration_ms * 1000), self._since), entry.at)
        last: dict[str, Tally] = {}  # by the id of the hook that was selected, whoever answered for it
        for outcome in dispatched.outcomes:
            for hook, attempt in _attempts(outcome):
                last[outcome.hook.id] = tally = self._tally(hook, which[2])
                tally.count(attempt)
        _count_consequences(dispatched, last)

    def _forget_foreground(self, which: _Which) -> None:
        """The resolution tells of them again, and better."""
        if (pending := self._pending.pop(which, None)) is not None:
            self._keep_background(which, pending)

    def _settle_run(self, entry: Entry) -> None:
        """A run has ended. What it waited for has, too; what nobody waits for may go on."""
        for which in [each for each in self._pending if each[:2] == (entry.session, entry.run)]:
            left = self._keep_background(which, self._pending.pop(which))
            self._count(left)

    def _keep_background(self, which: _Which, pending: _Pending) -> _Pending:
        """Goes on waiting for the background hooks among these, and gives the others."""
        background = Counter({key: n for key, n in pending.begun.items() if self.of_hooks[key].hook.background})
        if background:
            self._pending[which] = _Pending(begun=background)
        return _Pending(begun=pending.begun - background, ended=pending.ended)

    def _settle(self, which: Iterable[_Which]) -> None:
        """Nothing more comes of these."""
        for each in list(which):
            self._count(self._pending.pop(each))

    def _count(self, pending: _Pending) -> None:
        """Attempts at an event that was never resolved."""
        for outcome in pending.ended:
            self.of_hooks[_key(outcome.hook)].count(outcome)
        for key, count in pending.begun.items():
            self.of_hooks[key].calls += count
            self.of_hooks[key].no_end += count


def _attempts(outcome: en.Outcome) -> Iterator[tuple[en.Hook, en.Outcome]]:
    """The attempts of one turn, each with the hook whose it was: first the hook itself, then its fallbacks."""
    for link in outcome.links:
        yield link.hook, link
    yield outcome.by or outcome.hook, outcome


def _count_consequences(dispatched: en.Dispatched, tallies: dict[str, Tally]) -> None:
    """What came of the answers, and of their absence."""
    if dispatched.decision is not None and (decider := tallies.get(dispatched.decided_by or "")) is not None:
        decider.decided[dispatched.decision.decision] += 1
    if (failing := tallies.get(dispatched.failed_run or "")) is not None:
        failing.failed_runs += 1
    for applied in dispatched.applied:
        if applied.hook in tallies:
            tallies[applied.hook].applied[str(applied.effect.get("effect", "effect"))] += 1
    for ignored in dispatched.ignored:
        if ignored.hook in tallies:
            tallies[ignored.hook].ignored += 1
    for unheard in dispatched.unheard:
        if unheard in tallies:
            tallies[unheard].unheard += 1


def _key(hook: en.Hook) -> _Key:
    """Which hook it is: of two projects, say, the ids may be the same."""
    return hook.dialect, hook.layer, hook.file, hook.id


def _which(entry: Entry, event: Mapping[str, Any]) -> _Which:
    return entry.session, entry.run, str(event.get("point", "?")), str(event.get("call_id", ""))


class _Covered:
    """How much time some stretches cover together. They come in the order in which they end."""

    def __init__(self) -> None:
        self.total = 0
        self._recent: deque[tuple[int, int]] = deque(maxlen=OVERLAPPING)  # apart from one another

    def add(self, begin: int, end: int) -> None:
        begin = min(begin, end)
        while self._recent and self._recent[-1][1] >= begin:
            before, until = self._recent.pop()
            self.total -= until - before
            begin, end = min(begin, before), max(end, until)
        self.total += end - begin
        self._recent.append((begin, end))

    def begin_anew(self) -> None:
        """What comes now overlaps with nothing before."""
        self._recent.clear()

"""What the hooks of recorded sessions did and cost, hook by hook. Any number of lines, in constant memory."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hookline.journal.reader import Damage, Entry
from hookline.workbench.sketch import ERROR, Sketch
from hookline.workbench.tally import Tallies, Tally

VERSION = 1  # of the object that `as_json` gives
DECIMALS = 3  # of a time in milliseconds, as in a journal


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Milliseconds. The percentiles are within 1 % of the truth, the other two exact."""

    p50: float
    p95: float
    longest: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRow:
    """One hook: which it is, how often it was asked, what became of that, and what it took.

    `points` are those that it was asked at, and `occurrences` how often these occurred in the sessions in which it was
    asked at all: it was selected at `matched` of them. Of those it was called `calls` times, and not called for the
    reasons in `skipped`. Each call was `answered`, `cancelled`, has `no_end` in the journal, or is in `failed` by why.
    `calls` counts a fallback's own calls too, in a row of its own.

    `said` counts the decisions of its answers, `decided` those that counted, `applied` its effects that did and
    `ignored` whatever did not. `failed_runs` are the runs that it failed. `unheard` are the actions that it might have
    denied, and that went on without an answer. `killed` are the calls of which hookline ended a process, because of
    the limits or because it was left behind; `left_behind` counts the latter.
    """

    dialect: str
    layer: str
    file: str
    id: str
    label: str
    background: bool
    points: tuple[str, ...]
    occurrences: int
    matched: int
    calls: int
    answered: int
    cancelled: int
    no_end: int
    failed: Mapping[str, int]
    skipped: Mapping[str, int]
    said: Mapping[str, int]
    decided: Mapping[str, int]
    applied: Mapping[str, int]
    ignored: int
    failed_runs: int
    unheard: int
    killed: int
    left_behind: int
    ran: Times
    queued: Times
    bytes_in: int
    bytes_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All hooks, the one that took the most time first.

    `took_ms` is how long the sessions lasted, added up; time between an end and a resumption is not in it.
    `waited_ms` is how much of that passed while an event waited for its hooks, where several did, once; `share` is the
    one over the other. `background_ms` is the time of hooks that nobody waited for.
    """

    journals: int
    lines: int
    damaged: int
    took_ms: float
    waited_ms: float
    share: float
    background_ms: float
    hooks: tuple[HookRow, ...]

    def as_json(self) -> dict[str, Any]:
        """The object that docs/journal.md describes."""
        return {"v": VERSION, "error": ERROR, **asdict(self)}


def report(entries: Iterable[Entry | Damage]) -> Report:
    """The report of one journal, or of several one behind the other: a first line begins another one."""
    tallies = Tallies()
    for entry in entries:
        tallies.hear(entry)
    tallies.end_journal()
    rows = [_row(tally) for tally in tallies.of_hooks.values()]
    took, waited = tallies.took / 1000, tallies.waited / 1000
    return Report(
        journals=tallies.journals,
        lines=tallies.lines,
        damaged=tallies.damaged,
        took_ms=took,
        waited_ms=waited,
        share=waited / took if took else 0.0,
        background_ms=round(sum(row.ran.total for row in rows if row.background), DECIMALS),
        hooks=tuple(sorted(rows, key=lambda row: (-row.ran.total, -row.matched, row.dialect, row.id, row.file))),
    )


def _row(tally: Tally) -> HookRow:
    hook = tally.hook
    skipped, failed = dict(tally.skipped), dict(tally.failed)
    return HookRow(
        dialect=hook.dialect,
        layer=hook.layer,
        file=hook.file,
        id=hook.id,
        label=hook.label,
        background=hook.background,
        points=tuple(sorted(tally.points)),
        occurrences=tally.occurrences,
        matched=tally.calls + sum(skipped.values()),
        calls=tally.calls,
        answered=tally.answered,
        cancelled=tally.cancelled,
        no_end=tally.no_end,
        failed=failed,
        skipped=skipped,
        said=dict(tally.said),
        decided=dict(tally.decided),
        applied=dict(tally.applied),
        ignored=tally.ignored,
        failed_runs=tally.failed_runs,
        unheard=tally.unheard,
        killed=tally.killed,
        left_behind=tally.left_behind,
        ran=_times(tally.ran),
        queued=_times(tally.queued),
        bytes_in=tally.bytes_in,
        bytes_out=tally.bytes_out,
    )


def _times(sketch: Sketch) -> Times:
    return Times(
        p50=round(sketch.percentile(0.5), DECIMALS),
        p95=round(sketch.percentile(0.95), DECIMALS),
        longest=sketch.largest,
        total=round(sketch.total, DECIMALS),
    )

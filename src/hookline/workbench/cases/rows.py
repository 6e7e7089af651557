"""Cases, and which hooks they reached, as rows for people."""

import json
from pathlib import Path
from typing import Any

from hookline.workbench.asked_rows import fired_rows
from hookline.workbench.cases.coverage import Coverage
from hookline.workbench.cases.types import Report, Result, Status
from hookline.workbench.finding_rows import shown_path
from hookline.workbench.hook_rows import lasted
from hookline.workbench.rows import Role, Rows, Span

ROLES = {Status.OK: Role.GOOD, Status.FAILED: Role.BAD, Status.BROKEN: Role.BAD}
MILLISECOND = 1000


def result_rows(result: Result, base: Path, *, whole: bool) -> Rows:
    """A line for the case, and what is not as it wants it; with *whole* all that crossed."""
    case = result.case
    place = Span(
        Role.QUIET, f"{shown_path(str(result.file), base)}:{case.line}" if result.status is not Status.OK else ""
    )
    took = Span(Role.QUIET, lasted(result.seconds * MILLISECOND))
    yield 1, [Span(ROLES[result.status], f"{result.status.value:<6}"), Span(Role.TEXT, case.name), took, place]
    for line in result.error.splitlines():
        yield 4, [Span(Role.BAD, line)]
    for each in result.differences:
        wanted, found = shown(each.wanted), shown(each.found)
        yield 4, [Span(Role.HEADING, each.what), Span(Role.GOOD, f"wanted {wanted}"), Span(Role.BAD, f"found {found}")]
    if result.fired is not None and (whole or result.status is Status.FAILED):
        for level, spans in fired_rows(result.fired, whole=whole) if whole else _notes(result):
            yield level + 4, spans


def _notes(result: Result) -> Rows:
    """Why a hook gave no answer, which is mostly why a case fails."""
    outcomes = () if result.fired is None else (*result.fired.resolution.outcomes, *result.fired.ended)
    for outcome in outcomes:
        if outcome.detail:
            yield 0, [Span(Role.QUIET, outcome.hook.id), Span(Role.TEXT, outcome.detail)]


def shown(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def summary_rows(report: Report) -> Rows:
    """How many cases there were, what is wrong with files, and which hooks were never asked."""
    for problem in report.problems:
        yield 0, [Span(Role.BAD, f"{problem.where}: {problem.message}")]
    counts = [f"{len(found)} {status.value}" for status in Status if (found := report.of_status(status))]
    role = Role.GOOD if report.is_fine else Role.BAD
    total = f"{len(report.results)} case{'' if len(report.results) == 1 else 's'}"
    yield 0, [Span(role, ", ".join(counts) or "no case"), Span(Role.QUIET, f"of {total} in {report.seconds:.1f} s")]
    yield from _coverage_rows(report.coverage)


def _coverage_rows(coverage: Coverage) -> Rows:
    if not coverage.hooks:
        return
    asked = len(coverage.hooks) - len(coverage.never_asked)
    yield (
        0,
        [
            Span(Role.HEADING, f"{asked} of {len(coverage.hooks)} hooks asked"),
            Span(Role.QUIET, f"{coverage.percent:.0f} %"),
        ],
    )
    for each in coverage.never_asked:
        yield 1, [Span(Role.MARK, "never asked"), Span(Role.NAME, each.hook.id)]
    for each in coverage.hooks.values():
        if each.asked and (each.unseen or not each.failed):
            unseen = ", ".join((*each.unseen, *(() if each.failed else ("a failure",))))
            yield 1, [Span(Role.QUIET, "no case saw"), Span(Role.NAME, each.hook.id), Span(Role.TEXT, unseen)]

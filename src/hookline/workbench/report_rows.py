"""A report for people: two lines a hook, a third where something went wrong or was changed. 80 columns do."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from hookline.workbench.hook_rows import SECOND, UNANSWERED, lasted
from hookline.workbench.report import HookRow, Report
from hookline.workbench.rows import Role, Span, Style, rendered, unstyled

WIDTH = 80
INDENT = "  "
COUNT, TIME, SIZE = 6, 8, 5
COLUMNS = (
    ("calls", COUNT),
    ("of", COUNT),
    ("p50", TIME),
    ("p95", TIME),
    ("max", TIME),
    ("total", TIME),
    ("queue", TIME),
    ("in", SIZE),
    ("out", SIZE),
)
UNITS = ("", "K", "M", "G", "T")  # of 1024 bytes each
THOUSAND = 1024
MINUTE = 60 * SECOND


def report_lines(report: Report, *, style: Style = unstyled, width: int = WIDTH) -> Iterator[str]:
    """The lines of a report: what the columns are, each hook, and what all of it came to."""
    if report.hooks:
        yield _line([Span(Role.QUIET, f"{name:>{size}}") for name, size in COLUMNS], style, width)
    labels = _ambiguous(report.hooks)
    for row in report.hooks:
        yield _line(_name(row, with_file=row.id in labels), style, width, indent="")
        yield _line(_numbers(row), style, width)
        yield from _remarks(row, style, width)
    for spans in _totals(report):
        yield _line(spans, style, width, indent="")


def _line(spans: Sequence[Span], style: Style, width: int, *, indent: str = " ") -> str:
    return (indent + rendered(spans, width=width - len(indent), style=style)).rstrip()


def _ambiguous(rows: Sequence[HookRow]) -> frozenset[str]:
    """The ids that hooks of several files have."""
    files: dict[str, set[str]] = {}
    for row in rows:
        files.setdefault(row.id, set()).add(row.file)
    return frozenset(shared for shared, named in files.items() if len(named) > 1)


def _name(row: HookRow, *, with_file: bool) -> Sequence[Span]:
    return [
        Span(Role.NAME, row.id),
        Span(Role.QUIET, " ".join(filter(None, (row.dialect, row.layer)))),
        Span(Role.QUIET, "background" if row.background else ""),
        Span(Role.TEXT, row.file if with_file else ""),
    ]


def _numbers(row: HookRow) -> Sequence[Span]:
    figures = (
        str(row.calls),
        str(row.occurrences),
        _time(row.ran.p50),
        _time(row.ran.p95),
        _time(row.ran.longest),
        _time(row.ran.total),
        _time(row.queued.p95),
        size(row.bytes_in),
        size(row.bytes_out),
    )
    return [Span(Role.TEXT, f"{figure:>{room}}") for figure, (_, room) in zip(figures, COLUMNS, strict=True)]


def _time(milliseconds: float) -> str:
    """In eight columns at most."""
    return lasted(milliseconds) if milliseconds < 10 * MINUTE else f"{milliseconds / MINUTE:.1f} min"


def size(count: int) -> str:
    """A number of bytes in five columns at most."""
    unit = 0
    while count >= THOUSAND and unit < len(UNITS) - 1:
        count //= THOUSAND
        unit += 1
    return f"{count}{UNITS[unit]}"


def _remarks(row: HookRow, style: Style, width: int) -> Iterator[str]:
    """What it decided and changed; then what it did not do that it should have."""
    for role, parts in ((Role.TEXT, _did(row)), (Role.MARK, _did_not(row)), (Role.BAD, _left_open(row))):
        for line in textwrap.wrap("; ".join(parts), width - 2 * len(INDENT)):
            yield 2 * INDENT + rendered([Span(role, line)], width=width - 2 * len(INDENT), style=style)


def _did(row: HookRow) -> list[str]:
    decided = [_decided(word, row) for word in sorted({*row.said, *row.decided})]
    applied = [f"{effect} {count}" for effect, count in sorted(row.applied.items())]
    return [*decided, *applied, *([f"did not count {row.ignored}"] if row.ignored else [])]


def _decided(word: str, row: HookRow) -> str:
    """`deny 3`, or `deny 3 of 5 said` where others came before it."""
    counted, said = row.decided.get(word, 0), row.said.get(word, 0)
    return f"{word} {counted}" if counted >= said else f"{word} {counted} of {said} said"


def _did_not(row: HookRow) -> list[str]:
    parts = []
    if row.failed:
        parts.append(f"failed {sum(row.failed.values())} ({_kinds(row.failed)})")
    if row.skipped:
        parts.append(f"skipped {sum(row.skipped.values())} ({_kinds(row.skipped)})")
    for word, count in (("cancelled", row.cancelled), ("no end", row.no_end), ("killed", row.killed)):
        if count:
            parts.append(f"{word} {count}")
    if row.left_behind:
        parts.append(f"left {row.left_behind} processes running")
    return parts


def _left_open(row: HookRow) -> list[str]:
    unheard = [f"! {UNANSWERED} {row.unheard}"] if row.unheard else []
    return [*unheard, *([f"failed {row.failed_runs} runs"] if row.failed_runs else [])]


def _kinds(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{why} {count}" for why, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _totals(report: Report) -> Iterator[Sequence[Span]]:
    hooks, journals = _counted(len(report.hooks), "hook"), _counted(report.journals, "session")
    calls, failed = sum(row.calls for row in report.hooks), sum(sum(row.failed.values()) for row in report.hooks)
    told = f"{hooks} in {journals}, {_counted(calls, 'call')}, {failed} failed"
    yield [Span(Role.HEADING, "total"), Span(Role.TEXT, told)]
    waited = f"{report.share:.1%} of {_time(report.took_ms)} was waiting for hooks: {_time(report.waited_ms)}"
    background = f"in the background {_time(report.background_ms)}" if report.background_ms else ""
    yield [Span(Role.HEADING, "time "), Span(Role.TEXT, waited), Span(Role.QUIET, background)]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"

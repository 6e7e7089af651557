"""Findings for people: each with its line of the file and a caret under the place."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hookline.workbench.check import Checked
from hookline.workbench.findings import Finding, Level
from hookline.workbench.rows import Role, Rows, Span, columns

ROLES = {Level.ERROR: Role.BAD, Level.WARNING: Role.MARK, Level.NOTE: Role.QUIET}
CONTEXT = 70  # characters of a source line that are shown
FOLDED = 3  # places of one note that are shown; what is the same of many hooks need not be said of each


def finding_rows(checked: Checked, base: Path) -> Rows:
    """Every finding, and at the end how many there are. Paths below *base* are shown from there."""
    texts = _Texts()
    for group in _folded(checked.findings):
        yield from _rows_of(group, texts, base)
    yield from _summary(checked, base)


def _folded(findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    """Notes of one code and one file together, where the first of them stands."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    order: list[list[Finding]] = []
    for each in findings:
        if each.level is not Level.NOTE:
            order.append([each])
            continue
        group = groups.setdefault((each.code, each.where.file), [])
        if not group:
            order.append(group)
        group.append(each)
    yield from order


def _rows_of(group: Sequence[Finding], texts: "_Texts", base: Path) -> Rows:
    first = group[0]
    where = first.where
    place = f":{where.line}:{where.column}" if where.line else ""
    level = Span(ROLES[first.level], first.level.value)
    code = Span(Role.HEADING, f"{first.code} {first.rule}".rstrip())
    yield 0, [Span(Role.NAME, shown_path(where.file, base) + place), level, code, Span(Role.QUIET, where.path)]
    yield 1, [Span(Role.TEXT, first.message)]
    for line in texts.excerpt(where.file, where.line, where.column):
        yield 1, [Span(Role.QUIET, line)]
    yield 1, [Span(Role.QUIET, "effect:"), Span(Role.TEXT, first.effect)]
    if first.remedy:
        yield 1, [Span(Role.QUIET, "remedy:"), Span(Role.GOOD, first.remedy)]
    if len(group) > 1:
        lines = list(dict.fromkeys(str(each.where.line) for each in group[1:]))
        more = ", ..." if len(lines) > FOLDED else ""
        noun = "line" if len(lines) == 1 else "lines"
        yield 1, [Span(Role.QUIET, f"the same of {len(group) - 1} more: {noun} {', '.join(lines[:FOLDED])}{more}")]


def _summary(checked: Checked, base: Path) -> Rows:
    if not checked.files:
        looked = ", ".join(shown_path(str(path), base) for path in checked.looked_for)
        if looked:
            yield 0, [Span(Role.BAD, "no hook file is there"), Span(Role.TEXT, f"looked for {looked}")]
        return
    hooks = sum(each.hooks for each in checked.files)
    counts = [
        f"{len(found)} {level.value}{'' if len(found) == 1 else 's'}"
        for level in Level
        if (found := checked.of_level(level))
    ]
    told = ", ".join(counts) or "nothing to say"
    files = "1 file" if len(checked.files) == 1 else f"{len(checked.files)} files"
    role = Role.GOOD if checked.is_fine else Role.BAD
    yield 0, [Span(role, told), Span(Role.QUIET, f"in {files} with {hooks} {'hook' if hooks == 1 else 'hooks'}")]


def shown_path(file: str, base: Path) -> str:
    """*file* as a person in *base* would write it."""
    path = Path(file)
    return str(path.relative_to(base)) if path.is_relative_to(base) else file


class _Texts:
    """The lines of files, each read once."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def excerpt(self, file: str, line: int, column: int) -> Iterator[str]:
        """The line with its number, cut to what is around *column*, and a caret under it."""
        if not line:
            return
        text = self._line(file, line)
        if text is None:
            return
        start = max(0, min(column - CONTEXT // 2, len(text) - CONTEXT)) if len(text) > CONTEXT else 0
        shown = text[start : start + CONTEXT].replace("\t", " ")
        margin = f"{line:>4} | "
        yield margin + shown.rstrip()
        yield " " * (len(margin) - 2) + "| " + " " * columns(shown[: column - 1 - start]) + "^"

    def _line(self, file: str, line: int) -> str | None:
        if file not in self._lines:
            try:
                self._lines[file] = Path(file).read_text("utf-8-sig", errors="replace").split("\n")
            except OSError:
                self._lines[file] = []
        lines = self._lines[file]
        return lines[line - 1] if line <= len(lines) else None

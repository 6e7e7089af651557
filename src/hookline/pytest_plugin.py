"""hookline in pytest: the fixture `hookline_fire`, and files *.hooktest.yaml as tests.

pytest loads it by itself where hookline is installed. It imports the rest of hookline when a test needs it.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hookline.testing.firing import Fire
    from hookline.workbench.cases import Case

ENDING = ".hooktest.yaml"


@pytest.fixture
def hookline_fire() -> "Fire":
    """A callable that asks hooks about one event: `hookline_fire("PreToolUse", tool="Bash", config="hooks.json")`.

    See `hookline.testing.firing.Fire`; on a loop of the test's own `await hookline_fire.asynchronous(...)`.
    """
    from hookline.testing.firing import Fire

    return Fire()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "CaseModule | None":
    """A file of hook tests, each case of which is a test."""
    return CaseModule.from_parent(parent, path=file_path) if file_path.name.endswith(ENDING) else None


class CaseModule(pytest.File):
    """A file of hook tests. Every mistake in it is told when it is collected."""

    def collect(self) -> Iterator["CaseItem"]:
        from hookline.workbench.cases import read_cases

        file = read_cases(self.path)
        if file.problems:
            raise self.CollectError("\n".join(f"{each.where}: {each.message}" for each in file.problems))
        for case in file.cases:
            yield CaseItem.from_parent(self, name=case.name, case=case)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: "Case", **others: Any) -> None:
        super().__init__(**others)
        self.case = case

    def runtest(self) -> None:
        from hookline.workbench.cases.rows import result_rows
        from hookline.workbench.cases.running import run_cases
        from hookline.workbench.rows import rendered, unstyled

        line = self.case.line
        report = asyncio.run(run_cases([self.path], chosen=lambda case: case.line == line))
        if not report.is_fine:
            rows = (row for result in report.results for row in result_rows(result, Path(), whole=True))
            lines = ("  " * level + rendered(spans, width=200, style=unstyled) for level, spans in rows)
            pytest.fail("\n".join(lines), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.line - 1, self.name

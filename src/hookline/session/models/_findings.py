"""Everything that is wrong with a script, each with its place."""

from dataclasses import dataclass
from pathlib import Path

from hookline._core.errors import ConfigError
from hookline._core.problems import Problem, Scope, Where

MOST = 100  # problems of one file: who has that many begins with these


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands. Lines and columns count from 1, as far as there are any."""

    line: int
    column: int


START = Place(1, 1)
WHOLE_FILE = Place(0, 0)


class Findings:
    """Collects problems of one file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._problems: list[Problem] = []

    def add(self, code: str, message: str, place: Place, path: str = "") -> None:
        """Take down one problem. With the last that is taken the ConfigError is raised at once."""
        where = Where(file=self._file, label=Path(self._file).name, line=place.line, column=place.column, path=path)
        self._problems.append(Problem(scope=Scope.FILE, code=code, message=message, where=where))
        if len(self._problems) == MOST:
            self.raise_if_any()

    def raise_if_any(self) -> None:
        """Raise a ConfigError of all that was found, in the order of the file."""
        if self._problems:
            found = sorted(self._problems, key=lambda each: (each.where.line, each.where.column))
            raise ConfigError("\n".join(f"{each.where}: {each.message}" for each in found), tuple(found))

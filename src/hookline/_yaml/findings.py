"""Everything that is wrong with a file, each with its place."""

from dataclasses import dataclass
from pathlib import Path

from hookline._core.errors import ConfigError
from hookline._core.problems import Problem, Scope, Where

MOST = 100  # problems of one file: who has that many begins with these


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something stands. Lines and columns count from 1, as far as there are any."""

    line: int
    column: int


START = Place(1, 1)
WHOLE_FILE = Place(0, 0)


class Findings:
    """Collects problems of one file, and notes, which do not count. *scope* is how far the problems reach."""

    def __init__(self, file: str, scope: Scope = Scope.FILE) -> None:
        self._file = file
        self._scope = scope
        self._problems: list[Problem] = []
        self.count = 0

    def where(self, place: Place, path: str = "") -> Where:
        return Where(file=self._file, label=Path(self._file).name, line=place.line, column=place.column, path=path)

    def add(self, code: str, message: str, place: Place, path: str = "") -> None:
        """Take down one problem. With the last that is taken the ConfigError is raised at once."""
        where = self.where(place, path)
        self._problems.append(Problem(scope=self._scope, code=code, message=message, where=where))
        self.count += 1
        if self.count == MOST:
            self.raise_if_any()

    def note(self, code: str, message: str, place: Place, path: str = "") -> None:
        """Take down what is worth knowing of a file that holds all the same."""
        where = self.where(place, path)
        self._problems.append(Problem(scope=Scope.NOTE, code=code, message=message, where=where))

    @property
    def all(self) -> tuple[Problem, ...]:
        """Problems and notes, in the order of the file."""
        return tuple(sorted(self._problems, key=lambda each: (each.where.line, each.where.column)))

    def raise_if_any(self) -> None:
        """Raise a ConfigError of all that was found, if anything is wrong."""
        if self.count:
            raise ConfigError("\n".join(f"{each.where}: {each.message}" for each in self.all), self.all)

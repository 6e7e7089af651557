"""What a lint is given, and what it says."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hookline._core.hooks import Hook
from hookline._core.problems import Where
from hookline._core.rules import Rule
from hookline._core.shell_lines import ShellLine, parsed
from hookline._core.targets import CommandTarget
from hookline.dialects._base import Conventions, Loaded, Package, Part, Unit
from hookline.workbench.findings import Finding, Level
from hookline.workbench.lints.programs import Programs


@dataclass(slots=True, kw_only=True)
class Asked:
    """One hook of a file. `folder` is where the session would work."""

    hook: Hook
    package: Package
    loaded: Loaded
    folder: Path
    programs: Programs
    _line: ShellLine | None = field(default=None, init=False)
    _is_parsed: bool = field(default=False, init=False)

    @property
    def rule(self) -> Rule | None:
        return self.package.dialect.rule(self.hook.event.point.event)

    @property
    def conventions(self) -> Conventions | None:
        return self.loaded.conventions or self.package.conventions

    @property
    def unit(self) -> Unit | None:
        """What the number counts that is written for its time limit."""
        look, habits = self.package.look, self.conventions
        own = None if habits is None else habits.unit
        return own or (None if look is None else look.unit)

    @property
    def command(self) -> CommandTarget | None:
        """The program that it starts, if it starts one."""
        target = self.hook.target
        return target if isinstance(target, CommandTarget) else None

    @property
    def line(self) -> ShellLine | None:
        """The line that it has a shell run, where that can be taken apart."""
        if not self._is_parsed:
            self._is_parsed = True
            self._line = None if self.command is None else parsed(self.command.argv)
        return self._line

    def where(self, part: Part = Part.WHOLE) -> Where:
        """Where that part of it stands."""
        if self.loaded.place is not None:
            return self.loaded.place(self.hook.id, part)
        source = self.hook.source
        return Where(file=source.path, label=source.label, line=source.line, column=source.column)

    def finding(
        self, level: Level, code: str, message: str, *, effect: str, remedy: str, part: Part = Part.WHOLE
    ) -> Finding:
        """A finding about that part of it."""
        return Finding(level=level, code=code, message=message, where=self.where(part), effect=effect, remedy=remedy)


Lint = Callable[[Asked], Iterator[Finding]]

LINTS: list[Lint] = []


def lint(question: Lint) -> Lint:
    """Declare a lint."""
    LINTS.append(question)
    return question

"""Every hook file read, and everything that is wrong or doubtful about it, in one go. No hook is called."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hookline._core.errors import ConfigError, UsageError
from hookline._core.hooks import HeldBack
from hookline._core.problems import Scope, Where
from hookline.dialects import DIALECTS, reading
from hookline.dialects import package as named
from hookline.dialects._base import NOT_TRUSTED, RUN_FLAG, Loaded, Package
from hookline.workbench.findings import Finding, Level, finding_of
from hookline.workbench.lints import lints
from hookline.workbench.lints.asking import Asked
from hookline.workbench.lints.programs import Programs


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFile:
    """A file that was read: whose it is, and how many hooks of it can run."""

    path: Path
    dialect: str
    hooks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was read and what was found, in the order of the files and the lines. `looked_for` are files not there."""

    files: tuple[CheckedFile, ...]
    findings: tuple[Finding, ...]
    looked_for: tuple[Path, ...] = ()

    @property
    def is_fine(self) -> bool:
        """Whether there are notes at most, and anything was read at all."""
        return bool(self.files) and all(each.level is Level.NOTE for each in self.findings)

    def of_level(self, level: Level) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.level is level)

    def as_json(self) -> dict[str, Any]:
        """As `check --format json` has it."""
        return {
            "files": [{"file": str(each.path), "dialect": each.dialect, "hooks": each.hooks} for each in self.files],
            "findings": [each.as_json() for each in self.findings],
            "looked_for": [str(path) for path in self.looked_for],
            "ok": self.is_fine,
        }


def check(
    paths: Sequence[Path] = (),
    *,
    workspace: Path | None = None,
    env: Mapping[str, str] | None = None,
    dialect: str | None = None,
) -> Checked:
    """Read the hook files at *paths*; of a folder among them, those that a session there would read of it.

    Without *paths*: those of a session in *workspace*, which is the current folder by default, the user's own and the
    managed ones among them. *dialect* reads every file, whatever its name says. Raises UsageError for a dialect that
    there is not.
    """
    environment = os.environ if env is None else env
    folder = (workspace or Path.cwd()).absolute()
    chosen = None if dialect is None else _package_called(dialect)
    found = _Files(environment, folder)
    if not paths:
        found.add_workspace(folder, only_within=False)
        found.add_findings(_across_files(environment, folder))
        return found.checked()
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112  # it raises nothing, also where a folder around it is closed to us
            found.add_workspace(path.resolve(), only_within=True)
        else:
            found.add(path, chosen)
    return found.checked()


def _package_called(name: str) -> Package:
    known = [each for each, suffixes in DIALECTS.items() if suffixes]
    if name not in known:
        raise UsageError(f"there is no dialect {name!r} whose files can be checked; there are {', '.join(known)}")
    return named(name)


def _across_files(env: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    """What is wrong between files that are each right, were the folder trusted; and what is held back as it is."""
    trust = ""
    for package in map(named, DIALECTS):
        if package.load is None:
            continue
        try:
            yield from map(finding_of, package.load(env, folder, RUN_FLAG).problems)
            loaded = package.load(env, folder, trust)
        except ConfigError as error:
            yield from map(finding_of, error.problems)
            continue
        trust = trust or loaded.trust
        yield from (_held_back(held) for held in loaded.held_back if held.count)


def _held_back(held: HeldBack) -> Finding:
    return Finding(
        level=Level.NOTE,
        code="HeldBack",
        message=f"{held.count} {'hook' if held.count == 1 else 'hooks'} held back: {held.why}",
        where=Where(file=held.path, label=held.label),
        effect="they do not run in a session",
        remedy="`hookline trust` shows and trusts what is in a folder" if held.why == NOT_TRUSTED else "",
    )


# What a file of another tool comes to: nothing of it is known, or an event is not.
UNLOADED = frozenset({Scope.SETTINGS, Scope.FILE, Scope.POINT, Scope.ABSENT})


class _Files:
    """Reads files and collects what is found, each file once."""

    def __init__(self, env: Mapping[str, str], folder: Path) -> None:
        self._env = env
        self._folder = folder
        self._files: dict[Path, CheckedFile] = {}  # by absolute path, in the order in which they were named
        self._findings: list[Finding] = []
        self._looked_for: list[Path] = []
        self._programs = Programs()

    def add_findings(self, findings: Iterator[Finding]) -> None:
        self._findings.extend(findings)

    def add_workspace(self, folder: Path, *, only_within: bool) -> None:
        """Every file that is there of those that a session in *folder* would read."""
        self._folder = folder
        for package in map(named, DIALECTS):
            for path in _files_of(package, self._env, folder, only_within=only_within):
                if os.path.lexists(path):
                    self.add(path, package)
                else:
                    self._looked_for.append(path)

    def add(self, path: Path, package: Package | None) -> None:
        """Read one file, by *package* or by the dialect that its name says."""
        key = path.absolute()
        if key in self._files:
            return
        if not os.path.lexists(path):
            self._findings.append(_no_such(path, "there is no such file", "mend the path"))
            return
        reader = package or reading(path.suffix)
        if reader is None:
            known = ", ".join(sorted(suffix for suffixes in DIALECTS.values() for suffix in suffixes))
            told = f"no dialect reads {path.suffix or 'files without a suffix'}"
            self._findings.append(_no_such(path, told, f"known are {known}; --dialect says whose a file is"))
            return
        loaded = _examined(path, reader, self._env)
        if not loaded.hooks or any(each.scope in UNLOADED for each in loaded.problems):
            from hookline.workbench.strangers import written_for_another

            self._findings.extend(written_for_another(path, reader, loaded))
        self._files[key] = CheckedFile(path=path, dialect=reader.dialect.name, hooks=len(loaded.hooks))
        self._findings.extend(map(finding_of, loaded.problems))
        for hook in loaded.hooks:
            asked = Asked(hook=hook, package=reader, loaded=loaded, folder=self._folder, programs=self._programs)
            for question in lints():
                self._findings.extend(question(asked))

    def checked(self) -> Checked:
        """All of it, each finding once, in the order of the files and then of the lines."""
        files = {str(path): place for place, path in enumerate(self._files)}

        def order(finding: Finding) -> tuple[int, int, int]:
            where = finding.where
            return files.get(str(Path(where.file).absolute()), len(files)), where.line, where.column

        found = sorted(dict.fromkeys(self._findings), key=order)
        return Checked(files=tuple(self._files.values()), findings=tuple(found), looked_for=tuple(self._looked_for))


def _files_of(package: Package, env: Mapping[str, str], folder: Path, *, only_within: bool) -> Sequence[Path]:
    """The files of a session in *folder*; only those in it, also where it is a part of what a session has."""
    if package.files is None:
        return ()
    if not only_within:
        return package.files(env, folder)
    around = (path for place in (folder, folder.parent) for path in package.files(env, place))
    return tuple(dict.fromkeys(path for path in around if folder in path.parents))


def _examined(path: Path, package: Package, env: Mapping[str, str]) -> Loaded:
    if package.examine is not None:
        return package.examine(path, env)
    from hookline._capsules import examine  # a dialect without one of its own has files that take wiring to be read

    return examine(path, env)


def _no_such(path: Path, message: str, remedy: str) -> Finding:
    problem = Where(file=str(path), label=path.name)
    return Finding(
        level=Level.ERROR,
        code="NotAHookFile",
        message=message,
        where=problem,
        effect="nothing of it was checked",
        remedy=remedy,
    )

"""Trust of project folders: what is in one, whether it is trusted, and locks on what was looked at."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hookline._core.errors import UsageError
from hookline._core.hooks import Hook
from hookline._core.problems import Problem
from hookline._engines import open_project
from hookline._locks import is_of, lock_path, read_lock, remove_lock, write_lock
from hookline.dialects import PACKAGES
from hookline.dialects._base import RUN_FLAG, TrustRecords
from hookline.dialects._files import project_root
from hookline.workbench.asked_rows import target_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """What trusting a folder would let run: its own hooks, and what of its files cannot be used."""

    root: Path
    hooks: tuple[Hook, ...]
    problems: tuple[Problem, ...]
    is_trusted: bool
    is_locked: bool

    def as_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.root),
            "trusted": self.is_trusted,
            "locked": self.is_locked,
            "hooks": [
                {"hook": each.id, "file": each.source.path, "line": each.source.line, "calls": target_text(each)}
                for each in self.hooks
            ],
            "problems": [
                {"code": each.code, "message": each.message, "where": str(each.where)} for each in self.problems
            ],
        }


def inside(folder: Path, env: Mapping[str, str]) -> Inside:
    """What is in the project that *folder* belongs to. No hook runs. Raises ConfigError for settings that stop all."""
    root = project_root(folder)
    project = open_project(root, env=env, trust=RUN_FLAG)
    held = [hook for _, loaded in project.loaded for each in loaded.held_back for hook in each.hooks]
    problems = [problem for _, loaded in project.loaded for problem in loaded.problems]
    return Inside(
        root=root,
        hooks=tuple(hook for hook in (*project.engine.hooks(), *held) if is_of(root, hook)),
        problems=tuple(each for each in problems if Path(each.where.file).is_relative_to(root)),
        is_trusted=str(root) in {folder for folder, decision in decisions(env) if decision == "trusted"},
        is_locked=read_lock(root, env) is not None,
    )


def decisions(env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Every folder about which there is a decision, and which."""
    return tuple(pair for records in _records() for pair in records.read(env)[0].items())


def problems_of_records(env: Mapping[str, str]) -> tuple[Problem, ...]:
    """What is wrong with the files of decisions."""
    found = (records.read(env)[1] for records in _records())
    return tuple(each for each in found if each is not None)


def trust(root: Path, env: Mapping[str, str]) -> None:
    """Record that the project at *root* is trusted. Raises ConfigError and StateError; nothing is lost then."""
    for records in _records():
        records.trust(env, root)


def forget(root: Path, env: Mapping[str, str]) -> bool:
    """Record nothing about *root* any more. Whether there was something."""
    known = str(root) in dict(decisions(env))
    if known:
        for records in _records():
            records.forget(env, root)
    return known


def lock(found: Inside, env: Mapping[str, str], *, scripts: bool) -> Path:
    """Hold the hooks of a project to what they are now. Raises UsageError where there are none."""
    if not found.hooks:
        raise UsageError(f"there is no hook in {found.root} to lock")
    return write_lock(found.root, found.hooks, env, scripts=scripts)


def unlock(root: Path, env: Mapping[str, str]) -> bool:
    """Whether there was a lock."""
    return remove_lock(root, env)


def _records() -> Iterator[TrustRecords]:
    found = [package.trust for package in PACKAGES if package.trust is not None]
    yield from found


__all__ = ["Inside", "decisions", "forget", "inside", "lock", "lock_path", "problems_of_records", "trust", "unlock"]

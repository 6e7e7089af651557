"""The trust file as it is written: one folder's decision changed, everything else in it as it was."""

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hookline._core.errors import ConfigError, StateError
from hookline._core.private_folders import make_private
from hookline._core.problems import Problem
from hookline._core.regular_files import replace_text
from hookline.dialects.muse.directories import config_directory
from hookline.dialects.muse.trust import FILE_NAME, TRUSTED, read_document

Projects = dict[str, dict[str, Any]]


def trust_file(env: Mapping[str, str]) -> Path | None:
    """Where the decisions are kept."""
    config = config_directory(env)
    return None if config is None else config / FILE_NAME


def read_decisions(env: Mapping[str, str]) -> tuple[Mapping[str, str], Problem | None]:
    """Each folder with its decision as it stands there, and what is wrong with the file."""
    path = trust_file(env)
    document, problem = ({"projects": {}}, None) if path is None else read_document(path)
    projects = {} if document is None else document["projects"]
    return {folder: str(entry.get("decision", "")) for folder, entry in projects.items()}, problem


def trust(env: Mapping[str, str], folder: Path) -> None:
    """Record that *folder* is trusted."""

    def trusted(projects: Projects) -> Projects:
        return {**projects, str(folder): {**projects.get(str(folder), {}), "decision": TRUSTED}}

    _change(env, trusted)


def forget(env: Mapping[str, str], folder: Path) -> None:
    """Record nothing about *folder* any more."""
    _change(env, lambda projects: {name: entry for name, entry in projects.items() if name != str(folder)})


def _change(env: Mapping[str, str], change: Callable[[Projects], Projects]) -> None:
    path = trust_file(env)
    if path is None:
        raise StateError("there is no folder for settings: set HOME or XDG_CONFIG_HOME to an absolute path")
    with alone(path):
        document, problem = read_document(path)
        if document is None:
            problems = () if problem is None else (problem,)
            raise ConfigError("".join(f"{each.where}: {each.message}" for each in problems), problems)
        told = {**document, "projects": change(document["projects"])}
        replace_text(path, json.dumps(told, indent=2, ensure_ascii=False) + "\n", mode=0o600)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody else writes the file meanwhile. The lock is a file beside it, as the file itself is replaced."""
    try:
        make_private(path.parent)
        descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StateError(f"cannot write {path}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

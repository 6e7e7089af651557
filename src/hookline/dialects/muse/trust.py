"""The stored decisions about project folders (section 2.1). A file that is not as it should be trusts nobody."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline._core.hooks import Source
from hookline._core.problems import Problem, Scope, Where
from hookline._core.strictjson import JsonFault
from hookline.dialects._files import Unreadable, project_root, read_file
from hookline.dialects._kinds import NON_NEGATIVE_INTEGER
from hookline.dialects.muse.directories import config_directory
from hookline.dialects.muse.document import USER, read_json

FILE_NAME = "trust.json"
SCHEMA_VERSION = 1
TRUSTED = "trusted"
DECISIONS = (TRUSTED, "untrusted")

STORED = "stored"  # how a folder is trusted that the file names

NOBODY: frozenset[str] = frozenset()


def is_trusted(env: Mapping[str, str], workspace: Path) -> bool:
    """Whether the user's stored decision trusts the project of *workspace*."""
    return bool(stored_trust(config_directory(env), project_root(workspace))[0])


def stored_trust(config: Path | None, root: Path) -> tuple[str, Problem | None]:
    """How the file in *config* trusts the project at *root*, empty where it does not; and what is wrong with it."""
    if config is None:
        return "", None
    folders, problem = trusted_folders(config / FILE_NAME)
    return STORED if str(root) in folders else "", problem


def trusted_folders(path: Path) -> tuple[frozenset[str], Problem | None]:
    """The folders that *path* records as trusted, by absolute path, and what is wrong with the file."""
    document, problem = read_document(path)
    if document is None:
        return NOBODY, problem
    projects = document["projects"]
    trusted = (folder for folder, entry in projects.items() if entry.get("decision") == TRUSTED)
    odd = next((folder for folder, entry in projects.items() if entry.get("decision") not in DECISIONS), None)
    problem = None if odd is None else _unknown(path, odd, projects[odd].get("decision"))
    return frozenset(map(os.path.normpath, trusted)), problem


def read_document(path: Path) -> tuple[dict[str, Any] | None, Problem | None]:
    """All of the file, with its `projects`; None, with the problem, for one that is damaged. An empty one for none."""
    data = read_file(path)
    if data is None:
        return {"schema_version": SCHEMA_VERSION, "projects": {}}, None
    if isinstance(data, Unreadable):
        return None, _damaged(path, data.why)
    try:
        value = read_json(data, Source(layer=USER, label=FILE_NAME, path=str(path))).value
    except JsonFault as fault:
        return None, _damaged(path, fault.message, line=fault.line, column=fault.column)
    projects = _projects(value)
    if projects is None:
        return None, _damaged(path, f"not a trust file of schema version {SCHEMA_VERSION}")
    return {**value, "projects": projects}, None


def _projects(value: Any) -> dict[str, dict[str, Any]] | None:
    if not isinstance(value, dict) or not NON_NEGATIVE_INTEGER.accepts(value.get("schema_version")):
        return None
    projects = value.get("projects", {})
    whole = isinstance(projects, dict) and all(isinstance(entry, dict) for entry in projects.values())
    return projects if whole and value["schema_version"] == SCHEMA_VERSION else None


def _unknown(path: Path, folder: str, decision: object) -> Problem:
    message = f"the decision about {folder} trusts nobody: it has to be `trusted` or `untrusted`, found {decision!r}"
    return _note(path, "UnknownDecision", message)


def _damaged(path: Path, why: str, *, line: int = 0, column: int = 0) -> Problem:
    message = f"no folder is trusted by this file: {why}; repair it, or remove it and trust the folder again"
    return _note(path, "DamagedTrustFile", message, line=line, column=column)


def _note(path: Path, code: str, message: str, *, line: int = 0, column: int = 0) -> Problem:
    where = Where(file=str(path), label=FILE_NAME, line=line, column=column)
    return Problem(scope=Scope.NOTE, code=code, message=message, where=where)

"""Locks: a project's hooks held to the exact definitions, and scripts, that somebody looked at.

A lock is a file of hookline's own state: nothing inside a project can write or widen it.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hookline._core.definitions import definition_digest, scripts_of
from hookline._core.errors import StateError
from hookline._core.hooks import HeldBack, Hook
from hookline._core.private_folders import make_private
from hookline._core.regular_files import read_regular, replace_text
from hookline.dialects._base import Loaded
from hookline.journal.places import state_folder

VERSION = 1
FOLDER = "locks"  # within the state folder
LARGEST = 16 * 1024 * 1024  # bytes of a lock, and of a script

CHANGED = "changed since it was locked"
UNKNOWN = "it is not in the lock"
DAMAGED = "the lock of this folder cannot be read: {why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """What was looked at: by the digest of each definition the scripts that it names, with theirs.

    `ids` are the hooks' ids, for telling a changed one from a new one. `damage` says why nothing of it can be read.
    """

    root: Path
    definitions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ids: frozenset[str] = frozenset()
    damage: str = ""


def lock_path(root: Path, env: Mapping[str, str]) -> Path:
    """Where the lock of the project at *root* is kept."""
    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:32]
    return state_folder(env) / FOLDER / f"{name}.json"


def write_lock(root: Path, hooks: Sequence[Hook], env: Mapping[str, str], *, scripts: bool) -> Path:
    """Lock *hooks*, those of the project at *root*, as they are now. Raises StateError."""
    definitions = {
        definition_digest(hook): {str(path): _digest(path) for path in scripts_of(hook, root)} if scripts else {}
        for hook in hooks
    }
    told = {"v": VERSION, "root": str(root), "ids": [hook.id for hook in hooks], "definitions": definitions}
    path = lock_path(root, env)
    try:
        make_private(path.parent)
    except OSError as error:
        raise StateError(f"cannot make {path.parent}: {error.strerror}") from error
    replace_text(path, json.dumps(told, indent=1) + "\n", mode=0o600)
    return path


def remove_lock(root: Path, env: Mapping[str, str]) -> bool:
    """Whether there was one."""
    path = lock_path(root, env)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StateError(f"cannot remove {path}: {error.strerror}") from error
    return True


def read_lock(root: Path, env: Mapping[str, str]) -> Lock | None:
    """The lock of the project at *root*, None where it has none. One that cannot be read locks everything out."""
    try:
        path = lock_path(root, env)
        data, _ = read_regular(path, LARGEST)
    except (FileNotFoundError, NotADirectoryError, StateError):
        return None
    except (OSError, ValueError) as error:
        return Lock(root=root, damage=str(error))
    try:
        return _lock(json.loads(data), root)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        return Lock(root=root, damage=f"{type(error).__name__}: {error}")


def _lock(told: Any, root: Path) -> Lock:
    if told["v"] != VERSION:
        raise ValueError(f"it is of version {told['v']!r}, and this program reads {VERSION}")
    definitions = {
        str(name): {str(each): str(digest) for each, digest in scripts.items()}
        for name, scripts in told["definitions"].items()
    }
    return Lock(root=root, definitions=definitions, ids=frozenset(map(str, told["ids"])))


def held_to(lock: Lock, loaded: Loaded) -> Loaded:
    """What was *loaded*, without the hooks of the lock's project that are not as they were locked."""
    kept: list[Hook] = []
    out: dict[tuple[str, str, str], list[Hook]] = {}
    for hook in loaded.hooks:
        why = _objection(hook, lock)
        if why:
            out.setdefault((hook.source.label, hook.source.path, why), []).append(hook)
        else:
            kept.append(hook)
    held = tuple(
        HeldBack(label=label, path=path, count=len(hooks), why=why, hooks=tuple(hooks))
        for (label, path, why), hooks in out.items()
    )
    return replace(loaded, hooks=tuple(kept), held_back=(*loaded.held_back, *held)) if held else loaded


def is_of(root: Path, hook: Hook) -> bool:
    """Whether *hook* was declared within the project at *root*."""
    return bool(hook.source.path) and Path(os.path.realpath(hook.source.path)).is_relative_to(root)


def _objection(hook: Hook, lock: Lock) -> str:
    """Why *hook* must not run, or nothing."""
    if not is_of(lock.root, hook):
        return ""
    if lock.damage:
        return DAMAGED.format(why=lock.damage)
    scripts = lock.definitions.get(definition_digest(hook))
    if scripts is None:
        return f"its definition {CHANGED}" if hook.id in lock.ids else UNKNOWN
    changed = next(_changed(scripts), None)
    return "" if changed is None else f"{changed.name} {CHANGED}"


def _changed(scripts: Mapping[str, str]) -> Iterator[Path]:
    for name, digest in scripts.items():
        if _digest(Path(name)) != digest:
            yield Path(name)


def _digest(path: Path) -> str:
    """Of the bytes of a file; nothing for one that cannot be read."""
    try:
        data, _ = read_regular(path, LARGEST)
    except (OSError, ValueError):
        return ""
    return hashlib.sha256(data).hexdigest()

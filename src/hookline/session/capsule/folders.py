"""The folders that a hook is granted: made where they are missing, and never by way of a link."""

import os
from collections.abc import Mapping
from pathlib import Path

from hookline._core.capsule import Artifact
from hookline._core.components import Folder
from hookline._core.errors import UsageError

SCOPE, STATE = ".", "state"  # what a hook calls them
PRIVATE = 0o700


def folders_of(artifact: Artifact, root: Path, env: Mapping[str, str]) -> tuple[Folder, ...]:
    """What *artifact* sees: its scope below *root*, and its durable store. Raises UsageError where one cannot be."""
    found: list[Folder] = []
    if artifact.grant.scope is not None:
        found.append(Folder(guest=SCOPE, path=_scope(artifact, root, artifact.grant.scope)))
    if artifact.grant.state is not None:
        found.append(Folder(guest=STATE, path=_state(artifact, artifact.grant.state, env)))
    return tuple(found)


def _scope(artifact: Artifact, root: Path, scope: str) -> Path:
    place = f"{artifact.where}: the scope {scope!r} of {artifact.name}"
    folder = Path(os.path.normpath(root / scope))
    _make(folder, place, mode=0o777)
    if not folder.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{place} leads out of the working directory through a link: name a folder inside of it")
    return folder


def _state(artifact: Artifact, store: str, env: Mapping[str, str]) -> Path:
    place = f"{artifact.where}: the state store {store!r} of {artifact.name}"
    home = env.get("HOME", "")
    if not home.startswith("/"):
        raise UsageError(f"{place} lies in a home folder, and HOME names none")
    folder = Path(home) / ".murmur" / "state" / store
    _make(folder, place, mode=PRIVATE)
    return folder


def _make(folder: Path, place: str, *, mode: int) -> None:
    try:
        missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
        for each in reversed(missing):
            each.mkdir(mode=mode)
    except OSError as error:
        raise UsageError(f"{place} cannot be made: {error.strerror}") from error
    if folder.is_symlink() or not folder.is_dir():
        raise UsageError(f"{place} is there already, and is no folder")

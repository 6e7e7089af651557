"""The store's own files: JSON with a version, read whole or not at all, and replaced in one step (section 20.5)."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hookline._core.errors import StateError
from hookline._core.hooks import Source
from hookline._core.problems import Where
from hookline._core.regular_files import read_regular, replace_text
from hookline._core.strictjson import JsonFault, decode, parse
from hookline.dialects._kinds import OBJECT, Kind, found
from hookline.dialects._places import path_text
from hookline.dialects.muse.document import Document
from hookline.dialects.muse.plugins.errors import Fault, PluginError

LARGEST = 16 * 1024 * 1024  # bytes
DEEPEST = 100
VERSION = 1


class Damaged(Exception):  # a value for whoever reads: told with the file's name as PluginError
    """A table that is not as it should be, at a path within it."""

    def __init__(self, at: tuple[str | int, ...], why: str) -> None:
        super().__init__(why)
        self.at = at
        self.why = why


def read_table(path: Path, empty: dict[str, Any], check: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """All of the table at *path*, which *check* accepts; *empty* where there is no file.

    Raises PluginError, with the place, for anything else. A table of a newer version is left to the newer program.
    """
    try:
        data, _ = read_regular(path, LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        return {"version": VERSION, **empty}
    except OSError as error:
        raise PluginError(Fault.STORE_READ_FAILED, f"cannot read {path}: {error.strerror}") from error
    try:
        document = Document(
            Source(layer="plugin", label=path.name, path=str(path)),
            parse(data, max_bytes=LARGEST, max_depth=DEEPEST),
            decode(data),
        )
    except JsonFault as fault:
        where = Where(file=str(path), label=path.name, line=fault.line, column=fault.column)
        raise _damaged(where, fault.message) from None
    try:
        _check_version(document.value)
        check(document.value)
    except Damaged as damage:
        where, named = document.where(damage.at), path_text(damage.at)
        why = f"`{named}`: {damage.why}" if named else damage.why
        raise _damaged(where, why) from None
    return {**empty, **document.value}


def _check_version(value: Any) -> None:
    expect(value, (), OBJECT)
    version = value.get("version")
    if version != VERSION or version is True:
        told = f"version {version}" if isinstance(version, int) else "no version that can be read"
        raise Damaged(("version",), f"it has {told}, and this program reads version {VERSION}")


def _damaged(where: Where, why: str) -> PluginError:
    message = f"{why}; repair the file, or move it away to begin with an empty one"
    return PluginError(Fault.STORE_FORMAT_INVALID, message, where=where)


def expect(value: Any, at: tuple[str | int, ...], kind: Kind) -> None:
    """Raise Damaged unless *value* is of *kind*."""
    if not kind.accepts(value):
        raise Damaged(at, f"it has to be {kind.noun}, found {found(value)}")


def write_table(path: Path, value: dict[str, Any]) -> None:
    """Have *value* stand at *path*, whole or not at all. Raises PluginError."""
    try:
        replace_text(path, _text(value), mode=0o600)
        sync_folder(path.parent)
    except (StateError, OSError) as error:
        raise PluginError(Fault.STORE_WRITE_FAILED, str(error)) from error


def _text(value: dict[str, Any]) -> str:
    """A line for each thing that a table is of, so that people can read it and programs read it quickly."""
    lines = []
    for name, inner in value.items():
        if isinstance(inner, dict):
            rows = ",\n".join(
                f"    {json.dumps(key)}: {json.dumps(row, ensure_ascii=False)}" for key, row in inner.items()
            )
            told = f"{{\n{rows}\n  }}" if rows else "{}"
        else:
            told = json.dumps(inner, ensure_ascii=False)
        lines.append(f"  {json.dumps(name)}: {told}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def sync_folder(folder: Path) -> None:
    """Have what was renamed in *folder* outlast a power failure."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

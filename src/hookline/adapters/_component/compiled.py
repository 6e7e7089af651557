"""Compiled components, kept in a folder that is ours alone: they are native code, so nobody else may supply one.

A file is a checksum and then what wasmtime serialized, and is named by what it was made from. What is damaged, or was
made on another machine, is made anew.
"""

import contextlib
import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from wasmtime import Engine, WasmtimeError
from wasmtime.component import Component

from hookline._core.private_folders import make_private
from hookline._core.regular_files import read_regular
from hookline.adapters._component.broken import unusable
from hookline.adapters._component.engine import configuration, new_engine, said

LARGEST = 1024 * 1024 * 1024  # more than the largest component comes to
DIGEST = sha256().digest_size
PRIVATE = 0o700


@dataclass(frozen=True, slots=True)
class Loaded:
    """A component, ready to be instantiated, the engine it belongs to, and its key among the compiled ones."""

    engine: Engine
    component: Component
    key: str


def key_of(data: bytes) -> str:
    """What the compiled form of *data* is kept under."""
    return sha256(configuration().encode() + b"\0" + data).hexdigest()


def load(data: bytes, folder: Path) -> Loaded:
    """Compile *data*, unless that was done before. Raises Broken. May take seconds, in which others can run."""
    key = key_of(data)
    check_folder(folder)
    if (loaded := fetch(key, folder)) is not None:
        return loaded
    engine = new_engine()
    try:
        component = Component(engine, data)
    except WasmtimeError as error:
        raise unusable(f"not a component that can be compiled: {said(error)}") from None
    with contextlib.suppress(OSError):  # as on a full disk: it is compiled again next time
        _keep(key, bytes(component.serialize()), folder)
    return Loaded(engine, component, key)


def fetch(key: str, folder: Path) -> Loaded | None:
    """What was compiled before; None if it was not, or not so that it can be trusted."""
    try:
        kept, _ = read_regular(_path(key, folder), LARGEST)
    except (OSError, ValueError):
        return None
    content = kept[DIGEST:]
    if kept[:DIGEST] != _checksum(key, content):
        return None
    engine = new_engine()
    try:
        return Loaded(engine, Component.deserialize(engine, content), key)
    except WasmtimeError:  # made for another processor, say
        return None


def check_folder(folder: Path) -> None:
    """Have *folder*, and make sure that nobody else can put anything there. Raises Broken."""
    try:
        make_private(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(PRIVATE)
        state = folder.lstat()
    except OSError as error:
        raise unusable(f"folder of compiled components {folder}: {error.strerror or error}") from None
    if not stat.S_ISDIR(state.st_mode):
        raise unusable(f"folder of compiled components {folder}: not a folder")
    if state.st_uid != os.geteuid() or stat.S_IMODE(state.st_mode) & 0o077:
        raise unusable(f"folder of compiled components {folder}: must be ours alone, with mode 0700")


def _path(key: str, folder: Path) -> Path:
    return folder / f"{key}.cwasm"


def _checksum(key: str, content: bytes) -> bytes:
    return sha256(key.encode() + content).digest()


def _keep(key: str, content: bytes, folder: Path) -> None:
    """Whole or not at all, whoever else does the same."""
    import tempfile  # 3 ms, which a worker need not spend

    fd, name = tempfile.mkstemp(dir=folder, prefix=f"{key[:16]}.")  # with mode 0600
    try:
        with open(fd, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(_checksum(key, content))
            file.write(content)
        Path(name).replace(_path(key, folder))
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

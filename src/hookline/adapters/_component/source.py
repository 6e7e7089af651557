"""Reading the file of a component, before anything understands it."""

import os
import stat
from pathlib import Path

from hookline.adapters._component.broken import unusable

LARGEST = 64 * 1024 * 1024  # an interpreter with its whole library takes some 20 MiB; compiling is not bounded else
MAGIC = b"\0asm"
CORE_MODULE = b"\x01\0\0\0"


def read_component(path: Path) -> bytes:
    """The bytes of the file, which begin as WebAssembly does. Raises Broken."""
    try:
        data = read_regular(path, LARGEST)
    except OSError as error:
        raise unusable(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise unusable(f"{path}: {error}") from None
    if not data:
        raise unusable(f"{path}: the file is empty")
    if not data.startswith(MAGIC):
        raise unusable(f"{path}: not WebAssembly")
    if data[4:8] == CORE_MODULE:
        raise unusable(f"{path}: a core module, not a component")
    return data


def read_regular(path: Path, largest: int) -> bytes:
    """All of a regular file, without ever waiting for a writer. Raises OSError, and ValueError for what is none."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError("not a regular file")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(largest + 1)
    finally:
        os.close(fd)
    if len(data) > largest:
        raise ValueError(f"larger than {largest} bytes")
    return data

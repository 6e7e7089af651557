"""Reading the file of a component, before anything understands it."""

from pathlib import Path

from hookline._core.regular_files import NotRegular, read_regular
from hookline.adapters._component.broken import unusable

LARGEST = 64 * 1024 * 1024  # an interpreter with its whole library takes some 20 MiB; compiling is not bounded else
MAGIC = b"\0asm"
CORE_MODULE = b"\x01\0\0\0"


def read_component(path: Path) -> bytes:
    """The bytes of the file, which begin as WebAssembly does. Raises Broken."""
    try:
        data, _ = read_regular(path, LARGEST)
    except NotRegular:
        raise unusable(f"{path}: not a regular file") from None
    except OSError as error:
        raise unusable(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise unusable(f"{path}: {error}") from None
    if len(data) > LARGEST:
        raise unusable(f"{path}: larger than {LARGEST} bytes")
    if not data:
        raise unusable(f"{path}: the file is empty")
    if not data.startswith(MAGIC):
        raise unusable(f"{path}: not WebAssembly")
    if data[4:8] == CORE_MODULE:
        raise unusable(f"{path}: a core module, not a component")
    return data

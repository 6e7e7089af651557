"""Files as the tools see them: where a path leads, whole texts in, whole texts out."""

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hookline._core.errors import ToolError

MAX_BYTES = 8 * 1024 * 1024  # past this a text is not worked on as a whole

KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a symbolic link that leads in a circle",
}


def locate(path: str, workspace: Path) -> Path:
    """Where *path* leads to from the workspace, all symbolic links followed. It need not exist."""
    try:
        return Path(os.path.realpath(workspace / path))
    except (OSError, ValueError) as error:
        raise ToolError(f"`{path}` is no path: {error}") from None


def is_inside(path: Path, workspace: Path) -> bool:
    """Whether *path*, as `locate` gives it, is the workspace or lies in it."""
    return path.is_relative_to(os.path.realpath(workspace))


def shown(path: Path, workspace: Path) -> str:
    """*path* as it is called in results: from the workspace where it lies in it."""
    root = os.path.realpath(workspace)
    return text_of(path.relative_to(root) if path.is_relative_to(root) else path)


def text_of(path: Path) -> str:
    """*path* as text, which a file's name need not be."""
    return os.fsencode(path).decode(errors="replace")


def read_bytes(path: Path, *, limit: int) -> bytes:
    """The content of a regular file of at most *limit* bytes."""
    with told(path), open(path, "rb", opener=_opened_without_waiting) as file:
        _require_file(path, os.fstat(file.fileno()).st_mode)
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ToolError(f"{path} holds more than {limit} bytes")
    return data


def read_text(path: Path) -> str:
    """The text of a file, each character as it stands there, line ends included."""
    data = read_bytes(path, limit=MAX_BYTES)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ToolError(f"{path} is not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}") from None
    if "\0" in text:
        raise ToolError(f"{path} is not text: it holds a NUL character at offset {data.index(0)}")
    return text


def replace_text(path: Path, text: str) -> bool:
    """Make *text* the content of the file, all at once, and say whether the file is new. Its mode stays."""
    data = text.encode()
    if len(data) > MAX_BYTES:
        raise ToolError(f"the text for {path} has {len(data)} bytes; at most {MAX_BYTES} are written at once")
    with told(path):
        mode = _mode_of(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".hookline-{uuid.uuid4().hex}")
        try:
            with temporary.open("xb") as file:
                file.write(data)
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    return mode is None


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what the system says into a ToolError that names the file."""
    try:
        yield
    except FileNotFoundError:
        raise ToolError(f"{path} does not exist") from None
    except IsADirectoryError:
        raise ToolError(f"{path} is a directory, not a file") from None
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror or error}") from None


def _opened_without_waiting(name: str, flags: int) -> int:
    """Open for reading, waiting for no pipe and following no link that was put there since."""
    return os.open(name, flags | os.O_NONBLOCK | os.O_NOFOLLOW)


def _mode_of(path: Path) -> int | None:
    """The permissions of the file that is to be replaced; None where there is none."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    _require_file(path, mode)
    if not os.access(path, os.W_OK):
        raise ToolError(f"{path} is write-protected")
    return stat.S_IMODE(mode)


def _require_file(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise ToolError(f"{path} is {KINDS.get(stat.S_IFMT(mode), 'something else')}, not a file")

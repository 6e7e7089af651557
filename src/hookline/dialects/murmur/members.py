"""The files of a package, whether it is a folder or an archive: bounded, plain, and never outside of it.

Nothing here writes anything but `install`, and that into a folder of its caller's.
"""

import errno
import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hookline._core.regular_files import NO_LINK, NotRegular, read_regular

MAX_MEMBERS = 1000
MAX_MEMBER = 64 * 1024 * 1024  # bytes; a component with a whole language runtime in it has about 40
MAX_TOTAL = 2 * MAX_MEMBER  # bytes of all files of a package
MAX_ARCHIVE = MAX_TOTAL
LONGEST_NAME = 1000  # characters of a path in a package

_LISTED = b"PK\x01\x02"  # what each member begins with in the list of an archive


class PackageFault(ValueError):
    """Why the files of a package cannot be had. The text names the one at fault."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a package."""

    data: bytes
    is_executable: bool = False


class Members(Protocol):
    """The files of one package. All of it raises PackageFault, and nothing else, for whatever is wrong."""

    def roots(self) -> tuple[str, ...]:
        """The names of what lies at the root and is no folder."""
        ...

    def names(self) -> tuple[str, ...]:
        """The paths of all files, with `/` between their parts."""
        ...

    def read(self, name: str) -> Member: ...


class Folder:
    """The files of a package that is a folder. The folder itself may be a link; nothing in it may."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = MAX_TOTAL

    def roots(self) -> tuple[str, ...]:
        with _told(str(self._path)), os.scandir(self._path) as entries:
            return tuple(sorted(each.name for each in entries if not each.is_dir(follow_symlinks=False)))

    def names(self) -> tuple[str, ...]:
        return _plain(self._walk(self._path, ""))

    def _walk(self, folder: Path, before: str) -> Iterator[str]:
        with _told(str(folder)), os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda each: each.name)
        for each in listed:
            name = before + each.name
            if each.is_dir(follow_symlinks=False):
                if len(name) > LONGEST_NAME:
                    raise PackageFault("folders are nested too deep")
                yield from self._walk(folder / each.name, f"{name}/")
            else:
                yield name

    def read(self, name: str) -> Member:
        with _told(name):
            try:
                data, mode = read_regular(self._path / name, min(MAX_MEMBER, self._left), flags=NO_LINK)
            except NotRegular:
                raise PackageFault(f"`{name}` is not a regular file") from None
        self._left = _left(self._left, name, len(data))
        return Member(data, bool(mode & stat.S_IXUSR))


class Archive:
    """The files of a package that is a zip archive. Its list is checked as a whole, each file when it is read."""

    def __init__(self, path: Path) -> None:
        self._left = MAX_TOTAL
        with _told(path.name):
            data = _whole(path)
            if data.count(_LISTED) > 2 * MAX_MEMBERS:  # a compressed file may hold the same four bytes by chance
                raise PackageFault(f"it has more than {MAX_MEMBERS} files")
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            files = [each for each in self._archive.infolist() if not _is_folder(each)]
        names = _plain(each.orig_filename for each in files)
        self._infos = dict(zip(names, files, strict=True))

    def roots(self) -> tuple[str, ...]:
        return tuple(sorted(name for name in self._infos if "/" not in name))

    def names(self) -> tuple[str, ...]:
        return tuple(self._infos)

    def read(self, name: str) -> Member:
        info = self._infos.get(name)
        if info is None:
            raise PackageFault(f"it has no `{name}`")
        if info.flag_bits & 0x1:
            raise PackageFault(f"`{name}` is encrypted")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise PackageFault(f"`{name}` is not compressed by deflate, as it has to be")
        left = _left(self._left, name, info.file_size)  # as it says, before anything is unpacked
        with _told(name), self._archive.open(info) as file:
            data = file.read(info.file_size + 1)
        if len(data) != info.file_size:
            raise PackageFault(f"`{name}` is damaged: it has not the size that the archive says")
        self._left = left
        return Member(data, bool(info.external_attr >> 16 & stat.S_IXUSR))


def _whole(path: Path) -> bytes:
    try:
        data, _ = read_regular(path, MAX_ARCHIVE)
    except NotRegular:
        raise PackageFault("it is not a regular file") from None
    if len(data) > MAX_ARCHIVE:
        raise PackageFault(f"it has more than {MAX_ARCHIVE} bytes")
    return data


def _is_folder(info: zipfile.ZipInfo) -> bool:
    """Whether a member is a folder; one that is neither that nor a file is refused."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = "a link" if kind == stat.S_IFLNK else "not a regular file"
        raise PackageFault(f"`{info.filename}` is {what}")
    return info.orig_filename.endswith("/")


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Tells what the system or the archive says as a fault of *name*."""
    try:
        yield
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise PackageFault(f"`{name}` cannot be read: {why}") from None
    except zlib.error as error:
        raise PackageFault(f"`{name}` is damaged: {error}") from None
    except PackageFault:
        raise
    # What zipfile raises for archives that are none: it has no one class for them.
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, EOFError, LookupError) as error:
        raise PackageFault(f"`{name}` is no archive that can be read: {error}") from None


def _left(left: int, name: str, size: int) -> int:
    """What is left of the bytes of a package after a file of this size."""
    if size > MAX_MEMBER:
        raise PackageFault(f"`{name}` has more than {MAX_MEMBER} bytes")
    if size > left:
        raise PackageFault(f"its files have more than {MAX_TOTAL} bytes")
    return left - size


def _plain(names: Iterable[str]) -> tuple[str, ...]:
    """*names*, if each is a path within the package and no two could be one file."""
    taken: dict[str, str] = {}
    folders: set[str] = set()
    for name in names:
        if len(taken) == MAX_MEMBERS:
            raise PackageFault(f"it has more than {MAX_MEMBERS} files")
        if not _is_plain(name):
            raise PackageFault(f"`{ascii(name)[1:-1][:80]}` is not a plain path within the package")
        folded = name.casefold()
        if folded in taken:
            raise PackageFault(f"`{taken[folded]}` and `{name}` are one file")
        taken[folded] = name
        parts = folded.split("/")
        folders.update("/".join(parts[:end]) for end in range(1, len(parts)))
    for folded in taken.keys() & folders:
        raise PackageFault(f"`{taken[folded]}` is both a file and a folder")
    return tuple(taken.values())


def _is_plain(name: str) -> bool:
    parts = name.split("/")
    return (
        len(name) <= LONGEST_NAME
        and name.isprintable()  # so no NUL, no line end, no half of a character
        and not set(name) & set("\\:")
        and all(part.strip(" .") for part in parts)  # neither empty nor `.` nor `..`, nor what some systems take for it
    )


def install(members: Mapping[str, Member], folder: Path) -> None:
    """Write *members* into *folder*, which is made and must not be there yet. Raises OSError."""
    folder.mkdir(parents=True)
    for name, member in members.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(member.data)
        path.chmod(0o755 if member.is_executable else 0o644)

"""A folder of files that is looked at as a whole: every file read once, hashed, and known by one digest.

Reading goes by descriptors, folder by folder, and follows no link: what is hashed is what lies in this folder. Whoever
runs something of it runs a copy, of which each byte went through the digest.
"""

import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from hookline._core.regular_files import NO_LINK

ROOT = "."  # how faults name the folder itself
NOT_READ = frozenset({".git"})  # at the top of a folder: what a version control keeps there is no part of a package

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | NO_LINK
_FILE = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | NO_LINK
_CHUNK = 1 << 20

FOLDER_MODE, FILE_MODE, PROGRAM_MODE = 0o555, 0o444, 0o555  # of a copy: nobody is meant to write to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a folder may hold. `depth` counts the folders around a file, `entries` files and folders."""

    entries: int = 4096
    depth: int = 16
    file_bytes: int = 64 * 1024 * 1024
    all_bytes: int = 256 * 1024 * 1024


class PackageFault(Exception):
    """Why a folder is not taken: `path` is what is wrong within it, `why` what is wrong, `write` what to do.

    `changed`: it was not the same from the first look to the last.
    """

    def __init__(self, path: str, why: str, write: str = "", *, changed: bool = False) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why
        self.write = write
        self.changed = changed


@dataclass(frozen=True, slots=True)
class PackageFile:
    """One file: its path within the folder, with `/`; whether it may be executed; SHA-256 of its bytes, in hex."""

    path: str
    executable: bool
    sha256: str


@dataclass(frozen=True, kw_only=True)
class PackageFiles:
    """What a folder held when it was read, sorted by path. `kept` are the bytes that were asked for."""

    root: Path
    files: tuple[PackageFile, ...]
    kept: dict[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def digest(self) -> str:
        """SHA-256 over a line for each file: path, NUL, `1` where it is executable or `0`, NUL, its digest."""
        return digest_of(self.files)

    @cached_property
    def _digests(self) -> dict[str, str]:
        return {each.path: each.sha256 for each in self.files}

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(str(folder) for path in self._digests for folder in PurePosixPath(path).parents)

    def has(self, path: str) -> bool:
        return path in self._digests

    def has_folder(self, path: str) -> bool:
        """Whether there is a folder at *path* with anything in it."""
        return path in self._folders

    def read(self, path: str) -> bytes:
        """The bytes of one file, which are those that were hashed. Raises PackageFault, and KeyError for no file."""
        if path in self.kept:
            return self.kept[path]
        digest = self._digests[path]
        data = _bytes_at(self.root, path)
        if hashlib.sha256(data).hexdigest() != digest:
            raise PackageFault(path, "it changed while the package was read", TRY_AGAIN, changed=True)
        return data


TRY_AGAIN = "leave the folder alone while it is read, and try again"
A_LINK = "a link, and a package has none"
NO_LINKS = "put the file itself there"


def digest_of(files: tuple[PackageFile, ...]) -> str:
    """As `PackageFiles.digest`."""
    lines = (f"{each.path}\0{int(each.executable)}\0{each.sha256}\n" for each in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def read_package(root: Path, limits: Limits, *, keep: Callable[[str], bool] = lambda _: False) -> PackageFiles:
    """Read all of the folder at *root* and keep the bytes of those files that *keep* asks for. Raises PackageFault."""
    return _read(root, limits, keep, None)


def copy_package(
    root: Path, to: Path, limits: Limits, *, keep: Callable[[str], bool] = lambda _: False, lasting: bool = True
) -> PackageFiles:
    """Copy the folder at *root* to *to*, a folder that is not there, as `read_package` reads it.

    Every file is read once: the bytes that are hashed are those that are written. Raises PackageFault, also for a
    folder that is not the same afterwards, and OSError for what cannot be written. *lasting*: it has to be on the disk
    before it counts. The copy itself is still open for whoever moves it; what is in it is closed for writing.
    """
    if os.path.realpath(to).startswith(f"{os.path.realpath(root)}/"):
        raise PackageFault(ROOT, "the folder that it is copied to lies within it", "choose a folder further down")
    to.mkdir(mode=0o700)
    found = _read(root, limits, keep, _Sink(to, lasting=lasting))
    _settle(to)
    return found


@dataclass(frozen=True, slots=True)
class _Sink:
    """Where the bytes go that are read."""

    root: Path
    lasting: bool = field(kw_only=True)

    def file(self, path: str, data: bytes, mode: int) -> None:
        """Write a file. Folders are made for files: one without any is no part of a package, as no digest knows it."""
        (self.root / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.root / path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | NO_LINK, mode)
        try:
            written = 0
            while written < len(data):
                written += os.write(descriptor, memoryview(data)[written:])
            os.fchmod(descriptor, mode)  # whatever the umask took away
            if self.lasting:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read(root: Path, limits: Limits, keep: Callable[[str], bool], to: _Sink | None) -> PackageFiles:
    try:
        top = os.open(root, _FOLDER)
    except (OSError, ValueError) as error:
        raise PackageFault(ROOT, _no_folder(root, error)) from error
    try:
        reader = _Reader(limits=limits, keep=keep, to=to)
        reader.folder(top, "", 0)
        if to is not None:
            _unchanged(top, reader.seen)
    finally:
        os.close(top)
    reader.files.sort(key=lambda each: each.path)
    return PackageFiles(root=root, files=tuple(reader.files), kept=reader.kept)


def _no_folder(root: Path, error: Exception) -> str:
    with suppress(OSError):  # of a folder around it
        if root.is_symlink():
            return "a link stands where the folder should be"
    if isinstance(error, OSError) and not isinstance(error, NotADirectoryError):
        return f"the folder cannot be read: {error.strerror}"
    return "it is not a folder"


Seen = tuple[int, int, int, int, int]  # what of a file's status changes with it


def _seen(status: os.stat_result) -> Seen:
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@dataclass(slots=True, kw_only=True)
class _Reader:
    limits: Limits
    keep: Callable[[str], bool]
    to: _Sink | None
    files: list[PackageFile] = field(default_factory=list)
    kept: dict[str, bytes] = field(default_factory=dict)
    seen: dict[str, Seen] = field(default_factory=dict)
    entries: int = 0
    size: int = 0

    def folder(self, descriptor: int, path: str, depth: int) -> None:
        """Everything below the open folder at *path*, which is empty for the top and else ends in `/`."""
        if self.to is not None:
            self.seen[path] = _seen(os.fstat(descriptor))
        folders: list[str] = []
        names: dict[str, str] = {}
        for name, is_folder, is_link in _entries(descriptor, path):
            here = path + name
            if here in NOT_READ:
                continue
            self._check(name, here, is_link=is_link)
            alike = names.setdefault(_folded(name), name)
            if alike != name:
                told = f"`{alike}` and `{name}` are one name where upper and lower case, or accents, do not count"
                raise PackageFault(here, told, "rename one of the two")
            if is_folder:
                folders.append(name)
            else:
                self._file(descriptor, name, here)
        for name in folders:
            self._below(descriptor, name, f"{path}{name}/", depth + 1)

    def _below(self, above: int, name: str, path: str, depth: int) -> None:
        if depth > self.limits.depth:
            raise PackageFault(path, f"more than {self.limits.depth} folders deep", "move it up")
        descriptor = _open(above, name, path, _FOLDER)
        try:
            self.folder(descriptor, path, depth)
        finally:
            os.close(descriptor)

    def _check(self, name: str, path: str, *, is_link: bool) -> None:
        self.entries += 1
        if self.entries > self.limits.entries:
            raise PackageFault(path, f"more than {self.limits.entries} files and folders", "leave some out")
        if is_link:
            raise PackageFault(path, A_LINK, NO_LINKS)
        if "\\" in name or not name.isprintable():
            _check_name(name, path)

    def _file(self, folder: int, name: str, path: str) -> None:
        descriptor = _open(folder, name, path, _FILE)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise PackageFault(path, "neither a file nor a folder", "remove it")
            if status.st_size > self.limits.file_bytes:
                raise PackageFault(path, f"larger than {self.limits.file_bytes} bytes", "leave it out")
            data = _all_of(descriptor, status.st_size, self.limits.file_bytes, path)
            self.size += len(data)
            if self.size > self.limits.all_bytes:
                raise PackageFault(path, f"all files are more than {self.limits.all_bytes} bytes", "leave some out")
        finally:
            os.close(descriptor)
        executable = bool(status.st_mode & 0o111)
        self.files.append(PackageFile(path, executable, hashlib.sha256(data).hexdigest()))
        if self.keep(path):
            self.kept[path] = data
        if self.to is not None:
            self.seen[path] = _seen(status)
            self.to.file(path, data, PROGRAM_MODE if executable else FILE_MODE)


def _entries(descriptor: int, path: str) -> list[tuple[str, bool, bool]]:
    """Each name in an open folder, whether a folder stands there, and whether a link does."""
    try:
        with os.scandir(descriptor) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink()) for entry in entries]
    except OSError as error:
        raise PackageFault(path or ROOT, f"the folder cannot be read: {error.strerror}") from error


def _open(folder: int, name: str, path: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if stat.S_ISLNK(_mode(folder, name)):
            raise PackageFault(path, A_LINK, NO_LINKS) from error
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            raise PackageFault(path, "it changed while the package was read", TRY_AGAIN, changed=True) from error
        raise PackageFault(path, f"it cannot be read: {error.strerror}", "make it readable") from error


def _mode(folder: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _all_of(descriptor: int, size: int, most: int, path: str) -> bytes:
    """All bytes of an open file of *size*."""
    try:
        data = os.read(descriptor, size + 1)
        if len(data) == size:
            return data
        rest = [data]
        total = len(data)
        while rest[-1]:
            rest.append(os.read(descriptor, _CHUNK))
            total += len(rest[-1])
            if total > most:
                raise PackageFault(path, f"larger than {most} bytes", "leave it out")
        return b"".join(rest)
    except OSError as error:
        raise PackageFault(path, f"it cannot be read: {error.strerror}", "make it readable") from error


def _bytes_at(root: Path, path: str) -> bytes:
    """One file below *root*, reached without following a link."""
    *folders, name = path.split("/")
    try:
        at = os.open(root, _FOLDER)
    except OSError as error:
        raise PackageFault(ROOT, _no_folder(root, error)) from error
    try:
        for folder in folders:
            inner = _open(at, folder, path, _FOLDER)
            os.close(at)
            at = inner
        descriptor = _open(at, name, path, _FILE)
    finally:
        os.close(at)
    try:
        status = os.fstat(descriptor)
        return _all_of(descriptor, status.st_size, max(status.st_size, _CHUNK), path)
    finally:
        os.close(descriptor)


def _check_name(name: str, path: str) -> None:
    """Raise PackageFault for a name that is not the same name everywhere."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise PackageFault(ascii(path), "its name is not UTF-8", "rename it") from None
    if "\\" in name or not name.isprintable():
        raise PackageFault(ascii(path), "its name has a character that paths cannot carry", "rename it")


def _folded(name: str) -> str:
    if name.isascii():
        return name.lower()
    import unicodedata

    return unicodedata.normalize("NFC", name).casefold()


def _settle(to: Path) -> None:
    """Close the folders of a finished copy for writing, the innermost first. The top is left for whoever moves it."""
    for folder, _, _ in os.walk(to, topdown=False):
        if folder != str(to):
            Path(folder).chmod(FOLDER_MODE)


def _unchanged(top: int, seen: dict[str, Seen]) -> None:
    """Raise PackageFault unless everything in the folder is what was read, and nothing came or went."""
    for path, before in seen.items():
        try:
            now = _seen(os.fstat(top) if not path else os.stat(path, dir_fd=top, follow_symlinks=False))
        except OSError:
            now = None
        if now != before:
            raise PackageFault(path or ROOT, "it changed while the package was read", TRY_AGAIN, changed=True)


def signature(root: Path) -> str:
    """What tells whether anything of a copy was touched since, without reading it. Raises OSError.

    It covers the number, kind, size and times of every file and folder; of the times one is the system's alone to set.
    """
    seen: list[tuple[str, Seen]] = []
    top = os.open(root, _FOLDER)
    try:
        _sign(top, "", seen)
    finally:
        os.close(top)
    seen.sort()
    return hashlib.sha256(repr(seen).encode()).hexdigest()  # with the escapes of `repr`, whatever a name is made of


def _sign(folder: int, path: str, seen: list[tuple[str, Seen]]) -> None:
    seen.append((path, _seen(os.fstat(folder))))
    folders: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                seen.append((path + entry.name, _seen(entry.stat(follow_symlinks=False))))
    for name in folders:
        inner = os.open(name, _FOLDER, dir_fd=folder)
        try:
            _sign(inner, f"{path}{name}/", seen)
        finally:
            os.close(inner)


def take_away(folder: Path) -> None:
    """Remove a copy, or what there is of one, closed for writing as it is. What cannot be removed stays."""
    import shutil

    if folder.is_symlink() or not folder.is_dir():
        with suppress(OSError):
            folder.unlink()
        return
    _open_up(folder)
    shutil.rmtree(folder, ignore_errors=True)


def _open_up(folder: Path) -> None:
    """Let its owner list and empty a folder, whatever was done to it."""
    with suppress(OSError):
        if folder.is_symlink():
            return
        folder.chmod(0o700)
        with os.scandir(folder) as entries:
            inner = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
        for each in inner:
            _open_up(each)

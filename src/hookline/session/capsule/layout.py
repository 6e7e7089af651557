"""Where a capsule works and where its account of it lies (the Murmur hooks document's working directory)."""

import contextlib
import os
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path

from hookline._core.errors import UsageError

OWN_FOLDERS = ("logs", "out", "tools")
PRIVATE = 0o700


@dataclass(slots=True, kw_only=True)
class Layout:
    """The folders of one launch. `accessible` is what its tools see as `.`, `session` holds its account.

    `made` are those that this launch made, outermost first: what a launch that fails has to take away again.
    """

    accessible: Path
    session: Path
    made: list[Path] = field(default_factory=list)

    @property
    def trace(self) -> Path:
        return self.session / "trace.jsonl"

    @property
    def tools(self) -> Path:
        return self.session / "tools"

    @property
    def task(self) -> Path:
        return self.accessible / "task.md"

    def log(self, name: str) -> Path:
        return self.session / "logs" / f"{name}.log"

    def write_result(self, text: str) -> None:
        """Keep the final text, or why there is none, for whoever looks afterwards. Best effort: the session goes on."""
        with contextlib.suppress(OSError):
            put(self.session / "out" / "result.txt", text)

    def take_away(self) -> None:
        """Remove what this launch made, as far as nobody else put anything there."""
        for folder in reversed(self.made):
            shutil.rmtree(folder, ignore_errors=True)


def put(path: Path, text: str) -> None:
    """Have *text* stand in *path*, whole or not at all. A link that stands there is replaced, never followed."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(draft, "wb", opener=lambda name, _: os.open(name, flags, 0o644)) as file:
        file.write(text.encode(errors="replace"))
    draft.replace(path)


def laid_out(*, manifest: Path, session: str, workdir: Path | None) -> Layout:
    """Make the folders of a launch. Raises UsageError for a working directory that cannot be one; nothing stays then.

    Without *workdir* it is a folder of the session's own, beside the manifest.
    """
    if workdir is None:
        accessible = manifest.resolve().parent / "workdir" / session
        layout = Layout(accessible=accessible, session=accessible)
    else:
        _check(workdir)
        accessible = workdir.resolve()
        layout = Layout(accessible=accessible, session=accessible / ".murmur" / session)
    try:
        _make(layout.accessible, layout)
        _make(layout.session, layout)
        for name in OWN_FOLDERS:
            _make(layout.session / name, layout)
    except OSError as error:
        layout.take_away()
        raise UsageError(f"the working directory {layout.session}: {error.strerror}") from error
    return layout


def _check(workdir: Path) -> None:
    """A working directory that is a link is somebody's way of having us work elsewhere."""
    try:
        found = workdir.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"the working directory {workdir}: {error.strerror}") from error
    if stat.S_ISLNK(found.st_mode):
        raise UsageError(f"the working directory {workdir} is a link: name the folder that it leads to")
    if not stat.S_ISDIR(found.st_mode):
        raise UsageError(f"the working directory {workdir} is no folder")
    if not os.access(workdir, os.W_OK | os.X_OK):
        raise UsageError(f"the working directory {workdir} is not writable")


def _make(folder: Path, layout: Layout) -> None:
    """Make *folder* and those above it that are not there yet, and note each. None of ours may be a link."""
    missing = [each for each in (folder, *folder.parents) if not each.exists() and not each.is_symlink()]
    for each in reversed(missing):
        each.mkdir(mode=PRIVATE if each.name == ".murmur" else 0o777)
        layout.made.append(each)
    if folder.is_symlink() or not folder.is_dir():
        raise NotADirectoryError(0, "is there already, and is no folder of ours", str(folder))

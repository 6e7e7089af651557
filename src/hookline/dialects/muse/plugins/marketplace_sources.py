"""Where marketplaces are: what a source names, and a repository cloned without running anything of it (20.5)."""

import os
import signal
import subprocess
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hookline._core.held_folders import HeldFolder
from hookline._core.regular_files import NO_LINK, read_regular
from hookline.dialects.muse.plugins.manifest import Family
from hookline.dialects.muse.plugins.marketplace_documents import (
    DOCUMENT,
    DOCUMENT_BYTES,
    URL,
    WRITE_REF,
    is_ref,
    names_repository,
    unavailable,
)

HOLDERS = (Family.MUSE.folder, Family.CLAUDE.folder)  # the folders that hold the document; the first one counts

CLONE_TIMEOUT = 120.0  # seconds: enough for one commit of a large repository over a slow line
CLONE = ("git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "clone")
CLONE_OPTIONS = ("--quiet", "--depth", "1", "--no-recurse-submodules")
HANDED_ON = ("PATH", "HOME")
CLONE_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
}
SAID_BYTES = 65_536  # of what git says: the first lines say why
BESIDE_THE_POINT = ("warning:", "remote:")  # how lines begin that do not


class From(StrEnum):
    """What a marketplace is read from."""

    FOLDER = "folder"
    FILE = "file"
    GIT = "git"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a marketplace is: at an absolute path or a URL, and of a repository at what `ref` names, if anything."""

    kind: From
    location: str
    ref: str = ""

    @property
    def text(self) -> str:
        return f"{self.location}#{self.ref}" if self.ref else self.location

    @property
    def documents(self) -> tuple[str, ...]:
        """Where in its snapshot the document may be."""
        return (DOCUMENT,) if self.kind is From.FILE else tuple(f"{folder}/{DOCUMENT}" for folder in HOLDERS)

    def place(self, document: str) -> str:
        """What people are told of where the document is."""
        return self.location if self.kind is From.FILE else f"{self.location}/{document}"

    @property
    def around(self) -> Path:
        """What the sources in a document that is a file of its own are relative to."""
        folder = Path(self.location).parent
        return folder.parent if folder.name in HOLDERS else folder


def origin_of(source: str, cwd: Path) -> Origin:
    """Where a marketplace is that *source* names, as people write it. Raises PluginError."""
    asked = source.removeprefix("git+")
    try:
        location, mark, ref = asked.partition("#")
        if names_repository(location) and (URL.match(location) or not (cwd / asked).exists()):
            origin = Origin(From.GIT, location, _ref(ref) if mark else "")
        else:
            origin = _local(asked, cwd, is_repository=asked != source)
    except (OSError, RuntimeError, ValueError) as error:  # links that go in circles, and names that no file can have
        raise unavailable(f"cannot read {source}: {getattr(error, 'strerror', None) or error}") from error
    if not origin.location.isprintable():
        raise unavailable(f"the path {origin.location!a} has a character that cannot be written down; rename it")
    return origin


def _ref(ref: str) -> str:
    if not is_ref(ref):
        raise unavailable(f"`{ref}` is no ref; {WRITE_REF}")
    return ref


def _local(text: str, cwd: Path, *, is_repository: bool) -> Origin:
    path, ref = cwd / text, ""
    if not path.exists() and "#" in text:
        before, _, after = text.rpartition("#")
        path, ref = cwd / before, _ref(after)
    if not path.exists():
        wanted = "a folder, a file, or a repository at a path or a URL with http, https, ssh, git or file"
        raise unavailable(f"there is nothing at {path}; write {wanted}")
    path = path.resolve()
    if is_repository or (_is_bare(path) and not holds_document(path)):
        return Origin(From.GIT, path.as_uri(), ref)
    if ref:
        raise unavailable(f"{path} is read as it lies there, and has no refs; git+{path}#{ref} is what is committed")
    return Origin(From.FOLDER if path.is_dir() else From.FILE, str(path))


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def holds_document(folder: Path) -> bool:
    return any((folder / holder / DOCUMENT).is_file() for holder in HOLDERS)


def clone(origin: Origin, to: Path, stage: HeldFolder) -> None:
    """Have the one commit that is asked for at *to*, without running anything of it. Raises PluginError.

    git is in a session of its own, and keeps *stage* from being taken away for as long as it runs.
    """
    branch = ("--branch", origin.ref) if origin.ref else ()
    command = [*CLONE, *CLONE_OPTIONS, *branch, "--", origin.location, str(to)]
    env = {name: os.environ[name] for name in HANDED_ON if name in os.environ} | CLONE_ENVIRONMENT
    said = to.with_name("said")  # a pipe could be held open by what git leaves running
    try:
        with said.open("wb") as errors:
            git = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=env,
                cwd=to.parent,
                start_new_session=True,
                pass_fds=(stage.lock,),
            )
    except OSError as error:
        raise unavailable(f"cannot run git, which {origin.text} takes: {error.strerror}") from error
    try:
        status = git.wait(CLONE_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise unavailable(f"cannot clone {origin.text}: it takes longer than {CLONE_TIMEOUT:g} seconds") from None
    finally:
        if git.returncode is None:
            os.killpg(git.pid, signal.SIGKILL)
            git.wait()
    if status:
        raise unavailable(f"cannot clone {origin.text}: {_reason(said, status)}")


def _reason(said: Path, status: int) -> str:
    """The one line that says most of what git said."""
    with said.open("rb") as file:
        text = file.read(SAID_BYTES).decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.lower().startswith(BESIDE_THE_POINT)]
    return (telling or lines or [f"git ended with status {status}"])[0]


def bytes_of(file: Path) -> bytes:
    try:
        return read_regular(file, DOCUMENT_BYTES, flags=NO_LINK)[0]
    except OSError as error:
        raise unavailable(f"cannot read {file}: {error.strerror}") from error

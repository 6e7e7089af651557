"""Which journals are meant by what somebody wrote: ids and their beginnings, files, folders, or nothing at all."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from hookline._core.errors import UsageError
from hookline.journal.places import SUFFIX
from hookline.journal.reader import find, sessions

HERE = frozenset({".", ".."})


def journal_of(named: str | None, folder: Path) -> Path:
    """One journal: of the session with this id or the only one whose id begins so, a file, or the last one written to.

    *folder* is where sessions are recorded. Raises UsageError where there is no such journal.
    """
    if named is None:
        return recorded(folder)[0]
    return Path(named) if _is_journal(named) else find(folder, named)


def journals_of(named: Sequence[str], folder: Path) -> tuple[Path, ...]:
    """The journals of several names, each once, in their order. The name of a folder means all journals in it.

    A folder's name has a slash in it, or it would be a session's.
    """
    if not named:
        return (journal_of(None, folder),)
    return tuple(dict.fromkeys(path for each in named for path in _all_of(each, folder)))


def _all_of(named: str, folder: Path) -> Iterator[Path]:
    if ("/" in named or named in HERE) and Path(named).is_dir():
        yield from recorded(Path(named))
    else:
        yield journal_of(named, folder)


def _is_journal(named: str) -> bool:
    return named.endswith(SUFFIX) and Path(named).is_file()


def recorded(folder: Path) -> tuple[Path, ...]:
    """All journals in a folder, the one last written to first. Raises UsageError where there is none."""
    found = sessions(folder)
    if not found:
        raise UsageError(f"no session is recorded in {folder}")
    return found

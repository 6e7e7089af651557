"""Which recorded sessions somebody means."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hookline._core.errors import UsageError
from hookline.journal import entries as en
from hookline.journal.places import SUFFIX
from hookline.journal.reader import children, sessions
from hookline.workbench.picking import journal_of

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
DURATION = re.compile(r"(\d{1,6})([smhdw])")
FORK = "fork"  # the source of a session that goes its own way with the conversation of another


def journals_of(names: Sequence[str], folder: Path) -> tuple[Path, ...]:
    """The journals that *names* mean, in their order, each once: sessions in *folder* by their ids, files, folders.

    A session that is named comes with those that its child agents had. Raises UsageError for a name of none.
    """
    return tuple(dict.fromkeys(path for name in names for path in _meant(name, folder)))


def all_journals(folder: Path, since: int = 0) -> tuple[Path, ...]:
    """Those in *folder*, the one last written to last, without those that ended before *since*, Unix microseconds."""
    recent = (path for path in sessions(folder) if not since or path.stat().st_mtime_ns >= since * 1000)
    return tuple(reversed(tuple(recent)))


def _meant(name: str, folder: Path) -> Iterator[Path]:
    given = Path(name)
    if given.is_dir():
        found = all_journals(given)
        if not found:
            raise UsageError(f"no session is recorded in {given}: it holds no {SUFFIX} file")
        yield from found
        return
    path = journal_of(name, folder)
    yield path
    yield from _of_child_agents(path)


def _of_child_agents(path: Path) -> Iterator[Path]:
    for first in children(path.parent, path.stem):
        if isinstance(first.body, en.SessionOpened) and first.body.source != FORK:
            child = path.parent / f"{first.session}{SUFFIX}"
            yield child
            yield from _of_child_agents(child)


def moment(text: str, now: datetime) -> int:
    """The moment that somebody means, as Unix time in microseconds: a date, a time, or how long before *now*.

    A date without a zone is one of this machine's. Raises UsageError for what is none of these.
    """
    told = text.strip()
    try:
        if found := DURATION.fullmatch(told.lower()):
            at = now - timedelta(**{UNITS[found[2]]: int(found[1])})
        else:
            at = datetime.fromisoformat(told).astimezone()
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is no moment: write a date, 2026-11-24, a time, 2026-11-24T09:30, or how long ago, 7d or 12h"
        ) from None
    return int(at.astimezone(UTC).timestamp() * 1_000_000)

"""Which sessions somebody means."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hookline._core.errors import UsageError
from hookline.workbench.recorded_sessions import all_journals, journals_of, moment

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def made(folder: Path, *names: str) -> list[Path]:
    """Empty journals, each last written to a second after the one before."""
    paths = [folder / f"{name}.jsonl" for name in names]
    for second, path in enumerate(paths, 1):
        path.write_bytes(b"")
        os.utime(path, (second, second))
    return paths


def test_all_are_in_order_of_time(tmp_path: Path) -> None:
    """The one last written to is the last; those that ended before the moment that is asked for are left out."""
    first, second, third = made(tmp_path, "c", "a", "b")

    assert (first, second, third) == all_journals(tmp_path)
    assert (second, third) == all_journals(tmp_path, since=2_000_000)
    assert () == all_journals(tmp_path / "nowhere")


def test_a_session_is_named_by_id_file_or_folder_and_meant_once(tmp_path: Path) -> None:
    """In the order in which they are named."""
    first, second = made(tmp_path, "0199", "01aa")

    assert (second, first) == journals_of(["01a", str(first), str(tmp_path), "last"], tmp_path)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("90m", NOW - timedelta(minutes=90)),
        ("7d", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(weeks=2)),
        ("2026-11-24T09:30Z", datetime(2026, 11, 24, 9, 30, tzinfo=UTC)),
        ("2026-11-24", datetime(2026, 11, 24).astimezone()),  # a day of this machine's
    ],
)
def test_a_moment_is_a_date_a_time_or_how_long_ago(text: str, at: datetime) -> None:
    """A date without a zone is one of this machine's."""
    assert round(at.timestamp() * 1_000_000) == moment(text, NOW)


@pytest.mark.parametrize("text", ["", "yesterday", "7", "-1d", "999999w", "2026-13-01", "0000-01-01"])
def test_anything_else_is_refused(text: str) -> None:
    """With what to write."""
    with pytest.raises(UsageError, match="is no moment: write a date"):
        moment(text, NOW)

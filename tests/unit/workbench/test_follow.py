"""Following a session: the lines that come, when it ends, and what becomes of the file meanwhile."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from hookline._cli.commands.trace import COMMAND
from hookline._core import records as rec
from hookline._core.errors import StateError, UsageError
from hookline._core.points import Origin
from hookline.journal import Damage, Entry, Journal
from hookline.journal.entries import MAX_LINE
from hookline.journal.following import Tail
from hookline.workbench.follow import follow, follow_family, wait_for_session

CLOSED = rec.SessionClosed(origin=Origin(session_id="s1"), reason="other")

# A program that writes a session, one record for each line that it is given, and says when it has.
WRITER = """
import sys
from pathlib import Path
from hookline._core import records as rec
from hookline._core.points import Origin
from hookline.journal import Journal

origin = Origin(session_id="s1")
journal = Journal.create(Path(sys.argv[1]), "s1")
journal.record(rec.SessionOpened(origin=origin, source="startup", workspace="/p"))
print("opened", flush=True)
for line in sys.stdin:
    journal.record(rec.Noted(origin=origin, text=line.strip()))
    print("written", flush=True)
journal.record(rec.SessionClosed(origin=origin, reason="other"))
journal.close()
"""


def noted(text: str, session: str = "s1") -> rec.Noted:
    return rec.Noted(origin=Origin(session_id=session), text=text)


def opened(session: str, parent: str | None = None) -> rec.SessionOpened:
    return rec.SessionOpened(origin=Origin(session_id=session), source="startup", workspace="/p", parent=parent)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal.create(tmp_path, "s1")
    made.record(opened("s1"))
    yield made
    made.close()


def kinds(entries: Iterator[Entry | Damage]) -> list[str]:
    return [entry.kind if isinstance(entry, Entry) else entry.why for entry in entries]


def one_by_one(*happenings: Callable[[], object]) -> Callable[[], None]:
    """A pause in which the next of these happens; behind the last, somebody interrupts."""
    coming = iter(happenings)

    def pause() -> None:
        happening = next(coming, None)
        if happening is None:
            raise KeyboardInterrupt
        happening()

    return pause


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_lines_come_as_they_are_written(journal: Journal) -> None:
    """Those that are there first, then each that is added, until the session is closed."""
    pause = one_by_one(lambda: journal.record(noted("a")), lambda: None, lambda: journal.record(CLOSED))
    told: list[str] = []

    assert ["session_opened", "noted", "session_closed"] == kinds(follow(journal.path, pause=pause, tell=told.append))
    assert [] == told


def test_a_session_that_was_closed_is_shown_and_that_is_all(journal: Journal) -> None:
    """No look at it is waited for."""
    journal.record(CLOSED)

    assert 2 == len(kinds(follow(journal.path, pause=one_by_one(), tell=print)))


def test_a_closed_session_that_was_resumed_goes_on(journal: Journal) -> None:
    """Only the last line says whether it has ended."""
    journal.record(CLOSED)
    journal.record(opened("s1"))
    pause = one_by_one(lambda: journal.record(CLOSED))

    assert 4 == len(kinds(follow(journal.path, pause=pause, tell=print)))


def test_half_a_line_is_waited_for(journal: Journal) -> None:
    """It is no damage: its writer adds the rest, or takes it back and writes another."""
    half = b'{"v":1,"seq":2,"at":17900000000'
    pause = one_by_one(
        lambda: append(journal.path, half),
        lambda: None,
        lambda: append(journal.path, b'00000,"kind":"noted","text":"whole"}\n'),
        lambda: append(journal.path, half),
        lambda: os.truncate(journal.path, journal.path.stat().st_size - len(half)),
        lambda: journal.record(CLOSED),
    )

    assert ["session_opened", "noted", "session_closed"] == kinds(follow(journal.path, pause=pause, tell=print))


def test_damage_is_told_with_its_line(journal: Journal) -> None:
    """A whole line that is no entry is told like any other, and the next has the next number."""
    append(journal.path, b"damaged\n" + b"x" * (MAX_LINE + 1000) + b"\n")
    journal.record(CLOSED)

    entries = list(follow(journal.path, pause=one_by_one(), tell=print))

    assert [1, 2, 3, 4] == [entry.line for entry in entries]
    assert ["not an entry", "longer than 16777216 bytes"] == [
        entry.why.partition(":")[0] for entry in entries if isinstance(entry, Damage)
    ]


@pytest.mark.parametrize(
    ("happens", "told"),
    [
        (lambda path: path.unlink(), "was removed while it was followed"),
        (lambda path: (path.rename(path.with_suffix(".old")), path.write_text("{}\n")), "was replaced while"),
        (lambda path: os.truncate(path, 10), "was cut short while"),
    ],
    ids=["removed", "replaced", "cut short"],
)
def test_a_file_that_goes_away_is_told(journal: Journal, happens: Callable[[Path], object], told: str) -> None:
    """What was read stays shown, and nobody waits for what cannot come."""
    found = follow(journal.path, pause=one_by_one(lambda: happens(journal.path)), tell=print)

    assert isinstance(next(found), Entry)
    with pytest.raises(StateError, match=told):
        next(found)


def test_a_writer_that_is_gone_is_told_once(journal: Journal) -> None:
    """Its session has no end, and somebody may still go on with it."""
    journal.close()
    told: list[str] = []
    found = follow(journal.path, pause=one_by_one(lambda: None, lambda: None), tell=told.append)

    with contextlib.suppress(KeyboardInterrupt):
        list(found)
    assert 1 == len(told)
    assert "no program of this machine writes to" in told[0]


def test_sessions_that_it_starts_are_told_when_they_begin(journal: Journal) -> None:
    """Before it is followed and while it is; each once, and nobody else's."""
    folder = journal.path.parent

    def begin(session: str, parent: str | None) -> None:
        child = Journal.create(folder, session)
        child.record(opened(session, parent))
        child.close()

    begin("s2", "s1")
    pause = one_by_one(
        lambda: begin("s3", "s1"), lambda: begin("s4", "s9"), lambda: journal.record(noted("a")), journal.close
    )
    found: list[str] = []
    with contextlib.suppress(KeyboardInterrupt):
        for entry in follow_family(journal.path, pause=pause, tell=lambda _: None):
            found += [entry.session] if isinstance(entry, Entry) else []

    assert ["s1", "s2", "s3", "s1"] == found


def test_it_waits_for_a_session_to_begin(tmp_path: Path) -> None:
    """In a folder that is not there yet, and past one whose session has ended; an empty file is no session yet."""
    folder = tmp_path / "sessions"
    made: list[Journal] = []
    pause = one_by_one(
        lambda: made.append(Journal.create(folder, "s1")), lambda: None, lambda: made[0].record(opened("s1"))
    )
    told: list[str] = []
    try:
        assert folder / "s1.jsonl" == wait_for_session(folder, pause=pause, tell=told.append)
    finally:
        made[0].close()
    assert [f"waiting for a session to begin in {folder}"] == told


def test_the_running_session_is_the_one_meant(journal: Journal) -> None:
    """Not one that was written to later and is over, nor a child of it that runs too."""
    over, child = (Journal.create(journal.path.parent, name) for name in ("s0", "s2"))
    child.record(opened("s2", "s1"))
    over.record(opened("s0"))
    over.close()

    assert journal.path == wait_for_session(journal.path.parent, pause=one_by_one(), tell=print)
    child.close()


def test_a_folder_that_goes_away_is_told(tmp_path: Path) -> None:
    """With the journal in it: no fault of ours."""
    journal = Journal.create(tmp_path / "sessions", "s1")
    journal.record(opened("s1"))
    found = follow_family(journal.path, pause=one_by_one(lambda: shutil.rmtree(tmp_path / "sessions")), tell=print)

    assert isinstance(next(found), Entry)
    with pytest.raises(StateError, match="was removed"):
        next(found)
    journal.close()


def test_a_tail_keeps_no_lines(journal: Journal) -> None:
    """It reads on from where the last whole line ended."""
    with Tail(journal.path) as tail:
        assert ["session_opened"] == kinds(tail.new_lines())
        assert [] == kinds(tail.new_lines())
        journal.record(noted("a" * 200_000))  # longer than what is read at once
        assert ["noted"] == kinds(tail.new_lines())


def follower(tmp_path: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hookline", "trace", "--follow", *options],
        env={"XDG_STATE_HOME": str(tmp_path), "PATH": os.defpath, "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "first", "then", "last"),
    [((), "session  s1", "in the meantime", "closed  other"), (("--json",), '"kind":"session_opened"', "meantime", "")],
    ids=["tree", "json"],
)
def test_a_program_that_writes_is_followed(
    tmp_path: Path, options: tuple[str, ...], first: str, then: str, last: str
) -> None:
    """Through a pipe: it is there before the session, shows each line before the next is written, and ends with it."""
    sessions = tmp_path / "hookline" / "sessions"
    with follower(tmp_path, *options) as following:
        assert following.stdout is not None
        assert following.stderr is not None
        assert "waiting for a session to begin" in following.stderr.readline()
        command = [sys.executable, "-c", WRITER, str(sessions)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writing:
            assert writing.stdin is not None
            assert first in following.stdout.readline()
            print("in the meantime", file=writing.stdin, flush=True)
            while then not in (line := following.stdout.readline()):
                assert line  # else it has ended
        assert last in following.stdout.read()
        assert 0 == following.wait()


@pytest.mark.slow
def test_it_is_ended_by_an_interrupt(journal: Journal, tmp_path: Path) -> None:
    """Ctrl-C, while nothing happens: 130, and no traceback."""
    with follower(tmp_path, str(journal.path)) as following:
        assert following.stdout is not None
        assert "session  s1" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        _, said = following.communicate()

    assert (130, "") == (following.returncode, said.strip())


def test_a_report_of_what_is_still_to_come_is_refused() -> None:
    """A usage error, with the reason."""
    with pytest.raises(UsageError, match="a report is of what has happened"):
        CliRunner().invoke(COMMAND, ["--follow", "--report"], standalone_mode=False, catch_exceptions=False)

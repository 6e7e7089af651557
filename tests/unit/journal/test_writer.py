import errno
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from hookline._core import records as rec
from hookline._core.errors import StateError, UsageError
from hookline._core.points import Origin
from hookline.journal.reader import Damage, Entry, read
from hookline.journal.redact import Redactor
from hookline.journal.writer import Journal

ORIGIN = Origin(session_id="s1", run_id="r1", step=2)


def noted(text: str = "hello") -> rec.Noted:
    return rec.Noted(origin=ORIGIN, text=text)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal.create(tmp_path / "sessions", "s1", clock=count(1_000_000).__next__)
    yield journal
    journal.close()


def test_a_line_is_an_envelope_and_its_fields(journal: Journal) -> None:
    """Version, number, time, kind and place come first, in this order; then what the record says."""
    journal.record(noted())
    journal.record(rec.SessionClosed(origin=Origin(session_id="s1"), reason="other"))

    want = (
        '{"v":1,"seq":1,"at":1000000,"kind":"noted","session":"s1","run":"r1","step":2,"text":"hello"}\n'
        '{"v":1,"seq":2,"at":1000001,"kind":"session_closed","session":"s1","run":"","step":0,"reason":"other"}\n'
    )
    assert want == journal.path.read_text()


def test_a_line_is_one_write(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is handed over whole, so that no crash of this process can leave half of it."""
    written: list[bytes] = []
    monkeypatch.setattr(os, "write", lambda _, data: written.append(bytes(data)) or len(data))

    journal.record(noted("x" * 100_000))

    assert [line.endswith(b"}\n") for line in written] == [True]


def test_it_is_the_owners_alone(tmp_path: Path) -> None:
    """Folders that are made are 0700 and the file 0600; a folder that was there keeps its mode."""
    tmp_path.chmod(0o755)
    journal = Journal.create(tmp_path / "state" / "sessions", "s1")
    journal.close()

    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path, *journal.path.parents[:2][::-1], journal.path)]

    assert modes == [0o755, 0o700, 0o700, 0o600]


def test_numbers_go_on(journal: Journal) -> None:
    """A journal that is opened again is continued: by its session's id, or by its path."""
    journal.record(noted())
    journal.close()
    for reopen in (lambda: Journal.create(journal.path.parent, "s1"), lambda: Journal.open(journal.path)):
        reopened = reopen()
        reopened.record(noted())
        reopened.close()

    assert [entry.seq for entry in read(journal.path) if isinstance(entry, Entry)] == [1, 2, 3]


@pytest.mark.parametrize("size", [0, 1000, 300_000])
def test_numbers_go_on_behind_damage(journal: Journal, size: int) -> None:
    """The next number follows the last one that can be read, however far back it is, and no line's content counts."""
    journal.record(noted())
    journal.record(rec.CallStarted(origin=ORIGIN, call_id="c", tool="t", input=[{"v": 1, "seq": 99}] * 10_000))
    journal.close()
    with journal.path.open("ab") as file:
        file.write(b'{"v":1,"se' + b"x" * size + b"\n")

    reopened = Journal.open(journal.path)
    reopened.record(noted())
    reopened.close()

    assert [entry.seq for entry in read(journal.path) if isinstance(entry, Entry)][-1] == 3


def test_a_line_that_a_crash_cut_off_stays_apart(journal: Journal) -> None:
    """Half a line at the end is damage by itself: the next line begins on its own."""
    journal.record(noted("one"))
    journal.close()
    with journal.path.open("ab") as file:
        file.write(b'{"v":1,"seq":2,"at":5,"ki')

    reopened = Journal.open(journal.path)
    reopened.record(noted("two"))
    reopened.close()

    first, damage, last = read(journal.path)
    assert isinstance(damage, Damage)
    assert (first.seq, last.seq) == (1, 3)  # type: ignore[union-attr]


def test_one_writer_at_a_time(journal: Journal) -> None:
    """A second journal for a session that is in use is refused, and the first goes on."""
    with pytest.raises(StateError, match="session s1 is in use"):
        Journal.open(journal.path)
    with pytest.raises(StateError, match="session s1 is in use"):
        Journal.create(journal.path.parent, "s1")

    journal.record(noted())

    assert len(list(read(journal.path))) == 1


def test_closing_lets_the_next_one_in_though_a_child_lives(journal: Journal) -> None:
    """A process that has a copy of the descriptor, as one being started has, does not keep the session in use."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[journal._descriptor]) as child:
        journal.close()
        Journal.open(journal.path).close()
        assert child.poll() is None


def test_closing_twice(journal: Journal) -> None:
    """Closing again does nothing, even when the descriptor's number has found another use; recording is wrong use."""
    journal.close()
    reading, writing = os.pipe()
    journal.close()
    os.close(reading)
    os.close(writing)

    with pytest.raises(UsageError, match="is closed"):
        journal.record(noted())


def test_no_way_through_a_link(tmp_path: Path) -> None:
    """A link in the place of the file is not followed: what it points to is left as it is."""
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "s1.jsonl").symlink_to(target)

    with pytest.raises(StateError, match=r"cannot open .*s1\.jsonl"):
        Journal.create(tmp_path, "s1")
    assert target.read_text() == "mine"


def leave_out(path: Path) -> None:
    assert not path.exists()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, leave_out], ids=["folder", "pipe", "nothing"])
def test_what_is_no_journal_is_not_opened(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """Only a regular file that is there can be continued; the message names it and what the system said."""
    path = tmp_path / "s1.jsonl"
    make(path)

    with pytest.raises(StateError, match=rf"cannot open {path}: "):
        Journal.open(path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """A file where the folder should be is reported, with its path."""
    (tmp_path / "sessions").write_text("")

    with pytest.raises(StateError, match=rf"cannot open {tmp_path}/sessions/s1\.jsonl: Not a directory"):
        Journal.create(tmp_path / "sessions", "s1")


def test_secrets_are_left_out(tmp_path: Path) -> None:
    """What the redactor knows reaches no line."""
    journal = Journal.create(tmp_path, "s1", redactor=Redactor({"KEY": "sk-12345678"}))
    journal.record(noted("with sk-12345678 in it"))
    journal.close()

    assert json.loads(journal.path.read_text())["text"] == "with [redacted:KEY] in it"


def test_foreign_values_are_written(journal: Journal) -> None:
    """What is no JSON, and half of a surrogate pair, do not keep a call from being recorded."""
    value = {"p": "a\ud800b", "q": object, "nan": float("nan")}
    journal.record(rec.CallStarted(origin=ORIGIN, call_id="c\udcff", tool="t", input=value))

    (entry,) = read(journal.path)

    assert isinstance(entry, Entry)
    assert entry.body.call_id == "c\udcff"  # type: ignore[attr-defined]
    assert {"p": "a\ud800b", "q": repr(object), "nan": None} == entry.body.input  # type: ignore[attr-defined]


def test_a_huge_record_is_cut_to_a_line_that_can_be_read(journal: Journal) -> None:
    """No line is longer than a reader takes, whatever a tool brings."""
    journal.record(rec.CallStarted(origin=ORIGIN, call_id="c", tool="t", input="x" * 20_000_000))

    (entry,) = read(journal.path)

    assert isinstance(entry, Entry)
    assert len(entry.text) < 16 * 1024 * 1024


FILL = """
import resource, signal, sys
from pathlib import Path
from hookline._core.errors import StateError
from hookline._core.points import Origin
from hookline._core.records import Noted
from hookline.journal.writer import Journal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal.create(Path(sys.argv[1]), "s1")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    for number in range(1000):
        journal.record(Noted(origin=Origin(session_id="s1"), text="x" * 50))
except StateError as error:
    print(number, error)
"""


@pytest.mark.parametrize("room", [1000, 1001, 1130, 5000])
def test_a_full_disk_leaves_whole_lines(tmp_path: Path, room: int) -> None:
    """When the file can grow no more, the error says so, and the file ends with its last whole line."""
    ran = subprocess.run(
        [sys.executable, "-c", FILL, str(tmp_path), str(room)], capture_output=True, text=True, check=True
    )

    number, message = ran.stdout.strip().split(" ", 1)
    assert f"cannot write {tmp_path}/s1.jsonl: {os.strerror(errno.EFBIG)}" == message
    assert [True] * int(number) == [isinstance(entry, Entry) for entry in read(tmp_path / "s1.jsonl")]
    assert room - 200 < (tmp_path / "s1.jsonl").stat().st_size <= room


@pytest.fixture
def full(journal: Journal) -> Journal:
    """A journal with one line, on a disk that has no room for a second."""
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    journal.record(noted("one"))
    device = os.open("/dev/full", os.O_RDWR)
    os.dup2(device, journal._descriptor)
    os.close(device)
    return journal


def test_the_first_failure_is_raised(full: Journal) -> None:
    """The session learns at once that its account has ended, with the path and the system's words."""
    with pytest.raises(StateError, match=f"cannot write {full.path}: No space left on device"):
        full.record(noted("two"))

    assert "No space left" in str(full.failure)


@pytest.mark.parametrize(
    "record",
    [
        rec.SessionOpened(origin=ORIGIN, source="startup", workspace="/p"),
        rec.RunStarted(origin=ORIGIN, prompt="go"),
        rec.CallStarted(origin=ORIGIN, call_id="c", tool="t", input={}),
    ],
    ids=lambda record: record.kind,
)
def test_nothing_happens_that_the_journal_does_not_tell(full: Journal, record: rec.Record) -> None:
    """After a failure whatever announces an action raises again, so that the action does not take place."""
    with pytest.raises(StateError):
        full.record(noted("two"))

    with pytest.raises(StateError, match="No space left"):
        full.record(record)


def test_a_session_can_end_without_its_journal(full: Journal) -> None:
    """After a failure what tells of an end is dropped: the file stays a beginning of what happened."""
    with pytest.raises(StateError):
        full.record(noted("two"))

    full.record(rec.RunEnded(origin=ORIGIN, ending=rec.Ending.FAILED))
    full.record(rec.SessionClosed(origin=ORIGIN, reason="other"))
    full.close()

    assert len(list(read(full.path))) == 1


def test_an_interrupt_leaves_whole_lines(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt in the middle of a write takes the half line back, and the journal goes on after it."""
    write = os.write

    def interrupted(descriptor: int, data: bytes) -> int:
        write(descriptor, data[:10])
        raise KeyboardInterrupt

    journal.record(noted("one"))
    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        journal.record(noted("two"))
    monkeypatch.undo()
    journal.record(noted("three"))

    assert [(entry.seq, entry.body.text) for entry in read(journal.path)] == [(1, "one"), (2, "three")]  # type: ignore[union-attr]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts descriptors where Linux lists them")
def test_descriptors_are_not_lost(tmp_path: Path) -> None:
    """Neither closing nor failing to open leaves a descriptor behind."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        journal = Journal.create(tmp_path, "s1")
        with pytest.raises(StateError):
            Journal.open(journal.path)
        journal.close()

    assert before == len(list(Path("/proc/self/fd").iterdir()))

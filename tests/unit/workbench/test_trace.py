import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from hookline._cli.commands.trace import COMMAND, trace
from hookline._cli.main import run
from hookline._core import records as rec
from hookline._core.errors import UsageError
from hookline._core.points import Origin
from hookline.journal import Journal


def record(state: Path, session: str, *, age: int, parent: str | None = None) -> Path:
    """A session with one run, last written to *age* seconds after the epoch."""
    origin = Origin(session_id=session)
    at = iter(range(age * 1_000_000, age * 1_000_000 + 10))
    journal = Journal.create(state / "sessions", session, clock=at.__next__)
    journal.record(rec.SessionOpened(origin=origin, source="startup", workspace="/p", parent=parent))
    journal.record(rec.Noted(origin=origin, text=f"in {session}"))
    journal.close()
    os.utime(journal.path, (age, age))
    return journal.path


def traced(session: str | None, state: Path, *, as_json: bool = False) -> tuple[int, list[str]]:
    lines: list[str] = []
    return trace(session, state=state, as_json=as_json, write=lines.append), lines


def test_the_last_session_is_the_one_meant(tmp_path: Path) -> None:
    """Without a name the session last written to is shown."""
    record(tmp_path, "s1", age=20)
    record(tmp_path, "s2", age=10)

    code, lines = traced(None, tmp_path)

    assert code == 0
    assert "   +0.000 session  s1  startup" == lines[0]
    assert "in s1" in lines[-2]


def test_a_journal_is_named_by_its_path(tmp_path: Path) -> None:
    """A journal that somebody sent is shown from where it lies."""
    path = record(tmp_path, "s1", age=10).rename(tmp_path / "sent.jsonl")

    assert "   +0.000 session  s1  startup" == traced(str(path), tmp_path)[1][0]


def test_a_session_is_named_by_its_start(tmp_path: Path) -> None:
    """A beginning that only one id has is enough."""
    record(tmp_path, "0199", age=20)
    record(tmp_path, "01aa", age=10)

    assert "session  01aa" in traced("01a", tmp_path)[1][0]


@pytest.mark.parametrize(("session", "message"), [(None, "no session is recorded in"), ("s7", "no session s7 in")])
def test_a_session_that_is_not_there(tmp_path: Path, session: str | None, message: str) -> None:
    """No session at all, or none of that name, is wrong use, said as such."""
    with pytest.raises(UsageError, match=message):
        traced(session, tmp_path)


def test_json_is_the_journal_itself(tmp_path: Path) -> None:
    """Each whole line is given as it stands in the file; a damaged one is left out and told by the exit code."""
    path = record(tmp_path, "s1", age=10)
    whole = path.read_text().splitlines()
    path.write_text("damaged\n" + "\n".join(whole) + "\n" + whole[0][:50])

    assert (1, whole) == traced("s1", tmp_path, as_json=True)


def test_damage_is_a_problem(tmp_path: Path) -> None:
    """The tree names damaged lines where they stand, and the exit code says that there were any."""
    path = record(tmp_path, "s1", age=10)
    path.write_text("damaged\n" + path.read_text())

    code, lines = traced("s1", tmp_path)

    assert code == 1
    assert "line 1 is damaged" in lines[0]


def test_child_sessions_stand_where_they_began(tmp_path: Path) -> None:
    """Sessions that this one started are named in its tree, in order of time; each has its own."""
    record(tmp_path, "s1", age=10)
    record(tmp_path, "s3", age=12, parent="s1")
    record(tmp_path, "s2", age=11, parent="s1")
    record(tmp_path, "other", age=11, parent="s9")

    children = [line.split()[1:] for line in traced("s1", tmp_path)[1] if "child" in line]

    assert [["child", "session", "s2", "startup"], ["child", "session", "s3", "startup"]] == children


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The command finds the state folder, prints without colour into a pipe, and ends with 2 on wrong use."""
    state = tmp_path / "hookline"
    record(state, "s1", age=10)
    env = {"XDG_STATE_HOME": str(tmp_path)}

    shown = CliRunner().invoke(COMMAND, ["s1"], env=env, standalone_mode=False)
    as_json = CliRunner().invoke(COMMAND, ["--json"], env=env, standalone_mode=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    wrong = run(["trace", "s7"])

    assert shown.return_value == 0
    assert "   +0.000 session  s1  startup" == shown.output.splitlines()[0]
    assert ["session_opened", "noted"] == [json.loads(line)["kind"] for line in as_json.output.splitlines()]
    assert wrong == 2
    assert "no session s7 in" in capsys.readouterr().err


def test_colour_for_a_terminal(tmp_path: Path) -> None:
    """A terminal is shown colour, unless NO_COLOR asks for none."""
    record(tmp_path / "hookline", "s1", age=10)
    env = {"XDG_STATE_HOME": str(tmp_path)}

    coloured = CliRunner().invoke(COMMAND, [], env={**env, "NO_COLOR": ""}, color=True)
    plain = CliRunner().invoke(COMMAND, [], env={**env, "NO_COLOR": "1"}, color=True)

    assert "\x1b[" in coloured.output
    assert "\x1b[" not in plain.output

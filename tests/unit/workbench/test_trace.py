import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from hookline._cli.commands.trace import COMMAND, EXAMPLES, Output, show_list, show_report, show_session
from hookline._cli.main import run
from hookline._core import records as rec
from hookline._core.errors import UsageError
from hookline._core.points import Origin
from hookline.journal import Journal
from hookline.workbench.picking import journal_of, journals_of


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


class Kept(Output):
    """What was written, and what was told about it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.told: list[str] = []
        super().__init__(lambda text: self.lines.extend(text.split("\n")), self.told.append)


def traced(session: str | None, state: Path, *, as_json: bool = False) -> tuple[int, list[str]]:
    kept = Kept()
    return show_session(journal_of(session, state / "sessions"), kept, as_json=as_json), kept.lines


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


@pytest.mark.parametrize(
    "show",
    [show_session, lambda path, *given, **how: show_report([path], *given, **how)],
    ids=["the journal", "a report"],
)
def test_damage_is_told_whatever_is_shown(tmp_path: Path, show: Callable[..., int]) -> None:
    """As JSON, and beside a report: one line each, which file and which line, and the exit code says it too."""
    path = record(tmp_path, "s1", age=10)
    path.write_text("damaged\n" + path.read_text() + "{}\n")
    kept = Kept()

    assert 1 == show(path, kept, as_json=True)
    first, second = kept.told
    assert first.startswith(f"{path}: line 1 is damaged: not an entry")
    assert second.startswith(f"{path}: line 4 is damaged: not an entry")


def test_several_journals_are_named_at_once(tmp_path: Path) -> None:
    """By ids, by a folder, which is named with a slash; each counts once."""
    first, second = record(tmp_path, "s1", age=10), record(tmp_path, "s2", age=20)
    folder = tmp_path / "sessions"

    assert (first, second) == journals_of(["s1", "s2", "s1"], folder)
    assert (second, first) == journals_of([f"{folder}/"], tmp_path / "elsewhere")
    assert (second,) == journals_of([], folder)
    with pytest.raises(UsageError, match="no session is recorded in"):
        journals_of([str(tmp_path)], folder)


def test_sessions_are_listed(tmp_path: Path) -> None:
    """The newest first, each with what it takes to show it, when it began, how it stands and where it worked."""
    record(tmp_path, "0199f3aa-0001", age=10)
    record(tmp_path, "0199f3aa-0002", age=20, parent="0199f3aa-0001")
    running = Journal.create(tmp_path / "sessions", "0199f3aa-0300")
    running.record(rec.SessionOpened(origin=Origin(session_id="0199f3aa-0300"), source="startup", workspace="/q"))
    kept = Kept()

    assert 0 == show_list(tmp_path / "sessions", kept, as_json=False)
    running.close()
    assert [
        ["0199f3aa-0300", "0", "runs", "running", "/q"],
        ["0199f3aa-0002", "0", "runs", "no", "end", "child", "/p"],
        ["0199f3aa-0001", "0", "runs", "no", "end", "/p"],
    ] == [[line.split()[0], *line.split()[3:]] for line in kept.lines]
    assert "1970-01-01 00:00:20Z" in kept.lines[1]


def test_the_list_for_programs(tmp_path: Path) -> None:
    """One object a line, with the whole id and the path; a journal that cannot be read is told, the rest listed."""
    record(tmp_path, "s1", age=10)
    (tmp_path / "sessions" / "s2.jsonl").symlink_to(tmp_path / "sessions" / "s1.jsonl")
    (tmp_path / "sessions" / "s0.jsonl").write_bytes(b"")
    kept = Kept()

    assert 0 == show_list(tmp_path / "sessions", kept, as_json=True)
    told = {Path(each["path"]).stem: each for each in map(json.loads, kept.lines)}
    assert {"s0", "s1", "s2"} == told.keys()
    assert ("s1", 10_000_000, 0, "/p") == tuple(
        told["s1"][each] for each in ("session", "started", "runs", "workspace")
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--list", "--follow"], "--list shows no session"),
        (["--list", "s1"], "--list takes no SESSION"),
        (["--all"], "--all is for --report"),
        (["--report", "--all", "s1"], "--all means every session"),
        (["s1", "s2"], "only --report takes several"),
    ],
)
def test_what_cannot_be_had_together(options: list[str], reason: str) -> None:
    """Wrong use, with the reason."""
    with pytest.raises(UsageError, match=reason):
        CliRunner().invoke(COMMAND, options, standalone_mode=False, catch_exceptions=False)


def test_the_examples_of_the_help_work(tmp_path: Path) -> None:
    """As they stand there, up to the pipe; the one that waits for a session is tested where it is followed."""
    record(tmp_path / "hookline", "0199f3aa", age=10)
    examples = [line.partition("|")[0].split()[2:] for line in EXAMPLES.splitlines() if "hookline trace" in line]

    for arguments in examples:
        if "--follow" not in arguments:
            env = {"XDG_STATE_HOME": str(tmp_path)}
            ran = CliRunner().invoke(COMMAND, arguments, env=env, standalone_mode=False, catch_exceptions=False)
            assert (0, True) == (ran.return_value, bool(ran.output)), arguments
    assert 7 == len(examples)


def test_the_help_fits_a_terminal() -> None:
    """80 columns, examples too, for a line that wraps cannot be copied."""
    with COMMAND.make_context("trace", [], resilient_parsing=True, terminal_width=80, max_content_width=80) as context:
        assert [] == [line for line in COMMAND.get_help(context).splitlines() if len(line) > 80]

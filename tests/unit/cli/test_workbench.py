"""The commands that ask hooks without a session, as people run them: what they print, and how they end."""

import fcntl
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

COMMANDS = ("check", "list", "explain", "fire")
SHELL = "/bin/sh"
COLUMNS = 80
HANDLER = {"type": "command", "command": "true", "timeout": 5}
GOOD = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [HANDLER]}], "Stop": [{"hooks": [HANDLER]}]}}
LONG = "cat > /dev/null; " * 20 + "echo 'a b' >&2; exit 1"
BAD = {"hooks": {"PreToolUse": [{"matcher": "Bahs", "hooks": [{**HANDLER, "command": LONG}]}], "OnSave": []}}
FAILING = {"hooks": {"Stop": [{"hooks": [{**HANDLER, "command": "exit 1"}]}]}}


def placed(folder: Path, document: object = GOOD) -> Path:
    """A folder with a hook file of its own, and a home without any."""
    (folder / ".muse").mkdir(exist_ok=True)
    (folder / "home").mkdir(exist_ok=True)
    (folder / ".muse" / "hooks.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def saved(folder: Path) -> str:
    """What a hook at the end of a run was sent."""
    members = {"hook_event_name": "Stop", "session_id": "s", "turn_id": "t", "cwd": str(folder), "model": "m"}
    return json.dumps(members)


def env_in(folder: Path, **others: str) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"HOME": str(folder / "home"), "PATH": path, "SHELL": SHELL, **others}


def run(folder: Path, *words: str, stdin: str = "", **others: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "hookline", *words]
    return subprocess.run(
        argv, cwd=folder, env=env_in(folder, **others), input=stdin, capture_output=True, text=True, check=False
    )


def on_a_terminal(folder: Path, *words: str, **others: str) -> str:
    """What a terminal of 80 columns is sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    argv = [sys.executable, "-m", "hookline", *words]
    env = env_in(folder, TERM="xterm", **others)
    with subprocess.Popen(argv, cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs) as program:
        os.close(theirs)
        told = b""
        while data := _read(ours):
            told += data
        program.wait()
    os.close(ours)
    return told.decode("utf-8").replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side is closed
        return b""


def examples_of(folder: Path, command: str) -> list[str]:
    told = run(folder, command, "--help").stdout.partition("Examples:")[2]
    return re.findall(r"^ *(hookline .*)$", told, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_example_of_the_help_works(command: str, tmp_path: Path) -> None:
    """As it is written, by a shell, where the files are that it names: it ends well, and says something."""
    folder = placed(tmp_path)
    (folder / "hooks.txt").write_text(json.dumps(GOOD))
    (folder / "saved.json").write_text(saved(folder))
    (folder / "capsule").mkdir()
    (folder / "capsule" / "murmur.yaml").write_text(
        Path(__file__).parents[3].joinpath("examples", "murmur", "murmur.yaml").read_text()
    )
    steps = [{"call": {"tool": "bash", "input": {"command": "true"}}}, {"say": "done"}]
    (folder / "steps.yaml").write_text(json.dumps({"steps": steps}))
    session = ("exec", "--provider", "script", "--model", "steps.yaml", "--yolo", "--trust-workspace", "x")
    assert 0 == run(folder, *session).returncode

    examples = examples_of(folder, command)

    assert examples
    for line in examples:
        told = subprocess.run([SHELL, "-c", line], cwd=folder, env=env_in(folder), capture_output=True, text=True)  # noqa: PLW1510
        assert (0, "") == (told.returncode, told.stderr), line
        assert told.stdout or ">" in line, line


WRONG = [
    (2, "check --format xml"),
    (2, "check --dialect nobody .muse/hooks.json"),
    (1, "check gone.json"),
    (1, "check home"),
    (2, "list extra"),
    (2, "list --workspace gone"),
    (1, "list --config gone.json"),
    (2, "list --config hooks.ini"),
    (2, "explain"),
    (2, "explain PreToolUs"),
    (2, "explain ''"),
    (2, "explain Stop --tool Bash"),
    (2, "explain PreToolUse --input '{'"),
    (2, "explain PreToolUse --set x"),
    (2, "explain PreToolUse --set x=1"),
    (2, "explain Stop --set reopened=perhaps"),
    (2, "explain Stop --config a.json --capsule b.yaml"),
    (1, "explain Stop --capsule gone.yaml"),
    (2, "fire"),
    (2, "fire Stop --payload gone.json"),
    (2, "fire --payload hooks.txt --session last"),
    (2, "fire --payload .muse/hooks.json"),
    (2, "fire --payload .muse/hooks.json --tool Bash"),
    (2, "fire --payload /dev/null"),
    (2, "fire --session last"),
    (2, "fire --session last Stop"),
    (2, "fire --session last:x Stop"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("code", "line"), WRONG)
def test_what_is_wrong_is_said_in_a_few_lines(code: int, line: str, tmp_path: Path) -> None:
    """With an exit code that tells wrong use from a wrong file, and never with a traceback."""
    told = run(placed(tmp_path), *shlex.split(line))

    assert code == told.returncode
    assert "Traceback" not in told.stderr
    assert 0 < len((told.stderr or told.stdout).splitlines()) < 6


@pytest.mark.parametrize(
    ("code", "document", "words"),
    [
        (0, GOOD, ["check"]),
        (1, BAD, ["check"]),
        (1, BAD, ["check", "--format", "json"]),
        (0, GOOD, ["list"]),
        (0, BAD, ["list", "--trust-workspace"]),
        (0, GOOD, ["explain", "PreToolUse", "--tool", "Bash"]),
        (0, GOOD, ["fire", "PreToolUse", "--tool", "Bash", "--trust-workspace"]),
        (0, FAILING, ["fire", "Stop", "--dry-run"]),
        (1, FAILING, ["fire", "Stop", "--trust-workspace"]),
        (0, FAILING, ["fire", "Stop"]),
    ],
)
def test_how_a_command_ends_says_how_it_went(code: int, document: object, words: list[str], tmp_path: Path) -> None:
    """Findings, denials and failures end with 1; hooks that are held back, and what is only shown, do not."""
    told = run(placed(tmp_path, document), *words)

    assert (code, "") == (told.returncode, told.stderr)


SHOWN: Sequence[tuple[str, ...]] = [
    ("check",),
    ("list",),
    ("list", "--points"),
    ("explain", "PreToolUse", "--trust-workspace"),
    ("explain", "PreToolUse", "--tool", "mcp__a_very_long_name_of_a_server__and_a_long_tool", "--trust-workspace"),
    ("fire", "PreToolUse", "--config", ".muse/hooks.json", "--tool", "Bahs"),
    ("fire", "PreToolUse", "--config", ".muse/hooks.json", "--tool", "Bahs", "--whole"),
]


@pytest.mark.slow
@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
def test_nothing_is_wider_than_the_terminal(words: tuple[str, ...], tmp_path: Path) -> None:
    """Long commands and long names go on below; in colour, and without any where nobody wants them."""
    folder = placed(tmp_path, BAD)

    coloured, plain = on_a_terminal(folder, *words), on_a_terminal(folder, *words, NO_COLOR="1")

    assert "\x1b[" in coloured
    assert "\x1b[" not in plain
    assert [] == [line for line in plain.splitlines() if len(line) > COLUMNS]
    assert "\x1b[" not in run(folder, *words).stdout


@pytest.mark.parametrize("words", [("explain", "Stop"), ("list",), ("fire", "Stop", "--dry-run"), ("fire", "Stop")])
def test_json_is_one_document_and_nothing_besides(words: tuple[str, ...], tmp_path: Path) -> None:
    """A program can read all that is printed."""
    told = run(placed(tmp_path), *words, "--json")

    assert "" == told.stderr
    assert json.loads(told.stdout)


def test_a_payload_comes_from_standard_input_as_well(tmp_path: Path) -> None:
    """As one that was saved of a session: what crossed once crosses again."""
    folder = placed(tmp_path, {"hooks": {"Stop": [{"hooks": [{**HANDLER, "command": "cat > read"}]}]}})

    told = run(folder, "fire", "--payload", "-", "--trust-workspace", stdin=saved(folder))

    assert (0, "") == (told.returncode, told.stderr)
    assert "Stop" == json.loads((folder / "read").read_text())["hook_event_name"]


def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path) -> None:
    """As `hookline check | head -1` does."""
    folder = placed(tmp_path, {"hooks": {f"On{number}": [] for number in range(2000)}})
    line = f"{shlex.quote(sys.executable)} -m hookline check | head -n 1"

    told = subprocess.run([SHELL, "-c", line], cwd=folder, env=env_in(folder), capture_output=True, text=True)  # noqa: PLW1510

    assert (0, 1, "") == (told.returncode, len(told.stdout.splitlines()), told.stderr)


@pytest.mark.slow
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=60), dialect=st.sampled_from(["muse", "meerkat", "murmur"]))
def test_any_bytes_end_without_a_traceback(data: bytes, dialect: str, tmp_path: Path) -> None:
    """Whatever a file holds, of whichever dialect it is said to be."""
    (placed(tmp_path) / "any").write_bytes(data)

    told = run(tmp_path, "check", "--dialect", dialect, "any")

    assert told.returncode in (0, 1)
    assert "" == told.stderr

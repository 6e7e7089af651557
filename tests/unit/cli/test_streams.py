"""The program, the streams that it is started with, and the limits of the machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

Ran = subprocess.CompletedProcess[str]


def run(home: Path, arguments: str, *, before: str = "") -> Ran:
    """The program as a shell starts it, with redirections among *arguments*."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    script = f'{before} exec "$0" -m hookline {arguments}'
    return subprocess.run(
        ["/bin/sh", "-c", script, sys.executable], cwd=home, env=env, check=False, capture_output=True, text=True
    )


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_a_stream_that_is_closed_is_no_fault(closed: str, tmp_path: Path) -> None:
    """Started without standard input, output or error, or any of them, a session runs and ends as it would."""
    ran = run(tmp_path, f"exec --provider echo hello {closed}")

    assert ran.returncode == 0, ran.stderr
    assert "bug" not in ran.stderr
    assert ran.stdout == ("" if "1>&-" in closed else "echo: hello\n")
    (journal,) = (tmp_path / ".local/state/hookline/sessions").iterdir()
    assert '"session_closed"' in journal.read_text()


@pytest.mark.parametrize("output", ["1</dev/null", "1>/dev/full"])
@pytest.mark.parametrize("arguments", ["exec hello", "trace --help"])
def test_an_output_that_takes_nothing_is_said(arguments: str, output: str, tmp_path: Path) -> None:
    """A standard output that cannot be written to is a problem of the caller's, with its reason and exit code 1."""
    ran = run(tmp_path, f"{arguments} {output}")

    assert ran.returncode == 1
    assert "cannot write the output: " in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("limit", [5, 6])
def test_a_limit_of_the_machine_is_no_bug_of_ours(limit: int, tmp_path: Path) -> None:
    """Out of descriptors, whether for the event loop or for the journal, a session ends with 1 and says why."""
    ran = run(tmp_path, "exec hello", before=f"ulimit -n {limit};")

    assert ran.returncode == 1
    assert "Too many open files" in ran.stderr
    assert "bug" not in ran.stderr


def test_an_id_is_given_once(tmp_path: Path) -> None:
    """A new session under the id of a recorded one would tell two stories in one journal: it is refused."""
    arguments = "exec --session-id 6d9c9c1e-41cf-4ee6-b2f5-5f5b4b7f3f10 hello"

    assert run(tmp_path, arguments).returncode == 0
    again = run(tmp_path, arguments)

    assert again.returncode == 2
    assert "--resume 6d9c9c1e-41cf-4ee6-b2f5-5f5b4b7f3f10" in again.stderr


def test_a_prompt_file_has_an_end(tmp_path: Path) -> None:
    """A prompt may come from a pipe; one that never ends is refused instead of filling the memory."""
    endless = run(tmp_path, "exec --prompt-file /dev/zero")

    assert endless.returncode == 1
    assert "it has more than 16,777,216 bytes" in endless.stderr
    assert run(tmp_path, "exec --prompt-file /dev/stdin", before="echo hello |").stdout == "echo: hello\n\n"


def test_an_empty_variable_is_an_unset_one(tmp_path: Path) -> None:
    """HOOKLINE_SEARCH_URL set to nothing means no search service, and the session starts."""
    assert run(tmp_path, "exec hello", before="HOOKLINE_SEARCH_URL=; export HOOKLINE_SEARCH_URL;").returncode == 0

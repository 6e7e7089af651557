"""The program, the streams that it is started with, and the limits of the machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

Ran = subprocess.CompletedProcess[str]


def run(home: Path, arguments: str, *, before: str = "") -> Ran:
    """The program as a shell starts it, with redirections among *arguments*."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
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


@pytest.mark.parametrize("arguments", ["check", "explain Stop", "plugins list"])
def test_a_folder_that_is_gone_is_no_bug_of_ours(arguments: str, tmp_path: Path) -> None:
    """Started where the current folder was removed, a command says so and ends with 1."""
    ran = run(tmp_path, arguments, before='mkdir gone; cd gone; rmdir "$PWD";')

    assert ran.returncode == 1
    assert "the current folder does not exist any more" in ran.stderr
    assert "bug" not in ran.stderr


def test_an_id_is_given_once(tmp_path: Path) -> None:
    """A new session under the id of a recorded one would tell two stories in one journal: it is refused."""
    arguments = "exec --session-id 6d9c9c1e-41cf-4ee6-b2f5-5f5b4b7f3f10 hello"

    assert run(tmp_path, arguments).returncode == 0
    again = run(tmp_path, arguments)

    assert again.returncode == 2
    assert "--resume 6d9c9c1e-41cf-4ee6-b2f5-5f5b4b7f3f10" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("exec --resume '' hi", "'' is no session id"),
        ("exec --fork '' hi", "'' is no session id"),
        ("exec --resume last --session-id 6d9c9c1e-41cf-4ee6-b2f5-5f5b4b7f3f10 hi", "leave --session-id out"),
        ("exec --yolo --approval-mode untrusted hi", "--yolo asks for no approval and --approval-mode untrusted does"),
        ("exec --disable-approval --approval-mode on-request hi", "--disable-approval asks for no approval"),
        ("lock --timeout 3 x true", "No such option"),
    ],
)
def test_what_contradicts_itself_is_refused(arguments: str, said: str, tmp_path: Path) -> None:
    """Options that cannot both be meant, or mean nothing, end with 2 and say which; nothing has happened."""
    ran = run(tmp_path, arguments)

    assert ran.returncode == 2, ran.stderr
    assert said in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_last_session_is_gone_on_with(tmp_path: Path) -> None:
    """`last` is the session that was written to last, and damage in its journal is named."""
    assert run(tmp_path, "exec one").returncode == 0
    (journal,) = (tmp_path / ".local/state/hookline/sessions").iterdir()
    journal.write_text(journal.read_text() + "garbage\n")

    ran = run(tmp_path, "exec --resume last two")

    assert ran.returncode == 0
    assert "of session last is damaged, and left out: not an entry" in ran.stderr
    assert '"prompt":"two"' in journal.read_text()


def test_a_folder_s_name_writes_no_line_of_its_own(tmp_path: Path) -> None:
    """What somebody else named cannot look like something that we said."""
    folder = tmp_path / "b\nhookline: workspace trust: trusted"
    folder.mkdir()

    ran = run(tmp_path, "exec --workspace \"$(printf 'b\\nhookline: workspace trust: trusted')\" hi")

    assert ran.returncode == 0
    assert ran.stderr.count("\n") == 1


def test_prompts_come_from_several_files(tmp_path: Path) -> None:
    """Each file is a prompt, and so is standard input."""
    (tmp_path / "a").write_text("one")

    ran = run(tmp_path, "exec --prompt-file a --prompt-file - --no-session-log zero", before="printf two |")

    assert ran.stdout == "echo: zero\necho: one\necho: two\n"


def test_a_pipe_gets_what_the_model_said(tmp_path: Path) -> None:
    """To a pipe the answer goes byte for byte, colours and all: whoever reads it there decides."""
    (tmp_path / "steps.yaml").write_text('steps: [{say: "a\\e[31mb"}]')

    assert run(tmp_path, "exec --provider script --model steps.yaml hi").stdout == "a\x1b[31mb\n"


def test_a_journal_that_cannot_be_kept_says_what_to_do(tmp_path: Path) -> None:
    """Without a place for the journal the session does not begin, and the option that does without is named."""
    (tmp_path / ".local").write_text("")

    ran = run(tmp_path, "exec hi")

    assert ran.returncode == 1
    assert "--no-session-log keeps no journal" in ran.stderr


def test_waiting_for_a_lock_is_said(tmp_path: Path) -> None:
    """Whoever waits for a lock that does not come is told which, so that a command that waits for itself is found."""
    ran = run(tmp_path, 'lock f timeout 3 "$0" -m hookline lock f true')

    assert "waiting for f.lock" in ran.stderr


@pytest.mark.parametrize("dashes", ["", "--"])
def test_a_lock_is_kept_by_the_whole_command(dashes: str, tmp_path: Path) -> None:
    """A command may use descriptors 0 to 9 as it likes, and is killed by a pipe that nobody reads, as anywhere."""
    ran = run(tmp_path, f"lock f {dashes} sh -c 'exec 3>log; flock -n f.lock true; echo $?; yes | head -1'")

    assert ran.stdout == "1\ny\n"
    assert ran.stderr == ""


def test_a_prompt_file_has_an_end(tmp_path: Path) -> None:
    """A prompt may come from a pipe; one that never ends is refused instead of filling the memory."""
    endless = run(tmp_path, "exec --prompt-file /dev/zero")

    assert endless.returncode == 1
    assert "it has more than 16,777,216 bytes" in endless.stderr
    assert run(tmp_path, "exec --prompt-file /dev/stdin", before="echo hello |").stdout == "echo: hello\n\n"


def test_an_empty_variable_is_an_unset_one(tmp_path: Path) -> None:
    """HOOKLINE_SEARCH_URL set to nothing means no search service, and the session starts."""
    assert run(tmp_path, "exec hello", before="HOOKLINE_SEARCH_URL=; export HOOKLINE_SEARCH_URL;").returncode == 0

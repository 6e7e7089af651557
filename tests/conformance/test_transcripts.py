"""The source document's own output, replayed through a link named `muse`: the same bytes, on both streams."""

import json
import os
import shlex
import shutil
import subprocess
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.muse.kinds import LAYOUT
from tests.conformance.place import Place
from tests.conformance.reading import documents

FOLDER = Path(__file__).parent / "transcripts"
(TRANSCRIPTS,) = documents(FOLDER / "document.yaml")

LIST_VARIABLES = r"env | cut -d= -f1 | sort | tr '\n' ' '"
SET_BY_THE_SHELL = {"_", "OLDPWD", "PWD", "SHLVL"}

# With these the environment holds the variables that the document's hooks saw, and no others.
SESSION = {"LANG": "C", "LOGNAME": "ada", "TERM": "xterm-256color", "USER": "ada"}


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=[each["title"] for each in TRANSCRIPTS])
def test_document_prints_what_it_printed(transcript: dict[str, Any], tmp_path: Path) -> None:
    """A command that the document shows prints what stands there and ends with the exit code that goes with it."""
    place = Place(tmp_path, LAYOUT)
    place.configure(transcript["config"])

    for run in transcript["runs"]:
        program, *arguments = shlex.split(run["command"])
        ended = place.run(arguments, env=place.env | SESSION, program=program)

        stderr = run["stderr"].replace(transcript["workspace"], str(place.workspace))
        assert stderr.replace("<path>", str(place.config / "settings.json")) == ended.stderr
        assert run["exit"] == ended.code
        if "terminal" in run:
            assert_one_terminal(run["terminal"], ended.stdout)
        else:
            assert run["stdout"] == ended.stdout
        for name, count in run.get("lines_in", {}).items():
            assert count == lines_in(place.workspace / name)


def assert_one_terminal(line: str, stream: str) -> None:
    """The document's line is the payload of the one terminal record, byte for byte."""
    ends = [each for each in stream.splitlines() if json.loads(each)["payload"]["kind"] == "run_terminal"]

    assert [f'"payload": {line}}}'] == [end[end.index('"payload": ') :] for end in ends]


def lines_in(path: Path) -> int | None:
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else None


def test_payloads_are_those_of_the_document(tmp_path: Path) -> None:
    """`cat >> events.jsonl` at SessionStart and UserPromptSubmit writes the document's lines, with ids of its own."""
    place = Place(tmp_path, LAYOUT)
    handler = '{"hooks": [{"type": "command", "command": "cat >> events.jsonl"}]}'
    hooks = f'{{"SessionStart": [{handler}], "UserPromptSubmit": [{handler}]}}'
    place.configure({"settings.json": f'{{"schema_version": 1, "hooks": {hooks}}}'})
    place.run(["exec", "--provider", "echo", "hello hooks"], env=place.env | SESSION)
    written = (place.workspace / "events.jsonl").read_text(encoding="utf-8")

    documented = (FOLDER / "payloads.jsonl").read_text(encoding="utf-8")
    first, second = (json.loads(line) for line in documented.splitlines())
    start, prompt = (json.loads(line) for line in written.splitlines())
    replaced = documented.replace(first["cwd"], str(place.workspace))
    replaced = replaced.replace(first["session_id"], start["session_id"])
    assert replaced.replace(second["turn_id"], prompt["turn_id"]) == written
    assert [7, 4] == [uuid.UUID(name).version for name in (start["session_id"], prompt["turn_id"])]


@pytest.mark.parametrize("name", ["zsh", "bash", "sh"])
def test_hooks_see_the_variables_of_the_document(name: str, tmp_path: Path) -> None:
    """A managed hook and a user's see the names that the document lists, with CI_TOKEN granted and OTHER_VAR not.

    Four of them are the shell's own doing, as the document says. Only zsh, with which it was written, sets all four;
    of another shell those are wanted that it sets when it is started with nothing. The rest is compared as it stands,
    in the order that LANG=C has.
    """
    shell = shutil.which(name)
    if shell is None:
        pytest.skip(f"there is no {name} on this machine")
    place = Place(tmp_path, LAYOUT)
    place.configure(
        {
            "settings.json": json.dumps(
                {
                    "schema_version": 1,
                    "managed_hooks_path": "managed-hooks.json",
                    "managed_hooks_env_vars": ["CI_TOKEN"],
                    "hooks": at_session_start(f"{LIST_VARIABLES} > user.txt"),
                }
            ),
            "managed-hooks.json": json.dumps({"hooks": at_session_start(f"{LIST_VARIABLES} > managed.txt")}),
        }
    )
    host = place.env | SESSION | {"SHELL": shell, "CI_TOKEN": "secret", "OTHER_VAR": "1"}
    ended = place.run(["exec", "--provider", "echo", "hello"], env=host)

    assert (0, "echo: hello\n") == (ended.code, ended.stdout)
    for source in ("user", "managed"):
        documented = (FOLDER / f"variables_of_{source}_hook.txt").read_text(encoding="utf-8").split()
        wanted = sorted(set(documented) - (SET_BY_THE_SHELL - set_by(shell)))
        assert "".join(f"{each} " for each in wanted) == (place.workspace / f"{source}.txt").read_text(encoding="utf-8")


def test_zsh_sets_what_the_document_says_of_the_shell() -> None:
    """Under the document's own shell nothing of its lists is left out."""
    shell = shutil.which("zsh")
    if shell is None:
        pytest.skip("there is no zsh on this machine")
    assert SET_BY_THE_SHELL <= set_by(shell)


def at_session_start(command: str) -> dict[str, Any]:
    return {"SessionStart": [{"hooks": [{"type": "command", "command": command, "timeout": 10}]}]}


def set_by(shell: str) -> set[str]:
    """The variables that a shell sets of its own accord."""
    env = {"PATH": os.environ["PATH"]}
    ended = subprocess.run([shell, "-c", LIST_VARIABLES], env=env, capture_output=True, text=True, check=True)
    return set(ended.stdout.split())

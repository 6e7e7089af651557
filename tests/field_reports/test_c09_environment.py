"""Reports about where a hook runs and what it is given: the directory, the environment, the shell."""

import stat
from pathlib import Path

import pytest
from tests.field_reports.rig import Place, bash, bash_call, call, command, document

import hookline as hl
from hookline.dialects.muse.environment import resolve_shell

SECRET = "fake-value-of-a-key-0123456789"


def test_b74_a_relative_path_is_looked_up_where_the_call_runs(place: Place) -> None:
    """The hook starts in the payload's `cwd`, the call's own directory; a script that is not there cannot start."""
    (place.project / "sub").mkdir()
    script = place.project / ".muse" / "check.sh"
    place.write_project(document(PreToolUse=[command(".muse/check.sh")]))
    script.write_text("#!/bin/sh\ncat > payload\n")
    script.chmod(0o755)

    told = place.exec(bash("true"), call("bash", command="true", workdir="sub"))

    here, below = told.outcomes("before_tool_call")
    assert here.kind == "answered"
    assert f'"cwd": "{place.project}"' in (place.project / "payload").read_text()
    assert below.why == "could_not_start"
    assert told.dispatched("before_tool_call")[1].event["origin"]["cwd"] == f"{place.project}/sub"


def test_b76_the_environment_is_the_documented_list(place: Place) -> None:
    """Of the host's variables a hook sees the documented ones and no other, whichever source it is from."""
    place.write_settings(document(Stop=[command("env | cut -d= -f1 | sort > user.txt")]))
    place.write_project(document(Stop=[command("env | cut -d= -f1 | sort > project.txt")]))
    passed = {"USER": "u", "LOGNAME": "u", "TMPDIR": "/tmp", "LANG": "C", "LC_ALL": "C", "TERM": "dumb"}

    place.exec(env={**passed, "TEMP": "/tmp", "TMP": "/tmp", "FAKE_API_KEY": SECRET, "LD_LIBRARY_PATH": "/x", "A": "b"})

    expected = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "PWD", "SHELL", "TEMP", "TERM", "TMP", "TMPDIR", "USER"]
    for name in ("user.txt", "project.txt"):
        assert sorted((place.project / name).read_text().split()) == expected


def test_b76_secrets_are_in_no_record(place: Place) -> None:
    """A value that a tool printed is in the journal by its variable's name only; the file is for its owner alone."""
    place.write_project(document(PreToolUse=[command("cat /proc/$$/cmdline > argv")]))

    told = place.exec(bash("echo $FAKE_API_KEY"), env={"FAKE_API_KEY": SECRET})

    [journal] = place.sessions.iterdir()
    assert SECRET not in journal.read_text()
    assert "[redacted:FAKE_API_KEY]" in journal.read_text()
    assert SECRET not in place.trace() + told.err
    assert SECRET not in (place.project / "argv").read_text()
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.sessions.stat().st_mode) == 0o700


def test_b76_a_grant_is_for_managed_hooks(place: Place) -> None:
    """A variable that the user's settings grant reaches managed hooks and nobody else."""
    place.write_managed(document(Stop=[command('echo "$GRANTED" > managed.txt')]))
    place.write_settings(
        document(Stop=[command('echo "$GRANTED" > user.txt')]),
        managed_hooks_path="managed.json",
        managed_hooks_env_vars=["GRANTED"],
    )
    place.write_project(document(Stop=[command('echo "$GRANTED" > project.txt')]))

    place.exec(env={"GRANTED": "yes"})

    said = {name: (place.project / f"{name}.txt").read_text() for name in ("managed", "user", "project")}
    assert said == {"managed": "yes\n", "user": "\n", "project": "\n"}


def test_b80_a_missing_shell_is_found_at_the_start(place: Place) -> None:
    """A `SHELL` that is not there is said before the first event, and each hook then could not start."""
    place.write_project(document(PreToolUse=[command("exit 2")]))

    told = place.exec(bash("true"), env={"SHELL": "/no/such/shell"})

    assert [outcome.why for outcome in told.outcomes("before_tool_call")] == ["could_not_start"]
    assert "`/no/such/shell` cannot be started, so every command hook will fail; set SHELL" in told.lines[2]


async def test_b80_the_shell_is_chosen_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `SHELL` becomes after the session has started changes nothing."""
    place.write_project(document(PreToolUse=[command("exit 0")]))
    project = hl.open_project(place.project, env=place.env, trust="run-flag")
    monkeypatch.setenv("SHELL", "/no/such/shell")
    place.env["SHELL"] = "/no/such/shell"

    async with project.engine as engine:
        [outcome] = (await engine.dispatch(bash_call())).outcomes

    assert outcome.ok
    assert [problem for _, loaded in project.loaded for problem in loaded.problems] == []


def test_b80_windows_asks_comspec(tmp_path: Path) -> None:
    """On Windows the same holds for `COMSPEC`."""
    shell, problem = resolve_shell({"COMSPEC": str(tmp_path / "cmd.exe")}, windows=True)

    assert shell == (str(tmp_path / "cmd.exe"), "/C")
    assert problem is not None
    assert problem.message.endswith("so every command hook will fail; set COMSPEC")

"""Reports that nobody should have had to make: what the workbench says of them beforehand, without a session."""

import json
from pathlib import Path

import pytest
from tests.field_reports.rig import Place, answering, command, denying, document, group, specific

LS = ("PreToolUse", "--tool", "Bash", "--input", '{"command": "ls"}')


def test_b04_a_script_that_exits_1_is_said_to_block_nothing(place: Place) -> None:
    """Before any session: exit 1 never blocks here, exit 2 does. `test` shows it of a case."""
    place.write_project(document(PreToolUse=[command("echo BLOCKED >&2; exit 1")]))
    (place.project / "a.hooktest.yaml").write_text(
        "hooks: .muse/hooks.json\ncases:\n  - {event: PreToolUse, tool: Bash, want: {decision: deny}}\n"
    )

    found = place.findings()["ExitOneBlocksNothing"]
    assert ("warning", 1) == (found["level"], found["line"])
    assert "exit 2 instead, with the reason on standard error" == found["remedy"]
    tested = place.run("test")
    assert 1 == tested.returncode
    assert "decision  wanted deny  found none" in tested.stdout
    assert "only exit 2 with a reason on standard error blocks" in tested.stdout


def test_b05_a_guard_that_cannot_start_is_found_without_a_session(place: Place) -> None:
    """A path that leads nowhere, and a script without its x bit: by `check`, and by `doctor`."""
    script = place.project / "guard.py"
    script.write_text("#!/usr/bin/env python3\n")
    place.write_project(document(PreToolUse=[command('"/no/such/guard.py"'), command(str(script))]))

    found = place.findings()
    assert ("error", "error") == (found["NoSuchCommand"]["level"], found["NotExecutable"]["level"])
    assert f"chmod +x {script}" == found["NotExecutable"]["remedy"]
    doctor = place.run("doctor")
    assert 1 == doctor.returncode
    assert "2 hooks, 2 errors" in doctor.stdout


def test_b14_a_wrong_type_is_an_error_with_its_place(place: Place) -> None:
    """The whole file contributes nothing: `check` names the path, the line, what was found and expected, and fails."""
    wrong = {"matcher": {"type": "always"}, "hooks": [command("true")]}
    place.write_project(json.dumps(document(Stop=[command("true")], PreToolUse=[wrong]), indent=1).encode())

    done = place.run("check", "--format", "json")
    (found,) = [each for each in json.loads(done.stdout)["findings"] if each["level"] == "error"]

    assert 1 == done.returncode
    assert ("MalformedConfig", "hooks.PreToolUse[0].matcher") == (found["code"], found["path"])
    assert "hook matcher must be a string, found an object" == found["message"]
    assert ("no hook of this file runs", "write a string") == (found["effect"], found["remedy"])
    assert found["line"] > 1


def test_b15_an_unknown_event_costs_itself_and_is_said(place: Place) -> None:
    """Every event that there is, is named."""
    place.write_project(document(OnSave=[command("true")], Stop=[command("true")]))

    found = place.findings()["UnsupportedEvent"]
    assert ("no hook under this event runs", "hooks.OnSave") == (found["effect"], found["path"])
    assert "PreToolUse" in found["remedy"]


def test_b16_a_capital_letter_is_asked_about(place: Place) -> None:
    """Did you mean: the word, and what to write."""
    place.write_project(document(Stop=[{"type": "Command", "command": "true"}]))

    found = place.findings()["UnsupportedHandler"]
    assert 'did you mean "command"?' in found["message"]
    assert 'write "type": "command"' == found["remedy"]


def test_b18_a_limit_in_another_unit_is_doubted(place: Place) -> None:
    """`timeout: 5000` in a dialect of seconds is an hour and a half."""
    place.write_project(document(Stop=[command("true", timeout=5000)]))

    found = place.findings()["TimeoutUnit"]
    assert "write 5 if 5000 milliseconds were meant" == found["remedy"]
    assert "hooks.Stop[0].hooks[0].timeout" == found["path"]


def test_b21_whatever_keeps_a_handler_from_running_is_named(place: Place) -> None:
    """Hook by hook: the layer that it is of, and the switch that keeps it back."""
    place.write_settings(document(PreToolUse=[command("true")]))
    key = json.loads(place.run("trust", "--json", "--yes").stdout)["hooks"]
    assert [] == key
    place.write_project(document(PreToolUse=[command("true")]))
    place.run("trust", "--remove")

    told = json.loads(place.run("explain", *LS, "--json").stdout)[0]["dialects"][0]["hooks"]

    assert [("user", "asked", ""), ("project", "held back", "folder not trusted")] == [
        (each["layer"], each["verdict"], each["why"]) for each in told
    ]


def test_b28_one_answer_is_read_under_every_dialect(place: Place) -> None:
    """The same standard output: an answer to one, refused by the other, each with its reason."""
    answer = json.dumps({"continue": True, **specific("SessionStart", additionalContext="x")})
    start = place.run("test", "--answer", "-", "--point", "SessionStart", "--format", "json", stdin=answer)
    call = place.run("test", "--answer", "-", "--point", "PreToolUse", "--format", "json", stdin='{"decision": null}')

    (muse,) = json.loads(start.stdout)
    assert ("muse", [{"effect": "add_context", "text": "x"}]) == (muse["dialect"], muse["answer"]["effects"])
    verdicts = {each["dialect"]: each["answer"] is not None for each in json.loads(call.stdout)}
    assert {"muse": False, "meerkat": True} == verdicts


def test_b48_a_start_that_a_hook_may_hold_up_is_noted(place: Place) -> None:
    """Without a limit of its own a hook has ten minutes, which a start would wait for."""
    place.write_project(document(SessionStart=[command("while :; do sleep 1; done")]))

    assert (
        "a session begins only when this hook has ended, for which it has 600 s"
        == place.findings()["SlowStart"]["message"]
    )


def test_b60_the_beginning_of_a_name_is_said_to_match_nothing(place: Place) -> None:
    """By `check`, and by `explain` for the very tool: with the pattern that was meant."""
    place.write_project(document(PreToolUse=[group(command("true"), matcher="mcp__notes")]))

    assert "write ^mcp__notes__ for all tools of that server" == place.findings()["MatchesNothing"]["remedy"]
    explained = place.run("explain", "PreToolUse", "--tool", "mcp__notes__add", "--trust-workspace").stdout
    assert "this is a list of exact names: for all that begin so write ^mcp__notes" in explained


def test_b62_a_matcher_for_a_tool_that_is_not_there_is_a_warning(place: Place) -> None:
    """`Task` names no tool here; `Bash` is another name of one that is there."""
    place.write_project(
        document(PreToolUse=[group(command("true"), matcher="Task"), group(command("true"), matcher="Bash")])
    )

    found = json.loads(place.run("check", "--format", "json").stdout)["findings"]
    assert ["hooks.PreToolUse[0].matcher"] == [each["path"] for each in found if each["code"] == "MatchesNothing"]


@pytest.mark.parametrize("matcher", ["bash(", "[", "*x", "(?P<a"])
def test_b64_a_matcher_that_does_not_compile_is_an_error(place: Place, matcher: str) -> None:
    """With its place, and what a matcher may be."""
    place.write_project(document(PreToolUse=[group(command("true"), matcher=matcher)]))

    found = place.findings()["InvalidMatcher"]
    assert ("hooks.PreToolUse[0].matcher", "no hook of this group runs") == (found["path"], found["effect"])


def test_b65_a_matcher_where_there_is_nothing_to_match_is_an_error(place: Place) -> None:
    """`*` is none."""
    place.write_project(document(Stop=[group(command("true"), matcher="foo"), group(command("true"), matcher="*")]))

    assert ("hooks.Stop[0].matcher", "remove `matcher`") == (
        place.findings()["InvalidMatcher"]["path"],
        place.findings()["InvalidMatcher"]["remedy"],
    )


def test_b74_a_relative_path_is_said_to_depend_on_where_the_tool_works(place: Place) -> None:
    """Also where the script is there."""
    script = place.project / ".muse" / "check.sh"
    place.write_project(document(PreToolUse=[command(".muse/check.sh")]))
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)

    found = place.findings()
    assert "NoSuchCommand" not in found
    assert f"write {script}, or a path that begins with $HOME" == found["RelativeCommand"]["remedy"]


@pytest.mark.parametrize(
    "line", ['"$CLAUDE_PROJECT_DIR"/.muse/x.sh', "echo $TOOL_NAME >> log", 'cat "$CLAUDE_TOOL_INPUT"']
)
def test_b75_a_variable_that_nobody_sets_is_a_warning(place: Place, line: str) -> None:
    """Another tool sets it: here it is empty, and the place says where it stands."""
    place.write_project(document(PreToolUse=[command(line)]))

    found = place.findings()["VariableNotSet"]
    assert ("it is empty", "hooks.PreToolUse[0].hooks[0].command") == (found["effect"], found["path"])


def test_b81_what_to_read_instead_of_a_variable_is_said(place: Place) -> None:
    """The event comes on standard input."""
    place.write_project(document(PreToolUse=[command("echo $TOOL_NAME >> log")]))

    assert "standard input" in place.findings()["VariableNotSet"]["remedy"]


def test_b78_commands_for_the_other_kind_of_shell_are_found(place: Place) -> None:
    """Backslashes that a POSIX shell eats, and POSIX words that `cmd.exe` does not know."""
    place.write_project(document(PreToolUse=[command("C:\\Users\\me\\guard.py", commandWindows='node "a" || true')]))

    found = json.loads(place.run("check", "--format", "json").stdout)["findings"]
    assert [".command", ".commandWindows"] == [
        each["path"].removeprefix("hooks.PreToolUse[0].hooks[0]") for each in found if each["code"] == "WrongShell"
    ]


def test_b80_a_shell_that_is_not_there_is_found_by_the_doctor(place: Place) -> None:
    """Before every hook of a session fails for it."""
    done = place.run("doctor", "--json", SHELL="/no/shell")

    (shell,) = [each for each in json.loads(done.stdout) if each["what"] == "shell"]
    assert (1, "problem") == (done.returncode, shell["state"])


def test_b19_the_lines_about_a_folder_that_is_not_trusted_name_the_command(place: Place) -> None:
    """At the start, at the end, and what trusts it."""
    place.write_project(document(Stop=[command("true"), command("true")]))

    told = place.exec(trusted=False)

    assert "hookline: hooks.json: 2 handlers held back: folder not trusted" in told.err
    assert "`hookline trust` for good" in told.err
    assert 0 == place.run("trust", "--yes").returncode
    assert "held back" not in place.exec(trusted=False).err


def test_b84_one_changed_byte_of_a_handler_or_its_script_holds_it_back(place: Place) -> None:
    """A lock holds definitions and scripts; a change that was meant is one `trust --lock` away."""
    script = place.project / "check.sh"
    script.write_text("touch ran\n")
    hooks = document(Stop=[command("sh ./check.sh")])
    place.write_project(hooks)
    place.run("trust", "--yes")
    place.run("trust", "--lock", "--scripts")

    def runs() -> bool:
        (place.project / "ran").unlink(missing_ok=True)
        told = place.exec(trusted=False)
        ran = (place.project / "ran").exists()
        assert ran != ("since it was locked" in told.err)
        return ran

    assert runs()
    script.write_text("touch ran \n")
    assert not runs()
    place.run("trust", "--lock", "--scripts")
    assert runs()
    place.write_project(document(Stop=[command("sh ./check.sh ")]))
    assert not runs()
    place.write_project(hooks)
    assert runs()


def test_b85_nothing_in_a_project_trusts_it(place: Place) -> None:
    """Neither a member of its file nor a lock, nor a state folder in it."""
    place.write_project({**document(Stop=[command("true")]), "trusted": True, "env": {"X": "1"}})
    (place.project / "hookline" / "locks").mkdir(parents=True)

    listed = json.loads(place.run("list", "--json").stdout)
    assert {"folder not trusted"} == {each["held_back"] for each in listed}


def test_b93_a_hook_is_tried_in_no_time(place: Place) -> None:
    """`fire` lists without running, or runs and prints the decision; bench/workbench.py measures its own time."""
    place.write_project(document(PreToolUse=[command(f"touch MARK; {denying('no')}"), command(answering({}))]))
    dry = place.run("fire", *LS, "--trust-workspace", "--dry-run")
    assert (0, False) == (dry.returncode, place.mark)
    assert 2 == dry.stdout.count("would be sent")

    real = place.run("fire", *LS, "--trust-workspace")
    assert (1, True) == (real.returncode, place.mark)
    assert "=>  deny by hooks.json:PreToolUse[0].hooks[0]: no" in real.stdout


def test_b17_another_tools_file_is_named(place: Place, tmp_path: Path) -> None:
    """A file with `BeforeTool` is said to be written for the tool whose event that is, and how to bring it over."""
    place.write_project(document(BeforeTool=[group(command("true"), matcher="write_file")]))

    found = place.findings()["WrittenForAnother"]
    assert "Gemini CLI" in found["message"]
    assert "hookline convert" in found["remedy"]

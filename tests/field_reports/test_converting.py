"""Reports of hook files that were written for another tool, or another dialect: what comes of them here is told."""

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.rig import PATIENCE, PROGRAM, TOUCH, Json, Place, bash, command, document, group

from hookline.workbench.foreign import looks_like, meanings_of


def convert(place: Place, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The program, run to its end in the project."""
    return subprocess.run(
        [PROGRAM, "convert", *arguments],
        cwd=place.project,
        env=place.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def write(place: Place, name: str, value: Json) -> Path:
    path = place.project / name
    path.write_text(json.dumps(value))
    return path


def told(done: "subprocess.CompletedProcess[str]") -> list[str]:
    """Standard error but for the note, which is the same for every file."""
    return [line for line in done.stderr.splitlines() if " note: " not in line]


GEMINI: Json = {
    "hooks": {
        "BeforeTool": [group(command("echo no >&2; exit 2", timeout=5000), matcher="run_shell_command")],
        "BeforeToolSelection": [group(command("x"), matcher="*")],
    }
}


def test_b17_the_file_of_another_tool_is_known_and_converted(place: Place) -> None:
    """`BeforeTool` is Gemini CLI's; converted, its guard refuses the call here, and what has no counterpart is told."""
    likeness = looks_like(GEMINI, read_as="muse")
    assert likeness is not None
    assert "Gemini CLI (`hooks.BeforeTool`, `hooks.BeforeToolSelection`)" == str(likeness)

    write(place, "settings.json", GEMINI)
    done = convert(place, "settings.json", "--to", "muse", "--output", ".muse/hooks.json")
    assert (1, "") == (done.returncode, done.stdout)
    assert [
        "hookline: settings.json:BeforeToolSelection: left out: there is no such hook point here",
        "hookline: .muse/hooks.json: 1 written, from Gemini CLI",
    ] == told(done)

    ran = place.exec(TOUCH)
    assert not place.mark
    assert ["no"] == [body.decision and body.decision.reason for body in ran.dispatched("before_tool_call")]


def test_b17_the_names_of_another_dialect() -> None:
    """Names of Muse Code in a Meerkat file, and a Meerkat entry in JSON, are known by what the reader does not know."""
    entry = {"id": "a", "point": "PreToolUse", "runtime": {"type": "command", "command": "x"}}
    muse_names = looks_like({"hooks": {"entries": [entry]}}, read_as="meerkat")
    in_json = looks_like({"hooks": {"entries": [entry]}}, read_as="muse")

    assert ("muse", "hooks.entries[0].point") == (
        muse_names and muse_names.name,
        muse_names and muse_names.marks[0].path,
    )
    assert "meerkat" == (in_json and in_json.name)
    assert ("Muse Code", "before_tool_call") == meanings_of("PreToolUse")[0]


def test_b17_a_file_that_is_good_as_it_stands(place: Place) -> None:
    """A file of Claude Code with nothing that Muse Code has not is Muse's, and says so instead of being rewritten."""
    write(place, "settings.json", document(PreToolUse=[command("true")]))
    done = convert(place, "settings.json", "--to", "muse")

    assert (2, "") == (done.returncode, done.stdout)
    assert "this is a file for muse already, and good as it stands" in done.stderr


def test_b18_seconds_become_milliseconds(place: Place) -> None:
    """`timeout: 5` is `timeout_ms = 5000` there, and five seconds again on the way back."""
    write(place, "hooks.json", document(PreToolUse=[command("true", timeout=5)]))
    there = convert(place, "hooks.json", "--to", "meerkat", "--output", "config.toml")
    assert (0, ["hookline: config.toml: 1 written, from Muse Code"]) == (there.returncode, told(there))
    (entry,) = tomllib.loads((place.project / "config.toml").read_text())["hooks"]["entries"]
    assert ("pre_tool_execution", 5000) == (entry["point"], entry["timeout_ms"])

    back = convert(place, "config.toml", "--to", "muse")
    assert (0, 5) == (back.returncode, handlers(back.stdout, "PreToolUse")[0]["timeout"])


def test_b18_milliseconds_of_another_tool_become_seconds(place: Place) -> None:
    """Gemini CLI counts in milliseconds, GitHub Copilot in seconds, Kiro in milliseconds under another name."""
    copilot = {"version": 1, "hooks": {"sessionStart": [{"type": "command", "bash": "true", "timeoutSec": 7}]}}
    kiro = {"hooks": {"agentSpawn": [{"command": "true", "timeout_ms": 7000}]}}
    gemini = {"hooks": {"SessionStart": [{"hooks": [command("true", timeout=7000)]}], "AfterAgent": []}}
    for value in (copilot, kiro, gemini):
        write(place, "hooks.json", value)
        done = convert(place, "hooks.json", "--to", "muse")
        assert 7 == handlers(done.stdout, "SessionStart")[0]["timeout"], done.stderr


def handlers(text: str, event: str) -> list[Any]:
    return [handler for each in json.loads(text)["hooks"][event] for handler in each["hooks"]]


def test_b13_the_word_block_is_translated(place: Place) -> None:
    """`onFailure: "block"` becomes a fallback that blocks: a guard that cannot be started lets nothing through."""
    guard = command("/no/such/guard", onFailure="block")
    write(place, "settings.json", {"permissions": {}, **document(PreToolUse=[guard])})
    done = convert(place, "settings.json", "--to", "muse", "--output", ".muse/hooks.json")
    assert 0 == done.returncode, done.stderr

    place.exec(bash("touch MARK"))
    assert not place.mark


GUARDRAIL = """
[[hooks.entries]]
id = "guard"
point = "pre_tool_execution"
capability = "guardrail"
[hooks.entries.runtime]
type = "command"
command = "sh"
args = ["-c", '''{}''']
"""
DENIAL = '{"decision": {"decision": "deny", "hook_id": "guard", "reason_code": "policy_violation", "message": "no"}}'


@pytest.mark.parametrize(
    "line", ["exit 3", f"if grep -q MARK; then echo '{DENIAL}'; else echo '{{}}'; fi"], ids=["fails", "denies"]
)
def test_b13_a_guard_that_fails_the_run_there_refuses_here(place: Place, line: str) -> None:
    """A Meerkat guardrail is closed when it fails, and so is what becomes of it, also when it denies in those words."""
    (place.project / "config.toml").write_text(GUARDRAIL.replace("{}", line, 1))
    done = convert(place, "config.toml", "--to", "muse", "--output", ".muse/hooks.json")
    assert 0 == done.returncode, done.stderr

    ran = place.exec(TOUCH)
    assert not place.mark
    (asked,) = ran.dispatched("before_tool_call")
    assert asked.decision
    assert "meerkat:guard gave no answer" == asked.decision.reason

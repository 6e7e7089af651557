"""What `check` says of hooks that loaders accept, and what it must leave alone."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import hookline.workbench
from hookline.workbench.check import check
from hookline.workbench.findings import Finding, Level

ROWS = yaml.safe_load(Path(__file__).with_name("lints.yaml").read_text(encoding="utf-8"))
ENV = {"HOME": "/home/dev", "PATH": "/usr/local/bin:/usr/bin:/bin", "SHELL": "/bin/sh"}
OF_EVERY_GUARD = "FailsOpen"


def findings(folder: Path, handler: dict[str, Any], event: str = "PreToolUse", **group: Any) -> list[Finding]:
    """What is found in a Muse file with this one handler, but for what is said of every guard."""
    file = folder / ".muse" / "hooks.json"
    file.parent.mkdir(exist_ok=True)
    document = {"hooks": {event: [{**group, "hooks": [{"type": "command", **handler}]}]}}
    file.write_text(json.dumps(document), encoding="utf-8")
    return [each for each in check([file], workspace=folder, env=ENV).findings if each.code != OF_EVERY_GUARD]


def codes(found: list[Finding]) -> list[str]:
    return list(dict.fromkeys(each.code for each in found))


COMMANDS = [
    pytest.param(command, row["finds"], id=f"{row['note']}: {command[:40]!r}")
    for row in ROWS
    for command in row["commands"]
]


@pytest.mark.parametrize(("command", "wanted"), COMMANDS)
def test_what_is_said_of_a_command(tmp_path: Path, command: str, wanted: list[str]) -> None:
    """Each command of the table has the findings that stand there, and no other."""
    assert sorted(wanted) == sorted(codes(findings(tmp_path, {"command": command})))


def test_a_script_without_its_x_bit_is_found_and_one_with_it_is_not(tmp_path: Path) -> None:
    """The program of a hook has to be executable; one that is given to an interpreter need not be."""
    script = tmp_path / "guard.sh"
    script.write_text("#!/bin/sh\nexit 0\n")

    assert ["NotExecutable"] == codes(findings(tmp_path, {"command": str(script)}))
    assert [] == codes(findings(tmp_path, {"command": f"sh {script}"}))
    script.chmod(0o755)
    assert [] == codes(findings(tmp_path, {"command": str(script)}))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import sys\nsys.stderr.write('no')\nsys.exit(1)\n", ["ExitOneBlocksNothing"]),
        ("import sys\nprint('no', file=sys.stderr)\nraise SystemExit(1)\n", ["ExitOneBlocksNothing"]),
        ("import sys\nprint('no', file=sys.stderr)\nsys.exit(2)\n", []),
        ("import sys\nsys.exit(2)\n", ["BlockWithoutReason"]),
        ("import sys\nsys.exit(1)\n", []),
    ],
)
def test_the_script_that_is_named_is_read(tmp_path: Path, text: str, wanted: list[str]) -> None:
    """How a script ends counts, wherever it stands."""
    script = tmp_path / "guard.py"
    script.write_text(text)

    assert wanted == codes(findings(tmp_path, {"command": f"python3 {script}"}))


def test_what_blocks_nothing_is_said_only_where_something_could_be_blocked(tmp_path: Path) -> None:
    """At an event that only looks on, exit 1 is as good as any."""
    assert [] == codes(findings(tmp_path, {"command": "echo no >&2; exit 1"}, event="SessionEnd"))


@pytest.mark.parametrize(
    ("matcher", "wanted"),
    [
        ("Bash", []),
        ("bash", []),
        ("Bash|Write|Edit", []),
        ("^web_", []),
        (".*", []),
        ("*", []),
        ("", []),
        ("mcp__notes__add", []),
        ("^mcp__notes__", []),
        ("mcp__.*__add", []),
        ("peer_.*", []),
        ("mcp__notes", ["MatchesNothing"]),
        ("Bahs", ["MatchesNothing"]),
        ("Task", ["MatchesNothing"]),
        ("^no_tool_has_this$", ["MatchesNothing"]),
        ("BASH", ["MatchesNothing"]),
    ],
)
def test_matchers_are_tried_on_the_real_tools(tmp_path: Path, matcher: str, wanted: list[str]) -> None:
    """A matcher that no tool has is said; what may be a server's tool is not judged."""
    assert wanted == codes(findings(tmp_path, {"command": "true"}, matcher=matcher))


@pytest.mark.parametrize(
    ("matcher", "wanted"), [("startup", []), ("startup|resume", []), ("start", ["MatchesNothing"])]
)
def test_matchers_are_tried_on_what_a_session_can_be(tmp_path: Path, matcher: str, wanted: list[str]) -> None:
    """A session begins in one of a few ways; names are matched whole."""
    handler = {"command": "true", "timeout": 5}

    assert wanted == codes(findings(tmp_path, handler, event="SessionStart", matcher=matcher))


@pytest.mark.parametrize(
    ("matcher", "remedy"),
    [
        ("Wirte", "write Write"),
        ("Bash ", "write Bash"),
        ("Bash, Write", "write Bash|Write"),
        ("Bash(git *)", "write Bash"),
        ("TodoWrite", "write one of bash, "),
        ("^Notebook", "write one of them, or a pattern that fits"),
    ],
)
def test_what_to_write_instead_is_as_near_as_can_be(tmp_path: Path, matcher: str, remedy: str) -> None:
    """Names in another form, slips; and no name that is only alike."""
    (found,) = findings(tmp_path, {"command": "true"}, matcher=matcher)

    assert found.remedy.startswith(remedy)
    assert found.remedy == remedy or remedy.endswith(" ")


def test_codes_are_those_that_the_guide_has() -> None:
    """A script may rely on them: each that is not a dialect's own is here, and in the guide's table."""
    source = Path(hookline.workbench.__file__).parent
    texts = [path.read_text() for path in (*source.glob("lints/*.py"), source / "check.py", source / "strangers.py")]
    given = {code for text in texts for code in re.findall(r'"((?:[A-Z][a-z]*){2,}[a-z])"', text)}

    codes = {
        "AnswerRefused", "BlockWithoutReason", "ExitOneBlocksNothing", "FailsOpen", "HeldBack", "MatchesNothing",
        "NoSuchCommand", "NotAHookFile", "NotExecutable", "RelativeCommand", "SlowStart", "TimeoutUnit",
        "VariableNotSet", "WrittenForAnother",
    }  # fmt: skip
    assert codes == given - {"SystemExit"}
    page = (Path(__file__).parents[3] / "docs" / "guide" / "check.md").read_text()
    assert [] == [code for code in sorted(codes) if f"`{code}`" not in page]


def test_a_remedy_names_what_was_meant(tmp_path: Path) -> None:
    """The nearest tool, and the pattern for a server's name."""
    (near,) = findings(tmp_path, {"command": "true"}, matcher="Bahs")
    (server,) = findings(tmp_path, {"command": "true"}, matcher="mcp__notes")

    assert ("write Bash", "this hook is never asked") == (near.remedy, near.effect)
    assert "write ^mcp__notes__ for all tools of that server" == server.remedy


@pytest.mark.parametrize(
    ("timeout", "wanted"), [(5, []), (600, []), (999, []), (5000, ["TimeoutUnit"]), (60000, ["TimeoutUnit"])]
)
def test_seconds_that_are_meant_as_milliseconds(tmp_path: Path, timeout: int, wanted: list[str]) -> None:
    """`timeout: 5000` is an hour and a half, which nobody means."""
    assert wanted == codes(findings(tmp_path, {"command": "true", "timeout": timeout}))


@pytest.mark.parametrize(("timeout", "wanted"), [(5, ["TimeoutUnit"]), (99, ["TimeoutUnit"]), (100, []), (5000, [])])
def test_milliseconds_that_are_meant_as_seconds(tmp_path: Path, timeout: int, wanted: list[str]) -> None:
    """`timeout_ms = 5` is over before a program has started."""
    file = tmp_path / "config.toml"
    entry = f'[[hooks.entries]]\nid = "a"\npoint = "run_started"\ntimeout_ms = {timeout}\n'
    file.write_text(f'{entry}[hooks.entries.runtime]\ntype = "command"\ncommand = "true"\n')

    assert wanted == codes(list(check([file], workspace=tmp_path, env=ENV).findings))


def test_a_start_that_a_hook_may_hold_up_is_noted(tmp_path: Path) -> None:
    """Ten minutes are too many at the start of a session; nobody waits for what runs in the background."""
    (found,) = findings(tmp_path, {"command": "true"}, event="SessionStart")

    assert ("SlowStart", Level.NOTE) == (found.code, found.level)
    assert [] == findings(tmp_path, {"command": "true", "timeout": 5}, event="SessionStart")
    assert [] == findings(tmp_path, {"command": "true", "async": True}, event="SessionStart")


def test_arguments_without_a_shell_are_not_expanded(tmp_path: Path) -> None:
    """`$NAME` in an argument of a program that no shell runs is passed on as it is."""
    file = tmp_path / "config.toml"
    runtime = '[hooks.entries.runtime]\ntype = "command"\ncommand = "echo"\nargs = ["$TOOL_NAME"]\n'
    file.write_text(f'[[hooks.entries]]\nid = "a"\npoint = "run_started"\n{runtime}')

    (found,) = check([file], workspace=tmp_path, env=ENV).findings
    assert ("VariableNotSet", "the command gets the name itself") == (found.code, found.effect)


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("guard.exe", 0),
        ("guard.exe || exit /b 0", 0),
        ("node guard.js || true", 1),
        ("guard.exe > /dev/null", 1),
        ("echo $HOME", 1),
        ("export X=1", 1),
        ("echo 'hi'", 1),
        ("echo it's", 0),
    ],
)
def test_posix_words_for_windows_are_found(tmp_path: Path, command: str, wanted: int) -> None:
    """What `cmd.exe` does not know is said of `commandWindows`."""
    found = findings(tmp_path, {"command": "true", "commandWindows": command})

    assert wanted == len([each for each in found if each.code == "WrongShell"])


def test_a_guard_that_fails_open_is_noted_unless_its_failure_is_caught(tmp_path: Path) -> None:
    """Only a hook that may deny, that somebody waits for, and that has no fallback."""
    file = tmp_path / "hooks.json"
    handlers = [
        {"type": "command", "command": "true"},
        {"type": "command", "command": "true", "async": True},
        {"type": "command", "command": "true", "onFailure": {"type": "command", "command": "echo no >&2; exit 2"}},
    ]
    file.write_text(
        json.dumps({"hooks": {"PreToolUse": [{"hooks": handlers}], "SessionEnd": [{"hooks": handlers[:1]}]}})
    )

    found = [each for each in check([file], workspace=tmp_path, env=ENV).findings if each.code == OF_EVERY_GUARD]
    assert ["hooks.PreToolUse[0].hooks[0]"] == [each.where.path for each in found]

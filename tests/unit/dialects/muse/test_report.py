import json
from pathlib import Path
from typing import Any

import pytest

from hookline._core.problems import Problem, Scope, Where
from hookline.dialects._base import Loaded
from hookline.dialects.muse.report import startup_lines
from hookline.dialects.muse.sources import load_file

AT = "muse:   hooks.json: "
OK = {"type": "command", "command": "true"}


def lines(tmp_path: Path, hooks: dict[str, Any]) -> list[str]:
    path = tmp_path / "hooks.json"
    path.write_text(json.dumps({"hooks": hooks}), "utf-8")
    return startup_lines(load_file(path, env={}), "muse")


def events(*names: str) -> dict[str, Any]:
    return {name: [{"hooks": [OK]}] for name in names}


# The transcripts of the source document, and what follows from its rules: (case, hooks, lines)
TRANSCRIPTS = [
    ("L12 a string for a timeout", {"Stop": [{"hooks": [{**OK, "timeout": "10"}, OK]}]}, [
        "muse: Hooks: 0 runnable · 1 warning",
        f"{AT}MalformedConfig: hook handler field `timeout` must be a non-negative integer, found a string",
    ]),
    ("L18 one good group and three problems",
     {"PreToolUse": [{"hooks": [OK]}, {"hooks": [{**OK, "foo": 1}]}], "OnSave": [],
      "Stop": [{"matcher": "x", "hooks": [OK]}]}, [
        "muse: Hooks: 1 runnable · 3 warnings",
        f"{AT}UnsupportedHandler: unknown handler field `foo` may narrow execution, so this handler is skipped",
        f"{AT}UnsupportedEvent: unsupported hook event `OnSave`",
        f"{AT}InvalidMatcher: `stop` is unmatchable; drop this group's matcher",
    ]),
    ("L19 five problems", events("A", "B", "C", "D", "E"), [
        "muse: Hooks: 0 runnable · 5 warnings",
        f"{AT}UnsupportedEvent: unsupported hook event `A`",
        f"{AT}UnsupportedEvent: unsupported hook event `B`",
        f"{AT}UnsupportedEvent: unsupported hook event `C`",
        "muse:   2 more hidden",
    ]),
    ("equal problems are one", {"Stop": [{"hooks": [{"type": "command"}, {"type": "command"}]}]}, [
        "muse: Hooks: 0 runnable · 1 warning",
        f"{AT}UnsupportedHandler: command hook command must not be empty",
    ]),
    ("a fallback is not counted for itself, a background hook is",
     {**events("A"), "Stop": [{"hooks": [{**OK, "onFailure": OK}, {**OK, "async": True}]}]}, [
        "muse: Hooks: 2 runnable · 1 warning",
        f"{AT}UnsupportedEvent: unsupported hook event `A`",
    ]),
    ("L20 nothing wrong", events("Stop"), []),
    ("L26 only a note", {"Stop": [{"hooks": [{**OK, "silent": True}]}]}, []),
    ("a name that would move the cursor", events("On\x1b[2J\nSave"), [
        "muse: Hooks: 0 runnable · 1 warning",
        rf"{AT}UnsupportedEvent: unsupported hook event `On\x1b[2J\nSave`",
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("note", "hooks", "expected"), TRANSCRIPTS, ids=[case[0] for case in TRANSCRIPTS])
def test_startup_lines(tmp_path: Path, note: str, hooks: dict[str, Any], expected: list[str]) -> None:
    """The lines are those of the source document, to the byte; without a warning there are none."""
    assert expected == lines(tmp_path, hooks)


def test_the_program_is_called_by_its_own_name() -> None:
    """Lines begin with the name that the program was started with."""
    where = Where(file="/p/hooks.json", label="hooks.json")
    problem = Problem(scope=Scope.POINT, code="UnsupportedEvent", message="x" * 2000, where=where, rule="D1")

    first, second = startup_lines(Loaded(problems=(problem,)), "hookline")

    assert first == "hookline: Hooks: 0 runnable · 1 warning"
    assert second.startswith("hookline:   hooks.json: UnsupportedEvent: xxx")
    assert len(second) < 1100

"""docs/guide/replay.md: what it shows is what is printed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.test_docs import blocks, run

from hookline.workbench.replayed import Kind, Replayed

PAGE = "docs/guide/replay.md"
CALLS = [{"tool": "bash", "input": {"command": command}} for command in ("git push --dry-run || true", "rm -rf build")]
NAMES = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=run )[0-9a-f]{8}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files of the page, and a session recorded under the old ones."""
    (tmp_path / ".muse").mkdir()
    old, new = blocks(PAGE, "json")
    (tmp_path / ".muse/hooks.json").write_text(old)
    (tmp_path / "policy.json").write_text(new)
    for name, text in zip(("old.sh", "new.sh"), blocks(PAGE, "sh"), strict=True):
        (tmp_path / name).write_text(text)
    (tmp_path / "steps.yaml").write_text(json.dumps({"steps": [{"calls": CALLS}, {"say": "done"}]}))
    ran = run(tmp_path, "exec", "--trust-workspace", "--yolo", "--provider", "script", "--model", "steps.yaml", "go")
    assert (0, "done\n") == (ran.returncode, ran.stdout), ran.stderr
    return tmp_path


@pytest.mark.parametrize("block", blocks(PAGE, "console"))
def test_what_it_shows_is_printed(project: Path, block: str) -> None:
    """But for the names that a session and a run are given."""
    command, _, printed = block.partition("\n")
    ran = run(project, *command.removeprefix("$ hookline ").split())

    assert NAMES.sub("ID", printed) == NAMES.sub("ID", ran.stdout)
    assert (1, "") == (ran.returncode, ran.stderr)


def test_its_program_runs(project: Path) -> None:
    """It prints the two calls that come out otherwise."""
    (example,) = blocks(PAGE, "python")
    ran = subprocess.run(
        [sys.executable, "-c", example],
        cwd=project,
        env={"HOME": str(project)},
        check=True,
        capture_output=True,
        text=True,
    )

    assert ["no decision", "deny"] == [line.partition("} ")[2] for line in ran.stdout.splitlines()]


def test_it_has_every_kind_of_change_and_every_member() -> None:
    """A word that is printed is a word that is explained."""
    from tests.test_docs import ROOT

    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert [] == [kind.value for kind in Kind if f"`{kind.value}`" not in text]
    assert [] == [name for name in Replayed(against=()).as_json() if name != "sessions" and f"`{name}`" not in text]

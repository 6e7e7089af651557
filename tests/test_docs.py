"""The documents: what they show works, and what they point to is there."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline.events import POINTS
from hookline.testing import breaches_of_dialect

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")])
LINK = re.compile(r"\]\(([^)#:]+)\)")


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    """A relative link names a file of the project."""
    assert [] == [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]


def test_the_example_in_python_runs(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """README: the file that it shows loads and guards, the handler denies, the session answers."""
    (example,) = blocks("README.md", "python")
    (hooks,) = blocks("README.md", "json")
    (tmp_path / ".muse").mkdir()
    (tmp_path / ".muse" / "hooks.json").write_text(hooks)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(example, "README.md", "exec"), scope)  # noqa: S102  # it is our own text
    deletion = scope["hl"].BeforeToolCall(tool_name="bash", input={"command": "rm -rf kept"})

    async def both() -> Any:
        resolution = await scope["engine"].dispatch(deletion)  # before main(), which closes the engine
        await scope["main"]()
        return resolution

    resolution = asyncio.run(both())
    assert (resolution.denied, resolution.reason) == (True, "not here")
    assert "True force push is off\necho: hello\n" == capsys.readouterr().out


def test_the_page_about_python_is_true(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """docs/python.md: its blocks run in their order, its handlers decide what it says, its session answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    scope: dict[str, Any] = {"__name__": "example"}
    for block in blocks("docs/python.md", "python"):
        exec(compile(block, "docs/python.md", "exec"), scope)  # noqa: S102  # it is our own text
    hl = scope["hl"]

    async def all_of_it() -> list[Any]:
        decide = scope["engine"].dispatch
        web = [hl.BeforeToolCall(tool_name="web_fetch", input={"url": url}) for url in ("ftp://a", "https://b")]
        made = await decide(hl.BeforeToolCall(tool_name="bash", input={"command": "make"}))
        frozen = await scope["deployments"].dispatch(scope["BeforeDeployment"](stage="production"))
        decisions = [(await decide(event)).decision for event in web]
        for example in ("main", "careful", "ask_a_queue"):
            await scope[example]()
        return [*decisions, made.event.input["command"], frozen.reason]

    wanted = [hl.Deny("https only"), hl.Ask("another host"), "make --quiet", "not on a Friday"]
    assert wanted == asyncio.run(all_of_it())
    assert capsys.readouterr().out.splitlines() == [
        "completed echo: fix the build None",
        "True hook guard gave no answer: no answer within 0.1 s",
    ]
    assert breaches_of_dialect(scope["ONE_WORD"]) == []
    del POINTS["before_deployment"]


def test_the_guard_that_it_shows_guards(tmp_path: Path) -> None:
    """README: `rm -rf` is refused by the hook file as it stands there, in a real session."""
    (hooks,) = blocks("README.md", "json")
    (tmp_path / ".muse").mkdir()
    (tmp_path / ".muse" / "hooks.json").write_text(hooks)
    (tmp_path / "kept").mkdir()
    (tmp_path / "steps.yaml").write_text("steps: [{call: {tool: bash, input: {command: rm -rf kept}}}, {say: done}]\n")
    command = ["exec", "--trust-workspace", "--yolo", "--provider", "script", "--model", "steps.yaml", "go"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SHELL": "/bin/sh"}
    ran = subprocess.run([sys.executable, "-m", "hookline", *command], cwd=tmp_path, env=env, check=False)

    assert 0 == ran.returncode
    assert (tmp_path / "kept").is_dir()


@pytest.mark.timeout(60)
def test_the_demo_runs(tmp_path: Path) -> None:
    """`make demo` shows a refusal, a hook that never answered, a run that was kept going, and its end."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run([ROOT / "scripts" / "demo"], env=env, check=False, capture_output=True, text=True)

    assert 0 == ran.returncode, ran.stderr
    for sight in (
        "deleting folders is off in this project",
        "proceeded_without_answer",
        "run the tests (sh test.sh) before you stop",
        "The greeting is written and tested.",
    ):
        assert sight in ran.stdout

"""The documents: what they show works, and what they point to is there."""

import asyncio
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hookline._core.inputs import InputKind
from hookline.events import POINTS
from hookline.journal import Summary
from hookline.journal.entries import BODIES
from hookline.session.admission.validation import RULES
from hookline.session.admission.wire import Wire
from hookline.testing import breaches_of_dialect
from hookline.workbench.convert import sources
from hookline.workbench.report import HookRow, Report, Times
from hookline.workbench.session_list import ListedSession

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


def test_the_page_about_the_runtime_is_true(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """docs/runtime.md: what its example prints is what the page says of keys, queues, proofs and the event log."""
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"__name__": "example"}
    (example,) = blocks("docs/runtime.md", "python")
    exec(compile(example, "docs/runtime.md", "exec"), scope)  # noqa: S102  # it is our own text
    asyncio.run(scope["main"]())

    printed = capsys.readouterr().out.splitlines()
    assert printed[:4] == [
        "echo: fix the build True",
        "queue 1",
        "durably_resolved accepted",
        "unknown there is no peer nobody; there are reviewer",
    ]
    assert [f'{seq} {{"type":"interaction_complete"' for seq in (1, 2, 3)] == [line[:32] for line in printed[4:]]
    assert {"echo: fix the build", "echo: main is red"} < set(scope["told"])
    assert 3 == len(scope["told"])


def cells(page: str, first: str) -> list[str]:
    """The cells of the row of a table that begins with *first*, behind that."""
    rows = [
        line for line in (ROOT / page).read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{first}` |")
    ]
    assert 1 == len(rows), (first, rows)
    return rows[0].strip("|").split("|")[1:]


def test_the_page_has_every_field_of_an_input() -> None:
    """docs/runtime.md: the fields of an input and its kinds, and every ground for a refusal in its own words."""
    page = (ROOT / "docs/runtime.md").read_text(encoding="utf-8")

    assert [] == [kind.value for kind in InputKind if f"`{kind.value}`" not in cells("docs/runtime.md", "kind")[1]]
    assert all(cells("docs/runtime.md", field) for field in Wire.__struct_fields__)
    texts = [rule.detail.format(kind="<kind>", status="<status>") for rule in RULES]
    assert [] == [text for text in texts if f"| `{text}` |" not in page]
    assert texts == sorted(texts, key=page.index)


@pytest.mark.parametrize("kind", list(BODIES))
def test_the_page_has_every_line_of_a_journal(kind: str) -> None:
    """docs/journal.md has each kind of line, with all of its fields."""
    told = cells("docs/journal.md", kind)[0]

    assert [] == [field for field in BODIES[kind].__struct_fields__ if f"`{field}`" not in told]


def figureless(lines: str) -> list[str]:
    """Text with a mark for each figure, whatever its unit and its width."""
    return [re.sub(r"\b\d+(\.\d+)?( ms| s|K|%)?", "#", " ".join(line.split())) for line in lines.splitlines()]


@pytest.mark.slow
def test_the_report_that_the_page_shows(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    """docs/journal.md: a real session has the report that it shows, but for the figures; its blocks run over it."""
    judge = 'case "$(cat)" in *forbidden*) echo no >&2; exit 2;; *forever*) sleep 60;; esac'
    guard = {"matcher": "Bash", "hooks": [{"type": "command", "command": judge, "timeout": 1}]}
    auditor = {"hooks": [{"type": "command", "command": "cat >/dev/null", "async": True}]}
    (tmp_path / ".muse").mkdir()
    (tmp_path / ".muse/hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": [guard], "PostToolUse": [auditor]}}))
    calls = [{"call": {"tool": "bash", "input": {"command": f"echo {word}"}}} for word in ("forbidden", "forever", "x")]
    (tmp_path / "steps.yaml").write_text(json.dumps({"steps": [*calls, {"say": "done"}]}))
    ran = run(tmp_path, "exec", "--trust-workspace", "--yolo", "--provider", "script", "--model", "steps.yaml", "go")
    assert 0 == ran.returncode, ran.stderr

    page = blocks("docs/journal.md", "console")[0]
    command, shown = page.split("\n", 1)
    assert figureless(shown) == figureless(run(tmp_path, *command.removeprefix("$ hookline ").split()).stdout)

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    scope: dict[str, Any] = {"__name__": "example"}
    for block in blocks("docs/journal.md", "python"):
        exec(compile(block, "docs/journal.md", "exec"), scope)  # noqa: S102  # it is our own text
    told = capsys.readouterr().out.splitlines()
    assert "runs=1, ending='completed'" in told[0]
    assert ["hooks.json:PreToolUse[0].hooks[0]", "3"] == told[1].split()[:2]
    assert told[1].endswith("{'timeout': 1}")


def test_the_page_has_every_field_of_a_report() -> None:
    """docs/journal.md names what `trace --report --json` and `trace --list --json` print."""
    page = (ROOT / "docs/journal.md").read_text(encoding="utf-8")
    listed = ListedSession(name="", summary=Summary(path=ROOT), is_running=False).as_json()

    fields = ["v", "error", *Report.__slots__, *HookRow.__slots__, *Times.__slots__, *listed]
    assert [] == [field for field in fields if f"`{field}`" not in page[page.index("## The tree") :]]


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """hookline in *folder*, which is its home, too."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(folder), "SHELL": "/bin/sh"}
    hookline = [sys.executable, "-m", "hookline", *command]
    return subprocess.run(hookline, cwd=folder, env=env, check=False, capture_output=True, text=True)


def test_the_page_about_schemas_is_true(tmp_path: Path, capsys: Any) -> None:
    """docs/schemas.md: its commands print what it shows, in which three dots stand for lines that it leaves out."""
    for block in blocks("docs/schemas.md", "console"):
        command, *shown = block.splitlines()
        ran = run(tmp_path, *command.removeprefix("$ hookline ").split())
        pattern = "\n".join(r"(.*\n)*.*" if line == "..." else re.escape(line) for line in shown)

        assert (0, "") == (ran.returncode, ran.stderr)
        assert re.fullmatch(pattern + "\n", ran.stdout), ran.stdout
    (example,) = blocks("docs/schemas.md", "python")
    exec(compile(example, "docs/schemas.md", "exec"), {})  # noqa: S102  # it is our own text
    assert [
        "urn:hookline:schema:muse:1.3.0:PreToolUse:answer",
        "urn:hookline:schema:meerkat:pre_tool_execution:answer",
    ] == capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(("language", "file"), [("json", ".muse/hooks.json"), ("toml", ".rkat/config.toml")])
def test_the_guard_that_it_shows_guards(tmp_path: Path, language: str, file: str) -> None:
    """README: `rm -rf` is refused by the hook file as it stands there, in a real session, and nothing else is."""
    (hooks,) = blocks("README.md", language)
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(hooks)
    (tmp_path / "kept").mkdir()
    calls = "{tool: bash, input: {command: rm -rf kept}}, {tool: bash, input: {command: mkdir made}}"
    (tmp_path / "steps.yaml").write_text(f"steps: [{{calls: [{calls}]}}, {{say: done}}]\n")
    ran = run(tmp_path, "exec", "--trust-workspace", "--yolo", "--provider", "script", "--model", "steps.yaml", "go")

    assert (0, "done\n") == (ran.returncode, ran.stdout)
    assert (tmp_path / "kept").is_dir()
    assert (tmp_path / "made").is_dir()


def test_the_example_of_the_meerkat_page_runs(tmp_path: Path) -> None:
    """docs/dialects/meerkat.md: its command, with its files, has the guard refuse one call and let the other pass."""
    page = "docs/dialects/meerkat.md"
    (tmp_path / ".rkat").mkdir()
    (tmp_path / ".rkat/config.toml").write_text(blocks(page, "toml")[0])
    (tmp_path / ".rkat/guard.py").write_text(blocks(page, "python")[0])
    (tmp_path / "steps.yaml").write_text(blocks(page, "yaml")[0])
    (tmp_path / "without-reviewer.json").write_text('{"disable": ["reviewer"]}')
    text = (ROOT / page).read_text(encoding="utf-8")
    command = re.search(r"^hookline exec (.*?) \\\n +(.*?) \"publish the release\"$", text, re.MULTILINE)
    assert command is not None
    ran = run(tmp_path, "exec", *command[1].split(), *command[2].split(), "publish the release")

    assert 0 == ran.returncode, ran.stderr
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    (denied,) = [event for event in events if event["type"] == "hook_denied"]
    assert ("no-force-push", "push without force") == (denied["hook_id"], denied["message"])
    asked = [event for event in events if event["type"] == "hook_completed"]
    assert ["no-force-push"] * 2 == [event["hook_id"] for event in asked]
    assert len((tmp_path / "usage.jsonl").read_text().splitlines()) == 2


@pytest.mark.timeout(60)
def test_the_demo_runs(tmp_path: Path) -> None:
    """`make demo` shows a refusal, a hook that never answered, a run kept going, the workbench; a guarded capsule."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run([ROOT / "scripts" / "demo"], env=env, check=False, capture_output=True, text=True)

    assert 0 == ran.returncode, ran.stderr
    for sight in (
        "deleting folders is off in this project",
        "proceeded_without_answer",
        "the action goes on without its answer",
        "FailsOpen",
        "failed 2 (timeout 2); killed 2",
        "run the tests (sh test.sh) before you stop",
        "The greeting is written and tested.",
        "Refused by policy hook 'murmur-hook-protect-shell': 'tests/test.sh' is protected by 'tests/'",
        "The greeting is written, the tests are as they were.",
    ):
        assert sight in ran.stdout


def test_the_page_about_converting_names_every_source() -> None:
    """docs/guide/convert.md: what `--from` takes. What it shows is run by tests/test_guides.py."""
    page = (ROOT / "docs/guide/convert.md").read_text(encoding="utf-8")

    assert [] == [name for name in sources() if f"`{name}`" not in page]


def test_the_workbench_from_python_is_there() -> None:
    """Every function and value in the table of the guide's page is where it says."""
    text = (ROOT / "docs/guide/from-python.md").read_text(encoding="utf-8")
    named = re.findall(r"`(?:await )?([a-z_]+(?:\.\w+)+)", text)
    found = [name for name in named if not name.startswith(("hookline", "hl"))]

    assert len(found) > 15
    for name in found:
        module, _, attribute = name.rpartition(".")
        assert hasattr(import_module(f"hookline.workbench.{module}"), attribute) or import_module(
            f"hookline.workbench.{name}"
        )

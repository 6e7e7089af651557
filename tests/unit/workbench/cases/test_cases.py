"""Files of hook tests: what hooks should do at an event, compared with what they do."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.unit.workbench.rig import command, muse_file

from hookline._core.errors import UsageError
from hookline.workbench.cases.files import files_in, read_cases
from hookline.workbench.cases.first import first_file
from hookline.workbench.cases.golden import update
from hookline.workbench.cases.junit import junit
from hookline.workbench.cases.running import run_cases
from hookline.workbench.cases.types import Report, Status
from hookline.workbench.faults import FAULTS
from hookline.workbench.opening import Chosen, opened

GUARD = "if grep -q force; then echo 'force is off' >&2; exit 2; fi"
FILE = "hooks: [.muse/hooks.json]\ncases:\n"


def cases(folder: Path, text: str, name: str = "a.hooktest.yaml") -> Path:
    path = folder / name
    path.write_text(FILE + text, encoding="utf-8")
    return path


async def ran(*paths: Path, **options: Any) -> Report:
    return await run_cases(paths, **options)


def told(report: Report) -> list[tuple[str, Any, Any]]:
    """What is not as it is wanted."""
    return [(each.what, each.wanted, each.found) for result in report.results for each in result.differences]


def at_work_in(folder: Path) -> list[str]:
    """The processes whose folder this is."""
    found = []
    for each in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if each.name.isdigit() and (each / "cwd").readlink() == folder:
                found.append((each / "cmdline").read_text())
    return found


@pytest.fixture
def guarded(tmp_path: Path) -> Path:
    """A folder with a guard against `force`, and a hook that looks on in the background."""
    muse_file(
        tmp_path,
        PreToolUse=[{"matcher": "Bash", "hooks": [command(GUARD, statusMessage="guard")]}],
        Stop=[command("true", **{"async": True})],
    )
    return tmp_path


async def test_everything_that_can_be_wanted_is_compared(guarded: Path) -> None:
    """A decision, its reason by an expression, whose it is, outcomes by label and by the end of an id, what is told."""
    path = cases(
        guarded,
        """
  - name: all of it
    event: PreToolUse
    tool: Bash
    input: {command: git push --force}
    want:
      decision: deny
      reason: /force.*off/
      by: guard
      effects: []
      input: {command: git push --force}
      outcomes: {guard: answered}
      ignored: []
      told: "tool blocked by hook: force is off"
    within: 10s
  - name: and nothing of it
    event: PreToolUse
    tool: Bash
    input: {command: git push}
    want: {decision: deny, reason: force is off, outcomes: {"hooks[0]": failed}}
""".replace('"hooks[0]"', '"PreToolUse[0].hooks[0]"'),
    )

    report = await ran(path)

    assert [Status.OK, Status.FAILED] == [each.status for each in report.results]
    assert [
        ("decision", "deny", "none"),
        ("reason", "force is off", ""),
        ("outcome of PreToolUse[0].hooks[0]", "failed", "answered"),
    ] == told(report)


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("hang", "failed(timeout)"),
        ("crash", "failed(signal)"),
        ("flood", "failed(output_too_large)"),
        ("garbage", "failed(malformed_answer)"),
        ("fork", "failed(timeout)"),
        pytest.param("ignore_term", "failed(timeout)", marks=pytest.mark.slow),
        pytest.param("slow", "answered", marks=pytest.mark.slow),
    ],
)
async def test_each_fault_in_a_hooks_place(guarded: Path, fault: str, outcome: str) -> None:
    """What the agent would have done: only the slow one still guards, and no process is left."""
    wanted = "deny" if fault == "slow" else "none"
    path = cases(
        guarded,
        f"""
  - event: PreToolUse
    tool: Bash
    input: {{command: git push --force}}
    fault: {fault}
    want: {{decision: {wanted}, outcomes: {{guard: {outcome}}}}}
""",
    )

    report = await ran(path)

    assert [] == told(report)
    assert [] == [each.error for each in report.results if each.error]
    assert [] == at_work_in(guarded)


def test_every_fault_has_its_case() -> None:
    """The test above has a row for each."""
    rows = test_each_fault_in_a_hooks_place.pytestmark[0].args[1]

    assert set(FAULTS) == {row.values[0] if hasattr(row, "values") else row[0] for row in rows}


async def test_under_strict_a_fault_denies(guarded: Path) -> None:
    """The same guard, the same fault."""
    path = guarded / "a.hooktest.yaml"
    case = "  - {event: PreToolUse, tool: Bash, fault: crash, want: {decision: deny}}\n"
    path.write_text("strict: true\n" + FILE + case)

    assert (await ran(path)).is_fine


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("  - {event: PreToolUse, wnat: {}}\n", 3, "did you mean `want`?"),
        ("  - {tool: Bash, want: {}}\n", 3, "a case needs `event`, `payload`, `payload_file` or `session`"),
        ("  - {event: Stop, want: {decision: no}}\n", 3, "one of none, allow, ask, deny, failed_run"),
        ("  - {event: Stop, want: {effects: none}}\n", 3, "a list of effects"),
        ("  - {event: Stop, within: soon, want: {}}\n", 3, "`2s` or `500ms`"),
        ("  - {event: Stop, repeat: 0, want: {}}\n", 3, "a whole number from 1"),
        ("  - {event: Stop, fault: boom, want: {}}\n", 3, "there is no fault `boom`; there are hang, crash"),
        ("  - {payload: {a: 1}, tool: Bash, want: {}}\n", 3, "`payload` and `tool` cannot stand together"),
        ("  - {event: Stop, line: x, want: {}}\n", 3, "`line: 12`"),
        ("  what\n", 3, "a list of cases"),
    ],
)
async def test_a_mistake_is_one_line_with_its_place_and_the_rest_is_run(
    guarded: Path, text: str, line: int, words: str
) -> None:
    """File, line, what was found, what to write; the cases beside it and the other files are run."""
    bad = cases(guarded, text)
    good = cases(guarded, "  - {event: Stop, want: {decision: none}}\n", "b.hooktest.yaml")

    report = await ran(bad, good)

    (problem,) = report.problems
    assert (str(bad), line) == (problem.where.file, problem.where.line)
    assert words in problem.message
    assert [Status.OK] == [each.status for each in report.results]
    assert not report.is_fine


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("{event: PreToolUs, want: {decision: none}}", "did you mean"),
        ("{event: Stop, tool: Bash, want: {decision: none}}", "about no tool call"),
        ("{event: Stop, want: {outcomes: {nobody: answered}}}", "there is no hook 'nobody'; there are hooks.json:"),
        ("{event: Stop, fault: {nobody: hang}, want: {decision: none}}", "there is no hook 'nobody'"),
        ("{event: Stop, want: {outcomes: {'hooks[0]': answered}}}", "may be any of"),
        ("{event: Stop}", "it says nothing of what is wanted"),
        ("{payload: {a: 1}, want: {decision: none}}", "no dialect has payloads of this form"),
        ("{payload_file: gone.json, want: {decision: none}}", "cannot read the payload"),
    ],
)
async def test_a_case_that_cannot_be_run_is_broken_and_says_why(guarded: Path, case: str, words: str) -> None:
    """It is no failure of a hook, and no exception."""
    (result,) = (await ran(cases(guarded, f"  - {case}\n"))).results

    assert Status.BROKEN == result.status
    assert words in result.error


async def test_a_configuration_that_cannot_be_used_breaks_its_cases_only(guarded: Path) -> None:
    """Each says what is wrong with it, with the place."""
    (guarded / "bad.json").write_text("{")
    broken = guarded / "a.hooktest.yaml"
    broken.write_text("hooks: bad.json\ncases:\n  - {event: Stop, want: {decision: none}}\n")
    good = cases(guarded, "  - {event: Stop, want: {decision: none}}\n", "b.hooktest.yaml")

    report = await ran(broken, good)

    assert [Status.BROKEN, Status.OK] == [each.status for each in report.results]
    assert "bad.json" in report.results[0].error


async def test_results_come_in_the_order_of_the_files_however_long_each_takes(guarded: Path) -> None:
    """Cases run at once, and are told as they stand."""
    text = "".join(
        f"  - {{name: c{number}, event: PreToolUse, tool: Bash, {fault} want: {{decision: none}}}}\n"
        for number, fault in enumerate(["fault: hang,", "", "fault: crash,", ""])
    )
    seen: list[str] = []

    report = await ran(cases(guarded, text), jobs=4, on_result=lambda result: seen.append(result.case.name))

    assert ["c0", "c1", "c2", "c3"] == seen == [each.case.name for each in report.results]


async def test_fail_fast_begins_no_more(guarded: Path) -> None:
    """After the first that is not as it wants to be."""
    text = "".join(f"  - {{event: Stop, want: {{decision: {each}}}}}\n" for each in ("none", "deny", "none"))

    assert [Status.OK, Status.FAILED] == [
        each.status for each in (await ran(cases(guarded, text), jobs=1, fail_fast=True)).results
    ]


async def test_what_no_case_reached_is_said(guarded: Path) -> None:
    """A hook that was never asked, and the answers that nobody saw."""
    path = cases(guarded, "  - {event: PreToolUse, tool: Bash, input: {command: force}, want: {decision: deny}}\n")

    coverage = (await ran(path)).coverage

    assert 50.0 == coverage.percent
    assert ["hooks.json:Stop[0].hooks[0]"] == [each.hook.id for each in coverage.never_asked]
    asked = next(each for each in coverage.hooks.values() if each.asked)
    assert (1, 0, {"deny"}) == (asked.asked, asked.failed, asked.said)
    assert ["add_context", "ask", "rewrite_input"] == asked.unseen


GOLDEN = """\
# kept
hooks: [.muse/hooks.json]
cases:
  # kept, too
  - name: nothing wanted yet
    event: PreToolUse   # and this
    tool: Bash
    input: {command: force}

  - want: {decision: none, reason: ""}   # of the first member
    event: PreToolUse
    tool: Bash
    input: {command: force}
  - {name: on one line, event: Stop}
  - name: right as it is
    event: PreToolUse
    tool: Bash
    want:
      reason: /^$/
    repeat: 2
"""


async def test_golden_values_change_nothing_but_what_is_wanted(guarded: Path) -> None:
    """Comments, order and layout stay; what is right stays as it is written; then everything is as it wants to be."""
    path = guarded / "a.hooktest.yaml"
    path.write_text(GOLDEN)

    updated = update(path, (await ran(path)).results)

    assert (2, ("on one line",)) == (updated.changed, updated.unchangeable)
    text = path.read_text()
    gone = [line for line in GOLDEN.splitlines() if line not in text.splitlines()]
    assert ['  - want: {decision: none, reason: ""}   # of the first member'] == gone
    again = await ran(path, chosen=lambda case: case.name != "on one line")
    assert [Status.OK] * 3 == [each.status for each in again.results]
    assert 0 == update(path, again.results).changed


async def test_a_first_file_has_a_case_for_each_hook_and_runs_none(guarded: Path) -> None:
    """Filled in, all of it holds; it is never written over another."""
    path = guarded / "first.hooktest.yaml"
    chosen = Chosen(files=[guarded / ".muse" / "hooks.json"], env={"PATH": os.environ["PATH"], "HOME": str(guarded)})
    async with opened(chosen) as project:
        assert 3 == first_file(path, project, chosen)
        with pytest.raises(UsageError, match="already"):
            first_file(path, project, chosen)
        with pytest.raises(UsageError, match=r"end in \.hooktest\.yaml"):
            first_file(guarded / "first.yaml", project, chosen)

    assert {Status.BROKEN} == {each.status for each in (await ran(path)).results}
    update(path, (await ran(path)).results)
    report = await ran(path)
    assert (True, 100.0) == (report.is_fine, report.coverage.percent)


async def test_junit_counts_and_escapes(guarded: Path) -> None:
    """A suite for each file, an element for each thing that is wrong, and nothing that XML cannot hold."""
    path = cases(
        guarded,
        """
  - {name: "a <b> & \\u0001", event: Stop, want: {decision: deny}}
  - {name: fine, event: Stop, want: {decision: none}}
  - {name: broken, event: Nowhere, want: {decision: none}}
""",
    )

    root = ET.fromstring(junit(await ran(path)))  # noqa: S314  # it is our own

    assert ("3", "1", "1") == (root.get("tests"), root.get("failures"), root.get("errors"))
    names = [(case.get("name"), [child.tag for child in case]) for case in root.iter("testcase")]
    assert [("a <b> & \ufffd", ["failure"]), ("fine", []), ("broken", ["error"])] == names


def test_files_are_found_below_folders_and_where_there_is_none_it_is_said(tmp_path: Path) -> None:
    """Hidden folders are passed over but for the hooks' own."""
    for name in ("a", ".git", ".muse", "a/b"):
        (tmp_path / name).mkdir()
        cases(tmp_path / name, "", "x.hooktest.yaml")

    assert [".muse", "a", "b"] == [path.parent.name for path in files_in([tmp_path])]
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="`hookline test --init` writes a first one"):
        files_in([tmp_path / "empty"])


@pytest.mark.parametrize("data", [b"\xff", b"", b"- a", b"hooks: [", b"cases: []\n", b"hooks: x\ncases: [[]]\n"])
def test_any_file_is_read_or_has_problems(tmp_path: Path, data: bytes) -> None:
    """Never an exception."""
    path = tmp_path / "a.hooktest.yaml"
    path.write_bytes(data)

    assert read_cases(path).problems


RIGHT_AND_WRONG = (("right", "none"), ("wrong", "deny"))
QUIET = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
PLUGIN = """
def test_denied(hookline_fire):
    fired = hookline_fire("PreToolUse", tool="Bash", input={"command": "force"}, config=".muse/hooks.json")
    assert fired.resolution.reason == "force is off"


def test_fault(hookline_fire):
    fired = hookline_fire("PreToolUse", tool="Bash", config=".muse/hooks.json", fault={"guard": "crash"})
    assert [outcome.why.value for outcome in fired.resolution.outcomes] == ["signal"]


def test_members(hookline_fire):
    assert hookline_fire("Stop", workspace=".", trust=True, reopened=True).is_fine


async def test_on_a_loop(hookline_fire):
    assert (await hookline_fire.asynchronous("Stop", config=".muse/hooks.json")).is_fine
"""


@pytest.mark.slow
def test_the_plugin_has_a_fixture_and_collects_files(guarded: Path) -> None:
    """In somebody else's tests: the fixture with and without a loop, each case a test, a mistake an error."""
    (guarded / "test_guard.py").write_text(PLUGIN)
    cases(
        guarded,
        "".join(f"  - {{name: {name}, event: Stop, want: {{decision: {each}}}}}\n" for name, each in RIGHT_AND_WRONG),
    )
    cases(guarded, "  - {nmae: x}\n", "b.hooktest.yaml")

    done = subprocess.run(
        [*QUIET, "-o", "anyio_mode=auto", "--continue-on-collection-errors"],
        cwd=guarded, capture_output=True, text=True, check=False, env={**os.environ, "HOME": str(guarded)},
    )  # fmt: skip

    assert "1 failed, 5 passed, 1 error" in done.stdout, done.stdout
    assert "decision  wanted deny  found none" in done.stdout
    assert "a case has no key `nmae`; did you mean `name`?" in done.stdout


def test_the_plugin_costs_nothing_unused(tmp_path: Path) -> None:
    """Where no test needs it, pytest imports one small module of hookline."""
    lines = ["import sys", "", "", "def test_it():"]
    lines += [f"    assert {name!r} not in sys.modules" for name in ("hookline.workbench", "msgspec")]
    (tmp_path / "test_other.py").write_text("\n".join(lines) + "\n")

    done = subprocess.run(
        [*QUIET, "-p", "no:hypothesispytest", "-p", "no:xdist"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert 0 == done.returncode, done.stdout

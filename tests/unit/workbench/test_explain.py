"""Which hooks an event reaches, and why the others are not asked."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from tests.unit.workbench.rig import chosen, command, meerkat_file, muse_file, project

import hookline as hl
from hookline._core.answer import Answer
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import CallFailed, Limits, Payload
from hookline._core.points import POINTS
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget
from hookline._engines import new_engine
from hookline.dialects import PACKAGES
from hookline.workbench.explain import Verdict, explain, if_it_fails
from hookline.workbench.occurrences import Wanted, occurrence_of
from hookline.workbench.opening import opened
from hookline.workbench.samples import SAMPLES

EXACT = "; this is a list of exact names: for all that begin so write ^mcp__notes"
LS = occurrence_of(Wanted(point="PreToolUse", tool="Bash", input={"command": "ls"}))

BOTH = """
[[hooks.entries]]
id = "late"
point = "pre_tool_execution"
priority = 200
capability = "guardrail"
[hooks.entries.runtime]
type = "command"
command = "true"

[[hooks.entries]]
id = "early"
point = "pre_tool_execution"
priority = 1
[hooks.entries.runtime]
type = "command"
command = "true"

[[hooks.entries]]
id = "off"
point = "pre_tool_execution"
enabled = false
[hooks.entries.runtime]
type = "command"
command = "true"
"""


def reasons(folder: Path, *files: Path, **others: Any) -> dict[str, str]:
    """Why each hook that is not asked about `ls` is not, by its id."""
    explained = explain(project(folder, *files, **others), LS)
    return {each.hook.id: each.why for at in explained.dialects for each in at.hooks if each.why}


def test_every_reason_for_not_being_asked_is_said(tmp_path: Path) -> None:
    """A name that is another, the beginning of one, other letters, a pattern, a condition: each in words that help."""
    event = occurrence_of(Wanted(point="PreToolUse", tool="mcp__notes__add"))
    matchers = ["Bash", "mcp__notes", "MCP__NOTES__ADD", "^web_"]
    groups = [{"matcher": each, "hooks": [command("true")]} for each in matchers]
    file = muse_file(tmp_path, PreToolUse=[*groups, command("true", **{"if": "Bash(git *)"})])

    explained = explain(project(tmp_path, file), event)

    assert [
        "its matcher, exactly Bash, is not mcp__notes__add",
        f"its matcher, exactly mcp__notes, is not mcp__notes__add{EXACT}",
        "its matcher, exactly MCP__NOTES__ADD, is not mcp__notes__add; capital letters count",
        "its matcher, pattern ^web_, is not mcp__notes__add",
        "its condition Bash(git *) does not hold",
    ] == [each.why for each in explained.dialects[0].hooks]
    assert () == explained.asked


def test_what_holds_hooks_back_is_said_of_each(tmp_path: Path) -> None:
    """No trust, a switch in a file: the hook is there, with the switch that keeps it from running."""
    muse_file(tmp_path, PreToolUse=[command("true")])
    meerkat_file(tmp_path, BOTH)

    untrusted = reasons(tmp_path, trust="")
    assert {"hooks.json:PreToolUse[0].hooks[0]", "meerkat:late", "meerkat:early"} == set(untrusted)
    assert {"folder not trusted"} == set(untrusted.values())
    assert {"meerkat:off": "switched off by `enabled = false`"} == reasons(tmp_path)


def test_a_hook_that_was_not_loaded_is_named_by_its_problem(tmp_path: Path) -> None:
    """What cannot be loaded may belong to this event, and is said with its place."""
    file = muse_file(tmp_path, PreToolUse=[{"type": "comand", "command": "true"}])

    (problem,) = explain(project(tmp_path, file), LS).not_loaded
    assert ("UnsupportedHandler", 7) == (problem.code, problem.where.line)


def test_what_is_wrong_with_a_file_that_is_held_back_is_said_as_well(tmp_path: Path) -> None:
    """Who trusts the folder would have that next: a file that is no good, an entry without a point."""
    path = muse_file(tmp_path, PreToolUse=[command("true", timeout="5")])
    meerkat_file(tmp_path, BOTH.replace("pre_tool_execution", "pre_tool_exec", 1))

    explained = explain(project(tmp_path, trust=""), LS)

    assert [("MalformedConfig", str(path)), ("UnknownPoint", str(tmp_path / ".rkat" / "config.toml"))] == [
        (each.code, each.where.file) for each in explained.not_loaded
    ]
    assert ["meerkat:early"] == [each.hook.id for at in explained.dialects for each in at.hooks]


def test_what_is_wrong_under_another_event_is_not_said_of_this_one(tmp_path: Path) -> None:
    """Only what takes the whole file may have taken hooks of every event."""
    file = muse_file(tmp_path, Stop=[{"type": "comand"}, {"matcher": "x", "hooks": []}], PreToolUse=[{"type": "x"}])

    assert ["hooks.PreToolUse[0].hooks[0].type"] == [
        each.where.path for each in explain(project(tmp_path, file), LS).not_loaded
    ]
    rejected = muse_file(tmp_path, Stop=[command("true", timeout="5")])
    assert ["MalformedConfig"] == [each.code for each in explain(project(tmp_path, rejected), LS).not_loaded]


async def test_the_order_is_the_one_in_which_hooks_are_asked(tmp_path: Path) -> None:
    """Over all dialects and code: those that are explained as asked are those that are, in that order."""
    muse_file(tmp_path, PreToolUse=[command("true"), command("true", **{"async": True}), command("exit 1")])
    meerkat_file(tmp_path, BOTH)

    async with opened(chosen(tmp_path)) as hooks:

        @hooks.engine.on(hl.BeforeToolCall)
        def code(event: hl.BeforeToolCall) -> None:
            """Look on."""

        explained = explain(hooks, LS)
        resolution = await hooks.engine.dispatch(LS)

    asked = [outcome.hook.id for outcome in resolution.outcomes] + [hook.id for hook in resolution.launched]
    assert sorted(asked) == sorted(each.hook.id for each in explained.asked)
    foreground = [each.hook.id for each in explained.asked if not each.hook.background]
    assert [outcome.hook.id for outcome in resolution.outcomes] == foreground
    assert ["meerkat:early", "meerkat:late"] == [each for each in foreground if each.startswith("meerkat")]
    assert list(range(1, len(asked) + 1)) == [each.order for each in explained.asked]


def test_what_a_hook_may_change_is_what_its_point_admits(tmp_path: Path) -> None:
    """An observer may nothing, a guardrail deny, a Muse hook what its event takes."""
    muse_file(tmp_path, PreToolUse=[command("true")])
    meerkat_file(tmp_path, BOTH)

    may = {each.hook.id: {word.__name__ for word in each.may} for each in explain(project(tmp_path), LS).asked}

    assert {"Deny", "Ask", "RewriteInput", "AddContext", "Notify"} == may["hooks.json:PreToolUse[0].hooks[0]"]
    assert ({"Deny"}, set()) == (may["meerkat:late"], may["meerkat:early"])


class Fails:
    """An adapter that calls nobody: whatever it is asked has timed out."""

    async def call(self, target: Any, payload: Payload, limits: Limits) -> CallFailed:
        return CallFailed(why=Failure.TIMEOUT, detail="made to fail")

    async def aclose(self) -> None:
        """There is nothing to close."""


OF_EVERY_POINT = [
    pytest.param(package.dialect, point.event, strict, id=f"{package.dialect.name} {point.name} strict={strict}")
    for package, point, strict in itertools.product(PACKAGES, POINTS.values(), (False, True))
    if package.dialect.name != "murmur" and package.dialect.rule(point.event) is not None
]


@pytest.mark.parametrize(("dialect", "kind", "strict"), OF_EVERY_POINT)
async def test_what_is_said_of_a_failure_is_what_comes_of_it(dialect: Any, kind: Any, strict: bool) -> None:
    """At every point of every dialect a hook that fails does to the action what is said beforehand."""
    rule = dialect.rule(kind)
    hook = Hook(
        id="a", event=kind, target=CommandTarget(argv=("true",), env={}), dialect=dialect.name, commits=rule.admits
    )
    event = SAMPLES[kind]
    if rule.occurs is not None and not rule.occurs(event):
        pytest.fail("the sample is none of this point")

    said = if_it_fails(hook, rule, strict=strict)
    async with new_engine(hooks=[hook], adapters={CommandTarget: Fails()}, strict=strict) as engine:
        resolution = await engine.dispatch(event)

    found = "denied" if resolution.decision else "the run ends" if resolution.failed_run else "goes on"
    assert found in said
    assert ("--strict denies" in said) == (bool(resolution.unheard()) and not strict)


def test_a_failure_that_a_fallback_catches_is_said_so() -> None:
    """The fallback comes first, and nobody waits for what runs in the background."""
    rule = PACKAGES[0].dialect.rule(hl.BeforeToolCall)
    target = CommandTarget(argv=("true",), env={})
    plain = Hook(id="a", event=hl.BeforeToolCall, target=target, dialect="muse", commits=rule.admits)
    caught = Hook(id="b", event=hl.BeforeToolCall, target=target, dialect="muse", commits=rule.admits, fallback=plain)
    late = Hook(id="c", event=hl.BeforeToolCall, target=target, dialect="muse", background=True)

    assert if_it_fails(caught, rule, strict=False).startswith("its fallback is asked; if that fails, ")
    assert "nothing: nobody waits for it" == if_it_fails(late, rule, strict=True)


def test_as_json_everything_has_its_name(tmp_path: Path) -> None:
    """The keys that scripts may rely on."""
    told = explain(project(tmp_path, muse_file(tmp_path, PreToolUse=[command("true")])), LS).as_json()

    assert {"event", "subjects", "dialects", "not_loaded"} == set(told)
    assert {
        "hook", "label", "dialect", "layer", "file", "line", "verdict", "order", "why", "matcher", "condition",
        "background", "timeout", "priority", "may", "on_failure",
    } == set(told["dialects"][0]["hooks"][0])  # fmt: skip
    assert Verdict.ASKED.value == told["dialects"][0]["hooks"][0]["verdict"]


def test_an_outcome_without_a_reason_is_an_answer() -> None:
    """What `explain` takes for a failure is one to the engine."""
    hook = Hook(id="a", event=hl.BeforeRun, target=CommandTarget(argv=("true",), env={}), dialect="muse")

    assert not Outcome(hook=hook, kind=Kind.FAILED, why=Failure.TIMEOUT).ok
    assert Outcome(hook=hook, kind=Kind.ANSWERED, answer=Answer()).ok

"""Plugins in the workbench: checked, listed, explained, fired and tested, with the state of their review."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.package_rig import hook, manifest, native, user_env, write_package

from hookline._core.events import BeforeRun
from hookline._core.points import Origin
from hookline._engines import new_engine
from hookline.workbench.cases.running import run_cases
from hookline.workbench.cases.types import Status
from hookline.workbench.check import check
from hookline.workbench.explain import Verdict, explain
from hookline.workbench.faults import faulty
from hookline.workbench.fire import fire
from hookline.workbench.listing import listed
from hookline.workbench.opening import Chosen, loaded, opened
from hookline.workbench.plugins import hook_test, plugins

DENIES = "#!/bin/sh\necho no >&2\nexit 2\n"
FAILS = "#!/bin/sh\necho no >&2\nexit 1\n"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "work").mkdir()
    return user_env(tmp_path / "home")


def chosen(tmp_path: Path, env: dict[str, str], **more: Any) -> Chosen:
    return Chosen(workspace=tmp_path / "work", env=env, **more)


def event(tmp_path: Path) -> BeforeRun:
    return BeforeRun(prompt="hi", origin=Origin(session_id="s", run_id="r", cwd=str(tmp_path / "work")))


def test_every_hook_is_listed_with_the_state_of_its_review(tmp_path: Path, env: dict[str, str]) -> None:
    """What is approved runs; all else is held back, each with its reason."""
    native(tmp_path / "guard", "guard", [hook("a"), hook("b"), hook("c"), hook("d")])
    native(tmp_path / "off", "off")
    for name in ("guard", "off"):
        plugins("install", name, env=env, cwd=tmp_path)
    for verb, selector in (("approve", "guard:a"), ("reject", "guard:b"), ("approve", "off")):
        plugins(verb, selector, env=env, cwd=tmp_path)
    plugins("disable", "off", env=env, cwd=tmp_path)
    project = loaded(chosen(tmp_path, env))
    found = {each.hook.id: each.held_back.partition(":")[0] for each in listed(project)}

    assert {
        "plugin:guard:a": "",
        "plugin:guard:b": "trusted_disabled",
        "plugin:guard:c": "review_needed",
        "plugin:guard:d": "review_needed",
    } == found
    told = explain(project, event(tmp_path)).dialects[0].hooks
    assert {Verdict.ASKED: 1, Verdict.HELD_BACK: 3} == {
        verdict: sum(each.verdict is verdict for each in told) for verdict in (Verdict.ASKED, Verdict.HELD_BACK)
    }
    (held,) = [each for _, found in project.loaded for each in found.held_back if each.label == "plugin:off"]
    assert (1, True) == (held.count, held.meant)


def test_a_package_is_checked_where_its_author_works_on_it(tmp_path: Path, env: dict[str, str]) -> None:
    """Its problems have places and remedies, and what is doubtful about its scripts is found as in any hook file."""
    root = native(tmp_path / "guard", "guard", [hook(timeoutMs=2000)])
    write_package(root, {"hooks/prompt.sh!": FAILS})
    found = {each.code: each for each in check([root], env=env).findings}

    assert {"FailsOpen", "ExitOneBlocksNothing"} == set(found)
    assert "run the session with --strict" == found["FailsOpen"].remedy
    place = found["ExitOneBlocksNothing"].where
    assert (str(root.resolve() / ".muse-plugin/plugin.json"), "capabilities.hooks[0].command") == (
        place.file,
        place.path,
    )
    assert place.line > 0

    told = manifest(hooks=[hook(matcher="Bash"), hook("gone", timeoutMs="5")], when=7)
    (root / ".muse-plugin/plugin.json").write_text(json.dumps(told))
    found_again = check([root / ".muse-plugin/plugin.json"], env=env)
    assert ["invalid-manifest-schema", "unsupported-field", "missing-capability-path", "invalid-manifest-schema"] == [
        each.code for each in sorted(found_again.findings, key=lambda each: each.where.path == "when", reverse=True)
    ]
    assert all(each.remedy and each.where.line for each in found_again.findings)


def test_limits_of_a_package_are_in_milliseconds(tmp_path: Path, env: dict[str, str]) -> None:
    """A lint about a time limit names the field that the package has, and counts as it counts."""
    root = native(tmp_path / "guard", "guard", [hook("start", "SessionStart", timeoutMs=90_000)])
    found = {each.code: each for each in check([root], env=env).findings}

    assert {"SlowStart"} == set(found)
    assert "`timeoutMs`" in found["SlowStart"].remedy
    assert "capabilities.hooks[0].timeoutMs" == found["SlowStart"].where.path


def test_a_session_is_checked_with_its_plugins(tmp_path: Path, env: dict[str, str]) -> None:
    """Installed ones are read, what waits for a review is said, and a cache that was touched is an error."""
    native(tmp_path / "guard")
    plugins("install", "guard", env=env, cwd=tmp_path)
    found = check(workspace=tmp_path / "work", env=env)
    assert ["HeldBack"] == [each.code for each in found.findings if each.code != "FailsOpen"]
    assert [1] == [each.hooks for each in found.files]

    (script,) = (tmp_path / "home").rglob("prompt.sh")
    script.chmod(0o755)
    script.write_text("#!/bin/sh\n")
    codes = {each.code for each in check(workspace=tmp_path / "work", env=env).findings}
    assert "plugin-cache-invalid" in codes


def test_a_package_is_fired_from_where_it_is(tmp_path: Path, env: dict[str, str]) -> None:
    """By the path of its manifest its hooks run with their variables, and nobody has to install them."""
    root = native(tmp_path / "guard")
    write_package(root, {"hooks/prompt.sh!": "#!/bin/sh\necho $MUSE_PLUGIN_ID $MUSE_PLUGIN_ROOT\n"})

    async def fired() -> str:
        async with opened(chosen(tmp_path, env, files=[root / ".muse-plugin/plugin.json"])) as project:
            found = await fire(project, event(tmp_path))
            (effect,) = found.resolution.applied
            return str(getattr(effect.effect, "text", ""))

    assert f"guard {root.resolve()}" == asyncio.run(fired())


def test_a_foreign_package_is_fired_too(tmp_path: Path, env: dict[str, str]) -> None:
    """Its command goes through the shell, which finds the package in the variables of its own tool."""
    hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "cat $CLAUDE_PLUGIN_ROOT/words"}]}]}
    root = write_package(
        tmp_path / "theirs",
        {
            ".claude-plugin/plugin.json": json.dumps({"name": "theirs"}),
            "hooks/hooks.json": json.dumps({"hooks": hooks}),
            "words": "from the package",
        },
    )
    plugins("install", "theirs", env=env, cwd=tmp_path)
    plugins("approve", "theirs", env=env, cwd=tmp_path)

    async def said(**more: Any) -> list[str]:
        async with opened(chosen(tmp_path, env, **more)) as project:
            found = await fire(project, event(tmp_path))
            return [str(getattr(each.effect, "text", "")) for each in found.resolution.applied]

    assert ["from the package"] == asyncio.run(said(files=[root / ".claude-plugin/plugin.json"]))
    assert ["from the package"] == asyncio.run(said())
    (root / "words").write_text("other")
    plugins("update", "theirs", env=env, cwd=tmp_path)
    assert [] == asyncio.run(said())


def test_a_foreign_packages_problems_have_places_in_its_hook_file(tmp_path: Path, env: dict[str, str]) -> None:
    """What is found in `hooks/hooks.json` is placed there."""
    handler = {"type": "command", "command": "echo no >&2; exit 1"}
    hooks = {"PreToolUse": [{"matcher": "Bsah", "hooks": [handler]}]}
    root = write_package(
        tmp_path / "theirs",
        {
            ".claude-plugin/plugin.json": json.dumps({"name": "theirs"}),
            "hooks/hooks.json": json.dumps({"hooks": hooks}, indent=1),
        },
    )
    found = {each.code: each.where for each in check([root], env=env).findings}

    assert str(root.resolve() / "hooks/hooks.json") == found["ExitOneBlocksNothing"].file
    assert "hooks.PreToolUse[0].hooks[0].command" == found["ExitOneBlocksNothing"].path
    assert "hooks.PreToolUse[0].matcher" == found["MatchesNothing"].path


@pytest.mark.parametrize("script", ["#!/bin/sh\necho words\n", "#!/bin/sh\n", "#!/bin/sh\necho ' '\n"])
def test_hook_test_runs_every_kind_of_hook(tmp_path: Path, env: dict[str, str], script: str) -> None:
    """Each of the 17 events can be tried with any `stdin` at all; what the fixture leaves out is filled in."""
    from hookline.dialects.muse.rules import RULES

    hooks = [hook(f"hook{number}", rule.name) for number, rule in enumerate(RULES)]
    root = native(tmp_path / "guard", "guard", hooks)
    write_package(root, {f"hooks/{each['id']}.sh!": script for each in hooks})
    plugins("install", "guard", env=env, cwd=tmp_path)
    fixture = tmp_path / "fixture.json"
    statuses = []
    for each in hooks:
        fixture.write_text(json.dumps({"event": each["event"], "stdin": {"anything": 1}}))
        told = asyncio.run(hook_test(f"guard:{each['id']}", fixture, env=env))
        statuses.append(told.lines[0].partition("status=")[2])

    assert ["completed"] * 17 == statuses


def test_a_suite_of_cases_runs_a_packages_hooks(tmp_path: Path) -> None:
    """`hookline test` names a manifest as it names a hook file, and puts its faults in a hook's place."""
    root = native(tmp_path / "guard")
    write_package(root, {"hooks/prompt.sh!": DENIES})
    path = tmp_path / "guard.hooktest.yaml"
    path.write_text(
        """hooks: [guard/.muse-plugin/plugin.json]
cases:
  - {name: it denies, event: UserPromptSubmit, want: {decision: deny, reason: 'no'}}
  - {name: it fails open, event: UserPromptSubmit, fault: {"plugin:guard:prompt": crash}, want: {decision: none}}
"""
    )
    report = asyncio.run(run_cases([path]))

    assert [("it denies", Status.OK), ("it fails open", Status.OK)] == [
        (each.case.name, each.status) for each in report.results
    ]


def test_a_fault_runs_no_bytes_that_were_not_approved(tmp_path: Path, env: dict[str, str]) -> None:
    """A slow hook of an installed plugin runs from the copy of what was approved, as without the fault."""
    root = native(tmp_path / "guard")
    write_package(root, {"hooks/prompt.sh!": "#!/bin/sh\necho $0\n"})
    plugins("install", "guard", env=env, cwd=tmp_path)
    plugins("approve", "guard", env=env, cwd=tmp_path)

    async def said() -> str:
        async with opened(chosen(tmp_path, env)) as project:
            (own,) = project.engine.hooks()
            async with new_engine(hooks=[faulty(own, "slow")]) as engine:
                (effect,) = (await engine.dispatch(event(tmp_path))).applied
                return str(getattr(effect.effect, "text", ""))

    ran = asyncio.run(said())
    assert "/plugins/running/" in ran
    assert ran.endswith("/hooks/prompt.sh")

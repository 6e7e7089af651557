"""Settings-level hooks beside plugin hooks: each row of the comparison, on both sides (section 22)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.package_rig import hook, manifest, user_env, write_package

from hookline._core.errors import CodedError
from hookline._core.events import BeforeRun, BeforeToolCall
from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._core.payload import Exited, Payload
from hookline._core.points import Event, Origin
from hookline._core.resolution import Resolution
from hookline._engines import Project, open_project
from hookline.dialects.muse.answer import decode
from hookline.dialects.muse.payload import PAYLOAD_BYTES, encode
from hookline.dialects.muse.rules import BY_NAME, RULES
from hookline.testing import SAMPLES
from hookline.workbench.plugins import hook_test, plugins

LINE = "./hooks/prompt.sh"


class Both:
    """A user with one hook in the settings, the project or the managed file, and with the same one in a plugin."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = root / "work"
        self.work.mkdir()
        self.env = user_env(root / "home", LANG="C", SECRET="x")

    def settings(self, handler: dict[str, Any], event: str = "UserPromptSubmit", **group: Any) -> dict[str, Any]:
        return {"hooks": {event: [{**group, "hooks": [{"type": "command", **handler}]}]}}

    def write_settings(self, told: dict[str, Any]) -> None:
        path = self.root / "home/.config/muse/settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({"schema_version": 1, **kept, **told}))

    def write_project(self, told: dict[str, Any]) -> None:
        write_package(self.work, {".muse/hooks.json": json.dumps(told)})

    def write_plugin(self, *hooks: dict[str, Any], script: str = "#!/bin/sh\n", approve: bool = True) -> None:
        files = {f"hooks/{each['id']}.sh!": script for each in hooks}
        write_package(
            self.root / "guard", {".muse-plugin/plugin.json": json.dumps(manifest(hooks=list(hooks))), **files}
        )
        self.do("install", "guard")
        if approve:
            self.do("approve", "guard")

    def do(self, *words: Any, **options: Any) -> Any:
        return plugins(*words, env=self.env, cwd=self.root, **options).value

    def project(self, trust: str = "") -> Project:
        return open_project(self.work, env=self.env, trust=trust)

    def hooks(self, trust: str = "") -> list[str]:
        return [each.source.layer for each in self.project(trust).engine.hooks()]

    def asked(self, event: Event, trust: str = "") -> Resolution:
        async def dispatch() -> Resolution:
            async with self.project(trust).engine as engine:
                return await engine.dispatch(event)

        return asyncio.run(dispatch())

    def prompt(self) -> BeforeRun:
        return BeforeRun(prompt="hi", origin=Origin(session_id="s", run_id="r", cwd=str(self.work)))


@pytest.fixture
def both(tmp_path: Path) -> Both:
    return Both(tmp_path)


def ends(resolution: Resolution) -> list[Outcome]:
    return list(resolution.outcomes)


def test_where_it_is_declared(both: Both) -> None:
    """In settings.json, in .muse/hooks.json or in the managed file; in the manifest's capabilities.hooks."""
    told = both.settings({"command": "true"})
    (both.root / "home/.config/muse").mkdir(parents=True)
    (both.root / "home/.config/muse/policy.json").write_text(json.dumps(told))
    both.write_settings({**told, "managed_hooks_path": "policy.json"})
    both.write_project(told)
    both.write_plugin(hook())

    assert ["managed", "user", "project", "plugin"] == both.hooks(trust="run-flag")


def test_the_form_of_its_command(both: Both) -> None:
    """A text that the shell reads, and expands; an argv that nobody reads."""
    both.write_settings(both.settings({"command": "echo $HOME '*'"}))
    both.write_plugin(hook(command=["echo", "$HOME", "*"]))
    texts = [each.effect.text for each in both.asked(both.prompt()).applied]  # type: ignore[attr-defined]

    assert [f"{both.root / 'home'} *", "$HOME *"] == texts


def test_what_selects_it(both: Both) -> None:
    """An event and a matcher; an event alone, so that the script inspects the payload."""
    both.write_settings(both.settings({"command": "true"}, "PreToolUse", matcher="Bash"))
    both.write_plugin(hook(event="PreToolUse"))
    called = {
        tool: [each.hook.source.layer for each in ends(both.asked(BeforeToolCall(tool_name=tool, input={})))]
        for tool in ("bash", "read_file")
    }

    assert {"bash": ["user", "plugin"], "read_file": ["plugin"]} == called


@pytest.mark.parametrize(
    ("settings", "plugin", "seconds"),
    [({}, {}, 600.0), ({"timeout": 5}, {"timeoutMs": 5000}, 5.0), ({"timeout": 0}, {"timeoutMs": 0}, 1.0)],
)
def test_its_limit(both: Both, settings: dict[str, Any], plugin: dict[str, Any], seconds: float) -> None:
    """`timeout` in seconds, 600; `timeoutMs` in milliseconds, 600000; neither less than a second."""
    both.write_settings(both.settings({"command": "true", **settings}))
    both.write_plugin(hook(**plugin))

    assert [seconds, seconds] == [each.timeout for each in both.project().engine.hooks()]


def test_neither_side_takes_the_others_limit(both: Both) -> None:
    """`timeoutMs` in settings skips the handler, `timeout` in a manifest is an error."""
    both.write_settings(both.settings({"command": "true", "timeoutMs": 5000}))

    assert [] == both.hooks()
    with pytest.raises(CodedError, match="hook capability field `timeout` is not supported"):
        both.write_plugin(hook(timeout=5))


def test_what_makes_it_active(both: Both) -> None:
    """To be in the file, and a project's folder trusted; to be installed, enabled and approved."""
    both.write_project(both.settings({"command": "true"}))
    assert [] == both.hooks()
    assert ["project"] == both.hooks(trust="run-flag")

    write_package(both.root / "guard", {})
    both.write_plugin(hook(), approve=False)
    assert [] == both.hooks()
    both.do("approve", "guard")
    assert ["plugin"] == both.hooks()
    both.do("disable", "guard")
    assert [] == both.hooks()
    both.do("enable", "guard")
    assert ["plugin"] == both.hooks()
    both.do("remove", "guard")
    assert [] == both.hooks()


def test_what_it_is_trusted_by(both: Both) -> None:
    """Its source, as it is written; its definition, so that any change returns it to review."""
    both.write_settings(both.settings({"command": "true"}))
    both.write_plugin(hook())
    assert ["user", "plugin"] == both.hooks()

    both.write_settings(both.settings({"command": "false"}))
    told = manifest(hooks=[hook(statusMessage="new")])
    write_package(both.root / "guard", {".muse-plugin/plugin.json": json.dumps(told)})
    both.do("update", "guard")
    assert ["user"] == both.hooks()
    (shown,) = both.do("inspect", "guard")["runtime_capabilities"]
    assert "modified" == shown["status"]
    assert ['statusMessage: nothing -> "new"', "changed file .muse-plugin/plugin.json"] == shown["changes"]


def test_its_environment(both: Both) -> None:
    """The same list on both sides; the plugin's own variables on one, what a managed file is granted on the other."""
    both.write_settings({**both.settings({"command": "true"}), "managed_hooks_env_vars": ["SECRET"]})
    both.write_plugin(hook())
    settings, plugin = (set(each.target.env) for each in both.project().engine.hooks())  # type: ignore[attr-defined]

    assert {"HOME", "PATH", "SHELL", "LANG"} == settings
    assert {
        "MUSE_PLUGIN_ID",
        "MUSE_PLUGIN_ROOT",
        "MUSE_PLUGIN_DATA_DIR",
        "PLUGIN_ROOT",
        "CLAUDE_PLUGIN_ROOT",
        "PLUGIN_DATA",
        "CLAUDE_PLUGIN_DATA",
    } == plugin - settings
    assert settings <= plugin


def test_how_it_is_tried_without_a_session(both: Both) -> None:
    """`hook test` knows hooks of plugins, and none of the settings."""
    both.write_settings(both.settings({"command": "true"}))
    both.write_plugin(hook(), approve=False)
    fixture = both.root / "fixture.json"
    fixture.write_text('{"event": "UserPromptSubmit", "stdin": {}}')

    told = asyncio.run(hook_test("guard:prompt", fixture, env=both.env))
    assert ("hook-test\tguard:prompt\tstatus=completed",) == told.lines
    (settings, *_) = both.project().engine.hooks()
    with pytest.raises(CodedError, match="is not installed and enabled"):
        asyncio.run(hook_test(settings.id, fixture, env=both.env))


def pair(both: Both, event: str) -> list[Hook]:
    both.write_settings(both.settings({"command": LINE}, event))
    both.write_plugin(hook(event=event))
    return list(both.project().engine.hooks())


ANSWERS: tuple[tuple[int, str, str], ...] = (
    (0, "", ""),
    (0, "plain words", ""),
    (0, '{"decision": "block", "reason": "no"}', ""),
    (0, '{"continue": false, "stopReason": "enough"}', ""),
    (0, '{"systemMessage": "hm"}', ""),
    (0, '{"decison": "block"}', ""),
    (0, "[1]", ""),
    (0, '{"hookSpecificOutput": {"hookEventName": "@", "additionalContext": "more"}}', ""),
    (
        0,
        '{"hookSpecificOutput": {"hookEventName": "@", "permissionDecision": "deny", "permissionDecisionReason": "x"}}',
        "",
    ),
    (0, '{"hookSpecificOutput": {"hookEventName": "@", "decision": {"behavior": "allow"}}}', ""),
    (1, "", "failed"),
    (2, "", "no"),
    (2, "", ""),
    (127, "", "not found"),
)


@pytest.mark.parametrize("name", [rule.name for rule in RULES])
def test_payloads_and_answers_are_the_same(both: Both, name: str) -> None:
    """At each of the 17 events the same bytes are sent, and every answer means the same."""
    settings, plugin = pair(both, name)
    event = SAMPLES[BY_NAME[name].event]
    sent = [encode(event, each) for each in (settings, plugin)]

    assert all(isinstance(each, Payload) for each in sent)
    assert sent[0] == sent[1]
    assert (settings.event, settings.commits) == (plugin.event, plugin.commits)
    for code, stdout, stderr in ANSWERS:
        reply = Exited(code=code, stdout=stdout.replace("@", name).encode(), stderr=stderr.encode())
        assert decode(reply, event, settings) == decode(reply, event, plugin)


def test_caps_are_the_same(both: Both) -> None:
    """16 KiB of output are taken and one byte more is not; of a payload 256 KiB are."""
    script = "head -c {} /dev/zero | tr '\\0' x"
    both.write_settings(
        {
            "hooks": {
                "UserPromptSubmit": [
                    {"hooks": [{"type": "command", "command": script.format(size)} for size in (16_384, 16_385)]}
                ]
            }
        }
    )
    both.write_plugin(hook("h16384"), hook("h16385"))
    for size in (16_384, 16_385):
        write_package(both.root / "guard", {f"hooks/h{size}.sh!": f"#!/bin/sh\n{script.format(size)}"})
    both.do("update", "guard")
    both.do("approve", "guard")
    ended = [(each.kind.value, each.detail) for each in ends(both.asked(both.prompt()))]
    assert ended[:2] == ended[2:]
    assert ["answered", "failed"] == [kind for kind, _ in ended[:2]]

    large = BeforeRun(prompt="x" * PAYLOAD_BYTES, origin=Origin(session_id="s", run_id="r", cwd=str(both.work)))
    assert ["skipped"] * 4 == [each.kind.value for each in ends(both.asked(large))]

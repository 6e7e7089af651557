"""Settings-level hooks beside plugin hooks: each row of the comparison, on both sides (section 22)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.package_rig import hook, manifest, user_env, write_package

from hookline._core.errors import CodedError
from hookline._core.events import BeforeRun, BeforeToolCall
from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._core.packages import PackagedTarget
from hookline._core.payload import Exited, Limits, Payload, Reply
from hookline._core.points import Event, Origin
from hookline._core.resolution import Resolution
from hookline._core.targets import CommandTarget, Target
from hookline._engines import Project, new_engine, open_project
from hookline.dialects.muse.origins import HookFacts, PluginOrigin
from hookline.dialects.muse.payload import PAYLOAD_BYTES
from hookline.dialects.muse.rules import BY_NAME, RULES
from hookline.dialects.muse.tags import Status, effects_of, status_of
from hookline.testing import SAMPLES
from hookline.workbench.plugins import hook_test, plugins


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

    def write_managed(self, told: dict[str, Any], **settings: Any) -> None:
        self.write_settings({"managed_hooks_path": "policy.json", **settings})
        (self.root / "home/.config/muse/policy.json").write_text(json.dumps(told))

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
    both.write_managed(told, **told)
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
    both.write_managed(both.settings({"command": "true"}), **both.settings({"command": "true"}))
    both.write_plugin(hook())
    assert ["managed", "user", "plugin"] == both.hooks()

    both.write_managed(both.settings({"command": "false"}), **both.settings({"command": "false"}))
    told = manifest(hooks=[hook(statusMessage="new")])
    write_package(both.root / "guard", {".muse-plugin/plugin.json": json.dumps(told)})
    both.do("update", "guard")
    assert ["managed", "user"] == both.hooks()
    (shown,) = both.do("inspect", "guard")["runtime_capabilities"]
    assert "modified" == shown["status"]
    assert ['statusMessage: nothing -> "new"', "changed file .muse-plugin/plugin.json"] == shown["changes"]


OF_PLUGINS = {
    "MUSE_PLUGIN_ID",
    "MUSE_PLUGIN_ROOT",
    "MUSE_PLUGIN_DATA_DIR",
    "PLUGIN_ROOT",
    "CLAUDE_PLUGIN_ROOT",
    "PLUGIN_DATA",
    "CLAUDE_PLUGIN_DATA",
}
OF_SHELLS = {"_", "OLDPWD", "PWD", "SHLVL"}  # which a shell sets by itself


def test_its_environment(both: Both) -> None:
    """The same list on both sides; the plugin's own variables on one, what a managed file is granted on the other."""
    told = both.settings({"command": "env"})
    both.write_managed(told, **told, managed_hooks_env_vars=["SECRET"])
    both.write_plugin(hook(), script="#!/bin/sh\nenv\n")
    texts = [each.effect.text for each in both.asked(both.prompt()).applied]  # type: ignore[attr-defined]
    managed, user, plugin = ({line.partition("=")[0] for line in text.splitlines()} - OF_SHELLS for text in texts)

    assert {"HOME", "PATH", "SHELL", "LANG"} == user
    assert {"SECRET"} == managed - user
    assert OF_PLUGINS == plugin - user
    assert user <= managed & plugin


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


ROWS = yaml.safe_load(Path(__file__).parent.with_name("answers.yaml").read_text(encoding="utf-8"))


def answers(name: str) -> list[Exited]:
    """What a hook may say at this event: the answers above, and those that are said of it in the table of answers."""
    rows = [(each.get("exit", 0), each.get("stdout", ""), each.get("stderr", "")) for each in ROWS]
    own = [said for said, each in zip(rows, ROWS, strict=True) if each["event"] == name]
    return [
        Exited(code=code, stdout=stdout.replace("@", name).encode(), stderr=stderr.encode())
        for code, stdout, stderr in (*ANSWERS, *own)
    ]


class Canned:
    """An adapter that gives these replies one after the other, and keeps what it was given."""

    def __init__(self, replies: list[Exited]) -> None:
        self.replies = iter(replies)
        self.given: list[bytes] = []

    async def call(self, target: Target, payload: Payload, limits: Limits) -> Reply:
        self.given.append(payload.body)
        return next(self.replies)

    async def aclose(self) -> None:
        pass


def meaning(resolution: Resolution) -> tuple[Any, ...]:
    """All that a resolution says, but for whose hook it was."""
    (ended,) = resolution.outcomes
    return (
        resolution.event,
        resolution.decision,
        [each.effect for each in resolution.applied],
        [(each.what, each.why) for each in resolution.ignored],
        (ended.kind, ended.answer, ended.why, ended.detail),
        (status_of(ended), effects_of(ended, resolution)),
        (resolution.denied, resolution.reason, resolution.refusal),
    )


async def put(event: Event, own: Hook, replies: list[Exited]) -> tuple[list[bytes], list[tuple[Any, ...]]]:
    """What a hook is given, and what each reply of it comes to."""
    canned = Canned(replies)
    async with new_engine(hooks=[own], adapters={CommandTarget: canned, PackagedTarget: canned}) as engine:
        meanings = [meaning(await engine.dispatch(event)) for _ in replies]
    return canned.given, meanings


@pytest.mark.parametrize("name", [rule.name for rule in RULES])
def test_payloads_and_answers_are_the_same(both: Both, name: str) -> None:
    """At each of the 17 events the same bytes are sent, and every answer comes to the same."""
    both.write_settings(both.settings({"command": "true"}, name))
    both.write_plugin(hook(event=name))
    settings, plugin = both.project().engine.hooks()
    event, replies = SAMPLES[BY_NAME[name].event], answers(name)
    of_settings, of_plugin = (asyncio.run(put(event, each, replies)) for each in (settings, plugin))

    assert ["user", "plugin"] == [settings.source.layer, plugin.source.layer]
    assert of_settings == of_plugin
    assert {name} == {json.loads(body)["hook_event_name"] for body in of_plugin[0]}
    assert {Status.COMPLETED, Status.FAILED} <= {status for *_, (status, _), _ in of_plugin[1]}


def test_the_events_are_the_same() -> None:
    """There are 17, each for both sides."""
    assert 17 == len({rule.name for rule in RULES})


def test_what_follows_when_it_fails(both: Both) -> None:
    """`onFailure` is a field of the settings' handlers, and of no plugin's."""
    both.write_settings(both.settings({"command": "exit 1", "onFailure": {"type": "command", "command": "echo then"}}))
    assert ["then"] == [each.effect.text for each in both.asked(both.prompt()).applied]  # type: ignore[attr-defined]

    with pytest.raises(CodedError, match="hook capability field `onFailure` is not supported"):
        both.write_plugin(hook(onFailure={"command": ["echo", "then"]}))
    handler = {"type": "command", "command": "exit 1", "onFailure": {"type": "command", "command": "echo then"}}
    theirs = {"name": "theirs", "hooks": {"UserPromptSubmit": [{"hooks": [handler]}]}}
    write_package(both.root / "theirs", {".claude-plugin/plugin.json": json.dumps(theirs)})
    with pytest.raises(CodedError, match="foreign hook handler field `onFailure` is unsupported"):
        both.do("install", "theirs")


def test_what_records_call_it(both: Both) -> None:
    """A file, an event and a definition; its plugin and its own id, whose records say so, too."""
    both.write_settings(both.settings({"command": "true"}))
    both.write_plugin(hook())
    settings, plugin = both.project().engine.hooks()

    (shown,) = both.do("inspect", "guard")["runtime_capabilities"]
    digest = shown["candidate"]["source_digest"]
    origin = PluginOrigin(plugin_id="guard", capability_id="prompt", source_digest=digest)

    assert "plugin:guard:prompt" == plugin.key
    assert HookFacts(origin=origin) == plugin.facts
    assert not settings.key.startswith("plugin:")
    assert settings.facts is None


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

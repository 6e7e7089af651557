"""A reviewed capability becomes a hook: the same as one of the settings, but for how it is started (section 22)."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from hookline._core.hooks import Condition, Hook, Source
from hookline._core.matchers import EVERYTHING, Matcher, Names
from hookline._core.targets import CommandTarget, PackagedTarget
from hookline.dialects.muse.build import DIALECT, NOTHING
from hookline.dialects.muse.document import Finding
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.group import ToolMatcher, read_matcher
from hookline.dialects.muse.origins import HookFacts, PluginOrigin
from hookline.dialects.muse.plugins.family import LAYER
from hookline.dialects.muse.plugins.manifest import HookCapability
from hookline.dialects.muse.plugins.review import Candidate
from hookline.dialects.muse.plugins.store import CACHE_INVALID, Store
from hookline.dialects.muse.rules import BY_NAME, MuseRule
from hookline.dialects.muse.selector import compile_selector

SECOND = 1000  # milliseconds

# What a hook of a plugin finds in its environment besides the rest, under each family's name for it.
ID_VARIABLES = ("MUSE_PLUGIN_ID",)
ROOT_VARIABLES = ("MUSE_PLUGIN_ROOT", "PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")
DATA_VARIABLES = ("MUSE_PLUGIN_DATA_DIR", "PLUGIN_DATA", "CLAUDE_PLUGIN_DATA")


def plugin_variables(id_: str, root: Path, data: Path) -> dict[str, str]:
    """The seven variables. The folder for data is named, and not made."""
    return {
        **dict.fromkeys(ID_VARIABLES, id_),
        **dict.fromkeys(ROOT_VARIABLES, str(root)),
        **dict.fromkeys(DATA_VARIABLES, str(data)),
    }


def hook_of(candidate: Candidate, store: Store, launch: Launch) -> Hook:
    """The hook of an installed plugin. It runs from a copy of the bytes that were looked at."""
    plugin = candidate.plugin
    origin = PluginOrigin(plugin_id=plugin.id, capability_id=candidate.hook.id, source_digest=candidate.source_digest)
    env = {**launch.env, **plugin_variables(plugin.id, plugin.cache, store.data(plugin.id))}
    target = PackagedTarget(
        argv=_argv(candidate.hook, plugin.cache, launch),
        env=env,
        written=written(candidate.hook),
        package=plugin.cache,
        digest=plugin.package_sha256,
        copies=store.running,
        why=CACHE_INVALID,
    )
    return _hook(candidate.hook, target, plugin.id, plugin.cache, _facts(candidate.hook, launch, origin))


def hook_in_place(hook: HookCapability, id_: str, root: Path, data: Path, launch: Launch) -> Hook:
    """The hook of a package where its author works on it: it runs from there."""
    env: Mapping[str, str] = {**launch.env, **plugin_variables(id_, root, data)}
    target = CommandTarget(argv=_argv(hook, root, launch), env=env, written=written(hook))
    return _hook(hook, target, id_, root, _facts(hook, launch, None))


def hook_id(plugin: str, hook: str) -> str:
    """What engines and records call it."""
    return f"plugin:{plugin}:{hook}"


def written(hook: HookCapability) -> str:
    """Its command, for people."""
    return hook.line or shlex.join(hook.command)


def _argv(hook: HookCapability, root: Path, launch: Launch) -> tuple[str, ...]:
    """The command: of a native hook as it is, but for the one word that names a file of the package."""
    if hook.line:
        return launch.argv(hook.line)
    words = list(hook.command)
    if hook.source_at >= 0:
        words[hook.source_at] = str(root / hook.source)
    return tuple(words)


def _hook(hook: HookCapability, target: CommandTarget, plugin: str, root: Path, facts: HookFacts | None) -> Hook:
    rule = BY_NAME[hook.event]
    name = hook_id(plugin, hook.id)
    return Hook(
        id=name,
        key=name,
        event=rule.event,
        target=target,
        dialect=DIALECT,
        source=Source(layer=LAYER, label=f"plugin:{plugin}", path=str(root / hook.file)),
        matcher=_matcher(hook, rule),
        condition=_condition(hook, rule),
        commits=NOTHING if hook.background else rule.admits,
        timeout=hook.timeout_ms / SECOND,
        background=hook.background,
        label=hook.label,
        facts=facts,
    )


def _facts(hook: HookCapability, launch: Launch, origin: PluginOrigin | None) -> HookFacts | None:
    skills = launch.skills if hook.output_capabilities else None
    return None if origin is None and skills is None else HookFacts(origin=origin, skills=skills)


def _matcher(hook: HookCapability, rule: MuseRule) -> Matcher:
    if hook.compatibility_name:
        return ToolMatcher(Names(frozenset({hook.compatibility_name})))
    if hook.matcher is None:
        return EVERYTHING
    matcher = read_matcher({"matcher": hook.matcher}, rule, ())
    assert not isinstance(matcher, Finding)  # noqa: S101  # a package with such a matcher is not installed
    return matcher


def _condition(hook: HookCapability, rule: MuseRule) -> Condition | None:
    condition = None if hook.condition is None else compile_selector(hook.condition, rule)
    return None if isinstance(condition, str) else condition

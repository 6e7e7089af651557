"""A reviewed capability becomes a hook: the same as one of the settings, but for how it is started (section 22)."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hookline._core.hooks import Condition, Hook, Source
from hookline._core.matchers import EVERYTHING, Matcher, Names
from hookline._core.packages import Packaged, PackagedTarget
from hookline._core.targets import CommandTarget
from hookline.dialects.muse.build import DIALECT, NOTHING
from hookline.dialects.muse.document import Finding
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.group import ToolMatcher, read_matcher
from hookline.dialects.muse.origins import HookFacts, PluginOrigin
from hookline.dialects.muse.plugins.documents import LAYER
from hookline.dialects.muse.plugins.manifest import HookCapability
from hookline.dialects.muse.plugins.review import Candidate
from hookline.dialects.muse.plugins.store import CACHE_INVALID, Plugin, Store
from hookline.dialects.muse.rules import BY_NAME, MuseRule
from hookline.dialects.muse.selector import compile_selector

SECOND = 1000  # milliseconds

# What a hook of a plugin finds in its environment besides the rest, under each family's name for it.
ID_VARIABLES = ("MUSE_PLUGIN_ID",)
ROOT_VARIABLES = ("MUSE_PLUGIN_ROOT", "PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")
DATA_VARIABLES = ("MUSE_PLUGIN_DATA_DIR", "PLUGIN_DATA", "CLAUDE_PLUGIN_DATA")


def plugin_variables(id_: str, root: Path | str, data: Path | None) -> dict[str, str]:
    """The seven variables. The folder for data is named, and not made; without a place for one it is not named."""
    return {
        **dict.fromkeys(ID_VARIABLES, id_),
        **dict.fromkeys(ROOT_VARIABLES, str(root)),
        **({} if data is None else dict.fromkeys(DATA_VARIABLES, str(data))),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """What all hooks of one plugin have in common: whose they are, where its files are, and how they are started.

    `packaged` is None for a package that runs from where its author works on it.
    """

    plugin: str
    root: str
    env: Mapping[str, str] = field(repr=False)
    launch: Launch
    packaged: Packaged | None = None
    sources: dict[str, Source] = field(default_factory=dict, repr=False)

    def source(self, file: str) -> Source:
        """Where what stands in a file of the package was declared."""
        if file not in self.sources:
            label = f"plugin:{self.plugin}"
            self.sources[file] = Source(layer=LAYER, label=label, path=f"{self.root}/{file}")
        return self.sources[file]


def home_of(plugin: Plugin, store: Store, launch: Launch) -> Home:
    """An installed plugin's. Its hooks run from a copy of the bytes that were looked at."""
    root = plugin.cache
    packaged = Packaged(package=root, digest=plugin.package_sha256, copies=store.running, why=CACHE_INVALID)
    told = str(root)
    env = {**launch.env, **plugin_variables(plugin.id, told, store.data(plugin.id))}
    return Home(plugin=plugin.id, root=told, env=env, launch=launch, packaged=packaged)


def home_in_place(plugin: str, root: Path, data: Path | None, launch: Launch) -> Home:
    """That of a package where its author works on it."""
    env = {**launch.env, **plugin_variables(plugin, root, data)}
    return Home(plugin=plugin, root=str(root), env=env, launch=launch)


def hook_of(hook: HookCapability, home: Home, origin: PluginOrigin | None = None) -> Hook:
    """The hook that a capability is."""
    rule = BY_NAME[hook.event]
    name = hook_id(home.plugin, hook.id)
    argv, text = _argv(hook, home), written(hook)
    packaged = home.packaged
    return Hook(
        id=name,
        key=name,
        event=rule.event,
        target=CommandTarget(argv=argv, env=home.env, written=text)
        if packaged is None
        else PackagedTarget(argv=argv, env=home.env, written=text, packaged=packaged),
        dialect=DIALECT,
        source=home.source(hook.file),
        matcher=_matcher(hook, rule),
        condition=_condition(hook, rule),
        commits=NOTHING if hook.background else rule.admits,
        timeout=hook.timeout_ms / SECOND,
        background=hook.background,
        label=hook.label,
        facts=_facts(hook, home.launch, origin),
    )


def origin_of(candidate: Candidate) -> PluginOrigin:
    """What records say of the hook of an installed plugin."""
    return PluginOrigin(
        plugin_id=candidate.plugin.id, capability_id=candidate.hook.id, source_digest=candidate.source_digest
    )


def hook_id(plugin: str, hook: str) -> str:
    """What engines and records call it."""
    return f"plugin:{plugin}:{hook}"


def written(hook: HookCapability) -> str:
    """Its command, for people."""
    return shlex.join(hook.command) if hook.command else hook.line


def _argv(hook: HookCapability, home: Home) -> tuple[str, ...]:
    """The command: of a native hook as it is, but for the one word that names a file of the package."""
    if not hook.command:
        return home.launch.argv(hook.line)
    words = list(hook.command)
    if hook.source_at >= 0:
        words[hook.source_at] = f"{home.root}/{hook.source}"
    return tuple(words)


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

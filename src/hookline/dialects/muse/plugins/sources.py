"""The hooks of installed plugins, for a session: read once at its start, after every other source (section 20)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hookline._core.hooks import HeldBack, Hook
from hookline._core.package_files import PackageFiles
from hookline._core.problems import Problem, Scope, Where
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.plugins.errors import PluginError
from hookline.dialects.muse.plugins.family import read_as_package
from hookline.dialects.muse.plugins.hooks import home_of, hook_of, origin_of
from hookline.dialects.muse.plugins.manifest import RESERVED, Manifest
from hookline.dialects.muse.plugins.review import Candidate, Decisions, Status, candidates_of, counting
from hookline.dialects.muse.plugins.store import CACHE_INVALID, Plugin, Store, cache_invalid

# Why a hook is held back, by the state of its review, and what to do about it.
WHY = {
    Status.REVIEW_NEEDED: "review_needed: look at it with `hookline plugins inspect {id}`, then approve or reject it",
    Status.MODIFIED: "modified since it was approved: `hookline plugins inspect {id}` shows what changed",
    Status.TRUSTED_DISABLED: "trusted_disabled: it was rejected",
    Status.INVALID: CACHE_INVALID,
}
DISABLED = "the plugin is disabled: `hookline plugins enable {id}` switches it on"
RESERVED_ID = "its id is reserved for a plugin that comes with Muse Code"
NOT_WANTED = "the plugin asks for variables that are not set so: {names}"

MEANT = frozenset({Status.TRUSTED_DISABLED})  # somebody wanted that


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPlugins:
    """The hooks that run, in the order of plugins' ids and then of manifests; the others, and what is wrong."""

    hooks: tuple[Hook, ...] = ()
    held_back: tuple[HeldBack, ...] = ()
    problems: tuple[Problem, ...] = ()


def load_plugins(folder: Path, env: Mapping[str, str], decisions: Decisions, launch: Launch) -> FoundPlugins:
    """What the plugins in *folder* contribute to a session under *env*. A store that is damaged is a problem."""
    store = Store(folder)
    try:
        installed = store.read()
    except PluginError as error:
        return FoundPlugins(problems=(_problem(error, str(store.table), store.table.name),))
    decided = counting(decisions, installed.forgotten)
    hooks: list[Hook] = []
    held: list[HeldBack] = []
    problems: list[Problem] = []
    for plugin in installed.plugins.values():
        for each in _of_plugin(plugin, store, env, decided, launch):
            if isinstance(each, Hook):
                hooks.append(each)
            elif isinstance(each, HeldBack):
                held.append(each)
            else:
                problems.append(each)
    return FoundPlugins(hooks=tuple(hooks), held_back=tuple(held), problems=tuple(problems))


def _of_plugin(
    plugin: Plugin, store: Store, env: Mapping[str, str], decisions: Decisions, launch: Launch
) -> Iterator[Hook | HeldBack | Problem]:
    why_not = RESERVED_ID if plugin.id in RESERVED else "" if plugin.is_enabled else DISABLED.format(id=plugin.id)
    if why_not:
        yield _all_held(plugin, why_not, meant=True)
        return
    try:
        manifest, package = _found(store, plugin)
    except PluginError as error:
        yield _all_held(plugin, WHY[Status.INVALID])
        yield _problem(error, str(plugin.cache / plugin.family.manifest), f"plugin:{plugin.id}")
        return
    if not manifest.holds_under(env):
        yield _all_held(plugin, NOT_WANTED.format(names=", ".join(manifest.when)), meant=True)
        return
    waiting: dict[Status, list[Hook]] = {}
    home = home_of(plugin, store, launch)
    for candidate in candidates_of(plugin, manifest, package):
        hook = hook_of(candidate.hook, home, origin_of(candidate))
        status = candidate.status(decisions)
        if status is Status.TRUSTED_ENABLED:
            yield hook
        else:
            waiting.setdefault(status, []).append(hook)
    for status, hooks in waiting.items():
        yield HeldBack(
            label=f"plugin:{plugin.id}",
            path=hooks[0].source.path,
            count=len(hooks),
            why=WHY[status].format(id=plugin.id),
            hooks=tuple(hooks),
            meant=status in MEANT,
        )


def _found(store: Store, plugin: Plugin) -> tuple[Manifest, PackageFiles | None]:
    """What a plugin is; its bytes are read only where somebody touched them since it was installed."""
    manifest = store.untouched(plugin)
    return read_installed(store, plugin) if manifest is None else (manifest, None)


def read_installed(store: Store, plugin: Plugin) -> tuple[Manifest, PackageFiles]:
    """An installed plugin as it is now, of the bytes that were installed. Raises PluginError where those changed."""
    package = store.cached(plugin)
    read = read_as_package(package)
    if read.manifest is None or not read.is_valid:
        raise cache_invalid(plugin, "; ".join(each.message for each in read.diagnostics if each.is_error))
    if read.manifest.id != plugin.id:
        raise cache_invalid(plugin, f"its manifest is that of `{read.manifest.id}`")
    return read.manifest, package


def candidates(store: Store, plugin: Plugin) -> tuple[Candidate, ...]:
    """The hooks of an installed plugin, to be reviewed. Raises PluginError where its bytes changed."""
    return candidates_of(plugin, *read_installed(store, plugin))


def _all_held(plugin: Plugin, why: str, *, meant: bool = False) -> HeldBack:
    path = str(plugin.cache / plugin.family.manifest)
    return HeldBack(label=f"plugin:{plugin.id}", path=path, count=plugin.hooks, why=why, meant=meant)


def _problem(error: PluginError, path: str, label: str) -> Problem:
    where = error.where or Where(file=path, label=label)
    return Problem(scope=Scope.FILE, code=error.code.value, message=error.message, where=where)

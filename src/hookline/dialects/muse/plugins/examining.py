"""A package where its author works on it: every problem with its place, and its hooks as they would run (20.3)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from hookline._core.package_files import PackageFault, PackageFiles, read_package
from hookline._core.problems import Problem, Scope, Where
from hookline._core.strictjson import JsonFault
from hookline._core.strictjson import Path as Steps
from hookline.dialects._base import Conventions, Loaded, Part, Unit
from hookline.dialects.muse.directories import plugins_directory
from hookline.dialects.muse.document import Document
from hookline.dialects.muse.environment import Launch
from hookline.dialects.muse.plugins.diagnostics import Code, Diagnostic
from hookline.dialects.muse.plugins.documents import document_in
from hookline.dialects.muse.plugins.errors import PluginError
from hookline.dialects.muse.plugins.family import is_manifest, of_files, read_as_package
from hookline.dialects.muse.plugins.hooks import home_in_place, hook_id, hook_of
from hookline.dialects.muse.plugins.manifest import Family, HookCapability, Manifest
from hookline.dialects.muse.plugins.store import LIMITS, Store

MILLISECONDS_KEY = "timeoutMs"

# How the parts of a hook are called, in a native manifest and in another one.
PARTS = {
    True: {Part.COMMAND: "command", Part.TIMEOUT: MILLISECONDS_KEY, Part.MATCHER: "compatibilityName"},
    False: {Part.COMMAND: "command", Part.TIMEOUT: "timeout"},
}


# How far a warning reaches, where something of the package does not come to be.
REACH = {
    Code.UNSUPPORTED_EVENT: Scope.POINT,
    Code.UNSUPPORTED_CAPABILITY: Scope.DOUBT,
    Code.DUPLICATE_CAPABILITY_ID: Scope.DOUBT,
    Code.RESERVED_ID: Scope.DOUBT,
}


def installed_manifests(env: Mapping[str, str]) -> tuple[Path, ...]:
    """The manifests of plugins that are installed and enabled, as far as the store can be read."""
    folder = plugins_directory(env)
    if folder is None:
        return ()
    try:
        plugins = Store(folder).read().plugins.values()
    except PluginError:  # whoever loads the hooks says so
        return ()
    return tuple(plugin.cache / plugin.family.manifest for plugin in plugins if plugin.is_enabled)


def examine_package(
    manifest: Path, env: Mapping[str, str], launch: Launch, conventions: Conventions | None = None
) -> Loaded:
    """The package whose manifest stands at this path. Its hooks run from where it is.

    *conventions* are those of the settings' hooks: those of a native package are the same but for its time limits.
    """
    root = manifest.parent.parent.resolve()
    try:
        package = read_package(root, LIMITS, keep=is_manifest)
        read = read_as_package(package)
    except PackageFault as fault:
        return Loaded(problems=(_problem(of_files(root, fault)),))
    problems = tuple(map(_problem, read.diagnostics))
    if read.manifest is None or not read.is_valid:
        return Loaded(problems=problems)
    own = read.manifest
    native = own.family is Family.MUSE
    folder = plugins_directory(env)
    data = None if folder is None else Store(folder).data(own.id)
    home = home_in_place(own.id, root, data, launch)
    return Loaded(
        hooks=tuple(hook_of(each, home) for each in own.hooks),
        problems=problems,
        place=_places(own, package),
        conventions=None if conventions is None else _of_packages(conventions, native=native),
    )


def _of_packages(conventions: Conventions, *, native: bool) -> Conventions:
    """What differs from the settings' hooks for whoever writes those of a package."""
    own = replace(conventions, has_fallbacks=False)
    return replace(own, timeout_key=MILLISECONDS_KEY, unit=Unit.MILLISECONDS) if native else own


def _problem(found: Diagnostic) -> Problem:
    return Problem(
        scope=Scope.FILE if found.is_error else REACH.get(found.code, Scope.NOTE),
        code=found.code.value,
        message=found.message,
        where=Where(
            file=found.path,
            label=Path(found.path).name,
            line=found.line,
            column=found.column,
            path=found.at,
        ),
        remedy=found.remedy,
    )


def _places(manifest: Manifest, package: PackageFiles) -> Callable[[str, Part], Where]:
    """Where each part of a hook stands, by the hook's id."""
    hooks = {hook_id(manifest.id, each.id): each for each in manifest.hooks}
    documents = dict(_documents(manifest, package))
    parts = PARTS[manifest.family is Family.MUSE]

    def place(hook: str, part: Part) -> Where:
        own = hooks[hook]
        document = documents.get(own.file)
        if document is None:
            return Where(file=str(package.root / own.file), label=own.file)
        return document.where(_at(own, part, parts))

    return place


def _at(hook: HookCapability, part: Part, parts: Mapping[Part, str]) -> Steps:
    if part is Part.MATCHER and part not in parts:
        return (*hook.at[:-2], "matcher")
    return (*hook.at, *((parts[part],) if part in parts else ()))


def _documents(manifest: Manifest, package: PackageFiles) -> Iterator[tuple[str, Document]]:
    for path in {hook.file for hook in manifest.hooks}:
        try:
            yield path, document_in(package, path)
        except (JsonFault, KeyError, PackageFault):
            continue

"""A package becomes an installed plugin: fetched, copied, looked at, put in its place, and then named (20.5)."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hookline._core.package_files import PackageFault, PackageFiles, copy_package, take_away
from hookline.dialects.muse.plugins import decisions as stored
from hookline.dialects.muse.plugins.asking import Asking
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.family import is_manifest, of_files, read_as_package
from hookline.dialects.muse.plugins.manifest import Family, Manifest, Read
from hookline.dialects.muse.plugins.review import plugin_of, reviewed_path
from hookline.dialects.muse.plugins.store import LIMITS, Installed, Plugin, Store, record_of


def folder_at(path: str, cwd: Path) -> Path:
    """The folder that a path names, free of links: what is below it is looked at without following any."""
    folder = cwd / path
    try:
        str(folder.resolve()).encode()
        if folder.exists():
            return folder.resolve()
    except (UnicodeEncodeError, ValueError):
        raise PluginError(Fault.SOURCE_UNAVAILABLE, f"the path {path!a} is none that can be kept") from None
    except (OSError, RuntimeError) as error:  # links that go in circles are the second
        why = getattr(error, "strerror", None) or error
        raise PluginError(Fault.SOURCE_UNAVAILABLE, f"cannot read {folder}: {why}") from error
    raise PluginError(Fault.SOURCE_UNAVAILABLE, f"there is no folder {folder}")


def origin_of(source: str, cwd: Path) -> dict[str, Any]:
    """Where a package comes from, as records have it: `<plugin>@<marketplace>`, or a path."""
    plugin, at, marketplace = source.rpartition("@")
    if at and plugin and marketplace and "/" not in source and not os.path.exists(cwd / source):  # noqa: PTH110  # which raises nothing
        return {"provenance": "", "plugin": plugin, "marketplace": marketplace}
    return {"provenance": "", "path": str(folder_at(source, cwd))}


@contextmanager
def fetched(store: Store, origin: Mapping[str, Any]) -> Iterator[Path]:
    """The folder of a package, wherever it is from."""
    if "marketplace" in origin:
        from hookline.dialects.muse.plugins import marketplaces

        with marketplaces.fetched(store, str(origin["plugin"]), str(origin["marketplace"])) as root:
            yield root
        return
    root = Path(str(origin.get("path", "")))
    if not os.path.isdir(root):  # noqa: PTH112  # which raises nothing
        raise PluginError(Fault.SOURCE_UNAVAILABLE, f"there is no folder {root} any more, from which it was installed")
    yield root


def install_package(
    asking: Asking, root: Path, origin: dict[str, Any], *, trust: str, expected: str | None
) -> tuple[Plugin, Read]:
    """Copy the package, look at the copy, and have it be what is installed."""
    store = asking.store
    with store.stage() as stage:
        staged = stage.path / "package"
        package = _copied(root, staged)
        read = read_as_package(package)
        manifest = read.manifest
        if manifest is None or not read.is_valid:
            first = next(each for each in read.diagnostics if each.is_error)
            raise PluginError(Fault.INVALID_PACKAGE, f"{first.place}: {first.message}", read.diagnostics)
        if expected is not None and manifest.id != expected:
            message = f"{root} is the package of `{manifest.id}` now, and not of `{expected}`"
            raise PluginError(Fault.INCOMPATIBLE_PACKAGE, message)
        word = "native" if manifest.family is Family.MUSE else manifest.family.value
        origin = {**origin, "provenance": f"{word}-{'marketplace' if 'marketplace' in origin else 'local'}"}
        with changing(asking) as installed:
            if manifest.id in installed.forgotten:
                finish(asking, installed)  # which says why it cannot be: its old decisions must not come to count
            _check_aliases(manifest, installed)
            before = installed.plugins.get(manifest.id)
            home = store.place(staged, manifest.id, package.digest)
            plugin = record_of(
                manifest,
                package,
                cache=home,
                source=origin,
                trust=trust,
                before=before,
                manifest_sha256=next(f.sha256 for f in package.files if f.path == manifest.family.manifest),
            )
            installed.put(plugin)
    _clear(store, manifest.id, before)
    return plugin, read


def _clear(store: Store, id_: str, before: Plugin | None) -> None:
    """Take away bytes that nobody needs: sessions that began before the last change may still start hooks."""
    with store.alone():
        now = store.read().plugins.get(id_)
        store.clear(id_, keep=tuple(each.package_sha256 for each in (before, now) if each is not None))


def _copied(root: Path, staged: Path) -> PackageFiles:
    try:
        return copy_package(root, staged, LIMITS, keep=is_manifest)
    except PackageFault as fault:
        found = of_files(root, fault)
        raise PluginError(Fault.INVALID_PACKAGE, f"{found.place}: {found.message}", (found,)) from fault
    except OSError as error:
        message = f"cannot write {staged}: {error.strerror or error}"
        raise PluginError(Fault.STORE_WRITE_FAILED, message) from error


def _check_aliases(manifest: Manifest, installed: Installed) -> None:
    """Raise PluginError where another plugin's hooks go by the same name for a tool."""
    taken = {
        name: plugin.id for plugin in installed.plugins.values() if plugin.id != manifest.id for name in plugin.aliases
    }
    for hook in manifest.hooks:
        other = taken.get(hook.compatibility_name)
        if other is not None:
            message = f"compatibilityName `{hook.compatibility_name}` of hook `{hook.id}` is taken by plugin `{other}`"
            raise PluginError(Fault.INCOMPATIBLE_PACKAGE, message)


@contextmanager
def changing(asking: Asking) -> Iterator[Installed]:
    """What is installed, to be changed; what an earlier removal left is finished before, as far as that can be."""
    with asking.store.changing() as installed:
        with suppress(PluginError):  # what is left is void all the same, and in nobody's way but its own
            finish(asking, installed)
        yield installed


def finish(asking: Asking, installed: Installed) -> None:
    """Do what a removal has still to do: forget decisions, and take away files. Raises PluginError."""
    if not installed.unfinished:
        return
    store, gone = asking.store, installed.forgotten
    stored.forget(asking.env, lambda id_: plugin_of(id_) in gone)
    for each in installed.unfinished:
        if each["id"] not in installed.members["plugins"]:
            store.clear(each["id"])
        with suppress(OSError):
            reviewed_path(store.root, each["id"]).unlink()
        if each["delete_data"]:
            take_away(store.data(each["id"]))
    installed.members.pop("unfinished")

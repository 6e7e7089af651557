"""The plugins that are installed: one table that says which, and a folder of bytes for each, known by their digest.

The table is the one thing that counts. Bytes are put in their place before it names them, and taken away after it no
longer does, so a program that is killed in between leaves the old state or the new one (section 20.5).
"""

import copy
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hookline._core.held_folders import HeldFolder
from hookline._core.package_files import Limits, PackageFault, PackageFiles, read_package, signature, take_away
from hookline._core.private_folders import make_private
from hookline.dialects._kinds import ARRAY, BOOLEAN, OBJECT, STRING
from hookline.dialects.muse.directories import INSTALLED, plugins_directory
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.family import is_manifest
from hookline.dialects.muse.plugins.manifest import Family, HookCapability, Manifest
from hookline.dialects.muse.plugins.native import IDENTIFIER
from hookline.dialects.muse.plugins.tables import Damaged, expect, read_table, sync_folder, write_table

LIMITS = Limits()
USER_LOCAL, PROJECT_TRUSTED = "user-local", "project-trusted"
DIGEST = re.compile(r"[0-9a-f]{64}")

# Members of a record, all of them text but for two.
TEXTS = (
    "id",
    "display_name",
    "version",
    "description",
    "manifest_family",
    "trust",
    "installed_at",
    "updated_at",
    "manifest_sha256",
    "package_sha256",
    "cache_path",
)


def store_of(env: Mapping[str, str]) -> "Store":
    """The store of the user whose environment this is. Raises PluginError where there can be none."""
    folder = plugins_directory(env)
    if folder is None:
        message = "there is no folder for plugins: set HOME or XDG_DATA_HOME to an absolute path"
        raise PluginError(Fault.STORE_READ_FAILED, message)
    try:
        str(folder).encode()
    except UnicodeEncodeError:  # records name it, and are UTF-8
        message = f"the path {str(folder)!a} cannot hold plugins, as it is not UTF-8: set XDG_DATA_HOME to another"
        raise PluginError(Fault.STORE_READ_FAILED, message) from None
    return Store(folder)


def now() -> str:
    """The time, as records have it: UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Plugin:
    """One record of the table. `members` is all of it, also what is not ours: it is written back as it was."""

    members: Mapping[str, Any] = field(repr=False)

    @property
    def id(self) -> str:
        return str(self.members["id"])

    @property
    def version(self) -> str:
        return str(self.members["version"])

    @property
    def is_enabled(self) -> bool:
        return bool(self.members["enabled"])

    @property
    def trust(self) -> str:
        return str(self.members["trust"])

    @property
    def family(self) -> Family:
        return Family(self.members["manifest_family"])

    @property
    def provenance(self) -> str:
        return str(self.members["source"]["provenance"])

    @property
    def source(self) -> Mapping[str, Any]:
        source: Mapping[str, Any] = self.members["source"]
        return source

    @property
    def package_sha256(self) -> str:
        return str(self.members["package_sha256"])

    @property
    def manifest_sha256(self) -> str:
        return str(self.members["manifest_sha256"])

    @property
    def cache(self) -> Path:
        return Path(self.members["cache_path"])

    @property
    def hooks(self) -> int:
        """How many hooks it had when it was installed."""
        count = self.members.get("hooks", 0)
        return count if isinstance(count, int) else 0

    @property
    def aliases(self) -> tuple[str, ...]:
        """The names of tools that its hooks go by."""
        names = self.members.get("aliases")
        return tuple(filter(STRING.accepts, names)) if isinstance(names, list) else ()

    def changed(self, **members: Any) -> "Plugin":
        return replace(self, members={**self.members, **members})


@dataclass(slots=True)
class Installed:
    """The table, as it is about to be. `members` is all of the file."""

    members: dict[str, Any]

    @property
    def plugins(self) -> dict[str, Plugin]:
        """By id, in the order of the ids."""
        return {id_: Plugin(record) for id_, record in sorted(self.members["plugins"].items())}

    @property
    def unfinished(self) -> list[dict[str, Any]]:
        """What is gone from the table, and not yet from elsewhere: the plugin, and whether its data goes too."""
        left: list[dict[str, Any]] = self.members.get("unfinished", [])
        return left

    @property
    def forgotten(self) -> frozenset[str]:
        """The plugins of which no decision counts, whatever the settings still say."""
        return frozenset(each["id"] for each in self.unfinished)

    def plugin(self, id_: str) -> Plugin:
        """Raises PluginError where it is not installed."""
        if id_ not in self.members["plugins"]:
            raise PluginError(Fault.UNKNOWN_PLUGIN, f"plugin `{id_}` is not installed")
        return Plugin(self.members["plugins"][id_])

    def put(self, plugin: Plugin) -> None:
        self.members["plugins"][plugin.id] = dict(plugin.members)

    def drop(self, id_: str, *, delete_data: bool) -> None:
        del self.members["plugins"][id_]
        self.members["unfinished"] = [*self.unfinished, {"id": id_, "delete_data": delete_data}]


def _check(value: dict[str, Any]) -> None:
    """Raise Damaged where the table is not one that this program could have written."""
    plugins = value.get("plugins", {})
    expect(plugins, ("plugins",), OBJECT)
    for id_, record in plugins.items():
        at = ("plugins", id_)
        expect(record, at, OBJECT)
        if not all([type(record.get(name)) is str for name in TEXTS]):  # noqa: C419  # a generator takes twice as long
            _check_texts(record, at)
        expect(record.get("enabled"), (*at, "enabled"), BOOLEAN)
        source = record.get("source")
        expect(source, (*at, "source"), OBJECT)
        expect(source.get("provenance"), (*at, "source", "provenance"), STRING)
        if record["id"] != id_ or not IDENTIFIER.fullmatch(id_):
            raise Damaged((*at, "id"), "it is not the id that the plugin is kept under")
        if record["manifest_family"] not in {family.value for family in Family}:
            raise Damaged((*at, "manifest_family"), "there is no such family")
        if not DIGEST.fullmatch(record["package_sha256"]):
            raise Damaged((*at, "package_sha256"), "it is not a digest of 64 hexadecimal digits")
    expect(value.get("unfinished", []), ("unfinished",), ARRAY)
    for index, each in enumerate(value.get("unfinished", [])):
        at = ("unfinished", index)
        expect(each, at, OBJECT)
        expect(each.get("delete_data"), (*at, "delete_data"), BOOLEAN)
        if not isinstance(each.get("id"), str) or not IDENTIFIER.fullmatch(each["id"]):
            raise Damaged((*at, "id"), "it is not the id of a plugin")


def _check_texts(record: dict[str, Any], at: tuple[str | int, ...]) -> None:
    for name in TEXTS:
        if name not in record:
            raise Damaged(at, f"`{name}` is missing")
        expect(record[name], (*at, name), STRING)


@dataclass(frozen=True, slots=True)
class Store:
    """The folder of a user's plugins."""

    root: Path

    @property
    def table(self) -> Path:
        return self.root / INSTALLED

    @property
    def running(self) -> Path:
        """Where sessions keep the copies that they run from."""
        return self.root / "running"

    @property
    def staging(self) -> Path:
        """Where packages are copied before they count."""
        return self.root / "staging"

    def data(self, id_: str) -> Path:
        """A plugin's own folder, which it makes itself."""
        return Path(f"{self.root}/data/{id_}")

    def cache(self, id_: str, digest: str) -> Path:
        """Where the bytes of a package are kept."""
        return Path(f"{self.root}/cache/local/{id_}/{digest}/package")  # one step, as every start asks for all of them

    def read(self) -> Installed:
        """What is installed. Raises PluginError for a table that is damaged, or of another version."""
        return Installed(read_table(self.table, {"plugins": {}}, _check))

    @contextmanager
    def changing(self) -> Iterator[Installed]:
        """What is installed, to be changed by nobody else; written when all went well. Raises PluginError."""
        with self.alone():
            installed = self.read()
            before = copy.deepcopy(installed.members)
            yield installed
            if installed.members != before:
                write_table(self.table, installed.members)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else changes anything here meanwhile. Raises PluginError."""
        try:
            make_private(self.root)
            descriptor = os.open(self.root / ".installed.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise write_failed(self.root, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            for draft in self.root.glob(".*.json.*"):  # of a table, by a program that was killed
                with suppress(OSError):
                    draft.unlink()
            yield
        finally:
            os.close(descriptor)

    def stage(self) -> HeldFolder:
        """A folder to copy a package to. Raises PluginError."""
        try:
            return HeldFolder.within(self.staging)
        except OSError as error:
            raise write_failed(self.staging, error) from error

    def place(self, staged: Path, id_: str, digest: str) -> Path:
        """Move a copy to where the bytes of this digest are kept. Must be alone. Raises PluginError."""
        home = self.cache(id_, digest)
        if not is_whole(home, digest, LIMITS):
            put_in_place(staged, home, aside=staged.with_name("broken"))
        return home

    def cached(self, plugin: Plugin) -> PackageFiles:
        """The bytes of an installed plugin. Raises PluginError where they are not those that were installed."""
        home = self.cache(plugin.id, plugin.package_sha256)
        if plugin.cache != home:
            raise cache_invalid(plugin, f"it names {plugin.cache} for its files, which belong in {home}")
        try:
            found = read_package(home, LIMITS, keep=is_manifest)
        except PackageFault as fault:
            raise cache_invalid(plugin, str(fault)) from fault
        if found.digest != plugin.package_sha256:
            raise cache_invalid(plugin, "its files are not those that were installed")
        return found

    def untouched(self, plugin: Plugin) -> Manifest | None:
        """What an installed plugin is, by its record, if nobody has touched a file of it since; else None.

        Nothing is read: what the record says of a hook has to be what somebody approved, as that is hashed as a whole,
        and the bytes that a hook runs are hashed once more before they do. Hooks of other families are not told so.
        """
        members = plugin.members
        home = self.cache(plugin.id, plugin.package_sha256)
        if plugin.family is not Family.MUSE or members["cache_path"] != str(home):
            return None
        try:
            if seen_of(home, members["capabilities"], members["when"]) != members["seen"]:
                return None
            hooks = tuple(map(HookCapability.from_members, members["capabilities"]))
            when = {name: str(value) for name, value in members["when"].items()}
        except (OSError, KeyError, TypeError, ValueError, AttributeError):
            return None
        return Manifest(family=plugin.family, id=plugin.id, version=plugin.version, when=when, hooks=hooks)

    def clear(self, id_: str, *, keep: tuple[str, ...] = ()) -> None:
        """Take away the kept bytes of a plugin, but for these digests."""
        home = self.root / "cache" / "local" / id_
        with suppress(OSError):  # what cannot be removed is in nobody's way
            for each in list(home.iterdir()):
                if each.name not in keep:
                    take_away(each)
        if not keep:
            take_away(home)


def is_whole(home: Path, digest: str, limits: Limits) -> bool:
    """Whether the package with this digest stands at *home*."""
    try:
        return read_package(home, limits).digest == digest
    except PackageFault:
        return False


def put_in_place(staged: Path, home: Path, *, aside: Path) -> None:
    """Move a copy to *home*, the `package` in a folder of its digest; what is there so far goes *aside*.

    Must be alone. Raises PluginError.
    """
    try:
        if os.path.lexists(home.parent):
            home.parent.rename(aside)
        made = make_private(home.parent)
        staged.rename(home)
        home.chmod(0o555)
        for folder in (home.parent, *(each.parent for each in made)):
            sync_folder(folder)
    except OSError as error:
        raise write_failed(home, error) from error


def write_failed(path: Path, error: OSError) -> PluginError:
    """The store could not be written to."""
    return PluginError(Fault.STORE_WRITE_FAILED, f"cannot write {path}: {error.strerror or error}")


CACHE_INVALID = "plugin cache is invalid; capabilities are blocked"


def cache_invalid(plugin: Plugin, why: str) -> PluginError:
    """The bytes of an installed plugin are not those that were installed."""
    message = f"{CACHE_INVALID}: plugin `{plugin.id}`: {why}; `hookline plugins update {plugin.id}` installs it anew"
    return PluginError(Fault.CACHE_INVALID, message)


def seen_of(home: Path, capabilities: object, when: object) -> str:
    """What tells whether the files at *home* were touched, or what a record says of them. Raises OSError."""
    return hashlib.sha256(f"{signature(home)}{capabilities!r}{when!r}".encode()).hexdigest()


def record_of(
    manifest: Manifest,
    package: PackageFiles,
    *,
    cache: Path,
    source: Mapping[str, Any],
    trust: str,
    before: Plugin | None,
    manifest_sha256: str,
) -> Plugin:
    """The record of a package that is installed from *source*, over the one that was there *before*."""
    moment = now()
    kept = {} if before is None else dict(before.members)
    capabilities = json.loads(json.dumps([hook.members() for hook in manifest.hooks]))  # as they are read again
    return Plugin(
        {
            **kept,
            "id": manifest.id,
            "display_name": manifest.display_name or manifest.id,
            "version": manifest.version,
            "description": manifest.description,
            "manifest_family": manifest.family.value,
            "enabled": True if before is None else before.is_enabled,
            "trust": trust,
            "source": dict(source),
            "installed_at": kept.get("installed_at", moment),
            "updated_at": moment,
            "manifest_sha256": manifest_sha256,
            "package_sha256": package.digest,
            "cache_path": str(cache),
            "hooks": len(manifest.hooks),
            "when": dict(manifest.when),
            "capabilities": capabilities,
            "seen": seen_of(cache, capabilities, dict(manifest.when)),
            "aliases": sorted(hook.compatibility_name for hook in manifest.hooks if hook.compatibility_name),
        }
    )

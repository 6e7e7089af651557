"""What people do with plugins, a function each: what it changes, and what it says of it (section 20.4)."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookline._core.package_files import PackageFault, read_package
from hookline._core.private_folders import make_private
from hookline.dialects._plugins import Told
from hookline.dialects.muse.plugins import decisions as stored
from hookline.dialects.muse.plugins.asking import Asking
from hookline.dialects.muse.plugins.diagnostics import told_of
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.family import is_manifest, of_files, read_as_package
from hookline.dialects.muse.plugins.installing import changing, fetched, finish, folder_at, install_package, origin_of
from hookline.dialects.muse.plugins.looking import (
    decisions_counting,
    invalid_capabilities,
    looked_at,
    manifest_json,
    reviewed,
    warning_of,
    what_was_reviewed,
)
from hookline.dialects.muse.plugins.manifest import Read
from hookline.dialects.muse.plugins.review import Decision, Status, remember, reviewed_path
from hookline.dialects.muse.plugins.rows import row, word
from hookline.dialects.muse.plugins.selecting import plugin_in, selected
from hookline.dialects.muse.plugins.sources import candidates
from hookline.dialects.muse.plugins.store import CACHE_INVALID, LIMITS, PROJECT_TRUSTED, USER_LOCAL
from hookline.dialects.muse.plugins.tables import write_table
from hookline.dialects.muse.trust import is_trusted

if TYPE_CHECKING:
    from hookline.dialects.muse.plugins.marketplaces import Marketplace

UNTRUSTED = "project-local plugin source is blocked because the workspace is untrusted"


def validate(asking: Asking, path: str) -> Told:
    """Whether the package at *path* could be installed, with everything that is wrong in it. Nothing is changed."""
    root = folder_at(path, asking.cwd)
    try:
        read = read_as_package(read_package(root, LIMITS, keep=is_manifest))
    except PackageFault as fault:
        read = Read(diagnostics=(of_files(root, fault),))
    found, manifest = read.diagnostics, read.manifest
    told: dict[str, Any] = {"valid": read.is_valid, "diagnostics": [each.as_json() for each in found]}
    if manifest is not None and read.is_valid:
        counts = " ".join(f"{kind}={number}" for kind, number in manifest.counts.items())
        line = row("valid", manifest.id, manifest.family.title, f"{counts} diagnostics={len(found)}")
        return Told(lines=(line,), asides=told_of(found), value={**told, **manifest_json(manifest)})
    line = row("invalid", read.label or str(root), f"diagnostics={len(found)}")
    return Told(lines=(line,), asides=told_of(found), value={**told, "id": read.label or None}, failed=True)


def install(asking: Asking, source: str, *, scope: str = "user") -> Told:
    """Install the package at a path, or `<plugin>@<marketplace>`. Its hooks have to be reviewed before they run."""
    trust = USER_LOCAL
    if scope == "project":
        if not (asking.trust or is_trusted(asking.env, asking.cwd)):
            raise PluginError(Fault.SOURCE_UNAVAILABLE, UNTRUSTED)
        trust = PROJECT_TRUSTED
    origin = origin_of(source, asking.cwd)
    with fetched(asking.store, origin) as root:
        plugin, read = install_package(asking, root, origin, trust=trust, expected=None)
    manifest = read.manifest
    assert manifest is not None  # noqa: S101  # for the type checker: it was installed
    line = row(
        "installed",
        plugin.id,
        plugin.version,
        f"enabled={word(plugin.is_enabled)}",
        f"trust={plugin.trust}",
        f"provenance={plugin.provenance}",
        f"cache={plugin.cache}",
    )
    warning = warning_of(manifest)
    lines = (line, row("warning", warning)) if warning else (line,)
    told = {"record": dict(plugin.members), "warning": warning or None, "plugin": manifest_json(manifest)}
    found = read.diagnostics
    return Told(lines=lines, asides=told_of(found), value={**told, "diagnostics": [each.as_json() for each in found]})


def update(asking: Asking, id_: str) -> Told:
    """Install a plugin anew from where it came from. What did not change keeps its review."""
    installed = asking.store.read()
    before = installed.plugin(id_)
    decisions_counting(asking, installed)  # settings that cannot be read are told of before anything is changed
    origin = dict(before.source)
    with fetched(asking.store, origin) as root:
        plugin, read = install_package(asking, root, origin, trust=before.trust, expected=id_)
    line = row(
        "updated",
        id_,
        plugin.manifest_sha256,
        f"trust={plugin.trust}",
        f"previous={before.manifest_sha256}",
    )
    shown = reviewed(asking, plugin)
    rows = [each for each in shown if each.status is not Status.TRUSTED_ENABLED]
    told = {
        "record": dict(plugin.members),
        "previous": dict(before.members),
        "diagnostics": [each.as_json() for each in read.diagnostics],
        "runtime_capabilities": [each.as_json() for each in shown],
    }
    lines = (line, *(row for each in rows for row in each.rows()))
    return Told(lines=lines, asides=told_of(read.diagnostics), value=told)


def list_(asking: Asking, *, available: bool = False) -> Told:
    """What is installed; with *available*, what marketplaces offer."""
    if available:
        from hookline.dialects.muse.plugins import marketplaces

        offered = [(place, each) for place in marketplaces.listing(asking.store) for each in place.plugins]
        lines = tuple(
            row(f"{each.name}@{place.name}", each.version or "-", each.why_not or each.description or "-")
            for place, each in offered
        )
        return Told(lines=lines, value=[{"marketplace": place.name, **each.as_json()} for place, each in offered])
    installed = asking.store.read()
    looked = [looked_at(asking, plugin) for plugin in installed.plugins.values()]
    return Told(lines=tuple(each.row() for each in looked), value=[each.as_json() for each in looked])


def inspect(asking: Asking, id_: str) -> Told:
    """A plugin, and the state of each of its hooks: what it runs, and what changed since it was reviewed."""
    plugin = asking.store.read().plugin(id_)
    looked = looked_at(asking, plugin)
    warning = "" if looked.manifest is None else warning_of(looked.manifest)
    shown = reviewed(asking, plugin) if looked.manifest is not None else ()
    lines = [looked.row()]
    if warning:
        lines.append(row("warning", warning))
    for each in shown:
        lines.extend(each.rows())
    capabilities = [each.as_json() for each in shown]
    if looked.manifest is None:
        capabilities = [*invalid_capabilities(plugin, CACHE_INVALID)]
        ids = (each["candidate"]["stable_id"] for each in capabilities)
        lines.extend(row("runtime-capability", id_, f"status={Status.INVALID.value}") for id_ in ids)
    told = {
        "record": dict(plugin.members),
        "warning": warning or None,
        "plugin": None if looked.manifest is None else manifest_json(looked.manifest),
        "valid": looked.is_valid,
        "active": looked.is_active,
        "active_scope": "installed-plugin",
        "diagnostics": [each.as_json() for each in looked.diagnostics],
        "effective_capabilities_scope": "installed-plugin",
        "effective_capabilities": [each["candidate"]["stable_id"] for each in capabilities if each["runs"]],
        "capability_diagnostics": [],
        "runtime_capabilities": capabilities,
    }
    return Told(lines=tuple(lines), asides=told_of(looked.diagnostics), value=told)


def approve(asking: Asking, selector: str, *, expect: str = "") -> Told:
    """Let a plugin's hooks, or one of them, run as they are now, in sessions from the next one on."""
    return _decided(asking, selector, "approve", enabled=True, expect=expect)


def reject(asking: Asking, selector: str, *, expect: str = "") -> Told:
    """Keep a plugin's hooks, or one of them, from running."""
    return _decided(asking, selector, "reject", enabled=False, expect=expect)


def enable(asking: Asking, id_: str) -> Told:
    """Let what is approved of a plugin run again, in sessions from the next one on."""
    asking.store.cached(asking.store.read().plugin(id_))
    return _switched(asking, id_, "enable", on=True)


def disable(asking: Asking, id_: str) -> Told:
    """Have nothing of a plugin run. What was decided about its hooks stays."""
    return _switched(asking, id_, "disable", on=False)


def remove(asking: Asking, id_: str, *, delete_data: bool = False) -> Told:
    """Remove a plugin and forget what was decided about it; with *delete_data* what it kept, too."""
    with changing(asking) as installed:
        installed.plugin(id_)
        installed.drop(id_, delete_data=delete_data)
    try:
        with asking.store.changing() as installed:
            finish(asking, installed)
    except PluginError as error:
        message = f"plugin `{id_}` is removed and its decisions are void; what is left of it goes at the next change"
        raise PluginError(Fault.REMOVE_FAILED, f"{message}: {error}") from error
    data = asking.store.data(id_)
    if delete_data and os.path.lexists(data):
        raise PluginError(Fault.REMOVE_FAILED, f"plugin `{id_}` is removed, and not all of {data} could be")
    return Told(lines=(row("removed", id_),), value={"removed": id_, "data_deleted": delete_data})


def marketplace_add(asking: Asking, source: str, *, name: str | None = None) -> Told:
    """Know a list of plugins: a folder, a file, or a Git repository."""
    from hookline.dialects.muse.plugins import marketplaces

    return _of_marketplaces("added", (marketplaces.add(asking.store, source, name=name, cwd=asking.cwd),))


def marketplace_list(asking: Asking) -> Told:
    """Which lists of plugins are known."""
    from hookline.dialects.muse.plugins import marketplaces

    return _of_marketplaces("", marketplaces.listing(asking.store))


def marketplace_update(asking: Asking, name: str | None = None) -> Told:
    """Read a known list of plugins anew, or all of them."""
    from hookline.dialects.muse.plugins import marketplaces

    return _of_marketplaces("updated", marketplaces.update(asking.store, name))


def marketplace_remove(asking: Asking, name: str) -> Told:
    """Know a list of plugins no more. What was installed from it stays."""
    from hookline.dialects.muse.plugins import marketplaces

    marketplaces.remove(asking.store, name)
    return Told(lines=(row("removed", name),), value={"removed": name})


def _of_marketplaces(word: str, found: "Sequence[Marketplace]") -> Told:
    lines = tuple(
        row(*([word] if word else []), each.name, f"kind={each.kind}", f"plugins={len(each.plugins)}", each.location)
        for each in found
    )
    return Told(lines=lines, value=[each.as_json() for each in found])


def _switched(asking: Asking, id_: str, verb: str, *, on: bool) -> Told:
    with changing(asking) as installed:
        plugin = installed.plugin(id_).changed(enabled=on)
        installed.put(plugin)
    line = row(verb, id_, f"enabled={word(on)}", f"trust={plugin.trust}")
    return Told(lines=(line,), value={"id": id_, "enabled": on, "trust": plugin.trust})


def _decided(asking: Asking, selector: str, verb: str, *, enabled: bool, expect: str) -> Told:
    store = asking.store
    chosen = selected(store, selector)
    if expect and [each.definition_hash for each in chosen] != [expect]:
        message = f"`{selector}` is not, or not only, what has the hash {expect}; look at it again"
        raise PluginError(Fault.NOT_FOUND, message)
    if not chosen:
        id_ = plugin_in(selector)
        return Told(
            lines=(f"nothing to review: plugin `{id_}` has no runtime capabilities",),
            value={"decision": verb, "runtime_capabilities": []},
        )
    with changing(asking) as installed:
        before = {each.stable_id: each.definition_hash for each in chosen}
        plugin = installed.plugin(chosen[0].plugin.id)
        now = {each.stable_id: each.definition_hash for each in candidates(store, plugin)}
        if not before.items() <= now.items():
            message = f"what `{selector}` names changed while it was being decided about; look at it again"
            raise PluginError(Fault.NOT_FOUND, message)
        with suppress(PluginError, OSError):  # it only says what to show of a change
            path = reviewed_path(store.root, plugin.id)
            make_private(path.parent)
            write_table(path, remember(chosen, what_was_reviewed(store, plugin.id)))
        stored.decide(
            asking.env,
            {id_: Decision(enabled=enabled, trusted_definition_hash=digest) for id_, digest in before.items()},
        )
    return Told(
        lines=tuple(row(verb, each.stable_id) for each in chosen),
        value={
            "decision": verb,
            "runtime_capabilities": [
                {
                    "stable_id": each.stable_id,
                    "trusted_definition_hash": each.definition_hash,
                    "enabled": enabled,
                }
                for each in chosen
            ],
        },
    )


VERBS: Mapping[str, Callable[..., Told]] = {
    "validate": validate,
    "install": install,
    "list": list_,
    "inspect": inspect,
    "approve": approve,
    "reject": reject,
    "enable": enable,
    "disable": disable,
    "update": update,
    "remove": remove,
    "marketplace add": marketplace_add,
    "marketplace list": marketplace_list,
    "marketplace update": marketplace_update,
    "marketplace remove": marketplace_remove,
}


def call(name: str, env: Mapping[str, str], cwd: Path, trust: str, /, *given: Any, **options: Any) -> Told:
    """Do what one of `VERBS` does, for whoever has the environment, the folder and the trust at hand."""
    try:
        return VERBS[name](Asking(env=env, cwd=cwd, trust=trust), *given, **options)
    except OSError as error:  # whatever the machine does not give, and nobody has said more of
        message = f"{error.filename or name}: {error.strerror or error}"
        raise PluginError(Fault.STORE_WRITE_FAILED, message) from error

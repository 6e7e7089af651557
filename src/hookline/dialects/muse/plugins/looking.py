"""An installed plugin as people are shown it, and the state of the review of each of its hooks (20.4, 20.6)."""

from dataclasses import dataclass
from typing import Any

from hookline._core.errors import ConfigError
from hookline.dialects.muse.plugins import decisions as stored
from hookline.dialects.muse.plugins.asking import Asking
from hookline.dialects.muse.plugins.diagnostics import Code, Diagnostic
from hookline.dialects.muse.plugins.errors import Fault, PluginError
from hookline.dialects.muse.plugins.family import read_as_package
from hookline.dialects.muse.plugins.hooks import written
from hookline.dialects.muse.plugins.manifest import RESERVED, Manifest
from hookline.dialects.muse.plugins.review import (
    KIND,
    Candidate,
    Decisions,
    Status,
    candidates_of,
    changes_of,
    check_account,
    counting,
    display_path,
    remembered,
    reviewed_path,
    stable_id,
)
from hookline.dialects.muse.plugins.rows import row, word
from hookline.dialects.muse.plugins.sources import read_installed
from hookline.dialects.muse.plugins.store import Installed, Plugin, Store
from hookline.dialects.muse.plugins.tables import read_table

NEEDS_REVIEW = "third-party plugin: hooks require review before activation"
UNREVIEWED = "skills and commands are active without review while the plugin is enabled"


def warning_of(manifest: Manifest) -> str:
    others = any(manifest.counts.get(kind) for kind in ("skills", "commands"))
    parts = [NEEDS_REVIEW] if manifest.hooks else []
    return "; ".join([*parts, UNREVIEWED] if others else parts)


def manifest_json(manifest: Manifest) -> dict[str, Any]:
    return {
        "id": manifest.id,
        "family": manifest.family.title,
        "version": manifest.version,
        "display_name": manifest.display_name or manifest.id,
        "description": manifest.description,
        "when": {"env": dict(manifest.when)} if manifest.when else None,
        "counts": dict(manifest.counts),
        "hooks": [{**hook.definition(), "file": hook.file} for hook in manifest.hooks],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """An installed plugin, as it was found. `manifest` is None where its bytes are not what was installed."""

    plugin: Plugin
    manifest: Manifest | None
    diagnostics: tuple[Diagnostic, ...]
    is_active: bool

    @property
    def is_valid(self) -> bool:
        return self.manifest is not None

    def row(self) -> str:
        plugin = self.plugin
        return row(
            plugin.id,
            plugin.version,
            f"enabled={word(plugin.is_enabled)}",
            f"active={word(self.is_active)}",
            f"trust={plugin.trust}",
            f"provenance={plugin.provenance}",
            f"valid={word(self.is_valid)}",
            f"diagnostics={len(self.diagnostics)}",
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "record": dict(self.plugin.members),
            "active": self.is_active,
            "valid": self.is_valid,
            "diagnostics": [each.as_json() for each in self.diagnostics],
        }


def _is_active(plugin: Plugin, manifest: Manifest, asking: Asking) -> bool:
    """Whether what is approved of a plugin runs."""
    return plugin.is_enabled and plugin.id not in RESERVED and manifest.holds_under(asking.env)


def looked_at(asking: Asking, plugin: Plugin) -> Looked:
    store = asking.store
    try:
        manifest, package = read_installed(store, plugin)
    except PluginError as error:
        path = str(plugin.cache)
        told = Diagnostic(code=Code.CACHE_INVALID, path=path, message=str(error), remedy="install it anew")
        return Looked(plugin=plugin, manifest=None, diagnostics=(told,), is_active=False)
    active = _is_active(plugin, manifest, asking)
    return Looked(plugin=plugin, manifest=manifest, diagnostics=read_as_package(package).diagnostics, is_active=active)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One hook with the state of its review, and what changed since."""

    candidate: Candidate
    status: Status
    changes: tuple[str, ...]
    runs: bool

    def rows(self) -> tuple[str, ...]:
        id_, hook = self.candidate.stable_id, self.candidate.hook
        about = (f"event={hook.event}", f"timeoutMs={hook.timeout_ms}", f"async={word(hook.background)}")
        return (
            row("runtime-capability", id_, f"status={self.status.value}"),
            row("definition", id_, *about, f"command={written(hook)}"),
            *(row("changed", id_, each) for each in self.changes),
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "candidate": self.candidate.as_json(),
            "definition": self.candidate.hook.definition(),
            "status": self.status.value,
            "changes": list(self.changes),
            "runs": self.runs,
            "diagnostic": None,
        }


def invalid_capabilities(plugin: Plugin, why: str) -> tuple[dict[str, Any], ...]:
    """The hooks that a plugin had when it was installed, of which nothing can be said but that."""
    found = plugin.members.get("capabilities")
    names = [each.get("id") for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return tuple(
        {
            "candidate": {
                "kind": KIND,
                "plugin_id": plugin.id,
                "capability_id": name,
                "stable_id": stable_id(plugin.id, name),
                "display_path": display_path(plugin.id, name),
            },
            "status": Status.INVALID.value,
            "changes": [],
            "runs": False,
            "diagnostic": why,
        }
        for name in names
        if isinstance(name, str)
    )


def decisions_counting(asking: Asking, installed: Installed) -> Decisions:
    try:
        found = stored.read_decisions(asking.env)
    except ConfigError as error:
        raise PluginError(Fault.REVIEW_FAILED, str(error)) from error
    return counting(found, installed.forgotten)


def reviewed(asking: Asking, plugin: Plugin) -> tuple[Shown, ...]:
    store = asking.store
    decisions = decisions_counting(asking, store.read())
    table = what_was_reviewed(store, plugin.id)
    manifest, package = read_installed(store, plugin)
    active = _is_active(plugin, manifest, asking)
    found = candidates_of(plugin, manifest, package)
    shown = []
    for each in found:
        status = each.status(decisions)
        decision = decisions.get(each.stable_id)
        changes = changes_of(each, remembered(table, each.hook.id), decision) if status is Status.MODIFIED else ()
        runs = status is Status.TRUSTED_ENABLED and active
        shown.append(Shown(candidate=each, status=status, changes=changes, runs=runs))
    return tuple(shown)


def what_was_reviewed(store: Store, id_: str) -> dict[str, Any]:
    try:
        return read_table(reviewed_path(store.root, id_), {}, check_account)
    except PluginError:  # it only says what to show
        return {}

"""Which hooks somebody looked at: decisions in the user's settings, each bound to what it was made about (20.6)."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from hookline._core.package_files import PackageFiles, digest_of
from hookline.dialects._kinds import OBJECT, STRING
from hookline.dialects.muse.plugins.manifest import Family, HookCapability, Manifest
from hookline.dialects.muse.plugins.store import Plugin
from hookline.dialects.muse.plugins.tables import expect

KIND = "hook"
MEMBER = "runtime_capabilities"  # of settings.json
PREFIX = "sha256:"
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


class Status(Enum):
    """What became of one capability's review; only one of them runs."""

    REVIEW_NEEDED = "review_needed"
    TRUSTED_ENABLED = "trusted_enabled"
    TRUSTED_DISABLED = "trusted_disabled"
    MODIFIED = "modified"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What somebody decided about one hook, and the hash of what it was then."""

    enabled: bool
    trusted_definition_hash: str


Decisions = Mapping[str, Decision]


def stable_id(plugin: str, hook: str) -> str:
    """What a hook is called for as long as its plugin has it."""
    return f"plugin:{plugin}:{KIND}:{hook}"


def display_path(plugin: str, hook: str) -> str:
    """Where people are told that a hook is."""
    return f"plugin://{plugin}/{KIND}/{hook}"


def plugin_of(id_: str) -> str:
    """The plugin whose capability has this stable id; empty where it is none."""
    kind, _, rest = id_.partition(":")
    return rest.partition(":")[0] if kind == "plugin" else ""


def decisions_in(members: Any) -> dict[str, Decision]:
    """The decisions that the member of the settings holds, by stable id. What says nothing clear is none."""
    found: dict[str, Decision] = {}
    for id_, entry in members.items() if isinstance(members, dict) else ():
        enabled = entry.get("enabled") if isinstance(entry, dict) else None
        trusted = entry.get("trusted_definition_hash") if isinstance(entry, dict) else None
        if isinstance(enabled, bool) and isinstance(trusted, str):
            found[id_] = Decision(enabled=enabled, trusted_definition_hash=trusted)
    return found


def counting(decisions: Decisions, forgotten: frozenset[str]) -> Decisions:
    """Those that are not about a plugin that was removed, whatever the settings still say."""
    return {id_: each for id_, each in decisions.items() if plugin_of(id_) not in forgotten} if forgotten else decisions


@dataclass(frozen=True, slots=True)
class Candidate:
    """One hook of an installed plugin, as it is reviewed.

    `package` are the bytes that it comes from, None where they were not read: a native hook's digest is the plugin's.
    """

    plugin: Plugin
    hook: HookCapability
    package: PackageFiles | None = None

    @property
    def stable_id(self) -> str:
        return stable_id(self.plugin.id, self.hook.id)

    @property
    def display_path(self) -> str:
        return display_path(self.plugin.id, self.hook.id)

    @property
    def definition_hash(self) -> str:
        """SHA-256 over all that it does: its definition, the bytes of its package, and where these are kept."""
        told = {
            "kind": KIND,
            "plugin_id": self.plugin.id,
            "capability_id": self.hook.id,
            "definition": self.hook.definition(),
            "package_sha256": self.plugin.package_sha256,
            "cache_path": self.plugin.members["cache_path"],
        }
        canonical = _CANONICAL.encode(told)
        return PREFIX + hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def source_digest(self) -> str:
        """The package's digest; of another family's hook one over all but what declares it."""
        if self.package is None or self.plugin.family is Family.MUSE:
            return self.plugin.package_sha256
        declares = {self.plugin.family.manifest, self.hook.file}
        return digest_of(tuple(each for each in self.package.files if each.path not in declares))

    def status(self, decisions: Decisions) -> Status:
        decision = decisions.get(self.stable_id)
        if decision is None:
            return Status.REVIEW_NEEDED
        if decision.trusted_definition_hash != self.definition_hash:
            return Status.MODIFIED
        return Status.TRUSTED_ENABLED if decision.enabled else Status.TRUSTED_DISABLED

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": KIND,
            "plugin_id": self.plugin.id,
            "capability_id": self.hook.id,
            "stable_id": self.stable_id,
            "display_path": self.display_path,
            "definition_hash": self.definition_hash,
            "source_digest": self.source_digest,
        }


def candidates_of(plugin: Plugin, manifest: Manifest, package: PackageFiles | None) -> tuple[Candidate, ...]:
    """The hooks of a plugin, in the order of its manifest."""
    return tuple(Candidate(plugin, hook, package) for hook in manifest.hooks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What a hook was when it was last decided about: its hash, its definition, and the digests of its files."""

    definition_hash: str
    definition: Mapping[str, Any]
    files: Mapping[str, str]


def reviewed_path(root: Path, plugin: str) -> Path:
    """Where it is kept what a plugin's hooks were. Nothing depends on it but what people are shown."""
    return root / "reviewed" / f"{plugin}.json"


def remember(candidates: Sequence[Candidate], before: Mapping[str, Any]) -> dict[str, Any]:
    """The table of what was reviewed, with these hooks as they are now."""
    hooks = {**before.get("hooks", {})}
    packages = {**before.get("packages", {})}
    for each in candidates:
        digest = each.plugin.package_sha256
        hooks[each.hook.id] = {
            "hash": each.definition_hash,
            "definition": each.hook.definition(),
            "package_sha256": digest,
        }
        packages[digest] = _files_of(each)
    used = {hook["package_sha256"] for hook in hooks.values()}
    return {
        "version": 1,
        "hooks": hooks,
        "packages": {digest: files for digest, files in packages.items() if digest in used},
    }


def check_account(table: dict[str, Any]) -> None:
    """Raise Damaged where an account of what was reviewed is not one that `remember` made."""
    for name in ("hooks", "packages"):
        expect(table.get(name, {}), (name,), OBJECT)
    for hook, entry in table.get("hooks", {}).items():
        at = ("hooks", hook)
        expect(entry, at, OBJECT)
        expect(entry.get("hash"), (*at, "hash"), STRING)
        expect(entry.get("package_sha256"), (*at, "package_sha256"), STRING)
        expect(entry.get("definition"), (*at, "definition"), OBJECT)
    for digest, files in table.get("packages", {}).items():
        expect(files, ("packages", digest), OBJECT)
        for path, told in files.items():
            expect(told, ("packages", digest, path), STRING)


def remembered(table: Mapping[str, Any], hook: str) -> Reviewed | None:
    """What *hook* was, as far as the table tells."""
    try:
        entry = table["hooks"][hook]
        files = table["packages"][entry["package_sha256"]]
        return Reviewed(definition_hash=entry["hash"], definition=entry["definition"], files=files)
    except KeyError:
        return None


def changes_of(candidate: Candidate, before: Reviewed | None, decision: Decision | None) -> tuple[str, ...]:
    """What is not as it was when *candidate* was decided about, in a few words each."""
    if before is None or decision is None or before.definition_hash != decision.trusted_definition_hash:
        return ()
    return tuple(_changes(candidate, before))


def _changes(candidate: Candidate, before: Reviewed) -> Iterator[str]:
    now, then = candidate.hook.definition(), before.definition
    for name in dict.fromkeys((*then, *now)):
        if then.get(name) != now.get(name):
            yield f"{name}: {_shown(then, name)} -> {_shown(now, name)}"
    files = _files_of(candidate)
    for path in sorted(files.keys() | before.files.keys()):
        if path not in before.files:
            yield f"new file {path}"
        elif path not in files:
            yield f"removed file {path}"
        elif files[path][1:] != before.files[path][1:]:
            yield f"changed file {path}"
        elif files[path] != before.files[path]:
            yield f"changed file {path}: it {'can be' if files[path][0] == '1' else 'cannot be'} executed now"


def _files_of(candidate: Candidate) -> dict[str, str]:
    """By its path, whether a file can be executed, as 1 or 0, and the digest of its bytes."""
    files = () if candidate.package is None else candidate.package.files
    return {file.path: f"{int(file.executable)}{file.sha256}" for file in files}


def _shown(definition: Mapping[str, Any], name: str) -> str:
    return json.dumps(definition[name], ensure_ascii=False) if name in definition else "nothing"

"""An artifact's package: found, and read as what the capsule says that it is."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hookline._core.capsule import Artifact, ArtifactKind
from hookline._core.errors import ConfigError
from hookline._core.problems import Problem, Scope, Where
from hookline._yaml.findings import Findings
from hookline._yaml.nodes import Entries, Node, Scalar, clipped
from hookline.dialects.murmur.contract import Broken, Contract, contract_of
from hookline.dialects.murmur.kinds import Kind, Slot, choice, json_data, prose
from hookline.dialects.murmur.members import Archive, Folder, Member, Members, PackageFault
from hookline.dialects.murmur.own import MANIFEST, NotYaml, OwnManifest, read_own

COMPONENT, SKILL, SUFFIX = "capsule.wasm", "SKILL.md", ".mur.zip"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPackage:
    """A hook. `path` is the folder or the archive, `manifest` its own manifest as it stands."""

    artifact: Artifact
    path: Path
    manifest: str = field(repr=False)
    contract: Contract
    component: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPackage:
    """A native tool. `files` are all of the package but its manifest; one has the tool's name and is its program."""

    artifact: Artifact
    path: Path
    manifest: str = field(repr=False)
    description: str
    input: Mapping[str, Any]
    files: Mapping[str, Member] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillPackage:
    """A skill. `files` are all of the package but its manifest; one is `SKILL.md`."""

    artifact: Artifact
    path: Path
    manifest: str = field(repr=False)
    description: str
    files: Mapping[str, Member] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverPackage:
    """What speaks to a model's provider. Nothing of it is run here, so it is its manifest only."""

    artifact: Artifact
    path: Path
    manifest: str = field(repr=False)


Package = HookPackage | ToolPackage | SkillPackage | DriverPackage
Problems = tuple[Problem, ...]


def read_package(artifact: Artifact, search: tuple[Path, ...]) -> Package | Problems:
    """The package of *artifact*: the first in the folders of *search* with its name and its version.

    What its own manifest has wrong is found before any other file of it is looked at.
    """
    others: Problems = ()
    for path in _candidates(artifact, search):
        opened = _opened(artifact, path)
        if isinstance(opened, Problem):
            return (opened,)
        if not opened.is_another():
            return _package(opened)
        others = others or opened.findings.all
    return others or (_not_found(artifact, search),)


def _candidates(artifact: Artifact, search: tuple[Path, ...]) -> Iterator[Path]:
    versioned = f"{artifact.name}-{artifact.version}"
    for folder in search:
        yield from (path for path in (folder / artifact.name, folder / versioned) if _is_folder(path))
        archive = folder / f"{versioned}{SUFFIX}"
        if os.path.lexists(archive):
            yield archive


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - that of a Path raises where it may not look


def _not_found(artifact: Artifact, search: tuple[Path, ...]) -> Problem:
    name, versioned = artifact.name, f"{artifact.name}-{artifact.version}"
    message = (
        f"artifact '{name}@{artifact.version}' has no package: put {name}/, {versioned}/ or {versioned}{SUFFIX} "
        f"into {' or '.join(map(str, search)) or 'a folder that is searched'}"
    )
    return _problem("NoPackage", message, artifact.where)


def _problem(code: str, message: str, where: Where, rule: str = "") -> Problem:
    return Problem(scope=Scope.SETTINGS, code=code, message=message, where=where, rule=rule)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A package whose own manifest was read."""

    artifact: Artifact
    path: Path
    members: Members
    own: OwnManifest
    findings: Findings

    def is_another(self) -> bool:
        """Whether its name or its version are not those of the artifact; says so where they are not."""
        return any([self._differs("name", self.artifact.name), self._differs("version", self.artifact.version)])

    def _differs(self, name: str, wanted: str) -> bool:
        there = self.own.text(name)
        if there is not None and there != wanted:
            self.add("OtherPackage", name, f"`{name}` is '{clipped(there)}', and the capsule asks for '{wanted}'")
            return True
        if there is None:
            self.add("BadPackage", name, f'`{name}` has to be text: write `{name}: "{wanted}"`')
        return False

    def add(self, code: str, name: str, message: str) -> None:
        """Take down a problem of what its manifest says under *name*."""
        self.findings.add(code, message, self.own.place(name), name)

    def slot(self, name: str) -> Slot:
        return Slot(self.findings, name, "BadPackage")


def _opened(artifact: Artifact, path: Path) -> _Opened | Problem:
    try:
        members: Members = Folder(path) if _is_folder(path) else Archive(path)
        own = read_own(members.read(MANIFEST).data)
    except PackageFault as fault:
        return _bad(artifact, path, str(fault))
    findings = Findings(str(path / MANIFEST), Scope.SETTINGS)
    if isinstance(own, NotYaml):
        return _broken(artifact, findings, Broken(1, own.text, own.place))
    return _Opened(artifact, path, members, own, findings)


def _bad(artifact: Artifact, path: Path, why: str) -> Problem:
    message = f"artifact '{artifact.name}@{artifact.version}': {path}: {why}"
    return _problem("BadPackage", message, artifact.where)


def _broken(artifact: Artifact, findings: Findings, broken: Broken) -> Problem:
    what = "hook" if artifact.kind is ArtifactKind.HOOK else "artifact"
    message = f"{what} {artifact.name}@{artifact.version} invalid config: {broken.text}"
    return _problem("InvalidContract", message, findings.where(broken.place, broken.field), str(broken.rule))


def _package(opened: _Opened) -> Package | Problems:
    own, kind, broken = opened.own, opened.artifact.kind, None
    runtime = own.text("runtime")
    if runtime != kind.value:
        there = "none" if runtime is None else f"'{clipped(runtime)}'"
        opened.add("BadPackage", "runtime", f"`runtime` is {there}, and the capsule has it as '{kind.value}'")
    elif kind is ArtifactKind.HOOK and isinstance(contract := contract_of(own), Broken):
        broken = _broken(opened.artifact, opened.findings, contract)
    read = None
    try:
        if not broken and not opened.findings.count:
            read = _READERS[kind](opened)
    except PackageFault as fault:
        return (_bad(opened.artifact, opened.path, str(fault)),)
    except ConfigError:  # raised where there are so many problems that the first will do
        return opened.findings.all
    return read or (*opened.findings.all, *([broken] if broken else []))


def _hook(opened: _Opened) -> HookPackage | None:
    contract = contract_of(opened.own)
    if isinstance(contract, Broken):
        return None
    return HookPackage(
        artifact=opened.artifact,
        path=opened.path,
        manifest=opened.own.source,
        contract=contract,
        component=opened.members.read(_component_of(opened.members.roots())).data,
    )


def _component_of(roots: tuple[str, ...]) -> str:
    """The payload among the files at the root."""
    found = [name for name in roots if name.endswith(".wasm")]
    if COMPONENT in found or len(found) == 1:
        return COMPONENT if COMPONENT in found else found[0]
    if found:
        raise PackageFault(f"multiple root .wasm files found: {', '.join(sorted(found))}")
    raise PackageFault(f"missing root .wasm file (expected {COMPONENT} or one root *.wasm)")


def _tool(opened: _Opened) -> ToolPackage | None:
    own, name = opened.own, opened.artifact.name
    description = _required(opened, "description", prose("What it does."))
    _required(opened, "implementation", choice({"native": True}))
    schema = _required(opened, "input", _SCHEMA)
    if opened.findings.count:
        return None
    files = _files(opened.members)
    if name not in files:
        raise PackageFault(f"a native tool is a program: put it beside {MANIFEST}, as a file that is called {name}")
    files[name] = replace(files[name], is_executable=True)  # archives made elsewhere forget that it is
    return ToolPackage(
        artifact=opened.artifact,
        path=opened.path,
        manifest=own.source,
        description=description,
        input=schema,
        files=files,
    )


def _schema(node: Node, slot: Slot) -> Any:
    kind = (
        next((value for key, value in node.entries if key.text == "type"), None) if isinstance(node, Entries) else None
    )
    if not isinstance(kind, Scalar) or kind.text != "object":
        slot.refuse(node, f"{slot.name} has to be {_SCHEMA.noun}", slot.written(_SCHEMA.sample))
        return None
    return json_data(node, slot)


_SCHEMA = Kind("a JSON schema of `type: object`", "{type: object}", _schema)


def _required(opened: _Opened, name: str, kind: Kind) -> Any:
    node, slot = opened.own.node(name), opened.slot(name)
    if node is not None:
        return kind.read(node, slot)
    opened.add("BadPackage", name, f"a tool has no `{name}`: write {slot.written(kind.sample)}")
    return None


def _skill(opened: _Opened) -> SkillPackage:
    files = _files(opened.members)
    if SKILL not in files:
        raise PackageFault(f"a skill is a text: put it beside {MANIFEST}, as a file that is called {SKILL}")
    return SkillPackage(
        artifact=opened.artifact,
        path=opened.path,
        manifest=opened.own.source,
        description=opened.own.text("description") or "",
        files=files,
    )


def _files(members: Members) -> dict[str, Member]:
    return {name: members.read(name) for name in members.names() if name != MANIFEST}


def _driver(opened: _Opened) -> DriverPackage:
    return DriverPackage(artifact=opened.artifact, path=opened.path, manifest=opened.own.source)


_READERS: Mapping[ArtifactKind, Callable[[_Opened], Package | None]] = {
    ArtifactKind.HOOK: _hook,
    ArtifactKind.TOOL: _tool,
    ArtifactKind.SKILL: _skill,
    ArtifactKind.DRIVER: _driver,
}

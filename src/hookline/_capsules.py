"""Capsules wired: manifest, packages, components, hooks, folders and tools come together in one launch."""

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hookline._core.capsule import Artifact, ArtifactKind, Capsule, Transport
from hookline._core.components import ComponentTarget, Lifetime
from hookline._core.errors import ConfigError, UsageError
from hookline._core.events import BeforeCompaction
from hookline._core.payload import CallFailed
from hookline._core.points import Origin
from hookline._core.ports import Journals
from hookline._core.problems import Problem, Scope, Where
from hookline._core.targets import Target
from hookline._engine.engine import HookEngine
from hookline._engines import Project, open_project
from hookline._processes.watchdog import ShellWatchdog
from hookline.adapters.component import ComponentAdapter, Inspected, inspect
from hookline.dialects import murmur
from hookline.dialects._base import Loaded
from hookline.dialects.murmur import ids
from hookline.dialects.murmur.build import Staged, hooks_of, settings_of
from hookline.dialects.murmur.environment import environment_of, stage_environment_of
from hookline.dialects.murmur.imports import Host
from hookline.dialects.murmur.interfaces import INTERFACES, interface_of, interface_problem
from hookline.dialects.murmur.logs import Logs
from hookline.dialects.murmur.manifest import read_capsule as read_manifest
from hookline.dialects.murmur.members import install
from hookline.dialects.murmur.own import NotYaml, read_own
from hookline.dialects.murmur.package import HookPackage, Package, SkillPackage, ToolPackage, read_package
from hookline.dialects.murmur.trace import Stream
from hookline.journal.places import components_folder
from hookline.session.capsule.editor import Editor
from hookline.session.capsule.folders import folders_of
from hookline.session.capsule.kept import TraceFiles
from hookline.session.capsule.layout import Layout, laid_out, put
from hookline.session.capsule.measure import counter
from hookline.session.capsule.programs import Programs
from hookline.session.capsule.record import ConversationRecord, records_folder
from hookline.session.capsule.session import CapsuleSession
from hookline.session.capsule.staging import inventory, staged
from hookline.session.capsule.surroundings import Around
from hookline.session.capsule.tools import NativeTool, ShellTool, SkillTool
from hookline.session.identity import new_session_id
from hookline.session.models import PROVIDERS, open_model
from hookline.session.ports import Model, Tool

SHIPPED = Path(__file__).parent / "shipped"  # the hooks that come with hookline, as packages
OWN_ARTIFACTS = "artifacts"  # beside the manifest, and in the user's data folder

RUNTIME_TOOLS: Mapping[str, Callable[[], Tool]] = {"murmur-tool-editor": Editor}  # what needs no package

ON_STAGE = "on-stage"  # a hook that is bound there has no instance of the session's

NO_MODEL = "the capsule's model: name a provider by --provider, or a driver that is one ({known})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedHook:
    """A hook whose contract, component and interface are right.

    `program` is what is run in the component's place, whose `inspected` is None then.
    """

    package: HookPackage
    interface: str
    inspected: Inspected | None = None
    program: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCapsule:
    """A capsule that can be staged: everything about it was read, and nothing of it was run.

    `problems` are notes. `hooks` are in the order of the manifest.
    """

    capsule: Capsule
    problems: tuple[Problem, ...]
    packages: tuple[Package, ...]
    hooks: tuple[CheckedHook, ...]
    provided: tuple[Artifact, ...]


async def check_capsule(
    path: Path, *, env: Mapping[str, str], search: Sequence[Path] = (), native: Path | None = None
) -> CheckedCapsule:
    """Read a capsule with all its packages, and compile its components; no hook code runs.

    Packages are looked for in *search*, in `artifacts/` beside the manifest, in the user's own, and among those that
    come with hookline. *native* is a folder of programs that are run in the place of components of the same name.
    Raises ConfigError with every problem, each with file, line and column.
    """
    read = read_manifest(path)
    if read.capsule is None:
        raise _refused(read.problems)
    capsule = read.capsule
    folders = (*search, path.parent / OWN_ARTIFACTS, *_users_artifacts(env), SHIPPED)
    problems: list[Problem] = []
    packages: list[Package] = []
    provided: list[Artifact] = []
    for artifact in capsule.artifacts:
        if _is_provided(artifact):
            provided.append(artifact)
            continue
        found = read_package(artifact, folders)
        if isinstance(found, tuple):
            problems.extend(found)
        else:
            packages.append(found)
    if problems:
        raise _refused(problems)
    cache = components_folder(env)
    hooks = await asyncio.gather(*(_checked(each, native, cache) for each in packages if isinstance(each, HookPackage)))
    if broken := [each for each in hooks if isinstance(each, Problem)]:
        raise _refused(broken)
    return CheckedCapsule(
        capsule=capsule,
        problems=read.problems,
        packages=tuple(packages),
        hooks=tuple(each for each in hooks if isinstance(each, CheckedHook)),
        provided=tuple(provided),
    )


def examine(path: Path, env: Mapping[str, str]) -> Loaded:
    """A capsule as `check` reads it: every problem of its manifest, its packages and its components; nothing is run."""
    try:
        checked = asyncio.run(check_capsule(path, env=env))
    except ConfigError as error:
        return Loaded(problems=error.problems)
    hooks = [_staged(each, _NOWHERE) for each in checked.hooks]
    return Loaded(hooks=hooks_of(checked.capsule, hooks), problems=checked.problems)


_NOWHERE = Target()  # what a hook calls that is only looked at


def _staged(hook: CheckedHook, target: Target) -> Staged:
    """What *hook* says of itself, and what it is called through."""
    contract, artifact = hook.package.contract, hook.package.artifact
    return Staged(
        artifact=artifact,
        version=artifact.version,
        binding=None if contract.binding is None else contract.binding.value,
        is_async=contract.execution_mode.value == "async",
        policy=contract.commit_policy.value,
        interface=hook.interface,
        target=target,
        stage_target=target,
    )


def _is_provided(artifact: Artifact) -> bool:
    """Whether it is the runtime's own: a tool of it, or a driver that is one of its providers."""
    return artifact.name in {ArtifactKind.TOOL: RUNTIME_TOOLS, ArtifactKind.DRIVER: PROVIDERS}.get(artifact.kind, {})


def _users_artifacts(env: Mapping[str, str]) -> tuple[Path, ...]:
    for base, within in ((env.get("XDG_DATA_HOME", ""), ""), (env.get("HOME", ""), ".local/share")):
        if Path(base).is_absolute():
            return (Path(base, within, "hookline", OWN_ARTIFACTS),)
    return ()


async def _checked(package: HookPackage, native: Path | None, cache: Path) -> CheckedHook | Problem:
    artifact = package.artifact
    if native is not None and (program := native / artifact.name).is_file():
        return CheckedHook(package=package, interface=INTERFACES[0].name, program=program.resolve())
    with tempfile.TemporaryDirectory(prefix="hookline-") as folder:
        component = Path(folder) / f"{artifact.name}.wasm"
        component.write_bytes(package.component)
        found = await inspect(component, cache=cache)
    if isinstance(found, CallFailed):
        why = found.detail.removeprefix(f"{component}: ")
        return _problem(artifact, f"hook {artifact.name}@{artifact.version}: {package.path}: {why}")
    wrong = interface_problem(artifact.name, artifact.version, found.exports)
    interface = interface_of(found.exports)
    if wrong is not None or interface is None:
        return _problem(artifact, wrong or "")
    return CheckedHook(package=package, interface=interface.name, inspected=found)


def _problem(artifact: Artifact, message: str) -> Problem:
    return Problem(scope=Scope.SETTINGS, code="BadComponent", message=message, where=artifact.where)


def _refused(problems: Sequence[Problem]) -> ConfigError:
    told = [each for each in problems if each.scope is not Scope.NOTE] or list(problems)
    return ConfigError("\n".join(f"{each.where}: {each.message}" for each in told), tuple(told))


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A capsule whose hooks are instantiated, in folders of its own. Its session is made by `session`, once.

    `project` is everything that is configured for its folder: the hooks of other dialects guard it, too.
    """

    checked: CheckedCapsule
    project: Project
    layout: Layout
    session_id: str
    env: Mapping[str, str]
    around: Around
    kept: ConversationRecord
    programs: Programs

    @property
    def engine(self) -> HookEngine:
        return self.project.engine

    async def session(self, *, model: Model, journals: Journals | None, **others: Any) -> CapsuleSession:
        """Stage the tools, have hooks told of it, and make the session; enter it to begin. What fails leaves nothing.

        *others* are those of Session: approval, approver, inputs.
        """
        try:
            return await self._session(model, journals, others)
        except BaseException:
            self.layout.take_away()
            raise

    async def _session(self, model: Model, journals: Journals | None, others: Mapping[str, Any]) -> CapsuleSession:
        capsule = self.checked.capsule
        manifests = {each.artifact.name: each.manifest for each in self.checked.packages}
        stream, logs = Stream(capsule, _declared(self.checked)), Logs()
        files = TraceFiles(self.layout, lines=stream.lines, log_lines=logs.lines, journals=journals)
        recorder = files.recorder(self.session_id)
        origin = Origin(session_id=self.session_id, cwd=str(self.layout.accessible), model=model.name)
        laid = await staged(
            capsule,
            self.layout,
            manifests,
            dispatcher=self.engine.recording(recorder),
            recorder=recorder,
            origin=origin,
        )
        tools, reading = self._tools(laid)
        compacts = any(BeforeCompaction in hook.events for hook in self.engine.hooks())
        described = [(each.spec.name, each.spec.description) for each in tools]
        put(self.layout.session / "MURMUR.md", inventory(capsule, described, compacts=compacts))
        return CapsuleSession(
            self.engine,
            capsule=capsule,
            layout=self.layout,
            count=counter(),
            kept=self.kept,
            around=self.around,
            reading_tools=reading,
            session_id=self.session_id,
            model=model,
            tools=tools,
            journals=files,
            env=self.env,
            max_steps=capsule.inference.max_turns,
            **others,
        )

    def _tools(self, laid: Mapping[str, str]) -> tuple[list[Tool], frozenset[str]]:
        """The tools that the manifest declares, and the names of those that change nothing.

        *laid* are the manifests of them as staging left them: what hooks wrote there is what the model is told.
        """
        tools: list[Tool] = [RUNTIME_TOOLS[each.name]() for each in self.checked.provided if each.name in RUNTIME_TOOLS]
        reading: set[str] = set()
        for package in self.checked.packages:
            match package:
                case ToolPackage():
                    tools.append(self._native_tool(package))
                case SkillPackage():
                    text = package.files["SKILL.md"].data.decode("utf-8-sig", "replace")
                    tools.append(SkillTool(package.artifact.name, package.description, text=text))
                    reading.add(package.artifact.name)
                case _:
                    continue
        taken = {each.spec.name for each in tools}
        path = self.env.get("PATH", os.defpath)
        tools += [
            ShellTool(name, description=_described(laid.get(name, "")), programs=self.programs, path=path)
            for name in self.checked.capsule.shell_allow
            if name not in taken
        ]
        return tools, frozenset(reading)

    def _native_tool(self, package: ToolPackage) -> Tool:
        name = package.artifact.name
        folder = self.layout.session / "bin" / name
        install(package.files, folder)
        return NativeTool(name, package.description, package.input, programs=self.programs, program=folder / name)


def _declared(checked: CheckedCapsule) -> list[str]:
    """The names of all tools."""
    packaged = [each.artifact.name for each in checked.packages if isinstance(each, ToolPackage | SkillPackage)]
    provided = [each.name for each in checked.provided if each.name in RUNTIME_TOOLS]
    return list(dict.fromkeys([*provided, *packaged, *checked.capsule.shell_allow]))


def _described(manifest: str) -> str:
    """What a manifest, which a hook may have written, says of its tool."""
    own = read_own(manifest.encode(errors="replace"))
    return "" if isinstance(own, NotYaml) else own.text("description") or ""


async def launch(
    checked: CheckedCapsule,
    *,
    env: Mapping[str, str],
    workdir: Path | None = None,
    trust: str = "",
    overrides: object = None,
    strict: bool = False,
) -> Launch:
    """Make the folders of a launch and every hook's instance. Raises ConfigError and UsageError; nothing stays then."""
    capsule = checked.capsule
    session_id = new_session_id()
    layout = laid_out(manifest=capsule.path, session=ids.session_id(session_id), workdir=workdir)
    try:
        return await _launch(checked, layout, session_id, env=env, trust=trust, overrides=overrides, strict=strict)
    except BaseException:
        layout.take_away()
        raise


async def _launch(
    checked: CheckedCapsule,
    layout: Layout,
    session_id: str,
    *,
    env: Mapping[str, str],
    trust: str,
    overrides: object,
    strict: bool,
) -> Launch:
    capsule = checked.capsule

    def say(text: str) -> None:
        around.say(text)

    kept = ConversationRecord(_records(capsule, env), say)
    driver = capsule.inference.driver if capsule.inference.has_driver else ""
    around = Around(count=counter(), record=kept, driver=driver)
    targets = _Targets(capsule=capsule, layout=layout, env=env, around=around)
    hooks = [targets.staged(each) for each in checked.hooks]
    adapter = ComponentAdapter(ShellWatchdog(), cache=components_folder(env))
    found = Loaded(hooks=hooks_of(capsule, hooks), problems=checked.problems, settings=settings_of(capsule))
    package = replace(murmur.PACKAGE, stream=lambda: Stream(capsule, _declared(checked)))
    project = open_project(
        layout.accessible,
        env=env,
        trust=trust,
        overrides=overrides,
        strict=strict,
        further=((package, found),),
        adapters={ComponentTarget: adapter},
    )
    try:
        await asyncio.gather(_instantiated(adapter, hooks), asyncio.to_thread(counter(), ""))  # it loads its words
    except BaseException:
        await project.engine.aclose()
        raise
    return Launch(
        checked=checked,
        project=project,
        layout=layout,
        session_id=session_id,
        env=env,
        around=around,
        kept=kept,
        programs=Programs(),
    )


def _records(capsule: Capsule, env: Mapping[str, str]) -> Path | None:
    """Where what is said is kept, if it is."""
    if not capsule.context.record or capsule.inference.transport is Transport.PROCESS:
        return None
    return records_folder(env, capsule.context.record_store)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Targets:
    """Makes what each hook of a launch is called through."""

    capsule: Capsule
    layout: Layout
    env: Mapping[str, str]
    around: Around

    def staged(self, hook: CheckedHook) -> Staged:
        target = self._target(hook)
        staged = _staged(hook, target)
        if staged.binding != ON_STAGE:
            return staged
        return replace(staged, stage_target=self._at_stage(target, hook.package.artifact))

    def _target(self, hook: CheckedHook) -> ComponentTarget:
        artifact = hook.package.artifact
        path = self.layout.session / "hooks" / f"{artifact.name}.wasm"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(hook.package.component)
        return ComponentTarget(
            subject=f"hook '{artifact.name}'",
            path=path,
            interfaces=INTERFACES,
            limits=self.capsule.limits,
            env=environment_of(self.capsule, artifact, self.env),
            folders=folders_of(artifact, self.layout.accessible, self.env),
            network=artifact.grant.network,
            host=Host(self.around, artifact.name, artifact.grant),
            program=() if hook.program is None else (str(hook.program),),
        )

    def _at_stage(self, target: ComponentTarget, artifact: Artifact) -> ComponentTarget:
        """The same for one call, in the folder of the session and with nothing of it known yet."""
        return replace(
            target,
            lifetime=Lifetime.ONE_CALL,
            env=stage_environment_of(artifact, self.env),
            folders=folders_of(artifact, self.layout.session, self.env),
        )


async def _instantiated(adapter: ComponentAdapter, hooks: Sequence[Staged]) -> None:
    """Make the one instance of each hook of the session. One that cannot be made ends the launch."""
    wanted = [each for each in hooks if each.binding != ON_STAGE]
    made = await asyncio.gather(*(adapter.prepare(_component(each)) for each in wanted))
    problems = [
        _problem(each.artifact, f"failed to instantiate hook {each.artifact.name}@{each.version}: {found.detail}")
        for each, found in zip(wanted, made, strict=True)
        if isinstance(found, CallFailed)
    ]
    if problems:
        raise _refused(problems)


def _component(hook: Staged) -> ComponentTarget:
    assert isinstance(hook.target, ComponentTarget)  # noqa: S101  # for the type checker: we have made it
    return hook.target


def model_of(capsule: Capsule, *, provider: str | None = None, model: str | None = None) -> Model:
    """The model of a capsule: by its own manifest, where *provider* does not say otherwise.

    Raises UsageError for a capsule whose driver is none of the providers here.
    """
    chosen = provider or capsule.inference.driver
    name = model or capsule.inference.model or None
    if chosen not in PROVIDERS:
        known = ", ".join(f"`{each}`" for each in PROVIDERS)
        where = Where(file=str(capsule.path), label=str(capsule.path))
        raise UsageError(f"{where}: {NO_MODEL.format(known=known)}")
    if chosen == "script":
        return open_model(chosen, script=None if name is None else capsule.path.parent / name)
    return open_model(chosen, name=None if provider is None else model)

"""The wiring of an engine: dialects, their files, adapters and the engine come together here, and no session.

What asks hooks without a session, such as `hookline fire`, starts in a fraction of the time that one takes.
"""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hookline._core.errors import ConfigError, HookProblemWarning, UsageError
from hookline._core.handlers import Handlers
from hookline._core.hooks import Hook, SessionSettings
from hookline._core.matchers import Matcher
from hookline._core.ports import Adapter, Dialect
from hookline._core.problems import Problem, Scope, Where
from hookline._core.targets import NamedTarget, Target
from hookline._engine.engine import HookEngine
from hookline._locks import held_to, read_lock
from hookline.adapters import builtin
from hookline.dialects import DIALECTS, IN_CODE, PACKAGES, reading
from hookline.dialects import package as named
from hookline.dialects._base import TRUSTED_BY, Loaded, Package
from hookline.dialects._files import project_root
from hookline.dialects._pattern import compile_expression

_WHOLE = (Scope.SETTINGS, Scope.FILE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Everything configured for a workspace: an engine over all of it, and what each dialect's loader said."""

    engine: HookEngine
    loaded: tuple[tuple[Package, Loaded], ...]


def new_engine(
    *,
    hooks: Sequence[Hook] = (),
    dialects: Sequence[Dialect] = (),
    adapters: Mapping[type[Target], Adapter] | None = None,
    handlers: Handlers | None = None,
    settings: SessionSettings | None = None,
    strict: bool = False,
    compiled: Path | None = None,
) -> HookEngine:
    """An engine with every dialect and the built-in adapters.

    *dialects* are asked after those that come with hookline; *adapters* adds to the built-in ones or takes their place.
    *handlers* are the callables that hooks may name. *compiled* is a folder, ours alone, of compiled components.
    Raises UsageError for a hook that could never run, or never be heard.
    """
    return HookEngine(
        dialects=[*(package.dialect for package in PACKAGES), *dialects],
        in_code=IN_CODE,
        adapters={**builtin(handlers, compiled=compiled), **(adapters or {})},
        hooks=hooks,
        settings=settings,
        strict=strict,
    )


def package_of(path: Path) -> Package:
    """The dialect that reads files like *path*. Raises UsageError where none does."""
    package = reading(path.suffix)
    if package is None or package.load_file is None:
        alone = (suffixes for name, suffixes in DIALECTS.items() if named(name).load_file is not None)
        known = ", ".join(sorted(suffix for suffixes in alone for suffix in suffixes))
        raise UsageError(f"{path}: no dialect reads {path.suffix or 'a file without a suffix'}; known are {known}")
    return package


def load_file(path: Path, *, env: Mapping[str, str]) -> tuple[Package, Loaded]:
    """What one file holds, which the caller vouches for by naming it. Raises ConfigError where nothing may start."""
    package = package_of(path)
    assert package.load_file is not None  # noqa: S101  # for the type checker: it was chosen by it
    return package, package.load_file(path, env)


def open_files(
    paths: Sequence[Path],
    *,
    env: Mapping[str, str],
    handlers: Handlers | None = None,
    strict: bool = False,
) -> Project:
    """Load these files alone, as `open_project` loads those of a workspace. Raises ConfigError as that does."""
    loaded = [load_file(path, env=env) for path in paths]
    if strict:
        for _, found in loaded:
            _refuse_gaps(found)
    hooks = [hook for _, found in loaded for hook in found.hooks]
    _check_handlers(hooks, handlers)
    settings = next((found.settings for _, found in loaded if found.settings is not None), None)
    engine = new_engine(hooks=hooks, handlers=handlers, settings=settings, strict=strict)
    return Project(engine=engine, loaded=tuple(loaded))


def load(
    path: Path | str,
    *,
    env: Mapping[str, str] | None = None,
    handlers: Handlers | None = None,
    strict: bool = False,
) -> HookEngine:
    """An engine with the hooks of one file, which the caller vouches for by naming it.

    *env* is what the hooks' environments are taken from, this process's by default; *handlers* are the callables that
    they may name, and those that they do name have to be there. Raises ConfigError when nothing
    of the file can be used; warns with HookProblemWarning about each part of it that will not run, which under *strict*
    is a ConfigError too.
    """
    _, loaded = load_file(Path(path), env=os.environ if env is None else env)
    if fatal := [problem for problem in loaded.problems if problem.scope in _WHOLE]:
        raise ConfigError(f"{fatal[0].where}: {fatal[0].message}", tuple(fatal))
    if strict:
        _refuse_gaps(loaded)
    for problem in loaded.problems:
        warnings.warn(f"{problem.where}: {problem.message}", HookProblemWarning, stacklevel=2)
    _check_handlers(loaded.hooks, handlers)
    return new_engine(hooks=loaded.hooks, handlers=handlers, settings=loaded.settings, strict=strict)


def _check_handlers(hooks: Sequence[Hook], handlers: Handlers | None) -> None:
    """Raise ConfigError for hooks that name a handler that is not there, where it is known which ones are."""
    if handlers is None:
        return
    known = handlers.names()
    problems = tuple(
        Problem(scope=Scope.SETTINGS, code="UnknownHandler", message=_missing(hook.target, known), where=_where(hook))
        for hook in hooks
        if isinstance(hook.target, NamedTarget) and hook.target.name not in known
    )
    if problems:
        raise ConfigError("\n".join(f"{each.where}: {each.message}" for each in problems), problems)


def _missing(target: NamedTarget, known: Sequence[str]) -> str:
    there = f"there are {', '.join(sorted(known))}" if known else "there are none"
    return (
        f"in-process handler '{target.name}' not registered: {there}; register one by this name, "
        "or give the hook a command or a URL to call"
    )


def _where(hook: Hook) -> Where:
    source = hook.source
    return Where(file=source.path, label=source.label, line=source.line, column=source.column)


def _in_vain(found: Loaded) -> Loaded:
    """The same, with what there is to say where nobody has a hook."""
    return found if found.in_vain is None else replace(found, problems=(*found.problems, found.in_vain))


def _refuse_gaps(loaded: Loaded) -> None:
    """Under strict a guard that is not there is no better than one that gives no answer."""
    gaps = [problem for problem in loaded.problems if problem.scope is not Scope.NOTE]
    if gaps:
        told = "\n".join(f"  {problem.where}: {problem.message}" for problem in gaps)
        raise ConfigError(f"strict: hooks that cannot be loaded guard nothing; mend them first\n{told}", tuple(gaps))


def pattern(expression: str) -> Matcher:
    """Match a subject in which the regular expression is found anywhere: `pattern("^web_")`.

    RE2 syntax, which takes time linear in the subject and has no look-around and no back-references. Raises UsageError
    for an expression that does not compile.
    """
    matcher = compile_expression(expression)
    if isinstance(matcher, str):
        raise UsageError(f"{expression!r} is no regular expression: {matcher}")
    return matcher


def open_project(
    workspace: Path,
    *,
    env: Mapping[str, str],
    trust: str = "",
    handlers: Handlers | None = None,
    overrides: object = None,
    strict: bool = False,
    further: Sequence[tuple[Package, Loaded]] = (),
    adapters: Mapping[type[Target], Adapter] | None = None,
) -> Project:
    """Load every dialect's files for *workspace*, as a session start does.

    *trust* is how the folder is trusted: by `run-flag`, by `yolo-flag`, or empty, when the user's stored decision
    counts. *handlers* are the callables that hooks may name; given, they are all there are, and a name without one is a
    ConfigError; without them such a hook fails when it is called. *overrides* changes what was loaded for this engine:
    a file of JSON, its text or an object, in the form of the dialect that has such. *further* is what was loaded by
    another way, and *adapters* calls what it names. Where the project has a lock, hooks that are not as they were
    locked are held back. Raises ConfigError when a settings file is such that nothing may start, and under *strict*
    also when part of a hook file will not run; UsageError for another *trust*.
    """
    if trust not in TRUSTED_BY:
        raise UsageError(f"trust= takes 'run-flag', 'yolo-flag' or '', found {trust!r}")
    loaded: list[tuple[Package, Loaded]] = []
    lock = read_lock(project_root(workspace), env)
    for package in PACKAGES:
        if package.load is None:
            continue
        found = package.load(env, workspace, trust)
        trust = trust or found.trust  # what one dialect knows of the folder holds for those after it
        found = found if lock is None else held_to(lock, found)
        if overrides is not None and package.override is not None:
            found = package.override(found, overrides, env)
        if strict:
            _refuse_gaps(found)
        loaded.append((package, found))
    loaded.extend(further)
    hooks = [hook for _, found in loaded for hook in found.hooks]
    if not hooks:
        loaded = [(package, _in_vain(found)) for package, found in loaded]
    _check_handlers(hooks, handlers)
    settings = next((found.settings for _, found in (*further, *loaded) if found.settings is not None), None)
    engine = new_engine(hooks=hooks, handlers=handlers, settings=settings, adapters=adapters, strict=strict)
    return Project(engine=engine, loaded=tuple(loaded))

"""Cases of the loaders: what stands in files and overrides, and what becomes of it."""

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from tests.conformance.meerkat.said import Played, handlers_of
from tests.conformance.place import Place
from tests.conformance.reading import Case

from hookline._core.errors import ConfigError
from hookline._core.handlers import Handlers
from hookline._core.hooks import Hook, Source
from hookline._core.problems import Problem, Scope
from hookline._engines import Project, load, open_project
from hookline.dialects._base import Loaded
from hookline.dialects.meerkat.entries import HooksConfig, read_config
from hookline.dialects.meerkat.faults import entry_id
from hookline.dialects.meerkat.layers import Resolved, core_layers, inherited, resolve
from hookline.dialects.meerkat.schema import LIMITS
from hookline.dialects.meerkat.words import DIALECT

TRUSTED = "run-flag"


def opened(case: Case, place: Place, handlers: Handlers | None = None) -> Project:
    """The project of a case, as a session start loads it. Raises ConfigError."""
    place.configure(case.given["config"])
    return open_project(
        place.workspace,
        env=place.env_with(case.given.get("env", {})),
        trust=case.given.get("trust", TRUSTED),
        handlers=handlers,
        overrides=place.filled(case.given.get("overrides")),
    )


def loaded_of(project: Project) -> Loaded:
    """What the loader of this dialect found."""
    return next(loaded for package, loaded in project.loaded if package.dialect.name == DIALECT)


def registered(project: Project) -> tuple[Hook, ...]:
    """The hooks in the order of registration."""
    return loaded_of(project).hooks


def loading(case: Case, place: Place) -> dict[str, Any]:
    """What is found of a configuration by the loader that the case names."""
    found = LOADERS[case.given.get("loader", "session")]
    nothing = {"hooks": [], "entries": [], "limits": {}, "held_back": [], "engine": []}
    try:
        return {"refused": None, **nothing, **found(case, place)}
    except ConfigError as error:
        told = _lines(error.problems)
        return {"refused": str(error), **nothing, "problems": told if "problems" in case.want else told[1:]}


def _of_session(case: Case, place: Place) -> dict[str, Any]:
    names = case.given.get("handlers")
    handlers = None if names is None else handlers_of(Played(dict.fromkeys(names)))
    project = opened(case, place, handlers)
    loaded = loaded_of(project)
    config = loaded.config if isinstance(loaded.config, HooksConfig) else HooksConfig()
    return {
        **_config(config),
        "hooks": [entry_id(hook.id) for hook in loaded.hooks],
        "engine": [entry_id(hook.id) for hook in project.engine.hooks()],
        "problems": _lines(loaded.problems),
        "held_back": [f"{each.count} in {each.label}: {each.why}" for each in loaded.held_back],
    }


def _of_file(case: Case, place: Place) -> dict[str, Any]:
    """One file that the caller vouches for."""
    place.configure(case.given["config"])
    names = case.given.get("handlers")
    handlers = None if names is None else handlers_of(Played(dict.fromkeys(names)))
    engine = load(place.path("project"), env=place.env_with(case.given.get("env", {})), handlers=handlers)
    return {"hooks": [entry_id(hook.id) for hook in engine.hooks()], "problems": []}


def _of_core(case: Case, place: Place) -> dict[str, Any]:
    place.configure(case.given["config"])
    return _resolved(core_layers(place.home, place.workspace))


def _of_resolver(case: Case, place: Place) -> dict[str, Any]:
    names = case.given["config"]
    place.configure(names)
    roots: dict[str, Path] = {"active": place.path("active"), "project": place.workspace, "user": place.home}
    active, context, user = (roots[name] if name in names else None for name in ("active", "project", "user"))
    return _resolved(resolve(active, context, user))


def _of_realms(case: Case, place: Place) -> dict[str, Any]:
    """A child's file within its parent's."""
    parent, child = (_read(case.given["config"][name], name) for name in ("parent", "child"))
    return {**_config(inherited(parent, child)), "problems": []}


def _read(text: str, name: str) -> HooksConfig:
    found = read_config(text.encode(), Source(layer=name, label=name))
    if found.problems:
        raise ConfigError(f"{name}: {found.problems[0].message}", found.problems)
    return found.config


def _resolved(resolved: Resolved) -> dict[str, Any]:
    return {**_config(resolved.usable()), "problems": _lines(resolved.problems)}


def _config(config: HooksConfig) -> dict[str, Any]:
    entries = [entry.wire() for entry in config.entries]
    limits = {name: getattr(config, name) for name in LIMITS}
    return {
        "hooks": [entry.id for entry in config.entries if entry.enabled],
        "entries": entries,
        "limits": {name: value.value if isinstance(value, Enum) else value for name, value in limits.items()},
    }


def _lines(problems: Sequence[Problem]) -> list[str]:
    """`<code> <line>:<column>: <message>`, with the word note in front where everything runs all the same."""
    return [_line(problem) for problem in problems]


def _line(problem: Problem) -> str:
    note = "note " if problem.scope is Scope.NOTE else ""
    return f"{note}{problem.code} {problem.where.line}:{problem.where.column}: {problem.message}"


LOADERS: dict[str, Callable[[Case, Place], dict[str, Any]]] = {
    "session": _of_session,
    "file": _of_file,
    "core": _of_core,
    "resolver": _of_resolver,
    "realms": _of_realms,
}

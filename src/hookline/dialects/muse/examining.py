"""Hook files as `check` reads them: every problem, whether the folder is trusted or not, and where each part stands."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from hookline._core.errors import ConfigError
from hookline._core.problems import Problem, Scope, Where
from hookline._core.strictjson import Path as Steps
from hookline.dialects._base import Conventions, Loaded, Part
from hookline.dialects._files import project_root
from hookline.dialects._places import path_text
from hookline.dialects.muse import settings as settings_file
from hookline.dialects.muse.config import Found, problems_of_rejected, read_hooks
from hookline.dialects.muse.directories import INSTALLED, MANIFESTS, config_directory, is_manifest, plugins_directory
from hookline.dialects.muse.document import MANAGED, PROJECT, Document
from hookline.dialects.muse.environment import Launch, hook_environment, resolve_shell
from hookline.dialects.muse.settings import read_settings, switched_off
from hookline.dialects.muse.sources import MANAGED_PATH_VARIABLE, PROJECT_FILE, managed_path, read_source
from hookline.dialects.muse.walking import handlers_in
from hookline.dialects.muse.windows import windows_problems

CONVENTIONS = Conventions(
    timeout_key="timeout",
    blocks_by=2,
    needs_reason=True,
    denies_with=frozenset({"permissionDecision", "decision"}),
    closed_environment=True,
)

FIELDS = {Part.WHOLE: (), Part.COMMAND: ("command",), Part.TIMEOUT: ("timeout",)}


def files(env: Mapping[str, str], workspace: Path) -> tuple[Path, ...]:
    """The managed file, where one is named, the user's and the project's; of plugins those that are installed, and one
    that the folder is itself."""
    config = config_directory(env)
    user = () if config is None else (config / settings_file.FILE_NAME,)
    managed = _managed(env, config)
    own = tuple(path for name in MANIFESTS if os.path.lexists(path := workspace.absolute() / name))
    hooks = (*(() if managed is None else (managed,)), *user, project_root(workspace) / PROJECT_FILE)
    return (*hooks, *_of_plugins(env), *own)


def _of_plugins(env: Mapping[str, str]) -> tuple[Path, ...]:
    folder = plugins_directory(env)
    if folder is None or not os.path.lexists(folder / INSTALLED):
        return ()
    from hookline.dialects.muse.plugins.examining import installed_manifests

    return installed_manifests(env)


def _managed(env: Mapping[str, str], config: Path | None) -> Path | None:
    named = env.get(MANAGED_PATH_VARIABLE, "")
    if not named and config is not None:
        try:
            named = read_settings(config / settings_file.FILE_NAME).managed_path
        except ConfigError:
            named = ""
    return managed_path(named, config)


def examine(path: Path, env: Mapping[str, str]) -> Loaded:
    """One hook file, as the layer that it belongs to: the user's settings by name, the managed one by its path."""
    path = path.absolute()
    config = config_directory(env)
    shell, shell_note = resolve_shell(env)
    launch = Launch(shell, hook_environment(env))
    if is_manifest(path):
        from hookline.dialects.muse.plugins.examining import examine_package

        return examine_package(path, env, launch, CONVENTIONS)
    if path.name == settings_file.FILE_NAME:
        return _settings(path, launch)
    managed = _managed(env, config)
    layer = MANAGED if managed is not None and os.path.abspath(managed) == str(path) else PROJECT  # noqa: PTH100
    found = read_source(path, layer=layer, launch=launch) or Found()
    notes = (shell_note,) if shell_note is not None and found.hooks else ()
    return _loaded(found, (*notes, *_unsaid(found, launch)))


def _unsaid(found: Found, launch: Launch, reserved: frozenset[str] = frozenset()) -> tuple[Problem, ...]:
    """What a start does not come to say of a file that contributes nothing."""
    if found.document is None or not any(each.scope is Scope.FILE for each in found.problems):
        return ()
    return tuple(problems_of_rejected(found.document, launch=launch, reserved=reserved))


def _settings(path: Path, launch: Launch) -> Loaded:
    try:
        settings = read_settings(path)
    except ConfigError as error:
        return Loaded(problems=error.problems)
    if settings.document is None:
        return Loaded()
    reserved = frozenset({settings_file.STATE})
    found = read_hooks(settings.document, launch=launch, reserved=reserved)
    _, notes = switched_off(settings.document) if not found.problems else (frozenset(), ())
    loaded = _loaded(found, (*settings.notes, *notes, *_unsaid(found, launch, reserved)))
    return replace(loaded, settings=settings.session)


def _loaded(found: Found, notes: tuple[Problem, ...]) -> Loaded:
    document = found.document
    if document is None:
        return Loaded(hooks=found.hooks, problems=(*found.problems, *notes))
    places = dict(_steps(document))
    own = [document.problem(each) for each in windows_problems(document.value)]

    def place(hook: str, part: Part) -> Where:
        at = places.get(hook.removeprefix(f"{MANAGED}:"), ())
        return document.where((*at[:-2], "matcher") if part is Part.MATCHER and at else (*at, *FIELDS.get(part, ())))

    return Loaded(hooks=found.hooks, problems=(*found.problems, *own, *notes), place=place)


def _steps(document: Document) -> Iterator[tuple[str, Steps]]:
    """The id of each handler, as hooks have it, and where it stands."""
    hooks = document.value.get("hooks") if isinstance(document.value, dict) else None
    for _, at in handlers_in(hooks, ("hooks",)):
        yield f"{document.source.label}:{path_text(at[1:])}", at

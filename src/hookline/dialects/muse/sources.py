"""Where hooks come from: managed, user and project files, then plugins, read once, in this order (section 2).

A project cannot vouch for itself: trust comes from the command line or from the user's own file.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hookline._core.errors import ConfigError
from hookline._core.hooks import HeldBack, Hook, Source
from hookline._core.problems import Problem, Scope, Where
from hookline.dialects._base import NOT_TRUSTED, RUN_FLAG, Loaded
from hookline.dialects._files import Unreadable, project_root, read_file
from hookline.dialects.muse import settings as settings_file
from hookline.dialects.muse import trust as trust_file
from hookline.dialects.muse.config import Found, read_document, read_hooks, unread
from hookline.dialects.muse.directories import INSTALLED, config_directory, is_manifest, plugins_directory
from hookline.dialects.muse.document import MANAGED, PROJECT
from hookline.dialects.muse.environment import Launch, hook_environment, resolve_shell
from hookline.dialects.muse.settings import Settings, read_settings, switched_off
from hookline.dialects.muse.skills import terms_under

if TYPE_CHECKING:
    from hookline.dialects.muse.plugins.sources import FoundPlugins

MANAGED_PATH_VARIABLE = "TBH_MANAGED_HOOKS_PATH"
PROJECT_FILE = Path(".muse", "hooks.json")
ABSENT = "HookFileAbsent"

SWITCHED_OFF = "switched off by hooks.state"


def load(*, env: Mapping[str, str], workspace: Path, trust: str) -> Loaded:
    """Everything that holds for a session in *workspace*, started under *env*.

    *trust* says how the command line trusted the folder, empty if it did not: the stored decision then counts.
    Raises ConfigError for settings that cannot be used.
    """
    config = config_directory(env)
    settings = Settings() if config is None else read_settings(config / settings_file.FILE_NAME)
    root = project_root(workspace)
    trusted_by, trust_note = (trust, None) if trust else trust_file.stored_trust(config, root)
    shell, shell_note = resolve_shell(env)
    skills = terms_under(env, root if trusted_by else None)
    launch = Launch(shell, hook_environment(env), skills=skills)
    granting = Launch(shell, hook_environment(env, granted=settings.granted), skills=skills)

    managed = _managed(env, settings, config, granting)
    user = _user(settings, launch)
    off, state_notes = _switched_off(settings, user)
    project = read_source(root / PROJECT_FILE, layer=PROJECT, launch=launch)
    held_back: list[HeldBack] = []
    if project is not None and not trusted_by:
        held_back.append(_not_trusted(project, root / PROJECT_FILE, off))
        project = None
    hooks: list[Hook] = []
    problems: list[Problem] = [*settings.notes]
    for found in filter(None, (managed, user, project)):
        kept = [hook for hook in found.hooks if _is_on(hook, off)]
        held_back += _switched_off_in(found, kept)
        hooks += kept
        problems += found.problems
    plugins = _plugins(env, settings, launch)
    if plugins is not None:
        kept = [hook for hook in plugins.hooks if _is_on(hook, off)]
        held_back += (*plugins.held_back, *_switched_off_in(Found(plugins.hooks), kept))
        hooks += kept
        problems += plugins.problems
    in_vain = None
    # Whoever trusts a folder for its hooks means that there are some.
    if trust == RUN_FLAG and not hooks and not problems:
        path = root / PROJECT_FILE
        in_vain = _absent(Scope.NOTE, f"the folder is trusted, and there are no hooks: nothing runs of {path}", path)
    notes = (*state_notes, trust_note, shell_note if hooks else None)
    return Loaded(
        hooks=tuple(hooks),
        problems=(*problems, *filter(None, notes)),
        held_back=tuple(held_back),
        settings=settings.session,
        trust=trusted_by,
        in_vain=in_vain,
    )


def load_file(path: Path, *, env: Mapping[str, str]) -> Loaded:
    """The hooks of one file that the caller vouches for, read like a trusted project's. Raises ConfigError for none."""
    shell, shell_note = resolve_shell(env)
    launch = Launch(shell, hook_environment(env))
    if is_manifest(path.absolute()):
        from hookline.dialects.muse.plugins.examining import examine_package

        if not os.path.lexists(path):
            raise ConfigError(f"there is no plugin manifest at {path}")
        return examine_package(path.absolute(), env, launch)
    found = read_source(path.absolute(), layer=PROJECT, launch=launch)
    if found is None:
        raise ConfigError(f"there is no hook file at {path}")
    notes = (shell_note,) if shell_note and found.hooks else ()
    return Loaded(hooks=found.hooks, problems=(*found.problems, *notes))


def read_source(path: Path, *, layer: str, launch: Launch) -> Found | None:
    """What the hook file at *path* contributes; None where there is no file.

    A managed file may have any name, also one that another source's hooks are already called by.
    """
    data = read_file(path)
    if data is None:
        return None
    source = Source(layer=layer, label=path.name, path=str(path))
    if isinstance(data, Unreadable):
        return Found((), (unread(data.why, source),))
    taken = layer == MANAGED and path.name in (settings_file.FILE_NAME, PROJECT_FILE.name)
    return read_document(data, source=source, launch=launch, id_prefix=f"{MANAGED}:" if taken else "")


def _absent(scope: Scope, message: str, path: Path) -> Problem:
    """The document has no warning of it, so its own program prints none; nobody who named a guard wants it missing."""
    where = Where(file=str(path), label=path.name)
    return Problem(scope=scope, code=ABSENT, message=message, where=where, remedy="write the file, or mend its path")


def _managed(env: Mapping[str, str], settings: Settings, config: Path | None, launch: Launch) -> Found | None:
    named = env.get(MANAGED_PATH_VARIABLE) or settings.managed_path
    if not named:
        return None
    path = managed_path(named, config)
    if path is None:
        source = Source(layer=MANAGED, label=Path(named).name, path=named)
        why = "a relative path stands for a file beside settings.json, and neither XDG_CONFIG_HOME nor HOME is set"
        return Found((), (unread(why, source),))
    found = read_source(path, layer=MANAGED, launch=launch)
    return found or Found((), (_absent(Scope.ABSENT, f"there is no managed hook file at {path}", path),))


def managed_path(named: str, config: Path | None) -> Path | None:
    """Where the managed file *named* is, a relative name taken from the user's directory. None where that cannot be."""
    if not named or (config is None and not Path(named).is_absolute()):
        return None
    return Path(named) if config is None else config / named


def _user(settings: Settings, launch: Launch) -> Found | None:
    if settings.document is None:
        return None
    return read_hooks(settings.document, launch=launch, reserved=frozenset({settings_file.STATE}))


def _switched_off(settings: Settings, user: Found | None) -> tuple[frozenset[str], tuple[Problem, ...]]:
    """A source that was rejected contributes nothing, so neither does its `state`."""
    if settings.document is None or user is None or any(each.scope is Scope.FILE for each in user.problems):
        return frozenset(), ()
    return switched_off(settings.document)


def _is_on(hook: Hook, off: frozenset[str]) -> bool:
    """What an administrator put in force is not the user's to switch off."""
    return hook.source.layer == MANAGED or hook.key not in off


def _not_trusted(project: Found, path: Path, off: frozenset[str]) -> HeldBack:
    hooks = tuple(hook for hook in project.hooks if _is_on(hook, off))
    return HeldBack(
        label=path.name,
        path=str(path),
        count=len(hooks),
        why=NOT_TRUSTED,
        hooks=hooks,
        problems=project.problems,
    )


def _switched_off_in(found: Found, kept: list[Hook]) -> list[HeldBack]:
    if len(kept) == len(found.hooks):
        return []
    off = tuple(hook for hook in found.hooks if hook not in kept)
    source = off[0].source
    return [HeldBack(label=source.label, path=source.path, count=len(off), why=SWITCHED_OFF, hooks=off)]


def _may_be(path: Path) -> bool:
    """Whether there is a file, or nobody can tell."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _plugins(env: Mapping[str, str], settings: Settings, launch: Launch) -> "FoundPlugins | None":
    """What installed plugins contribute; None where there are none, as with most people."""
    folder = plugins_directory(env)
    if folder is None or not _may_be(folder / INSTALLED):
        return None
    from hookline.dialects.muse.plugins.review import MEMBER, decisions_in
    from hookline.dialects.muse.plugins.sources import load_plugins

    members = None if settings.document is None else settings.document.value.get(MEMBER)
    return load_plugins(folder, env, decisions_in(members), launch)

"""Where the entries of a session come from: the project's `.rkat/config.toml`, then the user's (section 6.3).

A project cannot vouch for itself: its file counts only once the folder is trusted.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hookline._core.errors import ConfigError
from hookline._core.hooks import HeldBack, Source
from hookline._core.problems import Problem, Scope
from hookline.dialects._base import NOT_TRUSTED, Loaded
from hookline.dialects._files import project_root, read_file
from hookline.dialects.meerkat.build import hooks_of
from hookline.dialects.meerkat.entries import Entry, Found, HooksConfig, read_config
from hookline.dialects.meerkat.layers import CONFIG_FILE, CONTEXT, Resolved, resolve
from hookline.dialects.meerkat.overrides import OVERRIDE, FoundOverrides, effective, parse_overrides, read_overrides

SWITCHED_OFF = "switched off by `enabled = false`"
SHADOWED = "another file's entry of this id comes first"


def load(*, env: Mapping[str, str], workspace: Path, trust: str) -> Loaded:
    """Everything that holds for a session in *workspace*, which is trusted by *trust*, empty if it is not.

    The highest file that is there is the active one, whose limits hold. Raises ConfigError for what is not to start.
    """
    home = home_of(env)
    project = project_file(workspace, home)
    held_back: tuple[HeldBack, ...] = ()
    if project is not None and not trust:
        held_back = (_held_back(project, env),)
        project = None
    user = None if home is None else home / CONFIG_FILE
    active = next((path for path in (project, user) if path is not None and os.path.lexists(path)), None)
    loaded = _loaded(resolve(active, _root(project), home), env)
    return replace(loaded, held_back=(*held_back, *loaded.held_back))


def load_file(path: Path, *, env: Mapping[str, str]) -> Loaded:
    """The hooks of one file that the caller vouches for. Raises ConfigError where it holds what is not to start."""
    if not os.path.lexists(path):
        raise ConfigError(f"there is no hook file at {path}")
    return _loaded(resolve(path.absolute(), None, None), env)


def override(loaded: Loaded, given: object, *, env: Mapping[str, str]) -> Loaded:
    """What was *loaded*, changed as *given* says: a file of JSON, its text or an object. Raises ConfigError (6.4)."""
    read = _overrides(given)
    if read.overrides is None:
        raise _refusal(read.problems)
    config = loaded.config if isinstance(loaded.config, HooksConfig) else HooksConfig()
    changed = effective(config.entries, read.overrides)
    if changed.problems:
        raise _refusal(changed.problems)
    config = replace(config, entries=changed.entries)
    return replace(
        loaded, config=config, hooks=hooks_of(config, config.entries, env), problems=(*loaded.problems, *read.problems)
    )


def _overrides(given: object) -> FoundOverrides:
    if isinstance(given, Path):
        data = read_file(given)
        if not isinstance(data, bytes):
            raise ConfigError(
                f"cannot read the overrides in {given}: {'No such file or directory' if data is None else data.why}"
            )
        return parse_overrides(data, Source(layer=OVERRIDE, label=given.name, path=str(given)))
    return parse_overrides(given) if isinstance(given, bytes | str) else read_overrides(given)


def _loaded(resolved: Resolved, env: Mapping[str, str]) -> Loaded:
    config = resolved.usable()
    off = [entry for entry in config.entries if not entry.enabled]
    return Loaded(
        hooks=hooks_of(config, config.entries, env),
        problems=resolved.problems,
        held_back=(
            *_kept_out(config, off, SWITCHED_OFF, env),
            *_kept_out(config, resolved.dropped, SHADOWED, env),
        ),
        config=config,
    )


def _refusal(problems: tuple[Problem, ...]) -> ConfigError:
    first = next(problem for problem in problems if problem.scope is not Scope.NOTE)
    return ConfigError(f"{first.where}: {first.message}", problems)


def home_of(env: Mapping[str, str]) -> Path | None:
    """The user's folder, None where *env* names none. A relative name does not count: a project could be meant."""
    home = env.get("HOME", "")
    return Path(home) if os.path.isabs(home) else None  # noqa: PTH117  # the text as written


def project_file(workspace: Path, home: Path | None) -> Path | None:
    """The nearest file at or above *workspace*, no higher than the folder that holds its `.git`.

    The folder is what is trusted: nothing above it is.
    """
    start = Path(os.path.realpath(workspace))
    users = None if home is None else Path(os.path.realpath(home)) / CONFIG_FILE
    root = project_root(workspace)
    for folder in (start, *start.parents):
        path = folder / CONFIG_FILE
        if os.path.lexists(path) and path != users:
            return path
        if folder == root:
            return None
    return None


def _root(project: Path | None) -> Path | None:
    return None if project is None else project.parent.parent


def _held_back(path: Path, env: Mapping[str, str]) -> HeldBack:
    data = read_file(path)
    source = Source(layer=CONTEXT, label="config.toml", path=str(path))
    read = read_config(data, source) if isinstance(data, bytes) else Found(HooksConfig(), ())
    config = read.config
    wrong = [problem.where.path for problem in read.problems if problem.scope is not Scope.NOTE]
    right = [each for each in config.entries if not any(path.startswith(each.where.path) for path in wrong)]
    return HeldBack(
        label=str(CONFIG_FILE),
        path=str(path),
        count=len(config.entries),
        why=NOT_TRUSTED,
        hooks=hooks_of(config, right, env),
        problems=read.problems,
    )


def _kept_out(config: HooksConfig, entries: Sequence[Entry], why: str, env: Mapping[str, str]) -> tuple[HeldBack, ...]:
    """Entries that are right and do not run, because somebody wrote so."""
    by_file: dict[Source, list[Entry]] = {}
    for entry in entries:
        by_file.setdefault(entry.source, []).append(replace(entry, enabled=True))
    return tuple(
        HeldBack(
            label=source.label,
            path=source.path,
            count=len(own),
            why=why,
            hooks=hooks_of(config, own, env),
            meant=True,
        )
        for source, own in by_file.items()
    )

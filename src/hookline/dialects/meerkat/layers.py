"""Which files hold, and how they become one list of entries (section 6.3).

Two loaders, as Meerkat has them. Unlike there, no file is skipped because it is broken: a guard that vanishes by a
typing error guards nothing.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hookline._core.errors import ConfigError
from hookline._core.hooks import Source
from hookline._core.problems import Problem, Scope, Where
from hookline.dialects._files import Unreadable, read_file
from hookline.dialects.meerkat.document import quoted
from hookline.dialects.meerkat.entries import Entry, Found, HooksConfig, read_config
from hookline.dialects.meerkat.legality import violations
from hookline.dialects.meerkat.schema import HOOKS, LIMITS

CONFIG_FILE = Path(".rkat", "config.toml")

# The layers of the core loader, then those of the resolver, each in the order of its entries.
HOME, PROJECT = "home", "project"
ACTIVE, CONTEXT, USER = "active", "context", "user"

BUILT_IN = HooksConfig()


@dataclass(frozen=True, slots=True)
class Resolved:
    """The configuration in force, None where nothing may start, and everything that was found.

    `dropped` are entries that one of their id in an earlier file shadows.
    """

    config: HooksConfig | None
    problems: tuple[Problem, ...] = ()
    dropped: tuple[Entry, ...] = ()

    def usable(self) -> HooksConfig:
        """The configuration. Raises ConfigError, with every problem, where there is none."""
        if self.config is not None:
            return self.config
        first = next(problem for problem in self.problems if problem.scope is Scope.SETTINGS)
        raise ConfigError(f"{first.where}: {first.message}", self.problems)


def core_layers(home: Path | None, start: Path) -> Resolved:
    """The file of *home*, then the nearest one at or above *start*: all entries of both, under the built-in limits."""
    nearest = _nearest(start)
    paths = [] if home is None else [(HOME, home / CONFIG_FILE)]
    layers = _read([*paths, *([] if nearest is None else [(PROJECT, nearest)])])
    entries = tuple(entry for layer in layers for entry in layer.config.entries)
    return _resolved(BUILT_IN, entries, layers)


def resolve(active: Path | None, context: Path | None, user: Path | None) -> Resolved:
    """The *active* file, then those of the folders *context* and *user*; only *active* sets limits.

    The first entry of an id holds; those of the files after it are dropped, each with a note. Two of one id in one file
    are refused: whoever wrote them meant both.
    """
    named = [] if active is None else [(ACTIVE, active)]
    roots = [(layer, root / CONFIG_FILE) for layer, root in ((CONTEXT, context), (USER, user)) if root is not None]
    layers = _read([*named, *roots], named=ACTIVE)
    limits = next((layer.config for layer in layers if layer.config.spot.document.source.layer == ACTIVE), BUILT_IN)
    limits = replace(limits, background_max_concurrency=limits.concurrency)
    held, dropped = _first_of_each_id([entry for layer in layers for entry in layer.config.entries])
    return replace(_resolved(limits, held, layers, [problem for _, problem in dropped]), dropped=_entries_of(dropped))


def inherited(parent: HooksConfig, child: HooksConfig) -> HooksConfig:
    """*child* within *parent*, as one realm's file inherits from another's: it adds entries and removes none.

    Its limits count where they differ from the built-in ones.
    """
    own = {name: getattr(child, name) for name in LIMITS if getattr(child, name) != HOOKS[name].default}
    return replace(parent, **own, entries=parent.entries + child.entries)


def _nearest(start: Path) -> Path | None:
    folder = Path(os.path.realpath(start))
    return next((each / CONFIG_FILE for each in (folder, *folder.parents) if os.path.lexists(each / CONFIG_FILE)), None)


def _read(paths: Sequence[tuple[str, Path]], *, named: str = "") -> list[Found]:
    """What each file holds; one that is reached twice is read once. Only the layer *named* has to have its file."""
    found: list[Found] = []
    seen: set[str] = set()
    for layer, path in paths:
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        read = _read_file(Source(layer=layer, label="/".join(path.parts[-2:]), path=str(path)), path)
        if read is not None:
            found.append(read)
        elif layer == named:
            found.append(_absent(path))
    return found


def _read_file(source: Source, path: Path) -> Found | None:
    data = read_file(path)
    if data is None:
        return None
    if isinstance(data, Unreadable):
        return Found(HooksConfig(), (unreadable(source, data.why),))
    return read_config(data, source)


def unreadable(source: Source, why: str) -> Problem:
    """A file that is there and cannot be read."""
    message = f"failed to read hook config at {source.path}: {why}"
    where = Where(file=source.path, label=source.label)
    return Problem(scope=Scope.SETTINGS, code="UnreadableConfig", message=message, where=where)


def _absent(path: Path) -> Found:
    where = Where(file=str(path), label=path.name)
    message = f"there is no active config at {path}"
    return Found(HooksConfig(), (Problem(scope=Scope.ABSENT, code="ConfigAbsent", message=message, where=where),))


Dropped = tuple[Entry, Problem]


def _entries_of(dropped: Sequence[Dropped]) -> tuple[Entry, ...]:
    return tuple(entry for entry, _ in dropped)


def _first_of_each_id(entries: Sequence[Entry]) -> tuple[tuple[Entry, ...], list[Dropped]]:
    first: dict[str, Entry] = {}
    held: list[Entry] = []
    dropped: list[Dropped] = []
    for entry in entries:
        holds = first.setdefault(entry.id, entry)
        if entry.source == holds.source:
            held.append(entry)  # a second one of its file's is for `violations` to refuse
        else:
            dropped.append((entry, _dropped(entry, holds)))
    return tuple(held), dropped


def _dropped(entry: Entry, holds: Entry) -> Problem:
    unnamed = "" if entry.is_named else ", for an entry without an id is called that"
    message = (
        f"hook {quoted(entry.id)} is dropped: the one of that id at {holds.where} comes first; "
        f"if both are to run, write an id of its own{unnamed}"
    )
    return Problem(scope=Scope.NOTE, code="DuplicateAcrossLayers", message=message, where=entry.spot.where_of("id"))


def _resolved(
    limits: HooksConfig, entries: tuple[Entry, ...], layers: Sequence[Found], dropped: Sequence[Problem] = ()
) -> Resolved:
    found = [problem for layer in layers for problem in layer.problems]
    illegal = [violation.problem for violation in violations(entries)]
    ignored = [problem for layer in layers for problem in _ignored_limits(layer.config, limits)]
    problems = (*found, *illegal, *dropped, *ignored)
    broken = any(problem.scope is Scope.SETTINGS for problem in problems)
    return Resolved(None if broken else replace(limits, entries=entries), problems)


def _ignored_limits(config: HooksConfig, limits: HooksConfig) -> Iterator[Problem]:
    """A limit that was written, and differs from the one that holds instead."""
    if config.spot.document is limits.spot.document:
        return
    for name in LIMITS:
        written = getattr(config, name)
        holds = getattr(limits, name)
        if written not in (holds, HOOKS[name].default):
            message = f"`{name}` is ignored: only the active config sets it, and there it is {_shown(holds)}"
            yield Problem(scope=Scope.NOTE, code="IgnoredLimit", message=message, where=config.spot.where_of(name))


def _shown(value: object) -> str:
    match value:
        case int():
            return str(value)
        case _:
            return f'"{getattr(value, "value", value)}"'

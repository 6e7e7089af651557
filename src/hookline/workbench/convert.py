"""Hooks of one dialect, or of another tool, as a file of a dialect of ours, and everything that differs then."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hookline._core.errors import ConfigError, UsageError
from hookline._core.hooks import Hook, Source
from hookline._core.problems import Problem, Scope
from hookline._core.strictjson import JsonFault, parse
from hookline.dialects import DIALECTS, PACKAGES, reading
from hookline.dialects._base import Loss, Package, Written
from hookline.dialects._files import DEEPEST, LARGEST, Unreadable, read_file
from hookline.workbench.foreign import looks_like
from hookline.workbench.foreign_hooks import Reading, read_foreign
from hookline.workbench.foreign_tools import TOOLS, Tool
from hookline.workbench.rows import Role, Span, rendered, unstyled

_WHOLE = (Scope.SETTINGS, Scope.FILE)
LONGEST_LINE = 1000  # columns; a name that long in a hook file is not worth more of a terminal
NOTHING: Mapping[str, str] = {}  # an environment: what a hook has in its own is then what its file says

READERS: Mapping[str, Callable[[bytes], Any]] = {
    ".json": lambda data: parse(data, max_bytes=LARGEST, max_depth=DEEPEST),
    ".toml": lambda data: tomllib.loads(data.decode("utf-8-sig")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A file that was written anew: its text, what is lost, and what commands from elsewhere have to know.

    `count` is how many hooks are in the text, `source` what the file was taken for.
    """

    text: str
    count: int
    losses: tuple[Loss, ...]
    note: str
    source: str

    def lines(self) -> list[str]:
        """What is to be told of it, a line each, the hooks that are missing first."""
        first = sorted(self.losses, key=lambda loss: not loss.left_out)
        told = [f"{loss.hook}: {'left out: ' if loss.left_out else ''}{loss.why}" for loss in first]
        lines = [*told, f"note: {self.note}"] if self.count else told
        return [rendered([Span(Role.TEXT, line)], width=LONGEST_LINE, style=unstyled) for line in lines]


def convert(path: Path, *, to: str, written_for: str | None = None) -> Conversion:
    """The hooks of a file in the dialect *to*. *written_for* names the tool or dialect of the file, else it is told.

    Raises UsageError for names that there are not and for what cannot be converted at all, ConfigError for a file that
    cannot be read, or that holds no hooks.
    """
    target, write = _target(to)
    document = _document(path)
    source = _source(written_for, document, path)
    if source is target:
        raise UsageError(_good_already(path, target, written_for))
    reading = read_foreign(document, source, _place(path)) if isinstance(source, Tool) else _own(path, source)
    if not reading.hooks and not reading.losses:
        raise ConfigError(f"{path}: there are no hooks in it")
    written = write(reading.hooks)
    return Conversion(
        text=written.text,
        count=written.count,
        losses=(*reading.losses, *written.losses),
        note=written.note,
        source=_title(source),
    )


def targets() -> tuple[str, ...]:
    """The dialects that a file can be written in."""
    return tuple(package.dialect.name for package in PACKAGES if package.write is not None)


def sources() -> tuple[str, ...]:
    """What a file can be converted from."""
    return (*(each.dialect.name for each in PACKAGES if each.load_file is not None), *(tool.name for tool in TOOLS))


def _target(name: str) -> tuple[Package, Callable[[Sequence[Hook]], Written]]:
    package = next((each for each in PACKAGES if each.dialect.name == name and each.look is not None), None)
    if package is None:
        raise UsageError(f"--to {name}: there is no such dialect to write; write one of {', '.join(targets())}")
    if package.write is None:
        raise UsageError(f"--to {name}: {_apart(package)}; write one of {', '.join(targets())}")
    return package, package.write


def _source(name: str | None, document: Any, path: Path) -> Package | Tool:
    if name is None:
        likeness = looks_like(document)
        name = likeness.name if likeness is not None else _by_suffix(path)
    every: dict[str, Package | Tool] = {tool.name: tool for tool in TOOLS}
    every |= {package.dialect.name: package for package in PACKAGES if package.look is not None}
    if name not in every:
        raise UsageError(f"--from {name}: that is nothing to convert from; there are {', '.join(sources())}")
    source = every[name]
    if isinstance(source, Package) and source.load_file and reading(path.suffix) is not source:
        suffixes = ", ".join(sorted(DIALECTS[source.dialect.name]))
        raise UsageError(
            f"{path}: its names are those of {_title(source)}, whose files end in {suffixes}; "
            "if it was written for another tool, name that by --from"
        )
    return source


def _by_suffix(path: Path) -> str:
    """Nothing in the file tells whose it is: then it is that of a dialect which finds nothing wrong in it."""
    package = reading(path.suffix)
    if package is not None and package.load_file is not None:
        loaded = package.load_file(path, NOTHING)
        if all(problem.scope is Scope.NOTE for problem in loaded.problems):
            return package.dialect.name
    known = ", ".join(sources())
    raise UsageError(f"{path}: nothing in it tells which tool it was written for; name one by --from: {known}")


def _document(path: Path) -> Any:
    data = read_file(path)
    if data is None or isinstance(data, Unreadable):
        raise ConfigError(f"{path}: {'there is no such file' if data is None else data.why}")
    if len(data) > LARGEST:
        raise ConfigError(f"{path}: it is larger than {LARGEST} bytes, which is no hook file")
    read = READERS.get(path.suffix, _yaml if path.suffix in (".yaml", ".yml") else READERS[".json"])
    try:
        return read(data)
    except JsonFault as fault:
        raise ConfigError(f"{path}:{fault.line}:{fault.column}: malformed JSON: {fault.message}") from None
    except (ValueError, RecursionError) as fault:
        raise ConfigError(f"{path}: malformed: {fault}") from None


def _yaml(data: bytes) -> Any:
    """Only to tell what it is for: hooks stand in no YAML but that of components."""
    from hookline._yaml.composing import compose
    from hookline._yaml.findings import Findings

    findings = Findings("")
    node = compose(data, findings, what="the file", max_bytes=LARGEST)
    if problems := findings.all:
        raise ValueError(f"line {problems[0].where.line}: {problems[0].message}")
    return None if node is None else _plain(node)


def _plain(node: Any) -> Any:
    from hookline._yaml.nodes import Entries, Items

    match node:
        case Entries():
            return {key.text: _plain(value) for key, value in node.entries}
        case Items():
            return [_plain(each) for each in node.items]
        case _:
            return node.value()


def _own(path: Path, package: Package) -> Reading:
    """The hooks of a dialect of ours, each with what its dialect's rules say of its failure."""
    if package.load_file is None:
        raise UsageError(f"{path}: this is for {package.dialect.name}, and {_apart(package)}")
    loaded = package.load_file(path, NOTHING)
    if fatal := [problem for problem in loaded.problems if problem.scope in _WHOLE]:
        raise ConfigError(f"{fatal[0].where}: {fatal[0].message}", tuple(fatal))
    losses = [_as_loss(problem) for problem in loaded.problems if problem.scope is not Scope.NOTE]
    untold = package.untold(path) if package.untold is not None else ()
    capped = [loss for hook in loaded.hooks for loss in _caps(hook, package)]
    return Reading([standing_alone(hook, package) for hook in loaded.hooks], [*losses, *untold, *capped])


def _as_loss(problem: Problem) -> Loss:
    where = problem.where
    place = f"{where.label}:{where.path.removeprefix('hooks.')}" if where.path else str(where)
    return Loss(hook=place, why=problem.message, left_out=True)


def standing_alone(hook: Hook, package: Package) -> Hook:
    rule = package.dialect.rule(hook.event)
    if hook.background or hook.on_failure is not None or rule is None:
        return hook
    return replace(hook, on_failure=rule.on_failure)


def _caps(hook: Hook, package: Package) -> list[Loss]:
    """Limits that a file sets for all its hooks, and that stay behind."""
    dialect, losses = package.dialect, []
    if hook.output_bytes not in (None, dialect.output_bytes):
        losses.append(Loss(hook=hook.id, why=f"its own limit of {hook.output_bytes} bytes of output is lost"))
    if hook.background and hook.pool not in (None, dialect.lane.workers):
        losses.append(Loss(hook=hook.id, why=f"that {hook.pool} hooks at most are in the background is lost"))
    return losses


def _place(path: Path) -> Source:
    return Source(layer="foreign", label=path.name, path=str(path))


def _good_already(path: Path, target: Package, written_for: str | None) -> str:
    name = target.dialect.name
    other = "" if written_for else "; if it was written for another tool, name that by --from"
    return f"{path}: this is a file for {name} already, and good as it stands{other}"


def _apart(package: Package) -> str:
    return package.look.apart if package.look is not None else ""


def _title(source: Package | Tool) -> str:
    look = source.look
    return look.title if look is not None else ""

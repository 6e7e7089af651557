"""A document becomes a configuration and problems: all of them, in the order of the text (section 6).

What stands here is well formed. Whether the entries may stand together is `legality`'s to say.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from hookline._core.hooks import Source
from hookline._core.problems import Problem, Scope, Where
from hookline._core.strictjson import Path
from hookline.dialects._files import DEEPEST, LARGEST
from hookline.dialects._places import key_of
from hookline.dialects.meerkat import toml_document
from hookline.dialects.meerkat.document import UNKNOWN_KEY, Document, Finding, Spot, nearest, note
from hookline.dialects.meerkat.fields import Table, read_fields
from hookline.dialects.meerkat.kinds import Slot, found
from hookline.dialects.meerkat.schema import ADAPTERS, ENTRY, HOOKS, TYPE
from hookline.dialects.meerkat.toml_document import TomlFault
from hookline.dialects.meerkat.toml_positions import positions
from hookline.dialects.meerkat.words import AdapterType, Capability, HookPoint, Mode, ToolDenial


@dataclass(frozen=True, slots=True)
class InProcess:
    """A handler that the program registers under this name."""

    handler: str = ADAPTERS[AdapterType.IN_PROCESS]["handler"].default


@dataclass(frozen=True, slots=True)
class Command:
    """A program and its arguments. *env* may hold secrets, so it is never part of a representation."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    inherit_env: bool = ADAPTERS[AdapterType.COMMAND]["inherit_env"].default


@dataclass(frozen=True, slots=True)
class Http:
    """An endpoint. URL and *headers* may hold secrets, so they are never part of a representation."""

    url: str = field(repr=False)
    method: str = ADAPTERS[AdapterType.HTTP]["method"].default
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


Runtime = InProcess | Command | Http

_RUNTIMES: Mapping[AdapterType, Callable[..., Runtime]] = {
    AdapterType.IN_PROCESS: InProcess,
    AdapterType.COMMAND: Command,
    AdapterType.HTTP: Http,
}
_IN_CODE = Spot(Document(Source(layer="code", label="code", path="code"), {}), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One configured hook. Its place in the tuple that holds it is its place in the order of registration.

    Two entries are equal when they say the same, wherever they stand.
    """

    id: str = ENTRY["id"].default
    enabled: bool = ENTRY["enabled"].default
    point: HookPoint = ENTRY["point"].default
    mode: Mode = ENTRY["mode"].default
    capability: Capability = ENTRY["capability"].default
    priority: int = ENTRY["priority"].default
    timeout_ms: int | None = ENTRY["timeout_ms"].default
    runtime: Runtime = InProcess()
    spot: Spot = field(default=_IN_CODE, compare=False, repr=False)

    @property
    def where(self) -> Where:
        return self.spot.where

    @property
    def source(self) -> Source:
        return self.spot.document.source

    @property
    def is_named(self) -> bool:
        """Whether its id was written, and is not the one that every entry without an id has."""
        return self.id != ENTRY["id"].default or self.spot.has("id")

    def wire(self) -> dict[str, Any]:
        """The entry as an object of overrides has it; what is hookline's own is written only where it was set."""
        written = {
            "id": self.id,
            "enabled": self.enabled,
            "point": self.point.value,
            "mode": self.mode.value,
            "capability": self.capability.value,
            "priority": self.priority,
        }
        if self.timeout_ms is not None:
            written["timeout_ms"] = self.timeout_ms
        return {**written, "runtime": _runtime_wire(self.runtime)}


def _runtime_wire(runtime: Runtime) -> dict[str, Any]:
    match runtime:
        case InProcess(handler):
            return {"type": AdapterType.IN_PROCESS.value, "handler": handler}
        case Command(command, args, env, inherit_env):
            own = {} if inherit_env else {"inherit_env": False}
            written = {"type": AdapterType.COMMAND.value, "command": command, "args": list(args), "env": dict(env)}
            return written | own
        case Http(url, method, headers):
            return {"type": AdapterType.HTTP.value, "url": url, "method": method, "headers": dict(headers)}


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksConfig:
    """What `[hooks]` says. `entries` stand in the order of registration."""

    default_timeout_ms: int = HOOKS["default_timeout_ms"].default
    payload_max_bytes: int = HOOKS["payload_max_bytes"].default
    background_max_concurrency: int = HOOKS["background_max_concurrency"].default
    tool_denial: ToolDenial = HOOKS["tool_denial"].default
    entries: tuple[Entry, ...] = ()
    spot: Spot = field(default=_IN_CODE, compare=False, repr=False)

    @property
    def concurrency(self) -> int:
        """How many background hooks run at once."""
        return max(1, self.background_max_concurrency)


class Found(NamedTuple):
    """What one document holds.

    Where a problem says that nothing starts, the configuration is only good to look for more problems in: a value at
    fault is replaced by its default, which breaks no rule.
    """

    config: HooksConfig
    problems: tuple[Problem, ...] = ()


def read_config(data: bytes, source: Source) -> Found:
    """The hooks of one `config.toml`, whatever its bytes are."""
    try:
        value, text = toml_document.parse(data, max_bytes=LARGEST, max_depth=DEEPEST)
    except TomlFault as fault:
        return Found(HooksConfig(), (_unparsed(fault, source),))
    document = Document(source, value, partial(positions, text))
    findings: list[Finding] = []
    config = _hooks(document, findings)
    return Found(config, problems_of(document, findings))


def problems_of(document: Document, findings: list[Finding]) -> tuple[Problem, ...]:
    """*findings* with their places, in the order of the text."""
    problems = map(document.problem, findings)
    return tuple(sorted(problems, key=lambda problem: (problem.where.line, problem.where.column)))


def _unparsed(fault: TomlFault, source: Source) -> Problem:
    where = Where(file=source.path, label=source.label, line=fault.line, column=fault.column)
    message = f"malformed TOML: {fault.message}"
    return Problem(scope=Scope.SETTINGS, code="MalformedToml", message=message, where=where)


def _hooks(document: Document, findings: list[Finding]) -> HooksConfig:
    findings += _misplaced(document.value)
    if "hooks" not in document.value:
        return HooksConfig(spot=Spot(document, ()))
    table, at = document.value["hooks"], ("hooks",)
    if not isinstance(table, dict):
        findings.append(_not_the_hooks(table, at))
        return HooksConfig(spot=Spot(document, at))
    values = read_fields(table, HOOKS, at, findings)
    values["entries"] = tuple(read_entries(document, (*at, "entries"), table.get("entries"), findings))
    return HooksConfig(**values, spot=Spot(document, at))


def _misplaced(value: Table) -> Iterator[Finding]:
    """Hooks under another name: the rest of the file is the host's, and says nothing to us."""
    for name in value:
        if name != "hooks" and (name in HOOKS or nearest(name, ("hooks",))):
            message = f"`{name}` is not `[hooks]`, so nothing in it runs: write `[hooks]` and `[[hooks.entries]]`"
            yield note(UNKNOWN_KEY, message, key_of((name,)))


def _not_the_hooks(value: Any, at: Path) -> Finding:
    remedy = "write `[hooks]`, and `[[hooks.entries]]` for each entry"
    message = f"`hooks` must be a table, found {found(value)}: {remedy}"
    return Finding(code="WrongType", message=message, at=at)


def read_entries(document: Document, at: Path, tables: Any, findings: list[Finding]) -> Iterator[Entry]:
    """The entries of an array that stands at *at*, but for what is no table; *findings* receives what is wrong."""
    for index, table in enumerate(tables if isinstance(tables, list | tuple) else ()):
        if isinstance(table, dict):
            yield from _entry(document, table, (*at, index), findings)


def _entry(document: Document, table: Table, at: Path, findings: list[Finding]) -> Iterator[Entry]:
    values = read_fields(table, ENTRY, at, findings)
    values["runtime"] = _runtime(table.get("runtime"), (*at, "runtime"), findings)
    if isinstance(table.get("id", ""), str):  # else it has no id that another could be found to repeat
        yield Entry(**values, spot=Spot(document, at))


def _runtime(table: Any, at: Path, findings: list[Finding]) -> Runtime:
    if not isinstance(table, dict):
        return InProcess()
    if "type" not in table:
        message = f"`runtime` has no `type`: write {TYPE.kind.noun}"
        findings.append(Finding(code="MissingField", message=message, at=at))
        return InProcess()
    faults = TYPE.kind.check(table["type"], Slot((*at, "type"), len(at)))
    if faults:
        findings += faults
        return InProcess()
    kind: AdapterType = TYPE.kind.convert(table["type"])
    before = len(findings)
    values = read_fields({name: table[name] for name in table if name != "type"}, ADAPTERS[kind], at, findings)
    is_sound = all(each.scope is Scope.NOTE for each in findings[before:])
    return _RUNTIMES[kind](**values) if is_sound else InProcess()

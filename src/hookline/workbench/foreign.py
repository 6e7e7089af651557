"""Which tool or dialect a document was written for, by names that no other has, and variables that other tools set."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hookline.dialects import DIALECTS, package
from hookline.dialects._base import Look
from hookline.dialects._places import path_text
from hookline.workbench.foreign_tools import TOOLS, UNSET

DEEPEST = 12  # levels; no mark of the table stands deeper than seven
ANY = "*"

_VARIABLE = re.compile(r"\$\{?(?:env:)?([A-Za-z_][A-Za-z0-9_]*)|%([A-Za-z_][A-Za-z0-9_]*)%")


@dataclass(frozen=True, slots=True)
class Mark:
    """A name in a document that tells something, and its path there: `hooks.BeforeTool`."""

    name: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """What a document was most likely written for. `name` is what `--from` calls it, `marks` what says so.

    `ours`: it is one of hookline's own dialects.
    """

    name: str
    title: str
    marks: tuple[Mark, ...]
    ours: bool

    def __str__(self) -> str:
        named = ", ".join(f"`{mark.path}`" for mark in self.marks[:3])
        return f"{self.title} ({named}{', …' if self.marks[3:] else ''})"


@dataclass(frozen=True, slots=True)
class ForeignVariable:
    """A variable that a command reads and that hooks have in other tools only; `tools` is empty where none sets it."""

    name: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A kind of document: its names of events and the paths of keys that it has."""

    name: str
    look: Look
    events: frozenset[str]
    ours: bool


@dataclass(slots=True)
class _Score:
    """`alone` are marks that nobody else has, `near` those that no other dialect of ours has, `shared` counts all.

    `acts`: there is an event of its, without which keys of another tool's are not its hook file.
    """

    acts: bool = False
    alone: list[Mark] = field(default_factory=list)
    near: list[Mark] = field(default_factory=list)
    shared: int = 0

    def rank(self) -> tuple[int, int, int]:
        return (len(self.alone), len(self.near), self.shared) if self.acts else (0, 0, 0)


def looks_like(document: Any, *, read_as: str = "") -> Likeness | None:
    """What *document*, a value of JSON, TOML or YAML, was most likely written for; None where nothing tells.

    A mark that only one kind has decides, and the kind with most of them; of another tool there has to be an event,
    too. Where there is no such mark, a dialect of ours that shares its names with other tools alone is meant, for a
    file of such a tool is good as it stands. *read_as* is the dialect that read the document: what that one knows tells
    nothing, and it is not what is looked for.
    """
    scores = {kind.name: _Score() for kind in _kinds()}
    for mark, owners, is_event in _marks(document):
        for name in owners:
            scores[name].acts |= is_event or _kind(name).ours
        if read_as in owners:
            continue
        ours = [name for name in owners if _kind(name).ours]
        for name in owners:
            scores[name].shared += 1
            if len(owners) == 1:
                scores[name].alone.append(mark)
            elif ours == [name]:
                scores[name].near.append(mark)
    best = max(_kinds(), key=lambda kind: scores[kind.name].rank())  # the first of equals, as the table has them
    score = scores[best.name]
    if not any(score.rank()[:2]):
        return None
    told = tuple(score.alone or score.near)
    return Likeness(name=best.name, title=best.look.title, marks=told, ours=best.ours)


def variables_in(command: str) -> tuple[ForeignVariable, ...]:
    """The variables in *command* that only other tools set for their hooks, or that none does; each once, in order."""
    found = dict.fromkeys(first or second for first, second in _VARIABLE.findall(command))
    known = ((name, setters_of(name)) for name in found)
    return tuple(ForeignVariable(name, tools) for name, tools in known if tools is not None)


def meanings_of(event: str) -> tuple[tuple[str, str | None], ...]:
    """Who calls an event so, and the hook point that each of them means: `("Gemini CLI", "before_tool_call")`."""
    own = (
        (ours.look.title, rule.event.point.name)
        for ours in map(package, DIALECTS)
        if ours.look is not None
        for rule in ours.dialect.rules.values()
        if rule.name == event
    )
    return tuple(
        dict.fromkeys([*own, *((each.title, each.events[event].point) for each in TOOLS if event in each.events)])
    )


def setters_of(name: str) -> tuple[str, ...] | None:
    """The tools that set the variable *name* for their hooks; none of them where none does, None where nobody knows."""
    tools = tuple(tool.title for tool in TOOLS if name in tool.variables)
    return tools if tools or UNSET.fullmatch(name) else None


@cache
def _kinds() -> tuple[_Kind, ...]:
    ours = (
        _Kind(
            name=each.dialect.name,
            look=each.look,
            events=frozenset(rule.name for rule in each.dialect.rules.values()),
            ours=True,
        )
        for each in map(package, DIALECTS)
        if each.look is not None
    )
    return (
        *ours,
        *(_Kind(name=tool.name, look=tool.look, events=frozenset(tool.events), ours=False) for tool in TOOLS),
    )


@cache
def _kind(name: str) -> _Kind:
    return next(kind for kind in _kinds() if kind.name == name)


@cache
def _owners_of_events() -> Mapping[str, tuple[str, ...]]:
    names = sorted({event for kind in _kinds() for event in kind.events})
    return {event: tuple(kind.name for kind in _kinds() if event in kind.events) for event in names}


@cache
def _keys() -> Mapping[str, Sequence[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The paths of keys by their last one, each with the kinds that have it."""
    by_last: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for path in sorted({path for kind in _kinds() for path in kind.look.marks}):
        owners = tuple(kind.name for kind in _kinds() if path in kind.look.marks)
        by_last.setdefault(path[-1], []).append((path, owners))
    return by_last


def _marks(document: Any) -> Iterator[tuple[Mark, Sequence[str], bool]]:
    """The marks of a document, each once, with all kinds that have it and whether it is an event."""
    seen: set[object] = set()
    for at, value in _walk(document, ()):
        for key, name, owners in _told(at, value):
            if key not in seen:
                seen.add(key)
                yield Mark(name, path_text(at)), owners, isinstance(key, str)


def _told(at: tuple[str | int, ...], value: Any) -> Iterator[tuple[object, str, Sequence[str]]]:
    last = at[-1]
    if not isinstance(last, str):
        return
    events = _owners_of_events()
    if at in ((last,), ("hooks", last)) and last in events and isinstance(value, dict | list):
        yield last, last, events[last]
    if last == "point" and isinstance(value, str) and value in events:
        yield value, value, events[value]
    for pattern, owners in _keys().get(last, ()):
        if _fits(at, pattern) and (those := tuple(name for name in owners if _has_event(name, at, pattern))):
            yield (pattern, those), last, those


def _has_event(name: str, at: tuple[str | int, ...], pattern: tuple[str, ...]) -> bool:
    """Whether a key of handlers stands under an event of this kind, for else it is another's key of the same name."""
    return pattern[:2] != ("hooks", ANY) or at[1] in _kind(name).events


def _fits(at: tuple[str | int, ...], pattern: tuple[str, ...]) -> bool:
    if len(at) != len(pattern):
        return False
    return all(part in (ANY, step) for step, part in zip(at, pattern, strict=True))


def _walk(value: Any, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every place in a document that a mark can have, in its order."""
    if len(at) == DEEPEST:
        return
    if isinstance(value, dict):
        steps: Sequence[tuple[str | int, Any]] = [(key, each) for key, each in value.items() if isinstance(key, str)]
    else:
        steps = list(enumerate(value)) if isinstance(value, list) else []
    for step, each in steps:
        yield (*at, step), each
        yield from _walk(each, (*at, step))

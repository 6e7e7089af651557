"""Case files: YAML documents, one a case, in which nothing may stand that nobody checks."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tests.conformance.place import Layout, Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of case, told by its first key: what such a case gives and what it may want, each with what it means.

    `found` runs one. `unless_said` is what is wanted where a case says nothing about it: nothing is wrong, and nobody
    is told anything.
    """

    gives: dict[str, str]
    wants: dict[str, str]
    found: "Callable[[Case, Place], dict[str, Any]]" = field(repr=False)
    unless_said: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return next(iter(self.gives))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What the runner knows of one dialect: its kinds of cases, the last of them that of a case with a `config` alone.

    `layout` says where configuration files stand, `main` is the one that a plain text is. `numbered` are the cases that
    there have to be, `own` the ids that there may be beside those.
    """

    kinds: tuple[Kind, ...]
    layout: Layout
    main: str
    numbered: tuple[str, ...]
    own: re.Pattern[str]


EVERY_CASE = {
    "id": "its number, once in all files of its dialect",
    "note": "what is so",
    "because": "the sentence of the dialect's document that says so",
    "slow": "true where it waits for a timeout",
    "config": "the project's hook file as text, or several files by name",
    "env": "variables, null for one that is not set",
    "want": "the expected values; names of folders stand between two @",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case. `given` and `want` hold no key that its kind does not have."""

    id: str
    note: str
    dialect: str
    topic: str
    kind: Kind
    given: dict[str, Any]
    want: dict[str, Any]
    slow: bool

    @property
    def title(self) -> str:
        return f"{self.dialect}/{self.topic}: {self.id} {self.note}"


def read_cases(folder: Path, dialects: Mapping[str, Dialect]) -> list[Case]:
    """Every case under *folder*, which has a folder for each dialect, in the order of files and documents."""
    return [
        _case(found, path, name, dialect)
        for name, dialect in sorted(dialects.items())
        for path in sorted((folder / name).glob("*.yaml"))
        for found in documents(path)
    ]


def documents(path: Path) -> Iterator[Any]:
    """The documents of a YAML file. A mapping with the key `repeat` stands for a text: see `_spelled_out`."""
    with path.open("rb") as file:
        for found in yaml.load_all(file, Loader=_Strict):
            yield _spelled_out(found)


def _case(found: dict[str, Any], path: Path, name: str, dialect: Dialect) -> Case:
    kind = next(kind for kind in dialect.kinds if kind.key in found or kind is dialect.kinds[-1])
    unread = found.keys() - EVERY_CASE.keys() - kind.gives.keys()
    unchecked = found.get("want", {}).keys() - kind.wants.keys()
    if unread or unchecked:
        raise ValueError(f"{path.name}: {found['id']}: no case with `{kind.key}` has {sorted(unread | unchecked)}")
    if not found["want"] or not found["because"].strip():
        raise ValueError(f"{path.name}: {found['id']}: a case wants something, because of something")
    if found["id"] != str(found["id"]):
        raise ValueError(f"{path.name}: {found['id']}: an id is a text: write it in quotes")
    config = found.get("config", {})
    return Case(
        id=found["id"],
        note=found["note"],
        dialect=name,
        topic=path.stem,
        kind=kind,
        given={**found, "config": {dialect.main: config} if isinstance(config, str) else config},
        want=found["want"],
        slow=found.get("slow", False),
    )


def _spelled_out(value: Any) -> Any:
    """*value*, with each `{before, repeat, times, after}` made the long text that it describes."""
    match value:
        case {"repeat": text, "times": times, **around} if around.keys() <= {"before", "after"}:
            return f"{around.get('before', '')}{text * times}{around.get('after', '')}"
        case list():
            return [_spelled_out(each) for each in value]
        case dict():
            return {key: _spelled_out(each) for key, each in value.items()}
        case _:
            return value


class _Strict(yaml.SafeLoader):
    """YAML in which a key stands once: of two wants with one name, one would go unchecked."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT002  # theirs
        keys = [key.value for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise ValueError(f"{node.start_mark}: {sorted(twice)} twice")
        return super().construct_mapping(node, deep=deep)

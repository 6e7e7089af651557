"""Case files: YAML documents, one a case, in which nothing may stand that nobody checks."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of case, told by its first key: what such a case gives and what it may want, each with what it means."""

    gives: dict[str, str]
    wants: dict[str, str]

    @property
    def key(self) -> str:
        return next(iter(self.gives))


EVERY_CASE = {
    "id": "its number, once in all files",
    "note": "what is so",
    "because": "the sentence of the dialect's document that says so",
    "slow": "true where it waits for a timeout",
    "config": "the project's hook file as text, or several files by name; only hooks.json stands in the project",
    "env": "variables, null for one that is not set",
    "want": "the expected values; @workspace@ and @config@ stand for the folders",
}

KINDS = (
    Kind(  # a run of the real program
        gives={
            "exec": "arguments",
            "earlier": "arguments of a run before that one, which completes",
            "program": "the name that it is started by, muse unless said",
            "script": "what the model says; without it the model is echo",
            "files": "files in the workspace",
        },
        wants={
            "refused": "all of standard error, where nothing starts",
            "exit": "the exit code, 0 unless said",
            "stderr": "lines after workspace and trust, none unless said; @number@ stands for any",
            "stdout": "all of it, without --json",
            "terminals": "how each run ended",
            "runs": "runs of hooks as they ended, `<Event> <status> [<effects>]: <error>`; the error only where wanted",
            "context": "texts of context blocks",
            "results": "calls, `<tool> <status>: <text>`; the text only where wanted",
            "passes": "answers of the model that say something",
            "files": "what stands in files, null for one that is not there",
            "payloads": "lines of files that hooks wrote their input to, with the members that are wanted",
            "dead": "files that hold the number of a process that is no more",
        },
    ),
    Kind(  # events through loader and engine, with replies that no process gives
        gives={"event": "one event or several", "replies": "by hook: exit, stdout, stderr; 0 and nothing unless said"},
        wants={
            "report": "start-up lines, none unless said",
            "called": "the hooks that were called",
            "decision": "what was decided",
            "runs": "as above",
            "applied": "effects that count",
            "payloads": "what hooks were given, with the members that are wanted",
        },
    ),
    Kind(  # the loader alone
        gives={"config": "as in every case"},
        wants={
            "refused": "the words with which nothing starts",
            "hooks": "the hooks that are runnable",
            "report": "start-up lines, none unless said",
        },
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case. `given` and `want` hold no key that its kind does not have."""

    id: str
    note: str
    topic: str
    kind: str
    given: dict[str, Any]
    want: dict[str, Any]
    slow: bool

    @property
    def title(self) -> str:
        return f"{self.topic}: {self.id} {self.note}"


def read_cases(folder: Path) -> list[Case]:
    """Every case under *folder*, in the order of files and documents."""
    return [_case(found, path) for path in sorted(folder.glob("*/*.yaml")) for found in documents(path)]


def documents(path: Path) -> Iterator[Any]:
    """The documents of a YAML file. A mapping with the key `repeat` stands for a text: see `_spelled_out`."""
    with path.open("rb") as file:
        for found in yaml.load_all(file, Loader=_Strict):
            yield _spelled_out(found)


def _case(found: dict[str, Any], path: Path) -> Case:
    kind = next(kind for kind in KINDS if kind.key in found or kind is KINDS[-1])
    unread = found.keys() - EVERY_CASE.keys() - kind.gives.keys()
    unchecked = found.get("want", {}).keys() - kind.wants.keys()
    if unread or unchecked:
        raise ValueError(f"{path.name}: {found['id']}: no case with `{kind.key}` has {sorted(unread | unchecked)}")
    if not found["want"] or not found["because"].strip():
        raise ValueError(f"{path.name}: {found['id']}: a case wants something, because of something")
    config = found.get("config", {})
    return Case(
        id=found["id"],
        note=found["note"],
        topic=f"{path.parent.name}/{path.stem}",
        kind=kind.key,
        given={**found, "config": {"hooks.json": config} if isinstance(config, str) else config},
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

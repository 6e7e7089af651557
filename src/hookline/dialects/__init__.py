"""The dialects: each maps the canonical events to its own points, payloads and answers.

`DIALECTS` names those that come with hookline, in the order in which they are asked: to add one, write its
folder and add its line here. Each is imported when it is first asked for: whoever checks a file of one needs no other.
`PACKAGES` are all of them. The other names are what a dialect of your own is made of;
`hookline.new_engine(dialects=[YOUR_DIALECT])` asks it after these.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline._core.answer import Answer
    from hookline._core.hooks import Hook, Source
    from hookline._core.lanes import LanePolicy, WhenFull
    from hookline._core.payload import Refused
    from hookline._core.ports import Dialect
    from hookline._core.reasons import Skip
    from hookline._core.rules import FailurePolicy, Rule, Strategy
    from hookline.dialects._base import Package, PointSchema, TableDialect, Unread

    IN_CODE: TableDialect
    PACKAGES: tuple[Package, ...]

__all__ = [
    "DIALECTS",
    "IN_CODE",
    "PACKAGES",
    "Answer",
    "Dialect",
    "FailurePolicy",
    "Hook",
    "LanePolicy",
    "Package",
    "PointSchema",
    "Refused",
    "Rule",
    "Skip",
    "Source",
    "Strategy",
    "TableDialect",
    "Unread",
    "WhenFull",
    "package",
    "tool_aliases",
]

# By name, with the endings of the files that are its.
DIALECTS: Mapping[str, tuple[str, ...]] = {
    "muse": (".json",),
    "meerkat": (".toml",),
    "murmur": (".yaml", ".yml"),
    "code": (),
}

# Where the names of `__all__` come from that are not written here.
_FROM = {
    "Answer": "hookline._core.answer",
    "Dialect": "hookline._core.ports",
    "FailurePolicy": "hookline._core.rules",
    "Hook": "hookline._core.hooks",
    "LanePolicy": "hookline._core.lanes",
    "Package": "hookline.dialects._base",
    "PointSchema": "hookline.dialects._base",
    "Refused": "hookline._core.payload",
    "Rule": "hookline._core.rules",
    "Skip": "hookline._core.reasons",
    "Source": "hookline._core.hooks",
    "Strategy": "hookline._core.rules",
    "TableDialect": "hookline.dialects._base",
    "Unread": "hookline.dialects._base",
    "WhenFull": "hookline._core.lanes",
}


@cache
def package(name: str) -> "Package":
    """All of the dialect called *name*, one of `DIALECTS`."""
    found: Package = import_module(f"{__name__}.{name}").PACKAGE
    return found


def reading(suffix: str) -> "Package | None":
    """The dialect whose files end so."""
    name = next((each for each, suffixes in DIALECTS.items() if suffix in suffixes), None)
    return None if name is None else package(name)


def tool_aliases() -> dict[str, tuple[str, ...]]:
    """By a built-in tool's own name, what the dialects call it besides."""
    found: dict[str, tuple[str, ...]] = {}
    for each in _all():
        for name, others in each.tool_aliases.items():
            found[name] = (*found.get(name, ()), *others)
    return found


@cache
def _all() -> "tuple[Package, ...]":
    return tuple(map(package, DIALECTS))


def __getattr__(name: str) -> Any:
    match name:
        case "PACKAGES":
            return _all()
        case "IN_CODE":
            return package("code").dialect  # handlers registered in Python belong to this one
        case _ if name in _FROM:
            return getattr(import_module(_FROM[name]), name)
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

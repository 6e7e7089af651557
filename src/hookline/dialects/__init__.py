"""The dialects: each maps the canonical events to its own points, payloads and answers.

`PACKAGES` are those that come with hookline, in the order in which they are asked at each event: to add one, write its
folder and add its line here. The other names are what a dialect of your own is made of;
`hookline.new_engine(dialects=[YOUR_DIALECT])` asks it after these.
"""

from hookline._core.answer import Answer
from hookline._core.hooks import Hook, Source
from hookline._core.lanes import LanePolicy, WhenFull
from hookline._core.payload import Refused
from hookline._core.ports import Dialect
from hookline._core.reasons import Skip
from hookline._core.rules import FailurePolicy, Rule, Strategy
from hookline.dialects import code, meerkat, murmur, muse
from hookline.dialects._base import Package, TableDialect

__all__ = [
    "IN_CODE",
    "PACKAGES",
    "Answer",
    "Dialect",
    "FailurePolicy",
    "Hook",
    "LanePolicy",
    "Package",
    "Refused",
    "Rule",
    "Skip",
    "Source",
    "Strategy",
    "TableDialect",
    "WhenFull",
    "tool_aliases",
]

PACKAGES: tuple[Package, ...] = (
    muse.PACKAGE,
    meerkat.PACKAGE,
    murmur.PACKAGE,
    code.PACKAGE,
)

IN_CODE = code.DIALECT  # handlers registered in Python belong to this one


def tool_aliases() -> dict[str, tuple[str, ...]]:
    """By a built-in tool's own name, what the dialects call it besides."""
    found: dict[str, tuple[str, ...]] = {}
    for package in PACKAGES:
        for name, others in package.tool_aliases.items():
            found[name] = (*found.get(name, ()), *others)
    return found

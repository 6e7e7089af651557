"""Matchers tried on what there really is to match."""

import difflib
import re
from collections.abc import Iterator

from hookline._core.events.tool import ToolEvent
from hookline._core.matchers import EVERYTHING, exact_names
from hookline.dialects._base import Part
from hookline.workbench.findings import Finding, Level
from hookline.workbench.lints.asking import Asked, lint
from hookline.workbench.subjects import SUBJECTS
from hookline.workbench.tool_names import BUILT_IN, OF_PEERS

NEVER = "this hook is never asked"
SERVER = "mcp__"  # what the names of tools begin with that a server offers; which ones is not known here
NEAR = 0.72  # how alike names are where one is a slip for the other: Bahs and Bash are, TodoWrite and Write are not
OF_A_SERVER = 3  # parts of such a name: mcp, the server, the tool


@lint
def matchers_that_match_nothing(asked: Asked) -> Iterator[Finding]:
    """Names that nothing has, and patterns that fit nothing there is."""
    matcher = asked.hook.matcher
    subjects = _subjects(asked)
    if matcher is EVERYTHING or subjects is None:
        return
    names = exact_names(matcher)
    if names is not None:
        yield from _unknown_names(asked, names, subjects)
    elif not any(matcher.matches((each,)) for each in subjects) and not _may_be_a_servers(asked):
        known = dict.fromkeys(word for word in re.findall(r"\w+", str(matcher)) if word in subjects)
        told = f"the {matcher!s} matches nothing: there are {', '.join(subjects)}"
        yield _never(asked, told, f"write {'|'.join(known)}" if known else "write one of them, or a pattern that fits")


def _subjects(asked: Asked) -> tuple[str, ...] | None:
    """Everything that a matcher at this point can be tested against. None where that is open."""
    if issubclass(asked.hook.event, ToolEvent):
        others = (name for names in asked.package.tool_aliases.values() for name in names)
        return (*BUILT_IN, *OF_PEERS, *others)
    return SUBJECTS.get(asked.hook.event.point.name)


def _may_be_a_servers(asked: Asked) -> bool:
    """Whether a pattern may be meant for the tools of a server."""
    return issubclass(asked.hook.event, ToolEvent) and SERVER.rstrip("_") in str(asked.hook.matcher)


def _unknown_names(asked: Asked, names: frozenset[str], subjects: tuple[str, ...]) -> Iterator[Finding]:
    unknown = sorted(name for name in names if name not in subjects)
    servers = [name for name in unknown if name.startswith(SERVER) and issubclass(asked.hook.event, ToolEvent)]
    for name in servers:
        if len(name.split("__")) < OF_A_SERVER:
            told = f"`{name}` is the beginning of names, and this is a list of exact names: it matches nothing"
            yield _never(asked, told, f"write ^{name}__ for all tools of that server")
    for name in (each for each in unknown if each not in servers):
        near = difflib.get_close_matches(name, subjects, n=1, cutoff=NEAR)
        hint = f"write {near[0]}" if near else f"write one of {', '.join(subjects)}"
        all_of_it = names == {name}
        yield _never(asked, f"nothing is called `{name}`", hint, all_of_it=all_of_it)


def _never(asked: Asked, message: str, remedy: str, *, all_of_it: bool = True) -> Finding:
    effect = NEVER if all_of_it else "that name selects nothing; the others do"
    return asked.finding(Level.WARNING, "MatchesNothing", message, effect=effect, remedy=remedy, part=Part.MATCHER)

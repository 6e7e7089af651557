"""The lines about hooks that a session prints as it starts (section 6.5)."""

from hookline._core.problems import UNSPOKEN, Problem
from hookline.dialects._base import Loaded

MOST_DETAILS = 3
LONGEST_LINE = 1000  # characters; a name that long in a hook file is not worth more of a terminal


def startup_lines(loaded: Loaded, program: str) -> list[str]:
    """The summary and its first details; nothing at all where there is nothing to warn of.

    The rule's number, which a problem may have, is not shown: the lines are those of the source document.
    """
    warnings = list(dict.fromkeys(_detail(problem) for problem in loaded.problems if problem.scope not in UNSPOKEN))
    if not warnings:
        return []
    count = f"{len(warnings)} warning" if len(warnings) == 1 else f"{len(warnings)} warnings"
    lines = [f"{program}: Hooks: {len(loaded.hooks)} runnable · {count}"]
    lines += [f"{program}:   {warning}" for warning in warnings[:MOST_DETAILS]]
    hidden = len(warnings) - MOST_DETAILS
    return [*lines, f"{program}:   {hidden} more hidden"] if hidden > 0 else lines


def _detail(problem: Problem) -> str:
    """One line, whatever names stand in the file."""
    text = f"{problem.where.label}: {problem.code}: {problem.message}"
    if len(text) > LONGEST_LINE:
        text = f"{text[:LONGEST_LINE]}…"
    return shown(text)


def shown(text: str) -> str:
    """*text* on one line of a terminal: what that would act on is shown as its escape."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)

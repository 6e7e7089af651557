"""Authority: an answer may hold only what its hook commits to and its point can honour."""

from hookline._core.answer import NOTHING, Answer, listed
from hookline._core.hooks import Hook
from hookline._core.rules import Rule


def objection_to(answer: Answer, hook: Hook, rule: Rule) -> str | None:
    """Why this answer must not count, or None. One word too many discards all of it: half an answer is a guess."""
    if answer is NOTHING:
        return None
    said = answer.words()
    if rule.discards:
        said -= rule.discards.keys()
    if impossible := said - rule.admits:
        return f"{rule.name} cannot honour {listed(impossible)}"
    if uncommitted := said - hook.commits:
        return f"this hook may not answer with {listed(uncommitted)}"
    return None

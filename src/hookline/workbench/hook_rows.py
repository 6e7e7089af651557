"""What one hook did at one event, as rows of a tree."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.journal import entries as en
from hookline.workbench.rows import Role, Span, first_line

ROLES = {"answered": Role.GOOD, "failed": Role.BAD, "skipped": Role.MARK, "cancelled": Role.MARK}
DENY = "deny"
SECOND = 1000.0  # milliseconds

UNANSWERED = "proceeded_without_answer"


def named(hook: en.Hook) -> list[Span]:
    """A hook by its id, which is its own, and by what its author calls it."""
    label = "" if hook.label in hook.id else hook.label
    return [Span(Role.NAME, hook.id), Span(Role.QUIET, label)]


def lasted(milliseconds: float) -> str:
    """A duration in the unit that a person would take."""
    return f"{milliseconds:.1f} ms" if milliseconds < SECOND else f"{milliseconds / SECOND:.2f} s"


def outcome_row(outcome: en.Outcome) -> list[Span]:
    """How it ended, how long that took, and which hook it was."""
    why = f"({outcome.why})" if outcome.why else ""
    ran = lasted(outcome.ran_ms) if outcome.started else ""
    role = ROLES.get(outcome.kind, Role.TEXT)
    return [Span(role, outcome.kind + why), Span(Role.QUIET, ran), *named(outcome.hook)]


def detail_rows(outcome: en.Outcome) -> Iterator[list[Span]]:
    """What a hook's author wants to know of a call that did not go as it should."""
    for link in outcome.links:
        yield [Span(Role.QUIET, "first"), *outcome_row(link), Span(Role.QUIET, first_line(link.stderr))]
    if outcome.by is not None:
        told = "answered by its fallback" if outcome.kind == "answered" else "its fallback failed too"
        yield [Span(Role.QUIET, told), *named(outcome.by)]
    if outcome.kind != "answered":
        yield [Span(Role.TEXT, first_line(outcome.detail))]
    if outcome.kind != "answered" and outcome.stderr:
        yield [Span(Role.QUIET, "stderr"), Span(Role.TEXT, first_line(outcome.stderr))]
    if outcome.stdout and (outcome.kind != "answered" or outcome.notes):
        yield [Span(Role.QUIET, "stdout"), Span(Role.TEXT, first_line(outcome.stdout))]
    if outcome.stdin_read and outcome.stdin_read < outcome.stdin_size:  # many a hook has no use for any of it
        yield [Span(Role.QUIET, f"read {outcome.stdin_read} of {outcome.stdin_size} bytes of its input")]
    if outcome.left_behind:
        yield [Span(Role.MARK, f"left {outcome.left_behind} of its processes running; they were killed")]
    for note in outcome.notes:
        yield [Span(Role.QUIET, "note"), Span(Role.TEXT, note)]


def said_rows(outcome: en.Outcome, dispatched: en.Dispatched) -> Iterator[list[Span]]:
    """The decision and the effects that a hook asked for, and which of them count."""
    hook = outcome.hook.id
    ignored = {each.what: each.why for each in dispatched.ignored if each.hook == hook}
    if outcome.decision is not None:
        yield _said(outcome.decision.decision, outcome.decision.reason, ignored)
    for effect in outcome.effects:
        yield _said(str(effect.get("effect", "effect")), _content(effect), ignored)
    if hook in dispatched.unheard:
        yield [Span(Role.MARK, f"! {UNANSWERED}"), Span(Role.TEXT, "it may deny, and was not heard")]


def asked_rows(outcome: en.Outcome) -> Iterator[list[Span]]:
    """What a background hook answered. It changes nothing."""
    for effect in outcome.effects:
        yield [Span(Role.NAME, str(effect.get("effect", "effect"))), Span(Role.TEXT, _content(effect))]


def verdict(dispatched: en.Dispatched) -> Span:
    """What came of an event, and whose word it was."""
    if dispatched.failed_run is not None:
        return Span(Role.BAD, f"run failed by {dispatched.failed_run}")
    decision = dispatched.decision
    if decision is None:
        return Span(Role.TEXT, "")
    who = "" if dispatched.decided_by is None else f" by {dispatched.decided_by}"
    reason = f": {first_line(decision.reason)}" if decision.reason else ""
    return Span(Role.BAD if decision.decision == DENY else Role.GOOD, f"{decision.decision}{who}{reason}")


def compact(value: object) -> str:
    """A value as JSON on one line; a text as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _said(word: str, content: str, ignored: Mapping[str, str]) -> list[Span]:
    if word in ignored:
        return [Span(Role.MARK, f"{word} ignored: {ignored[word]}")]
    return [Span(Role.NAME, word), Span(Role.TEXT, first_line(content))]


def _content(effect: Mapping[str, Any]) -> str:
    return "; ".join(compact(value) for name, value in effect.items() if name != "effect")

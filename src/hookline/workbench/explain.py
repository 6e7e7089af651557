"""Which hooks an event reaches, which not and why, in what order, what each may change and what its failure does."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from hookline._core.answer import Word
from hookline._core.hooks import Hook
from hookline._core.matchers import exact_names
from hookline._core.outcomes import Kind, Outcome
from hookline._core.points import Event
from hookline._core.problems import Problem, Scope
from hookline._core.reasons import Failure
from hookline._core.rules import FailurePolicy, Rule, Strategy
from hookline._engine.fold import consequence, could_deny
from hookline._engines import Project
from hookline.journal.encode import word_name
from hookline.workbench.points import is_a_point, points_named

_STEPS = re.compile(r"[A-Za-z_]\w*")  # of a path in a file: hooks, PreToolUse, matcher


class Verdict(Enum):
    """What becomes of one hook at one event."""

    ASKED = "asked"
    NOT_SELECTED = "not selected"
    HELD_BACK = "held back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """One hook at one event. `order` counts those that are asked, from 1; 0 for another, and `why` says why not.

    `may` are the words that count if it says them, `on_failure` what happens if it gives no answer.
    """

    hook: Hook
    verdict: Verdict
    order: int = 0
    why: str = ""
    may: frozenset[Word] = frozenset()
    on_failure: str = ""

    def as_json(self) -> dict[str, Any]:
        hook = self.hook
        told: dict[str, Any] = {
            "hook": hook.id,
            "label": hook.label,
            "dialect": hook.dialect,
            "layer": hook.source.layer,
            "file": hook.source.path,
            "line": hook.source.line,
            "verdict": self.verdict.value,
            "order": self.order,
            "why": self.why,
            "matcher": str(hook.matcher),
            "condition": None if hook.condition is None else _condition(hook),
            "background": hook.background,
            "timeout": hook.timeout,
            "priority": hook.priority,
            "may": sorted(map(word_name, self.may)),
            "on_failure": self.on_failure,
        }
        return told


@dataclass(frozen=True, slots=True, kw_only=True)
class AtDialect:
    """One dialect at one event: what it calls the point, how its hooks are run there, and each of them."""

    dialect: str
    point: str
    strategy: Strategy
    hooks: tuple[Considered, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "dialect": self.dialect,
            "point": self.point,
            "strategy": self.strategy.value,
            "hooks": [each.as_json() for each in self.hooks],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """One event and what becomes of every hook at it. `not_loaded` are problems for which hooks may be missing here."""

    event: Event
    dialects: tuple[AtDialect, ...]
    not_loaded: tuple[Problem, ...]

    @property
    def asked(self) -> tuple[Considered, ...]:
        """Those that are asked, in their order."""
        return tuple(each for at in self.dialects for each in at.hooks if each.verdict is Verdict.ASKED)

    def as_json(self) -> dict[str, Any]:
        event = self.event
        return {
            "event": event.point.name,
            "subjects": list(event.subjects()),
            "dialects": [each.as_json() for each in self.dialects],
            "not_loaded": [
                {"code": each.code, "message": each.message, "where": str(each.where)} for each in self.not_loaded
            ],
        }


def explain(project: Project, event: Event) -> Explained:
    """What becomes of every hook of *project* at *event*. No hook is called."""
    engine = project.engine
    asked = {hook.id: place for place, hook in enumerate(engine.preview(event), 1)}
    groups = {group.dialect.name: group.hooks for group in engine.groups(type(event))}
    told: list[AtDialect] = []
    for dialect in engine.dialects:
        rule = dialect.rule(event.point.event)
        if rule is None:
            continue
        mine = groups.get(dialect.name, ())
        considered = [
            *(_considered(hook, event, rule, asked.get(hook.id, 0), strict=engine.strict) for hook in mine),
            *_held_back(project, event, dialect.name),
        ]
        if considered:
            strategy = rule.strategy or dialect.strategy
            told.append(AtDialect(dialect=dialect.name, point=rule.name, strategy=strategy, hooks=tuple(considered)))
    return Explained(event=event, dialects=tuple(told), not_loaded=_not_loaded(project, event))


def _considered(hook: Hook, event: Event, rule: Rule, place: int, *, strict: bool) -> Considered:
    if not place:
        return Considered(hook=hook, verdict=Verdict.NOT_SELECTED, why=why_not(hook, event, rule))
    return Considered(
        hook=hook,
        verdict=Verdict.ASKED,
        order=place,
        may=hook.commits & rule.admits,
        on_failure=if_it_fails(hook, rule, strict=strict),
    )


def why_not(hook: Hook, event: Event, rule: Rule) -> str:
    """Why *hook* is not asked about *event*."""
    if rule.occurs is not None and not rule.occurs(event):
        return f"this occurrence is no {rule.name}"
    subjects = event.subjects()
    if not hook.matcher.matches(subjects):
        tested = " or ".join(subjects) or "nothing"
        return f"its matcher, {hook.matcher}, is not {tested}{_hint(hook, subjects)}"
    return f"its condition {_condition(hook)} does not hold"


def _condition(hook: Hook) -> str:
    return str(hook.condition)


def _hint(hook: Hook, subjects: Sequence[str]) -> str:
    """What to write where a list of exact names was meant for the beginning of one, or in other letters."""
    names = exact_names(hook.matcher)
    if names is None:
        return ""
    for name in sorted(names):
        if any(each.startswith(name) for each in subjects):
            return f"; this is a list of exact names: for all that begin so write ^{name}"
        if any(each.lower() == name.lower() for each in subjects):
            return "; capital letters count"
    return ""


def if_it_fails(hook: Hook, rule: Rule, *, strict: bool) -> str:
    """What happens to the action if *hook* gives no answer."""
    failed = Outcome(hook=hook, kind=Kind.FAILED, why=Failure.TIMEOUT)
    first = "its fallback is asked; if that fails, " if hook.fallback is not None else ""
    if hook.background:
        return "nothing: nobody waits for it"
    match consequence(failed, rule, strict=strict):
        case FailurePolicy.DENY:
            return f"{first}the action is denied"
        case FailurePolicy.FAIL_RUN:
            return f"{first}the run ends as failed"
        case FailurePolicy.IGNORE if could_deny(hook, rule):
            return f"{first}the action goes on without its answer; --strict denies it"
        case FailurePolicy.IGNORE:
            return f"{first}the action goes on"


def _held_back(project: Project, event: Event, dialect: str) -> Iterator[Considered]:
    for _, loaded in project.loaded:
        for held in loaded.held_back:
            for hook in held.hooks:
                if hook.dialect == dialect and issubclass(type(event), hook.events):
                    yield Considered(hook=hook, verdict=Verdict.HELD_BACK, why=held.why)


def _not_loaded(project: Project, event: Event) -> tuple[Problem, ...]:
    """What is wrong with files such that hooks may be missing at *event*."""
    return tuple(problem for problem in problems_of(project) if not _is_of_another(problem, event))


def problems_of(project: Project) -> Iterator[Problem]:
    """Everything for which hooks of *project* are missing, those that would be held back anyway among them."""
    for _, loaded in project.loaded:
        held = (problem for each in loaded.held_back for problem in each.problems)
        yield from (problem for problem in (*loaded.problems, *held) if problem.scope is not Scope.NOTE)


def _is_of_another(problem: Problem, event: Event) -> bool:
    """Whether it is of hooks that stand under the name of another point."""
    if problem.scope not in (Scope.GROUP, Scope.HOOK, Scope.DOUBT):
        return False
    names = _STEPS.findall(problem.where.path)[1:2]
    events = [event for name in names if is_a_point(name) for event in points_named(name)]
    return bool(events) and not isinstance(event, tuple(events))

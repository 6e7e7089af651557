"""Which hooks an event reaches: per hook point, grouped by dialect in the order in which they are asked."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from hookline._core.answer import listed
from hookline._core.errors import UsageError
from hookline._core.hooks import Hook
from hookline._core.points import Event
from hookline._core.ports import Dialect
from hookline._core.rules import Rule, Strategy
from hookline._core.targets import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The hooks of one dialect at one point, in the order in which their answers count."""

    dialect: Dialect
    rule: Rule
    hooks: tuple[Hook, ...]


@dataclass(frozen=True, slots=True)
class Unusable(Target):
    """Stands for the target of a hook whose own matcher or condition broke: it has failed before it is called."""

    detail: str

    @property
    def leaves_process(self) -> bool:
        return False


def in_order(hooks: Collection[Hook], dialects: Sequence[Dialect]) -> tuple[Hook, ...]:
    """*hooks* by dialect, and by priority where that counts, in a chain the background last. Ties as registered.

    A hook that is called at several points stands where it stands at the first of them.
    """
    ordered: list[Hook] = []
    for dialect in dialects:
        mine = [hook for hook in hooks if hook.dialect == dialect.name]
        ordered.extend(sorted(mine, key=partial(_place_at_its_first, dialect=dialect)))
    return tuple(ordered)


def strategy_of(dialect: Dialect, rule: Rule) -> Strategy:
    """How the hooks of *dialect* are run at the point of *rule*."""
    return rule.strategy or dialect.strategy


def _place_at_its_first(hook: Hook, dialect: Dialect) -> tuple[bool, int]:
    return _place(hook, dialect, dialect.rule(hook.event.point.event))


def _place(hook: Hook, dialect: Dialect, rule: Rule | None) -> tuple[bool, int]:
    """Where *hook* stands at the point of *rule*."""
    match Strategy.PARALLEL if rule is None else strategy_of(dialect, rule):
        case Strategy.PARALLEL:
            return False, 0
        case Strategy.CHAIN:
            return hook.background, 0 if hook.background else hook.priority
        case Strategy.SEQUENCE:
            return False, hook.priority


def plan_for(event: type[Event], hooks: Iterable[Hook], dialects: Sequence[Dialect]) -> tuple[Group, ...]:
    """The groups that *event* reaches, empty ones left out. A subclass of an event is an occurrence of its point."""
    here = [hook for hook in hooks if issubclass(event, hook.events)]
    groups: list[Group] = []
    for dialect in dialects:
        rule = dialect.rule(event.point.event)
        mine = [hook for hook in here if hook.dialect == dialect.name]
        if mine and rule is not None:
            ordered = sorted(mine, key=partial(_place, dialect=dialect, rule=rule))
            groups.append(Group(dialect=dialect, rule=rule, hooks=tuple(ordered)))
    return tuple(groups)


def selected(event: Event, group: Group) -> list[Hook]:
    """The hooks of *group* whose matcher and condition let *event* through, and those of which neither can be told.

    None where this occurrence is none of the dialect's point.
    """
    if group.rule.occurs is not None and not group.rule.occurs(event):
        return []
    chosen: list[Hook] = []
    for hook in group.hooks:
        try:
            if hook.selects(event):
                chosen.append(hook)
        except Exception as fault:  # noqa: BLE001  # it might have been a guard: it must not vanish
            detail = f"its matcher or condition broke: {type(fault).__name__}: {fault}"
            chosen.append(replace(hook, target=Unusable(detail)))
    return chosen


def check(hook: Hook, dialects: Mapping[str, Dialect]) -> None:
    """Raise UsageError for a hook that would never run, or that commits to what nobody would hear."""
    dialect = dialects.get(hook.dialect)
    if dialect is None:
        raise UsageError(f"hook {hook.id} is of the dialect {hook.dialect!r}, which this engine does not ask")
    rules = [_rule_at(event, hook, dialect) for event in hook.events]
    link: Hook | None = hook
    while link is not None:
        if hook.background and link.commits:
            late = listed(link.commits)
            raise UsageError(f"hook {link.id} runs in the background, where {late} would come too late")
        if impossible := link.commits.difference(*(rule.admits for rule in rules)):
            points = " and ".join(rule.name for rule in rules)
            raise UsageError(f"hook {link.id} commits to {listed(impossible)}, which {points} cannot honour")
        link = link.fallback


def _rule_at(event: type[Event], hook: Hook, dialect: Dialect) -> Rule:
    if getattr(event, "point", None) is None:
        raise UsageError(f"hook {hook.id} is for {event.__name__}, which is no hook point")
    rule = dialect.rule(event.point.event)
    if rule is None:
        raise UsageError(f"hook {hook.id} is for {event.point.name}, which {dialect.name} does not have")
    return rule

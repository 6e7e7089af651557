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
    """*hooks* by dialect, and within a chain by priority, the background last. Ties keep the order of registration."""
    ordered: list[Hook] = []
    for dialect in dialects:
        mine = (hook for hook in hooks if hook.dialect == dialect.name)
        ordered.extend(sorted(mine, key=partial(_place, dialect)))
    return tuple(ordered)


def strategy_of(dialect: Dialect, rule: Rule) -> Strategy:
    """How the hooks of *dialect* are run at the point of *rule*."""
    return rule.strategy or dialect.strategy


def _place(dialect: Dialect, hook: Hook) -> tuple[bool, int]:
    rule = dialect.rule(hook.event.point.event)
    if rule is None or strategy_of(dialect, rule) is not Strategy.CHAIN:
        return False, 0
    return hook.background, 0 if hook.background else hook.priority


def plan_for(event: type[Event], hooks: Iterable[Hook], dialects: Sequence[Dialect]) -> tuple[Group, ...]:
    """The groups that *event* reaches, empty ones left out. A subclass of an event is an occurrence of its point."""
    here = [hook for hook in hooks if issubclass(event, hook.event)]
    groups: list[Group] = []
    for dialect in dialects:
        mine = in_order(here, (dialect,))
        rule = dialect.rule(event.point.event)
        if mine and rule is not None:
            groups.append(Group(dialect=dialect, rule=rule, hooks=mine))
    return tuple(groups)


def selected(event: Event, group: Group) -> list[Hook]:
    """The hooks of *group* whose matcher and condition let *event* through, and those of which neither can be told."""
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
    if getattr(hook.event, "point", None) is None:
        raise UsageError(f"hook {hook.id} is for {hook.event.__name__}, which is no hook point")
    rule = dialect.rule(hook.event.point.event)
    if rule is None:
        raise UsageError(f"hook {hook.id} is for {hook.event.point.name}, which {dialect.name} does not have")
    link: Hook | None = hook
    while link is not None:
        if hook.background and link.commits:
            late = listed(link.commits)
            raise UsageError(f"hook {link.id} runs in the background, where {late} would come too late")
        if impossible := link.commits - rule.admits:
            raise UsageError(f"hook {link.id} commits to {listed(impossible)}, which {rule.name} cannot honour")
        link = link.fallback

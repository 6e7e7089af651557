"""Which hooks an event reaches: per event class, grouped by dialect in the order in which they are asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hookline._core.hooks import Hook
from hookline._core.points import Event
from hookline._core.ports import Dialect, Strategy
from hookline._core.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The hooks of one dialect at one point, in the order in which their answers count."""

    dialect: Dialect
    rule: Rule
    hooks: tuple[Hook, ...]


def plan_for(event: type[Event], hooks: Iterable[Hook], dialects: Sequence[Dialect]) -> tuple[Group, ...]:
    """The groups that *event* reaches, empty ones left out."""
    here = [hook for hook in hooks if hook.event is event]
    groups: list[Group] = []
    for dialect in dialects:
        mine = [hook for hook in here if hook.dialect == dialect.name]
        rule = dialect.rule(event)
        if not mine or rule is None:
            continue
        if dialect.strategy is Strategy.CHAIN:
            mine.sort(key=lambda hook: hook.priority)  # stable: ties keep the order of registration
        groups.append(Group(dialect=dialect, rule=rule, hooks=tuple(mine)))
    return tuple(groups)


def selected(event: Event, group: Group) -> list[Hook]:
    """The hooks of *group* whose matcher and condition let *event* through."""
    return [hook for hook in group.hooks if hook.selects(event)]

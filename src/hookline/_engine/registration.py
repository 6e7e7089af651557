"""A Python callable as a hook: what it commits to is read off its annotation."""

import types
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from hookline._core.answer import Word, listed
from hookline._core.decisions import DECISIONS
from hookline._core.effects import EFFECTS, Notify
from hookline._core.errors import UsageError
from hookline._core.hooks import Hook
from hookline._core.matchers import EVERYTHING, Matcher
from hookline._core.points import Event
from hookline._core.ports import Dialect
from hookline._core.rules import FailurePolicy
from hookline._core.targets import FunctionTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On which terms a handler is registered; see `HookEngine.on`."""

    match: Matcher
    timeout: float
    priority: int
    on_failure: FailurePolicy | None


def hook_from(
    handler: Callable[..., Any],
    event: type[Event],
    dialect: Dialect,
    number: int,
    terms: Terms,
) -> Hook:
    """The hook that *handler* becomes. Raises UsageError for what can never work at this point."""
    rule = dialect.rule(event.point.event)
    if rule is None:
        raise UsageError(f"{event.__name__} is not a hook point; see hookline.events for those that are")
    if not callable(handler):
        raise UsageError(f"a handler has to be callable, found {handler!r}; write @engine.on({event.__name__})")
    if not isinstance(terms.match, Matcher):
        raise UsageError(f"match= takes a matcher, such as names(...) or pattern(...), found {terms.match!r}")
    if terms.match is not EVERYTHING and not rule.has_subject:
        raise UsageError(f"{event.__name__} has nothing to match against: leave match= out")
    timeout: object = terms.timeout
    if not isinstance(timeout, int | float) or not timeout > 0:
        raise UsageError(f"timeout must be a number of seconds above 0, found {terms.timeout!r}")
    if objection := _objection(terms.priority, terms.on_failure):
        raise UsageError(objection)
    name = getattr(handler, "__qualname__", type(handler).__qualname__)
    commits = _committed(handler, rule.admits)
    if impossible := commits - rule.admits:
        raise UsageError(f"{name} is annotated to return {listed(impossible)}, which {event.point.name} cannot honour")
    return Hook(
        id=f"{dialect.name}:{event.point.name}[{number}]:{name}",
        key=f"{getattr(handler, '__module__', '')}.{name}",
        event=event,
        target=FunctionTarget(handler),
        dialect=dialect.name,
        matcher=terms.match,
        commits=commits,
        timeout=terms.timeout,
        priority=terms.priority,
        on_failure=terms.on_failure,
        label=name,
    )


def _objection(priority: object, on_failure: object) -> str:
    """What is wrong with two terms that are found out only when a hook is called, or fails."""
    if not isinstance(priority, int):
        return f"priority must be a whole number, lowest first, found {priority!r}"
    if on_failure is None or isinstance(on_failure, FailurePolicy):
        return ""
    known = ", ".join(f"FailurePolicy.{each.name}" for each in FailurePolicy)
    return f"on_failure= takes one of {known}, found {on_failure!r}"


_WORDS: frozenset[Any] = frozenset((*DECISIONS, *EFFECTS))


def _committed(handler: Callable[..., Any], admits: frozenset[Word]) -> frozenset[Word]:
    """The words in the return annotation; without one, or with Answer or Any in it, all that the point admits."""
    try:
        hints = typing.get_type_hints(handler)
    except Exception:  # noqa: BLE001  # resolving runs the annotation's text; one that cannot be resolved says nothing
        return admits
    if "return" not in hints:
        return admits
    words: set[Word] = set()
    for part in _parts(hints["return"]):
        if part is None or part is type(None):
            continue
        if part not in _WORDS:
            return admits
        words.add(part)
    return frozenset(words | {Notify}) if words else frozenset()


def _parts(annotation: Any) -> tuple[Any, ...]:
    """The members of a union; for an awaitable, those of what it comes to."""
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return tuple(part for member in arguments for part in _parts(member))
    if arguments and isinstance(origin, type) and issubclass(origin, Awaitable):
        return _parts(arguments[-1])  # Awaitable[T], and Coroutine[Y, S, T] too
    return (annotation,)

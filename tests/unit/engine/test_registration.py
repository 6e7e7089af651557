"""Handlers as hooks: what an annotation commits to, and what can never work."""

import functools
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated, Any, Optional

import pytest
from tests.engine_rig import EVENT, Rig, dialect, hook

import hookline._core.decisions as says
from hookline._core import events as ev
from hookline._core.answer import Answer
from hookline._core.decisions import Allow, Ask, Deny
from hookline._core.effects import AddContext, EndRun, Notify
from hookline._core.errors import UsageError
from hookline._core.hooks import Hook
from hookline._core.matchers import names
from hookline._core.points import Event
from hookline._engine.engine import HookEngine

ALL = ev.BeforeToolCall.point.admits


def silent(event: Event) -> None: ...
def denies(event: Event) -> Deny: ...
def may_deny(event: Event) -> Deny | None: ...
def may_deny_of_old(event: Event) -> Optional[Deny]: ...  # noqa: UP045  # the form that older code has
def denies_or_asks(event: Event) -> Deny | Ask | AddContext | None: ...
def in_text(event: "Event") -> "Deny | None": ...
def silent_in_text(event: Event) -> "None": ...
def noted(event: Event) -> Annotated[Deny, "a note"] | None: ...
def answers_freely(event: Event) -> Answer: ...
def answers_or_denies(event: Event) -> Answer | Deny | None: ...
def anything(event: Event) -> Any: ...
def unannotated(event): ...
def foreign(event: Event) -> Deny | str: ...
def unknown(event: Event) -> "Deny | Undefined": ...  # noqa: F821
def missing(event: Event) -> "says.Refuse": ...
def no_expression(event: Event) -> "what it finds": ...  # noqa: F722
def later(event: Event) -> Awaitable[Deny | None]: ...
def silent_later(event: Event) -> Awaitable[None]: ...
async def may_deny_async(event: Event) -> Deny | None: ...
async def silent_async(event: Event) -> None: ...


class Guard:
    """A callable that is no function."""

    def __call__(self, event: Event) -> Deny | None: ...

    def method(self, event: Event) -> Deny | None: ...


def committed_by(handler: Callable[..., Any], event: type[Event] = ev.BeforeToolCall) -> Hook:
    rig = Rig()
    rig.engine.on(event)(handler)
    (made,) = rig.engine.hooks()
    return made


@pytest.mark.parametrize(
    ("handler", "commits"),
    [
        pytest.param(silent, set(), id="None makes an observer"),
        pytest.param(silent_async, set(), id="None of a coroutine function too"),
        pytest.param(silent_in_text, set(), id="None as text"),
        pytest.param(denies, {Deny, Notify}, id="a decision"),
        pytest.param(may_deny, {Deny, Notify}, id="a decision or None"),
        pytest.param(may_deny_async, {Deny, Notify}, id="a coroutine function"),
        pytest.param(may_deny_of_old, {Deny, Notify}, id="Optional"),
        pytest.param(in_text, {Deny, Notify}, id="annotations as text"),
        pytest.param(noted, {Deny, Notify}, id="Annotated"),
        pytest.param(denies_or_asks, {Deny, Ask, AddContext, Notify}, id="several words"),
        pytest.param(later, {Deny, Notify}, id="an awaitable's argument"),
        pytest.param(silent_later, set(), id="an awaitable of None"),
        pytest.param(Guard().method, {Deny, Notify}, id="a method"),
        pytest.param(answers_freely, ALL, id="Answer is all that the point admits"),
        pytest.param(answers_or_denies, ALL, id="Answer in a union too"),
        pytest.param(anything, ALL, id="Any"),
        pytest.param(unannotated, ALL, id="no annotation"),
        pytest.param(foreign, ALL, id="a type that is no word"),
        pytest.param(unknown, ALL, id="a name that cannot be resolved"),
        pytest.param(missing, ALL, id="an attribute that cannot be resolved"),
        pytest.param(no_expression, ALL, id="text that is no annotation"),
        pytest.param(functools.partial(may_deny), ALL, id="a partial has no annotation"),
        pytest.param(Guard(), ALL, id="nor has a callable object"),
    ],
)
def test_a_handler_commits_to_what_its_annotation_says(handler: Callable[..., Any], commits: set[type]) -> None:
    """What a handler may say is what its return annotation lists; without a usable one, all that the point admits."""
    assert committed_by(handler).commits == frozenset(commits)


def test_an_annotation_that_cannot_be_honoured_is_refused() -> None:
    """A handler that says it will answer with what the point cannot honour is refused, the words and point named."""
    rig = Rig()

    def ends(event: Event) -> EndRun | Allow | Deny: ...

    with pytest.raises(UsageError, match=r"to return Allow, EndRun, which before_tool_call cannot honour"):
        rig.engine.on(ev.BeforeToolCall)(ends)
    assert rig.engine.hooks() == ()


@pytest.mark.parametrize(
    "event",
    [pytest.param(each, id=each.__name__) for each in (ev.BeforeRun, ev.StepEnd, ev.BeforeRunEnd, ev.AfterToolBatch)],
)
def test_there_is_no_matching_without_a_subject(event: type[Event]) -> None:
    """A matcher at a point that has nothing to match against is refused: its hook would never run (B-25)."""
    rig = Rig()

    with pytest.raises(UsageError, match="nothing to match against"):
        rig.engine.on(event, match=names("bash"))(unannotated)


@pytest.mark.parametrize(
    "timeout",
    [pytest.param(each, id=str(each)) for each in (0, 0.0, -1.0, float("-inf"), float("nan"))],
)
def test_a_timeout_leaves_time(timeout: float) -> None:
    """A handler that would time out before it began is refused."""
    rig = Rig()

    with pytest.raises(UsageError, match="above 0"):
        rig.engine.on(ev.BeforeToolCall, timeout=timeout)(unannotated)


def test_only_hook_points_have_hooks() -> None:
    """A handler for a class of events that is no hook point is refused: nothing ever fires it (B-25)."""
    rig = Rig()

    with pytest.raises(UsageError, match="not a hook point"):
        rig.engine.on(Event)(unannotated)


def test_a_point_that_the_dialect_lacks_has_no_handlers() -> None:
    """A handler for a point that the dialect of handlers does not fire is refused (B-25)."""
    of = dialect()
    rig = Rig(of=replace(of, rules={ev.BeforeRun: of.rules[ev.BeforeRun]}))

    with pytest.raises(UsageError, match="not a hook point"):
        rig.engine.on(ev.BeforeToolCall)(unannotated)


@pytest.mark.parametrize(
    "astray",
    [
        pytest.param(hook("a", dialect="unheard of"), id="of a dialect that is not asked"),
        pytest.param(hook("a", event=ev.StepEnd), id="at a point that its dialect lacks"),
        pytest.param(hook("a", event=Event, commits=frozenset()), id="at no point"),
    ],
)
def test_a_hook_that_would_never_run_is_refused(astray: Hook) -> None:
    """An engine is not built with a hook that it cannot fire: a guard that never runs must not look like one (B-25)."""
    of = dialect()
    rules = {event: rule for event, rule in of.rules.items() if event is not ev.StepEnd}

    with pytest.raises(UsageError):
        Rig(astray, of=replace(of, rules=rules))


def test_a_handler_of_a_dialect_that_is_not_asked_is_refused() -> None:
    """Handlers belong to a dialect that the engine asks, or the engine says so."""
    with pytest.raises(UsageError):
        HookEngine(dialects=[dialect("asked")], in_code=dialect("another"), adapters={})


def test_two_hooks_of_one_name_are_refused() -> None:
    """Ids are unique in an engine: decisions, effects and outcomes are told apart by them."""
    with pytest.raises(UsageError):
        Rig(hook("a"), hook("a"))


def test_handlers_of_one_name_are_told_apart() -> None:
    """Registering the same handler twice makes two hooks, each with an id of its own."""
    rig = Rig()
    for _ in range(2):
        rig.engine.on(ev.BeforeToolCall)(may_deny)

    assert len({each.id for each in rig.engine.hooks()}) == 2


def test_registering_gives_the_handler_back() -> None:
    """The decorated name still is the callable that was decorated."""
    assert Rig().engine.on(ev.BeforeToolCall)(may_deny) is may_deny


async def test_a_handler_that_is_registered_late_is_asked_from_then_on() -> None:
    """An engine that has fired an event already asks handlers that come later."""
    rig = Rig(hook("a"))
    assert len((await rig.dispatch()).outcomes) == 1
    rig.engine.on(ev.BeforeToolCall)(may_deny)

    assert len(rig.engine.preview(EVENT)) == 2


@pytest.mark.parametrize(
    ("terms", "found"),
    [
        pytest.param({"on_failure": "deny"}, "takes one of FailurePolicy.IGNORE, FailurePolicy.DENY", id="a policy"),
        pytest.param({"on_failure": True}, "found True", id="a truth value"),
        pytest.param({"priority": "first"}, "a whole number, lowest first, found 'first'", id="a priority"),
    ],
)
def test_terms_of_the_wrong_kind_are_refused(terms: dict[str, Any], found: str) -> None:
    """What would let a guard's failure through, or break where hooks are put in order, is said at once."""
    rig = Rig()

    with pytest.raises(UsageError, match=found):
        rig.engine.on(ev.BeforeToolCall, **terms)(unannotated)

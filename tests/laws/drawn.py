"""What Hypothesis draws for the laws: events, what hooks say there, hooks and their outcomes.

The strategies of a point are made once: making one costs more than drawing from it.
"""

from dataclasses import replace
from functools import cache, partial
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from tests.engine_rig import TOO_LARGE, Puppet, hook, observer

from hookline._core.answer import NOTHING, Answer
from hookline._core.decisions import DECISIONS, Decision
from hookline._core.effects import AddContext, AddFeedback, Effect, EndRun, Notify, Reopen, RewriteInput
from hookline._core.events import AfterToolCall, BeforeRun, BeforeRunEnd, BeforeToolCall, PermissionRequest, StepEnd
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import CallFailed, Refused
from hookline._core.points import Event
from hookline._core.reasons import Failure, Skip
from hookline._core.rules import FailurePolicy, Strategy

# How long an example takes on a machine with other work is no part of any law.
LAW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ON_PAPER = settings(LAW, max_examples=100)
THOROUGHLY = settings(LAW, max_examples=250)

EVENTS: tuple[Event, ...] = (
    BeforeToolCall(tool_name="bash", input={"command": "ls"}),
    PermissionRequest(tool_name="bash", input={"command": "ls"}),
    AfterToolCall(tool_name="bash", input={"command": "ls"}, response="a.txt"),
    BeforeRun(prompt="fix the build"),
    StepEnd(),
    BeforeRunEnd(),
)

MADE: dict[type[Effect], Any] = {
    AddContext: AddContext,
    AddFeedback: AddFeedback,
    RewriteInput: lambda text: RewriteInput({"command": text}),
    Notify: Notify,
    EndRun: EndRun,
    Reopen: Reopen,
}

TEXTS = ("a", "b", "c")  # few, so that two hooks often say the same

events = st.sampled_from(EVENTS)
policies = st.sampled_from(FailurePolicy)
strategies = st.sampled_from([Strategy.PARALLEL, Strategy.CHAIN])  # the sequence has laws of its own

failures = [CallFailed(why=why, detail=why.value) for why in Failure]
silences = st.sampled_from([*failures, RuntimeError("a broken adapter"), TOO_LARGE])


def answers(event: Event) -> st.SearchStrategy[Answer]:
    """Anything that may be answered at the event's point."""
    return _answers(type(event))


@cache
def _answers(event: type[Event]) -> st.SearchStrategy[Answer]:
    decided = [kind(text) for kind in DECISIONS if kind in event.point.admits for text in TEXTS]
    decisions: list[Decision | None] = [None] * max(len(decided), 1) + decided
    effects = [made(text) for kind, made in MADE.items() if kind in event.point.admits for text in TEXTS]
    lists = st.lists(st.sampled_from(effects), unique_by=type, max_size=3)
    return st.builds(Answer, st.sampled_from(decisions), lists.map(tuple))


def hooks(event: Event, *, least: int = 0) -> st.SearchStrategy[list[Hook]]:
    """Hooks at the event's point that answer, abstain, fail, crash or are never called, observers among them."""
    return _hooks(type(event), least)


@cache
def _hooks(event: type[Event], least: int) -> st.SearchStrategy[list[Hook]]:
    said = st.one_of(_answers(event), _answers(event), st.none(), silences)
    policy = said.map(lambda says: hook("?", says, event))
    watching = st.one_of(st.none(), silences).map(lambda says: observer("?", says, event))
    drawn = st.builds(
        lambda made, priority, on_failure: replace(made, priority=priority, on_failure=on_failure),
        st.one_of(policy, policy, watching),
        st.integers(-1, 1),
        st.sampled_from([None, None, None, *FailurePolicy]),
    )
    return st.lists(drawn, min_size=least, max_size=5).map(_numbered)


def _numbered(drawn: list[Hook]) -> list[Hook]:
    return [replace(each, id=f"hook {number}") for number, each in enumerate(drawn)]


def outcomes(event: Event, *, least: int = 0) -> st.SearchStrategy[list[Outcome]]:
    """The outcomes of drawn hooks, as calling them would have it; some are cut off behind a Deny elsewhere."""
    return _outcomes(type(event), least)


@cache
def _outcomes(event: type[Event], least: int) -> st.SearchStrategy[list[Outcome]]:
    cut_off = st.sampled_from([None, None, None, Skip.DENIED_EARLIER])
    made = _hooks(event, least)
    return made.flatmap(lambda drawn: st.tuples(*(cut_off.map(partial(_outcome, each)) for each in drawn)).map(list))


def _outcome(hook: Hook, skip: Skip | None) -> Outcome:
    assert isinstance(hook.target, Puppet)
    says = hook.target.says
    if skip is not None or isinstance(says, Refused):
        return Outcome(hook=hook, kind=Kind.SKIPPED, why=skip or says.why)
    if isinstance(says, CallFailed):
        return Outcome(hook=hook, kind=Kind.FAILED, why=says.why, detail=says.detail)
    if isinstance(says, Exception):
        return Outcome(hook=hook, kind=Kind.FAILED, why=Failure.CRASHED, detail=str(says))
    return Outcome(hook=hook, kind=Kind.ANSWERED, answer=says or NOTHING)

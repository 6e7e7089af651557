"""Laws of authority: an answer holds what its hook may say at its point, or counts for nothing as a whole."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine_rig import FAILED, PARALLEL, Rig, dialect, hook, observer, verdict
from tests.laws import drawn

from hookline._core.answer import Answer
from hookline._core.decisions import Allow, Deny
from hookline._core.effects import AddContext, EndRun, Notify, RewriteInput
from hookline._core.errors import UsageError
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline._core.rules import FailurePolicy, Strategy


@st.composite
def answers(draw: st.DrawFn) -> tuple[Event, Answer, frozenset[Any], frozenset[Any]]:
    """An event, an answer that its point can honour, what the hook commits and what its dialect does without."""
    event = draw(drawn.events)
    words = st.frozensets(st.sampled_from(sorted(event.point.admits, key=lambda word: word.__name__)))
    return event, draw(drawn.answers(event)), draw(words), draw(words)


@drawn.LAW
@given(answers(), drawn.strategies)
async def test_an_answer_counts_whole_or_not_at_all(
    case: tuple[Event, Answer, frozenset[Any], frozenset[Any]], strategy: Strategy
) -> None:
    """An answer is admitted if its hook commits and its point admits every word of it; else nothing of it counts."""
    event, answer, wants, without = case
    commits = wants - without
    rig = Rig(hook("a", answer, type(event), commits=commits), of=dialect(strategy=strategy, without=without))
    resolution = await rig.dispatch(event)

    (outcome,) = resolution.outcomes
    if answer.words() <= commits:
        assert (outcome.kind, outcome.answer) == (Kind.ANSWERED, answer)
        assert resolution.decision == answer.decision
        assert tuple(each.effect for each in resolution.applied) + tuple(
            each.what for each in resolution.ignored
        ) == _counting(answer)
    else:
        assert (outcome.kind, outcome.why, outcome.answer) == (Kind.FAILED, Failure.NOT_ADMITTED, None)
        assert verdict(resolution) == (None, None, (), event, None)
        assert resolution.ignored == ()


def _counting(answer: Answer) -> tuple[Any, ...]:
    """What counts of an admitted answer, then what a Deny of its own drops: all but messages to the person."""
    if not isinstance(answer.decision, Deny):
        return answer.effects
    kept = tuple(each for each in answer.effects if isinstance(each, Notify))
    return (*kept, *(type(each) for each in answer.effects if not isinstance(each, Notify)))


@pytest.mark.parametrize(
    ("answer", "commits", "detail"),
    [
        pytest.param(
            Answer(Deny("no"), (AddContext("why"),)),
            {Deny},
            "this hook may not answer with AddContext",
            id="an effect too many",
        ),
        pytest.param(
            Answer(Deny("no"), (AddContext("why"),)),
            {AddContext},
            "this hook may not answer with Deny",
            id="a decision too many",
        ),
        pytest.param(
            Answer(Allow(), (EndRun(),)),
            {Deny},
            "before_tool_call cannot honour Allow, EndRun",
            id="the point cannot honour it",
        ),
    ],
)
async def test_what_was_too_much_is_named(answer: Answer, commits: set[type], detail: str) -> None:
    """The detail of a discarded answer names the words that it could not hold."""
    resolution = await Rig(hook("a", answer, commits=frozenset(commits))).dispatch()

    assert resolution.outcomes[0].why is Failure.NOT_ADMITTED
    assert resolution.outcomes[0].detail == detail


@pytest.mark.parametrize(
    ("made", "found"),
    [
        pytest.param(hook("a", commits=frozenset({Allow})), "commits to Allow, which before_", id="impossible"),
        pytest.param(
            hook("a", commits=frozenset({Deny}), background=True), "in the background, where Deny", id="too late"
        ),
        pytest.param(
            hook("a", fallback=hook("b", commits=frozenset({EndRun}))), "hook b commits to EndRun", id="a fallback"
        ),
    ],
)
def test_a_hook_that_nobody_would_hear_is_refused(made: Hook, found: str) -> None:
    """A guard that could never guard is an error of whoever configures it, not a hook that runs for nothing."""
    with pytest.raises(UsageError, match=found):
        Rig(made)


async def test_saying_nothing_is_always_admitted() -> None:
    """A hook that commits nothing may still say nothing, in either form."""
    for nothing in (None, Answer()):
        resolution = await Rig(observer("a", nothing)).dispatch()
        assert resolution.outcomes[0].ok


@pytest.mark.parametrize(
    ("commits", "policy", "strict", "denied"),
    [
        pytest.param({Deny}, FailurePolicy.DENY, False, True, id="a guard under deny"),
        pytest.param({Deny}, FailurePolicy.IGNORE, False, False, id="a guard under ignore"),
        pytest.param({Deny}, FailurePolicy.IGNORE, True, True, id="a guard, strictly"),
        pytest.param({Deny}, FailurePolicy.FAIL_RUN, False, True, id="a guard under fail_run"),
        pytest.param({AddContext}, FailurePolicy.DENY, True, False, id="no guard, strictly"),
        pytest.param({AddContext}, FailurePolicy.FAIL_RUN, False, True, id="no guard under fail_run"),
    ],
)
async def test_a_discarded_answer_is_a_failure_like_any_other(
    commits: set[type], policy: FailurePolicy, *, strict: bool, denied: bool
) -> None:
    """What follows from an answer that is not admitted is what follows from any failure of its hook."""
    for says_too_much in (RewriteInput({}), FAILED):
        made = hook("a", says_too_much, commits=frozenset(commits))
        rig = Rig(made, of=dialect(on_failure=policy), strict=strict)
        assert (await rig.dispatch()).denied is denied


async def test_a_deny_out_of_turn_denies_nothing() -> None:
    """An observer that denies is discarded: what may not be said is not half heard."""
    for of in (dialect(), PARALLEL):
        resolution = await Rig(observer("a", Deny("no")), of=of).dispatch()
        assert not resolution.denied


@pytest.mark.parametrize(
    "nonsense",
    [
        pytest.param({"decision": "deny"}, id="a dict"),
        pytest.param(42, id="a number"),
        pytest.param(Answer(decision="deny"), id="a decision that is text"),
        pytest.param(Answer(effects=("text",)), id="an effect that is text"),
        pytest.param(Answer(effects=AddContext("the comma is missing")), id="an effect outside a tuple"),
        pytest.param(Answer(effects=None), id="no effects, not even none"),
        pytest.param(RewriteInput("ls"), id="an input that is text"),
        pytest.param(RewriteInput(None), id="no input"),
        pytest.param(AddContext(None), id="context without text"),
        pytest.param(Notify(42), id="a message that is a number"),
    ],
)
async def test_an_answer_of_nonsense_is_a_failure(nonsense: Any) -> None:
    """What cannot be read as decision and effects makes its hook fail, and a guard that failed denies (F-12)."""
    resolution = await Rig(hook("a", nonsense), of=dialect(on_failure=FailurePolicy.DENY)).dispatch()

    assert resolution.denied
    assert resolution.outcomes[0].why in {Failure.MALFORMED_ANSWER, Failure.NOT_ADMITTED}

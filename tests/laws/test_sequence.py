"""Laws of the sequence: one after the other by priority, the background alike, and nothing but a failure ends it."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine_rig import FAILED, TOO_LARGE, Rig, background, dialect, hook, idle, observer, verdict
from tests.laws import drawn

from hookline._core.decisions import Allow, Ask, Deny
from hookline._core.events import BeforeToolCall, InputAccepted
from hookline._core.hooks import Hook
from hookline._core.inputs import InputKind
from hookline._core.outcomes import Kind
from hookline._core.payload import CallFailed, Refused
from hookline._core.points import Event, Origin
from hookline._core.reasons import Failure, Skip
from hookline._core.resolution import Ignored
from hookline._core.rules import Strategy
from hookline.dialects._base import TableDialect

FACT = InputAccepted(input_id="i", input_kind=InputKind.PROMPT, origin=Origin(session_id="one"))
UNCHANGED = "it has happened"

RULES = dialect(strategy=Strategy.CHAIN)


def discarding(of: TableDialect, **terms: object) -> TableDialect:
    """*of*, in which the fact is told in sequence, and decisions on it come too late. Elsewhere it is as it was."""
    settled = {"strategy": Strategy.SEQUENCE, "discards": {Allow: "", Deny: UNCHANGED}, **terms}
    rule = replace(of.rules[InputAccepted], **settled)  # type: ignore[arg-type]  # fields of a rule
    return replace(of, rules={**of.rules, InputAccepted: rule})


SEQUENCE = discarding(RULES)

says = st.one_of(st.none(), st.just(Deny("no")), st.just(Allow()), st.just(Ask("sure?")), drawn.silences)


def told(name: str, said: object = None, **terms: object) -> Hook:
    """A hook that is told of the fact."""
    return observer(name, said, InputAccepted, **terms)


@st.composite
def hooks(draw: st.DrawFn) -> list[Hook]:
    """Hooks of the fact, in the foreground and in the background, that answer, object, fail or are never called."""
    return [
        told(f"hook {number}", draw(says), priority=draw(st.integers(-2, 2)), background=draw(st.booleans()))
        for number in range(draw(st.integers(0, 6)))
    ]


def in_order(hooks: list[Hook]) -> list[str]:
    return [each.id for each in sorted(hooks, key=lambda each: each.priority)]


def is_failing(each: Hook) -> bool:
    said = each.target.says  # type: ignore[attr-defined]  # a Puppet
    return isinstance(said, CallFailed | Refused | Exception | Ask)  # no Ask is admitted, and none is discarded


@drawn.LAW
@given(hooks())
async def test_order_is_priority_then_registration(drawn_hooks: list[Hook]) -> None:
    """Outcomes stand by ascending priority, ties as registered, whether a hook is in the background or not."""
    rig = Rig(*drawn_hooks, of=SEQUENCE)
    resolution = await rig.dispatch(FACT)

    assert in_order(drawn_hooks) == [outcome.hook.id for outcome in resolution.outcomes]
    assert in_order(drawn_hooks) == [each.id for each in rig.engine.hooks()]
    assert in_order(drawn_hooks) == [each.id for each in rig.engine.preview(FACT)]


@drawn.LAW
@given(hooks())
async def test_the_first_failure_ends_it_and_nothing_else_does(drawn_hooks: list[Hook]) -> None:
    """Up to the first that fails, or whose payload is too large, all are called; those behind it are skipped."""
    rig = Rig(*drawn_hooks, of=SEQUENCE)
    resolution = await rig.dispatch(FACT)

    by_id = {each.id: each for each in drawn_hooks}
    ordered = [by_id[name] for name in in_order(drawn_hooks)]
    first = next((place for place, each in enumerate(ordered) if is_failing(each)), len(ordered))
    called = [each.id for each in ordered[: first + 1] if not isinstance(each.target.says, Refused)]  # type: ignore[attr-defined]
    assert called == rig.puppets.names
    behind = [(each.id, Skip.FAILED_EARLIER) for each in ordered[first + 1 :]]
    assert behind == [(outcome.hook.id, outcome.why) for outcome in resolution.outcomes[first + 1 :]]
    assert all(outcome.kind is Kind.ANSWERED for outcome in resolution.outcomes[:first])


@drawn.LAW
@given(hooks(), st.booleans())
async def test_nothing_that_is_said_denies(drawn_hooks: list[Hook], strict: bool) -> None:
    """Decisions that come too late never count: what is worth telling is told as ignored, in order, and no more."""
    rig = Rig(*drawn_hooks, of=SEQUENCE, strict=strict)
    resolution = await rig.dispatch(FACT)

    assert not resolution.denied
    assert verdict(resolution) == (None, None, (), FACT, None)
    denied = [
        outcome.hook.id
        for outcome in resolution.outcomes
        if outcome.answer is not None and isinstance(outcome.answer.decision, Deny)
    ]
    assert tuple(Ignored(name, Deny, UNCHANGED) for name in denied) == resolution.ignored


@drawn.LAW
@given(hooks())
async def test_nothing_is_launched(drawn_hooks: list[Hook]) -> None:
    """Nothing runs behind the caller's back: when the dispatch has ended, every hook has."""
    rig = Rig(*drawn_hooks, of=SEQUENCE)
    resolution = await rig.dispatch(FACT)

    assert () == resolution.launched
    assert 0 == rig.puppets.running
    assert rig.puppets.most <= 1


async def test_one_at_a_time() -> None:
    """A hook is called when the one before it has ended, no sooner, in the background too."""
    rig = Rig(told("a", held=True, background=True), told("b", held=True), of=SEQUENCE)
    dispatching = rig.dispatching(FACT)
    await rig.puppets.started("a")
    await idle()

    assert ["a"] == rig.puppets.names
    await rig.puppets.finish("a")
    await rig.puppets.started("b")
    await rig.puppets.finish("b")
    await dispatching


async def test_a_skipped_one_is_told_which_failed() -> None:
    """Whoever was not told of the fact can read because of whom."""
    resolution = await Rig(told("a", FAILED), told("b"), told("c", TOO_LARGE), of=SEQUENCE).dispatch(FACT)

    assert [("b", "a failed before"), ("c", "a failed before")] == [
        (outcome.hook.id, outcome.detail) for outcome in resolution.outcomes[1:]
    ]


async def test_a_word_that_is_not_discarded_is_a_failure() -> None:
    """Only the words that the rule discards are taken and dropped; any other is not admitted, as everywhere."""
    resolution = await Rig(told("a", Ask("sure?")), told("b", Deny("no")), of=SEQUENCE).dispatch(FACT)

    assert [Failure.NOT_ADMITTED, Skip.FAILED_EARLIER] == [outcome.why for outcome in resolution.outcomes]
    assert () == resolution.ignored


async def test_cancelling_ends_the_sequence() -> None:
    """A cancelled sequence cancels the call that runs, and calls nobody after it."""
    rig = Rig(told("a", held=True), told("b"), of=SEQUENCE)
    dispatching = rig.dispatching(FACT)
    await rig.puppets.started("a")

    dispatching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dispatching
    assert ["a"] == rig.puppets.names
    assert 0 == rig.puppets.running


async def test_other_points_of_the_dialect_go_their_own_way() -> None:
    """A rule's strategy is that of its point alone: elsewhere the dialect's holds, and a Deny ends the chain."""
    rig = Rig(hook("guard", Deny("no")), hook("other"), told("a", Deny("no")), told("b"), of=SEQUENCE)

    assert (await rig.dispatch()).denied
    assert ["guard"] == rig.puppets.names
    await rig.dispatch(FACT)
    assert ["guard", "a", "b"] == rig.puppets.names


@pytest.mark.parametrize("event", [FACT, BeforeToolCall(tool_name="bash", input={})], ids=["fact", "call"])
async def test_a_hook_of_two_points_has_its_place_at_each(event: Event) -> None:
    """What is also called elsewhere is placed by the strategy of the point at hand, not of its first one.

    In sequence a background hook goes by its priority; in the chain it follows the end.
    """
    later = observer("later", None, BeforeToolCall, also=(InputAccepted,), priority=1)
    first = background("first", None, BeforeToolCall, also=(InputAccepted,), priority=0)
    rig = Rig(later, first, of=SEQUENCE)
    await rig.dispatch(event)
    await rig.engine.drain("one", 60.0)

    assert (["first", "later"] if event is FACT else ["later", "first"]) == rig.puppets.names


async def test_a_failure_of_one_fact_keeps_nobody_from_the_next() -> None:
    """Each fact is told anew: a hook behind one that failed is called at the next."""
    broken: list[object] = [FAILED, None]

    def say(event: Event) -> object:
        return broken.pop(0)

    rig = Rig(told("a", say), told("b"), of=SEQUENCE)
    for _ in range(2):
        await rig.dispatch(FACT)
    assert ["a", "a", "b"] == rig.puppets.names

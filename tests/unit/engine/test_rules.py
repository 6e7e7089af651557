"""What a rule and a hook say of themselves, and what the engine makes of it."""

from dataclasses import replace
from typing import Any

import pytest
from tests.engine_rig import CHAIN, EVENT, FAILED, PARALLEL, SERIAL, Rig, background, dialect, hook, observer

from hookline._core.decisions import Ask, Deny
from hookline._core.errors import UsageError
from hookline._core.events import AfterToolBatch, AfterToolCall, BeforeRun, BeforeToolCall, StepEnd, ToolCallFailed
from hookline._core.outcomes import Kind
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline._core.records import HookStarted
from hookline._core.resolution import Resolution
from hookline._core.rules import FailurePolicy, Strategy
from hookline.dialects._base import TableDialect

DONE = AfterToolCall(tool_name="bash", input={"command": "ls"}, response="a.txt")
BROKEN = ToolCallFailed(tool_name="bash", input={"command": "ls"}, error="no")


def ruled(of: TableDialect, event: type[Event] = BeforeToolCall, **terms: Any) -> TableDialect:
    """*of*, whose rule of *event* has these *terms*."""
    return replace(of, rules={**of.rules, event: replace(of.rules[event], **terms)})


# Rule.occurs


def only_ls(event: BeforeToolCall) -> bool:
    return bool(event.input == {"command": "ls"})


@pytest.mark.parametrize("of", [CHAIN, PARALLEL], ids=["chain", "parallel"])
async def test_an_occurrence_that_is_not_the_dialects_reaches_nobody(of: TableDialect) -> None:
    """Where the rule says that it is none of its point, no hook of the dialect is selected, observers included."""
    rig = Rig(hook("a", Deny("no")), observer("b"), background("c"), of=ruled(of, occurs=only_ls))
    other = replace(EVENT, input={"command": "rm"})

    assert Resolution(event=other) == await rig.dispatch(other)
    assert () == rig.engine.preview(other)
    assert [] == rig.puppets.names
    assert (await rig.dispatch(EVENT)).denied


async def test_what_occurs_is_each_dialects_own_say() -> None:
    """A rule that does not know an occurrence keeps the hooks of no other dialect from it."""
    rig = Rig(
        hook("a", Deny("a"), dialect="one"),
        hook("b", Deny("b"), dialect="two"),
        of=(ruled(dialect("one"), occurs=lambda _: False), dialect("two")),
    )
    resolution = await rig.dispatch()

    assert ("b", ["b"]) == (resolution.decided_by, rig.puppets.names)


# Hook.also


async def test_a_hook_is_called_at_each_of_its_points() -> None:
    """At the first and at every further one, and at none besides; it stands once among the hooks."""
    rig = Rig(observer("a", None, AfterToolCall, also=(ToolCallFailed, StepEnd)))
    for event in (DONE, BROKEN, StepEnd(), EVENT, BeforeRun(prompt="go")):
        await rig.dispatch(event)

    assert [DONE, BROKEN, StepEnd()] == [call.event for call in rig.puppets.calls]
    assert ["a"] == [each.id for each in rig.engine.hooks()]
    assert (AfterToolCall, ToolCallFailed, StepEnd) == rig.engine.hooks()[0].events


async def test_a_hook_of_two_points_keeps_its_place_among_others() -> None:
    """At a further point it is asked by its priority, and before those that were registered after it."""
    rig = Rig(
        hook("first", None, ToolCallFailed, priority=-1),
        observer("a", None, AfterToolCall, also=(ToolCallFailed,)),
        hook("last", None, ToolCallFailed),
    )
    await rig.dispatch(BROKEN)

    assert ["first", "a", "last"] == rig.puppets.names


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (
            {"event": StepEnd, "also": (AfterToolBatch,), "commits": frozenset({Ask})},
            "hook a commits to Ask, which step_end and after_tool_batch cannot honour",
        ),
        ({"also": (Event,)}, "hook a is for Event, which is no hook point"),
    ],
    ids=["more than it can honour", "no point"],
)
def test_a_further_point_is_checked_like_the_first(terms: dict[str, Any], words: str) -> None:
    """What the hook commits to has to be heard at one of its points, and each has to be one."""
    with pytest.raises(UsageError, match=words):
        Rig(replace(hook("a"), **terms))


async def test_a_word_counts_only_where_its_point_honours_it() -> None:
    """A hook may commit to what one of its points honours; at the others that word is not admitted."""
    rig = Rig(hook("a", Deny("no"), also=(AfterToolBatch,), commits=frozenset({Deny})))

    assert (await rig.dispatch(EVENT)).denied
    resolution = await rig.dispatch(AfterToolBatch())
    assert not resolution.denied
    assert [Failure.NOT_ADMITTED] == [each.why for each in resolution.outcomes]


def test_a_further_point_that_the_dialect_lacks_is_an_error() -> None:
    """A hook that would never run at one of its points is not taken."""
    of = replace(CHAIN, rules={event: rule for event, rule in CHAIN.rules.items() if event is not StepEnd})
    with pytest.raises(UsageError, match="hook a is for step_end, which test does not have"):
        Rig(observer("a", also=(StepEnd,)), of=of)


# Hook.output_bytes


async def test_a_hooks_own_cap_comes_before_its_dialects() -> None:
    """The limits of a call hold the hook's own number of bytes where it has one, none included, and else the other."""
    of = replace(CHAIN, output_bytes=100)
    rig = Rig(hook("own", output_bytes=7), hook("none", output_bytes=0), hook("usual"), of=of)
    await rig.dispatch()

    assert {"own": 7, "none": 0, "usual": 100} == {call.name: call.limits.output_bytes for call in rig.puppets.calls}


# Rule.deny_fails and Hook.deny_fails


@pytest.mark.parametrize(
    ("rule", "own", "fails"),
    [
        (False, None, False),
        (True, None, True),
        (False, True, True),
        (True, False, False),
    ],
    ids=["neither", "rule", "hook", "hook says no"],
)
async def test_whether_a_denial_fails_the_run(rule: bool, own: bool | None, fails: bool) -> None:
    """The hook's word counts before its rule's."""
    resolution = await Rig(hook("a", Deny("no"), deny_fails=own), of=ruled(CHAIN, deny_fails=rule)).dispatch()

    assert (True, fails) == (resolution.denied, resolution.deny_fails)


@pytest.mark.parametrize("says", [None, Ask("sure?"), FAILED], ids=["nothing", "ask", "failed"])
async def test_only_a_denial_fails_by_it(says: Any) -> None:
    """An answer that denies nothing, and a failure that is ignored, fail no run."""
    resolution = await Rig(hook("a", says, deny_fails=True), of=ruled(CHAIN, deny_fails=True)).dispatch()

    assert not resolution.deny_fails


async def test_the_denial_that_counts_is_asked() -> None:
    """Of two denials the first decides, also about what becomes of the run."""
    hooks = hook("a", Deny("a"), deny_fails=False), hook("b", Deny("b"), deny_fails=True)

    assert not (await Rig(*hooks, of=PARALLEL).dispatch()).deny_fails
    assert (await Rig(*reversed(hooks), of=PARALLEL).dispatch()).deny_fails


async def test_a_failure_that_denies_goes_by_the_same_words() -> None:
    """A guard that fails and so denies ends the run as failed where its denial would."""
    of = ruled(dialect(on_failure=FailurePolicy.DENY), deny_fails=True)
    resolution = await Rig(hook("a", FAILED), of=of).dispatch()

    assert (True, True) == (resolution.denied, resolution.deny_fails)


# Resolution.launched


@pytest.mark.parametrize("strategy", [Strategy.CHAIN, Strategy.PARALLEL], ids=lambda strategy: strategy.value)
async def test_background_hooks_that_were_sent_are_named(strategy: Strategy) -> None:
    """Those that were sent on their way stand in the resolution in their order, ended or not, and have no outcome."""
    rig = Rig(background("b", held=True), hook("a"), background("c"), of=dialect(strategy=strategy))
    resolution = await rig.dispatch()

    assert ["b", "c"] == [each.id for each in resolution.launched]
    assert ["a"] == [outcome.hook.id for outcome in resolution.outcomes]
    assert [resolution] == rig.account.dispatched()
    await rig.engine.aclose()


async def test_one_that_finds_no_place_is_not_launched() -> None:
    """A hook that its lane did not take was never sent, and its end says so."""
    full = replace(SERIAL, queue=0)
    rig = Rig(background("a", held=True), background("b"), of=dialect(lane=full))
    resolution = await rig.dispatch()

    assert ["a"] == [each.id for each in resolution.launched]
    assert "b" in [outcome.hook.id for outcome in rig.account.ended()]
    await rig.engine.aclose()


async def test_behind_a_denial_nothing_is_launched_where_nothing_was_promised() -> None:
    """Cut off in the background is not sent; promised, it is."""
    hooks = hook("a", Deny("no")), background("b")
    for promised in (True, False):
        rig = Rig(*hooks, of=dialect(observers_after_deny=promised))
        resolution = await rig.dispatch()
        assert (["b"] if promised else []) == [each.id for each in resolution.launched]
        await rig.engine.aclose()


async def test_the_launched_of_all_dialects_are_named() -> None:
    """Each dialect's own stand behind those of the dialects that were asked before it."""
    rig = Rig(
        background("b", dialect="two"),
        background("a", dialect="one"),
        of=(dialect("one"), dialect("two")),
    )
    resolution = await rig.dispatch()

    assert ["a", "b"] == [each.id for each in resolution.launched]
    await rig.engine.drain(EVENT.origin.session_id, 60.0)
    assert {"a", "b"} == {each.hook.id for each in rig.account.records if isinstance(each, HookStarted)}
    assert {Kind.ANSWERED} == {outcome.kind for outcome in rig.account.ended()}


# Engine.rules


def test_the_rules_of_an_event_are_those_with_hooks() -> None:
    """One for each dialect that has a hook there, in the order in which they are asked; none where nobody listens."""
    one, two, three = dialect("one"), dialect("two"), dialect("three")
    rig = Rig(
        hook("b", dialect="three"),
        hook("a", dialect="one"),
        observer("c", None, StepEnd, dialect="two", also=(BeforeRun,)),
        of=(one, two, three),
    )

    assert (one.rules[BeforeToolCall], three.rules[BeforeToolCall]) == rig.engine.rules(BeforeToolCall)
    assert (two.rules[StepEnd],) == rig.engine.rules(StepEnd)
    assert (two.rules[BeforeRun],) == rig.engine.rules(BeforeRun)
    assert () == rig.engine.rules(AfterToolCall)


def test_a_hook_that_comes_later_brings_its_rule() -> None:
    """What is registered afterwards is in the rules from then on."""
    rig = Rig()
    assert () == rig.engine.rules(StepEnd)
    rig.engine.on(StepEnd)(lambda _: None)

    assert (CHAIN.rules[StepEnd],) == rig.engine.rules(StepEnd)

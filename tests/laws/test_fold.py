"""Laws of the fold: what the outcomes of one event come to, on paper, with no hook called."""

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.engine_rig import EVENT, dialect, hook, observer, verdict
from tests.laws import drawn

from hookline._core.answer import NOTHING, Answer
from hookline._core.decisions import Allow, Ask, Deny
from hookline._core.effects import (
    EFFECTS,
    AddContext,
    Combine,
    EndRun,
    Notify,
    Reopen,
    RewriteInput,
)
from hookline._core.events import BeforeRun, BeforeRunEnd, BeforeToolCall, PermissionRequest
from hookline._core.outcomes import Kind, Outcome
from hookline._core.points import Event
from hookline._core.reasons import Failure, Skip
from hookline._core.resolution import Applied, Ignored
from hookline._core.rules import FailurePolicy, Rule
from hookline._engine.fold import fold

WEAKEST_FIRST = (type(None), Allow, Ask, Deny)


def rule_for(event: Event, policy: FailurePolicy = FailurePolicy.IGNORE, *survives: Any) -> Rule:
    rule = dialect(on_failure=policy, survives_deny=frozenset({Notify, *survives})).rule(type(event))
    assert rule is not None
    return rule


def said(name: str, *words: Any, event: type[Event] = BeforeToolCall) -> Outcome:
    """The outcome of a hook that answered with these words."""
    decision = next((word for word in words if isinstance(word, Allow | Ask | Deny)), None)
    answer = Answer(decision, tuple(word for word in words if word is not decision))
    return Outcome(hook=hook(name, event=event), kind=Kind.ANSWERED, answer=answer)


def failed(name: str, *, policy: FailurePolicy | None = None, watching: bool = False) -> Outcome:
    """The outcome of a hook that failed; one that is only watching could not have denied."""
    made = (observer if watching else hook)(name, on_failure=policy)
    return Outcome(hook=made, kind=Kind.FAILED, why=Failure.TIMEOUT, detail="hook timed out after 5s")


@st.composite
def cases(draw: st.DrawFn, *, least: int = 0) -> tuple[Event, list[Outcome], Rule, bool]:
    """An event, its outcomes, the rule they are folded under, and whether failures are taken strictly."""
    event = draw(drawn.events)
    survives = draw(st.sets(st.sampled_from(EFFECTS)))
    rule = rule_for(event, draw(drawn.policies), *survives)
    return event, draw(drawn.outcomes(event, least=least)), rule, draw(st.booleans())


@drawn.ON_PAPER
@given(cases())
def test_the_strongest_decision_counts(case: tuple[Event, list[Outcome], Rule, bool]) -> None:
    """No answered decision is stronger than the one that counts, and of equals the first in order decides."""
    event, outcomes, rule, strict = case
    resolution = fold(event, outcomes, rule, strict=strict)

    made = [
        (outcome.hook.id, outcome.answer.decision)
        for outcome in outcomes
        if outcome.answer is not None and outcome.answer.decision is not None
    ]
    rank = WEAKEST_FIRST.index(type(resolution.decision))
    assert all(WEAKEST_FIRST.index(type(decision)) <= rank for _, decision in made)
    equals = [(by, decision) for by, decision in made if type(decision) is type(resolution.decision)]
    if equals and not any(outcome.kind is not Kind.ANSWERED for outcome in outcomes):
        assert (resolution.decided_by, resolution.decision) == equals[0]


def test_ties_go_to_the_first() -> None:
    """Two equal decisions: the one that stands first in order counts, and the other is named as overruled."""
    resolution = fold(EVENT, [said("a", Ask("?")), said("b", Deny("b")), said("c", Deny("c"))], rule_for(EVENT))

    assert resolution.decision == Deny("b")
    assert resolution.decided_by == "b"
    assert resolution.ignored == (Ignored("a", Ask, "b decides"), Ignored("c", Deny, "b decides"))


def test_ask_beats_allow_and_deny_beats_both() -> None:
    """Allow gives way to Ask, and both give way to Deny, whatever their order."""
    event = PermissionRequest(tool_name="bash", input={})
    allow, ask, deny = said("a", Allow()), said("b", Ask()), said("c", Deny("no"))

    assert fold(event, [allow, ask], rule_for(event)).decided_by == "b"
    assert fold(event, [ask, allow], rule_for(event)).decided_by == "b"
    assert fold(event, [deny, ask, allow], rule_for(event)).decided_by == "c"
    assert fold(event, [allow, ask, deny], rule_for(event)).decided_by == "c"


@drawn.ON_PAPER
@given(cases(), st.integers(0, 5))
def test_abstaining_is_identity(case: tuple[Event, list[Outcome], Rule, bool], place: int) -> None:
    """A hook that has nothing to say changes nothing, wherever it stands."""
    event, outcomes, rule, strict = case
    nothing = Outcome(hook=hook("new", event=type(event)), kind=Kind.ANSWERED, answer=NOTHING)
    more = [*outcomes[:place], nothing, *outcomes[place:]]

    without, along = fold(event, outcomes, rule, strict=strict), fold(event, more, rule, strict=strict)
    assert replace(along, outcomes=()) == replace(without, outcomes=())


@drawn.ON_PAPER
@given(cases(), st.data())
def test_a_further_hook_never_undoes_a_deny(case: tuple[Event, list[Outcome], Rule, bool], data: st.DataObject) -> None:
    """What is denied stays denied, whatever one more hook says or fails to say."""
    event, outcomes, rule, strict = case
    further = data.draw(drawn.outcomes(event, least=1))[0]
    further = replace(further, hook=replace(further.hook, id="further"))
    place = data.draw(st.integers(0, len(outcomes)))

    without = fold(event, outcomes, rule, strict=strict)
    along = fold(event, [*outcomes[:place], further, *outcomes[place:]], rule, strict=strict)
    assert along.denied or not without.denied


@drawn.ON_PAPER
@given(cases())
def test_each_effect_is_applied_or_ignored(case: tuple[Event, list[Outcome], Rule, bool]) -> None:
    """Whatever a hook asked for stands exactly once: among what counts, or among what does not, with a reason."""
    event, outcomes, rule, strict = case
    resolution = fold(event, outcomes, rule, strict=strict)

    asked = Counter(
        (outcome.hook.id, type(effect)) for outcome in outcomes if outcome.answer for effect in outcome.answer.effects
    )
    applied = Counter((each.hook, type(each.effect)) for each in resolution.applied)
    ignored = Counter((each.hook, each.what) for each in resolution.ignored if each.what in EFFECTS)
    assert applied + ignored == asked
    assert all(each.why for each in resolution.ignored)


@drawn.ON_PAPER
@given(cases())
def test_what_applies_keeps_the_order_of_the_hooks(case: tuple[Event, list[Outcome], Rule, bool]) -> None:
    """Effects that count are in the order in which the hooks are configured, each hook's own in its own order."""
    event, outcomes, rule, strict = case
    asked = [Applied(each.hook.id, effect) for each in outcomes if each.answer for effect in each.answer.effects]

    applied = fold(event, outcomes, rule, strict=strict).applied
    rest = iter(asked)
    assert all(any(each == one for one in rest) for each in applied)


@drawn.ON_PAPER
@given(cases())
def test_each_decision_counts_or_is_named(case: tuple[Event, list[Outcome], Rule, bool]) -> None:
    """A decision that does not count is named among what was ignored, once."""
    event, outcomes, rule, strict = case
    resolution = fold(event, outcomes, rule, strict=strict)

    answered = {each.hook.id for each in outcomes if each.answer and each.answer.decision}
    overruled = [each.hook for each in resolution.ignored if each.what not in EFFECTS]
    assert len(overruled) == len(set(overruled))
    assert answered <= {resolution.decided_by, *overruled}
    assert resolution.decided_by not in overruled


@drawn.ON_PAPER
@given(cases())
def test_outcomes_are_kept_as_they_came(case: tuple[Event, list[Outcome], Rule, bool]) -> None:
    """A resolution holds every outcome, in order."""
    event, outcomes, rule, strict = case

    assert fold(event, outcomes, rule, strict=strict).outcomes == tuple(outcomes)


@drawn.ON_PAPER
@given(cases())
def test_one_of_a_kind_unless_it_appends(case: tuple[Event, list[Outcome], Rule, bool]) -> None:
    """Of an effect that does not append at most one counts: the first or the last asked for, as the effect says."""
    event, outcomes, rule, strict = case
    resolution = fold(event, outcomes, rule, strict=strict)

    asked = [Applied(each.hook.id, effect) for each in outcomes if each.answer for effect in each.answer.effects]
    for kind in EFFECTS:
        mine = [each for each in asked if type(each.effect) is kind]
        counts = tuple(each for each in resolution.applied if type(each.effect) is kind)
        if not mine or (resolution.denied and kind not in rule.survives_deny):
            assert counts == ()
        elif kind.combine is Combine.APPEND:
            assert counts == tuple(mine)
        else:
            assert counts == ((mine[0] if kind.combine is Combine.FIRST_WINS else mine[-1]),)


def test_the_last_rewrite_wins() -> None:
    """Of two rewrites the later in order counts, the event carries it, and the earlier one is named as superseded."""
    first, second = RewriteInput({"command": "echo A"}), RewriteInput({"command": "echo B"})
    resolution = fold(EVENT, [said("a", first), said("b", second)], rule_for(EVENT))

    assert resolution.applied == (Applied("b", second),)
    assert resolution.ignored == (Ignored("a", RewriteInput, "b supersedes it"),)
    assert resolution.event == replace(EVENT, input={"command": "echo B"})
    assert EVENT.input == {"command": "ls"}


def test_a_hook_that_says_nothing_keeps_the_rewrite_of_another() -> None:
    """Silence after a rewrite does not erase it, and neither does silence before it."""
    rewrite = RewriteInput({"command": "echo A"})

    for order in ([said("a", rewrite), said("b")], [said("b"), said("a", rewrite)]):
        assert fold(EVENT, order, rule_for(EVENT)).first(RewriteInput) == rewrite


def test_an_ask_keeps_the_rewrite_of_another() -> None:
    """A rewrite and a question are no rivals: the person is asked about the rewritten call."""
    resolution = fold(EVENT, [said("a", RewriteInput({"command": "echo A"})), said("b", Ask("sure?"))], rule_for(EVENT))

    assert resolution.decision == Ask("sure?")
    assert resolution.event == replace(EVENT, input={"command": "echo A"})


def test_the_first_end_and_the_first_reopening_count() -> None:
    """EndRun and Reopen go to the first that asks."""
    event = BeforeRunEnd()
    outcomes = [
        said("a", Reopen("run the tests"), event=BeforeRunEnd),
        said("b", EndRun("enough"), Reopen("and again"), event=BeforeRunEnd),
        said("c", EndRun("later"), event=BeforeRunEnd),
    ]
    resolution = fold(event, outcomes, rule_for(event))

    assert resolution.applied == (Applied("a", Reopen("run the tests")), Applied("b", EndRun("enough")))
    assert {(each.hook, each.what) for each in resolution.ignored} == {("b", Reopen), ("c", EndRun)}


def test_a_deny_drops_what_does_not_survive_it() -> None:
    """What counts beside a Deny is what the rule lets survive it; the rest is named, and the event stays as it was."""
    outcomes = [
        said("a", AddContext("it was shell"), Notify("seen"), RewriteInput({"command": "true"})),
        said("b", Deny("no"), AddContext("ask first")),
    ]

    bare = fold(EVENT, outcomes, rule_for(EVENT))
    assert bare.applied == (Applied("a", Notify("seen")),)
    assert {(each.hook, each.what) for each in bare.ignored} == {
        ("a", AddContext),
        ("a", RewriteInput),
        ("b", AddContext),
    }
    assert bare.event == EVENT

    helpful = fold(EVENT, outcomes, rule_for(EVENT, FailurePolicy.IGNORE, AddContext))
    assert helpful.effects(AddContext) == (AddContext("it was shell"), AddContext("ask first"))
    assert helpful.effects(RewriteInput) == ()


@drawn.ON_PAPER
@given(cases(), st.integers(0, 5), st.sampled_from(["answered", "failed", "skipped"]))
def test_observers_are_invisible(case: tuple[Event, list[Outcome], Rule, bool], place: int, how: str) -> None:
    """A hook that commits nothing changes nothing, also when it fails or is skipped, unless failures fail the run."""
    event, outcomes, rule, strict = case
    assume(rule.on_failure is not FailurePolicy.FAIL_RUN)
    watching = observer("watching", event=type(event))
    seen = {
        "answered": Outcome(hook=watching, kind=Kind.ANSWERED, answer=NOTHING),
        "failed": Outcome(hook=watching, kind=Kind.FAILED, why=Failure.NOT_ADMITTED),
        "skipped": Outcome(hook=watching, kind=Kind.SKIPPED, why=Skip.PAYLOAD_TOO_LARGE),
    }[how]

    along = fold(event, [*outcomes[:place], seen, *outcomes[place:]], rule, strict=strict)
    without = fold(event, outcomes, rule, strict=strict)
    assert verdict(along) == verdict(without)
    assert along.ignored == without.ignored


@drawn.ON_PAPER
@given(cases())
def test_strict_denies_where_a_hook_could_have(case: tuple[Event, list[Outcome], Rule, bool]) -> None:
    """Strictly, a hook that could have denied and was not heard denies the action; nobody else's silence does more."""
    event, outcomes, rule, _ = case
    strict, lenient = (fold(event, outcomes, rule, strict=strict) for strict in (True, False))

    unheard = [each for each in outcomes if each.kind is not Kind.ANSWERED and each.why is not Skip.DENIED_EARLIER]
    guards = [each for each in unheard if Deny in each.hook.commits and Deny in rule.admits]
    if guards:
        assert strict.denied
    else:
        assert strict == lenient
    assert strict.denied or not lenient.denied


def test_a_strict_denial_says_who_did_not_answer_and_why() -> None:
    """The reason of a denial in a silent hook's place names the hook and how it failed."""
    resolution = fold(EVENT, [failed("a")], rule_for(EVENT), strict=True)

    assert resolution.decision == Deny("hook a gave no answer: hook timed out after 5s")
    assert resolution.decided_by == "a"


def test_a_real_denial_and_one_for_silence_are_equals() -> None:
    """A hook that failed under the policy to deny stands in line with those that denied."""
    rule = rule_for(EVENT, FailurePolicy.DENY)

    assert fold(EVENT, [failed("a"), said("b", Deny("b"))], rule).decided_by == "a"
    assert fold(EVENT, [said("b", Deny("b")), failed("a")], rule).decided_by == "b"


def test_a_hook_has_its_own_policy() -> None:
    """`on_failure` of a hook goes before its rule's, in both directions."""
    assert not fold(EVENT, [failed("a", policy=FailurePolicy.IGNORE)], rule_for(EVENT, FailurePolicy.DENY)).denied
    assert fold(EVENT, [failed("a", policy=FailurePolicy.DENY)], rule_for(EVENT)).denied


def test_a_policy_to_deny_binds_only_who_could() -> None:
    """A failed observer denies nothing, whatever the policy and however strict."""
    for policy in (FailurePolicy.IGNORE, FailurePolicy.DENY):
        resolution = fold(EVENT, [failed("a", watching=True)], rule_for(EVENT, policy), strict=True)
        assert not resolution.denied


def test_nobody_can_deny_where_nothing_can_be_denied() -> None:
    """At a point without Deny, strictness has nothing to say."""
    event = BeforeRunEnd()
    outcome = Outcome(
        hook=hook("a", event=BeforeRunEnd, commits=frozenset({Deny})), kind=Kind.FAILED, why=Failure.TIMEOUT
    )

    assert not fold(event, [outcome], rule_for(event), strict=True).denied


def test_a_failure_may_fail_the_run() -> None:
    """Under FAIL_RUN the first failure ends the run, an observer's as well; the action does not happen."""
    outcomes = [said("a"), failed("b", watching=True), failed("c")]
    resolution = fold(EVENT, outcomes, rule_for(EVENT, FailurePolicy.FAIL_RUN))

    assert resolution.failed_run is outcomes[1]
    assert resolution.denied
    assert resolution.decision is None


def test_what_was_cut_off_has_no_consequence() -> None:
    """A hook that was not asked because of a Deny, or was cancelled, failed nobody: no policy applies to it."""
    cut_off = Outcome(hook=hook("a"), kind=Kind.SKIPPED, why=Skip.DENIED_EARLIER)
    cancelled = Outcome(hook=hook("b"), kind=Kind.CANCELLED)

    for policy in FailurePolicy:
        resolution = fold(EVENT, [cut_off, cancelled], rule_for(EVENT, policy), strict=True)
        assert not resolution.denied


def test_the_context_of_a_refused_prompt_goes_with_it() -> None:
    """Where only notes survive a Deny, context for the refused prompt does not reach the next one."""
    event = BeforeRun(prompt="fix the build")
    outcomes = [said("a", AddContext("the build is red"), event=BeforeRun), said("b", Deny("no"), event=BeforeRun)]

    assert fold(event, outcomes, rule_for(event)).applied == ()

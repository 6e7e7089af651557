"""One hook's turn: its fallbacks, its limits, and what goes on record."""

from dataclasses import replace
from typing import Any

import pytest
from tests.engine_rig import (
    EVENT,
    FAILED,
    TOO_LARGE,
    Puppet,
    Puppets,
    Rig,
    background,
    dialect,
    hook,
    verdict,
)

from hookline._core.decisions import Ask, Deny
from hookline._core.effects import AddContext, EndRun
from hookline._core.hooks import Hook
from hookline._core.matchers import names
from hookline._core.outcomes import Kind, Outcome
from hookline._core.reasons import Failure, Skip
from hookline._core.records import Dispatched, HookEnded, HookStarted
from hookline._core.resolution import Resolution
from hookline._core.rules import FailurePolicy
from hookline._engine.engine import HookEngine


async def test_a_dispatch_is_recorded_once_and_last() -> None:
    """The account of an event ends with its resolution; of calls that leave the process it tells start and end."""
    rig = Rig(hook("here"), hook("there", outside=True))
    resolution = await rig.dispatch()

    assert [type(record) for record in rig.account.records] == [HookStarted, HookEnded, Dispatched]
    assert rig.account.started() == ["there"]
    assert rig.account.endings() == [("there", Kind.ANSWERED)]
    assert rig.account.dispatched() == [resolution]


async def test_an_event_that_reaches_nobody_is_recorded_too() -> None:
    """An event without hooks comes back as it is, and the account says so."""
    rig = Rig(hook("a", matcher=names("write_file")))

    assert await rig.dispatch() == Resolution(event=EVENT)
    assert rig.account.dispatched() == [Resolution(event=EVENT)]


async def test_without_an_account_the_answer_is_the_same() -> None:
    """Recording changes nothing."""
    rig = Rig(hook("a", Deny("no"), outside=True), background("b"))

    assert verdict(await rig.engine.dispatch(EVENT)) == verdict(await rig.dispatch())
    await rig.engine.aclose()


async def test_times_are_those_of_the_call() -> None:
    """An outcome says when its call began and how long it waited and ran; one that was skipped never began."""
    rig = Rig(hook("a"), hook("b", TOO_LARGE))
    called, skipped = (await rig.dispatch()).outcomes

    assert called.started > 0
    assert min(called.queued, called.ran) >= 0
    assert (skipped.started, skipped.queued, skipped.ran) == (0.0, 0.0, 0.0)


def with_fallbacks(*says: Any, **terms: Any) -> Hook:
    """Hook 0 that says the first, whose fallback 1 says the second, and so on."""
    made: Hook | None = None
    for number in reversed(range(len(says))):
        made = hook(f"{number}", says[number], fallback=made, **terms)
    assert made is not None
    return made


def links_of(outcome: Outcome) -> list[tuple[str, object]]:
    return [(link.hook.id, link.why) for link in outcome.links]


async def test_the_first_link_that_does_not_fail_answers() -> None:
    """Fallbacks are called while the one before failed; the answer counts as the hook's, and all links are kept."""
    rig = Rig(with_fallbacks(FAILED, RuntimeError("broken"), Deny("no"), Ask("never asked")))
    resolution = await rig.dispatch()

    (outcome,) = resolution.outcomes
    assert rig.puppets.names == ["0", "1", "2"]
    assert (outcome.kind, outcome.hook.id) == (Kind.ANSWERED, "0")
    assert outcome.by is not None
    assert outcome.by.id == "2"
    assert links_of(outcome) == [("0", Failure.EXIT_CODE), ("1", Failure.CRASHED)]
    assert (resolution.decision, resolution.decided_by) == (Deny("no"), "0")


async def test_without_a_failure_no_fallback_is_called() -> None:
    """A hook that answers, if only with nothing, is its own last word."""
    rig = Rig(with_fallbacks(None, Deny("no")))
    resolution = await rig.dispatch()

    assert rig.puppets.names == ["0"]
    assert resolution.outcomes[0].by is None
    assert resolution.outcomes[0].links == ()
    assert not resolution.denied


async def test_an_answer_that_is_not_admitted_has_a_fallback() -> None:
    """Saying more than is allowed is a failure like any other, so the fallback is asked."""
    rig = Rig(with_fallbacks(EndRun(), Deny("no")))
    resolution = await rig.dispatch()

    assert resolution.decision == Deny("no")
    assert links_of(resolution.outcomes[0]) == [("0", Failure.NOT_ADMITTED)]


async def test_a_skipped_payload_triggers_no_fallback() -> None:
    """A payload that must not be sent is no failure of the hook: nobody is called in its place."""
    rig = Rig(with_fallbacks(TOO_LARGE, Deny("no")))
    resolution = await rig.dispatch()

    assert rig.puppets.names == []
    assert (resolution.outcomes[0].kind, resolution.outcomes[0].why) == (Kind.SKIPPED, Skip.PAYLOAD_TOO_LARGE)


async def test_where_every_link_fails_the_last_failure_stands() -> None:
    """If no link answers, the hook failed as its last link did, and its policy applies once."""
    rig = Rig(with_fallbacks(FAILED, RuntimeError("broken")), of=dialect(on_failure=FailurePolicy.DENY))
    resolution = await rig.dispatch()

    (outcome,) = resolution.outcomes
    assert (outcome.kind, outcome.why, outcome.hook.id) == (Kind.FAILED, Failure.CRASHED, "0")
    assert links_of(outcome) == [("0", Failure.EXIT_CODE)]
    assert resolution.decided_by == "0"


async def test_each_attempt_is_on_record() -> None:
    """The account tells of each link that leaves the process, under its own name, in order."""
    rig = Rig(with_fallbacks(FAILED, FAILED, None, outside=True))
    await rig.dispatch()

    assert rig.account.started() == ["0", "1", "2"]
    assert rig.account.endings() == [("0", Failure.EXIT_CODE), ("1", Failure.EXIT_CODE), ("2", Kind.ANSWERED)]


class Nonsense:
    """An adapter that gives what is no reply."""

    async def call(self, target: Any, payload: Any, limits: Any) -> Any:
        return None

    async def aclose(self) -> None:
        """Nothing to let go of."""


@pytest.mark.parametrize("part", ["adapter", "decode", "encode"])
async def test_a_part_that_gives_nonsense_is_a_hook_that_crashed(part: str) -> None:
    """What a dialect or an adapter from outside gives back is looked at, and a guard whose reply is none denies."""
    of = dialect(on_failure=FailurePolicy.DENY)
    nothing: Any = lambda *_: None  # noqa: E731
    parts = {} if part == "adapter" else {part: nothing}
    engine = HookEngine(
        dialects=(replace(of, **parts),),
        in_code=of,
        adapters={Puppet: Nonsense() if part == "adapter" else Puppets()},
        hooks=(hook("a"),),
    )

    resolution = await engine.dispatch(EVENT)

    assert resolution.denied
    assert resolution.outcomes[0].why is Failure.CRASHED


def test_only_a_guard_can_go_unheard() -> None:
    """The outcomes that count as unheard are those of hooks that could have denied, and only where nobody denied."""
    guard, other = hook("guard"), hook("other", commits=frozenset({AddContext}))
    failed = tuple(Outcome(hook=each, kind=Kind.FAILED, why=Failure.TIMEOUT) for each in (guard, other))

    assert Resolution(event=EVENT, outcomes=failed).unheard() == failed[:1]
    assert Resolution(event=EVENT, outcomes=failed, decision=Deny("no")).unheard() == ()

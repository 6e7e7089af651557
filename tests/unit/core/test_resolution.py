"""What a resolution says of itself."""

import pytest

from hookline._core.decisions import Allow, Ask, Decision, Deny
from hookline._core.effects import AddContext, EndRun, Notify
from hookline._core.events import BeforeToolCall
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.reasons import Failure
from hookline._core.resolution import Applied, Resolution
from hookline._core.targets import FunctionTarget

EVENT = BeforeToolCall(tool_name="bash", input={})
HOOK = Hook(id="a", event=BeforeToolCall, target=FunctionTarget(print), dialect="code")
FAILED = Outcome(hook=HOOK, kind=Kind.FAILED, why=Failure.TIMEOUT)


@pytest.mark.parametrize(
    ("decision", "denied", "reason"),
    [
        pytest.param(None, False, "", id="none"),
        pytest.param(Allow("fine"), False, "fine", id="Allow"),
        pytest.param(Ask("sure?"), False, "sure?", id="Ask"),
        pytest.param(Deny("no"), True, "no", id="Deny"),
        pytest.param(Deny(""), True, "", id="Deny without a reason"),
    ],
)
def test_only_a_deny_denies(decision: Decision | None, reason: str, *, denied: bool) -> None:
    """The action must not happen after a Deny, and the reason is that of the decision that counts."""
    resolution = Resolution(event=EVENT, decision=decision)

    assert (resolution.denied, resolution.reason) == (denied, reason)


def test_a_failed_run_is_denied_too() -> None:
    """What fails the run does not let the action through, whatever was decided."""
    assert Resolution(event=EVENT, decision=Allow(), failed_run=FAILED).denied


def test_effects_are_asked_for_by_kind() -> None:
    """The effects of one kind that count, in order; the first of them; nothing where there is none."""
    applied = (Applied("a", AddContext("1")), Applied("b", Notify("n")), Applied("c", AddContext("2")))
    resolution = Resolution(event=EVENT, applied=applied)

    assert resolution.effects(AddContext) == (AddContext("1"), AddContext("2"))
    assert resolution.first(AddContext) == AddContext("1")
    assert resolution.effects(EndRun) == ()
    assert resolution.first(EndRun) is None


def test_an_empty_answer_is_an_answer() -> None:
    """Only a hook that answered is ok, and it may have had nothing to say."""
    assert Outcome(hook=HOOK, kind=Kind.ANSWERED).ok
    assert [kind for kind in Kind if Outcome(hook=HOOK, kind=kind).ok] == [Kind.ANSWERED]

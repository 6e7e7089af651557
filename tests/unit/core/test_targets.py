"""Targets: what may be seen of them, and what leaves the process."""

from hookline._core.events import BeforeToolCall
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.points import NOWHERE
from hookline._core.records import HookEnded
from hookline._core.targets import CommandTarget, FunctionTarget, Target


def test_an_environment_is_never_shown() -> None:
    """The environment of a command may hold secrets: no representation holds it, however deep the target lies."""
    target = CommandTarget(argv=("guard",), env={"TOKEN": "s3cret"}, written="guard")
    hook = Hook(id="a", event=BeforeToolCall, target=target, dialect="code")
    outcome = Outcome(hook=hook, kind=Kind.ANSWERED)
    record = HookEnded(origin=NOWHERE, outcome=outcome, event=BeforeToolCall(tool_name="bash", input={}))

    assert "guard" in repr(record)
    assert "s3cret" not in repr(record)


def test_only_functions_stay_in_the_process() -> None:
    """A target leaves the process unless it says that it does not."""
    assert not FunctionTarget(print).leaves_process
    assert CommandTarget(argv=("guard",), env={}).leaves_process
    assert Target().leaves_process

"""Hooks: which occurrences they are for."""

import pytest

from hookline._core.events import BeforeToolCall
from hookline._core.hooks import Hook
from hookline._core.matchers import names
from hookline._core.points import Event
from hookline._core.targets import FunctionTarget

EVENT = BeforeToolCall(tool_name="bash", input={"command": "ls"})


def made(**terms: object) -> Hook:
    return Hook(**{"id": "a", "event": BeforeToolCall, "target": FunctionTarget(print), "dialect": "code", **terms})


def test_a_bare_hook_is_for_every_occurrence() -> None:
    """Without matcher and condition a hook is called each time, commits nothing, and is waited for."""
    hook = made()

    assert hook.selects(EVENT)
    assert hook.commits == frozenset()
    assert not hook.background


@pytest.mark.parametrize(
    ("tool", "command", "selected"),
    [
        pytest.param("bash", "ls", True, id="both agree"),
        pytest.param("bash", "rm", False, id="the condition objects"),
        pytest.param("search", "ls", False, id="the matcher objects"),
    ],
)
def test_matcher_and_condition_must_both_agree(tool: str, command: str, *, selected: bool) -> None:
    """A hook is called where its matcher and its condition both let the event through."""
    hook = made(matcher=names("bash"), condition=lambda event: event.input["command"] == "ls")

    assert hook.selects(BeforeToolCall(tool_name=tool, input={"command": command})) is selected


def test_a_condition_is_asked_only_where_the_matcher_agrees() -> None:
    """A condition may rely on what the matcher has made sure of."""

    def fails(event: Event) -> bool:
        raise AssertionError("asked")

    assert not made(matcher=names("write_file"), condition=fails).selects(EVENT)

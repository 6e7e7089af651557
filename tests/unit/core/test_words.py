"""Decisions and effects: the words of an answer."""

import typing

import pytest

from hookline._core import effects
from hookline._core.decisions import DECISIONS, Allow, Ask, Decision, Deny
from hookline._core.effects import EFFECTS, AddContext, Combine, Effect, EndRun, Reopen, RewriteInput


def test_decisions_are_listed_weakest_first() -> None:
    """The list holds every decision, each stronger than the one before it."""
    assert DECISIONS == (Allow, Ask, Deny)
    assert set(DECISIONS) == set(typing.get_args(Decision))


def test_every_effect_is_listed() -> None:
    """The list holds every effect there is, once."""
    assert len(EFFECTS) == len(set(EFFECTS))
    declared = {each for each in vars(effects).values() if isinstance(each, type) and issubclass(each, Effect)}
    assert set(EFFECTS) == declared - {Effect}


@pytest.mark.parametrize(
    ("effect", "combine"),
    [
        pytest.param(AddContext, Combine.APPEND, id="context adds up"),
        pytest.param(RewriteInput, Combine.LAST_WINS, id="the last rewrite stays"),
        pytest.param(EndRun, Combine.FIRST_WINS, id="a run ends once"),
        pytest.param(Reopen, Combine.FIRST_WINS, id="one instruction at a time"),
    ],
)
def test_an_effect_says_how_two_combine(effect: type[Effect], combine: Combine) -> None:
    """How two of a kind combine is a property of the effect."""
    assert effect.combine is combine

"""What a handler's return value stands for."""

from typing import Any

import pytest

from hookline._core.answer import NOTHING, Answer, answer_from
from hookline._core.decisions import Allow, Ask, Deny
from hookline._core.effects import AddContext, Notify, RewriteInput


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        pytest.param(None, NOTHING, id="None abstains"),
        pytest.param(Answer(Deny("no")), Answer(Deny("no")), id="an answer is itself"),
        pytest.param(Allow(), Answer(Allow()), id="Allow"),
        pytest.param(Ask("sure?"), Answer(Ask("sure?")), id="Ask"),
        pytest.param(Deny("no"), Answer(Deny("no")), id="Deny"),
        pytest.param(AddContext("x"), Answer(None, (AddContext("x"),)), id="an effect"),
    ],
)
def test_an_answerable_value_is_an_answer(value: Any, answer: Answer) -> None:
    """None, a decision, an effect and an Answer each stand for one answer."""
    assert answer_from(value) == answer


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(value, id=repr(value))
        for value in (True, False, 0, "", "deny", {}, {"decision": "deny"}, [], (), [Deny("no")], Deny, AddContext)
    ],
)
def test_anything_else_is_none(value: Any) -> None:
    """No other value stands for an answer: not a truth value, not a look-alike, not a class instead of its instance."""
    assert answer_from(value) is None


NONSENSE: list[Any] = [None, 5, b"why"]


@pytest.mark.parametrize(
    "value",
    [*map(Deny, NONSENSE), Answer(Ask(NONSENSE[2])), RewriteInput(NONSENSE[1]), Answer(notes=NONSENSE[0])],
    ids=repr,
)
def test_an_answer_with_the_wrong_things_in_it_is_none(value: Any) -> None:
    """A decision whose reason is no text, and an effect whose fields are not what they say, are no answer."""
    assert answer_from(value) is None


def test_a_rewrite_keeps_what_it_was_made_with() -> None:
    """What its maker does to the original afterwards, however deep, does not change what was judged."""
    original = {"command": "ls", "env": {"A": "1"}}
    rewrite = RewriteInput(original)

    original["command"] = "rm"
    original["env"]["A"] = "2"  # type: ignore[index]

    assert rewrite.input == {"command": "ls", "env": {"A": "1"}}


def test_an_answer_knows_its_words() -> None:
    """The words of an answer are the kinds of its decision and of its effects, each once."""
    assert NOTHING.words() == frozenset()
    assert Answer(notes=("unread",)).words() == frozenset()
    answer = Answer(Deny("no"), (Notify("a"), Notify("b"), RewriteInput({})))
    assert answer.words() == {Deny, Notify, RewriteInput}

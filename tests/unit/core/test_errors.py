"""What we raise, and what stands in it."""

import pytest

from hookline._core import errors
from hookline._core.problems import Problem, Scope, Where


def test_everything_that_is_raised_on_purpose_has_one_base() -> None:
    """Whoever catches HooklineError catches all of ours, and a warning is none of them."""
    raised = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]

    assert {each for each in raised if not issubclass(each, errors.HooklineError)} == {errors.HookProblemWarning}


def test_a_config_error_carries_its_problems() -> None:
    """What is wrong with a configuration is there as data beside the message."""
    problem = Problem(scope=Scope.FILE, code="syntax", message="not JSON", where=Where(file="a.json", label="a"))
    error = errors.ConfigError("a.json: not JSON", (problem,))

    assert str(error) == "a.json: not JSON"
    assert error.problems == (problem,)
    assert errors.ConfigError("nothing").problems == ()


def test_a_model_error_has_a_category() -> None:
    """The category is what matchers see; the message is the details, or the category where there are none."""
    assert (str(errors.ModelError("rate_limit", "429")), errors.ModelError("rate_limit").category) == (
        "429",
        "rate_limit",
    )
    assert str(errors.ModelError("rate_limit")) == "rate_limit"


@pytest.mark.parametrize(
    ("where", "text"),
    [
        pytest.param(Where(file="a.json", label="a", line=3, column=9), "a.json:3:9", id="with a place"),
        pytest.param(Where(file="a.json", label="a"), "a.json", id="without one"),
    ],
)
def test_a_place_reads_as_editors_have_it(where: Where, text: str) -> None:
    """A place is written so that an editor jumps there, and without a line where there is none."""
    assert str(where) == text

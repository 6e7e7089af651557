"""Matchers that come with the core."""

import pytest

from hookline._core.matchers import EVERYTHING, Names, names


@pytest.mark.parametrize(
    ("subjects", "matches"),
    [
        pytest.param(("bash",), True, id="the name"),
        pytest.param(("sh", "bash"), True, id="any of the subjects"),
        pytest.param(("Bash",), False, id="case counts"),
        pytest.param(("bash2",), False, id="not a part"),
        pytest.param((), False, id="nothing to match against"),
    ],
)
def test_names_match_whole_names(subjects: tuple[str, ...], *, matches: bool) -> None:
    """A name matches a subject that equals it, whole and in the same case, and any one subject is enough."""
    assert names("bash", "write_file").matches(subjects) is matches


def test_no_names_match_nothing() -> None:
    """A matcher without names lets nothing through."""
    assert names() == Names(frozenset())
    assert not names().matches(("bash",))


def test_everything_matches_without_a_subject_too() -> None:
    """The default matcher lets through every occurrence, also at points that have nothing to match against."""
    assert EVERYTHING.matches(())
    assert EVERYTHING.matches(("bash",))

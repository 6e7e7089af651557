import pytest

from hookline._core.matchers import EVERYTHING, Names
from hookline.dialects._pattern import Pattern, compile_matcher

SUBJECT = "startup"

# (the matcher, whether it matches the subject, the case it stands for)
MATCHERS = [
    ("", True, "empty"),
    ("*", True, "star"),
    ("startup", True, "M: the name itself"),
    ("star", False, "M07: a list has whole names, not parts"),
    ("startup|resume", True, "a list"),
    ("star|zzz", False, "a list of other names"),
    ("startup|", True, "an empty name in a list is harmless"),
    ("|", False, "a list of nothing matches nothing"),
    ("STARTUP", False, "case counts"),
    ("star.*", True, "a regular expression is searched for, not anchored"),
    ("tup$", True, "at the end"),
    ("^tup", False, "not at the start"),
    ("sta[r]", True, "a class"),
    (".", True, "any character"),
    ("(tar)", True, "a group"),
    ("(?i)STARTUP", True, "an inline flag"),
    ("startup ", False, "space counts"),
    ("startup | resume", False, "M03: space in the branches counts"),
    (r"^start\w+\z", True, "the engine's own end of text"),
    ("start-up", False, "a hyphen makes a regular expression"),
]


@pytest.mark.parametrize(("text", "matches", "note"), MATCHERS, ids=[note for _, _, note in MATCHERS])
def test_three_forms(text: str, matches: bool, note: str) -> None:
    """Everything, exact names, or a regular expression that is searched for: which one is plain from the text."""
    matcher = compile_matcher(text)

    assert not isinstance(matcher, str)
    assert matches == matcher.matches((SUBJECT,))


REFUSED = [
    ("[", "missing ]"),
    ("(", "missing )"),
    ("startup(", "missing )"),
    ("bash(", "missing )"),
    ("**", "no argument for repetition operator"),
    ("*x", "no argument for repetition operator"),
    ("(?P<a", "invalid named capture group"),
    ("(?=x)", "invalid perl operator"),
    ("(?<!x)", "invalid perl operator"),
    (r"(a)\1", "invalid escape sequence"),
    (r"x\Z", "invalid escape sequence"),
    (r"\pL{1000}", "pattern too large"),
    ("(a|a)*" * 1667, "longer than 4096 characters"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=[text[:20] for text, _ in REFUSED])
def test_what_does_not_compile_is_explained(text: str, why: str) -> None:
    """A pattern that the engine does not take is words, never an exception and never another pattern."""
    matcher = compile_matcher(text)

    assert isinstance(matcher, str)
    assert why in matcher


def test_any_of_the_subjects_is_enough() -> None:
    """A tool answers to its own name and to its aliases; one that matches selects, in either form."""
    subjects = ("bash", "Bash", "shell")

    for text in ("Bash|Edit", "^sh", "^Ba"):
        matcher = compile_matcher(text)
        assert not isinstance(matcher, str)
        assert matcher.matches(subjects)
        assert not matcher.matches(())


def test_the_form_shows_in_the_type() -> None:
    """A list stays a set of names, so that it costs one look-up; only a regular expression is one."""
    assert compile_matcher("*") == EVERYTHING
    assert Names(frozenset({"Edit", "Write"})) == compile_matcher("Edit|Write")
    assert isinstance(compile_matcher("^Edit"), Pattern)


def test_no_pattern_makes_a_subject_expensive() -> None:
    """Time is linear in the subject: a pattern that a backtracking engine never finishes is done at once."""
    matcher = compile_matcher("^(a+)+$|(a|a)*b|(.*)(.*)(.*)(.*)c$")

    assert not isinstance(matcher, str)
    assert not matcher.matches(("a" * 200_000 + "!",))


def test_half_a_character_counts_as_one() -> None:
    """A subject that is no valid text is still tested, each half character as one that no pattern names."""
    matcher = compile_matcher("^a.b$")

    assert not isinstance(matcher, str)
    assert matcher.matches(("a\ud800b",))

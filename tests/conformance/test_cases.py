"""The semantics of the Muse dialect, case by case: `docs/dialects/muse.md` as data."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.canned import dispatching, loading
from tests.conformance.place import Place
from tests.conformance.reading import Case, read_cases
from tests.conformance.running import running

CASES = read_cases(Path(__file__).parent / "cases")

OUTCOME: dict[str, Callable[[Case, Place], dict[str, Any]]] = {
    "config": loading,
    "event": dispatching,
    "exec": running,
}

# What is wanted where a case says nothing about it: nothing is wrong, and nobody is told anything.
UNLESS_SAID: dict[str, dict[str, Any]] = {
    "config": {"refused": None, "report": []},
    "event": {"report": []},
    "exec": {"refused": None, "exit": 0, "stderr": []},
}

NUMBERED = {"L": 34, "M": 9, "P": 13, "A": 28, "T": 4, "F": 6}
CASES_OF_THE_SPECIFICATION = [f"{letter}{n:02}" for letter, last in NUMBERED.items() for n in range(1, last + 1)]

# A question that the sources leave open, a decision, or one more case to a numbered one.
OF_OUR_OWN = re.compile(r"Q[0-9]{2}[a-z]?|D[0-9]{2}|[LMPATF][0-9]{2}[b-z]")


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.title, marks=[pytest.mark.slow] if case.slow else []) for case in CASES],
)
def test_case(case: Case, tmp_path: Path) -> None:
    """Everything that a case wants is so, for the reason that the case gives."""
    place = Place(tmp_path)
    found = OUTCOME[case.kind](case, place)
    wanted = place.filled({**UNLESS_SAID[case.kind], **case.want})

    assert wanted == {key: _as_far_as(wanted[key], found[key], key) for key in wanted}


def _as_far_as(wanted: Any, found: Any, key: str) -> Any:
    """*found*, without what the case does not look at: members of a payload, the text after a run or a result."""
    if key == "payloads":
        return {name: _members(wanted[name], payloads) for name, payloads in found.items() if name in wanted}
    if key in ("runs", "results") and len(wanted) == len(found):
        return [have if ": " in want else have.split(": ")[0] for want, have in zip(wanted, found, strict=True)]
    if key == "stderr" and len(wanted) == len(found):
        return [want if _fits(want, have) else have for want, have in zip(wanted, found, strict=True)]
    return found


def _fits(want: str, have: str) -> bool:
    """Whether a line is the one that is wanted, in which `@number@` stands for any."""
    return re.fullmatch(re.escape(want).replace("@number@", "[0-9]+"), have) is not None


def _members(wanted: list[dict[str, Any]], payloads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(wanted) != len(payloads):
        return payloads
    return [{key: have.get(key, "(missing)") for key in want} for want, have in zip(wanted, payloads, strict=True)]


def test_every_case_of_the_specification_stands_here_once() -> None:
    """No numbered case is forgotten, none stands twice, and every other one says what it decides."""
    ids = Counter(case.id for case in CASES)

    assert sorted(CASES_OF_THE_SPECIFICATION) == sorted(name for name in ids if not OF_OUR_OWN.fullmatch(name))
    assert [] == [name for name, count in ids.items() if count > 1]


@pytest.mark.parametrize(
    ("slip", "instead_of", "word"),
    [
        ("wants:", "want:", "wants"),
        ("want: {hooks: [], reports: []}", "want: {hooks: []}", "reports"),
        ("script: {}\nconfig:", "config:", "script"),
        ("want: {hooks: []}\nwant: {}", "want: {hooks: []}", "twice"),
        ("want: {}", "want: {hooks: []}", "wants something"),
    ],
)
def test_no_case_holds_what_nobody_checks(slip: str, instead_of: str, word: str, tmp_path: Path) -> None:
    """A key that the runner does not know is an error, so that no expected value is passed over."""
    case = "id: L99\nnote: n\nbecause: b\nconfig: '{}'\nwant: {hooks: []}\n"
    folder = tmp_path / "muse"
    folder.mkdir()
    (folder / "sound.yaml").write_text(case, encoding="utf-8")
    assert ["L99"] == [each.id for each in read_cases(tmp_path)]

    (folder / "slip.yaml").write_text(case.replace(instead_of, slip), encoding="utf-8")
    with pytest.raises(ValueError, match=word):
        read_cases(tmp_path)

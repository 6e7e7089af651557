"""The semantics of the dialects, case by case: `docs/dialects/*.md` as data."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.meerkat.kinds import MEERKAT
from tests.conformance.murmur.kinds import MURMUR
from tests.conformance.muse.kinds import MUSE
from tests.conformance.place import Place
from tests.conformance.reading import Case, read_cases

DIALECTS = {"meerkat": MEERKAT, "murmur": MURMUR, "muse": MUSE}
FOLDER = Path(__file__).parent / "cases"
CASES = read_cases(FOLDER, DIALECTS)


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.title, marks=[pytest.mark.slow] if case.slow else []) for case in CASES],
)
def test_case(case: Case, tmp_path: Path) -> None:
    """Everything that a case wants is so, for the reason that the case gives."""
    place = Place(tmp_path, DIALECTS[case.dialect].layout)
    found = case.kind.found(case, place)
    wanted = place.filled({**case.kind.unless_said, **case.want})

    assert wanted == {key: _as_far_as(wanted[key], found[key], key) for key in wanted}


# Texts of which the part after a colon counts only where it is wanted.
_HEADED = frozenset(
    {"runs", "results", "problems", "failed", "events", "notes", "outcomes", "steps", "ledger", "requests"}
)


def _as_far_as(wanted: Any, found: Any, key: str) -> Any:
    """*found*, without what the case does not look at: members of a payload, the text after a run or a result."""
    if key == "payloads":
        found = {name: _members(wanted[name], payloads) for name, payloads in found.items() if name in wanted}
    if key in _HEADED and isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        found = [_head(want, have) for want, have in zip(wanted, found, strict=True)]
    return _fitted(wanted, found)


def _head(want: Any, have: Any) -> Any:
    return have.split(": ")[0] if isinstance(want, str) and isinstance(have, str) and ": " not in want else have


def _fitted(wanted: Any, found: Any) -> Any:
    """*found*, in which whatever fits a wanted text with such a word is that text."""
    match wanted, found:
        case str(), str() | int() | float() if "@" in wanted and _fits(wanted, str(found)):
            return wanted
        case list(), list() if len(wanted) == len(found):
            return [_fitted(want, have) for want, have in zip(wanted, found, strict=True)]
        case dict(), dict():
            return {key: _fitted(wanted[key], have) if key in wanted else have for key, have in found.items()}
        case _:
            return found


# What stands for any of its kind in a wanted text.
_ANY = {"@number@": "[0-9]+", "@uuid@": "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "@any@": ".*"}


def _fits(want: str, have: str) -> bool:
    pattern = re.escape(want)
    for word, fitting in _ANY.items():
        pattern = pattern.replace(re.escape(word), fitting)
    return re.fullmatch(pattern, have, re.DOTALL) is not None


def _members(wanted: list[dict[str, Any]], payloads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(wanted) != len(payloads):
        return payloads
    return [{key: have.get(key, "(missing)") for key in want} for want, have in zip(wanted, payloads, strict=True)]


@pytest.mark.parametrize("name", DIALECTS)
def test_every_case_of_the_specification_stands_here_once(name: str) -> None:
    """No numbered case is forgotten, none stands twice, and every other one says what it decides."""
    dialect = DIALECTS[name]
    ids = Counter(case.id for case in CASES if case.dialect == name)

    assert sorted(dialect.numbered) == sorted(each for each in ids if not dialect.own.fullmatch(each))
    assert [] == [each for each, count in ids.items() if count > 1]


def test_every_folder_is_one_of_a_dialect() -> None:
    """No file of cases is left unread."""
    assert sorted(DIALECTS) == sorted(path.name for path in FOLDER.iterdir())


@pytest.mark.parametrize(
    ("slip", "instead_of", "word"),
    [
        ("wants:", "want:", "wants"),
        ("want: {hooks: [], reports: []}", "want: {hooks: []}", "reports"),
        ("script: {}\nconfig:", "config:", "script"),
        ("want: {hooks: []}\nwant: {}", "want: {hooks: []}", "twice"),
        ("want: {}", "want: {hooks: []}", "wants something"),
        ("id: 99", "id: L99", "quotes"),
    ],
)
def test_no_case_holds_what_nobody_checks(slip: str, instead_of: str, word: str, tmp_path: Path) -> None:
    """A key that the runner does not know is an error, so that no expected value is passed over."""
    case = "id: L99\nnote: n\nbecause: b\nconfig: '{}'\nwant: {hooks: []}\n"
    folder = tmp_path / "muse"
    folder.mkdir()
    (folder / "sound.yaml").write_text(case, encoding="utf-8")
    assert ["L99"] == [each.id for each in read_cases(tmp_path, DIALECTS)]

    (folder / "slip.yaml").write_text(case.replace(instead_of, slip), encoding="utf-8")
    with pytest.raises(ValueError, match=word):
        read_cases(tmp_path, DIALECTS)

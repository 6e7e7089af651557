"""docs/dialects/muse.md says what the code does, where both are tables."""

import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookline._core.answer import Word
from hookline._core.decisions import Deny
from hookline._core.effects import AddFeedback, Reopen
from hookline._core.points import Event
from hookline.dialects.muse import rules, skills
from hookline.dialects.muse.plugins import native, trial
from hookline.dialects.muse.plugins.diagnostics import Code
from hookline.dialects.muse.plugins.errors import Fault
from hookline.dialects.muse.plugins.hooks import plugin_variables
from hookline.dialects.muse.plugins.manifest import Family
from hookline.dialects.muse.plugins.review import Status
from hookline.dialects.muse.plugins.verbs import VERBS
from hookline.dialects.muse.rules import RULES, Matching, MuseRule, Stopping

PAGE = (Path(__file__).parents[4] / "docs/dialects/muse.md").read_text()
CODE = Path(rules.__file__).parent

BLOCKING: dict[Word | None, str] = {None: "fails", Deny: "refuses", AddFeedback: "feedback", Reopen: "reopens"}


def section(number: str) -> str:
    """The text under one heading, up to the next one."""
    found = re.search(rf"^###? {re.escape(number)}\.? .*?\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"there is no section {number}"
    return found[1]


def rows(number: str) -> list[list[str]]:
    """The cells of a section's table, without its head."""
    lines = [line for line in section(number).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def sample(kind: type[Event], **given: Any) -> Event:
    bare = [each for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING]
    required: dict[str, Any] = {each.name: "x" for each in bare}
    return kind(**required | given)


def subject_of(rule: MuseRule) -> str:
    """The payload key that a matcher is tested against."""
    if rule.matching is Matching.NOTHING:
        return "nothing"
    if rule.matching is Matching.IGNORED:
        return "nothing, ignored"
    assert rule.event.point.subject
    event = sample(rule.event, **{rule.event.point.subject: "the subject"})
    return next(f"`{key.name}`" for key in rule.payload if key.value(event) == "the subject")


def stop_of(rule: MuseRule) -> str:
    match rule.stopping:
        case Stopping.REJECTED:
            return "rejected"
        case Stopping.INERT:
            return "no effect"
        case Stopping.EFFECTIVE:
            return "vetoes" if rule.stop_as is Deny else "ends the run"


def yes(fact: object) -> str:
    return "yes" if fact else "no"


def test_the_table_of_events_is_the_tables() -> None:
    """What each event can do stands in the page as it stands in the rules."""
    expected = [
        [
            rule.name,
            f"`{rule.event.point.name}`",
            subject_of(rule),
            BLOCKING[rule.block],
            yes(rule.context),
            "context" if rule.plain_context else "ignored",
            stop_of(rule),
            yes(rule.selector),
            yes(rule.strict_form),
        ]
        for rule in RULES
    ]

    assert expected == rows("11.1")


def test_the_table_of_keys_is_the_tables() -> None:
    """What each event adds to its payload stands in the page as it stands in the rules."""
    expected = [
        [
            rule.name,
            ", ".join(f"`{key.name}`{'?' if key.optional else ''}" for key in rule.payload),
            yes(rule.has_run),
            rule.block_text or rule.stop_text or "none",
        ]
        for rule in RULES
    ]

    assert expected == rows("11.3")


def patterns() -> list[re.Pattern[str]]:
    """The texts of section 13.6, with anything where the page has a name in angle brackets."""
    quoted = [re.fullmatch(r"(`+) ?(?P<text>.*?) ?\1", cell) for (cell,) in rows("13.6")]
    assert all(quoted)
    return [re.compile(re.sub(r"<\w+>", ".*", re.escape(each["text"]))) for each in quoted if each]


def tried_texts() -> set[str]:
    table = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text())
    wants = [row["want"] for row in table if row["want"].get("failed") == "malformed_answer"]
    return {want.get("text", want.get("begins")) for want in wants}


def test_the_page_has_every_text_of_the_answer_reader() -> None:
    """No failure of an answer is told in words that the page does not have."""
    assert [text for text in tried_texts() if not any(each.fullmatch(text) for each in patterns())] == []


def test_every_text_of_the_page_was_tried() -> None:
    """Each text of the page is one that some reply in the table of answers gives rise to."""
    untried = [each.pattern for each in patterns() if not any(each.fullmatch(text) for text in tried_texts())]

    assert {"selectedSkills\\.description", "output_too_large:"} == {each.split("\\ ")[0] for each in untried}


def cited() -> list[str]:
    """The sections that comments in this dialect's code refer to."""
    found: set[str] = set()
    for file in CODE.glob("*.py"):
        for listed in re.findall(r"\(?[Ss]ections? (\d[\d., and]*\d|\d)", file.read_text()):
            found.update(re.findall(r"\d+(?:\.\d+)?", listed))
    return sorted(found)


@pytest.mark.parametrize("number", cited())
def test_a_section_that_is_referred_to_exists(number: str) -> None:
    """Whoever follows a comment's reference finds a section there."""
    assert re.search(rf"^###? {re.escape(number)}\.? ", PAGE, re.MULTILINE)


def _codes(number: str, table: int) -> set[str]:
    """The codes in the first column of a section's table of this number, counted from 0."""
    tables = re.split(r"\n\n", section(number))
    found = [each for each in tables if each.lstrip().startswith("|")]
    cells = [line.split("|")[1] for line in found[table].strip().splitlines()[2:]]
    return {code for cell in cells for code in re.findall(r"`([^`]+)`", cell)}


def test_the_codes_of_plugins_are_those_that_there_are() -> None:
    """Each finding and each failure stands in the page, and no other."""
    assert {code.value for code in Code} == _codes("20.3", 0)
    assert {fault.value for fault in Fault} == _codes("20.4", 1)


def test_the_tables_of_plugins_are_the_codes() -> None:
    """Members, fields, families, statuses and variables stand in the page as they stand in the code."""
    assert {family.value for family in Family} == _codes("20.1", 0)
    assert set(native.TOP) == _codes("20.1", 1)
    assert set(native.FIELDS) == _codes("20.2", 0)
    assert {status.value for status in Status} == _codes("20.6", 0)
    assert set(trial.FIXTURE_KEYS) == _codes("20.7", 0)
    assert {skills.ADVERTISED, skills.APPLIED} == _codes("19", 0)
    for name in plugin_variables("id", Path("/p"), Path("/d")):
        assert f"`{name}`" in section("22")


def test_every_verb_of_plugins_stands_in_the_page() -> None:
    """None is left out, and none that there is not is named."""
    said = {each.partition(" PATH")[0] for each in _codes("20.4", 0)}
    for verb in (*VERBS, "hook test"):
        first, _, rest = verb.partition(" ")
        assert any(each.startswith(first) for each in said), verb
        assert not rest or rest in section("20.4"), verb

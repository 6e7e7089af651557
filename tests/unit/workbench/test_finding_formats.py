"""Findings for machines."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline._core.problems import Where
from hookline.workbench.check import Checked, CheckedFile
from hookline.workbench.finding_formats import github, sarif
from hookline.workbench.finding_rows import finding_rows
from hookline.workbench.findings import Finding, Level

BASE = Path("/project")


def finding(**others: Any) -> Finding:
    where = Where(file="/project/a b.json", label="a b.json", line=3, column=7, path="hooks.Stop[0]")
    usual = {"level": Level.WARNING, "code": "Odd", "message": "50% of it, is: odd\nreally", "where": where}
    return Finding(**{**usual, "effect": "it is odd", "remedy": "mend it", **others})


def checked(*findings: Finding) -> Checked:
    return Checked(files=(CheckedFile(path=Path("/project/a b.json"), dialect="muse", hooks=1),), findings=findings)


def test_github_is_given_what_it_can_read_back() -> None:
    """Percent signs and line ends are escaped everywhere, colons and commas in what is a property."""
    (line,) = github(checked(finding()), BASE)

    text = "50%25 of it, is: odd%0Areally. Effect: it is odd. Remedy: mend it."
    assert f"::warning file=a b.json,line=3,col=7,title=Odd::{text}" == line
    odd = finding(where=Where(file="/project/a:b,c.json", label=""), level=Level.NOTE, remedy="")
    assert ["::notice file=a%3Ab%2Cc.json,title=Odd::50%25 of it, is: odd%0Areally. Effect: it is odd."] == list(
        github(checked(odd), BASE)
    )


def test_sarif_has_what_consumers_need() -> None:
    """Version 2.1.0: a driver with the rules that the results point to, places as URIs, lines from 1."""
    elsewhere = Where(file="/etc/hooks.json", label="hooks.json")
    told = sarif(checked(finding(), finding(code="Other", level=Level.ERROR, where=elsewhere)), BASE, "1.2")

    assert "2.1.0" == told["version"]
    (run,) = told["runs"]
    driver = run["tool"]["driver"]
    assert ("hookline", "1.2", ["Odd", "Other"]) == (
        driver["name"],
        driver["version"],
        [each["id"] for each in driver["rules"]],
    )
    assert [("Odd", "it is odd", "mend it"), ("Other", "it is odd", "mend it")] == [
        (each["shortDescription"]["text"], each["fullDescription"]["text"], each["help"]["text"])
        for each in driver["rules"]
    ]
    first, second = run["results"]
    assert [driver["rules"][each["ruleIndex"]]["id"] for each in (first, second)] == [first["ruleId"], second["ruleId"]]
    place = first["locations"][0]["physicalLocation"]
    assert ("a%20b.json", {"startLine": 3, "startColumn": 7}) == (place["artifactLocation"]["uri"], place["region"])
    assert "hooks.Stop[0]" == first["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
    assert "file:///etc/hooks.json" == second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert "region" not in second["locations"][0]["physicalLocation"]
    assert ["warning", "error"] == [first["level"], second["level"]]
    json.dumps(told)


@pytest.mark.parametrize(("level", "fine"), [(Level.NOTE, True), (Level.WARNING, False), (Level.ERROR, False)])
def test_only_notes_are_fine(level: Level, fine: bool) -> None:
    """And a check of nothing is not."""
    assert fine == checked(finding(level=level)).is_fine
    assert not Checked(files=(), findings=()).is_fine


def test_as_json_everything_has_its_name() -> None:
    """The keys that scripts may rely on."""
    told = checked(finding()).as_json()

    assert {"files", "findings", "looked_for", "ok"} == set(told)
    assert {"level", "code", "rule", "message", "effect", "remedy", "file", "line", "column", "path"} == set(
        told["findings"][0]
    )


@pytest.mark.parametrize(("code", "words"), [("MatchesNothing", "Matches nothing"), ("E-MAN-003", "E-MAN-003")])
def test_a_rule_has_words(code: str, words: str) -> None:
    """Code scanning shows them above its findings."""
    (rule,) = sarif(checked(finding(code=code)), BASE, "1")["runs"][0]["tool"]["driver"]["rules"]

    assert words == rule["shortDescription"]["text"]


def test_a_caret_stands_under_its_sign(tmp_path: Path) -> None:
    """Also behind a tab and behind signs that take two columns; what is the same of many is folded."""
    file = tmp_path / "a.json"
    file.write_text('\t"漢字" x\n')
    where = Where(file=str(file), label="a.json", line=1, column=7)
    same = [finding(level=Level.NOTE, where=where, message=message) for message in "abc"]

    lines = ["".join(span.text for span in spans) for _, spans in finding_rows(checked(*same), tmp_path)]

    assert '   1 |  "漢字" x' in lines
    assert "     |         ^" in lines
    assert "the same of 2 more: line 1" in lines

"""Findings for machines: SARIF 2.1.0, which code scanning reads, and GitHub's workflow commands."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hookline.workbench.check import Checked
from hookline.workbench.finding_rows import shown_path
from hookline.workbench.findings import Finding, Level

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
GITHUB = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}


def sarif(checked: Checked, base: Path, version: str) -> dict[str, Any]:
    """One run of this program. Files below *base* are named from there."""
    rules = {each.code: _rule(each) for each in checked.findings}
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "hookline", "version": version, "rules": list(rules.values())}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(each, base, list(rules).index(each.code)) for each in checked.findings],
            }
        ],
    }


def _rule(finding: Finding) -> dict[str, Any]:
    """What is said of a code as such; of what differs from finding to finding, the first."""
    return {
        "id": finding.code,
        "shortDescription": {"text": _words(finding.code)},
        "fullDescription": {"text": finding.effect},
        "help": {"text": finding.remedy or finding.message},
        "defaultConfiguration": {"level": finding.level.value},
    }


def _words(code: str) -> str:
    """`MatchesNothing` as words: Matches nothing. A dialect's own code stays as it is."""
    words = re.findall(r"[A-Z][a-z]+", code)
    return " ".join(words).capitalize() if "".join(words) == code else code


def _result(finding: Finding, base: Path, index: int) -> dict[str, Any]:
    where = finding.where
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(where.file, base)}}
    if where.line:
        physical["region"] = {"startLine": where.line, "startColumn": max(1, where.column)}
    location: dict[str, Any] = {"physicalLocation": physical}
    if where.path:
        location["logicalLocations"] = [{"fullyQualifiedName": where.path}]
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.level.value,
        "message": {"text": in_one_line(finding)},
        "locations": [location],
    }


def _uri(file: str, base: Path) -> str:
    shown = Path(shown_path(file, base))
    if shown.is_absolute():
        return shown.as_uri()
    from urllib.parse import quote

    return quote(shown.as_posix())


def in_one_line(finding: Finding) -> str:
    """What was found, what comes of it, and what to write instead."""
    remedy = f" Remedy: {finding.remedy}." if finding.remedy else ""
    return f"{finding.message}. Effect: {finding.effect}.{remedy}"


def github(checked: Checked, base: Path) -> Iterator[str]:
    """A workflow command for each finding."""
    for each in checked.findings:
        where = each.where
        place = [f"file={_property(shown_path(where.file, base))}"]
        if where.line:
            place += [f"line={where.line}", f"col={max(1, where.column)}"]
        place.append(f"title={_property(each.code)}")
        yield f"::{GITHUB[each.level]} {','.join(place)}::{_data(in_one_line(each))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

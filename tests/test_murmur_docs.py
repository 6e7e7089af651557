"""docs/dialects/murmur.md against the tables that the code reads."""

import json
import re
from pathlib import Path

from hookline.dialects.murmur.contract import LEGALITY
from hookline.dialects.murmur.environment import CASE, CONFIG, DATASET, EVALUATION, FORMATION, OTEL
from hookline.dialects.murmur.interfaces import INTERFACES, OPTIONAL, REQUIRED
from hookline.dialects.murmur.rules import ARMS, RULES
from hookline.dialects.murmur.schema import rows
from hookline.session.capsule.recipes import RESOLVERS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/dialects/murmur.md").read_text(encoding="utf-8")
SESSION = ROOT / "docs/dialects/murmur-session.jsonl"
SHIPPED = ROOT / "src/hookline/shipped"


def table(first: str) -> dict[str, list[str]]:
    """The rows of the table whose head begins with *first*, by their first cell."""
    lines = PAGE[PAGE.index(f"| {first} |") :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {first.strip("`"): others for first, *others in cells}


def test_every_key_of_the_manifest_has_its_row() -> None:
    """In their order, with code and note."""
    found = table("key | is | default | code | for")

    assert [path for path, _ in rows()] == list(found)
    assert [] == [path for path, field in rows() if (field.code or "E-MAN-003") not in found[path]]


def test_the_legality_table_is_the_one_that_is_checked() -> None:
    """Each binding with the policies that go with it, and whether it may be async."""
    found = table("binding | policies besides `none` | async with `none`")
    told = {
        "left out" if binding is None else binding.value: (
            sorted(policy.value for policy in legal.policies),
            "yes" if legal.may_be_async else "never",
        )
        for binding, legal in LEGALITY.items()
    }

    assert told == {name: (_policies(cell), may) for name, (cell, may) in found.items()}


def _policies(cell: str) -> list[str]:
    """Those that a cell names, but in parentheses."""
    return sorted(re.findall(r"`([a-z-]+)`", re.sub(r"\(.*\)", "", cell)))


def test_every_function_arm_and_interface_is_named() -> None:
    """Nothing that is served is left out."""
    named = {*REQUIRED, *OPTIONAL, *ARMS, *(each.name for each in INTERFACES), *RESOLVERS, *ENVIRONMENT}

    assert [] == [each for each in sorted(named) if each not in PAGE]
    assert [] == [rule.event.point.name for rule in RULES if f"`{rule.event.point.name}`" not in PAGE]


ENVIRONMENT = {CASE, CONFIG, DATASET, EVALUATION, FORMATION, OTEL}


def test_every_shipped_hook_has_its_row() -> None:
    """By the name of its artifact."""
    assert sorted(each.name for each in SHIPPED.iterdir() if each.is_dir()) == sorted(
        table("artifact | binding | policy | needs")
    )


def test_what_the_code_cites_is_there() -> None:
    """Each section number in a comment is a heading of the page, or stands in one."""
    folders = ("src/hookline/dialects/murmur", "src/hookline/session/capsule")
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py")]
    cited = {number for text in texts for number in re.findall(r"sections? ([0-9]+(?:\.[0-9]+)?)", text)}
    headings = "\n".join(re.findall(r"^#+ .*$", PAGE, re.MULTILINE))

    assert [] == [number for number in sorted(cited) if not re.search(rf"(^| ){re.escape(number)}[. ]", headings)]


def test_the_documented_trace_is_whole() -> None:
    """Every line is an object with the five common fields in their order, and its parent stands before it."""
    seen: set[str | None] = {None}
    for line in SESSION.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        assert ["event_type", "event_id", "parent_id", "session_id", "timestamp"] == list(told)[:5]
        assert told["parent_id"] in seen
        seen.add(told["event_id"])

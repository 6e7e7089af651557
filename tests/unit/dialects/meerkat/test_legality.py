"""Section 5: which entries may stand together."""

from itertools import product

import pytest

from hookline._core.hooks import Source
from hookline._core.problems import Scope
from hookline.dialects.meerkat.entries import Entry, read_config
from hookline.dialects.meerkat.legality import violations
from hookline.dialects.meerkat.words import POST_COMMIT, Capability, HookPoint, Mode

OBSERVE, GUARDRAIL = Capability.OBSERVE, Capability.GUARDRAIL
BACKGROUND = Mode.BACKGROUND
SETTLED = HookPoint.PEER_EGRESS_COMMITTED


@pytest.mark.parametrize("point", HookPoint, ids=lambda point: point.value)
def test_the_table(point: HookPoint) -> None:
    """Observers stand everywhere; a guardrail only in the foreground of the eight points of the loop."""
    legal = [
        (mode, capability)
        for mode, capability in product(Mode, Capability)
        if not violations([Entry(point=point, mode=mode, capability=capability)])
    ]
    observers = [(Mode.FOREGROUND, OBSERVE), (BACKGROUND, OBSERVE)]
    assert set(observers + ([] if point in POST_COMMIT else [(Mode.FOREGROUND, GUARDRAIL)])) == set(legal)


TEXTS = [
    ("an empty id", [Entry(id="")], ["hook id cannot be empty"]),
    ("a blank id", [Entry(id=" \t\u2003")], ["hook id cannot be empty"]),
    ("a background guardrail", [Entry(id="a b", mode=BACKGROUND, capability=GUARDRAIL)],
     ["background hooks must be observe-only: a b"]),
    ("a guardrail after a commit", [Entry(id="g", point=SETTLED, capability=GUARDRAIL)],
     ["post-commit hook points are observe-only: g"]),
    ("a disabled one", [Entry(id="g", enabled=False, mode=BACKGROUND, capability=GUARDRAIL)],
     ["background hooks must be observe-only: g"]),
    ("two of an id, of which one is off", [Entry(id="d", enabled=False), Entry(id="d")], ["duplicate hook id: d"]),
    ("two of an id at different points", [Entry(id="d"), Entry(id="d", point=SETTLED)], ["duplicate hook id: d"]),
    ("three of an id", [Entry(id="d")] * 1 + [Entry(id="d", priority=1), Entry(id="d", priority=2)],
     ["duplicate hook id: d", "duplicate hook id: d"]),
    ("ids that differ", [Entry(id="d"), Entry(id="D"), Entry(id="d ")], []),
    ("everything at once, in this order",
     [Entry(id=" ", priority=1), Entry(id=" ", point=SETTLED, mode=BACKGROUND, capability=GUARDRAIL)],
     ["hook id cannot be empty", "hook id cannot be empty", "background hooks must be observe-only:  ",
      "post-commit hook points are observe-only:  ", "duplicate hook id:  "]),
    ("the first in the list comes first",
     [Entry(id="a", point=SETTLED, capability=GUARDRAIL), Entry(id="")],
     ["post-commit hook points are observe-only: a", "hook id cannot be empty"]),
]  # fmt: skip


@pytest.mark.parametrize("case", TEXTS, ids=[case[0] for case in TEXTS])
def test_every_breach_has_the_text_of_the_document(case: tuple[str, list[Entry], list[str]]) -> None:
    """All breaches are found; the first is the one that the document's engine would fail with."""
    _, entries, texts = case

    found = violations(entries)

    assert texts == [each.text for each in found]
    assert all(each.problem.scope is Scope.SETTINGS for each in found)
    assert all(each.problem.message.startswith(f"{each.text}: ") for each in found)


def test_a_breach_stands_at_the_value_to_change() -> None:
    """Each problem points at the field that it is about, or at the entry where that is not written."""
    text = b"""\
[[hooks.entries]]
[[hooks.entries]]
mode = "background"
capability = "guardrail"
point = "peer_ingress_committed"
[[hooks.entries]]
id = ""
"""
    source = Source(layer="active", label="config.toml", path="/c.toml")

    problems = [each.problem for each in violations(read_config(text, source).config.entries)]

    assert [
        ("BackgroundDenies", 3, 8, "hooks.entries[1].mode"),
        ("PostCommitDenies", 4, 14, "hooks.entries[1].capability"),
        ("DuplicateId", 2, 1, "hooks.entries[1].id"),
        ("EmptyId", 7, 6, "hooks.entries[2].id"),
    ] == [(each.code, each.where.line, each.where.column, each.where.path) for each in problems]
    assert 'the first stands at /c.toml:1:1; write an id of its own, for an entry without an id is called "hook"' in (
        problems[2].message
    )

"""docs/guide/replay.md: every word that is printed is explained. What it shows is run by tests/test_guides.py."""

from tests.test_docs import ROOT

from hookline.workbench.replayed import Kind, Replayed

PAGE = "docs/guide/replay.md"


def test_it_has_every_kind_of_change_and_every_member() -> None:
    """A word that is printed is a word that is explained."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert [] == [kind.value for kind in Kind if f"`{kind.value}`" not in text]
    assert [] == [name for name in Replayed(against=()).as_json() if name != "sessions" and f"`{name}`" not in text]

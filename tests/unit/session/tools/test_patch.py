from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.session.tools._patch import hunks_of, lines_of
from hookline.session.tools.files import _every_place

TEXT = st.text(alphabet="ab\n", max_size=60)
FIND = st.text(alphabet="ab\n", min_size=1, max_size=4)


def patch(text: str, find: str, replace: str) -> list[dict[str, Any]]:
    return hunks_of(text, find, replace, _every_place(text, find))


def applied(lines: list[str], hunks: list[dict[str, Any]]) -> list[str]:
    """*lines* after the hunks, each of which has to fit where it says."""
    made: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk["oldStart"] - 1
        made += lines[at:start]
        assert len(made) == hunk["newStart"] - 1
        old = [line[1:] for line in hunk["lines"] if line[0] != "+"]
        new = [line[1:] for line in hunk["lines"] if line[0] != "-"]
        assert old == lines[start : start + hunk["oldLines"]]
        assert len(new) == hunk["newLines"]
        made += new
        at = start + hunk["oldLines"]
    return made + lines[at:]


def bare(text: str) -> list[str]:
    return [line.removesuffix("\n") for line in lines_of(text)]


@given(TEXT, FIND, st.text(alphabet="abc\n", max_size=4))
def test_applying_the_patch_makes_the_edit(text: str, find: str, replace: str) -> None:
    """Whatever is replaced by whatever: the hunks, applied to the old lines, give the new ones."""
    assert bare(text.replace(find, replace)) == applied(bare(text), patch(text, find, replace))


def test_a_hunk_has_three_lines_of_context() -> None:
    """One changed line in the middle of a file."""
    text = "".join(f"{number}\n" for number in range(1, 11))

    assert patch(text, "5", "five") == [
        {
            "oldStart": 2,
            "oldLines": 7,
            "newStart": 2,
            "newLines": 7,
            "lines": [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"],
        }
    ]


def test_lines_that_only_help_to_find_the_place_are_context() -> None:
    """What `find` and `replace` share at their ends is not shown as changed."""
    assert patch("a\nb\nc\n", "a\nb\nc\n", "a\nB\nc\n")[0]["lines"] == [" a", "-b", "+B", " c"]


@pytest.mark.parametrize(
    ("text", "find", "replace", "lines"),
    [
        ("a\nb\nc\n", "b\n", "", [" a", "-b", " c"]),
        ("a\nc\n", "a\n", "a\nb\n", [" a", "+b", " c"]),
        ("a\nb", "b", "c", [" a", "-b", "+c"]),
        ("a\n", "\n", "", ["-a", "+a"]),
        ("a", "a", "", ["-a"]),
    ],
    ids=["a line removed", "a line added", "no newline at the end", "the last newline removed", "all removed"],
)
def test_edges(text: str, find: str, replace: str, lines: list[str]) -> None:
    """Whole lines come and go as whole lines, at the edges of a file too."""
    assert patch(text, find, replace)[0]["lines"] == lines


def test_changes_far_apart_are_hunks_of_their_own() -> None:
    """Hunks join where their context would touch, and the later ones count the lines that came before."""
    text = "x\n" + "-\n" * 7 + "x\n" + "-\n" * 5 + "x\n"
    hunks = patch(text, "x\n", "x\ny\n")

    assert [(hunk["oldStart"], hunk["newStart"]) for hunk in hunks] == [(1, 1), (7, 8)]

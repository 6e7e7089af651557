import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline._core.errors import ToolError
from hookline.session.ports import Risk
from hookline.session.tools import builtin_tools, search
from hookline.session.tools._glob import regex_of
from hookline.session.tools.search import _compiled

SEARCH = next(tool for tool in builtin_tools() if tool.spec.name == "search")


async def found(context: Any, pattern: str, **more: Any) -> list[str]:
    result = await SEARCH.call({"pattern": pattern, **more}, context())
    return result.text.split("\n")


@pytest.fixture
def tree(workspace: Path) -> Path:
    for name, text in {
        "b.txt": "needle\n",
        "a.py": "hay\nthe needle\n",
        "sub/c.py": "needle in sub\r\n",
        "sub/deep/d.ts": "needle é\n",
        ".git/config": "needle\n",
    }.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return workspace


async def test_results_are_path_line_and_text_in_order(tree: Path, context: Any) -> None:
    """Files in order of their names, folders after them, `.git` left out."""
    assert await found(context, "needle") == [
        "a.py:2: the needle",
        "b.txt:1: needle",
        "sub/c.py:1: needle in sub",
        "sub/deep/d.ts:1: needle é",
    ]


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({"path": "sub"}, ["sub/c.py:1: needle in sub", "sub/deep/d.ts:1: needle é"]),
        ({"path": "b.txt"}, ["b.txt:1: needle"]),
        ({"glob": "*.py"}, ["a.py:2: the needle", "sub/c.py:1: needle in sub"]),
        ({"glob": "sub/*"}, ["sub/c.py:1: needle in sub"]),
        ({"path": "sub", "glob": "deep/*.{js,ts}"}, ["sub/deep/d.ts:1: needle é"]),
        ({"glob": "*.nothing"}, ["no match"]),
    ],
    ids=["a folder", "a file", "by name", "by path", "by path from the folder", "none"],
)
async def test_where_to_search(tree: Path, context: Any, more: dict[str, Any], wanted: list[str]) -> None:
    """`path` and `glob` say which files are meant."""
    assert await found(context, "needle", **more) == wanted


async def test_each_line_is_tested_by_itself(tree: Path, context: Any) -> None:
    """`^` and `$` are the ends of a line, and flags work."""
    assert await found(context, "(?i)^NEEDLE$") == ["b.txt:1: needle"]


async def test_results_are_bounded(tree: Path, context: Any) -> None:
    """No more than asked for, and the answer says that there are more."""
    assert await found(context, "needle", max_results=1) == [
        "a.py:2: the needle",
        "[only the first 1; make the pattern or the path narrower]",
    ]


async def test_a_long_line_is_cut(workspace: Path, context: Any) -> None:
    """A minified file does not fill the answer."""
    (workspace / "a").write_text("x" * 10_000)

    assert await found(context, "x") == [f"a:1: {'x' * 400}…"]


async def test_what_is_not_searched(workspace: Path, context: Any) -> None:
    """Binary files and links are passed over; a file that is too large, or no file, is counted."""
    (workspace / "binary").write_bytes(b"needle\0")
    (workspace / "large").write_bytes(b"needle\n" * 150_000 + b"x" * 1024 * 1024)
    (workspace / "link").symlink_to("/etc/passwd")
    (workspace / "folder-link").symlink_to("/etc")
    os.mkfifo(workspace / "pipe")

    assert await found(context, "needle|root") == [
        "no match",
        "[not searched: 2 files over 1 MiB or not readable]",
    ]


async def test_lines_that_are_no_text_are_shown_as_such(workspace: Path, context: Any) -> None:
    """A file need not be UTF-8 to be searched, nor its name to be shown."""
    (workspace / os.fsdecode(b"\xff")).write_bytes(b"needle \xff\n")

    assert await found(context, "needle") == ["\N{REPLACEMENT CHARACTER}:1: needle \N{REPLACEMENT CHARACTER}"]


@pytest.mark.parametrize(("pattern", "said"), [("(", "missing \\)"), ("(?=a)", "no look-around"), (r"(a)\1", "RE2")])
async def test_a_pattern_that_is_none_is_refused(context: Any, pattern: str, said: str) -> None:
    """The error names the field and says what the engine does not have."""
    with pytest.raises(ToolError, match=rf"field `pattern`: .*{said}"):
        await found(context, pattern)


async def test_a_pattern_that_hangs_others_is_linear(workspace: Path, context: Any) -> None:
    """No pattern can hold up the agent; the bound is generous, backtracking would take for ever."""
    (workspace / "a").write_text("a" * 100_000)
    async with asyncio.timeout(10):
        assert await found(context, "(a*)*b") == ["no match"]


async def test_a_place_that_is_not_there_is_said_to_be_so(context: Any) -> None:
    """Nothing found and nowhere to look are two answers."""
    with pytest.raises(ToolError, match="/none does not exist"):
        await found(context, "x", path="none")


async def test_a_search_that_takes_too_long_says_so(tree: Path, context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found until then is told, with a way to go on."""
    monkeypatch.setattr(search, "MAX_SECONDS", -1.0)

    assert await found(context, "needle") == ["no match", "[stopped after -1 s; search a folder further down]"]


@pytest.mark.parametrize(("path", "risk"), [(".", Risk.READS), ("..", Risk.REACHES_OUT), ("/", Risk.REACHES_OUT)])
def test_searching_reads_what_it_is_told_to(workspace: Path, path: str, risk: Risk) -> None:
    """Outside the workspace it reaches out."""
    assert SEARCH.risk({"pattern": "x", "path": path}, workspace) is risk


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "sub/a.py", True),
        ("*.py", "a.pyc", False),
        ("sub/*.py", "sub/a.py", True),
        ("sub/*.py", "sub/deep/a.py", False),
        ("sub/**", "sub/deep/a.py", True),
        ("**/a.py", "a.py", True),
        ("**/deep/*.py", "sub/deep/a.py", True),
        ("?.py", "a.py", True),
        ("?.py", "ab.py", False),
        ("a.{py,js}", "a.js", True),
        ("a.{py,js}", "a.ts", False),
        ("{*.py,b}", "a.py", True),
        ("a.b", "axb", False),
        ("a{b", "a{b", True),
        ("a\nb", "a\nb", True),
        ("é?", "éé", True),
    ],
)
def test_globs(glob: str, path: str, matches: bool) -> None:
    """What the pieces of a glob stand for."""
    assert bool(_compiled(regex_of(glob), "glob").search(path.encode())) is matches


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_any_glob_compiles(glob: str) -> None:
    """There is no wrong glob."""
    assert _compiled(regex_of(glob), "glob")


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="*?{}/"), min_size=1, max_size=40))
def test_a_plain_glob_is_its_own_match(text: str) -> None:
    """Characters that mean nothing in a glob mean themselves, whatever they mean in an expression."""
    assert _compiled(regex_of(text), "glob").search(text.encode())

from pathlib import Path

import pytest

from hookline._core.problems import Scope
from hookline.dialects.muse.trust import trusted_folders


def test_the_word_is_trusted(tmp_path: Path) -> None:
    """A folder is trusted by the one word that says so; what else is recorded does no harm."""
    store = tmp_path / "trust.json"
    store.write_text(
        '{"schema_version": 1, "by": "x", "projects": {"/a": {"decision": "trusted", "at": 5},'
        ' "/b": {"decision": "untrusted"}, "/c/": {"decision": "trusted"}}}'
    )

    assert (frozenset({"/a", "/c"}), None) == trusted_folders(store)


@pytest.mark.parametrize(("entry", "found"), [('{"decision": "trust"}', "'trust'"), ("{}", "None")])
def test_another_word_trusts_nobody_and_is_said(tmp_path: Path, entry: str, found: str) -> None:
    """Nearly the word is not the word: the folder, what was found and what is known are named."""
    store = tmp_path / "trust.json"
    store.write_text('{"schema_version": 1, "projects": {"/a": {"decision": "trusted"}, "/b": ' + entry + "}}")

    folders, problem = trusted_folders(store)

    assert folders == {"/a"}
    assert problem is not None
    assert problem.message == (
        f"the decision about /b trusts nobody: it has to be `trusted` or `untrusted`, found {found}"
    )


@pytest.mark.parametrize("content", [None, '{"schema_version": 1}'], ids=["no file", "no folders"])
def test_nobody_asked_yet(tmp_path: Path, content: str | None) -> None:
    """Where nothing is recorded nobody is trusted, and nothing is wrong."""
    store = tmp_path / "trust.json"
    if content is not None:
        store.write_text(content)

    assert (frozenset(), None) == trusted_folders(store)


GOOD = '"projects": {"/a": {"decision": "trusted"}}'
DAMAGED = [
    "",
    "[]",
    "{",
    f"{{{GOOD}}}",
    f'{{"schema_version": 2, {GOOD}}}',
    f'{{"schema_version": true, {GOOD}}}',
    f'{{"schema_version": 1, {GOOD}, {GOOD}}}',
    '{"schema_version": 1, "projects": {"/a": {"decision": "trusted"}, "/b": "trusted"}}',
    '{"schema_version": 1, "projects": ["/a"]}',
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_trusts_nobody(tmp_path: Path, content: str) -> None:
    """A file that is not exactly what it should be trusts no folder at all, also none that it names; that is noted."""
    store = tmp_path / "trust.json"
    store.write_text(content)

    trusted, problem = trusted_folders(store)

    assert not trusted
    assert problem is not None
    assert (Scope.NOTE, str(store)) == (problem.scope, problem.where.file)


def test_a_file_that_cannot_be_read_trusts_nobody(tmp_path: Path) -> None:
    """A directory in its place is a damaged trust file like any other."""
    trusted, problem = trusted_folders(tmp_path)

    assert not trusted
    assert problem is not None
    assert "Is a directory" in problem.message

"""The table of keys: what it proposes can be written, and what documentation reads is all that there is."""

from pathlib import Path

import pytest

from hookline._core.problems import Scope
from hookline.dialects.murmur.fields import REQUIRED, Field, TableKind
from hookline.dialects.murmur.manifest import parse_capsule
from hookline.dialects.murmur.schema import homes, rows

ROWS = [pytest.param(path, row, id=path) for path, row in rows() if path != "inference.compaction.system_prompt_file"]
NEEDED = {
    "": "name: demo, version: 1.0.0",
    "artifacts[]": "name: a, version: 1.0.0, runtime: hook",
    "observability.eval": "scorers: []",
    "observability.eval.scorers[]": "type: exit_ok, name: a",
}


def around(path: str, inner: str) -> str:
    """A manifest that has *inner* in the table at *path*."""
    written = {part.split(":")[0] for part in inner.split(", ")}
    needed = [each for each in NEEDED.get(path, "").split(", ") if each and each.split(":")[0] not in written]
    text = "{" + ", ".join([*needed, inner]) + "}"
    if not path:
        return text
    outer, _, name = path.rpartition(".")
    return around(outer, f"{name.removesuffix('[]')}: [{text}]" if name.endswith("[]") else f"{name}: {text}")


@pytest.mark.parametrize(("path", "row"), ROWS)
def test_what_is_proposed_can_be_written(path: str, row: Field) -> None:
    """The sample of every key is a value of it."""
    table, _, name = path.rpartition(".")
    text = around(table, f"{name}: {row.kind.sample}")
    _, problems = parse_capsule(text.encode(), Path("demo.yaml"))

    assert [] == [each.message for each in problems if each.where.path == path and each.scope is not Scope.NOTE]


def test_every_key_has_something_to_know() -> None:
    """Documentation has a line for each: its noun, its default, a note."""
    assert [] == [path for path, row in rows() if not row.note or not row.kind.noun]
    assert len(dict(rows())) == len(list(rows()))


def test_what_is_required_is_no_table() -> None:
    """So a table that is left out is its defaults."""
    assert [] == [path for path, row in rows() if isinstance(row.kind, TableKind) and row.default is REQUIRED]


def test_keys_without_effect_are_nowhere_at_home() -> None:
    """Nobody is sent to write them."""
    assert "spawn" not in homes()
    assert ("`lifecycle`",) == homes()["max_task_reopens"]

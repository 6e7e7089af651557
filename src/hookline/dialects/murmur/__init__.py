"""Murmur: hooks that are sandboxed components, named and granted by a capsule's manifest."""

from collections.abc import Mapping
from pathlib import Path

from hookline.dialects._base import Look, Package, Unit, deferred
from hookline.dialects.murmur.dialect import DIALECT

MANIFEST = "murmur.yaml"


def files(env: Mapping[str, str], workspace: Path) -> tuple[Path, ...]:
    """The manifest of a capsule in the folder, and those in the folders of it."""
    return (workspace / MANIFEST, *sorted(workspace.glob(f"*/{MANIFEST}")))


PACKAGE = Package(
    dialect=DIALECT,
    files=files,
    read_payload=deferred(f"{__name__}.reading", "read_payload"),
    schemas=deferred(f"{__name__}.point_schemas", "schemas"),
    look=Look(
        title="Murmur",
        marks=frozenset(
            {
                ("artifacts", "*", "runtime"),
                ("artifacts", "*", "version"),
                ("capabilities", "conversation"),
                ("inference", "driver"),
                ("lifecycle", "max_task_reopens"),
            }
        ),
        unit=Unit.SECONDS,
        apart="its hooks are WebAssembly components, which are programs and no lines of a file: "
        "`hookline new hook NAME` begins one",
    ),
)

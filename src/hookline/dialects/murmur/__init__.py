"""Murmur: hooks that are sandboxed components, named and granted by a capsule's manifest."""

from collections.abc import Mapping
from pathlib import Path

from hookline.dialects._base import Package, deferred
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
)

"""Meerkat's typed hook points (source document: "Hook Authoring", 14 points; docs/dialects/meerkat.md)."""

from hookline.dialects._base import Package, deferred
from hookline.dialects.meerkat.dialect import DIALECT
from hookline.dialects.meerkat.examining import CONVENTIONS, examine, files
from hookline.dialects.meerkat.sources import load, load_file, override

PACKAGE = Package(
    dialect=DIALECT,
    load=lambda env, workspace, trust: load(env=env, workspace=workspace, trust=trust),
    load_file=lambda path, env: load_file(path, env=env),
    override=lambda loaded, given, env: override(loaded, given, env=env),
    files=files,
    examine=examine,
    conventions=CONVENTIONS,
    schemas=deferred(f"{__name__}.point_schemas", "schemas"),
    stream=deferred(f"{__name__}.stream", "Stream"),
    read_payload=deferred(f"{__name__}.reading", "read_payload"),
)

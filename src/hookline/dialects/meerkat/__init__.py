"""Meerkat's typed hook points (source document: "Hook Authoring", 14 points; docs/dialects/meerkat.md)."""

from hookline.dialects._base import Look, Package, Unit, deferred
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
    look=Look(
        title="Meerkat",
        marks=frozenset(
            {
                ("hooks", "entries"),
                ("hooks", "default_timeout_ms"),
                ("entries", "*", "runtime"),
                ("entries", "*", "capability"),
                ("runtime", "type"),
                ("capability",),
            }
        ),
        unit=Unit.MILLISECONDS,
    ),
    write=deferred(f"{__name__}.writing", "write"),
    untold=deferred(f"{__name__}.writing", "untold"),
)

"""Meerkat's typed hook points (source document: "Hook Authoring", 14 points; docs/dialects/meerkat.md)."""

from hookline.dialects._base import Conventions, Look, Package, Unit, deferred
from hookline.dialects.meerkat.dialect import DIALECT

# Its files are read by what is imported when one is: whoever wants to know only its points need not wait for that.
_load, _load_file, _override = (deferred(f"{__name__}.sources", name) for name in ("load", "load_file", "override"))

PACKAGE = Package(
    dialect=DIALECT,
    load=lambda env, workspace, trust: _load(env=env, workspace=workspace, trust=trust),
    load_file=lambda path, env: _load_file(path, env=env),
    override=lambda loaded, given, env: _override(loaded, given, env=env),
    files=deferred(f"{__name__}.examining", "files"),
    examine=deferred(f"{__name__}.examining", "examine"),
    conventions=Conventions(
        timeout_key="timeout_ms",
        instead_of_variables="the event is one JSON object on standard input, and no shell expands an argument",
    ),
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

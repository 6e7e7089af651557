"""Muse Code's settings-level hooks (source document: "Hooks", Muse Code 1.3.0; docs/dialects/muse.md)."""

from hookline.dialects._base import Look, Package, TrustRecords, Unit, deferred
from hookline.dialects.muse.dialect import DIALECT
from hookline.dialects.muse.examining import CONVENTIONS, examine, files
from hookline.dialects.muse.report import startup_lines
from hookline.dialects.muse.rules import TOOL_ALIASES
from hookline.dialects.muse.sources import load, load_file

PACKAGE = Package(
    dialect=DIALECT,
    load=lambda env, workspace, trust: load(env=env, workspace=workspace, trust=trust),
    load_file=lambda path, env: load_file(path, env=env),
    files=files,
    examine=examine,
    conventions=CONVENTIONS,
    schemas=deferred(f"{__name__}.point_schemas", "schemas"),
    report=startup_lines,
    stream=deferred(f"{__name__}.render", "Stream"),
    notices=deferred(f"{__name__}.render", "notices"),
    trust=TrustRecords(
        file=deferred(f"{__name__}.records", "trust_file"),
        read=deferred(f"{__name__}.records", "read_decisions"),
        trust=deferred(f"{__name__}.records", "trust"),
        forget=deferred(f"{__name__}.records", "forget"),
    ),
    programs=frozenset({"muse"}),
    tool_aliases=TOOL_ALIASES,
    read_payload=deferred(f"{__name__}.reading", "read_payload"),
    look=Look(
        title="Muse Code",
        marks=frozenset(
            {
                ("managed_hooks_path",),
                ("managed_hooks_env_vars",),
                ("hooks", "state"),
                ("hooks", "*", "*", "hooks", "*", "outputCapabilities"),
                ("hooks", "*", "*", "hooks", "*", "onFailure", "command"),
            }
        ),
        unit=Unit.SECONDS,
    ),
    write=deferred(f"{__name__}.writing", "write"),
    untold=deferred(f"{__name__}.writing", "untold"),
    plugins=deferred(f"{__name__}.plugins.commands", "commands"),
)

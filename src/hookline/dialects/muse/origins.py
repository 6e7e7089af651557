"""What a hook of a plugin carries along: whose it is (section 17.1)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginOrigin:
    """Which plugin's hook it is: what records say of it. Stands in `Hook.facts`."""

    plugin_id: str
    capability_id: str
    source_digest: str

"""What a hook carries along in `Hook.facts`: whose it is (section 17.1), and what it is asked for (section 19)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginOrigin:
    """Which plugin's hook it is: what records say of it."""

    plugin_id: str
    capability_id: str
    source_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTerms:
    """On which terms a hook is asked for skills: whether they count, and the trusted project that they lie in.

    `root` is empty where the project is not trusted.
    """

    applied: bool
    root: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFacts:
    """All of it; `origin` is None for a hook of the settings, `skills` where none are asked for."""

    origin: PluginOrigin | None = None
    skills: SkillTerms | None = None


def origin_of(facts: object) -> PluginOrigin | None:
    """Which plugin's hook it is that has these facts."""
    return facts.origin if isinstance(facts, HookFacts) else None

"""Before a session: what it will work with is being laid out."""

from dataclasses import dataclass

from hookline._core.effects import WriteManifests
from hookline._core.points import Event, hook_point


@hook_point("before_stage", admits=(WriteManifests,))
@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeStage(Event):
    """The tools of a capsule are laid out, and nobody has read their manifests. `shell_allow` are its programs."""

    shell_allow: tuple[str, ...] = ()

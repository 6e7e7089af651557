"""What a hook's payloads and answers need of the capsule that it belongs to."""

from dataclasses import dataclass
from pathlib import Path

from hookline._core.capsule import Artifact, ArtifactKind, Capsule
from hookline._core.hooks import Hook
from hookline._core.problems import Where
from hookline.dialects.murmur.interfaces import CURRENT
from hookline.dialects.murmur.rules import NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The capsule, the hook's entry in it, and the hook's own manifest: `version` down to `policy`.

    `binding` None is every event of a session. `interface` is the name of the one that it is called through.
    """

    capsule: Capsule
    artifact: Artifact
    version: str
    binding: str | None = None
    is_async: bool = False
    policy: str = NONE
    interface: str = CURRENT.name

    @property
    def name(self) -> str:
        return self.artifact.name

    @property
    def full_name(self) -> str:
        return f"{self.artifact.name}@{self.version}"


def facts_of(hook: Hook) -> Facts:
    """The facts of *hook*: those that it was built with, or those of a capsule that says nothing."""
    if isinstance(hook.facts, Facts):
        return hook.facts
    nowhere = Where(file="", label="")
    artifact = Artifact(name=hook.label or hook.id, version="", kind=ArtifactKind.HOOK, where=nowhere)
    return Facts(capsule=Capsule(name="", version="", path=Path()), artifact=artifact, version="")

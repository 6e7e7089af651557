"""Staged hooks become hooks of the engine."""

from collections.abc import Iterable
from dataclasses import dataclass

from hookline._core import events as ev
from hookline._core.answer import Word
from hookline._core.capsule import Artifact, Capsule
from hookline._core.effects import EmitArtifact
from hookline._core.hooks import Condition, Hook, SessionSettings, Source
from hookline._core.points import Event
from hookline._core.targets import Target
from hookline.dialects.murmur.facts import Facts
from hookline.dialects.murmur.interfaces import CURRENT
from hookline.dialects.murmur.rules import ARMS, DENY, EVENTS_OF, GATED, NONE, SESSION_EVENTS, STAGE

DIALECT = "murmur"

DRAIN = 15.0  # seconds for all async hooks together when a session ends: the number of the source document


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A hook's entry, what its own manifest says, and the component to call.

    `interface` is the name of the one that the component was found to export. `stage_target` is what is called at
    staging: an instance for one call, with less around it.
    """

    artifact: Artifact
    version: str
    binding: str | None = None
    is_async: bool = False
    policy: str = NONE
    interface: str = CURRENT.name
    target: Target
    stage_target: Target


def hooks_of(capsule: Capsule, staged: Iterable[Staged]) -> tuple[Hook, ...]:
    """The hooks of *capsule*, in the order of *staged*, which is that of its manifest."""
    return tuple(_hook(each, capsule) for each in staged)


def settings_of(capsule: Capsule) -> SessionSettings:
    """What the manifest says of the session itself."""
    return SessionSettings(reopen_limit=capsule.lifecycle.max_reopens, drain=DRAIN)


def _hook(staged: Staged, capsule: Capsule) -> Hook:
    artifact, where = staged.artifact, staged.artifact.where
    event, *also = _events(staged)
    return Hook(
        id=artifact.name,
        key=f"{artifact.name}@{staged.version}",
        event=event,
        also=tuple(also),
        target=staged.stage_target if staged.binding == STAGE else staged.target,
        dialect=DIALECT,
        source=Source(layer="capsule", label=where.label, path=where.file, line=where.line, column=where.column),
        condition=_condition(staged),
        commits=_commits(staged, (event, *also)),
        timeout=capsule.limits.deadline,
        background=staged.is_async,
        label=artifact.name,
        facts=Facts(
            capsule=capsule,
            artifact=artifact,
            version=staged.version,
            binding=staged.binding,
            is_async=staged.is_async,
            policy=staged.policy,
            interface=staged.interface,
        ),
    )


def _events(staged: Staged) -> tuple[type[Event], ...]:
    """A policy hook is asked before the calls that it is told of (section 15.6)."""
    told = SESSION_EVENTS if staged.binding is None else EVENTS_OF[staged.binding]
    return (ev.BeforeDispatch, *told) if staged.policy == DENY else told


def _condition(staged: Staged) -> Condition | None:
    return GATED[staged.binding] if staged.policy == DENY and staged.binding is not None else None


def _commits(staged: Staged, events: tuple[type[Event], ...]) -> frozenset[Word]:
    """The word of the declared policy, and an artifact, which no policy has a word for."""
    if staged.is_async:
        return frozenset()
    word = ARMS[staged.policy]
    commits: set[Word] = set() if word is None else {word}
    if ev.AfterModelCall in events:
        commits.add(EmitArtifact)
    return frozenset(commits)

"""What each effect does to the session: one function per effect, found through a table."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hookline._core.effects import (
    AddContext,
    AddFeedback,
    Effect,
    EmitArtifact,
    EndRun,
    Notify,
    Reopen,
    ReplaceContext,
    RewriteInput,
    SeedContext,
    WriteManifests,
)
from hookline._core.ports import Recorder
from hookline._core.records import Noted
from hookline._core.resolution import Resolution
from hookline.session.conversation import Conversation


@dataclass(slots=True, kw_only=True)
class Fired:
    """An event that was fired, and what its effects left for the loop to do. `feedback` holds hooks and their texts."""

    resolution: Resolution
    feedback: list[tuple[str, str]] = field(default_factory=list)
    end: EndRun | None = None
    reopen: Reopen | None = None
    reopened_by: str = ""

    @property
    def denied(self) -> bool:
        return self.resolution.denied

    @property
    def reason(self) -> str:
        return self.resolution.reason

    @property
    def refusal(self) -> str:
        """What the model is told of a call that was denied."""
        return self.resolution.refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What an applier may touch."""

    fired: Fired
    conversation: Conversation
    recorder: Recorder


Applier = Callable[[Any, str, Scene], None]

APPLIERS: dict[type[Effect], Applier] = {}


def applies(effect: type[Effect]) -> Callable[[Applier], Applier]:
    """Make a function the one that applies *effect*."""

    def register(applier: Applier) -> Applier:
        APPLIERS[effect] = applier
        return applier

    return register


def apply_all(resolution: Resolution, conversation: Conversation, recorder: Recorder) -> Fired:
    """Apply every effect that counts, in configured order."""
    fired = Fired(resolution=resolution)
    scene = Scene(fired=fired, conversation=conversation, recorder=recorder)
    for each in resolution.applied:
        APPLIERS[type(each.effect)](each.effect, each.hook, scene)
    return fired


@applies(AddContext)
def _add_context(effect: AddContext, hook: str, scene: Scene) -> None:
    event = scene.fired.resolution.event
    scene.conversation.hold_context(effect.text, point=event.point.name, hook=hook, origin=event.origin)


@applies(AddFeedback)
def _add_feedback(effect: AddFeedback, hook: str, scene: Scene) -> None:
    scene.fired.feedback.append((hook, effect.text))


@applies(RewriteInput)
def _rewrite_input(effect: RewriteInput, hook: str, scene: Scene) -> None:
    """Nothing to do: the resolution's event already carries the new input, and the gate reads it there."""


@applies(Notify)
def _notify(effect: Notify, hook: str, scene: Scene) -> None:
    scene.recorder.record(Noted(origin=scene.fired.resolution.event.origin, text=effect.message, hook=hook))


@applies(EndRun)
def _end_run(effect: EndRun, hook: str, scene: Scene) -> None:
    scene.fired.end = effect


@applies(Reopen)
def _reopen(effect: Reopen, hook: str, scene: Scene) -> None:
    scene.fired.reopen = effect
    scene.fired.reopened_by = hook


@applies(ReplaceContext)
@applies(SeedContext)
@applies(WriteManifests)
@applies(EmitArtifact)
def _left_to_the_capsule(effect: Effect, hook: str, scene: Scene) -> None:
    """Nothing to do here: whoever fired the event knows what of it fits, and takes it from the resolution."""

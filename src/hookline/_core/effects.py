"""Every other change that a hook may ask of the session, and how two of a kind combine."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, ClassVar

from hookline._core.messages import Message


class Combine(Enum):
    """What happens when several hooks ask for the same kind of effect; the order is the configured one."""

    APPEND = "append"
    FIRST_WINS = "first_wins"
    LAST_WINS = "last_wins"


@dataclass(frozen=True, slots=True)
class Effect:
    """Base of all effects. A subclass says how two of it combine; the losers stand in `Resolution.ignored`."""

    combine: ClassVar[Combine] = Combine.APPEND

    def applied_to(self, event: Any) -> Any:
        """The event as this effect leaves it for whoever is asked next: as it was, for nearly all of them."""
        return event

    def is_sound(self) -> bool:
        """Whether it holds what its fields say, where wrong values would otherwise be met only when it is applied."""
        return all(isinstance(getattr(self, each.name), str) for each in fields(self))


@dataclass(frozen=True, slots=True)
class AddContext(Effect):
    """Text that the model reads with its next request, as the developer's."""

    text: str


@dataclass(frozen=True, slots=True)
class AddFeedback(Effect):
    """Text that the model reads beside the result of the call it concerns. The result itself stands."""

    text: str


@dataclass(frozen=True, slots=True)
class RewriteInput(Effect):
    """Replace the whole input of the pending tool call. It is validated and approved like the model's own."""

    input: Mapping[str, Any]
    combine: ClassVar[Combine] = Combine.LAST_WINS

    def __post_init__(self) -> None:
        """Keep a copy: what is judged is what runs, whatever its maker does to the original afterwards."""
        if isinstance(self.input, Mapping):
            object.__setattr__(self, "input", copy.deepcopy(dict(self.input)))

    def applied_to(self, event: Any) -> Any:
        return replace(event, input=copy.deepcopy(self.input))

    def is_sound(self) -> bool:
        return isinstance(self.input, Mapping)


@dataclass(frozen=True, slots=True)
class Notify(Effect):
    """One message for the person at the terminal. The model never sees it."""

    message: str


@dataclass(frozen=True, slots=True)
class EndRun(Effect):
    """The run ends here. *reason* may be empty; the session then says which hook point ended it."""

    reason: str = ""
    combine: ClassVar[Combine] = Combine.FIRST_WINS


@dataclass(frozen=True, slots=True)
class Reopen(Effect):
    """The run wanted to end and goes on instead, with *feedback* as its instruction. Bounded by the session."""

    feedback: str
    combine: ClassVar[Combine] = Combine.FIRST_WINS


@dataclass(frozen=True, slots=True)
class ReplaceContext(Effect):
    """The conversation so far becomes these messages, oldest first."""

    messages: tuple[Message, ...]
    combine: ClassVar[Combine] = Combine.FIRST_WINS

    def is_sound(self) -> bool:
        return _are(Message, self.messages)


@dataclass(frozen=True, slots=True)
class SeedContext(Effect):
    """These messages, oldest first, are to stand before all that the run begins with, as far as its budget allows."""

    messages: tuple[Message, ...]
    combine: ClassVar[Combine] = Combine.FIRST_WINS

    def is_sound(self) -> bool:
        return _are(Message, self.messages)


@dataclass(frozen=True, slots=True)
class ToolManifest:
    """The text of a manifest, for the tool of this name."""

    name: str
    content: str


@dataclass(frozen=True, slots=True)
class WriteManifests(Effect):
    """These manifests take the place of those that the tools have. Of several for one tool the last stays."""

    manifests: tuple[ToolManifest, ...]

    def is_sound(self) -> bool:
        return _are(ToolManifest, self.manifests)


@dataclass(frozen=True, slots=True)
class EmitArtifact(Effect):
    """Something made beside the answer, for whoever gave the task. *content* is contractually a JSON object's text."""

    content: str


def _are(kind: type, values: object) -> bool:
    return isinstance(values, tuple) and all(isinstance(each, kind) for each in values)


EFFECTS: tuple[type[Effect], ...] = (
    AddContext,
    AddFeedback,
    RewriteInput,
    Notify,
    EndRun,
    Reopen,
    ReplaceContext,
    SeedContext,
    WriteManifests,
    EmitArtifact,
)

"""What is kept of inputs, and the promises of whatever keeps it."""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, Self

from hookline._core.errors import StateError
from hookline._core.inputs import Handling, Input, RuntimeState


class Phase(Enum):
    """How far an admitted input has come."""

    QUEUED = "queued"
    STAGED = "staged"  # somebody works on it
    CONSUMED = "consumed"
    ABANDONED = "abandoned"


FINAL = frozenset({Phase.CONSUMED, Phase.ABANDONED})


class RequestPhase(Enum):
    """How far a request between peers has come, on our side of it."""

    SENT = "sent"  # ours; registered before it leaves
    RECEIVED = "received"  # theirs; we owe an answer
    REPLIED = "replied"  # theirs; a terminal answer has left


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An admitted input as it is kept. `attempt` counts how often work on it has begun."""

    input: Input
    handling: Handling
    phase: Phase
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Published:
    """One line of a runtime's durable event log. `seq` counts from 1; `payload` is one JSON object."""

    seq: int
    payload: bytes


class Indeterminate(StateError):
    """The answer to a commit was lost: what was asked for may have been kept whole, or not at all."""


class Store(Protocol):
    """Keeps the inputs of any number of runtimes, each by its id.

    Every method is one transaction; `recover` is one for each owner that is gone. Whatever it promises holds
    once it has returned, also if the machine then stops. Raises StateError where the place cannot be used: unreachable,
    locked, full, of a newer schema. It then has changed nothing, or (only where the answer to a commit was lost) it is
    an Indeterminate, whose message says that this is not known.

    A caller that is cancelled leaves a transaction that ran whole or not at all. What its `claim` took goes back.

    An owner is one opened store. Others take over what it was at work on only when it is gone, however it went.
    """

    @property
    def shared(self) -> bool:
        """Whether other processes may be at work in it, so that it has to be asked for news now and then."""
        ...

    async def open(self) -> None:
        """Connect; make or migrate the tables."""
        ...

    async def __aenter__(self) -> Self:
        """Open it."""
        ...

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        ...

    async def aclose(self) -> None:
        """Let go of everything. What this owner was at work on may be taken over. A second call does nothing."""
        ...

    async def state(self, runtime: str) -> RuntimeState | None:
        """The state that was kept for *runtime*, None if none ever was."""
        ...

    async def set_state(self, runtime: str, state: RuntimeState) -> None: ...

    async def admit(self, runtime: str, input: Input, handling: Handling) -> RuntimeState | str | None:
        """Commit *input* as queued. None when that was done.

        A state when the runtime's kept state is not open, and the id of the owner of its key when that was used before:
        then nothing was written. State first, key second. An input whose own id was admitted before is answered with
        that id. An admitted `peer_request` is noted as received, too, unless its request id was used.
        """
        ...

    async def owner_of(self, runtime: str, key: str) -> str | None:
        """The id of the input that has *key*."""
        ...

    async def find(self, runtime: str, input_id: str) -> Row | None: ...

    async def claim(self, runtime: str, input_id: str | None = None) -> Row | None:
        """Take the next queued input, or the one that is named, to work on: steered ones first, then by admission.

        None when there is none to be had. Two claimers never get the same one.
        """
        ...

    async def unclaim(self, runtime: str, input_id: str) -> bool:
        """Put back what was claimed here and not worked on, as if it had never been.

        False when it is not claimed by this owner any more.
        """
        ...

    async def give_up(self, runtime: str, input_id: str) -> bool:
        """Put back what was claimed here and worked on in vain: for another attempt.

        False when it is not claimed by this owner any more.
        """
        ...

    async def finish(self, runtime: str, input_id: str, phase: Phase, completion: bytes | None) -> bool:
        """End the work on a claimed input, and keep *completion*, if there is one, to be published. One transaction.

        False, and nothing is changed, when the input is not claimed by this owner any more.
        """
        ...

    async def publish(self, runtime: str, input_id: str) -> Published | None:
        """Append the completion of *input_id* to the event log, once. None when there is none or it was published."""
        ...

    async def completion(self, runtime: str, input_id: str) -> bytes | None:
        """What was kept of the end of *input_id*, None if nothing was."""
        ...

    async def at_work(self, runtime: str) -> int:
        """How many inputs are queued or claimed."""
        ...

    async def unpublished(self, runtime: str) -> tuple[str, ...]:
        """The inputs whose completion was kept and not yet published, in the order of their end."""
        ...

    async def recover(self, runtime: str) -> int:
        """Queue again what owners that are gone were at work on. How many that were."""
        ...

    async def events(self, runtime: str, *, after: int = 0, limit: int = 1000) -> tuple[Published, ...]:
        """The event log after the line *after*."""
        ...

    async def note_request(self, runtime: str, request_id: str, peer_id: str) -> bool:
        """Keep that a request of ours is about to leave. False when that id was used."""
        ...

    async def drop_request(self, runtime: str, request_id: str) -> None:
        """Take that back: it did not leave."""
        ...

    async def request(self, runtime: str, request_id: str) -> tuple[RequestPhase, str] | None:
        """How far a request has come, and the id of the peer at its other end."""
        ...

    async def reply(self, runtime: str, request_id: str) -> bool:
        """Mark a received request as replied. False when it was not in that phase."""
        ...

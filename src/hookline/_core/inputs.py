"""Inputs: what a session is given to work on, and what became of the wish to give it."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Literal


class InputKind(Enum):
    """What an input is."""

    PROMPT = "prompt"
    PEER_MESSAGE = "peer_message"
    PEER_REQUEST = "peer_request"
    PEER_RESPONSE_PROGRESS = "peer_response_progress"
    PEER_RESPONSE_TERMINAL = "peer_response_terminal"
    FLOW_STEP = "flow_step"
    EXTERNAL_EVENT = "external_event"
    CONTINUATION = "continuation"  # go on with what is there, without a word more
    OPERATION = "operation"


PEER_KINDS = frozenset(
    {
        InputKind.PEER_MESSAGE,
        InputKind.PEER_REQUEST,
        InputKind.PEER_RESPONSE_PROGRESS,
        InputKind.PEER_RESPONSE_TERMINAL,
    }
)


class SourceType(Enum):
    """Who gives an input."""

    OPERATOR = "operator"
    PEER = "peer"
    FLOW = "flow"
    SYSTEM = "system"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSource:
    """Who gave an input. `name` is a peer's display name, a flow's id or an external source's name; `id` a peer's."""

    type: SourceType = SourceType.OPERATOR
    name: str = ""
    id: str = ""


class Durability(Enum):
    """How an input has to be kept."""

    DURABLE = "durable"  # on disk before it is acknowledged
    EPHEMERAL = "ephemeral"  # may be lost
    DERIVED = "derived"  # can be made again from what is durable


class Handling(Enum):
    """Where in the queue an input goes."""

    QUEUE = "queue"
    STEER = "steer"  # before those that wait


class RuntimeState(Enum):
    """How a runtime stands, which decides whether it takes inputs."""

    INITIALIZING = "initializing"
    IDLE = "idle"
    ATTACHED = "attached"
    RUNNING = "running"
    RETIRED = "retired"  # it ends what it has and takes nothing new
    STOPPED = "stopped"  # it can be started again
    DESTROYED = "destroyed"

    @property
    def is_open(self) -> bool:
        """Whether inputs are taken."""
        return self in _OPEN


_OPEN = frozenset({RuntimeState.INITIALIZING, RuntimeState.IDLE, RuntimeState.ATTACHED, RuntimeState.RUNNING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input. `id` is a UUID; two inputs with one `key` in one runtime are the same input, whatever they say.

    `handling` None leaves it to the kind. `request_id` correlates peer traffic; `status` is that of a response.
    `taint` is what the sending peer declared of its content. `has_context`: a peer put context of its own in.
    """

    id: str
    kind: InputKind
    text: str = ""
    source: InputSource = InputSource()
    durability: Durability | None = Durability.DURABLE
    key: str | None = None
    handling: Handling | None = None
    request_id: str | None = None
    status: str | None = None
    taint: str | None = None
    has_context: bool = False
    data: Any = None


class RejectionReason(Enum):
    """Why an input was refused."""

    NOT_READY = "not_ready"
    VALIDATION_FAILED = "validation_failed"
    DURABILITY_VIOLATION = "durability_violation"
    PEER_HANDLING_MODE_INVALID = "peer_handling_mode_invalid"
    PEER_RESPONSE_TERMINAL_INVALID = "peer_response_terminal_invalid"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The input is committed. `handling` is the resolved one."""

    outcome: ClassVar[Literal["accepted"]] = "accepted"
    input_id: str
    handling: Handling


@dataclass(frozen=True, slots=True)
class Rejected:
    """The input was refused and nothing of it is kept. `detail` is the runtime's state where it was not ready."""

    outcome: ClassVar[Literal["rejected"]] = "rejected"
    input_id: str
    reason: RejectionReason
    detail: str

    def __str__(self) -> str:
        if self.reason is RejectionReason.NOT_READY:
            return f"Runtime not ready: {self.detail}"
        return f"Input validation failed: {self.detail}"


@dataclass(frozen=True, slots=True)
class Deduplicated:
    """The input has the key of one that was admitted before, which stands for both."""

    outcome: ClassVar[Literal["deduplicated"]] = "deduplicated"
    input_id: str
    existing: str


Admission = Accepted | Rejected | Deduplicated

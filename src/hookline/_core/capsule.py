"""A capsule: an agent program, its grants and its limits, as its manifest says them.

The dialect that reads the manifest makes these; whoever stages and runs the capsule reads them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from ipaddress import AddressValueError, IPv6Address
from pathlib import Path
from typing import Any

from hookline._core.problems import Where


class ArtifactKind(Enum):
    """What an artifact is to the capsule."""

    TOOL = "tool"
    SKILL = "skill"
    HOOK = "hook"
    DRIVER = "driver"


class Acceptance(Enum):
    """Which tasks a capsule takes."""

    NONE = "none"  # the one that lies in its folder, if any
    SINGLE = "single"
    QUEUE = "queue"


class AfterTask(Enum):
    """What a capsule does when a task is done."""

    EXIT = "exit"
    SLEEP = "sleep"


class Transport(Enum):
    """How a capsule reaches its model."""

    HTTP = "http"
    PROCESS = "process"  # what is compacted, seeded or asked by hooks needs the other


def plain_host(host: str) -> str:
    """The one spelling of a host: in lower case, without a final dot, an IPv6 address short and without brackets."""
    lower = host.lower().removesuffix(".")
    try:
        return str(IPv6Address(lower.removeprefix("[").removesuffix("]")))
    except AddressValueError:
        return lower


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where requests may go to: a plain host, and the scheme and the port where the grant names one."""

    host: str
    port: int | None = None
    scheme: str | None = None

    def covers(self, scheme: str, host: str, port: int) -> bool:
        """Whether a request to this place is granted, however *host* is spelled."""
        if plain_host(host) != self.host or (self.scheme is not None and scheme != self.scheme):
            return False
        return self.port is None or port == self.port


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a hook may reach. Nothing, by default.

    `scope` is a folder of the capsule's, relative to its working directory; `state` the name of a durable store.
    """

    network: tuple[Destination, ...] = ()
    scope: str | None = None
    state: str | None = None
    reads_task: bool = False
    reads_conversation: bool = False


NO_GRANT = Grant()


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One entry of the manifest. `config` is compact JSON, empty where there is none.

    `waits`: events wait for room in its queue, where else those that find none are dropped.
    """

    name: str
    version: str
    kind: ArtifactKind = ArtifactKind.TOOL
    grant: Grant = NO_GRANT
    config: str = ""
    waits: bool = False
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """Bounds of one call of a component. `deadline` is in seconds."""

    deadline: float = 30.0
    memory_bytes: int = 512 * 1024 * 1024
    table_elements: int = 100_000
    instances: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """The model of a capsule, and when its conversation is shortened. `has_driver`: hooks may ask the model too.

    `max_turns` bounds the steps of a task, all its attempts together, `max_tokens` what one answer may hold.
    """

    transport: Transport = Transport.HTTP
    has_driver: bool = True
    model: str = ""
    driver: str = ""
    max_turns: int = 10
    max_tokens: int | None = None
    compaction_threshold: float = 0.98
    compaction_model: str | None = None
    compaction_prompt: str | None = None
    dumps_summaries: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The window. `max_tokens` None: nothing is ever compacted or seeded. `record_store` names the kept record."""

    max_tokens: int | None = None
    seed_budget: float = 0.10
    seed_overflow_margin: float = 0.10
    record: bool = True
    record_store: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """Which tasks are taken, and how often one may be reopened. `threaded`: a task reads what was said before it."""

    acceptance: Acceptance = Acceptance.SINGLE
    after_task: AfterTask = AfterTask.EXIT
    queue_depth: int = 1
    threaded: bool = False
    max_reopens: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Capsule:
    """A manifest, understood. `path` is its file; `read_only` are paths of its working directory.

    `capture`: results of tools stand in the trace.
    """

    name: str
    version: str
    path: Path
    description: str = ""
    artifacts: tuple[Artifact, ...] = ()
    shell_allow: tuple[str, ...] = ()
    network: tuple[Destination, ...] = ()
    scope: str | None = None
    read_only: tuple[str, ...] = ()
    limits: CallLimits = CallLimits()
    inference: Inference = Inference()
    context: Context = Context()
    lifecycle: Lifecycle = Lifecycle()
    otel_endpoint: str = ""
    evaluation: Mapping[str, Any] | None = field(default=None, hash=False)
    capture: bool = False

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The kinds of grants that the capsule itself has."""
        granted = {"network": bool(self.network), "filesystem": self.scope is not None, "shell": bool(self.shell_allow)}
        return tuple(name for name, is_granted in granted.items() if is_granted)

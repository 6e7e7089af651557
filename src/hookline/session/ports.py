"""What a session needs from outside: a model, tools, and a person to approve."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from hookline._core.commands import ResolvedCommand
from hookline._core.faults import Fault
from hookline._core.messages import Message, ToolCall, ToolSpec, Usage
from hookline._core.peers import Receipt
from hookline._core.records import Ending
from hookline._core.shells import ShellResult

MAX_TOKENS = 16_384  # of one answer: more than models write at a time, less than a runaway one would


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request. `request_id` is `<run>:<step>:<attempt>`; `options` is passed through to the model as it is.

    `max_tokens` bounds the answer.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    request_id: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    max_tokens: int = MAX_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One response: text, tool calls, or both. `server_tools` names tools that the provider itself ran."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    response_id: str = ""
    finish_reason: str | None = None
    server_tools: tuple[str, ...] = ()


class Model(Protocol):
    """A model, or something that stands in for one.

    `provider` is the id that model-call matchers are tested against; `provider_known` is false for stand-ins, whose
    events then carry no provider. Raises ModelError and nothing else.
    """

    @property
    def name(self) -> str: ...
    @property
    def provider(self) -> str: ...
    @property
    def provider_known(self) -> bool: ...

    async def complete(self, request: ModelRequest) -> ModelReply: ...

    async def summarise(self, messages: Sequence[Message]) -> str:
        """A text that can take the place of *messages* when the conversation is compacted."""
        ...

    def for_child(self, kind: str) -> "Model":
        """The model of a child agent of this *kind*."""
        ...


class Risk(Enum):
    """How far a call reaches, for the approval modes."""

    READS = "reads"  # looks at files of the workspace, or at the session itself
    CHANGES = "changes"  # writes in the workspace, or runs a program
    REACHES_OUT = "reaches_out"  # anything outside the workspace, the network included


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gives back. `response` is what hooks see and may be an object; `text` is what the model reads.

    `shell` is how the program ended, where it ran one to its end.
    """

    text: str
    response: Any = None
    shell: ShellResult | None = None

    def seen_by_hooks(self) -> Any:
        return self.text if self.response is None else self.response


class Correspondence(Protocol):
    """Messages to other agents. Each raises PeerError for anything that is not proven to have been sent."""

    async def message(self, to: str, text: str) -> Receipt: ...

    async def request(self, to: str, text: str) -> Receipt:
        """Ask for something; the receipt's envelope id is the id of the request."""
        ...

    async def respond(self, request_id: str, to: str, text: str, *, status: str = "completed") -> Receipt: ...


class Session(Protocol):
    """The part of a session that its tools may use."""

    @property
    def workspace(self) -> Path: ...

    @property
    def peers(self) -> Correspondence:
        """Other agents. Raises UsageError for a session that has none."""
        ...

    async def spawn(self, *, objective: str, role: str, kind: str) -> str:
        """Start a child agent and return its id once it has begun; its result arrives later as context."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """Where a tool call runs. `cwd` is the call's effective directory. `env` is the environment of the agent.

    `command` is what the tool has resolved the call to, which is what its hooks were asked about.
    """

    session: Session
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    command: ResolvedCommand | None = None


class Tool(Protocol):
    """A tool of the agent.

    `aliases` are other names that matchers may use. `check` says what is wrong with an input, or nothing.
    `directory` is the call's effective directory. `call` raises ToolError for what the tool could not do; the engine
    of the session turns anything else that it raises into a failed result too. `aclose` ends whatever still runs.

    `resolve` says what a call is going to execute; it is asked after approval, and what it says is in the context that
    `call` is given. A tool that runs a program runs that one.
    """

    @property
    def spec(self) -> ToolSpec: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...

    def check(self, input: Any) -> str | None: ...
    def risk(self, input: Any, workspace: Path) -> Risk: ...
    def directory(self, input: Any, workspace: Path) -> Path: ...
    def resolve(self, input: Any, context: CallContext) -> ResolvedCommand | None:
        """What a call will execute; None for a tool that starts no program, or none with this input."""
        ...

    async def call(self, input: Any, context: CallContext) -> ToolResult: ...
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A call that waits for a person. `reason` says why it has to."""

    tool_name: str
    input: Any
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the person said. A refusal's reason goes to the model."""

    allowed: bool
    reason: str = ""


Approver = Callable[[ApprovalRequest], Awaitable[Verdict]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended: its final text, and the reason where it did not complete, for a failed one also in parts."""

    ending: Ending
    text: str = ""
    reason: str | None = None
    fault: Fault | None = None

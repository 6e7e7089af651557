"""What the parts need of one another: protocols, so that none has to import another."""

from typing import Any, Protocol

from hookline._core.answer import Answer
from hookline._core.hooks import Hook, SessionSettings
from hookline._core.lanes import LanePolicy
from hookline._core.payload import CallFailed, Limits, Payload, Refused, Reply
from hookline._core.points import Event
from hookline._core.records import Record
from hookline._core.resolution import Resolution
from hookline._core.rules import Rule, Strategy


class Dialect(Protocol):
    """How one dialect runs, speaks and understands. All of it data or pure functions."""

    @property
    def name(self) -> str: ...
    @property
    def strategy(self) -> Strategy:
        """How its hooks are run, where a rule does not say otherwise."""
        ...

    @property
    def output_bytes(self) -> int: ...
    @property
    def observers_after_deny(self) -> bool:
        """Whether hooks that commit nothing are still called at an event that was denied."""
        ...

    def rule(self, event: type[Event]) -> Rule | None:
        """The row for this point, or None when the dialect does not have it."""
        ...

    def lane_of(self, hook: Hook) -> tuple[str, LanePolicy]:
        """The background lane that *hook* runs in: its name among the dialect's lanes, and its bounds."""
        ...

    def encode(self, event: Event, hook: Hook) -> Payload | Refused:
        """The payload for one hook."""
        ...

    def decode(self, reply: Reply, event: Event, hook: Hook) -> Answer | CallFailed:
        """The reply understood, or why it is no answer. Never raises, whatever the bytes."""
        ...


class Adapter(Protocol):
    """Calls one kind of target. Obeys the limits, never raises for what the target does, leaves nothing running."""

    async def call(self, target: Any, payload: Payload, limits: Limits) -> Reply: ...

    async def aclose(self) -> None:
        """Let go of what is kept between calls."""
        ...


class Recorder(Protocol):
    """Takes the account of what happens, one record at a time. Must not block on anything but its own file."""

    def record(self, record: Record) -> None: ...

    def close(self) -> None:
        """No record comes after this."""
        ...


class Stream(Protocol):
    """A dialect's own event stream, as a rendering of the records of one command: it counts, so it has a state."""

    def lines(self, record: Record) -> list[str]:
        """The lines that this record gives rise to."""
        ...


class Journals(Protocol):
    """Keeps one account per session."""

    def recorder(self, session_id: str) -> Recorder:
        """The account of a session: a new one, or the existing one to be continued."""
        ...


class Dispatcher(Protocol):
    """Fires events; the account of them goes where whoever made it said."""

    async def dispatch(self, event: Event) -> Resolution: ...


class Engine(Dispatcher, Protocol):
    """What a session needs of an engine."""

    @property
    def settings(self) -> SessionSettings: ...

    def hooks(self) -> tuple[Hook, ...]:
        """Every hook, in the order in which they are asked."""
        ...

    def rules(self, event: type[Event]) -> tuple[Rule, ...]:
        """The rules under which there are hooks for *event*, in the order in which their dialects are asked."""
        ...

    def recording(self, recorder: Recorder) -> Dispatcher:
        """The same engine, its account going to *recorder*."""
        ...

    async def drain(self, session_id: str, budget: float) -> tuple[str, ...]:
        """Wait up to *budget* seconds for a session's background hooks, cut off the rest and name those."""
        ...

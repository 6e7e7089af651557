"""What the tests of the engine stand on: dialects and targets of their own, and calls that end when the test says so.

Nothing here waits for time to pass: a test waits for what it needs to see, with `Puppets.until`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from hookline._core.answer import Answer, answer_from
from hookline._core.effects import Notify
from hookline._core.events import BeforeToolCall
from hookline._core.hooks import Hook
from hookline._core.lanes import LanePolicy, WhenFull
from hookline._core.outcomes import Outcome
from hookline._core.payload import CallFailed, Limits, Payload, Refused, Reply, Returned
from hookline._core.points import POINTS, Event, Origin
from hookline._core.reasons import Failure, Skip
from hookline._core.records import Dispatched, HookEnded, HookStarted, Record
from hookline._core.resolution import Resolution
from hookline._core.rules import FailurePolicy, Rule, Strategy
from hookline._core.targets import Target
from hookline._engine.engine import HookEngine
from hookline.dialects._base import TableDialect

EVENT = BeforeToolCall(tool_name="bash", input={"command": "ls"}, origin=Origin(session_id="one"))

FAILED = CallFailed(why=Failure.EXIT_CODE, detail="exit code 3")
TOO_LARGE = Refused(Skip.PAYLOAD_TOO_LARGE, "262145 bytes; 262144 are allowed")

ROOMY = LanePolicy(workers=1000, queue=1000)
SERIAL = LanePolicy(workers=1, queue=1000)
POOL = LanePolicy(workers=32, queue=0)
WAITING = LanePolicy(workers=1, queue=0, when_full=WhenFull.WAIT)


@dataclass(frozen=True, slots=True)
class Puppet(Target):
    """Comes to *says*: a handler's return value, a CallFailed, or an exception, which is raised.

    A function of the event says what it returns. A Refused is said by the dialect instead, before any call. *held*
    ends when the test lets it; *tidies* takes until then to end also when it is cancelled. *outside* counts as
    another process.
    """

    name: str
    says: Any = None
    held: bool = False
    tidies: bool = False
    outside: bool = False

    @property
    def leaves_process(self) -> bool:
        return self.outside


@dataclass(slots=True, eq=False)
class Call:
    """One call to a puppet."""

    name: str
    event: Event
    limits: Limits
    released: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False
    cancelled: int = 0


class Puppets:
    """The adapter for puppets. Implements Adapter."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.running = 0
        self.most = 0  # that ran at the same time
        self.closed = 0
        self._news = asyncio.Event()

    @property
    def names(self) -> list[str]:
        """Whom was called, in the order of the calls."""
        return [call.name for call in self.calls]

    async def call(self, target: Puppet, payload: Payload, limits: Limits) -> Reply:
        call = Call(target.name, payload.event, limits)
        self.calls.append(call)
        self.running += 1
        self.most = max(self.most, self.running)
        self._news.set()
        try:
            await self._hold(target, call)
        finally:
            call.ended = True
            self.running -= 1
            self._news.set()
        said = target.says(payload.event) if callable(target.says) else target.says
        if isinstance(said, BaseException):
            raise said
        return said if isinstance(said, CallFailed) else Returned(said)

    async def aclose(self) -> None:
        self.closed += 1

    async def until(self, seen: Callable[[], object]) -> None:
        """Wait until *seen* is true of the calls."""
        while not seen():
            self._news.clear()
            await self._news.wait()

    async def started(self, *names: str) -> None:
        """Wait until each of *names* was called."""
        await self.until(lambda: set(names) <= set(self.names))

    async def finish(self, name: str) -> None:
        """Let the oldest running call of *name* end, and wait until it has."""
        call = next(call for call in self.calls if call.name == name and not call.ended)
        call.released.set()
        await self.until(lambda: call.ended)

    async def _hold(self, target: Puppet, call: Call) -> None:
        if not target.held:
            return
        try:
            await call.released.wait()
        except asyncio.CancelledError:
            call.cancelled += 1
            self._news.set()
            if target.tidies:
                await self._tidy(call)
            raise

    async def _tidy(self, call: Call) -> None:
        try:
            await call.released.wait()
        except asyncio.CancelledError:
            call.cancelled += 1
            raise


class Account:
    """Keeps every record. Implements Recorder."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def record(self, record: Record) -> None:
        self.records.append(record)

    def close(self) -> None:
        """Nothing to let go of."""

    def started(self) -> list[str]:
        """The ids of the hooks whose start was recorded."""
        return [record.hook.id for record in self.records if isinstance(record, HookStarted)]

    def ended(self) -> list[Outcome]:
        """The recorded outcomes, each attempt's own."""
        return [record.outcome for record in self.records if isinstance(record, HookEnded)]

    def endings(self) -> list[tuple[str, Any]]:
        """The recorded ends: whose, and why there is no answer or else how it ended."""
        return [(outcome.hook.id, outcome.why or outcome.kind) for outcome in self.ended()]

    def dispatched(self) -> list[Resolution]:
        return [record.resolution for record in self.records if isinstance(record, Dispatched)]


def encode(event: Event, hook: Hook) -> Payload | Refused:
    says = hook.target.says if isinstance(hook.target, Puppet) else None
    return says if isinstance(says, Refused) else Payload(event)


def decode(reply: Reply, event: Event, hook: Hook) -> Answer | CallFailed:
    if isinstance(reply, CallFailed):
        return reply
    answer = answer_from(reply.value) if isinstance(reply, Returned) else None
    return answer or CallFailed(why=Failure.MALFORMED_ANSWER, detail="no answer")


def dialect(
    name: str = "test",
    *,
    strategy: Strategy = Strategy.CHAIN,
    on_failure: FailurePolicy = FailurePolicy.IGNORE,
    lane: LanePolicy = ROOMY,
    survives_deny: frozenset[Any] = frozenset({Notify}),
    without: frozenset[Any] = frozenset(),
    observers_after_deny: bool = True,
) -> TableDialect:
    """A dialect with a row for every point, which admits all that the point can honour but what it is *without*."""
    rules = {
        point.event: Rule(
            name=point.name,
            event=point.event,
            admits=point.admits - without,
            on_failure=on_failure,
            survives_deny=survives_deny,
            has_subject=point.subject is not None,
        )
        for point in POINTS.values()
    }
    return TableDialect(
        name=name,
        strategy=strategy,
        lane=lane,
        rules=rules,
        encode=encode,
        decode=decode,
        observers_after_deny=observers_after_deny,
    )


CHAIN = dialect()
PARALLEL = dialect(strategy=Strategy.PARALLEL)


def hook(
    name: str,
    says: Any = None,
    event: type[Event] = BeforeToolCall,
    *,
    held: bool = False,
    tidies: bool = False,
    outside: bool = False,
    **terms: Any,
) -> Hook:
    """A hook with a puppet for its target; it may say all that its point can honour, unless *terms* say otherwise."""
    target = Puppet(name, says, held or tidies, tidies, outside)
    if "commits" not in terms:
        terms["commits"] = event.point.admits
    return Hook(event=event, target=target, **{"id": name, "dialect": "test", **terms})


def observer(name: str, says: Any = None, event: type[Event] = BeforeToolCall, **terms: Any) -> Hook:
    """A hook that commits nothing."""
    return hook(name, says, event, **{"commits": frozenset(), **terms})


def background(name: str, says: Any = None, event: type[Event] = BeforeToolCall, **terms: Any) -> Hook:
    """An observer that nobody waits for."""
    return observer(name, says, event, **{"background": True, **terms})


class Rig:
    """An engine over puppets, with an account of all that it does."""

    def __init__(self, *hooks: Hook, of: TableDialect | tuple[TableDialect, ...] = CHAIN, strict: bool = False) -> None:
        dialects = of if isinstance(of, tuple) else (of,)
        self.puppets = Puppets()
        self.account = Account()
        self.engine = HookEngine(
            dialects=dialects,
            in_code=dialects[-1],
            adapters={Puppet: self.puppets},
            hooks=hooks,
            strict=strict,
        )

    async def dispatch(self, event: Event = EVENT) -> Resolution:
        """Dispatch *event* on the account."""
        return await self.engine.recording(self.account).dispatch(event)

    def dispatching(self, event: Event = EVENT) -> asyncio.Task[Resolution]:
        """Dispatch *event* meanwhile."""
        return asyncio.ensure_future(self.dispatch(event))


def in_session(session_id: str, **input: Any) -> BeforeToolCall:
    """A tool call in the session with this id."""
    return BeforeToolCall(tool_name="bash", input=input, origin=Origin(session_id=session_id))


def untimed(resolution: Resolution) -> Resolution:
    """The resolution without the times in it, the only part that may differ between two equal dispatches."""
    outcomes = tuple(_untimed(outcome) for outcome in resolution.outcomes)
    failed = None if resolution.failed_run is None else _untimed(resolution.failed_run)
    return replace(resolution, outcomes=outcomes, failed_run=failed)


def _untimed(outcome: Outcome) -> Outcome:
    links = tuple(_untimed(link) for link in outcome.links)
    return replace(outcome, started=0.0, queued=0.0, ran=0.0, links=links)


def verdict(resolution: Resolution) -> tuple[Any, ...]:
    """All that a resolution does to the session; what it leaves out is only told about."""
    failed = None if resolution.failed_run is None else resolution.failed_run.hook.id
    return resolution.decision, resolution.decided_by, resolution.applied, resolution.event, failed


async def idle() -> None:
    """Let everything run that waits for nobody, so that what has not happened then is not about to happen."""
    for _ in range(50):
        await asyncio.sleep(0)

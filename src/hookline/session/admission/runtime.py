"""The runtime of one session: inputs are admitted, worked on one after the other, and their results published.

Each step is committed before the next one begins, so that whenever the process ends, the next one knows what is left.
"""

import asyncio
from typing import Protocol

import msgspec

from hookline._core.errors import HooklineError, StateError, UsageError
from hookline._core.events import (
    InputAccepted,
    InputDeduplicated,
    InputRejected,
    InteractionCompleted,
    PeerReceived,
)
from hookline._core.finish import Cancellations
from hookline._core.inputs import (
    PEER_KINDS,
    Accepted,
    Admission,
    Deduplicated,
    Handling,
    Input,
    Rejected,
    RejectionReason,
    RuntimeState,
    SourceType,
)
from hookline._core.points import Event, Origin
from hookline._core.ports import Recorder
from hookline._core.records import Ending, InputDecided, InteractionPublished, Noted
from hookline.session.admission.store import FINAL, Phase, Row, Store
from hookline.session.admission.validation import objection_to
from hookline.session.ports import RunResult

MAX_ATTEMPTS = 3  # an input that ends its process each time it is worked on must not do so for ever
NEWS = 0.2  # seconds between two looks at a store, which others may use too

COMPLETE, FAILED = "interaction_complete", "interaction_failed"


class Completion(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """How the work on one input ended, as the event log of its runtime keeps it. `type` is one of the two above."""

    type: str
    interaction_id: str
    result: str = ""
    ending: str = ""
    reason: str = ""

    def as_result(self) -> RunResult:
        """The same as the run told it."""
        ending = Ending(self.ending) if self.ending else Ending.COMPLETED
        return RunResult(ending=ending, text=self.result, reason=self.reason or None)


class Host(Protocol):
    """The session as its runtime sees it."""

    @property
    def recorder(self) -> Recorder: ...

    def origin(self) -> Origin:
        """Where a fact about the session's inputs happens."""
        ...

    def tell_aside(self, event: Event) -> None:
        """Tell hooks of a settled fact, without waiting for them."""
        ...

    async def take(self, input: Input) -> RunResult:
        """Work on *input*, up to its end."""
        ...


class Runtime:
    """Takes inputs for one session. *name* is the scope of idempotency keys; *store* keeps what must not be lost.

    Several runtimes of one name, in one process or in many, share one queue: each input is worked on by one of them.
    """

    def __init__(self, store: Store, name: str, host: Host) -> None:
        self.store = store
        self.name = name
        self.state = RuntimeState.INITIALIZING
        self._host = host
        self._admitting = asyncio.Lock()
        self._news = _News()

    async def open(self) -> None:
        """Take over what a process that is gone left behind: results to publish, inputs to work on.

        Raises StateError for a store that cannot be used. The store has to be open.
        """
        kept = await self.store.state(self.name)
        await self.store.recover(self.name)
        for input_id in await self.store.unpublished(self.name):
            await self._publish(input_id)
        self.state = RuntimeState.IDLE if kept is None or kept.is_open else kept

    async def move(self, state: RuntimeState) -> None:
        """Retire, stop or destroy the runtime, or start a stopped one again; kept for all who come after.

        Raises UsageError for one that was destroyed: that is its end.
        """
        if state is not RuntimeState.DESTROYED and await self.store.state(self.name) is RuntimeState.DESTROYED:
            raise UsageError(f"the runtime {self.name} was destroyed, and no other state follows: use another name")
        await self.store.set_state(self.name, state)
        self.state = state
        self._news.tell()

    async def admit(self, input: Input) -> Admission:
        """Decide on *input*: committed, then told, before this returns.

        Cancelling it does not undo a commit: the fact is told all the same. Raises StateError where nothing is known to
        have been decided.
        """
        cancellations = Cancellations()
        decided = await cancellations.finish(self._admit(input))
        cancellations.raise_if_any()
        return decided

    async def _admit(self, input: Input) -> Admission:
        async with self._admitting:
            decided = await self._decide(input)
            self._tell(input, decided)
        if isinstance(decided, Accepted):
            self._news.tell()
        return decided

    async def _decide(self, input: Input) -> Admission:
        """State, key, validity, in this order; the first that refuses decides."""
        if not self.state.is_open and not await self._started_again():
            return Rejected(input.id, RejectionReason.NOT_READY, self.state.value)
        objection = objection_to(input)
        if objection is not None:
            return await self._refused(input, objection)
        handling = input.handling or Handling.QUEUE
        found = await self.store.admit(self.name, input, handling)
        match found:
            case None:
                return Accepted(input.id, handling)
            case RuntimeState():
                return Rejected(input.id, RejectionReason.NOT_READY, found.value)
            case existing:
                return Deduplicated(input.id, existing)

    async def _started_again(self) -> bool:
        """Whether another has opened the gate since it was closed here."""
        kept = await self.store.state(self.name)
        if kept is None or not kept.is_open:
            return False
        self.state = RuntimeState.IDLE
        return True

    async def _refused(self, input: Input, objection: Rejected) -> Admission:
        """An invalid input: what others have made of the runtime, and the key, come before its invalidity."""
        kept = await self.store.state(self.name)
        if kept is not None and not kept.is_open:
            return Rejected(input.id, RejectionReason.NOT_READY, kept.value)
        owner = None if input.key is None else await self.store.owner_of(self.name, input.key)
        return objection if owner is None else Deduplicated(input.id, owner)

    def _tell(self, input: Input, decided: Admission) -> None:
        host, origin = self._host, self._host.origin()
        host.recorder.record(_record(input, decided, origin))
        about = {"input_id": input.id, "input_kind": input.kind, "origin": origin}
        match decided:
            case Accepted(handling=handling):
                host.tell_aside(InputAccepted(handling=handling, **about))  # type: ignore[arg-type]  # spelled once
                if input.kind in PEER_KINDS and input.source.type is SourceType.PEER:
                    host.tell_aside(_received(input, origin))
            case Rejected(reason=reason, detail=detail):
                host.tell_aside(InputRejected(reason=reason, detail=detail, **about))  # type: ignore[arg-type]
            case Deduplicated(existing=existing):
                host.tell_aside(InputDeduplicated(existing_input_id=existing, **about))  # type: ignore[arg-type]

    def refuse(self, input: Input, reason: RejectionReason, detail: str) -> Rejected:
        """Refuse *input* for good, for a reason that was found outside."""
        decided = Rejected(input.id, reason, detail)
        self._tell(input, decided)
        return decided

    async def work_until(self, input_id: str) -> RunResult:
        """Work on what is queued, in its order, until *input_id* has ended, by our hand or another's. Its result."""
        while True:
            seen = self._news.count
            row = await self.store.claim(self.name)
            if row is not None:
                result = await self.work_on(row)
                if row.input.id == input_id:
                    return result
                continue
            known = await self.store.find(self.name, input_id)
            if known is None:
                raise StateError(f"the input {input_id} is not in the store any more; was it replaced under our feet?")
            if known.phase in FINAL:
                return await self.result_of(input_id)
            await self._wait_for_news(seen)

    async def serve(self) -> None:
        """Work on whatever is queued, for as long as this is not cancelled."""
        while True:
            seen = self._news.count
            if not await self.work_once():
                await self._wait_for_news(seen)

    async def work_once(self) -> bool:
        """Work on the next input that is queued. False when there was none."""
        row = await self.store.claim(self.name)
        if row is not None:
            await self.work_on(row)
        return row is not None

    async def work_within(self, patience: float) -> bool:
        """Work on the next input, waiting up to *patience* seconds for one. False when none came."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience
        while True:
            seen = self._news.count
            if await self.work_once():
                return True
            if loop.time() >= deadline:
                return False
            await self._wait_for_news(seen)

    async def worked_off(self) -> None:
        """Return once nothing is queued or at work, here or elsewhere."""
        seen = self._news.count
        while await self.store.at_work(self.name):
            await self._wait_for_news(seen)
            seen = self._news.count

    async def result_of(self, input_id: str) -> RunResult:
        """What became of an input that has ended; empty where nothing was kept."""
        kept = await self.store.completion(self.name, input_id)
        if kept is None:
            return RunResult(ending=Ending.COMPLETED)
        return msgspec.json.decode(kept, type=Completion).as_result()

    async def work_on(self, row: Row) -> RunResult:
        """Work on a claimed input up to its end, and publish that."""
        if row.attempt > MAX_ATTEMPTS:
            result = RunResult(ending=Ending.FAILED, reason="max_attempts_exhausted")
            await self._finish(row, result, Phase.ABANDONED)
            return result
        self.state = RuntimeState.RUNNING if self.state.is_open else self.state
        try:
            result = await self._host.take(row.input)
        except asyncio.CancelledError:
            interrupted = RunResult(ending=Ending.CANCELLED, reason="interrupted")
            await Cancellations().finish(self._finish(row, interrupted, Phase.ABANDONED))
            raise
        except Exception:
            await self.store.give_up(self.name, row.input.id)  # it is for the next who comes, up to the last attempt
            raise
        finally:
            self.state = RuntimeState.IDLE if self.state is RuntimeState.RUNNING else self.state
        await self._finish(row, result, Phase.CONSUMED)
        return result

    async def _finish(self, row: Row, result: RunResult, phase: Phase) -> None:
        """Keep the result, then publish it. Where another has taken the input over, ours counts for nothing."""
        complete = result.ending is Ending.COMPLETED
        completion = Completion(
            type=COMPLETE if complete else FAILED,
            interaction_id=row.input.id,
            result=result.text,
            ending="" if complete else result.ending.value,
            reason=result.reason or "",
        )
        kept = await self.store.finish(self.name, row.input.id, phase, msgspec.json.encode(completion))
        if kept:
            await self._publish(row.input.id)
        else:
            text = f"the input {row.input.id} was taken over by another process, whose result counts"
            self._host.recorder.record(Noted(origin=self._host.origin(), text=text))

    async def _publish(self, input_id: str) -> None:
        published = await self.store.publish(self.name, input_id)
        if published is None:
            return
        completion = msgspec.json.decode(published.payload, type=Completion)
        host, origin = self._host, self._host.origin()
        host.recorder.record(
            InteractionPublished(origin=origin, input_id=input_id, line=published.seq, what=completion.type)
        )
        if completion.type == COMPLETE:
            host.tell_aside(InteractionCompleted(interaction_id=input_id, result=completion.result, origin=origin))
        self._news.tell()

    async def _wait_for_news(self, seen: int) -> None:
        """Until something was admitted or ended here since *seen*, or a little while, as others may be at work too."""
        try:
            await asyncio.wait_for(self._news.since(seen), NEWS)
        except TimeoutError:
            if self.store.shared:
                await self.store.recover(self.name)  # another may have gone in the meantime


class _News:
    """Counts what has happened, and lets any number wait for more than they have seen."""

    def __init__(self) -> None:
        self.count = 0
        self._waiting: set[asyncio.Future[None]] = set()

    def tell(self) -> None:
        self.count += 1
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    async def since(self, seen: int) -> None:
        if self.count != seen:
            return
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            await waiting
        finally:
            self._waiting.discard(waiting)


class InputRefused(HooklineError):
    """An input was not admitted; nothing of it is kept."""

    def __init__(self, rejected: Rejected) -> None:
        super().__init__(str(rejected))
        self.rejected = rejected


def _received(input: Input, origin: Origin) -> PeerReceived:
    return PeerReceived(
        input_kind=input.kind,
        peer_id=input.source.id,
        peer_name=input.source.name,
        request_id=input.request_id,
        taint=input.taint,
        origin=origin,
    )


def _record(input: Input, decided: Admission, origin: Origin) -> InputDecided:
    return InputDecided(
        origin=origin,
        input_id=input.id,
        input_kind=input.kind,
        source=input.source.type.value,
        outcome=decided.outcome,
        key=input.key,
        existing=decided.existing if isinstance(decided, Deduplicated) else "",
        reason=decided.reason.value if isinstance(decided, Rejected) else "",
        detail=_detail(decided),
    )


def _detail(decided: Admission) -> str:
    match decided:
        case Accepted(handling=handling):
            return handling.value
        case Rejected(detail=detail):
            return detail
        case Deduplicated():
            return ""

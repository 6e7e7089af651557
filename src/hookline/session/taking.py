"""Taking an input up: from its first record to its last, whatever ends it between."""

import asyncio
import contextlib
from typing import Protocol

from hookline._core.events import BeforeRun, RunFailed
from hookline._core.faults import Fault, FaultKind
from hookline._core.finish import Cancellations
from hookline._core.inputs import Input, InputKind
from hookline._core.messages import Message
from hookline._core.peers import PeerError
from hookline._core.points import Origin
from hookline._core.records import Ending, Noted, RunEnded, RunStarted
from hookline.session.identity import new_run_id
from hookline.session.over import RunOver, refused
from hookline.session.peers.exchange import Exchange
from hookline.session.ports import RunResult
from hookline.session.prompts import WITHOUT_A_RUN, prompt_of
from hookline.session.run import Owner as OwnerOfRun
from hookline.session.run import Run

ANSWER_BUDGET = 2.0  # seconds to tell a peer that its request will not be answered
INTERRUPTED_BUDGET = 60.0  # seconds for the hooks that are told of a run that was cut off


class Owner(OwnerOfRun, Protocol):
    """The session as whoever takes up its inputs sees it."""

    @property
    def id(self) -> str: ...
    @property
    def exchange(self) -> Exchange | None: ...

    def origin(self, run_id: str = "") -> Origin:
        """Where something happens in the session itself, or in a run of it."""
        ...

    def ended_before(self) -> RunResult | None:
        """What the next run comes to before it has begun, told once."""
        ...


class Taker:
    """Works on the inputs of one session, one at a time."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner

    async def take(self, input: Input) -> RunResult:
        """Work on an input up to its end."""
        if input.kind in WITHOUT_A_RUN:
            if input.kind is InputKind.PEER_RESPONSE_PROGRESS:
                message = Message(role="developer", text=prompt_of(input))
                self._owner.conversation.add(message, self._owner.origin())
            return RunResult(ending=Ending.COMPLETED)
        try:
            result = await self._recorded(input)
        except asyncio.CancelledError:
            interrupted = RunResult(ending=Ending.CANCELLED, reason="interrupted")
            with contextlib.suppress(TimeoutError):
                answering = asyncio.wait_for(self._answer(input, interrupted), ANSWER_BUDGET)
                await Cancellations().finish_or_cut(answering)
            raise
        await self._answer(input, result)
        return result

    async def _answer(self, input: Input, result: RunResult) -> None:
        """Answer a peer's request with what its run came to, unless the model has answered it by itself."""
        exchange, request_id = self._owner.exchange, input.request_id
        if input.kind is not InputKind.PEER_REQUEST or exchange is None or request_id is None:
            return
        if not await exchange.owes(request_id):
            return
        completed = result.ending is Ending.COMPLETED
        text = result.text if completed else result.reason or result.ending.value
        try:
            await exchange.respond(request_id, input.source.name, text, status="completed" if completed else "failed")
        except PeerError as error:
            self._owner.recorder.record(
                Noted(origin=self._owner.origin(), text=f"no answer to {input.source.name}: {error}")
            )

    async def _recorded(self, input: Input) -> RunResult:
        prompt = prompt_of(input)
        run_id = new_run_id() if self._owner.subagent_id is None else self._owner.id
        origin = self._owner.origin(run_id)
        try:
            admitted = "" if self._owner.subagent_id is not None else input.id
            self._owner.recorder.record(self._started(RunStarted(origin=origin, prompt=prompt, input_id=admitted)))
            result = await self._run(prompt, origin, resumes=input.kind is InputKind.CONTINUATION)
        except RunOver as over:
            result = over.result
        except asyncio.CancelledError:
            await self._tell_interrupted(origin)
            ended = RunEnded(origin=origin, ending=Ending.CANCELLED, reason="interrupted")
            self._owner.recorder.record(self._ended(ended))
            raise
        except Exception as fault:
            text = f"{type(fault).__name__}: {fault}"
            broken = RunResult(ending=Ending.FAILED, fault=Fault(kind=FaultKind.INTERNAL, message=text))
            with contextlib.suppress(Exception):  # where the account cannot be kept, nobody can be told on the record
                await self._tell_failed(broken, origin)
            self._owner.recorder.record(self._ended(RunEnded(origin=origin, ending=Ending.FAILED, reason=text)))
            raise
        if result.ending is Ending.FAILED:
            await self._tell_failed(result, origin)
        ended = RunEnded(origin=origin, ending=result.ending, text=result.text, reason=result.reason)
        self._owner.recorder.record(self._ended(ended))
        return result

    def _started(self, record: RunStarted) -> RunStarted:
        """The first record of a run, with what is known of its task."""
        return record

    def _ended(self, record: RunEnded) -> RunEnded:
        """The last record of a run, with what its task came to."""
        return record

    async def _tell_failed(self, result: RunResult, origin: Origin) -> None:
        """Fire `run_failed`, which changes nothing any more."""
        fault = result.fault or Fault(kind=FaultKind.INTERNAL, message=result.reason or "")
        event = RunFailed(
            category=fault.category or fault.kind.value,
            details=fault.details or None,
            last_message=result.text or None,
            fault=fault,
            origin=origin,
        )
        await self._owner.tell(event)

    async def _tell_interrupted(self, origin: Origin) -> None:
        """The same for a run that was cut off: its hooks have as long as those of a session that ends."""
        if not self._owner.rules(RunFailed):
            return
        fault = Fault(kind=FaultKind.CANCELLED, message="interrupted")
        telling = self._tell_failed(RunResult(ending=Ending.CANCELLED, fault=fault), origin)
        with contextlib.suppress(TimeoutError):
            await Cancellations().finish_or_cut(asyncio.wait_for(telling, INTERRUPTED_BUDGET))

    async def _run(self, prompt: str, origin: Origin, *, resumes: bool) -> RunResult:
        if (over := self._owner.ended_before()) is not None:
            return over
        self._owner.conversation.release()
        if self._owner.subagent_id is None:
            fired = await self._owner.fire(BeforeRun(prompt=prompt, resumes=resumes, origin=origin))
            if fired.denied:
                raise refused(fired.resolution)
        if not resumes:
            self._owner.conversation.add(Message(role="user", text=prompt), origin)
        return await Run(self._owner, origin).to_the_end()

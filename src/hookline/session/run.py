"""A run: one prompt, step by step, up to its final answer."""

import time
from dataclasses import asdict, replace
from typing import Protocol

from hookline._core.effects import EndRun
from hookline._core.errors import ModelError
from hookline._core.events import (
    AfterModelCall,
    AfterToolBatch,
    BeforeModelCall,
    BeforeRunEnd,
    RunCompleted,
    RunFailed,
    StepEnd,
    SubagentEnd,
)
from hookline._core.messages import CallResult, Message, ToolCall, with_results
from hookline._core.points import Event, Origin
from hookline._core.records import CallStatus, Ending, ModelCalled, Noted, ReopenRefused
from hookline.session.apply import Fired
from hookline.session.children import Children
from hookline.session.compaction import Trigger
from hookline.session.gate import Gate, Host, Passed, recorded
from hookline.session.over import RunOver, stop_if
from hookline.session.ports import Model, ModelReply, ModelRequest, RunResult


class Owner(Host, Protocol):
    """The session as a run sees it."""

    @property
    def model(self) -> Model: ...
    @property
    def gate(self) -> Gate: ...
    @property
    def children(self) -> Children: ...
    @property
    def subagent_id(self) -> str | None:
        """What the parent calls this session, None for one that has no parent."""
        ...

    @property
    def reopen_limit(self) -> int: ...
    @property
    def max_steps(self) -> int: ...

    def compaction_due(self) -> Trigger | None: ...

    async def compact(self, trigger: Trigger, origin: Origin) -> EndRun | None:
        """Shorten the conversation, unless a hook objects. Returns what ends the run, if a hook wants it to end."""
        ...


class Run:
    """The steps of one run. The prompt is in the conversation already and no hook objected to it."""

    def __init__(self, owner: Owner, origin: Origin) -> None:
        self._owner = owner
        self._origin = origin
        self._text = ""
        self._reopened = 0
        self._last_feedback = ""

    async def to_the_end(self) -> RunResult:
        """The result of the last step. Raises only on cancellation and for state files that cannot be written."""
        try:
            for step in range(self._owner.max_steps):
                self._origin = replace(self._origin, step=step)
                await self._step(step)
            limit = self._owner.max_steps
            return RunResult(ending=Ending.FAILED, text=self._text, reason=f"no answer within {limit} steps")
        except RunOver as over:
            return replace(over.result, text=over.result.text or self._text)
        finally:
            self._owner.conversation.release()

    async def _step(self, step: int) -> None:
        await self._bring_in_children(wait=False)
        trigger = self._owner.compaction_due()
        if trigger is not None:
            await self._compact(trigger)
        reply = await self._call_model(step)
        if reply.text:
            self._text = reply.text
        message = Message(role="assistant", text=reply.text, calls=reply.calls)
        self._owner.conversation.add(message, self._origin)
        if reply.calls:
            await self._run_calls(reply.calls)
        ended = await self._fire(StepEnd(tool_calls=len(reply.calls), origin=self._origin))
        self._cancel_if_denied(ended)
        self._stop_if(ended.end)
        if not reply.calls:
            await self._finish()

    async def _compact(self, trigger: Trigger) -> None:
        """Shorten the conversation. One that the model gives no summary of goes on as it is while it still fits."""
        try:
            self._stop_if(await self._owner.compact(trigger, self._origin))
        except ModelError as error:
            if trigger is Trigger.HARD:
                raise await self._failed(error) from error
            self._owner.recorder.record(Noted(origin=self._origin, text=f"no summary, so no compaction yet: {error}"))

    async def _call_model(self, step: int) -> ModelReply:
        owner = self._owner
        owner.conversation.release()
        request_id = f"{self._origin.run_id}:{step}:1"
        before = BeforeModelCall(
            provider=owner.model.provider,
            request_id=request_id,
            step=step,
            messages=owner.conversation.messages,
            tools=owner.gate.specs,
            origin=self._origin,
        )
        self._cancel_if_denied(await self._fire(before))
        owner.conversation.release()  # context that was given just now is for this very request
        messages = owner.conversation.messages
        begun = time.monotonic()
        try:
            request = ModelRequest(messages=messages, tools=owner.gate.specs, request_id=request_id)
            reply = _sound(await owner.model.complete(request))
        except Exception as fault:  # a model from outside that breaks is a failed call
            error = ModelError.of(fault)
            self._record_call(request_id, "error", begun, ModelReply(), str(error))
            raise await self._failed(error) from fault
        self._record_call(request_id, "success", begun, reply, None)
        after = AfterModelCall(
            provider=before.provider,
            request_id=request_id,
            step=step,
            messages=messages,
            tools=before.tools,
            response_id=reply.response_id,
            usage=reply.usage,
            finish_reason=reply.finish_reason,
            output_text=reply.text,
            calls=reply.calls,
            origin=self._origin,
        )
        self._cancel_if_denied(await self._fire(after))
        return reply

    async def _run_calls(self, calls: tuple[ToolCall, ...]) -> None:
        """Run the calls of one step in order. A hook that ends the run keeps those that are left from running."""
        results: list[CallResult] = []
        end: EndRun | None = None
        asked = len(self._owner.conversation.messages) - 1
        for call in calls:
            if end is None:
                try:
                    passed = await self._owner.gate.pass_through(call, self._owner, self._origin)
                except BaseException:
                    self._interrupted(asked)
                    raise
            else:
                passed = self._not_run(call)
            if passed.fired is not None:
                end = end or passed.fired.end
            results.append(
                CallResult(tool_name=call.name, input=passed.input, call_id=call.id, response=passed.response)
            )
        self._stop_if(end)
        fired = await self._fire(AfterToolBatch(calls=tuple(results), origin=self._origin))
        for hook, text in fired.feedback:
            self._hold(fired, hook, text)
        self._stop_if(fired.end)

    def _interrupted(self, asked: int) -> None:
        """Give a result to every call of the message at *asked* that has none."""
        said = self._owner.conversation.messages[asked:]
        texts = {call.id: "no result: the run was interrupted" for call in said[0].calls}
        for message in tuple(with_results(said, {0: texts}))[len(said) :]:
            self._owner.conversation.add(message, self._origin)

    def _not_run(self, call: ToolCall) -> Passed:
        text = "not run: a hook ended the run"
        passed = Passed(status=CallStatus.REFUSED, text=text, response=text, input=call.input)
        return recorded(passed, call, self._origin, self._owner)

    async def _finish(self) -> None:
        """The model has nothing more to do: children first, then the hooks that may keep it working."""
        if self._owner.children.at_work:
            await self._bring_in_children(wait=True)
            return
        fired = await self._fire(self._before_end())
        if fired.end is None and fired.reopen is not None and self._may_reopen(fired):
            self._hold(fired, fired.reopened_by, fired.reopen.feedback)
            return
        completed = await self._fire(RunCompleted(text=self._text, origin=self._origin))
        if completed.denied:
            raise RunOver(RunResult(ending=Ending.FAILED, text=self._text, reason=completed.reason))
        raise RunOver(RunResult(ending=Ending.COMPLETED, text=self._text))

    def _before_end(self) -> Event:
        name = self._owner.subagent_id
        if name is None:
            return BeforeRunEnd(last_message=self._text, reopened=self._reopened > 0, origin=self._origin)
        return SubagentEnd(
            subagent_id=name,
            child_session_id=self._origin.session_id,
            last_message=self._text,
            reopened=self._reopened > 0,
            origin=self._origin,
        )

    def _may_reopen(self, fired: Fired) -> bool:
        if fired.reopen is None:
            return False
        if self._reopened >= self._owner.reopen_limit:
            point = fired.resolution.event.point.name
            limit = self._owner.reopen_limit
            self._owner.recorder.record(
                ReopenRefused(origin=self._origin, point=point, hook=fired.reopened_by, limit=limit)
            )
            return False
        if fired.reopen.feedback == self._last_feedback:
            text = f"{fired.reopened_by} kept the run going with the same reason as before"
            self._owner.recorder.record(Noted(origin=self._origin, text=text))
        self._reopened += 1
        self._last_feedback = fired.reopen.feedback
        return True

    async def _bring_in_children(self, *, wait: bool) -> None:
        for child in await self._owner.children.finished(wait=wait):
            result = child.result
            text = result.text if result.ending is Ending.COMPLETED else f"({result.ending.value}: {result.reason})"
            message = Message(role="developer", text=f"Agent {child.id} has finished:\n{text}")
            self._owner.conversation.add(message, self._origin)

    async def _failed(self, error: ModelError) -> RunOver:
        event = RunFailed(
            category=error.category,
            details=error.details or None,
            last_message=self._text or None,
            origin=self._origin,
        )
        await self._owner.tell(event)
        return RunOver(RunResult(ending=Ending.FAILED, text=self._text, reason=str(error)))

    async def _fire(self, event: Event) -> Fired:
        return await self._owner.fire(event)

    def _hold(self, fired: Fired, hook: str, text: str) -> None:
        point = fired.resolution.event.point.name
        self._owner.conversation.hold_context(text, point=point, hook=hook, origin=self._origin)

    def _cancel_if_denied(self, fired: Fired) -> None:
        if fired.denied:
            raise RunOver(RunResult(ending=Ending.CANCELLED, text=self._text, reason=fired.reason))

    def _stop_if(self, end: EndRun | None) -> None:
        stop_if(end, self._text)

    def _record_call(self, request_id: str, status: str, begun: float, reply: ModelReply, error: str | None) -> None:
        self._owner.recorder.record(
            ModelCalled(
                origin=self._origin,
                request_id=request_id,
                status=status,
                duration=time.monotonic() - begun,
                usage=asdict(reply.usage),
                error=error,
            )
        )


def _sound(reply: object) -> ModelReply:
    """The reply, if it is one."""
    if not isinstance(reply, ModelReply):
        raise ModelError("unknown", f"the model returned a {type(reply).__name__}, which is no ModelReply")
    return reply

"""A run: one prompt, step by step, up to its final answer."""

import time
from dataclasses import asdict, replace
from typing import Protocol

from hookline._core.effects import EndRun
from hookline._core.errors import ModelError
from hookline._core.events import (
    AfterModelCall,
    AfterToolBatch,
    AfterToolCall,
    BeforeModelCall,
    BeforeRunEnd,
    BeforeToolCall,
    RunCompleted,
    StepEnd,
    SubagentEnd,
    ToolCallFailed,
)
from hookline._core.faults import Fault, FaultKind
from hookline._core.messages import CallResult, Message, ToolCall
from hookline._core.points import Event, Origin
from hookline._core.records import CallStatus, Ending, ModelCalled, Noted, ReopenRefused
from hookline._core.rules import Rule
from hookline._core.strictjson import kind_of
from hookline.session.apply import Fired
from hookline.session.call import Ended, Host, Passed, recorded
from hookline.session.children import Children
from hookline.session.compaction import Trigger
from hookline.session.gate import Gate
from hookline.session.over import RunOver, failed, failed_by_model, refused, stop_if
from hookline.session.ports import Model, ModelReply, ModelRequest, RunResult

OF_CALLS = (BeforeToolCall, AfterToolCall, ToolCallFailed)


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
    @property
    def max_tokens(self) -> int: ...

    def rules(self, event: type[Event]) -> tuple[Rule, ...]:
        """The rules under which there are hooks for *event*."""
        ...

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
            for step in range(self.limit):
                self._origin = replace(self._origin, step=step)
                await self._step(step)
            return self._out_of_steps().result
        except RunOver as over:
            return replace(over.result, text=over.result.text or self._text)
        finally:
            self._owner.conversation.release()

    @property
    def limit(self) -> int:
        """How many steps there may be."""
        return self._owner.max_steps

    async def _step(self, step: int) -> None:
        await self._bring_in_children(wait=False)
        await self._before_model(step)
        reply = await self._call_model(step)
        if reply.text:
            self._text = reply.text
        await self._after_model(reply)
        message = Message(role="assistant", text=reply.text, calls=reply.calls)
        self._owner.conversation.add(message, self._origin)
        if reply.calls:
            await self._run_calls(reply.calls)
        ended = await self._fire(StepEnd(tool_calls=len(reply.calls), origin=self._origin))
        self._end_if_refused(ended)
        self._stop_if(ended.end)
        if not reply.calls:
            await self._finish()

    async def _before_model(self, step: int) -> None:
        """What is due before the next request is made."""
        trigger = self._owner.compaction_due()
        if trigger is not None:
            await self._compact(trigger)

    async def _after_model(self, reply: ModelReply) -> None:
        """What is due behind a response, of which nothing has taken effect."""

    def _measured(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        """The reply, with the usage that counts: the provider's own."""
        return reply

    def _heard_of_reply(self, fired: Fired) -> None:
        """What hooks said of a response, where none of them refused it."""

    def _out_of_steps(self) -> RunOver:
        fault = Fault(kind=FaultKind.STEPS, message=f"no answer within {self.limit} steps")
        return failed(fault, self._text)

    async def _compact(self, trigger: Trigger) -> None:
        """Shorten the conversation. One that the model gives no summary of goes on as it is while it still fits."""
        try:
            self._stop_if(await self._owner.compact(trigger, self._origin))
        except ModelError as error:
            if trigger is Trigger.HARD:
                raise failed_by_model(error, self._text) from error
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
            max_tokens=owner.max_tokens,
            origin=self._origin,
        )
        self._end_if_refused(await self._fire(before))
        owner.conversation.release()  # context that was given just now is for this very request
        messages = owner.conversation.messages
        begun = time.monotonic()
        try:
            request = ModelRequest(
                messages=messages, tools=owner.gate.specs, request_id=request_id, max_tokens=owner.max_tokens
            )
            reply = self._measured(request, _sound(await owner.model.complete(request)))
        except Exception as fault:  # a model from outside that breaks is a failed call
            error = ModelError.of(fault)
            self._record_call(request_id, "error", begun, ModelReply(), str(error))
            raise failed_by_model(error, self._text) from fault
        self._record_call(request_id, "success", begun, reply, None)
        owner.tally.count_step(reply.usage)
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
            server_tools=reply.server_tools,
            origin=self._origin,
        )
        fired = await self._fire(after)
        self._end_if_refused(fired)
        self._heard_of_reply(fired)
        return reply

    async def _run_calls(self, calls: tuple[ToolCall, ...]) -> None:
        """Run the calls of one step, and tell the hooks of the batch what came of them."""
        rules = [rule for event in OF_CALLS for rule in self._owner.rules(event)]
        asked = len(self._owner.conversation.messages) - 1
        try:
            if any(rule.objects_only for rule in rules):
                _check_objects(calls)
            whole = any(rule.whole_batch for rule in rules)
            passed = await (self._in_parts(calls) if whole else self._in_turn(calls))
        except BaseException:
            self._interrupted(asked)
            raise
        results = [
            CallResult(tool_name=call.name, input=each.input, call_id=call.id, response=each.response)
            for call, each in zip(calls, passed, strict=True)
        ]
        self._stop_if(next((each.fired.end for each in passed if each.fired is not None and each.fired.end), None))
        fired = await self._fire(AfterToolBatch(calls=tuple(results), origin=self._origin))
        for hook, text in fired.feedback:
            self._hold(fired, hook, text)
        self._stop_if(fired.end)

    async def _in_turn(self, calls: tuple[ToolCall, ...]) -> list[Passed]:
        """One call after the other. A hook that ends the run keeps those that are left from running."""
        passed: list[Passed] = []
        for call in calls:
            if any(each.fired is not None and each.fired.end for each in passed):
                passed.append(self._not_run(call))
            else:
                passed.append(await self._owner.gate.pass_through(call, self._owner, self._origin))
        return passed

    async def _in_parts(self, calls: tuple[ToolCall, ...]) -> list[Passed]:
        """All are asked about before the first is run, and none is told of before the last has ended."""
        owner = self._owner
        asked = await owner.gate.ask(calls, owner, self._origin, of_unknown=True)
        ended: list[Ended] = []
        passed: list[Passed] = []
        try:
            for each in asked:
                ended.append(await owner.gate.run(each, owner))  # noqa: PERF401  # those before a fault count
            for each_ended in ended:
                passed.append(await owner.gate.tell(each_ended, owner))  # noqa: PERF401  # the same
        except BaseException as fault:
            told = len(passed) + (len(ended) == len(asked))  # the one that raised is in the account already
            for untold in ended[told:]:
                recorded(untold if not isinstance(fault, RunOver) else _unheard(untold), owner)
            raise
        return passed

    def _interrupted(self, asked: int) -> None:
        """Give a result to every call of the message at *asked* that has none."""
        said = self._owner.conversation.messages[asked:]
        answered = {message.call_id for message in said if message.role == "tool"}
        text = "no result: the run was interrupted"
        passed = Passed(status=CallStatus.REFUSED, text=text, response=text)
        for call in said[0].calls:
            if call.id not in answered:
                recorded(Ended(call=call, origin=self._origin, passed=passed), self._owner)

    def _not_run(self, call: ToolCall) -> Passed:
        text = "not run: a hook ended the run"
        passed = Passed(status=CallStatus.REFUSED, text=text, response=text, input=call.input)
        return recorded(Ended(call=call, origin=self._origin, passed=passed), self._owner)

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
            raise refused(completed.resolution, self._text, fails=True)
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

    async def _fire(self, event: Event) -> Fired:
        return await self._owner.fire(event)

    def _hold(self, fired: Fired, hook: str, text: str) -> None:
        point = fired.resolution.event.point.name
        self._owner.conversation.hold_context(text, point=point, hook=hook, origin=self._origin)

    def _end_if_refused(self, fired: Fired) -> None:
        if fired.denied:
            raise refused(fired.resolution, self._text)

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


def _unheard(ended: Ended) -> Ended:
    """The end of a call that its hooks were not told of any more: what no hook has seen the model does not see."""
    text = "result withheld: the run ended before its hooks were told of it"
    return replace(ended, passed=replace(ended.passed, text=text, response=text))


def _check_objects(calls: tuple[ToolCall, ...]) -> None:
    """Raise RunOver for the first call whose input is no object; one without any input has an empty one."""
    for call in calls:
        blank = call.input is None or (isinstance(call.input, str) and not call.input.strip())
        if not (blank or isinstance(call.input, dict)):
            found = kind_of(call.input)
            text = f"tool call arguments must be a JSON object, got {found}: the call {call.id} of {call.name}"
            raise failed(Fault(kind=FaultKind.TOOL, message=text))


def _sound(reply: object) -> ModelReply:
    """The reply, if it is one."""
    if not isinstance(reply, ModelReply):
        raise ModelError("unknown", f"the model returned a {type(reply).__name__}, which is no ModelReply")
    return reply

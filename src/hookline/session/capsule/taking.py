"""Taking up a task of a capsule: seed, attempts, feedback, and its one end."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from hookline._core.capsule import Transport
from hookline._core.effects import ReplaceContext, SeedContext
from hookline._core.events import BeforeCompaction, BeforeRun, BeforeRunEnd, RunCompleted
from hookline._core.events.session import Totals
from hookline._core.faults import Fault, FaultKind
from hookline._core.messages import Message, wire_form
from hookline._core.points import Origin
from hookline._core.records import (
    ContextSeeded,
    Diagnosed,
    Ending,
    Reopened,
    RunEnded,
    RunStarted,
    TaskTotals,
)
from hookline._core.resolution import Applied
from hookline.session.apply import Fired
from hookline.session.capsule.attempt import Attempt, left_text, status_of
from hookline.session.capsule.attempt import Owner as OwnerOfAttempt
from hookline.session.capsule.layout import put
from hookline.session.capsule.measure import text_of, tokens_of_messages
from hookline.session.capsule.record import new_message_id
from hookline.session.capsule.reopening import exhausted, with_feedback
from hookline.session.capsule.seeding import Seed, budget_of, decided
from hookline.session.capsule.shortening import BOOTSTRAP
from hookline.session.capsule.task import Task
from hookline.session.over import RunOver, failed, refused, stop_if
from hookline.session.ports import RunResult
from hookline.session.taking import Owner as OwnerOfTaker
from hookline.session.taking import Taker

EXHAUSTED = "reopen_budget_exhausted"


class Owner(OwnerOfAttempt, OwnerOfTaker, Protocol):
    """The capsule's session as whoever takes up its tasks sees it."""

    def enter_task(self, record: RunStarted) -> Task:
        """Make this the task in scope."""
        ...


class TaskTaker(Taker):
    """Works on the tasks of one capsule, one at a time."""

    def __init__(self, owner: Owner) -> None:
        super().__init__(owner)
        self._capsule = owner
        self._before = Totals()
        self._status = ""
        self._reopened = 0

    def _started(self, record: RunStarted) -> RunStarted:
        owner = self._capsule
        self._before, self._status, self._reopened = owner.tally.totals(), "failed", 0
        task = owner.enter_task(record)
        size = len(record.prompt.encode(errors="replace"))
        return replace(record, source=task.source, context_id=task.context_id, input_bytes=size)

    def _ended(self, record: RunEnded) -> RunEnded:
        now, before = self._capsule.tally.totals(), self._before
        status = self._status if record.ending is not Ending.COMPLETED else "ok"
        if record.ending is not Ending.COMPLETED:
            self._capsule.tally.failed = True
        totals = TaskTotals(
            status=status,
            duration=now.duration - before.duration,
            steps=now.steps - before.steps,
            input_tokens=now.input_tokens - before.input_tokens,
            output_tokens=now.output_tokens - before.output_tokens,
            tool_calls=now.tool_calls - before.tool_calls,
            shell_calls=now.shell_calls - before.shell_calls,
            reopened=self._reopened,
        )
        self._capsule.layout.write_result(left_text(record.ending, record.text, record.reason))
        self._capsule.task = None
        return replace(record, totals=totals)

    async def _run(self, prompt: str, origin: Origin, *, resumes: bool) -> RunResult:
        owner = self._capsule
        if (over := owner.ended_before()) is not None:
            return over
        owner.place = origin
        history = owner.conversation.messages if owner.capsule.lifecycle.threaded else ()
        fired = await owner.fire(self._before_run(prompt, origin, history))
        if fired.denied:
            raise refused(fired.resolution)
        seed = await self._seeded(fired, origin)
        return await self._attempts(prompt, origin, (*seed, *history))

    def _before_run(self, prompt: str, origin: Origin, history: Sequence[Message]) -> BeforeRun:
        owner, context = self._capsule, self._capsule.capsule.context
        task = owner.task
        return BeforeRun(
            prompt=prompt,
            source="" if task is None else task.source,
            context_id="" if task is None else task.context_id,
            input_bytes=len(prompt.encode(errors="replace")),
            seed_budget=budget_of(context.max_tokens, context.seed_budget),
            window=context.max_tokens or 0,
            prior=tokens_of_messages(history, owner.count),
            origin=origin,
        )

    async def _attempts(self, prompt: str, origin: Origin, before: Sequence[Message]) -> RunResult:
        """One attempt after the other, until the task is accepted, fails for good, or has no budget left."""
        owner, capsule = self._capsule, self._capsule.capsule
        feedback: list[tuple[str, str]] = []
        used = 0
        while True:
            text = with_feedback(prompt, feedback)
            self._begin_attempt(text, origin, before, again=bool(feedback))
            attempt = Attempt(owner, origin, most=capsule.inference.max_turns - used)
            result = await attempt.to_the_end()
            used += attempt.taken
            self._status = status_of(result)
            if owner.task is not None:
                owner.task.output = left_text(result.ending, result.text, result.reason)
            owner.place = origin
            fired = await self._told_of_end(result, origin, reopened=bool(feedback))
            stop_if(fired.end, result.text)
            if fired.reopen is None:
                return await self._accepted(result, origin)
            if self._reopened >= capsule.lifecycle.max_reopens or used >= capsule.inference.max_turns:
                raise self._out_of_budget(fired.reopened_by, result.text)
            self._reopened += 1
            reason = fired.reopen.feedback
            reopened = Reopened(origin=origin, hook=fired.reopened_by, reason=reason, number=self._reopened)
            owner.recorder.record(reopened)
            feedback.append((fired.reopened_by, reason))

    def _begin_attempt(self, text: str, origin: Origin, before: Sequence[Message], *, again: bool) -> None:
        owner = self._capsule
        if owner.task is not None:
            owner.task.begin_attempt(text)
        try:
            put(owner.layout.task, text)
        except OSError as error:  # the attempt knows its task all the same
            owner.recorder.record(Diagnosed(origin=origin, log=BOOTSTRAP, text=f"[task] task.md: {error.strerror}"))
        why = "reopened" if again else "task"
        if tuple(owner.conversation.messages) != tuple(before):
            owner.conversation.replace(before, why=why, origin=origin)
        owner.conversation.release()
        owner.conversation.add(Message(role="user", text=text), origin)

    async def _told_of_end(self, result: RunResult, origin: Origin, *, reopened: bool) -> Fired:
        event = BeforeRunEnd(last_message=result.text, reopened=reopened, status=self._status, origin=origin)
        return await self._capsule.fire(event)

    async def _accepted(self, result: RunResult, origin: Origin) -> RunResult:
        if result.ending is Ending.COMPLETED:
            completed = await self._capsule.fire(RunCompleted(text=result.text, origin=origin))
            if completed.denied:
                self._status = "failed"
                raise refused(completed.resolution, result.text, fails=True)
        return result

    def _out_of_budget(self, hook: str, text: str) -> RunOver:
        self._status = EXHAUSTED
        return failed(Fault(kind=FaultKind.STEPS, message=exhausted(self._reopened, hook), hook=hook), text)

    async def _seeded(self, fired: Fired, origin: Origin) -> tuple[Message, ...]:
        """What stands before the task. Nothing about it can fail one."""
        applied = next((each for each in fired.resolution.applied if isinstance(each.effect, SeedContext)), None)
        if applied is None:
            return ()
        owner, context = self._capsule, self._capsule.capsule.context
        messages = _messages_of(applied)
        if owner.capsule.inference.transport is Transport.PROCESS:
            proposed = tokens_of_messages(messages, owner.count)
            seed = Seed(outcome="rejected", reason="unsupported_transport", proposed=proposed)
        else:
            seed = await decided(
                messages,
                [owner.count(text_of(wire_form(each))) for each in messages],
                budget=budget_of(context.max_tokens, context.seed_budget),
                margin=context.seed_overflow_margin,
                measure=lambda kept: tokens_of_messages(kept, owner.count),
                summarise=lambda front, tokens: self._summarised(front, tokens, origin),
            )
        self._note_seed(seed, applied.hook, origin)
        return seed.messages

    async def _summarised(self, front: Sequence[Message], tokens: int, origin: Origin) -> Sequence[Message] | None:
        """A summary of what there is no room for, by whoever shortens conversations here."""
        event = BeforeCompaction(
            trigger="seed",
            messages=tuple(front),
            tokens=tokens,
            ratio=self._capsule.capsule.context.seed_budget,
            origin=origin,
        )
        resolution = (await self._capsule.tell(event)).resolution
        if resolution.denied:
            return None
        replacement = resolution.first(ReplaceContext)
        return None if replacement is None else [_identified(each) for each in replacement.messages]

    def _note_seed(self, seed: Seed, hook: str, origin: Origin) -> None:
        told = f"[seed] hook '{hook}' "
        if seed.outcome == "rejected":
            told += (
                f"proposed {seed.proposed} tokens against a budget of {seed.budget}; rejected ({seed.reason}); "
                "the task runs without a seed"
            )
        else:
            told += (
                f"seeded {seed.tokens} of {seed.proposed} proposed tokens against a budget of {seed.budget} "
                f"({seed.outcome})"
            )
        recorder = self._capsule.recorder
        recorder.record(
            ContextSeeded(
                origin=origin,
                hook=hook,
                outcome=seed.outcome,
                reason=seed.reason,
                proposed=seed.proposed,
                tokens=seed.tokens,
                budget=seed.budget,
                message_ids=tuple(each.id for each in seed.messages),
            )
        )
        recorder.record(Diagnosed(origin=origin, log=BOOTSTRAP, text=told))


def _messages_of(applied: Applied) -> tuple[Message, ...]:
    assert isinstance(applied.effect, SeedContext)  # noqa: S101  # for the type checker: it was looked for
    return tuple(_identified(each) for each in applied.effect.messages)


def _identified(message: Message) -> Message:
    return message if message.id else replace(message, id=new_message_id())

"""Every call of a step through each part of the gate together, and how a run fails by its own kind of fault."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine_rig import CHAIN
from tests.tool_rig import Willing
from tests.unit.session.conftest import Breaking

import hookline as hl
from hookline._core.events.tool import UnknownToolCall
from hookline._core.faults import Fault, FaultKind
from hookline._core.messages import ToolCall, ToolSpec
from hookline._core.points import Event
from hookline._core.records import CallEnded, CallStarted, CallStatus, Ending, ModelCalled, RunEnded
from hookline._core.rules import Rule
from hookline._engine.engine import HookEngine
from hookline.adapters import builtin
from hookline.dialects._base import TableDialect
from hookline.session.ports import CallContext, ModelReply, ModelRequest, ToolResult
from hookline.session.run import OF_CALLS

DONE = {"say": "done"}
WITHHELD = "result withheld: the run ended before its hooks were told of it"
INTERRUPTED = "no result: the run was interrupted"


def of_batches(**terms: Any) -> TableDialect:
    """A dialect that wants the whole batch, in which every point may be answered."""
    rules: dict[type[Event], Rule] = {
        event: replace(CHAIN.rules[event], **{"whole_batch": True, **terms}) for event in OF_CALLS
    }
    return replace(CHAIN, rules={**CHAIN.rules, **rules})


def engine_of(dialect: TableDialect) -> HookEngine:
    return HookEngine(dialects=[dialect], in_code=dialect, adapters=builtin())


@pytest.fixture
def engine() -> HookEngine:
    return engine_of(of_batches())


class Work(Willing):
    """A tool that says what it was told to, and keeps what happened. One that is told to hang does."""

    spec = ToolSpec(name="work", description="", parameters={"type": "object"})

    def __init__(self, log: list[str] | None = None) -> None:
        self.log = [] if log is None else log
        self.hanging = asyncio.Event()

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        name = input["name"]
        self.log.append(f"run {name}")
        if input.get("hangs"):
            self.hanging.set()
            await asyncio.Event().wait()
        if input.get("breaks"):
            raise ValueError("oh no")
        return ToolResult(text=f"did {name}")


def work(name: str, **more: Any) -> dict[str, Any]:
    return {"tool": "work", "input": {"name": name, **more}}


def batch(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"calls": list(calls)}


def told(session: hl.Session) -> list[str]:
    """What the model is told of the calls, in their order."""
    return [message.text for message in session.conversation.messages if message.role == "tool"]


def ended(kept: Any) -> list[tuple[str, CallStatus]]:
    return [(record.call_id, record.status) for record in kept.of(CallEnded)]


def each_once(session: hl.Session, kept: Any) -> None:
    """Every call of the conversation has one end in the account, and one result."""
    calls = [call.id for message in session.conversation.messages for call in message.calls]
    assert calls
    assert Counter(calls) == Counter(call_id for call_id, _ in ended(kept))
    assert Counter(calls) == Counter(
        message.call_id for message in session.conversation.messages if message.role == "tool"
    )


class Log:
    """What hooks, tools and the account say, in the order in which it happened."""

    def __init__(self, engine: HookEngine) -> None:
        self.lines: list[str] = []
        engine.on(hl.BeforeToolCall)(self.ask)
        engine.on(hl.AfterToolCall)(self.tell)
        engine.on(hl.ToolCallFailed)(self.tell)

    async def ask(self, event: hl.BeforeToolCall) -> None:
        self.lines.append(f"ask {_name_of(event)}")

    async def tell(self, event: Any) -> None:
        self.lines.append(f"tell {_name_of(event)}")


def _name_of(event: Any) -> str:
    return str(event.input["name"])


@pytest.fixture
def log(engine: HookEngine) -> Log:
    return Log(engine)


class Calls:
    """A model that asks for *calls*, and then is done."""

    name = provider = "calls"
    provider_known = False

    def __init__(self, *calls: dict[str, Any]) -> None:
        numbered = enumerate(calls, start=1)
        self._calls = tuple(ToolCall(id=f"call-{n}", name=call["tool"], input=call["input"]) for n, call in numbered)

    async def complete(self, request: ModelRequest) -> ModelReply:
        calls, self._calls = self._calls, ()
        return ModelReply(text="" if calls else "done", calls=calls)

    async def summarise(self, messages: Any) -> str:
        return ""

    def for_child(self, kind: str) -> "Calls":
        return self


Through = Callable[..., Awaitable[hl.Session]]


@pytest.fixture
def through(kept: Any, workspace: Path) -> Through:
    """Runs a step of *calls* on an engine, and gives the session, which is closed by then."""

    async def run(engine: HookEngine, lines: list[str], *calls: dict[str, Any]) -> hl.Session:
        session = hl.Session(
            engine,
            model=Calls(*calls),
            tools=(Work(lines),),
            journals=kept,
            workspace=workspace,
            approval=hl.ApprovalMode.NEVER,
        )
        async with session:
            await session.run("go")
        return session

    return run


# In which order


async def test_all_are_asked_about_first_and_told_last(play: Any, log: Log, kept: Any) -> None:
    """Every call is asked about before the first runs; hooks are told when the last has ended, in call order."""
    async with play(batch(work("a"), work("b", breaks=True), work("c")), DONE, tools=(Work(log.lines),)) as session:
        result = await session.run("go")
        assert ["did a", "work broke: ValueError: oh no", "did c"] == told(session)
        each_once(session, kept)

    assert "done" == result.text
    parts = [[f"{part} {name}" for name in "abc"] for part in ("ask", "run", "tell")]
    assert sorted(parts[0]) == sorted(log.lines[:3])
    assert [*parts[1], *parts[2]] == log.lines[3:]
    assert [CallStatus.DONE, CallStatus.FAILED, CallStatus.DONE] == [status for _, status in ended(kept)]


async def test_without_such_a_rule_each_goes_through_by_itself(through: Through, kept: Any) -> None:
    """A dialect that does not want the batch has one call after the other, and so has one without hooks of calls."""
    engine = engine_of(CHAIN)
    log = Log(engine)
    await through(engine, log.lines, work("a"), work("b"))

    assert [f"{part} {name}" for name in "ab" for part in ("ask", "run", "tell")] == log.lines


async def test_calls_are_asked_about_at_once(play: Any, engine: HookEngine) -> None:
    """No call's hooks wait for those of another: the first is answered when the last has been asked."""
    asked: list[str] = []
    all_asked = asyncio.Event()

    @engine.on(hl.BeforeToolCall)
    async def wait(event: hl.BeforeToolCall) -> None:
        asked.append(_name_of(event))
        if len(asked) == 3:
            all_asked.set()
        await all_asked.wait()

    async with play(batch(work("a"), work("b"), work("c")), DONE, tools=(Work(),)) as session:
        assert "done" == (await session.run("go")).text

    assert ["a", "b", "c"] == sorted(asked)


# Who objects


async def test_a_denial_refuses_its_own_call(play: Any, engine: HookEngine, log: Log, kept: Any) -> None:
    """The denied call does not run and its hooks are told nothing more; the others run."""

    @engine.on(hl.BeforeToolCall)
    async def guard(event: hl.BeforeToolCall) -> hl.Deny | None:
        return hl.Deny("not b") if _name_of(event) == "b" else None

    async with play(batch(work("a"), work("b"), work("c")), DONE, tools=(Work(log.lines),)) as session:
        assert "done" == (await session.run("go")).text
        assert ["did a", "tool blocked by hook: not b", "did c"] == told(session)
        each_once(session, kept)

    assert ["run a", "run c", "tell a", "tell c"] == log.lines[3:]


@pytest.mark.parametrize("fails_by", ["denial", "failure"])
async def test_a_failure_at_asking_dispatches_none(fails_by: str, through: Through, kept: Any) -> None:
    """The run fails by the first, in call order, that a hook fails; no call of the batch runs, each has a result."""
    engine = engine_of(of_batches(deny_fails=True))
    lines: list[str] = []

    @engine.on(hl.BeforeToolCall, on_failure=hl.FailurePolicy.FAIL_RUN)
    async def guard(event: hl.BeforeToolCall) -> hl.Deny | None:
        if _name_of(event) == "a":
            return None
        if fails_by == "failure":
            raise ValueError(f"no {_name_of(event)}")
        return hl.Deny(f"no {_name_of(event)}")

    session = await through(engine, lines, work("a"), work("b"), work("c"))
    assert [INTERRUPTED] * 3 == told(session)
    assert [] == lines
    assert [] == kept.of(CallStarted)
    (run,) = kept.of(RunEnded)
    assert Ending.FAILED is run.ending
    assert "no b" in run.reason


async def test_a_call_of_an_unknown_tool_is_asked_about(play: Any, engine: HookEngine, seen: Any, kept: Any) -> None:
    """Hooks of a batch hear of it as of any call; it fails all the same, and that is told."""
    nothing = {"tool": "nothing", "input": {"name": "x"}}
    async with play(batch(nothing, work("a")), DONE, tools=(Work(),)) as session:
        await session.run("go")
        assert ["there is no tool `nothing`; there are: work", "did a"] == told(session)
        each_once(session, kept)

    assert [UnknownToolCall, hl.BeforeToolCall] == [type(event) for event in seen.of(hl.BeforeToolCall)]
    assert [("nothing", {"name": "x"})] == [(event.tool_name, event.input) for event in seen.of(hl.ToolCallFailed)]
    assert [CallStatus.FAILED, CallStatus.DONE] == [status for _, status in ended(kept)]


async def test_a_call_of_an_unknown_tool_can_be_refused(play: Any, engine: HookEngine, seen: Any, kept: Any) -> None:
    """A denial of it counts as one: the model reads that reason, and no failure is told."""

    @engine.on(hl.BeforeToolCall, match=hl.names("nothing"))
    async def guard(event: hl.BeforeToolCall) -> hl.Deny:
        return hl.Deny("never")

    async with play(batch({"tool": "nothing", "input": {}}, work("a")), DONE, tools=(Work(),)) as session:
        await session.run("go")
        assert ["tool blocked by hook: never", "did a"] == told(session)
        each_once(session, kept)

    assert [] == seen.of(hl.ToolCallFailed)
    assert [CallStatus.REFUSED, CallStatus.DONE] == [status for _, status in ended(kept)]


async def test_a_call_of_an_unknown_tool_can_fail_the_run(through: Through, kept: Any) -> None:
    """Where a denial fails the run, one of a tool that there is not does so too, and nothing of the batch runs."""
    engine = engine_of(of_batches(deny_fails=True))
    lines: list[str] = []

    @engine.on(hl.BeforeToolCall, match=hl.names("nothing"))
    async def guard(event: hl.BeforeToolCall) -> hl.Deny:
        return hl.Deny("never")

    await through(engine, lines, work("a"), {"tool": "nothing", "input": {}})
    assert [] == lines
    assert [Ending.FAILED] == [run.ending for run in kept.of(RunEnded)]


# Inputs that are no objects


@pytest.mark.parametrize(
    ("input", "found"),
    [("{", "string"), ("[]", "string"), ([1], "array"), (7, "number"), (0.5, "number"), (True, "boolean")],
    ids=["text", "text of a list", "list", "whole number", "fraction", "boolean"],
)
async def test_an_input_that_is_no_object_fails_the_run(input: Any, found: str, through: Through, kept: Any) -> None:
    """Before any hook is asked the run fails by the call and the kind of what it was given; each call has a result."""
    engine = engine_of(of_batches(objects_only=True))
    log = Log(engine)
    faults: list[Fault | None] = []

    @engine.on(hl.RunFailed)
    async def note(event: hl.RunFailed) -> None:
        faults.append(event.fault)

    session = await through(engine, log.lines, work("a"), {"tool": "work", "input": input}, work("c"))
    assert [] == log.lines
    assert [INTERRUPTED] * 3 == told(session)
    text = f"tool call arguments must be a JSON object, got {found}: the call call-2 of work"
    assert [Fault(kind=FaultKind.TOOL, message=text)] == faults
    assert [(Ending.FAILED, text)] == [(run.ending, run.reason) for run in kept.of(RunEnded)]


async def test_without_such_a_rule_it_is_the_tools_to_say(play: Any, engine: HookEngine, kept: Any) -> None:
    """Where no rule wants objects only, an input that is none is a call like any other: the tool judges it."""
    async with play(batch({"tool": "work", "input": "{"}), DONE, tools=(Work(),)) as session:
        assert "done" == (await session.run("go")).text
        assert told(session)[0].startswith("work broke: TypeError")


@pytest.mark.parametrize("input", ["", "  ", None], ids=["empty", "blank", "null"])
async def test_no_input_at_all_is_an_empty_one(input: Any, through: Through, kept: Any) -> None:
    """A model that gives a call nothing to go by has not broken its form: the run goes on."""
    engine = engine_of(of_batches(objects_only=True))
    engine.on(hl.BeforeToolCall)(lambda _: None)
    await through(engine, [], {"tool": "work", "input": input})

    assert [Ending.COMPLETED] == [run.ending for run in kept.of(RunEnded)]


# How it is told, and cut off


async def test_a_denial_afterwards_withholds_the_result(play: Any, engine: HookEngine, log: Log, kept: Any) -> None:
    """The model reads why in place of the result, of a failed call too; hooks of the others are told as ever."""

    async def guard(event: Any) -> hl.Deny | None:
        return hl.Deny(f"secret {_name_of(event)}") if _name_of(event) != "a" else None

    engine.on(hl.AfterToolCall)(guard)
    engine.on(hl.ToolCallFailed)(guard)

    async with play(batch(work("a"), work("b"), work("c", breaks=True)), DONE, tools=(Work(log.lines),)) as session:
        assert "done" == (await session.run("go")).text
        withheld = "tool result withheld by hook: secret {}"
        assert ["did a", withheld.format("b"), withheld.format("c")] == told(session)
        each_once(session, kept)

    assert ["tell a", "tell b", "tell c"] == log.lines[-3:]
    assert not any("did b" in record.text or "oh no" in record.text for record in kept.of(CallEnded))


async def test_a_denial_afterwards_that_fails_the_run_withholds_what_is_behind_it(through: Through, kept: Any) -> None:
    """What was told before stands; the denied result, and those that no hook was told of, the model never sees."""
    engine = engine_of(of_batches(deny_fails=True))
    log = Log(engine)

    @engine.on(hl.AfterToolCall)
    async def guard(event: hl.AfterToolCall) -> hl.Deny | None:
        return hl.Deny("secret") if _name_of(event) == "b" else None

    session = await through(engine, log.lines, *(work(name) for name in "abcd"))
    assert ["did a", "tool result withheld by hook: secret", WITHHELD, WITHHELD] == told(session)
    each_once(session, kept)
    assert ["tell a", "tell b"] == log.lines[-2:]
    assert [Ending.FAILED] == [run.ending for run in kept.of(RunEnded)]


async def test_a_failure_afterwards_that_fails_the_run_withholds_as_well(through: Through, kept: Any) -> None:
    """A hook that breaks at the first result keeps this one and all behind it from the model."""
    engine = engine_of(of_batches())

    @engine.on(hl.AfterToolCall, on_failure=hl.FailurePolicy.FAIL_RUN)
    async def guard(event: hl.AfterToolCall) -> None:
        raise ValueError("oh no")

    session = await through(engine, [], work("a"), work("b"))
    first, second = told(session)
    assert first.startswith("tool result withheld by hook: ")
    assert WITHHELD == second
    each_once(session, kept)


async def test_a_hook_that_ends_the_run_afterwards_lets_the_batch_be_told(
    play: Any, engine: HookEngine, log: Log, kept: Any
) -> None:
    """All have run by then, so all are told and have their results; the model is not called again."""

    @engine.on(hl.AfterToolCall)
    async def enough(event: hl.AfterToolCall) -> hl.EndRun:
        return hl.EndRun("enough")

    async with play(batch(work("a"), work("b")), DONE, tools=(Work(log.lines),)) as session:
        result = await session.run("go")
        assert (Ending.CANCELLED, "enough") == (result.ending, result.reason)
        assert ["did a", "did b"] == told(session)
        each_once(session, kept)

    assert ["run a", "run b", "tell a", "tell b"] == log.lines[2:]


async def test_cancelled_in_the_middle_every_call_has_one_end(
    play: Any, engine: HookEngine, log: Log, kept: Any
) -> None:
    """Cut off while one of three runs: each call has one end in the account and one result, the one that never ran too.

    What ran has its own result, what was at work was interrupted, and no hook is told of any.
    """
    tool = Work(log.lines)
    async with play(batch(work("a"), work("b", hangs=True), work("c")), DONE, tools=(tool,)) as session:
        run = asyncio.ensure_future(session.run("go"))
        await tool.hanging.wait()
        run.cancel()
        await asyncio.wait([run])
        assert run.cancelled()
        each_once(session, kept)
        texts = {message.call_id: message.text for message in session.conversation.messages if message.role == "tool"}
        assert ("did a", "interrupted") == (texts["call-1"], texts["call-2"])
        assert "done" == (await session.run("and now")).text

    assert ["run a", "run b"] == log.lines[3:]


async def test_cancelled_while_asking_none_runs(play: Any, engine: HookEngine, kept: Any) -> None:
    """Cut off before the first runs: nothing does, and every call in the conversation has one result."""
    asked = asyncio.Event()
    lines: list[str] = []

    @engine.on(hl.BeforeToolCall)
    async def hang(event: hl.BeforeToolCall) -> None:
        asked.set()
        await asyncio.Event().wait()

    async with play(batch(work("a"), work("b")), DONE, tools=(Work(lines),)) as session:
        run = asyncio.ensure_future(session.run("go"))
        await asked.wait()
        run.cancel()
        await asyncio.wait([run])
        assert [INTERRUPTED] * 2 == told(session)

    assert [] == lines
    assert [] == kept.of(CallStarted)


async def test_cancelled_while_telling_every_call_has_one_end(play: Any, engine: HookEngine, kept: Any) -> None:
    """Cut off while hooks are told of the first result: each call has its end and its result once, as it ran."""
    telling = asyncio.Event()

    @engine.on(hl.AfterToolCall)
    async def hang(event: hl.AfterToolCall) -> None:
        telling.set()
        await asyncio.Event().wait()

    async with play(batch(work("a"), work("b"), work("c")), DONE, tools=(Work(),)) as session:
        run = asyncio.ensure_future(session.run("go"))
        await telling.wait()
        run.cancel()
        await asyncio.wait([run])
        each_once(session, kept)
        assert ["did a", "did b", "did c"] == told(session)


# Why a run failed


@pytest.fixture
def faults(engine: HookEngine) -> list[Fault | None]:
    """Those that `run_failed` told."""
    told: list[Fault | None] = []

    @engine.on(hl.RunFailed)
    async def note(event: hl.RunFailed) -> None:
        assert event.fault is not None
        assert event.category == (event.fault.category or event.fault.kind.value)
        told.append(event.fault)

    return told


async def test_a_failed_model_call(play: Any, faults: list[Fault]) -> None:
    """MODEL: its category is the closed word, its details what was said."""
    async with play({"fail": {"category": "rate_limit", "details": "slow down"}}) as session:
        result = await session.run("go")

    fault = Fault(kind=FaultKind.MODEL, message="slow down", category="rate_limit", details="slow down")
    assert [fault] == faults == [result.fault]


async def test_too_many_steps(play: Any, faults: list[Fault]) -> None:
    """STEPS: with the limit in words."""
    async with play(*[batch(work("a"))] * 3, tools=(Work(),), max_steps=2) as session:
        await session.run("go")

    assert [Fault(kind=FaultKind.STEPS, message="no answer within 2 steps")] == faults


@pytest.mark.parametrize("point", [hl.BeforeRun, hl.BeforeModelCall, hl.RunCompleted], ids=lambda each: each.point.name)
async def test_a_denial_that_fails(point: Any, play: Any, engine: HookEngine, faults: list[Fault]) -> None:
    """HOOK_DENIED: the hook, the point, its own word for it and its reason."""

    @engine.on(point)
    async def guard(event: Any) -> hl.Deny:
        return hl.Deny("no", code="policy_violation")

    hook = next(each for each in engine.hooks() if each.event is point)
    engine._hooks[hook.id] = replace(hook, deny_fails=True)
    engine._plans.clear()
    async with play(DONE) as session:
        result = await session.run("go")

    assert (Ending.FAILED, "no") == (result.ending, result.reason)
    (fault,) = faults
    assert fault == Fault(
        kind=FaultKind.HOOK_DENIED,
        message="no",
        hook=hook.id,
        point=point.point.name,
        code="policy_violation",
        details="no",
    )


async def test_a_hook_that_takes_too_long(play: Any, engine: HookEngine, faults: list[Fault]) -> None:
    """HOOK_TIMEOUT: the hook, the point and the seconds that it had."""

    @engine.on(hl.BeforeModelCall, timeout=0.01, on_failure=hl.FailurePolicy.FAIL_RUN)
    async def hang(event: hl.BeforeModelCall) -> None:
        await asyncio.Event().wait()

    async with play(DONE) as session:
        await session.run("go")

    (fault,) = faults
    assert (FaultKind.HOOK_TIMEOUT, "before_model_call", 0.01) == (fault.kind, fault.point, fault.limit)
    assert fault.hook in {hook.id for hook in engine.hooks()}


async def test_a_hook_that_breaks(play: Any, engine: HookEngine, faults: list[Fault]) -> None:
    """HOOK_FAILED: the hook, the point and what it raised."""

    @engine.on(hl.BeforeModelCall, on_failure=hl.FailurePolicy.FAIL_RUN)
    async def break_down(event: hl.BeforeModelCall) -> None:
        raise ValueError("oh no")

    async with play(DONE) as session:
        await session.run("go")

    (fault,) = faults
    assert (FaultKind.HOOK_FAILED, "before_model_call", "ValueError: oh no") == (fault.kind, fault.point, fault.details)


async def test_a_call_that_is_none(through: Through) -> None:
    """TOOL: see above, where inputs are no objects; here that it needs the rule, and a hook of its dialect."""
    engine = engine_of(of_batches(objects_only=True))
    told: list[FaultKind] = []

    @engine.on(hl.RunFailed)
    async def note(event: hl.RunFailed) -> None:
        assert event.fault is not None
        told.append(event.fault.kind)

    await through(engine, [], {"tool": "work", "input": "{"})
    assert [] == told
    engine.on(hl.BeforeToolCall)(lambda _: None)
    await through(engine, [], {"tool": "work", "input": "{"})
    assert [FaultKind.TOOL] == told


async def test_an_interruption(play: Any, engine: HookEngine, faults: list[Fault], kept: Any) -> None:
    """CANCELLED: a run that is cut off is told of before its cancellation takes its way."""
    asked = asyncio.Event()

    @engine.on(hl.BeforeModelCall)
    async def note(event: hl.BeforeModelCall) -> None:
        asked.set()

    async with play({"say": "late", "wait": 60}) as session:
        run = asyncio.ensure_future(session.run("go"))
        await asked.wait()
        run.cancel()
        await asyncio.wait([run])
        assert run.cancelled()
        assert [Fault(kind=FaultKind.CANCELLED, message="interrupted")] == faults

    assert [Ending.CANCELLED] == [record.ending for record in kept.of(RunEnded)]


async def test_a_break_down_of_our_own(play: Any, faults: list[Fault]) -> None:
    """INTERNAL: a run that is left by what it could not keep has failed, and its hooks are told by what."""
    journals = Breaking(ModelCalled, hl.StateError("the disk is full"))
    async with play(DONE, journals=journals) as session:
        with pytest.raises(hl.StateError):
            await session.run("go")

    assert [(FaultKind.INTERNAL, True)] == [(fault.kind, "the disk is full" in fault.message) for fault in faults]


async def test_a_run_that_a_hook_ended_has_not_failed(play: Any, engine: HookEngine, faults: list[Fault]) -> None:
    """A refusal that fails nothing, and a hook that ends the run, are told of by no `run_failed`."""

    @engine.on(hl.BeforeRun)
    async def guard(event: hl.BeforeRun) -> hl.Deny:
        return hl.Deny("no")

    async with play(DONE) as session:
        assert Ending.CANCELLED is (await session.run("go")).ending

    assert [] == faults

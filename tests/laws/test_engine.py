"""Laws of the engine: sessions kept apart, failures as values, an end to it, and handlers of every form."""

import asyncio
import random
import threading
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.engine_rig import (
    CHAIN,
    EVENT,
    Account,
    Puppets,
    Rig,
    background,
    dialect,
    hook,
    in_session,
)

from hookline._core.answer import Answer
from hookline._core.decisions import Ask, Deny
from hookline._core.effects import AddContext
from hookline._core.errors import UsageError
from hookline._core.events import BeforeRun, BeforeToolCall
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind
from hookline._core.payload import Payload
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline._core.rules import FailurePolicy, Strategy
from hookline._core.targets import Target
from hookline._engine.engine import HookEngine
from hookline.adapters import builtin
from hookline.dialects import code

BOTH = [pytest.param(each, id=each.value) for each in (Strategy.PARALLEL, Strategy.CHAIN)]
LONG = 60.0  # a budget that no test uses up


async def test_two_sessions_on_one_engine_never_mix() -> None:
    """1,000 interleaved events of two sessions: each gets its own resolution, on its own account (B-56)."""
    echoes = [
        hook(name, lambda event, name=name: AddContext(f"{name} {event.origin.session_id} {event.call_id}"), held=True)
        for name in "ab"
    ]
    rig = Rig(*echoes, background("c"), of=dialect(strategy=Strategy.PARALLEL))
    accounts = {"one": Account(), "two": Account()}
    events = [replace(in_session(session), call_id=f"{number}") for number in range(500) for session in accounts]
    dispatches = [
        asyncio.ensure_future(rig.engine.recording(accounts[event.origin.session_id]).dispatch(event))
        for event in events
    ]
    await rig.puppets.until(lambda: len(rig.puppets.calls) == 3000)
    calls = list(rig.puppets.calls)
    random.Random(56).shuffle(calls)  # noqa: S311  # any order does, and always the same one
    for call in calls:
        call.released.set()
        await asyncio.sleep(0)

    for event, resolution in zip(events, await asyncio.gather(*dispatches), strict=True):
        session, number = event.origin.session_id, event.call_id
        assert resolution.event is event
        assert resolution.effects(AddContext) == tuple(AddContext(f"{name} {session} {number}") for name in "ab")
    for session, account in accounts.items():
        await rig.engine.drain(session, LONG)
        assert {record.origin.session_id for record in account.records} == {session}
        assert sorted(int(each.event.call_id) for each in account.dispatched()) == list(range(500))
        assert len(account.ended()) == 500


@dataclass(frozen=True, slots=True)
class Unknown(Target):
    """A target that no adapter calls."""


async def test_a_target_without_an_adapter_could_not_start() -> None:
    """A hook whose kind of target nobody can call fails as one that could not start, the kind named."""
    made = replace(hook("a"), target=Unknown())
    resolution = await Rig(made, of=dialect(on_failure=FailurePolicy.DENY)).dispatch()

    assert resolution.outcomes[0].why is Failure.COULD_NOT_START
    assert "Unknown" in resolution.outcomes[0].detail
    assert resolution.denied


@pytest.mark.parametrize("strategy", BOTH)
async def test_an_adapter_that_raises_is_a_crashed_hook(strategy: Strategy) -> None:
    """Whatever an adapter raises is the failure of that one hook."""
    rig = Rig(hook("a", RuntimeError("broken")), hook("b", Ask("b?")), of=dialect(strategy=strategy))
    resolution = await rig.dispatch()

    assert resolution.outcomes[0].why is Failure.CRASHED
    assert "broken" in resolution.outcomes[0].detail
    assert resolution.decision == Ask("b?")


@dataclass(frozen=True, slots=True)
class Broken:
    """A matcher that cannot be asked."""

    def matches(self, subjects: tuple[str, ...]) -> bool:
        raise RuntimeError("a broken matcher")


def breaks(event: Event) -> bool:
    raise RuntimeError("a broken condition")


def breaks_encoding(event: Event, hook: Hook) -> Payload:
    raise TypeError("Object of type Path is not JSON serializable")


@pytest.mark.parametrize("strategy", BOTH)
@pytest.mark.parametrize(
    ("terms", "encode"),
    [
        pytest.param({"matcher": Broken()}, None, id="its matcher"),
        pytest.param({"condition": breaks}, None, id="its condition"),
        pytest.param({}, breaks_encoding, id="its payload"),
    ],
)
async def test_dispatch_raises_for_nothing_that_a_hook_brings_along(
    strategy: Strategy, terms: dict[str, Any], encode: Any
) -> None:
    """Where a hook's matcher, condition or payload raises, that hook failed, and a guard that failed denies."""
    of = dialect(strategy=strategy, on_failure=FailurePolicy.DENY)
    rig = Rig(hook("a", **terms), of=replace(of, encode=encode) if encode else of)
    resolution = await rig.dispatch()

    assert [(outcome.kind, outcome.why) for outcome in resolution.outcomes] == [(Kind.FAILED, Failure.CRASHED)]
    assert resolution.denied


async def test_a_call_has_the_limits_of_its_hook_and_dialect() -> None:
    """An adapter is given the hook's own time and the dialect's cap on output."""
    rig = Rig(hook("a", timeout=5.0), of=replace(dialect(), output_bytes=100))
    await rig.dispatch()

    assert (rig.puppets.calls[0].limits.timeout, rig.puppets.calls[0].limits.output_bytes) == (5.0, 100)


async def test_a_closed_engine_refuses_to_dispatch() -> None:
    """A closed engine raises instead of agreeing, with an account and without."""
    rig = Rig(hook("a", Deny("no")))
    async with rig.engine:
        assert (await rig.dispatch()).denied

    with pytest.raises(UsageError, match="closed"):
        await rig.dispatch()
    with pytest.raises(UsageError, match="closed"):
        await rig.engine.dispatch(EVENT)
    assert rig.puppets.names == ["a"]


async def test_closing_lets_go_of_every_adapter() -> None:
    """Each adapter is closed, also after the work of others had to be cut off."""

    class Others(Puppets):
        """Another adapter."""

    first, second = Puppets(), Others()
    engine = HookEngine(dialects=(CHAIN,), in_code=CHAIN, adapters={Target: first, Unknown: second})
    await engine.aclose()

    assert (first.closed, second.closed) == (1, 1)


def engine_for_handlers(**terms: Any) -> HookEngine:
    return HookEngine(dialects=(code.DIALECT,), in_code=code.DIALECT, adapters=builtin(), **terms)


async def test_handlers_of_every_form_answer() -> None:
    """A coroutine function, a function and a function that returns a coroutine are all handlers."""
    async with engine_for_handlers() as engine:

        @engine.on(BeforeToolCall)
        async def first(event: BeforeToolCall) -> AddContext:
            return AddContext(f"first {event.tool_name}")

        @engine.on(BeforeToolCall)
        def second(event: BeforeToolCall) -> AddContext:
            return AddContext(f"second {event.tool_name}")

        @engine.on(BeforeToolCall)
        def third(event: BeforeToolCall) -> Any:
            return first(event)

        resolution = await engine.dispatch(EVENT)

    texts = [effect.text for effect in resolution.effects(AddContext)]
    assert texts == ["first bash", "second bash", "first bash"]


async def test_a_guard_in_code_that_fails_denies() -> None:
    """A handler that may deny and raises, hangs or answers nonsense denies; an observer does not (F-12, F-20)."""

    def raises(event: BeforeToolCall) -> Deny | None:
        raise ValueError("broken")

    async def hangs(event: BeforeToolCall) -> Deny | None:
        await asyncio.Event().wait()
        return None

    def talks(event: BeforeToolCall) -> Deny | None:
        return "deny"

    def watches(event: BeforeToolCall) -> None:
        raise ValueError("broken")

    expected = [
        (raises, Failure.CRASHED, True),
        (hangs, Failure.TIMEOUT, True),
        (talks, Failure.MALFORMED_ANSWER, True),
        (watches, Failure.CRASHED, False),
    ]
    for handler, why, denied in expected:
        async with engine_for_handlers() as engine:
            engine.on(BeforeToolCall, timeout=0.05)(handler)
            resolution = await engine.dispatch(EVENT)
        assert (resolution.outcomes[0].why, resolution.denied) == (why, denied), handler


async def test_a_handler_may_fire_an_event_of_its_own() -> None:
    """A handler that dispatches on the engine that called it gets its resolution, in the foreground and behind it."""
    async with engine_for_handlers() as engine:

        @engine.on(BeforeRun)
        async def nested(event: BeforeRun) -> Deny | None:
            inner = await engine.dispatch(EVENT)
            return Deny(f"inner: {inner.reason}")

        @engine.on(BeforeToolCall)
        async def guard(event: BeforeToolCall) -> Deny:
            return Deny("no")

        resolution = await engine.dispatch(BeforeRun(prompt="fix the build"))

    assert resolution.reason == "inner: no"


async def test_an_answer_may_hold_a_decision_and_effects() -> None:
    """A handler says several things with one Answer."""
    async with engine_for_handlers() as engine:

        @engine.on(BeforeToolCall)
        async def guard(event: BeforeToolCall) -> Answer:
            return Answer(Deny("no"), (AddContext("use ls"),))

        resolution = await engine.dispatch(EVENT)

    assert resolution.decision == Deny("no")
    assert resolution.effects(AddContext) == (AddContext("use ls"),)


async def test_a_handler_that_blocks_stops_nobody_else() -> None:
    """A synchronous handler runs off the loop: everything else goes on while it blocks (F-15)."""
    loop, started, release = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def blocks(event: BeforeToolCall) -> AddContext:
        loop.call_soon_threadsafe(started.set)
        release.wait()
        return AddContext("at last")

    async with engine_for_handlers() as engine:
        engine.on(BeforeToolCall)(blocks)
        dispatching = asyncio.ensure_future(engine.dispatch(EVENT))
        await started.wait()
        release.set()

        assert (await dispatching).effects(AddContext) == (AddContext("at last"),)


async def test_a_guard_that_blocks_past_its_time_denies() -> None:
    """A synchronous guard is held to its deadline: what it would say later is not waited for (F-15)."""
    release = threading.Event()

    def blocks(event: BeforeToolCall) -> Deny | None:
        release.wait()
        return None

    async with engine_for_handlers() as engine:
        engine.on(BeforeToolCall, timeout=0.05)(blocks)
        resolution = await engine.dispatch(EVENT)
        release.set()

    assert resolution.denied
    assert resolution.outcomes[0].why is Failure.TIMEOUT

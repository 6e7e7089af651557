"""Telling hooks of settled facts: nobody waits for them, and nothing that they say or fail at changes the fact."""

import asyncio
import uuid
from typing import Any

import pytest

import hookline as hl
from hookline._core.hooks import Hook, SessionSettings
from hookline._core.inputs import Accepted, Input, InputKind
from hookline._core.records import Dispatched, Noted, SessionClosed
from hookline._core.targets import FunctionTarget

DONE = {"say": "done"}


def prompt() -> Input:
    return Input(id=str(uuid.uuid4()), kind=InputKind.PROMPT, text="go")


class Hanging:
    """A hook that hangs, and tells when it has begun and when it was cut off."""

    def __init__(self, engine: hl.HookEngine, point: Any) -> None:
        self.begun = asyncio.Event()
        self.cut = asyncio.Event()
        self.released = asyncio.Event()
        self.ended = False
        engine.on(point)(self._hang)

    async def _hang(self, event: Any) -> None:
        self.begun.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.cut.set()
            raise
        self.ended = True


async def test_a_hook_that_hangs_delays_nothing(play: Any, engine: hl.HookEngine) -> None:
    """With a hook of `input_accepted` that does not come back an input is admitted, and a run comes to its end."""
    hanging = Hanging(engine, hl.InputAccepted)
    async with play(DONE, DONE) as session:
        assert isinstance(await session.admit(prompt()), Accepted)
        await hanging.begun.wait()
        assert "done" == (await session.run("go")).text
        assert not hanging.ended
        hanging.released.set()

    assert hanging.ended


async def test_facts_do_not_wait_for_each_other(play: Any, engine: hl.HookEngine, seen: Any) -> None:
    """A fact is told while the hooks of an earlier one still hang: no order stands between two facts."""
    hanging = Hanging(engine, hl.InputAccepted)
    told = asyncio.Event()

    @engine.on(hl.InteractionCompleted)
    async def note(event: hl.InteractionCompleted) -> None:
        told.set()

    async with play(DONE) as session:
        await session.run("go")
        await told.wait()
        assert not hanging.ended
        hanging.released.set()


async def test_what_is_still_told_at_the_end_is_waited_for(play: Any, engine: hl.HookEngine) -> None:
    """Closing a session lets its hooks come to their end within the budget."""
    order: list[str] = []

    @engine.on(hl.InputAccepted)
    async def slow(event: hl.InputAccepted) -> None:
        for _ in range(1000):
            await asyncio.sleep(0)
        order.append("told")

    session = play(DONE)
    async with session:
        await session.admit(prompt())
    order.append("closed")

    assert ["told", "closed"] == order


async def test_what_hangs_is_cut_off_at_the_end(play: Any, engine: hl.HookEngine, kept: Any) -> None:
    """A hook that hangs for longer than the budget is cancelled, and the session is closed all the same."""
    engine.settings = SessionSettings(drain=0.01)
    hanging = Hanging(engine, hl.InputAccepted)
    async with play(DONE) as session:
        await session.admit(prompt())
        await hanging.begun.wait()

    assert hanging.cut.is_set()
    assert not hanging.ended
    assert SessionClosed is type(kept.records[-1])


def settled(name: str, handler: Any, **terms: Any) -> Hook:
    """A hook of the dialect whose points report facts, told of every input that is accepted."""
    return Hook(id=name, event=hl.InputAccepted, target=FunctionTarget(handler), dialect="meerkat", **terms)


async def deny(event: Any) -> hl.Deny:
    return hl.Deny("never")


async def break_down(event: Any) -> None:
    raise ValueError("oh no")


async def agree(event: Any) -> None: ...


DENIED = "observe-only post-commit hook returned a denial; the committed fact is unchanged: {}"
FAILED = "observe-only post-commit hook execution failed; the committed fact is unchanged: {}: {}"


@pytest.mark.parametrize(
    ("hooks", "texts"),
    [
        pytest.param([settled("a", deny)], [DENIED.format("a")], id="denied"),
        pytest.param([settled("a", deny), settled("b", deny)], [DENIED.format("a"), DENIED.format("b")], id="both"),
        pytest.param([settled("a", break_down)], [FAILED.format("a", "ValueError: oh no")], id="failed"),
        pytest.param(
            [settled("a", deny), settled("b", break_down), settled("c", deny)],
            [DENIED.format("a"), FAILED.format("b", "ValueError: oh no")],
            id="those behind a failure are not called",
        ),
        pytest.param([settled("a", agree)], [], id="agreed"),
        pytest.param([settled("a", deny, background=True)], [], id="denied in the background"),
        pytest.param(
            [settled("a", break_down, background=True)],
            [FAILED.format("a", "ValueError: oh no")],
            id="failed in the background",
        ),
    ],
)
async def test_what_a_hook_says_is_noted_and_changes_nothing(
    hooks: list[Hook], texts: list[str], play: Any, engine: hl.HookEngine, kept: Any
) -> None:
    """A denial and a failure are on record in the words of the dialect; the fact stands and is worked on."""
    for hook in hooks:
        engine._add(hook)
    async with play(DONE) as session:
        result = await session.run("go")

    assert "done" == result.text
    assert texts == [note.text for note in kept.of(Noted)]


async def test_an_envelope_over_the_cap_is_noted_as_a_failure(play: Any, engine: hl.HookEngine, kept: Any) -> None:
    """A hook that could not be told because of its own cap has not been told: that is on record."""
    engine._add(settled("a", agree, output_bytes=10))
    async with play(DONE) as session:
        await session.run("go")

    (note,) = kept.of(Noted)
    assert note.text.startswith(FAILED.format("a", ""))
    assert "exceeds max size" in note.text


async def test_without_a_hook_nothing_is_dispatched(play: Any, engine: hl.HookEngine, kept: Any) -> None:
    """A fact that reaches no hook is not put to the engine at all: of those that do, each has a line."""

    @engine.on(hl.InteractionCompleted)
    async def watch(event: hl.InteractionCompleted) -> None: ...

    async with play(DONE) as session:
        await session.run("go")
        await session.run("go", key="k")

    told = [record.event.point.name for record in kept.of(Dispatched)]
    assert 2 == told.count("interaction_completed")
    assert "input_accepted" not in told

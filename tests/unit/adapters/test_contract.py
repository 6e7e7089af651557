"""What every adapter promises, whatever it calls."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.unit.adapters.rig import EVENT, GRACE, command_adapter
from tests.unit.processes.rig import descriptors

from hookline._core.effects import Notify
from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply, Returned
from hookline._core.ports import Adapter
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget, FunctionTarget, Target
from hookline.adapters.function import FunctionAdapter


@dataclass(frozen=True)
class Kind:
    """One adapter, and a target for each thing that a hook may do."""

    adapter: Adapter
    answers: Target
    answer: Reply
    hangs: Target
    deaf: Target
    breaks: Target
    broken: Failure


async def answer(_: Any) -> Notify:
    return Notify("fine")


async def hang(_: Any) -> None:
    await asyncio.Event().wait()


async def hang_on(_: Any) -> None:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


async def break_down(_: Any) -> None:
    raise ValueError("broken")


def sync_answer(_: Any) -> Notify:
    return Notify("fine")


def sync_hang(_: Any) -> None:
    time.sleep(1)


def sync_break_down(_: Any) -> None:
    raise ValueError("broken")


def command(script: str) -> CommandTarget:
    return CommandTarget(("/bin/sh", "-c", script), {"PATH": "/usr/bin:/bin"})


KINDS = {
    "async function": lambda: Kind(
        adapter=FunctionAdapter(),
        answers=FunctionTarget(answer),
        answer=Returned(Notify("fine")),
        hangs=FunctionTarget(hang),
        deaf=FunctionTarget(hang_on),
        breaks=FunctionTarget(break_down),
        broken=Failure.CRASHED,
    ),
    "function": lambda: Kind(
        adapter=FunctionAdapter(),
        answers=FunctionTarget(sync_answer),
        answer=Returned(Notify("fine")),
        hangs=FunctionTarget(sync_hang),
        deaf=FunctionTarget(sync_hang),
        breaks=FunctionTarget(sync_break_down),
        broken=Failure.CRASHED,
    ),
    "command": lambda: Kind(
        adapter=command_adapter(),
        answers=command("echo fine"),
        answer=Exited(code=0, stdout=b"fine\n", stdin_read=0, stdin_size=2),
        hangs=command("sleep 300"),
        deaf=command("trap '' TERM; while :; do sleep 1; done"),
        breaks=command("kill -9 $$"),
        broken=Failure.SIGNAL,
    ),
}

PAYLOAD = Payload(EVENT, b"{}", "/")


@pytest.fixture(params=KINDS)
async def kind(request: pytest.FixtureRequest) -> AsyncIterator[Kind]:
    kind = KINDS[request.param]()
    yield kind
    await kind.adapter.aclose()


class TestContract:
    """One suite over all adapters."""

    async def call(self, kind: Kind, target: Target, within: float = 10) -> Reply:
        return await kind.adapter.call(target, PAYLOAD, Limits(within))

    async def test_an_answer_is_a_reply(self, kind: Kind) -> None:
        """What the target answers comes back uninterpreted."""
        assert await self.call(kind, kind.answers) == kind.answer

    async def test_breaking_is_a_reply(self, kind: Kind) -> None:
        """A target that breaks down fails by a closed reason and a text; nothing is raised."""
        reply = await self.call(kind, kind.breaks)

        assert isinstance(reply, CallFailed)
        assert reply.why is kind.broken
        assert reply.detail

    @pytest.mark.parametrize("what", ["hangs", "deaf"])
    async def test_hanging_ends_at_the_deadline(self, kind: Kind, what: str) -> None:
        """A target that never answers, and does not listen either, has timed out, in bounded time."""
        start = time.monotonic()
        reply = await self.call(kind, getattr(kind, what), within=0.05)

        assert reply == CallFailed(why=Failure.TIMEOUT, detail="hook timed out after 50ms")
        assert time.monotonic() - start < 0.05 + GRACE + 3

    async def test_no_time_is_a_timeout(self, kind: Kind) -> None:
        """An answer that would need any time at all comes too late where there is none."""
        reply = await self.call(kind, kind.answers, within=0)

        assert reply == CallFailed(why=Failure.TIMEOUT, detail="hook timed out after 0s")

    async def test_cancelling_comes_out(self, kind: Kind) -> None:
        """A call that is cancelled ends as cancelled, with nothing left to wait for."""
        task = asyncio.create_task(self.call(kind, kind.hangs))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})

        assert task.cancelled()

    async def test_calls_are_independent(self, kind: Kind) -> None:
        """Calls at the same time each end as they would alone, however the others end."""
        replies = await asyncio.gather(
            self.call(kind, kind.answers),
            self.call(kind, kind.hangs, within=0.05),
            self.call(kind, kind.breaks),
            self.call(kind, kind.answers),
        )

        assert [type(reply) for reply in replies] == [type(kind.answer), CallFailed, CallFailed, type(kind.answer)]
        assert replies[0] == replies[3] == kind.answer

    async def test_failing_costs_nothing(self, kind: Kind) -> None:
        """After any number of failures no descriptor is open that was not, and the next call answers."""
        await self.call(kind, kind.answers)
        before = descriptors()
        for _ in range(3):
            await self.call(kind, kind.breaks)
            await self.call(kind, kind.hangs, within=0.02)

        assert descriptors() == before
        assert await self.call(kind, kind.answers) == kind.answer

    async def test_closed_is_closed(self, kind: Kind) -> None:
        """A closed adapter starts nothing, says so, and may be closed again."""
        await self.call(kind, kind.answers)
        await kind.adapter.aclose()
        reply = await self.call(kind, kind.answers)

        assert isinstance(reply, CallFailed)
        assert reply.why is Failure.COULD_NOT_START
        await kind.adapter.aclose()

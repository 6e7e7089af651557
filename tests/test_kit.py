"""The kit for third parties, held over everything that comes with hookline, and over what breaks its promises."""

import asyncio
import os
import time
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from hookline._core.answer import Answer
from hookline._core.effects import Notify
from hookline._core.events import SessionEnd
from hookline._core.payload import Exited, Limits, Payload, Reply, Returned
from hookline._core.points import POINTS
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget, FunctionTarget
from hookline.adapters import builtin
from hookline.dialects import PACKAGES
from hookline.dialects._base import TableDialect
from hookline.effects import Deny
from hookline.testing import SAMPLES, AdapterCase, breaches_of_adapter, breaches_of_dialect


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


def answer_in_a_thread(_: Any) -> Notify:
    return Notify("fine")


def hang_in_a_thread(_: Any) -> None:
    time.sleep(1)


def break_down_in_a_thread(_: Any) -> None:
    raise ValueError("broken")


def command(script: str) -> CommandTarget:
    return CommandTarget(("/bin/sh", "-c", script), {"PATH": "/usr/bin:/bin"})


def function_case(answers: Any, hangs: Any, deaf: Any, breaks: Any) -> AdapterCase:
    return AdapterCase(
        adapter=builtin()[FunctionTarget],
        answers=FunctionTarget(answers),
        answer=Returned(Notify("fine")),
        hangs=FunctionTarget(hangs),
        deaf=FunctionTarget(deaf),
        breaks=FunctionTarget(breaks),
        broken=Failure.CRASHED,
    )


def command_case() -> AdapterCase:
    return AdapterCase(
        adapter=builtin()[CommandTarget],
        answers=command("echo fine"),
        answer=Exited(code=0, stdout=b"fine\n", stdin_read=0, stdin_size=2),
        hangs=command("sleep 300"),
        deaf=command("trap '' TERM; while :; do sleep 1; done"),
        breaks=command("kill -9 $$"),
        broken=Failure.SIGNAL,
        floods=command("yes >&2 & yes"),
    )


def test_there_is_a_sample_of_every_point() -> None:
    """The checks look at every hook point there is."""
    assert {point.event for point in POINTS.values()} == set(SAMPLES)


@pytest.mark.parametrize("dialect", [package.dialect for package in PACKAGES], ids=lambda dialect: dialect.name)
def test_every_dialect_keeps_its_promises(dialect: TableDialect) -> None:
    """Whatever comes back is an answer or a failure, and no rule promises what its point cannot do."""
    assert [] == breaches_of_dialect(dialect)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(partial(function_case, answer, hang, hang_on, break_down), id="coroutine"),
        pytest.param(
            partial(function_case, answer_in_a_thread, hang_in_a_thread, hang_in_a_thread, break_down_in_a_thread),
            id="thread",
        ),
        pytest.param(command_case, id="command"),
    ],
)
async def test_every_adapter_keeps_its_promises(case: Any) -> None:
    """Limits hold, also for a target that does not listen, and a closed adapter calls nobody."""
    assert [] == await breaches_of_adapter(case())


def test_a_dialect_that_breaks_its_promises_is_told_so() -> None:
    """An exception, a word too many and an invented answer each are named with their point."""
    sound = PACKAGES[0].dialect
    rules = {**sound.rules, SessionEnd: replace(sound.rules[SessionEnd], admits=frozenset({Deny}))}

    def raising(*_: Any) -> Any:
        raise KeyError("oops")

    def inventing(*_: Any) -> Answer:
        return Answer(decision=Deny("no"))

    told = breaches_of_dialect(replace(sound, rules=rules, encode=raising, decode=inventing))
    assert "session_end: the rule admits Deny, which the point cannot honour" in told
    assert "before_tool_call: encode raised KeyError('oops')" in told
    assert any(line.startswith("before_tool_call: decode made an answer of CallFailed") for line in told)
    assert any(
        line.startswith("after_compaction: decode answered Deny, which the rule does not admit") for line in told
    )


class Careless:
    """An adapter without limits, whose answers are always fine."""

    async def call(self, target: Any, payload: Payload, limits: Limits) -> Reply:
        await asyncio.sleep(0)
        return Exited(code=0, stdout=b"fine\n", stdin_read=0, stdin_size=2)

    async def aclose(self) -> None:
        pass


async def test_an_adapter_that_breaks_its_promises_is_told_so() -> None:
    """An adapter that answers for targets that hang, break or were never to be called is caught at each."""
    told = await breaches_of_adapter(replace(command_case(), adapter=Careless()))

    assert any(line.startswith("breaking came back as Exited") for line in told)
    assert any(line.startswith("one that hangs came back as Exited") for line in told)
    assert any(line.startswith("one that floods came back as Exited") for line in told)
    assert any(line.startswith("a closed adapter still calls") for line in told)


class Rough(Careless):
    """An adapter that raises, and leaves tasks and descriptors behind."""

    def __init__(self) -> None:
        self.descriptors: list[int] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def call(self, target: Any, payload: Payload, limits: Limits) -> Reply:
        self.descriptors.append(os.dup(0))
        self.tasks.append(asyncio.ensure_future(asyncio.sleep(60)))
        raise KeyError("oops")

    async def aclose(self) -> None:
        raise KeyError("oops")


async def test_an_adapter_that_raises_is_told_so() -> None:
    """What an adapter raises is a breach like any other, and so is what it leaves: the checks themselves end."""
    rough = Rough()
    told = await breaches_of_adapter(replace(command_case(), adapter=rough))

    for task in rough.tasks:
        task.cancel()
    for descriptor in rough.descriptors:
        os.close(descriptor)
    assert any(line.startswith("the answer came back as the exception KeyError('oops')") for line in told)
    assert "closing it raised KeyError('oops')" in told
    assert any("descriptors are open that were not before" in line for line in told)
    assert any("of its tasks run on after it was closed" in line for line in told)

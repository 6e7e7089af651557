"""The kit for third parties, held over everything that comes with hookline, and over what breaks its promises."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.component_rig import ECHO, INTERFACE, LOOPS, TRAPS, Import, component, written
from tests.component_wasi import CLOCK, SLEEPS

from hookline._core.answer import Answer
from hookline._core.components import ComponentTarget, Interface
from hookline._core.effects import Notify
from hookline._core.events import SessionEnd
from hookline._core.guests import GuestCall
from hookline._core.handlers import Handlers
from hookline._core.payload import Exited, Limits, Payload, Reply, Responded, Returned, Yielded
from hookline._core.points import POINTS
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget, FunctionTarget, HttpTarget, NamedTarget
from hookline.adapters import builtin
from hookline.dialects import PACKAGES
from hookline.dialects._base import TableDialect
from hookline.effects import Deny
from hookline.testing import SAMPLES, AdapterCase, breaches_of_adapter, breaches_of_dialect

ROOT = Path(__file__).parents[1]


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


def named_case(answers: Any, hangs: Any, deaf: Any, breaks: Any) -> AdapterCase:
    handlers = Handlers()
    for name, handler in {"answers": answers, "hangs": hangs, "deaf": deaf, "breaks": breaks}.items():
        handlers.register(name, handler)
    return AdapterCase(
        adapter=builtin(handlers)[NamedTarget],
        answers=NamedTarget("answers"),
        answer=Returned(Notify("fine")),
        hangs=NamedTarget("hangs"),
        deaf=NamedTarget("deaf"),
        breaks=NamedTarget("breaks"),
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


def component_case(folder: Path, imports: tuple[Import, ...], deaf: str) -> AdapterCase:
    """Components that do what the text of *deaf* and of other bodies says; with *imports* of WASI, in a worker."""
    interface = Interface(name=INTERFACE, required=frozenset({"on-event"}))
    bodies = {"answers": ECHO, "hangs": LOOPS, "deaf": deaf, "breaks": TRAPS}
    targets = {
        name: ComponentTarget(
            subject=name, path=written(folder / f"{name}.wasm", component(body, imports)), interfaces=(interface,)
        )
        for name, body in bodies.items()
    }
    event = {"text": "fine", "number": 10**15, "note": None, "items": []}
    return AdapterCase(
        adapter=builtin()[ComponentTarget],
        **targets,
        answer=Yielded(arm="said", value="fine", interface=INTERFACE),
        broken=Failure.CRASHED,
        payload=Payload(SAMPLES[SessionEnd], value=GuestCall(function="on-event", argument=event)),
    )


# In a program of their own, so that no descriptor here is theirs. Each answer closes its connection: that the adapter
# would keep as many as there were calls at once is no leak.
SERVERS = """
import asyncio, contextlib, sys
from tests.http_rig import answer, floods, hangs, reads_nothing, sends_and_closes, serving

async def main():
    servers = (
        serving(sends_and_closes(answer(headers=("Connection: close",)))),
        serving(hangs),
        serving(greeting=reads_nothing),
        serving(sends_and_closes(b"")),
        serving(floods(b"HTTP/1.1 200 OK\\r\\n\\r\\n", b"x" * 1000)),
    )
    async with contextlib.AsyncExitStack() as stack:
        for server in servers:
            print((await stack.enter_async_context(server)).url, flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


@pytest.fixture
def servers() -> Iterator[list[str]]:
    """The addresses of a server that answers, one that hangs, one that does not even read, one that breaks, a flood."""
    pipe = subprocess.PIPE
    env = {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    with subprocess.Popen([sys.executable, "-c", SERVERS], stdin=pipe, stdout=pipe, text=True, env=env) as program:
        assert program.stdout is not None
        yield [program.stdout.readline().strip() for _ in range(5)]
        program.communicate()


def http_case(servers: list[str]) -> AdapterCase:
    answering, hanging, deaf, breaking, flooding = map(HttpTarget, servers)
    headers = (("content-length", "2"), ("connection", "close"))
    return AdapterCase(
        adapter=builtin()[HttpTarget],
        answers=answering,
        answer=Responded(status=200, reason="OK", headers=headers, body=b"{}"),
        hangs=hanging,
        deaf=deaf,
        breaks=breaking,
        broken=Failure.UNREACHABLE,
        floods=flooding,
        payload=Payload(SAMPLES[SessionEnd], b"x" * 8_000_000, "/"),  # more than a connection takes that nobody reads
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
        pytest.param(partial(named_case, answer, hang, hang_on, break_down), id="named coroutine"),
        pytest.param(
            partial(named_case, answer_in_a_thread, hang_in_a_thread, hang_in_a_thread, break_down_in_a_thread),
            id="named thread",
        ),
        pytest.param(command_case, id="command"),
    ],
)
async def test_every_adapter_keeps_its_promises(case: Any) -> None:
    """Limits hold, also for a target that does not listen, and a closed adapter calls nobody."""
    assert [] == await breaches_of_adapter(case())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imports", "deaf"), [pytest.param((), LOOPS, id="thread"), pytest.param((CLOCK,), SLEEPS, id="worker")]
)
async def test_the_component_adapter_keeps_its_promises(tmp_path: Path, imports: tuple[Import, ...], deaf: str) -> None:
    """The same, where the targets are components: one that is deaf waits where nothing interrupts it."""
    assert [] == await breaches_of_adapter(component_case(tmp_path, imports, deaf))


@pytest.mark.slow
async def test_the_http_adapter_keeps_its_promises(servers: list[str]) -> None:
    """The same, where the targets are servers: one that is deaf does not even read what it is sent."""
    assert [] == await breaches_of_adapter(http_case(servers))


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

"""In-process dispatch: hookline beside pluggy, strands-agents and agent-hooks-sdk, all in one interleaved run."""

import asyncio
import gc
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pluggy
from agent_hooks import AgentContextBuilder, InterceptionEmitter, Verdict
from figures import TARGETS, interleaved, median, p95, print_heading, print_table, target
from strands.hooks import BeforeToolCallEvent, HookRegistry
from strands.types.tools import ToolUse

import hookline as hl
from hookline._core.points import Origin
from hookline._core.ports import Dispatcher

ROUNDS = 300
CALLS = {0: 50, 1: 50, 10: 20, 100: 2}  # timed calls a round, by number of handlers: about a millisecond of each case

TOOL = "bash"
INPUT = {"command": "git push origin main", "timeout": 60}
CALL_ID = "call-0001"

Dispatch = Callable[[], Awaitable[object]]
Case = tuple[str, int]  # who, with how many handlers


async def nothing() -> None:
    """The floor: what awaiting a coroutine costs, and reading the clock."""


def hookline_engine(handlers: int, *, for_tool: str) -> hl.HookEngine:
    engine = hl.new_engine()
    for _ in range(handlers):

        @engine.on(hl.BeforeToolCall, match=hl.names(for_tool))
        async def abstain(event: hl.BeforeToolCall) -> hl.Deny | None:
            return None

    return engine


def hookline_case(dispatcher: Dispatcher) -> Dispatch:
    origin = Origin(session_id="session-1", run_id="run-1", step=3, cwd=str(Path.cwd()))
    event = hl.BeforeToolCall(tool_name=TOOL, input=INPUT, call_id=CALL_ID, origin=origin)
    return lambda: dispatcher.dispatch(event)


def pluggy_case(handlers: int) -> Dispatch:
    """A plugin manager knows plain functions only; they are called from a coroutine, as they would be in an agent."""
    spec = pluggy.HookspecMarker("bench")
    impl = pluggy.HookimplMarker("bench")

    class Spec:
        @spec
        def before_tool_call(self, tool: str, input: dict[str, object], call_id: str) -> None: ...

    class Plugin:
        @impl
        def before_tool_call(self, tool: str, input: dict[str, object], call_id: str) -> None:
            return None

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Spec)
    for _ in range(handlers):
        manager.register(Plugin())

    async def dispatch() -> None:
        manager.hook.before_tool_call(tool=TOOL, input=INPUT, call_id=CALL_ID)

    return dispatch


def strands_case(handlers: int) -> Dispatch:
    registry = HookRegistry()
    for _ in range(handlers):

        async def abstain(event: BeforeToolCallEvent) -> None:
            return None

        registry.add_callback(BeforeToolCallEvent, abstain)
    use: ToolUse = {"toolUseId": CALL_ID, "name": TOOL, "input": INPUT}
    # No handler here looks at the agent, and making one takes a model.
    event = BeforeToolCallEvent(agent=None, selected_tool=None, tool_use=use, invocation_state={})  # type: ignore[type-var]
    return lambda: registry.invoke_callbacks_async(event)


class Allowing:
    def intercept(self, context: dict[str, object]) -> Verdict:
        return Verdict.allow()


class AllowingAsync:
    async def intercept(self, context: dict[str, object]) -> Verdict:
        return Verdict.allow()


def agent_hooks_case(interceptor: type, handlers: int) -> Dispatch:
    """As it comes: its own timeout of 5 seconds, its own identities. Records are kept in memory, here only the last."""
    emitter = InterceptionEmitter().set_max_records(1)
    for _ in range(handlers):
        emitter.register(interceptor())
    builder = AgentContextBuilder(agent_id="bench", framework="bench", session_id="session-1")
    context = builder.pre_tool_call(call_id=CALL_ID, name=TOOL, args=INPUT)
    return lambda: emitter.emit_unchecked(context)


def all_cases(journals: hl.JournalFolder) -> dict[Case, Dispatch]:
    def recorded(handlers: int) -> Dispatch:
        engine = hookline_engine(handlers, for_tool=TOOL)
        return hookline_case(engine.recording(journals.recorder(f"handlers-{handlers}")))

    makers: dict[str, Callable[[int], Dispatch]] = {
        "await nothing": lambda _: nothing,
        "hookline": lambda handlers: hookline_case(hookline_engine(handlers, for_tool=TOOL)),
        "hookline, none matches": lambda handlers: hookline_case(hookline_engine(handlers, for_tool="write_file")),
        "hookline, journal on": recorded,
        "pluggy": pluggy_case,
        "strands-agents": strands_case,
        "agent-hooks-sdk, sync": lambda handlers: agent_hooks_case(Allowing, handlers),
        "agent-hooks-sdk, async": lambda handlers: agent_hooks_case(AllowingAsync, handlers),
    }
    return {(name, handlers): make(handlers) for name, make in makers.items() for handlers in CALLS}


async def measure(cases: dict[Case, Dispatch]) -> dict[Case, list[float]]:
    """Microseconds of every call."""
    samples: dict[Case, list[float]] = {case: [] for case in cases}
    for dispatch in cases.values():
        await dispatch()
    gc.collect()
    gc.freeze()  # what the libraries' imports left on the heap is no part of anybody's dispatch
    for case in interleaved(cases, ROUNDS):
        dispatch = cases[case]
        for _ in range(CALLS[case[1]]):
            begun = time.perf_counter_ns()
            await dispatch()
            samples[case].append((time.perf_counter_ns() - begun) / 1000)
    return samples


def report(samples: dict[Case, list[float]]) -> None:
    middle = {case: median(taken) for case, taken in samples.items()}
    names = list(dict.fromkeys(name for name, _ in samples))
    head = [f"{number}" for number in CALLS]

    def rows(cell: Callable[[Case], str]) -> Iterator[list[str]]:
        for name in names:
            yield [name, *(cell((name, number)) for number in CALLS)]

    print_table(
        ["microseconds, p50 (p95), by handlers", *head],
        rows(lambda case: f"{middle[case]:.1f} ({p95(samples[case]):.1f})"),
    )
    print_table(
        ["times hookline's p50", *head],
        rows(lambda case: f"{middle[case] / middle['hookline', case[1]]:.2f}"),
    )
    print_table(
        TARGETS,
        [
            target("no hook there", middle["hookline", 0], 2, " us"),
            target("1 hook there, which does not match", middle["hookline, none matches", 1], 2, " us"),
            target("1 handler, journal on", middle["hookline, journal on", 1], 15, " us"),
            target("10 handlers, journal on", middle["hookline, journal on", 10], 60, " us"),
        ],
    )


def main() -> None:
    print_heading(f"in-process dispatch, {ROUNDS} interleaved rounds")
    with tempfile.TemporaryDirectory() as folder:
        # One secret to look out for in each line, as in life.
        journals = hl.JournalFolder(Path(folder), env={"MODEL_API_KEY": "made-up-0123456789"})
        report(asyncio.run(measure(all_cases(journals))))


if __name__ == "__main__":
    main()

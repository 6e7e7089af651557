"""The gate: no tool takes effect that a hook refuses, on whatever path the call comes."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.unit.session.conftest import Breaking

import hookline as hl
from hookline._core.messages import ToolSpec
from hookline._core.records import CallEnded, CallStarted, CallStatus, SessionClosed
from hookline.session.ports import CallContext, Risk, ToolResult, Verdict

INPUTS: dict[str, Any] = {
    "bash": {"command": "touch mark"},
    "bash_input": {"id": "bash-1", "input": "touch mark\n"},
    "read_file": {"path": "there.txt"},
    "write_file": {"path": "mark", "content": "x"},
    "edit_file": {"path": "there.txt", "find": "here", "replace": "there"},
    "search": {"pattern": "here"},
    "web_fetch": {"url": "http://127.0.0.1:9/"},
    "web_search": {"query": "x"},
    "subagent_spawn": {"objective": "touch mark", "subagent_type": "default"},
    "read_skill": {},
}

GUARDED = (hl.BeforeToolCall, hl.BeforeDispatch)


class Counted:
    """A tool, and how often it was called."""

    def __init__(self, tool: Any, calls: Counter[str]) -> None:
        self._tool = tool
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        self._calls[self._tool.spec.name] += 1
        return await self._tool.call(input, context)


@pytest.fixture
def calls() -> Counter[str]:
    return Counter()


@pytest.fixture
def tools(calls: Counter[str]) -> tuple[Any, ...]:
    return tuple(Counted(tool, calls) for tool in hl.tools())


def deny_all(engine: hl.HookEngine, point: Any = hl.BeforeToolCall) -> None:
    @engine.on(point)
    async def never(event: Any) -> hl.Deny:
        return hl.Deny("never")


def call(name: str) -> dict[str, Any]:
    return {"call": {"tool": name, "input": INPUTS[name]}}


def test_every_built_in_tool_has_a_row() -> None:
    """The laws below are about all tools there are."""
    assert {tool.spec.name for tool in hl.tools()} == set(INPUTS)


@pytest.mark.parametrize("point", GUARDED)
@pytest.mark.parametrize("name", INPUTS)
async def test_a_refused_tool_has_no_effect(
    name: str, point: Any, engine: Any, play: Any, seen: Any, kept: Any, workspace: Path, tools: Any, calls: Any
) -> None:
    """An always-deny hook means zero calls, no result event and no trace on the disk, whatever the tool."""
    deny_all(engine, point)
    (workspace / "there.txt").write_text("here")
    async with play(call(name), {"say": "done"}, tools=tools) as session:
        await session.run("go")

    assert calls == {}
    assert sorted(each.name for each in workspace.iterdir()) == ["there.txt"]
    assert (workspace / "there.txt").read_text() == "here"
    assert kept.of(CallStarted) == []
    assert [ended.status for ended in kept.of(CallEnded)] == [CallStatus.REFUSED]
    assert seen.of(hl.AfterToolCall) == seen.of(hl.ToolCallFailed) == []


async def test_a_batch_is_refused_call_by_call(engine: hl.HookEngine, play: Any, tools: Any, calls: Any) -> None:
    """Every call of a batch passes the gate by itself."""
    deny_all(engine)
    batch = {"calls": [call(name)["call"] for name in INPUTS]}
    async with play(batch, {"say": "done"}, tools=tools) as session:
        await session.run("go")

    assert calls == {}


async def test_input_to_a_running_process_passes_the_gate(
    engine: hl.HookEngine, play: Any, workspace: Path, tools: Any, calls: Any
) -> None:
    """A process that was let through cannot be used to pass what is refused now."""

    @engine.on(hl.BeforeToolCall, match=hl.names("bash_input"))
    async def no_input(event: hl.BeforeToolCall) -> hl.Deny:
        return hl.Deny("never")

    start = {"call": {"tool": "bash", "input": {"command": "sh", "background": True}}}
    async with play(start, call("bash_input"), {"say": "done"}, tools=tools) as session:
        await session.run("go")

    assert calls == {"bash": 1}
    assert not (workspace / "mark").exists()


@pytest.mark.parametrize("name", [name for name in INPUTS if name != "subagent_spawn"])
async def test_a_child_agent_passes_the_same_gate(
    name: str, engine: hl.HookEngine, play: Any, workspace: Path, tools: Any, calls: Any
) -> None:
    """A guard of the parent guards its children, and the event says which child it was."""
    agents: list[Any] = []

    @engine.on(hl.BeforeToolCall, match=hl.names(name))
    async def never(event: hl.BeforeToolCall) -> hl.Deny:
        agents.append(event.origin.agent)
        return hl.Deny("never")

    script = [call("subagent_spawn"), {"say": "waiting"}, {"say": "done"}]
    async with play(*script, agents={"default": {"steps": [call(name), {"say": "done"}]}}, tools=tools) as session:
        await session.run("go")

    assert calls == {"subagent_spawn": 1}
    assert [(agent.id, agent.type) for agent in agents] == [("agent-1", "default")]
    assert not (workspace / "mark").exists()


@pytest.mark.parametrize("source", ["resume", "fork", "clear"])
async def test_a_session_that_goes_on_has_the_same_gate(
    source: str, engine: hl.HookEngine, play: Any, tools: Any, calls: Any
) -> None:
    """However a session came about, the guards are those of the engine."""
    deny_all(engine)
    steps = [call("bash"), {"say": "done"}]
    beginning = hl.Beginning(source="resume" if source == "resume" else "startup")
    async with play(*steps, tools=tools, beginning=beginning) as session:
        if source == "fork":
            async with session.fork() as other:
                await other.run("go")
        else:
            if source == "clear":
                await session.clear()
            await session.run("go")

    assert calls == {}


@pytest.mark.parametrize("broken", ["raises", "hangs", "garbage"])
async def test_a_guard_in_code_that_breaks_refuses(
    broken: str, engine: hl.HookEngine, play: Any, tools: Any, calls: Any
) -> None:
    """A guard that crashes, hangs or answers nonsense does not let the call through."""
    import asyncio

    @engine.on(hl.BeforeToolCall, timeout=0.05)
    async def guard(event: hl.BeforeToolCall) -> hl.Deny | None:
        if broken == "raises":
            raise RuntimeError("broken")
        if broken == "hangs":
            await asyncio.Event().wait()
        return "yes"  # type: ignore[return-value]

    async with play(call("bash"), {"say": "done"}, tools=tools) as session:
        await session.run("go")

    assert calls == {}


async def test_a_rewritten_input_is_what_runs(engine: hl.HookEngine, play: Any, seen: Any, workspace: Path) -> None:
    """The tool gets the input that the hooks left, and so does every later event."""

    @engine.on(hl.BeforeToolCall)
    async def elsewhere(event: hl.BeforeToolCall) -> hl.RewriteInput:
        return hl.RewriteInput({**event.input, "path": "other"})

    async with play(call("write_file"), {"say": "done"}) as session:
        await session.run("go")

    assert [each.name for each in workspace.iterdir()] == ["other"]
    assert [event.input["path"] for event in seen.of(hl.AfterToolCall)] == ["other"]


async def test_a_rewrite_that_is_not_valid_fails_before_it_runs(
    engine: hl.HookEngine, play: Any, seen: Any, kept: Any, tools: Any, calls: Any
) -> None:
    """B-53: a rewrite replaces the whole input, is checked before the tool sees it, and the error names the hook."""

    @engine.on(hl.BeforeToolCall)
    async def half(event: hl.BeforeToolCall) -> hl.RewriteInput:
        return hl.RewriteInput({"timeout_ms": 5})

    async with play(call("bash"), {"say": "done"}, tools=tools) as session:
        await session.run("go")

    assert calls == {}
    (failed,) = seen.of(hl.ToolCallFailed)
    assert "half" in failed.error
    assert "command" in failed.error


async def test_a_call_that_is_not_valid_never_asks_the_guards(play: Any, seen: Any, calls: Any) -> None:
    """`before_tool_call` is about calls that could run; that an impossible one failed is told."""
    steps = [{"call": {"tool": "bash", "input": {"comand": "ls"}}}, {"call": {"tool": "no_such", "input": {}}}]
    async with play(*steps, {"say": "done"}) as session:
        await session.run("go")

    assert seen.of(hl.BeforeToolCall) == []
    assert [event.tool_name for event in seen.of(hl.ToolCallFailed)] == ["bash", "no_such"]


async def test_a_guard_ends_before_the_tool_begins(engine: hl.HookEngine, play: Any, workspace: Path) -> None:
    """B-59: nothing of the action has happened while a guard still thinks."""
    found: list[bool] = []

    @engine.on(hl.BeforeDispatch)
    async def slow(event: hl.BeforeDispatch) -> hl.Deny | None:
        import asyncio

        for _ in range(50):
            await asyncio.sleep(0)
        found.append((workspace / "mark").exists())
        return hl.Deny("no")

    async with play(call("bash"), {"say": "done"}) as session:
        await session.run("go")

    assert found == [False]
    assert not (workspace / "mark").exists()


class Broken:
    """A tool from outside that breaks its promise, wherever it is told to."""

    spec = ToolSpec(name="broken", description="", parameters={"type": "object"})
    aliases = ()

    def __init__(self, where: str) -> None:
        self._where = where

    def _break(self, where: str) -> None:
        if where == self._where:
            raise ZeroDivisionError("oh")

    def check(self, input: Any) -> str | None:
        return self._break("check")

    def risk(self, input: Any, workspace: Path) -> Risk:
        self._break("risk")
        return Risk.READS

    def directory(self, input: Any, workspace: Path) -> Path:
        self._break("directory")
        return workspace

    def resolve(self, input: Any, context: CallContext) -> None:
        self._break("resolve")

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        self._break("call")
        return "text" if self._where == "result" else ToolResult(text="fine")  # type: ignore[return-value]

    async def aclose(self) -> None:
        self._break("aclose")


@pytest.mark.parametrize("where", ["check", "risk", "directory", "resolve", "call", "result"])
async def test_a_tool_that_breaks_is_a_failed_call(where: str, play: Any, seen: Any) -> None:
    """A tool's exception, whatever it was asked, becomes a result that the model reads, and the run goes on."""
    steps = [{"call": {"tool": "broken", "input": {}}}, {"say": "done"}]
    async with play(*steps, tools=(Broken(where),), approval=hl.ApprovalMode.UNTRUSTED) as session:
        result = await session.run("go")

    assert result.text == "done"
    (failed,) = seen.of(hl.ToolCallFailed)
    assert failed.error.startswith("broken broke: ")


async def test_a_tool_that_cannot_be_closed_does_not_keep_the_session_open(play: Any, kept: Any) -> None:
    """The account is complete and every other tool is closed, before what a tool raised at its end is raised."""
    session = play({"say": "done"}, tools=(Broken("aclose"),))
    with pytest.raises(ZeroDivisionError):
        async with session:
            await session.run("go")

    assert len(kept.of(SessionClosed)) == 1


@pytest.mark.parametrize("point", [hl.BeforeToolCall, hl.PermissionRequest, hl.BeforeDispatch])
async def test_an_input_that_is_changed_in_place_does_not_run(
    point: Any, engine: hl.HookEngine, play: Any, workspace: Path, tools: Any, calls: Any
) -> None:
    """What guards and the person judged is what runs: a handler that changes it under them makes the call refused."""

    @engine.on(point)
    async def meddle(event: Any) -> None:
        event.input["command"] = "touch mark"

    async def approver(_: Any) -> Verdict:
        return Verdict(allowed=True)

    step = {"call": {"tool": "bash", "input": {"command": "true"}}}
    async with play(
        step, {"say": "done"}, tools=tools, approval=hl.ApprovalMode.UNTRUSTED, approver=approver
    ) as session:
        await session.run("go")

    assert calls == {}
    assert not (workspace / "mark").exists()


@pytest.mark.parametrize("workdir", ["nowhere", "a-file"])
async def test_a_call_in_a_folder_that_is_not_there_is_not_valid(
    workdir: str, engine: hl.HookEngine, play: Any, seen: Any, tools: Any, calls: Any, workspace: Path
) -> None:
    """No hook could start there to judge it, so it never comes to approval; that it failed is told where hooks can."""
    (workspace / "a-file").write_text("")
    step = {"call": {"tool": "bash", "input": {"command": "touch mark", "workdir": workdir}}}
    async with play(step, {"say": "done"}, tools=tools) as session:
        await session.run("go")

    assert (calls, seen.of(hl.BeforeToolCall)) == ({}, [])
    (failed,) = seen.of(hl.ToolCallFailed)
    assert failed.error == f"working directory {workspace / workdir}: there is no such folder"
    assert failed.origin.cwd == str(workspace)


async def test_a_rewritten_folder_is_where_it_runs(
    engine: hl.HookEngine, play: Any, seen: Any, workspace: Path
) -> None:
    """A hook that moves a call moves it for the tool and for every later hook."""
    (workspace / "below").mkdir()

    @engine.on(hl.BeforeToolCall)
    async def below(event: hl.BeforeToolCall) -> hl.RewriteInput:
        return hl.RewriteInput({**event.input, "workdir": "below"})

    async with play(call("bash"), {"say": "done"}) as session:
        await session.run("go")

    assert (workspace / "below" / "mark").exists()
    assert [event.origin.cwd for event in seen.of(hl.AfterToolCall)] == [str(workspace / "below")]


async def test_a_refused_call_is_in_the_batch(engine: hl.HookEngine, play: Any, seen: Any) -> None:
    """A batch is all the results that were committed: of a refused call that is the text which the model reads."""

    @engine.on(hl.BeforeToolCall, match=hl.names("write_file"))
    async def never(event: hl.BeforeToolCall) -> hl.Deny:
        return hl.Deny("never")

    steps = [{"calls": [call("write_file")["call"], call("bash")["call"]]}, {"say": "done"}]
    async with play(*steps) as session:
        await session.run("go")

    (batch,) = seen.of(hl.AfterToolBatch)
    assert [each.tool_name for each in batch.calls] == ["write_file", "bash"]
    assert batch.calls[0].response == "tool blocked by hook: never"


async def test_a_fault_of_ours_is_not_the_tools(play: Any, seen: Any) -> None:
    """Where the account of a call that ran cannot be kept, the call does not turn into one that failed."""
    full = Breaking(CallEnded, OSError("disk full"))
    async with play(call("bash"), {"say": "done"}, journals=full) as session:
        with pytest.raises(OSError, match="disk full"):
            await session.run("go")

    assert seen.of(hl.ToolCallFailed) == []

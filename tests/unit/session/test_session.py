"""The life of a session: which events fire, when, and how a run ends."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

import hookline as hl
from hookline._core.inputs import Accepted, Handling, Input, InputKind
from hookline._core.messages import Message, ToolSpec
from hookline._core.peers import Envelope, Peer
from hookline._core.points import POINTS
from hookline._core.records import Ending, Noted, ReopenRefused, RunEnded, SessionClosed
from hookline.session.compaction import Window
from hookline.session.identity import new_session_id
from hookline.session.peers.exchange import Peers
from hookline.session.peers.local import LocalHub

BASH = {"call": {"tool": "bash", "input": {"command": "true"}}}
FAILS = {"call": {"tool": "bash", "input": {"command": "false"}}}
SPAWN = {"call": {"tool": "subagent_spawn", "input": {"objective": "look", "subagent_type": "default"}}}
DONE = {"say": "done"}
EDGES = {"session_start", "session_end", "before_run"}


async def test_a_plain_run_fires_in_order(play: Any, seen: Any) -> None:
    """One prompt and one answer: the order that the Muse document implies, and the edges of step and run."""
    async with play(DONE) as session:
        await session.run("hello")

    assert seen.points() == [
        "session_start",
        "before_run",
        "before_model_call",
        "after_model_call",
        "step_end",
        "before_run_end",
        "run_completed",
        "session_end",
    ]


async def test_a_tool_step_fires_in_order(play: Any, seen: Any) -> None:
    """A call that works, one that fails, their batch, and then the next model call."""
    async with play({"calls": [BASH["call"], FAILS["call"]]}, DONE) as session:
        await session.run("hello")

    assert seen.points()[3:14] == [
        "after_model_call",
        "before_tool_call",
        "before_dispatch",
        "after_tool_call",
        "after_shell",
        "before_tool_call",
        "before_dispatch",
        "tool_call_failed",
        "after_shell",
        "after_tool_batch",
        "step_end",
    ]


async def test_every_point_fires_from_something_that_happens(play: Any, seen: Any, engine: Any) -> None:
    """One session in which all hook points fire, none of them by hand; staging comes before any."""
    notified = asyncio.Event()

    @engine.on(hl.Notification)
    async def wake(event: hl.Notification) -> None:
        notified.set()

    async def late(request: Any) -> Any:
        from hookline.session.ports import Verdict

        await notified.wait()
        return Verdict(allowed=True)

    steps = [BASH, FAILS, SPAWN, {"say": "waiting"}, DONE, {"fail": {"category": "rate_limit"}}]
    agents = {"default": {"steps": [{"say": "seen"}]}}
    asking: dict[str, Any] = {"approval": hl.ApprovalMode.UNTRUSTED, "approver": late, "notify_after": 0.01}

    async def answers(envelope: Envelope) -> Any:
        await session.peers.receive(replace(envelope, id=new_session_id(), sender=envelope.to, to=envelope.sender))
        return Accepted(envelope.id, Handling.QUEUE)

    hub = LocalHub()
    reviewer = hub.transport()
    await reviewer.open(Peer("reviewer"), answers)
    async with play(*steps, agents=agents, peers=Peers("agent", hub.transport()), **asking) as session:
        await session.run("one")
        await session.compact_now()
        await session.run("two", key="k")
        await session.run("two", key="k")
        await session.admit(Input(id=new_session_id(), kind=InputKind.PROMPT, durability=None))
        await session.peers.message("reviewer", "hello")
        await session.work_off()

    assert {event.point.name for event in seen.events} == set(POINTS) - {"before_stage"}


async def test_sessions_start_and_end_exactly_once(play: Any, seen: Any) -> None:
    """B-88: over three prompts, clear, compaction, fork and resume every edge is told once."""
    async with play(*[DONE] * 8) as session:
        for prompt in ("one", "two", "three"):
            await session.run(prompt)
        await session.compact_now()
        await session.clear()
        await session.run("four")
        async with session.fork() as other:
            await other.run("five")
    said = session.conversation.messages
    async with play(DONE, beginning=hl.Beginning(session_id=session.id, source="resume", conversation=said)) as resumed:
        await resumed.run("six")

    told = [
        (event.point.name, getattr(event, "source", None) or getattr(event, "reason", None) or "")
        for event in seen.events
        if event.point.name in EDGES
    ]
    assert told == [
        ("session_start", "startup"),
        *[("before_run", "")] * 3,
        ("session_start", "compact"),
        ("session_end", "clear"),
        ("session_start", "clear"),
        ("before_run", ""),
        ("session_start", "fork"),
        ("before_run", ""),
        ("session_end", "other"),
        ("session_end", "other"),
        ("session_start", "resume"),
        ("before_run", ""),
        ("session_end", "other"),
    ]


async def test_a_refused_prompt_reaches_no_model(play: Any, seen: Any, engine: Any) -> None:
    """The run is cancelled with the reason; no model call, no before_run_end; the session still ends."""

    @engine.on(hl.BeforeRun)
    async def no(event: hl.BeforeRun) -> hl.Deny:
        return hl.Deny("no")

    async with play(DONE) as session:
        result = await session.run("hello")

    assert (result.ending, result.text, result.reason) == (Ending.CANCELLED, "", "no")
    assert seen.points() == ["session_start", "before_run", "session_end"]
    assert session.conversation.messages == ()


async def test_context_reaches_the_next_request_in_order(play: Any, seen: Any, engine: Any) -> None:
    """Context stands where it was given: that of the session before the prompt, that of the prompt behind it."""

    @engine.on(hl.SessionStart)
    async def first(event: hl.SessionStart) -> hl.AddContext:
        return hl.AddContext("session")

    @engine.on(hl.BeforeRun)
    async def second(event: hl.BeforeRun) -> hl.AddContext:
        return hl.AddContext("prompt")

    @engine.on(hl.BeforeToolCall)
    async def third(event: hl.BeforeToolCall) -> hl.AddContext:
        return hl.AddContext("call")

    async with play(BASH, DONE) as session:
        await session.run("hello")

    messages = seen.of(hl.AfterModelCall)[1].messages
    roles = [(message.role, message.text if message.role != "tool" else "") for message in messages]
    assert roles == [
        ("developer", "session"),
        ("user", "hello"),
        ("developer", "prompt"),
        ("assistant", ""),
        ("tool", ""),
        ("developer", "call"),
    ]


async def test_a_hook_that_ends_the_run_keeps_later_calls_from_running(
    play: Any, engine: Any, workspace: Any, seen: Any
) -> None:
    """EndRun after the first call of a batch: the second never runs, the model is not called again."""

    @engine.on(hl.AfterToolCall)
    async def enough(event: hl.AfterToolCall) -> hl.EndRun:
        return hl.EndRun("enough")

    batch = {"calls": [BASH["call"], {"tool": "bash", "input": {"command": "touch mark"}}]}
    async with play(batch, DONE) as session:
        result = await session.run("go")

    assert (result.ending, result.reason) == (Ending.CANCELLED, "enough")
    assert not (workspace / "mark").exists()
    assert len(seen.of(hl.BeforeModelCall)) == 1


@pytest.mark.parametrize(("limit", "passes"), [(0, 1), (1, 2), (8, 9)])
async def test_a_run_is_kept_going_only_so_often(
    limit: int, passes: int, engine: Any, play: Any, kept: Any, seen: Any
) -> None:
    """B-82: n continuations, then the run completes and says why; the same reason twice is pointed out."""

    @engine.on(hl.BeforeRunEnd)
    async def again(event: hl.BeforeRunEnd) -> hl.Reopen:
        return hl.Reopen("again")

    session = play(*[DONE] * 20)
    session.reopen_limit = limit
    async with session:
        result = await session.run("go")

    assert result.ending is Ending.COMPLETED
    assert len(seen.of(hl.BeforeModelCall)) == passes
    assert [event.reopened for event in seen.of(hl.BeforeRunEnd)] == [False, *[True] * limit]
    assert len(kept.of(ReopenRefused)) == 1
    assert len([note for note in kept.of(Noted) if "same reason" in note.text]) == max(limit - 1, 0)


async def test_the_count_of_continuations_survives_tool_calls_and_starts_anew_with_a_prompt(
    play: Any, engine: Any, seen: Any
) -> None:
    """A continuation that calls tools is still the same run; a new prompt is not."""

    @engine.on(hl.BeforeRunEnd)
    async def again(event: hl.BeforeRunEnd) -> hl.Reopen:
        return hl.Reopen("again")

    session = play(DONE, BASH, DONE, DONE)
    session.reopen_limit = 1
    async with session:
        await session.run("one")
        await session.run("two")

    assert [event.reopened for event in seen.of(hl.BeforeRunEnd)] == [False, True, False, True]


async def test_a_failed_model_call_ends_the_run(play: Any, seen: Any) -> None:
    """`run_failed` carries the category; before_run_end does not fire."""
    async with play({"fail": {"category": "rate_limit", "details": "slow down"}}) as session:
        result = await session.run("go")

    assert (result.ending, result.reason) == (Ending.FAILED, "slow down")
    (event,) = seen.of(hl.RunFailed)
    assert (event.category, event.details) == ("rate_limit", "slow down")
    assert seen.of(hl.BeforeRunEnd) == []


async def test_a_child_works_beside_its_parent_and_brings_its_result(play: Any, seen: Any) -> None:
    """The call returns on acceptance; the result is context of a later step; the child has no prompt of a user."""
    agents = {"default": {"steps": [{"say": "found it"}]}}
    async with play(SPAWN, {"say": "waiting"}, DONE, agents=agents) as session:
        result = await session.run("go")

    points = seen.points()
    assert points.index("subagent_start") < points.index("after_tool_call") < points.index("subagent_end")
    assert points.count("before_run") == 1
    (start,) = seen.of(hl.SubagentStart)
    assert start.origin.session_id == start.origin.run_id == start.child_session_id != session.id
    last = seen.of(hl.BeforeModelCall)[-1].messages
    assert any("found it" in message.text for message in last)
    assert result.text == "done"


async def test_children_do_not_nest_without_end(play: Any, kept: Any) -> None:
    """An agent whose every child spawns a child stops at the third level."""
    steps = [SPAWN, {"say": "waiting"}, DONE]
    agents: dict[str, Any] = {}
    for _ in range(4):
        agents = {"default": {"steps": steps, **({"agents": agents} if agents else {})}}
    async with play(SPAWN, {"say": "waiting"}, DONE, agents=agents) as session:
        await session.run("go")

    assert len(kept.of(SessionClosed)) == 3


async def test_compaction_comes_by_itself_and_can_be_refused(play: Any, engine: Any, seen: Any) -> None:
    """Nearly full is soft, full is hard; a veto of the soft one is not asked again until it is full."""
    vetoes = [True, False]

    @engine.on(hl.BeforeCompaction)
    async def veto(event: hl.BeforeCompaction) -> hl.Deny | None:
        return hl.Deny("not yet") if vetoes.pop(0) else None

    filler = {"say": "x" * 60}
    window = Window(limit=60, soft_share=0.5)
    async with play(*[filler] * 8, window=window) as session:
        await session.run("a" * 120)
        await session.run("b" * 60)

    assert [event.trigger for event in seen.of(hl.BeforeCompaction)] == ["soft", "hard"]
    assert [event.trigger for event in seen.of(hl.AfterCompaction)] == ["hard"]
    assert session.conversation.messages[0].text.startswith("Summary of the conversation so far:")


async def test_the_step_limit_ends_a_run(play: Any) -> None:
    """A model that never stops calling tools is stopped."""
    async with play(*[BASH] * 5, max_steps=3) as session:
        result = await session.run("go")

    assert (result.ending, result.reason) == (Ending.FAILED, "no answer within 3 steps")


async def test_cancelling_a_run_records_it_and_still_ends_the_session(
    play: Any, engine: Any, kept: Any, seen: Any
) -> None:
    """An interrupt ends the run as cancelled, fires no before_run_end, and session_end hooks run to their end."""
    asked = asyncio.Event()

    @engine.on(hl.BeforeModelCall)
    async def note(event: hl.BeforeModelCall) -> None:
        asked.set()

    async def scenario() -> None:
        async with play({"say": "late", "wait": 60}) as session:
            await session.run("go")

    task = asyncio.ensure_future(scenario())
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    (run,) = kept.of(RunEnded)
    assert (run.ending, run.reason) == (Ending.CANCELLED, "interrupted")
    assert "before_run_end" not in seen.points()
    assert [event.reason for event in seen.of(hl.SessionEnd)] == ["interrupted"]
    assert kept.of(SessionClosed)


async def test_two_sessions_on_one_engine_keep_apart(play: Any, seen: Any) -> None:
    """B-56: the session id travels with the event."""
    async with play(*[BASH] * 3, DONE) as one, play(*[BASH] * 3, DONE) as two:
        await asyncio.gather(one.run("1"), two.run("2"))

    for session, prompt in ((one, "1"), (two, "2")):
        mine = [event for event in seen.events if event.origin.session_id == session.id]
        assert [event.prompt for event in mine if isinstance(event, hl.BeforeRun)] == [prompt]
        assert len([event for event in mine if isinstance(event, hl.BeforeToolCall)]) == 3


async def test_a_resumed_conversation_is_what_the_model_reads(play: Any, seen: Any) -> None:
    """What was said before is in the first request of a resumed session."""
    said = (Message(role="user", text="before"), Message(role="assistant", text="yes"))
    async with play(DONE, beginning=hl.Beginning(source="resume", conversation=said)) as session:
        await session.run("after")

    assert [message.text for message in seen.of(hl.BeforeModelCall)[0].messages] == ["before", "yes", "after"]


async def test_a_hook_for_a_point_that_never_fires_is_an_error(engine: Any, play: Any, monkeypatch: Any) -> None:
    """B-25: a session says at once when it could never call a hook."""

    @engine.on(hl.StepEnd)
    async def watch(event: hl.StepEnd) -> None: ...

    monkeypatch.setattr("hookline.session.session.FIRES", frozenset(POINTS) - {"step_end"})
    with pytest.raises(hl.UsageError, match="step_end"):
        play(DONE)


async def test_a_session_that_is_not_open_takes_no_prompt(play: Any, seen: Any) -> None:
    """Before its start and after its end a session runs nothing: no hook has seen it begin."""
    session = play(DONE)
    with pytest.raises(hl.UsageError, match="not open"):
        await session.run("too early")
    async with session:
        pass
    with pytest.raises(hl.UsageError, match="not open"):
        await session.run("too late")

    assert seen.points() == ["session_start", "session_end"]


class Unsound:
    """A model from outside that breaks its promise to raise ModelError and nothing else."""

    name = provider = "unsound"
    provider_known = False

    async def complete(self, request: Any) -> Any:
        raise KeyError("choices")


async def test_a_model_that_breaks_is_a_failed_run(play: Any, seen: Any, kept: Any) -> None:
    """Any exception of a model ends the run as failed, with the category `unknown`, and the account says so."""
    async with play(DONE, model=Unsound()) as session:
        result = await session.run("go")

    assert result.ending is Ending.FAILED
    assert [event.category for event in seen.of(hl.RunFailed)] == ["unknown"]
    assert [run.ending for run in kept.of(RunEnded)] == [Ending.FAILED]


async def test_a_fork_that_outlives_its_parent_ends_their_tools(play: Any) -> None:
    """The tools that sessions share are closed with the last of them, and not by one that never began."""
    closed: list[str] = []

    class Tool:
        spec = ToolSpec(name="tool", description="", parameters={"type": "object"})
        aliases = ()

        async def aclose(self) -> None:
            closed.append("closed")

    parent = play(DONE, tools=(Tool(),))
    async with parent:
        fork, never = parent.fork(), parent.fork()
        await fork.__aenter__()
        await never.close()
    assert closed == []
    await fork.close()

    assert closed == ["closed"]

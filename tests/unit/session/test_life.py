"""What a session holds to when something in it goes wrong: a hook, a model, a child, or whoever uses it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.tool_rig import Willing
from tests.unit.session.conftest import Breaking

import hookline as hl
from hookline._core.hooks import SessionSettings
from hookline._core.messages import Message, ToolSpec
from hookline._core.records import Ending, ModelCalled, Noted, RunEnded, RunStarted
from hookline.journal import Damage, events_from
from hookline.session import session as session_module
from hookline.session.compaction import Window
from hookline.session.ports import ApprovalRequest, CallContext, ModelReply, ModelRequest, ToolResult, Verdict

DONE = {"say": "done"}
BASH = {"call": {"tool": "bash", "input": {"command": "true"}}}
SPAWN = {"call": {"tool": "subagent_spawn", "input": {"objective": "look", "subagent_type": "default"}}}

IN_A_RUN = [
    hl.BeforeRun,
    hl.BeforeModelCall,
    hl.AfterModelCall,
    hl.BeforeToolCall,
    hl.BeforeDispatch,
    hl.AfterToolCall,
    hl.AfterToolBatch,
    hl.StepEnd,
    hl.BeforeRunEnd,
    hl.RunCompleted,
]


class Plain:
    """A model that answers with what it is given, one reply after the other, and keeps what it was asked."""

    name = provider = "plain"
    provider_known = False

    def __init__(self, *replies: Any, summary: Any = "all of it") -> None:
        self._replies = list(replies)
        self._summary = summary
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> Any:
        self.requests.append(request)
        return self._replies.pop(0) if self._replies else ModelReply(text="done")

    async def summarise(self, messages: Sequence[Message]) -> Any:
        if isinstance(self._summary, Exception):
            raise self._summary
        return self._summary

    def for_child(self, kind: str) -> Any:
        return self


class Waits(Willing):
    """A tool whose calls do not end by themselves, and that tells when it is closed."""

    spec = ToolSpec(name="waits", description="", parameters={"type": "object"})

    def __init__(self, closed: list[str] | None = None) -> None:
        self.begun = asyncio.Event()
        self._closed = [] if closed is None else closed

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        self.begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def aclose(self) -> None:
        self._closed.append("tools closed")


@pytest.mark.parametrize("point", IN_A_RUN, ids=lambda each: each.point.name)
async def test_a_failure_that_fails_the_run_does_so_everywhere(point: Any, engine: Any, play: Any) -> None:
    """FAIL_RUN means the same at every point of a run: it ends as failed, with the hook's name and what it raised."""

    @engine.on(point, on_failure=hl.FailurePolicy.FAIL_RUN)
    async def breaks(event: Any) -> hl.Notify:
        raise ValueError("oh no")

    async with play(BASH, DONE) as session:
        result = await session.run("go")

    assert result.ending is Ending.FAILED
    assert "breaks failed: ValueError: oh no" in (result.reason or "")


@pytest.mark.parametrize("again", ["start", "clear"])
async def test_a_failure_before_a_run_fails_the_next_one(again: str, engine: Any, play: Any) -> None:
    """A start whose hook fails the run has no run yet: the next one fails, and the one after that does not."""
    broken = [again == "start", again == "clear"]

    @engine.on(hl.SessionStart, on_failure=hl.FailurePolicy.FAIL_RUN)
    async def breaks(event: hl.SessionStart) -> None:
        if broken.pop(0):
            raise ValueError("oh no")

    async with play(DONE, DONE) as session:
        if again == "clear":
            await session.clear()
        endings = [(await session.run("go")).ending for _ in range(2)]

    assert endings == [Ending.FAILED, Ending.COMPLETED]


async def test_what_is_over_cannot_be_failed(engine: Any, play: Any) -> None:
    """A hook of `run_failed` that fails leaves the run's own error, and one of `session_end` lets the session end."""

    @engine.on(hl.RunFailed, on_failure=hl.FailurePolicy.FAIL_RUN)
    @engine.on(hl.SessionEnd, on_failure=hl.FailurePolicy.FAIL_RUN)
    async def breaks(event: Any) -> None:
        raise ValueError("oh no")

    async with play({"fail": {"category": "rate_limit", "details": "slow down"}}) as session:
        result = await session.run("go")

    assert (result.ending, result.reason) == (Ending.FAILED, "slow down")


async def test_a_conversation_can_be_gone_on_with_after_a_cancelled_call(play: Any) -> None:
    """Every call in the model's next request has a result, though the run was cancelled in the middle of the first."""
    waits = Waits()
    steps = [{"calls": [{"tool": "waits", "input": {}}, {"tool": "waits", "input": {}}]}, DONE]
    async with play(*steps, tools=(waits,)) as session:
        run = asyncio.ensure_future(session.run("go"))
        await waits.begun.wait()
        run.cancel()
        await asyncio.wait([run])
        await session.run("and now")
        messages = session.conversation.messages

    calls = [call.id for message in messages for call in message.calls]
    assert len(calls) == 2
    assert [message.call_id for message in messages if message.role == "tool"] == calls


@pytest.mark.parametrize("summary", [hl.errors.ModelError("rate_limit", "slow down"), KeyError("choices"), None])
async def test_a_summary_that_is_not_to_be_had_is_a_failed_model_call(summary: Any, play: Any, seen: Any) -> None:
    """With a full window the run fails as it does for any model call, and `run_failed` fires."""
    model = Plain(summary=summary)
    async with play(DONE, model=model, window=Window(limit=10)) as session:
        result = await session.run("x" * 100)

    assert result.ending is Ending.FAILED
    assert len(seen.of(hl.RunFailed)) == 1
    assert model.requests == []


async def test_a_soft_compaction_that_fails_is_tried_again(play: Any, kept: Any) -> None:
    """While the conversation still fits, a missing summary is noted and the run goes on."""
    model = Plain(summary=KeyError("choices"))
    async with play(DONE, model=model, window=Window(limit=1000, soft_share=0.01)) as session:
        result = await session.run("x" * 100)

    assert result.ending is Ending.COMPLETED
    assert any("no compaction yet" in note.text for note in kept.of(Noted))


async def test_a_soft_compaction_is_asked_for_again_after_one_that_was_made(engine: Any, play: Any, seen: Any) -> None:
    """The veto of a soft compaction holds until the conversation has been compacted."""
    vetoes = [True, False, False]

    @engine.on(hl.BeforeCompaction)
    async def veto(event: hl.BeforeCompaction) -> hl.Deny | None:
        return hl.Deny("not yet") if vetoes.pop(0) else None

    async with play(DONE, model=Plain(), window=Window(limit=1000, soft_share=0.1)) as session:
        for prompt in ("a" * 800, "b"):
            await session.run(prompt)
        await session.compact_now()
        await session.run("c" * 800)

    assert [event.trigger for event in seen.of(hl.BeforeCompaction)] == ["soft", "manual", "soft"]


async def test_a_veto_of_a_manual_compaction_is_about_that_one(engine: Any, play: Any, seen: Any) -> None:
    """Whoever refuses a compaction that a person asked for has not refused the one that comes by itself."""

    @engine.on(hl.BeforeCompaction)
    async def veto(event: hl.BeforeCompaction) -> hl.Deny | None:
        return hl.Deny("not now") if event.trigger == "manual" else None

    async with play(DONE, model=Plain(), window=Window(limit=1000, soft_share=0.1)) as session:
        assert not await session.compact_now()
        await session.run("a" * 800)

    assert [event.trigger for event in seen.of(hl.BeforeCompaction)] == ["manual", "soft"]


async def test_a_child_that_breaks_does_not_break_its_parent(play: Any, monkeypatch: Any) -> None:
    """What a child raises is its own end; the parent reads that it failed."""

    async def breaks(self: Any, prompt: str) -> Any:
        raise OSError("no account")

    monkeypatch.setattr(session_module.Session, "work_to_the_end", breaks)
    async with play(SPAWN, {"say": "waiting"}, DONE, agents={"default": {"steps": [DONE]}}) as session:
        result = await session.run("go")

    assert result.ending is Ending.COMPLETED
    assert any("(failed: OSError: no account)" in message.text for message in session.conversation.messages)


async def test_tools_are_closed_after_the_last_hooks(engine: Any, play: Any) -> None:
    """Children end, then `session_end` fires, then the tools are closed, once, whatever still works."""
    order: list[str] = []

    @engine.on(hl.SessionEnd)
    async def end(event: hl.SessionEnd) -> None:
        order.append("session_end")

    began = asyncio.Event()

    @engine.on(hl.AfterToolCall, match=hl.names("subagent_spawn"))
    async def spawned(event: hl.AfterToolCall) -> None:
        began.set()

    agents = {"default": {"steps": [{"say": "late", "wait": 60}]}}
    tools = (Waits(order), *(tool for tool in hl.tools() if tool.spec.name == "subagent_spawn"))
    session = play(SPAWN, {"say": "waiting", "wait": 60}, tools=tools, agents=agents)
    async with session:
        run = asyncio.ensure_future(session.run("go"))
        await began.wait()
        run.cancel()
        await asyncio.wait([run])

    assert order == ["session_end", "tools closed"]


async def test_a_session_is_entered_once(play: Any, seen: Any) -> None:
    """A second start would have no end. One that never began fires nothing when it is closed, cleared or compacted."""
    session = play(DONE)
    async with session:
        with pytest.raises(hl.UsageError, match="entered once"):
            await session.__aenter__()
    with pytest.raises(hl.UsageError, match="entered once"):
        await session.__aenter__()
    assert seen.points() == ["session_start", "session_end"]
    never = play(DONE)
    for use in (never.clear, never.compact_now):
        with pytest.raises(hl.UsageError, match="not open"):
            await use()
    with pytest.raises(hl.UsageError, match="not open"):
        never.fork()
    await never.close()

    assert seen.points() == ["session_start", "session_end"]


async def test_a_fork_of_what_has_ended_does_not_begin(play: Any) -> None:
    """Its tools were closed with the last session that used them."""
    async with play(DONE) as session:
        fork = session.fork()

    with pytest.raises(hl.UsageError, match="has ended, and its tools with it"):
        await fork.__aenter__()


async def test_one_prompt_at_a_time(play: Any) -> None:
    """Two runs in one conversation would mix: the second is refused, and the first goes on."""
    waits = Waits()
    async with play({"call": {"tool": "waits", "input": {}}}, DONE, tools=(waits,)) as session:
        run = asyncio.ensure_future(session.run("one"))
        await waits.begun.wait()
        for use in (lambda: session.run("two"), session.clear, session.compact_now):
            with pytest.raises(hl.UsageError, match="at work on another prompt"):
                await use()
        run.cancel()
        await asyncio.wait([run])
        assert (await session.run("three")).text == "done"


async def test_a_session_that_never_begins_keeps_no_journal(play: Any, tmp_path: Path) -> None:
    """Its id is free: nothing is opened before the session is entered."""
    folder = tmp_path / "journals"
    play(DONE, journals=hl.JournalFolder(folder))

    assert not folder.exists()


async def test_clear_forgets_what_was_about_to_be_said(engine: Any, play: Any, seen: Any) -> None:
    """Context that hooks gave before is gone with the conversation that it belonged to."""

    @engine.on(hl.SessionStart)
    async def greet(event: hl.SessionStart) -> hl.AddContext:
        return hl.AddContext(f"context of {event.source}")

    async with play(DONE) as session:
        await session.clear()
        await session.run("go")

    assert [message.text for message in seen.of(hl.BeforeModelCall)[0].messages] == ["context of clear", "go"]


async def test_context_of_a_model_call_is_in_that_very_request(engine: Any, play: Any) -> None:
    """What a hook of `before_model_call` says, the model reads with this request, not with the next."""

    @engine.on(hl.BeforeModelCall)
    async def remind(event: hl.BeforeModelCall) -> hl.AddContext:
        return hl.AddContext("keep it short")

    model = Plain()
    async with play(DONE, model=model) as session:
        await session.run("go")

    assert [message.text for message in model.requests[0].messages] == ["go", "keep it short"]


async def test_tokens_are_accounted_for(play: Any, kept: Any) -> None:
    """The record of a model call has every kind of token that the model told of."""
    usage = hl.session.Usage(input_tokens=1, output_tokens=2, cached_tokens=3, reasoning_tokens=4)
    async with play(DONE, model=Plain(ModelReply(text="done", usage=usage))) as session:
        await session.run("go")

    (called,) = kept.of(ModelCalled)
    assert called.usage == {"input_tokens": 1, "output_tokens": 2, "cached_tokens": 3, "reasoning_tokens": 4}


async def test_the_end_does_not_wait_for_ever(engine: Any, play: Any, kept: Any, monkeypatch: Any) -> None:
    """Hooks of `session_end` have a budget for all of them together, past which the session ends without them."""
    monkeypatch.setattr(session_module, "END_BUDGET", 0.01)

    @engine.on(hl.SessionEnd)
    async def hangs(event: hl.SessionEnd) -> None:
        await asyncio.Event().wait()

    async with play(DONE):
        pass

    assert any("cut off after 0.01 seconds" in note.text for note in kept.of(Noted))


async def test_a_person_who_answered_does_not_wait_for_the_notification(engine: Any, play: Any) -> None:
    """A hook that calls the person, and hangs, holds nothing up once the person is there; it ends with the session."""
    told = asyncio.Event()
    cut: list[bool] = []

    @engine.on(hl.Notification)
    async def call_the_person(event: hl.Notification) -> None:
        told.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cut.append(True)
            raise

    async def approver(request: ApprovalRequest) -> Verdict:
        await told.wait()
        return Verdict(allowed=True)

    settings = {"approval": hl.ApprovalMode.UNTRUSTED, "approver": approver, "notify_after": 0.0}
    session = play(BASH, DONE, **settings)
    engine.settings = SessionSettings(drain=0.01)
    async with session:
        result = await session.run("go")

    assert result.text == "done"
    assert cut == [True]


async def test_a_run_that_cannot_be_shown_still_has_an_end(play: Any) -> None:
    """Where whoever shows the account breaks at a run's beginning, its end is in the account all the same."""
    kept = Breaking(RunStarted, BrokenPipeError())
    async with play(DONE, journals=kept) as session:
        with pytest.raises(BrokenPipeError):
            await session.run("go")

    assert [run.ending for run in kept.of(RunEnded)] == [Ending.FAILED]


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"model": "echo"}, "model= takes a model"),
        ({"approval": "never"}, "approval= takes one of ApprovalMode.UNTRUSTED"),
        ({"workspace": "/no/such/folder"}, "workspace= takes a folder"),
        ({"tools": (Waits, Waits)}, "two tools are called waits"),
    ],
)
def test_what_cannot_work_is_said_at_once(settings: dict[str, Any], found: str, play: Any) -> None:
    """A session refuses to be made of things that it could not work with, and says what it takes."""
    if "tools" in settings:
        settings = {"tools": [tool() for tool in settings["tools"]]}
    with pytest.raises(hl.UsageError, match=found):
        play(DONE, **settings)


async def test_a_model_that_returns_something_else_is_a_failed_run(play: Any) -> None:
    """A reply that is none fails the run and says what came."""
    async with play(DONE, model=Plain("text")) as session:
        result = await session.run("go")

    assert (result.ending, result.reason) == (Ending.FAILED, "the model returned a str, which is no ModelReply")


async def test_closing_ends_the_run_of_another_task(play: Any, kept: Any, seen: Any) -> None:
    """Whoever closes a session that is at work ends its run first: it has its end on record, and no tool runs on."""
    waits = Waits()
    session = play({"call": {"tool": "waits", "input": {}}}, DONE, tools=(waits,))
    async with session:
        run = asyncio.ensure_future(session.run("go"))
        await waits.begun.wait()
    await asyncio.wait([run])

    assert run.cancelled()
    assert [ended.ending for ended in kept.of(RunEnded)] == [Ending.CANCELLED]
    kinds = [record.kind for record in kept.records]
    assert kinds.index("run_ended") < kinds.index("session_closed") == len(kinds) - 1


async def test_a_fork_in_the_middle_of_a_call_can_go_on(play: Any) -> None:
    """The call that has no result yet gets one in the fork, that says so."""
    waits = Waits()
    async with play({"call": {"tool": "waits", "input": {}}}, DONE, tools=(waits,)) as session:
        run = asyncio.ensure_future(session.run("go"))
        await waits.begun.wait()
        async with session.fork() as fork:
            await fork.run("and you?")
            said = fork.conversation.messages
        run.cancel()
        await asyncio.wait([run])

    (call,) = (call for message in said for call in message.calls)
    assert [message.call_id for message in said if message.role == "tool"] == [call.id]


async def test_what_was_done_is_not_told_as_interrupted(engine: Any, play: Any, workspace: Path) -> None:
    """A call that ran is not told as interrupted, though a hook that failed keeps its result from the model."""

    @engine.on(hl.AfterToolCall, on_failure=hl.FailurePolicy.FAIL_RUN)
    async def breaks(event: hl.AfterToolCall) -> None:
        raise ValueError("oh no")

    steps = [{"calls": [{"tool": "write_file", "input": {"path": name, "content": "x"}} for name in "ab"]}, DONE]
    async with play(*steps) as session:
        await session.run("go")
        told = [message.text for message in session.conversation.messages if message.role == "tool"]

    assert told[0].startswith("tool result withheld by hook: ")
    assert told[1] == "no result: the run was interrupted"
    assert [each.name for each in workspace.iterdir()] == ["a"]


async def test_clear_ends_the_children(play: Any) -> None:
    """What an agent that was started before finds out does not come into the conversation that was begun anew."""
    agents = {"default": {"steps": [{"say": "old", "wait": 60}]}}
    async with play(SPAWN, {"fail": {"category": "x"}}, DONE, agents=agents) as session:
        await session.run("go")
        assert session.children.at_work
        await session.clear()

        assert not session.children.at_work


@pytest.mark.parametrize("when", ["conversation_replaced", "close"])
async def test_an_account_that_breaks_keeps_nothing_open(when: str, play: Any) -> None:
    """Where the account cannot be written at the beginning, or closed at the end, the tools are closed all the same."""
    order: list[str] = []

    class Breaks:
        def recorder(self, session_id: str) -> Any:
            return self

        def record(self, record: Any) -> None:
            if record.kind == when:
                raise hl.StateError("disk full")

        def close(self) -> None:
            order.append("account closed")
            if when == "close":
                raise hl.StateError("disk full")

    said = (Message(role="user", text="before"),)
    session = play(DONE, journals=Breaks(), tools=(Waits(order),), beginning=hl.Beginning(conversation=said))
    with pytest.raises(hl.StateError):
        async with session:
            pass

    assert order == ["account closed", "tools closed"]


async def test_a_session_that_crashed_in_a_call_can_be_resumed_and_replayed(play: Any, tmp_path: Path) -> None:
    """Its missing result is in the conversation and in the journal, whatever ids the calls before it had."""
    folder = hl.JournalFolder(tmp_path / "journals")
    async with play(BASH, DONE, journals=folder) as first:
        await first.run("one")
    async with play(BASH, DONE, journals=folder, beginning=folder.resumed(first.id)) as again:
        await again.run("two")
    path = folder.folder / f"{first.id}.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    started = max(number for number, line in enumerate(lines) if '"kind":"call_started"' in line)
    path.write_text("".join(lines[: started + 1]))

    beginning = folder.resumed(first.id)
    async with play(DONE, journals=folder, beginning=beginning) as last:
        await last.run("three")

    results = [message.text for message in beginning.conversation if message.role == "tool"]
    assert [text[:10] for text in results] == ['{"chunk_id', "No result:"]
    assert not [each for each in events_from(path) if isinstance(each, Damage)]


async def test_a_journal_grows_with_what_is_said(play: Any, tmp_path: Path) -> None:
    """Twice the steps take twice the room: no line repeats the conversation."""
    sizes = []
    for count in (10, 20):
        folder = hl.JournalFolder(tmp_path / str(count))
        async with play(*[BASH] * count, DONE, journals=folder) as session:
            await session.run("go")
        sizes.append((folder.folder / f"{session.id}.jsonl").stat().st_size)

    assert sizes[1] < 2.1 * sizes[0]

"""Approval: who is asked, who may answer in a person's place, and what happens while nobody answers."""

import asyncio
from typing import Any

import pytest

import hookline as hl
from hookline._core.records import ApprovalAsked, CallEnded, CallStatus, Noted
from hookline.session.ports import ApprovalRequest, Verdict

WRITE = {"call": {"tool": "write_file", "input": {"path": "a.txt", "content": "x"}}}
READ = {"call": {"tool": "read_file", "input": {"path": "a.txt"}}}
OUTSIDE = {"call": {"tool": "write_file", "input": {"path": "../out.txt", "content": "x"}}}
DONE = {"say": "done"}


class Person:
    """Says the same to everything, and remembers what it was asked."""

    def __init__(self, *, allows: bool, reason: str = "") -> None:
        self._verdict = Verdict(allowed=allows, reason=reason)
        self.asked: list[ApprovalRequest] = []

    async def __call__(self, request: ApprovalRequest) -> Verdict:
        self.asked.append(request)
        return self._verdict


@pytest.mark.parametrize(
    ("mode", "step", "asked"),
    [
        (hl.ApprovalMode.UNTRUSTED, WRITE, 1),
        (hl.ApprovalMode.UNTRUSTED, READ, 0),
        (hl.ApprovalMode.UNTRUSTED, OUTSIDE, 1),
        (hl.ApprovalMode.ON_REQUEST, WRITE, 0),
        (hl.ApprovalMode.ON_REQUEST, OUTSIDE, 1),
        (hl.ApprovalMode.NEVER, WRITE, 0),
        (hl.ApprovalMode.NEVER, OUTSIDE, 0),
    ],
)
async def test_the_mode_decides_which_calls_wait(mode: Any, step: Any, asked: int, play: Any, seen: Any) -> None:
    """A call waits by how far it reaches, and a permission request is fired exactly when one waits."""
    person = Person(allows=True)
    async with play(step, DONE, approval=mode, approver=person) as session:
        await session.run("go")

    assert len(person.asked) == asked
    assert len(seen.of(hl.PermissionRequest)) == asked


async def test_nobody_there_means_no(play: Any, kept: Any, workspace: Any) -> None:
    """Without anybody to ask, a call that needs approval is refused and says so."""
    async with play(WRITE, DONE, approval=hl.ApprovalMode.UNTRUSTED) as session:
        await session.run("go")

    (ended,) = kept.of(CallEnded)
    assert (ended.status, ended.text) == (CallStatus.REFUSED, "approval required")
    assert list(workspace.iterdir()) == []


@pytest.mark.parametrize(("decision", "ran"), [(hl.Allow(), True), (hl.Deny("not now"), False)])
async def test_a_hook_answers_in_the_persons_place(
    decision: Any, ran: bool, engine: Any, play: Any, workspace: Any
) -> None:
    """A permission request that a hook decides never reaches the person."""

    @engine.on(hl.PermissionRequest)
    async def decide(event: hl.PermissionRequest) -> hl.Allow | hl.Deny:
        return decision

    person = Person(allows=not ran)
    async with play(WRITE, DONE, approval=hl.ApprovalMode.UNTRUSTED, approver=person) as session:
        await session.run("go")

    assert person.asked == []
    assert (workspace / "a.txt").exists() is ran


async def test_ask_forces_the_question_and_shows_the_rewritten_input(engine: Any, play: Any, workspace: Any) -> None:
    """B-35: another hook's rewrite survives an Ask, and the person sees what would really run."""

    @engine.on(hl.BeforeToolCall)
    async def rewrite(event: hl.BeforeToolCall) -> hl.RewriteInput:
        return hl.RewriteInput({"path": "b.txt", "content": "y"})

    @engine.on(hl.BeforeToolCall)
    async def ask(event: hl.BeforeToolCall) -> hl.Ask:
        return hl.Ask("please look")

    person = Person(allows=True)
    async with play(WRITE, DONE, approval=hl.ApprovalMode.ON_REQUEST, approver=person) as session:
        await session.run("go")

    assert [(request.input["path"], request.reason) for request in person.asked] == [("b.txt", "please look")]
    assert [each.name for each in workspace.iterdir()] == ["b.txt"]


async def test_a_question_when_approval_is_off_is_noted(engine: Any, play: Any, kept: Any, workspace: Any) -> None:
    """With approval off an Ask does not stop the call, and does not vanish either."""

    @engine.on(hl.BeforeToolCall)
    async def ask(event: hl.BeforeToolCall) -> hl.Ask:
        return hl.Ask()

    async with play(WRITE, DONE) as session:
        await session.run("go")

    assert (workspace / "a.txt").exists()
    assert any("asks for approval" in note.text for note in kept.of(Noted))
    assert kept.of(ApprovalAsked) == []


async def test_a_prompt_that_waits_notifies_once(play: Any, seen: Any, engine: Any) -> None:
    """The notification fires while the prompt waits, once, and the answer still counts."""
    notified = asyncio.Event()

    @engine.on(hl.Notification)
    async def wake(event: hl.Notification) -> None:
        notified.set()

    async def late(request: ApprovalRequest) -> Verdict:
        await notified.wait()
        return Verdict(allowed=True)

    async with play(WRITE, DONE, approval=hl.ApprovalMode.UNTRUSTED, approver=late, notify_after=0.01) as session:
        result = await session.run("go")

    (event,) = seen.of(hl.Notification)
    assert event.notification_type == "permission_prompt"
    assert event.message == "project — waiting for approval"
    assert result.text == "done"


async def test_a_prompt_that_is_answered_at_once_notifies_nobody(play: Any, seen: Any) -> None:
    """No notification without waiting."""
    person = Person(allows=False, reason="no")
    async with play(WRITE, DONE, approval=hl.ApprovalMode.UNTRUSTED, approver=person) as session:
        await session.run("go")

    assert seen.of(hl.Notification) == []


def raises(_: Any) -> Any:
    raise RuntimeError("no terminal")


async def agrees(_: Any) -> Any:
    return True


def is_synchronous(_: Any) -> Any:
    return Verdict(allowed=True)


@pytest.mark.parametrize("approver", [raises, agrees, is_synchronous])
async def test_an_approver_that_breaks_approves_nothing(approver: Any, play: Any, kept: Any, workspace: Any) -> None:
    """An exception, and anything that is no Verdict, is a refusal; the run goes on."""
    async with play(WRITE, DONE, approval=hl.ApprovalMode.UNTRUSTED, approver=approver) as session:
        result = await session.run("go")

    assert result.text == "done"
    assert list(workspace.iterdir()) == []
    (asked,) = kept.of(ApprovalAsked)
    assert not asked.allowed
    assert "approver" in asked.reason

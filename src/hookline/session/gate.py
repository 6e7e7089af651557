"""The gate: the one function through which every tool takes effect.

Order: valid? > before_tool_call > approval (permission_request, the person) > before_dispatch > the tool >
after_tool_call or tool_call_failed. Nothing else in this package may call a tool.
"""

import asyncio
import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hookline._core.decisions import Allow, Ask
from hookline._core.effects import RewriteInput
from hookline._core.errors import HooklineError, ToolError, UsageError
from hookline._core.events import (
    AfterToolCall,
    BeforeDispatch,
    BeforeToolCall,
    Notification,
    PermissionRequest,
    ToolCallFailed,
)
from hookline._core.messages import Message, ToolCall, ToolSpec
from hookline._core.points import Event, Origin
from hookline._core.ports import Recorder
from hookline._core.records import ApprovalAsked, CallEnded, CallStarted, CallStatus, Noted
from hookline.session.apply import Fired
from hookline.session.approval import NOTIFY_AFTER, ApprovalMode, ask_person, waits
from hookline.session.conversation import Conversation
from hookline.session.ports import ApprovalRequest, Approver, CallContext, Session, Tool, ToolResult, Verdict

T = TypeVar("T")

BLOCKED = "tool blocked by hook: {reason}"
NO_DIRECTORY = "working directory {cwd}: there is no such folder"
NEEDS_APPROVAL = "approval required"
CHANGED = "a handler changed the input in place, so nobody knows which one was judged; answer with RewriteInput"


class Host(Session, Protocol):
    """The session as the gate sees it."""

    @property
    def recorder(self) -> Recorder: ...
    @property
    def conversation(self) -> Conversation: ...

    async def fire(self, event: Event) -> Fired: ...

    async def tell(self, event: Event) -> Fired:
        """Fire what no failure of a hook can end a run for."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """How calls are approved. `approver` None means that nobody can be asked."""

    mode: ApprovalMode = ApprovalMode.UNTRUSTED
    approver: Approver | None = None
    notify_after: float = NOTIFY_AFTER
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """How one call ended. `response` is what hooks saw of it; `fired` is the event after it, if there was one."""

    status: CallStatus
    text: str
    response: Any = None
    input: Any = None
    fired: Fired | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    """A call on its way through the gate."""

    call: ToolCall
    tool: Tool
    input: Any
    origin: Origin

    def event(self) -> dict[str, Any]:
        """The fields that every event about this call shares."""
        return {
            "tool_name": self.tool.spec.name,
            "input": copy.deepcopy(self.input),  # what a handler does to it reaches neither the tool nor the next event
            "aliases": self.tool.aliases,
            "origin": self.origin,
        }


class Gate:
    """Holds the tools of one session, and lets a call through when everyone who may object has not."""

    def __init__(self, tools: Sequence[Tool], settings: GateSettings) -> None:
        """Raises UsageError when two tools have one name: nobody could say which of them a guard has let through."""
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if self._tools.setdefault(tool.spec.name, tool) is not tool:
                raise UsageError(f"two tools are called {tool.spec.name}: leave one of them out")
        self._settings = settings
        self._aside: set[asyncio.Task[Fired]] = set()  # notifications, for which nobody waits

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    async def aclose(self) -> None:
        """End whatever the tools still run. What one of them raises is raised when all have been ended."""
        faults: list[Exception] = []
        for tool in self._tools.values():
            try:
                await tool.aclose()
            except Exception as fault:  # noqa: BLE001  # a tool from outside may raise anything
                faults.append(fault)
        if faults:
            raise faults[0]

    async def settle(self, budget: float) -> None:
        """Wait up to *budget* seconds for notifications that are still being told, and cut off the rest."""
        if self._aside:
            await asyncio.wait(self._aside, timeout=budget)
        left = tuple(self._aside)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    async def pass_through(self, call: ToolCall, host: Host, origin: Origin) -> Passed:
        """Run one call, if it may run, and say how it ended.

        A tool that breaks, wherever it is asked, is a failed call. Raises on cancellation, when a hook failed that
        fails the run, and where the account of the call cannot be kept.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(sorted(self._tools)) or "none"
            return await self._invalid(call, host, origin, f"there is no tool `{call.name}`; there are: {known}")
        wanted = copy.deepcopy(call.input)
        cwd, objection = _validated(tool, wanted, host)
        if objection:
            return await self._invalid(call, host, origin, objection, tool)
        pending = _Pending(call=call, tool=tool, input=wanted, origin=replace(origin, cwd=str(cwd)))
        before = BeforeToolCall(call_id=call.id, **pending.event())
        fired = await host.fire(before)
        if fired.denied:
            return self._refused(pending, host, BLOCKED.format(reason=fired.reason))
        if before.input != pending.input:
            return self._refused(pending, host, CHANGED)
        pending, objection = self._as_rewritten(pending, fired, host)
        if objection:
            return await self._failed(pending, host, objection, 0.0)
        try:
            return await self._approved(pending, fired, host)
        except _Broken as broken:
            return await self._failed(pending, host, str(broken), 0.0)

    async def _approved(self, pending: _Pending, fired: Fired, host: Host) -> Passed:
        """From approval on. What is to be executed is resolved after it, as late as can be."""
        if refusal := await self._refusal(pending, fired, host):
            return self._refused(pending, host, refusal)
        argv = _asked(pending.tool, pending.tool.argv, pending.input, self._settings.env)
        dispatch = BeforeDispatch(call_id=pending.call.id, argv=argv, **pending.event())
        last = await host.fire(dispatch)
        if last.denied:
            return self._refused(pending, host, BLOCKED.format(reason=last.reason))
        if dispatch.input != pending.input:
            return self._refused(pending, host, CHANGED)
        return await self._run(pending, host)

    def _as_rewritten(self, pending: _Pending, fired: Fired, host: Host) -> tuple[_Pending, str]:
        """The call as hooks left it, and what is wrong with it then."""
        rewrites = [each for each in fired.resolution.applied if isinstance(each.effect, RewriteInput)]
        if not rewrites:
            return pending, ""
        changed = copy.deepcopy(fired.resolution.event.input)  # type: ignore[attr-defined]  # a BeforeToolCall
        cwd, objection = _validated(pending.tool, changed, host)
        if objection:
            return replace(pending, input=changed), f"input rewritten by hook {rewrites[-1].hook}: {objection}"
        return replace(pending, input=changed, origin=replace(pending.origin, cwd=str(cwd))), ""

    async def _refusal(self, pending: _Pending, fired: Fired, host: Host) -> str:
        """Why the call is not approved, or nothing."""
        asked = isinstance(fired.resolution.decision, Ask)
        mode = self._settings.mode
        if asked and mode is ApprovalMode.NEVER:
            text = f"{fired.resolution.decided_by} asks for approval of {pending.call.name}, and approval is off"
            host.recorder.record(Noted(origin=pending.origin, text=text))
            return ""
        if not asked and not waits(mode, _asked(pending.tool, pending.tool.risk, pending.input, host.workspace)):
            return ""
        verdict, by = await self._verdict(pending, host, fired.reason if asked else f"approval mode {mode.value}")
        host.recorder.record(
            ApprovalAsked(
                origin=pending.origin,
                call_id=pending.call.id,
                tool=pending.call.name,
                allowed=verdict.allowed,
                by=by,
                reason=verdict.reason,
            )
        )
        return "" if verdict.allowed else (verdict.reason or "approval denied")

    async def _verdict(self, pending: _Pending, host: Host, reason: str) -> tuple[Verdict, str]:
        wanted = PermissionRequest(call_id=pending.call.id, **pending.event())
        resolution = (await host.fire(wanted)).resolution
        by = resolution.decided_by or ""
        if wanted.input != pending.input:
            return Verdict(allowed=False, reason=CHANGED), by
        if resolution.denied:
            return Verdict(allowed=False, reason=resolution.reason), by
        if isinstance(resolution.decision, Allow):
            return Verdict(allowed=True, reason=resolution.reason), by
        if self._settings.approver is None:
            return Verdict(allowed=False, reason=NEEDS_APPROVAL), "nobody"
        request = ApprovalRequest(tool_name=pending.call.name, input=pending.input, reason=reason)

        def notify() -> None:
            message = f"{host.workspace.name} — waiting for approval"
            kind, title = "permission_prompt", "approval needed"
            event = Notification(notification_type=kind, title=title, message=message, origin=pending.origin)
            task = asyncio.ensure_future(host.tell(event))
            self._aside.add(task)
            task.add_done_callback(self._told_aside)

        try:
            verdict: object = await ask_person(request, self._settings.approver, notify, self._settings.notify_after)
        except HooklineError:
            raise
        except Exception as fault:  # noqa: BLE001  # an approver that breaks has approved nothing
            return Verdict(allowed=False, reason=f"the approver broke: {type(fault).__name__}: {fault}"), "nobody"
        if not isinstance(verdict, Verdict):
            return Verdict(allowed=False, reason=f"the approver said {verdict!r}, which is no Verdict"), "nobody"
        return verdict, "person"

    def _told_aside(self, task: "asyncio.Task[Fired]") -> None:
        self._aside.discard(task)
        if not task.cancelled():
            task.exception()  # an account that could not be written fails the next action too, and louder

    async def _run(self, pending: _Pending, host: Host) -> Passed:
        call = pending.call
        host.recorder.record(CallStarted(origin=pending.origin, call_id=call.id, tool=call.name, input=pending.input))
        context = CallContext(session=host, cwd=Path(pending.origin.cwd), env=self._settings.env)
        begun = time.monotonic()
        try:
            result = _sound(await pending.tool.call(pending.input, context), call.name)
        except asyncio.CancelledError:
            cut = Passed(status=CallStatus.FAILED, text="interrupted")
            recorded(cut, call, pending.origin, host, time.monotonic() - begun)
            raise
        except ToolError as error:
            return await self._failed(pending, host, str(error), time.monotonic() - begun)
        except Exception as fault:  # noqa: BLE001  # a tool from outside that breaks is a failed call, not a crash
            text = f"{call.name} broke: {type(fault).__name__}: {fault}"
            return await self._failed(pending, host, text, time.monotonic() - begun)
        took = time.monotonic() - begun
        response = result.seen_by_hooks()
        event = AfterToolCall(call_id=call.id, response=response, duration=took, **pending.event())
        passed = Passed(status=CallStatus.DONE, text=result.text, response=response, input=pending.input)
        return await _told(event, passed, call, host, took)

    async def _failed(self, pending: _Pending, host: Host, error: str, took: float) -> Passed:
        event = ToolCallFailed(call_id=pending.call.id, error=error, duration=took, **pending.event())
        passed = Passed(status=CallStatus.FAILED, text=error, response=error, input=pending.input)
        return await _told(event, passed, pending.call, host, took)

    async def _invalid(
        self, call: ToolCall, host: Host, origin: Origin, objection: str, tool: Tool | None = None
    ) -> Passed:
        """A call that is not valid never reaches `before_tool_call`; that it failed is still told."""
        aliases = () if tool is None else tool.aliases
        event = ToolCallFailed(
            tool_name=call.name,
            input=copy.deepcopy(call.input),
            call_id=call.id,
            aliases=aliases,
            error=objection,
            origin=origin,
        )
        passed = Passed(status=CallStatus.FAILED, text=objection, response=objection, input=call.input)
        return await _told(event, passed, call, host)

    def _refused(self, pending: _Pending, host: Host, text: str) -> Passed:
        passed = Passed(status=CallStatus.REFUSED, text=text, response=text, input=pending.input)
        return recorded(passed, pending.call, pending.origin, host)


class _Broken(Exception):  # not ours: the text is what the model is told
    """A tool that was asked about a call did not say."""


def _asked(tool: Tool, question: Callable[..., T], *about: object) -> T:
    """What *tool* says. Raises _Broken where it raises: a tool from outside may raise anything."""
    try:
        return question(*about)
    except ToolError as error:
        raise _Broken(str(error)) from error
    except Exception as fault:
        raise _Broken(f"{tool.spec.name} broke: {type(fault).__name__}: {fault}") from fault


def _validated(tool: Tool, input: Any, host: Host) -> tuple[Path, str]:
    """Where a call with this input would run, and what is wrong with it, if anything."""
    try:
        if objection := _asked(tool, tool.check, input):
            return host.workspace, objection
        cwd = _asked(tool, tool.directory, input, host.workspace)
    except _Broken as broken:
        return host.workspace, str(broken)
    return cwd, "" if cwd.is_dir() else NO_DIRECTORY.format(cwd=cwd)  # no hook could start there either


def _sound(result: object, tool: str) -> ToolResult:
    """The result, if it is one."""
    if not isinstance(result, ToolResult):
        raise ToolError(f"{tool} broke: it returned a {type(result).__name__}, which is no ToolResult")
    return result


async def _told(event: Event, passed: Passed, call: ToolCall, host: Host, took: float = 0.0) -> Passed:
    """The end of a call, once the hooks of *event* have heard of it; in the account also where they are cut off."""
    try:
        fired = await host.fire(event)
    except BaseException:
        recorded(passed, call, event.origin, host, took)
        raise
    heard = replace(passed, text=_with_feedback(passed.text, fired), fired=fired)
    return recorded(heard, call, event.origin, host, took)


def recorded(passed: Passed, call: ToolCall, origin: Origin, host: Host, took: float = 0.0) -> Passed:
    """The same, once the account and the conversation have it."""
    host.recorder.record(
        CallEnded(origin=origin, call_id=call.id, tool=call.name, status=passed.status, text=passed.text, duration=took)
    )
    host.conversation.add(Message(role="tool", text=passed.text, call_id=call.id), origin)
    return passed


def _with_feedback(text: str, fired: Fired) -> str:
    return "\n\n".join((text, *(said for _, said in fired.feedback)))

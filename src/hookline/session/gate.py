"""The gate: the one function through which every tool takes effect.

Order: valid? > before_tool_call > approval (permission_request, the person) > before_dispatch > the tool >
after_tool_call or tool_call_failed, and after_shell. Nothing else in this package may call a tool.

A call goes through in three parts: its hooks are asked, it is run, its hooks are told. One call after the other, or,
where a dialect's rule wants the whole batch, every call of a step through each part before the next part begins.
"""

import asyncio
import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from hookline._core.decisions import Allow, Ask
from hookline._core.errors import HooklineError, ToolError, UsageError
from hookline._core.events import (
    AfterShell,
    BeforeDispatch,
    Notification,
    PermissionRequest,
)
from hookline._core.messages import ToolCall, ToolSpec
from hookline._core.points import Origin
from hookline._core.records import ApprovalAsked, CallForbidden, CallStarted, CallStatus, Noted
from hookline.session.apply import Fired
from hookline.session.approval import NOTIFY_AFTER, ApprovalMode, ask_person, waits
from hookline.session.aside import Unawaited
from hookline.session.call import (
    CHANGED,
    Asked,
    Broken,
    Ended,
    Host,
    Passed,
    Pending,
    answered,
    asked_of,
    before_event,
    done_call,
    failed_call,
    invalid_call,
    recorded,
    refused_call,
    validated,
    with_feedback,
    withheld,
)
from hookline.session.over import RunOver, refused
from hookline.session.ports import ApprovalRequest, Approver, CallContext, Tool, ToolResult, Verdict

NEEDS_APPROVAL = "approval required"


def nothing(dispatch: BeforeDispatch) -> CallForbidden | None:
    """Forbids no call."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """How calls are approved. `approver` None means that nobody can be asked.

    `forbids` is asked about a call that is approved, before any hook is: a refusal of its is recorded, and final.
    `unknown` is what the model is told of a tool that there is not.
    """

    mode: ApprovalMode = ApprovalMode.UNTRUSTED
    approver: Approver | None = None
    notify_after: float = NOTIFY_AFTER
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    forbids: Callable[[BeforeDispatch], CallForbidden | None] = nothing
    unknown: str = "there is no tool `{name}`; there are: {known}"


class Gate:
    """Holds the tools of one session, and lets a call through when everyone who may object has not."""

    def __init__(self, tools: Sequence[Tool], settings: GateSettings) -> None:
        """Raises UsageError when two tools have one name: nobody could say which of them a guard has let through."""
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if self._tools.setdefault(tool.spec.name, tool) is not tool:
                raise UsageError(f"two tools are called {tool.spec.name}: leave one of them out")
        self._settings = settings
        self._notifications = Unawaited()

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
        await self._notifications.settle(budget)

    async def pass_through(self, call: ToolCall, host: Host, origin: Origin) -> Passed:
        """Run one call, if it may run, and say how it ended.

        A tool that breaks, wherever it is asked, is a failed call. Raises on cancellation, when a hook failed that
        fails the run, and where the account of the call cannot be kept.
        """
        (asked,) = await self.ask([call], host, origin)
        return await self.tell(await self.run(asked, host), host)

    async def ask(
        self, calls: Sequence[ToolCall], host: Host, origin: Origin, *, of_unknown: bool = False
    ) -> tuple[Asked, ...]:
        """Ask the hooks of *calls* whether they may run, *of_unknown* ones too that no tool is there for.

        Raises RunOver for the first, in their order, of which a failure or a denial ends the run as failed.
        """
        found = [self._found(call, host, origin) for call in calls]
        events = [before_event(each, of_unknown=of_unknown) for each in found]
        fired = iter(await host.fire_all([event for event in events if event is not None]))
        asked = [
            Asked(ended=each if isinstance(each, Ended) else None)
            if event is None
            else answered(each, event, next(fired), host)
            for each, event in zip(found, events, strict=True)
        ]
        return tuple(asked)

    def _found(self, call: ToolCall, host: Host, origin: Origin) -> "Pending | Ended":
        """The call on its way, or its end where it is not valid."""
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(sorted(self._tools)) or "none"
            return invalid_call(call, origin, self._settings.unknown.format(name=call.name, known=known))
        wanted = copy.deepcopy(call.input)
        cwd, objection = validated(tool, wanted, host)
        if objection:
            return invalid_call(call, origin, objection, tool)
        return Pending(call=call, tool=tool, input=wanted, origin=replace(origin, cwd=str(cwd)))

    async def run(self, asked: Asked, host: Host) -> Ended:
        """Run a call that may run. Raises on cancellation, once the account has its end."""
        if asked.ended is not None:
            return asked.ended
        assert asked.pending is not None  # noqa: S101  # for the type checker: it is one of the two
        assert asked.fired is not None  # noqa: S101  # the same
        try:
            return await self._approved(asked.pending, asked.fired, host)
        except Broken as broken:
            return failed_call(asked.pending, str(broken), 0.0)

    async def tell(self, ended: Ended, host: Host) -> Passed:
        """Tell everybody how a call ended: its hooks first. A denial keeps its result from the model.

        Raises RunOver for a denial or a failure that ends the run as failed; nothing of the result is told then.
        """
        if ended.event is None:
            return recorded(ended, host)
        host.tally.tool_calls += 1
        try:
            fired = await host.fire(ended.event)
        except RunOver as over:
            recorded(withheld(ended, str(over)), host)
            raise
        except BaseException:
            recorded(ended, host)
            raise
        if fired.denied:
            passed = recorded(withheld(ended, fired.reason, fired), host)
            if fired.resolution.deny_fails:
                raise refused(fired.resolution)
            await self._tell_of_shell(ended.shell, host)
            return passed
        heard = replace(ended.passed, text=with_feedback(ended.passed.text, fired), fired=fired)
        passed = recorded(replace(ended, passed=heard), host)
        await self._tell_of_shell(ended.shell, host)
        return passed

    @staticmethod
    async def _tell_of_shell(event: AfterShell | None, host: Host) -> None:
        """Fire `after_shell`, which changes nothing any more, if anybody wants to hear of it."""
        if event is None:
            return
        host.tally.shell_calls += 1
        if host.rules(AfterShell):
            await host.fire(event)

    async def _approved(self, pending: Pending, fired: Fired, host: Host) -> Ended:
        """From approval on. What is to be executed is resolved after it, as late as can be."""
        if refusal := await self._refusal(pending, fired, host):
            return refused_call(pending, refusal)
        context = CallContext(session=host, cwd=Path(pending.origin.cwd), env=self._settings.env)
        command = asked_of(pending.tool, pending.tool.resolve, pending.input, context)
        pending = replace(pending, command=command)
        dispatch = BeforeDispatch(call_id=pending.call.id, command=command, **pending.event())
        if (forbidden := self._settings.forbids(dispatch)) is not None:
            host.recorder.record(forbidden)
            return refused_call(pending, forbidden.reason)
        last = await host.fire(dispatch)
        if last.denied:
            return refused_call(pending, last.refusal)
        if dispatch.input != pending.input:
            return refused_call(pending, CHANGED)
        return await self._run(pending, replace(context, command=command), host)

    async def _refusal(self, pending: Pending, fired: Fired, host: Host) -> str:
        """Why the call is not approved, or nothing."""
        asked = isinstance(fired.resolution.decision, Ask)
        mode = self._settings.mode
        if asked and mode is ApprovalMode.NEVER:
            text = f"{fired.resolution.decided_by} asks for approval of {pending.call.name}, and approval is off"
            host.recorder.record(Noted(origin=pending.origin, text=text))
            return ""
        if not asked and not waits(mode, asked_of(pending.tool, pending.tool.risk, pending.input, host.workspace)):
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

    async def _verdict(self, pending: Pending, host: Host, reason: str) -> tuple[Verdict, str]:
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
            self._notifications.start(host.tell(event))

        try:
            verdict: object = await ask_person(request, self._settings.approver, notify, self._settings.notify_after)
        except HooklineError:
            raise
        except Exception as fault:  # noqa: BLE001  # an approver that breaks has approved nothing
            return Verdict(allowed=False, reason=f"the approver broke: {type(fault).__name__}: {fault}"), "nobody"
        if not isinstance(verdict, Verdict):
            return Verdict(allowed=False, reason=f"the approver said {verdict!r}, which is no Verdict"), "nobody"
        return verdict, "person"

    async def _run(self, pending: Pending, context: CallContext, host: Host) -> Ended:
        call = pending.call
        host.recorder.record(CallStarted(origin=pending.origin, call_id=call.id, tool=call.name, input=pending.input))
        begun = time.monotonic()
        try:
            result = _sound(await pending.tool.call(pending.input, context), call.name)
        except asyncio.CancelledError:
            cut = Passed(status=CallStatus.FAILED, text="interrupted")
            recorded(Ended(call=call, origin=pending.origin, passed=cut, took=time.monotonic() - begun), host)
            raise
        except ToolError as error:
            return failed_call(pending, str(error), time.monotonic() - begun, error.shell)
        except Exception as fault:  # noqa: BLE001  # a tool from outside that breaks is a failed call, not a crash
            text = f"{call.name} broke: {type(fault).__name__}: {fault}"
            return failed_call(pending, text, time.monotonic() - begun)
        return done_call(pending, result, time.monotonic() - begun)


def _sound(result: object, tool: str) -> ToolResult:
    """The result, if it is one."""
    if not isinstance(result, ToolResult):
        raise ToolError(f"{tool} broke: it returned a {type(result).__name__}, which is no ToolResult")
    return result

"""One tool call on its way through the gate: the forms that it takes, and the ways in which it ends."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from hookline._core.commands import ResolvedCommand
from hookline._core.effects import RewriteInput
from hookline._core.errors import ToolError
from hookline._core.events import AfterShell, AfterToolCall, BeforeToolCall, ToolCallFailed
from hookline._core.events.tool import UnknownToolCall
from hookline._core.messages import Message, ToolCall
from hookline._core.points import Event, Origin
from hookline._core.ports import Recorder
from hookline._core.records import CallEnded, CallStatus, ShellEnded
from hookline._core.rules import Rule
from hookline._core.shells import ShellResult
from hookline.session.apply import Fired
from hookline.session.conversation import Conversation
from hookline.session.over import failed_by, refused
from hookline.session.ports import Session, Tool, ToolResult
from hookline.session.tally import Tally

T = TypeVar("T")

NO_DIRECTORY = "working directory {cwd}: there is no such folder"
WITHHELD = "tool result withheld by hook: {reason}"
CHANGED = "a handler changed the input in place, so nobody knows which one was judged; answer with RewriteInput"


class Host(Session, Protocol):
    """The session as the gate sees it."""

    @property
    def recorder(self) -> Recorder: ...
    @property
    def conversation(self) -> Conversation: ...
    @property
    def tally(self) -> Tally: ...

    async def fire(self, event: Event) -> Fired: ...

    async def fire_all(self, events: Sequence[Event]) -> tuple[Fired, ...]:
        """Fire *events* at once, and apply what comes of them in their order.

        What ends the run is the caller's to see.
        """
        ...

    async def tell(self, event: Event) -> Fired:
        """Fire what no failure of a hook can end a run for."""
        ...

    def rules(self, event: type[Event]) -> tuple[Rule, ...]:
        """The rules under which there are hooks for *event*."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """How one call ended. `response` is what hooks saw of it; `fired` is the event after it, if there was one."""

    status: CallStatus
    text: str
    response: Any = None
    input: Any = None
    fired: Fired | None = None

    @property
    def is_error(self) -> bool | None:
        """As its message says it: whether it went wrong is only worth saying where it did."""
        return None if self.status is CallStatus.DONE else True


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A call on its way through the gate."""

    call: ToolCall
    tool: Tool
    input: Any
    origin: Origin
    command: ResolvedCommand | None = None

    def event(self) -> dict[str, Any]:
        """The fields that every event about this call shares."""
        return {
            "tool_name": self.tool.spec.name,
            "input": copy.deepcopy(self.input),  # what a handler does to it reaches neither the tool nor the next event
            "aliases": self.tool.aliases,
            "provenance": self.tool.spec.provenance,
            "origin": self.origin,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a call ended, before anybody was told: neither hooks, nor the account, nor the model.

    `event` is what its hooks are to be told, None for a call that was refused; `shell` what they are told after that.
    `took` is in seconds.
    """

    call: ToolCall
    origin: Origin
    passed: Passed
    event: Event | None = None
    shell: AfterShell | None = None
    took: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A call whose hooks were asked. It may run if it is `pending`; else it has `ended` already."""

    pending: Pending | None = None
    fired: Fired | None = None
    ended: Ended | None = None


class Broken(Exception):  # not ours: the text is what the model is told
    """A tool that was asked about a call did not say."""


def asked_of(tool: Tool, question: Callable[..., T], *about: object) -> T:
    """What *tool* says. Raises Broken where it raises: a tool from outside may raise anything."""
    try:
        return question(*about)
    except ToolError as error:
        raise Broken(str(error)) from error
    except Exception as fault:
        raise Broken(f"{tool.spec.name} broke: {type(fault).__name__}: {fault}") from fault


def validated(tool: Tool, input: Any, host: Host) -> tuple[Path, str]:
    """Where a call with this input would run, and what is wrong with it, if anything."""
    try:
        if objection := asked_of(tool, tool.check, input):
            return host.workspace, objection
        cwd = asked_of(tool, tool.directory, input, host.workspace)
    except Broken as broken:
        return host.workspace, str(broken)
    return cwd, "" if cwd.is_dir() else NO_DIRECTORY.format(cwd=cwd)  # no hook could start there either


def before_event(found: "Pending | Ended", *, of_unknown: bool) -> BeforeToolCall | None:
    """The event before a call. One that is not valid has none, unless there is no such tool and *of_unknown*."""
    if isinstance(found, Pending):
        return BeforeToolCall(call_id=found.call.id, **found.event())
    call = found.call
    failure = found.event
    if not of_unknown or not isinstance(failure, ToolCallFailed) or failure.provenance is not None or failure.aliases:
        return None
    return UnknownToolCall(tool_name=call.name, input=copy.deepcopy(call.input), call_id=call.id, origin=found.origin)


def answered(found: "Pending | Ended", before: Event, fired: Fired, host: Host) -> Asked:
    """A call whose hooks have said what they say of it."""
    if fired.resolution.failed_run is not None:
        raise failed_by(fired.resolution)
    if fired.denied and fired.resolution.deny_fails:
        raise refused(fired.resolution)
    if isinstance(found, Ended):
        return Asked(ended=_blocked(found, fired.refusal) if fired.denied else found)
    if fired.denied:
        return Asked(ended=refused_call(found, fired.refusal))
    if before.input != found.input:  # type: ignore[attr-defined]  # a BeforeToolCall
        return Asked(ended=refused_call(found, CHANGED))
    pending, objection = _as_rewritten(found, fired, host)
    if objection:
        return Asked(ended=failed_call(pending, objection, 0.0))
    return Asked(pending=pending, fired=fired)


def _as_rewritten(pending: Pending, fired: Fired, host: Host) -> tuple[Pending, str]:
    """The call as hooks left it, and what is wrong with it then."""
    rewrites = [each for each in fired.resolution.applied if isinstance(each.effect, RewriteInput)]
    if not rewrites:
        return pending, ""
    changed = copy.deepcopy(fired.resolution.event.input)  # type: ignore[attr-defined]  # a BeforeToolCall
    cwd, objection = validated(pending.tool, changed, host)
    if objection:
        return replace(pending, input=changed), f"input rewritten by hook {rewrites[-1].hook}: {objection}"
    return replace(pending, input=changed, origin=replace(pending.origin, cwd=str(cwd))), ""


def done_call(pending: Pending, result: ToolResult, took: float) -> Ended:
    response = result.seen_by_hooks()
    event = AfterToolCall(
        call_id=pending.call.id, response=response, duration=took, text=result.text, **pending.event()
    )
    passed = Passed(status=CallStatus.DONE, text=result.text, response=response, input=pending.input)
    shell = _shell_event(pending, result.shell, took)
    return Ended(call=pending.call, origin=pending.origin, passed=passed, event=event, shell=shell, took=took)


def failed_call(pending: Pending, error: str, took: float, shell: ShellResult | None = None) -> Ended:
    event = ToolCallFailed(call_id=pending.call.id, error=error, duration=took, **pending.event())
    passed = Passed(status=CallStatus.FAILED, text=error, response=error, input=pending.input)
    ran = _shell_event(pending, shell, took)
    return Ended(call=pending.call, origin=pending.origin, passed=passed, event=event, shell=ran, took=took)


def _shell_event(pending: Pending, ended: ShellResult | None, took: float) -> AfterShell | None:
    """What there is to tell of the program that a call ran, if it ran one to its end."""
    if ended is None or pending.command is None:
        return None
    return AfterShell(
        call_id=pending.call.id,
        command=pending.command,
        exit_code=ended.exit_code,
        stdout=ended.stdout,
        stderr=ended.stderr,
        duration=took,
        **pending.event(),
    )


def invalid_call(call: ToolCall, origin: Origin, objection: str, tool: Tool | None = None) -> Ended:
    """A call that is not valid does not reach `before_tool_call`; that it failed is still told."""
    event = ToolCallFailed(
        tool_name=call.name,
        input=copy.deepcopy(call.input),
        call_id=call.id,
        aliases=() if tool is None else tool.aliases,
        provenance=None if tool is None else tool.spec.provenance,
        error=objection,
        origin=origin,
    )
    passed = Passed(status=CallStatus.FAILED, text=objection, response=objection, input=call.input)
    return Ended(call=call, origin=origin, passed=passed, event=event)


def refused_call(pending: Pending, text: str) -> Ended:
    passed = Passed(status=CallStatus.REFUSED, text=text, response=text, input=pending.input)
    return Ended(call=pending.call, origin=pending.origin, passed=passed)


def _blocked(ended: Ended, text: str) -> Ended:
    """A call of a tool that there is not, which a hook refused before anybody said so."""
    return replace(ended, passed=replace(ended.passed, status=CallStatus.REFUSED, text=text, response=text), event=None)


def withheld(ended: Ended, reason: str, fired: Fired | None = None) -> Ended:
    """The same end, of which the model is not told more than why."""
    text = WITHHELD.format(reason=reason)
    return replace(ended, passed=replace(ended.passed, text=text, response=text, fired=fired))


def recorded(ended: Ended, host: Host) -> Passed:
    """How the call ended, once the account and the conversation have it."""
    call, passed = ended.call, ended.passed
    host.recorder.record(
        CallEnded(
            origin=ended.origin,
            call_id=call.id,
            tool=call.name,
            status=passed.status,
            text=passed.text,
            duration=ended.took,
        )
    )
    if (ran := ended.shell) is not None:
        host.recorder.record(
            ShellEnded(
                origin=ended.origin,
                call_id=call.id,
                tool=call.name,
                command=ran.command,
                exit_code=ran.exit_code,
                stdout_bytes=len(ran.stdout.encode(errors="replace")),
                stderr_bytes=len(ran.stderr.encode(errors="replace")),
                duration=ran.duration,
            )
        )
    message = Message(role="tool", text=passed.text, call_id=call.id, is_error=passed.is_error)
    host.conversation.add(message, ended.origin)
    return passed


def with_feedback(text: str, fired: Fired) -> str:
    return "\n\n".join((text, *(said for _, said in fired.feedback)))

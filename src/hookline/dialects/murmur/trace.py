"""`trace.jsonl` (section 25): a rendering of the account, a line each."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hookline._core import records as rec
from hookline._core.capsule import Capsule
from hookline._core.decisions import Deny
from hookline._core.events import AfterModelCall, AfterToolCall, BeforeDispatch, ToolCallFailed
from hookline._core.events.session import Totals
from hookline._core.points import Origin
from hookline._core.resolution import Resolution
from hookline.dialects.murmur import ids
from hookline.dialects.murmur.build import DIALECT
from hookline.dialects.murmur.calls import input_of, output_of, shown
from hookline.dialects.murmur.faults import DRAIN, SEED_REJECTED, TIMEOUT, Fault, ended, fault_of, name_of
from hookline.dialects.murmur.inferences import decision_of
from hookline.dialects.murmur.rules import TASK_START, function_of
from hookline.dialects.murmur.wire import json_of, milliseconds, size_of

Fields = dict[str, Any]

A2A = "a2a"  # the source of a task that came as a message


class Stream:
    """Renders records, in their order, as JSON lines. *tools_declared* are the names in the tool inventory.

    What hooks asked of the model is told when the event is over that they asked at, and faults when the session is.
    """

    def __init__(self, capsule: Capsule, tools_declared: Sequence[str]) -> None:
        self._capsule = capsule
        self._tools = tuple(tools_declared)
        self._session: str | None = None  # the lines that later ones belong to, by their ids
        self._task: str | None = None
        self._turn: str | None = None
        self._asked: list[rec.HookAskedModel] = []
        self._faults: list[Fault] = []
        self._async: dict[str, str] = {}  # the names of async hooks by their ids
        self._renderers: Mapping[type[rec.Record], Callable[[Any], list[str]]] = {
            rec.SessionOpened: self._session_start,
            rec.RunStarted: self._task_start,
            rec.Dispatched: self._dispatched,
            rec.ShellEnded: self._shell,
            rec.CallForbidden: self._forbidden,
            rec.Compacted: self._compacted,
            rec.CompactionDeclined: self._declined,
            rec.ContextSeeded: self._seeded,
            rec.Reopened: self._reopened,
            rec.RunEnded: self._task_end,
            rec.HookAskedModel: self._hold,
            rec.SessionClosed: self._session_end,
        }

    def lines(self, record: rec.Record) -> list[str]:
        """The lines that *record* gives rise to, none for many."""
        self._faults.extend(
            fault for outcome, event in ended(record) if (fault := fault_of(outcome, event)) is not None
        )
        render = self._renderers.get(type(record))
        return [] if render is None else render(record)

    def _session_start(self, record: rec.SessionOpened) -> list[str]:
        capsule = self._capsule
        line, self._session = self._line(
            "session_start",
            record.origin,
            None,
            capsule_name=capsule.name,
            capsule_version=capsule.version,
            model=capsule.inference.model,
            max_turns=capsule.inference.max_turns,
            capabilities=capsule.capabilities,
            tools_declared=self._tools,
        )
        return [line]

    def _task_start(self, record: rec.RunStarted) -> list[str]:
        """A run without a source is none of the capsule's tasks: such as the empty one when nobody sent any."""
        if not record.source:
            return []
        origin = record.origin
        task = {"task_id": ids.task_id(origin.run_id), "context_id": ids.context_id(record.context_id)}
        received = [self._line("a2a_task_received", origin, self._session, **task)] if record.source == A2A else []
        size = record.input_bytes
        begun = self._line("task_start", origin, self._session, **task, source=record.source, message_parts_bytes=size)
        self._task, self._turn = begun[1], None
        return [line for line, _ in (*received, begun)]

    def _dispatched(self, record: rec.Dispatched) -> list[str]:
        resolution = record.resolution
        self._async.update((hook.id, name_of(hook)) for hook in resolution.launched if hook.dialect == DIALECT)
        asked = self._told_of_asked()
        match record.event:
            case AfterModelCall(status="success") as event:
                return [*asked, self._inference(event)]
            case AfterToolCall() | ToolCallFailed() as event:
                return [*asked, self._tool_call(event)]
            case BeforeDispatch() as event:
                return [*asked, *self._denied(event, resolution)]
            case _:
                return asked

    def _inference(self, event: AfterModelCall) -> str:
        line, self._turn = self._line(
            "inference",
            event.origin,
            self._task or self._session,
            turn=event.step,
            task_id=self._task_id(event.origin),
            input_tokens=event.usage.input_tokens,
            output_tokens=event.usage.output_tokens,
            decision=decision_of(event),
            tool_name=event.calls[0].name if event.calls else None,
        )
        return line

    def _tool_call(self, event: AfterToolCall | ToolCallFailed) -> str:
        output = output_of(event)
        return self._of_turn(
            "tool_call",
            event.origin,
            task_id=self._task_id(event.origin),
            tool_name=event.tool_name,
            tool_call_id=event.call_id,
            input=event.input,
            input_bytes=size_of(input_of(event)),
            **({"output": output} if self._capsule.capture else {}),
            output_bytes=size_of(output),
            duration_ms=milliseconds(event.duration),
            status="error" if isinstance(event, ToolCallFailed) else "ok",
            state_effect=None,
            resource_id=None,
        )

    def _denied(self, event: BeforeDispatch, resolution: Resolution) -> list[str]:
        """A refusal by a hook of this dialect; that of another is told in the words of that one."""
        by = next((each.hook for each in resolution.outcomes if each.hook.id == resolution.decided_by), None)
        if by is None or by.dialect != DIALECT or not isinstance(resolution.decision, Deny):
            return []
        target = event.tool_name if event.command is None else event.command.program
        told = {"event": function_of(event), "hook_name": name_of(by), "target": target}
        return [self._of_turn("call_denied", event.origin, **told, reason=resolution.decision.reason)]

    def _shell(self, record: rec.ShellEnded) -> list[str]:
        line = self._of_turn(
            "shell",
            record.origin,
            task_id=self._task_id(record.origin),
            binary=record.command.program,
            command=shown(record.command),
            exit_code=record.exit_code,
            stdout_bytes=record.stdout_bytes,
            stderr_bytes=record.stderr_bytes,
            duration_ms=milliseconds(record.duration),
            resource_limit=None,
        )
        return [line]

    def _forbidden(self, record: rec.CallForbidden) -> list[str]:
        told = {name: getattr(record, name) for name in ("target", "path", "rule", "signal", "reason")}
        return [self._of_turn("protected_path_denied", record.origin, call=record.tool, **told)]

    def _compacted(self, record: rec.Compacted) -> list[str]:
        told = {"task_id": self._task_id(record.origin), "tokens_before": record.before, "tokens_after": record.after}
        return [self._of_turn("compaction", record.origin, **told)]

    def _declined(self, record: rec.CompactionDeclined) -> list[str]:
        told = {"task_id": self._task_id(record.origin), "tokens": record.tokens, "reason": record.reason}
        return [self._of_turn("compaction_declined", record.origin, **told)]

    def _seeded(self, record: rec.ContextSeeded) -> list[str]:
        rejected = record.outcome == "rejected"
        if rejected:
            self._faults.append(Fault(record.hook, TASK_START, SEED_REJECTED))
        return self._of_task(
            "context_seed",
            record.origin,
            hook_name=record.hook,
            tokens=record.tokens,
            proposed_tokens=record.proposed,
            budget_tokens=record.budget,
            outcome=record.outcome,
            **({"reason": record.reason} if rejected else {}),
            message_ids=record.message_ids,
        )

    def _reopened(self, record: rec.Reopened) -> list[str]:
        self._turn = None  # what comes next belongs to an attempt that has none yet
        told = {"hook_name": record.hook, "reason": record.reason, "reopen_number": record.number}
        return self._of_task("task_reopened", record.origin, **told)

    def _task_end(self, record: rec.RunEnded) -> list[str]:
        asked, totals = self._told_of_asked(), record.totals
        if totals is None or self._task is None:
            return asked
        lines = self._of_task(
            "task_end",
            record.origin,
            exit_status=totals.status,
            duration_ms=milliseconds(totals.duration),
            turns=totals.steps,
            input_tokens=totals.input_tokens,
            output_tokens=totals.output_tokens,
            tool_calls=totals.tool_calls,
            shell_calls=totals.shell_calls,
            reopen_count=totals.reopened,
        )
        self._task = self._turn = None
        return [*asked, *lines]

    def _hold(self, record: rec.HookAskedModel) -> list[str]:
        self._asked.append(record)
        return []

    def _told_of_asked(self) -> list[str]:
        asked, self._asked = self._asked, []
        return [self._asked_by_hook(each) for each in asked]

    def _asked_by_hook(self, record: rec.HookAskedModel) -> str:
        return self._of_turn(
            "inference",
            record.origin,
            task_id=self._task_id(record.origin),
            input_tokens=record.input_tokens,
            output_tokens=record.output_tokens,
            decision=record.decision,
            tool_name=None,
            origin=f"hook:{record.hook}",
            model=record.model,
        )

    def _session_end(self, record: rec.SessionClosed) -> list[str]:
        asked = self._told_of_asked()
        cut_off = dict.fromkeys(self._async[each] for each in record.abandoned if each in self._async)
        faults = [*self._faults, *(Fault(name, DRAIN, TIMEOUT) for name in cut_off)]
        self._faults = []
        told = [
            self._line("hook_dispatch_error", record.origin, self._session, hook_name=f.hook, event=f.event, arm=f.arm)
            for f in faults
        ]
        totals = record.totals or Totals()
        last = self._line(
            "session_end",
            record.origin,
            self._session,
            total_turns=totals.steps,
            total_input_tokens=totals.input_tokens,
            total_output_tokens=totals.output_tokens,
            total_tool_calls=totals.tool_calls,
            total_shell_calls=totals.shell_calls,
            duration_ms=milliseconds(totals.duration),
            exit_status=totals.status,
        )
        return [*asked, *(line for line, _ in (*told, last))]

    def _of_turn(self, kind: str, about: Origin, /, **fields: Any) -> str:
        """A line of what happened in a step."""
        parent = self._turn or self._task or self._session
        return self._line(kind, about, parent, turn=about.step, **fields)[0]

    def _of_task(self, kind: str, origin: Origin, **fields: Any) -> list[str]:
        parent = self._task or self._session
        return [self._line(kind, origin, parent, task_id=self._task_id(origin), **fields)[0]]

    def _task_id(self, origin: Origin) -> str | None:
        return ids.task_id(origin.run_id) if self._task is not None else None

    def _line(self, kind: str, about: Origin, parent: str | None, /, **fields: Any) -> tuple[str, str]:
        """The line, and its id."""
        event_id = ids.new_event_id()
        common: Fields = {
            "event_type": kind,
            "event_id": event_id,
            "parent_id": parent,
            "session_id": ids.session_id(about.session_id),
            "timestamp": int(time.time() * 1000),
        }
        return json_of(common | fields), event_id

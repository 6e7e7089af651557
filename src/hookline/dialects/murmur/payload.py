"""What a hook is told: one record (section 4.4), or, in the shape that it was built for, one of `older.py`."""

from collections.abc import Callable, Mapping
from typing import Any

from hookline._core import events as ev
from hookline._core.commands import ResolvedCommand
from hookline._core.guests import GuestCall
from hookline._core.hooks import Hook
from hookline._core.messages import ToolSpec, blocks_of, wire_form
from hookline._core.payload import Payload, Refused
from hookline._core.points import Event
from hookline._core.reasons import Skip
from hookline.dialects.murmur import ids, older
from hookline.dialects.murmur.facts import Facts, facts_of
from hookline.dialects.murmur.interfaces import OLDER
from hookline.dialects.murmur.messages import outgoing
from hookline.dialects.murmur.rules import function_of, rule_of
from hookline.dialects.murmur.wire import (
    U32,
    cut,
    exact_json,
    is_text,
    json_of,
    milliseconds,
    signed,
    size_of,
    text_of,
    unsigned,
)

Record = dict[str, Any]

SHOWN = 200  # characters of a command that are displayed: nobody may decide on these
KEPT = 16 * 1024  # bytes of each stream of a command

NOT_SHOWN = "{what} cannot be handed to a policy hook as it is: it holds what is no text, or no JSON"


def encode(event: Event, hook: Hook) -> Payload | Refused:
    """The call that tells *hook* of *event*. What a policy hook cannot be shown to the letter is refused."""
    facts = facts_of(hook)
    if isinstance(event, ev.BeforeDispatch) and (what := _not_exact(event)):
        return Refused(Skip.UNSUPPORTED, NOT_SHOWN.format(what=what))
    function = function_of(event)
    argument: Mapping[str, Any] = RECORDS[rule_of(event).event](event, facts)
    if facts.interface == OLDER.name:
        if isinstance(event, ev.BeforeDispatch):
            return Refused(Skip.UNSUPPORTED, older.NO_DECISIONS.format(name=facts.full_name, function=function))
        argument = older.shaped(function, argument)
    return Payload(event, value=GuestCall(function=function, argument=argument))


def decision_of(event: ev.AfterModelCall) -> str:
    """What the model wants next, in Murmur's words."""
    if event.calls:
        return "tool_call"
    return "end_turn" if event.finish_reason in ("stop", "end_turn") else "text"


def shown(command: ResolvedCommand) -> str:
    """A command for display."""
    return text_of(command.text)[:SHOWN]


def input_of(event: ev.BeforeDispatch | ev.AfterToolCall | ev.ToolCallFailed) -> str:
    """The input of a call in JSON."""
    exact = exact_json(event.input)
    return json_of(event.input) if exact is None else exact


def _not_exact(event: ev.BeforeDispatch) -> str:
    """What of a call would not be shown as it is, if anything."""
    command = event.command
    if command is None:
        return "" if exact_json(event.input) is not None else "the input"
    said = (command.program, *command.arguments, command.script or "", command.recipe or "")
    return "" if all(map(is_text, said)) else "the command"


def _stage(event: ev.BeforeStage, facts: Facts) -> Record:
    return {"shell-allow": [text_of(each) for each in event.shell_allow]}


def _session(event: ev.SessionStart, facts: Facts) -> Record:
    capsule = facts.capsule
    return {
        "capsule-name": capsule.name,
        "capsule-version": capsule.version,
        "session-id": text_of(ids.session_id(event.origin.session_id)),
        "model": text_of(capsule.inference.model or event.origin.model),
        "capabilities": list(capsule.capabilities),
    }


def _task_start(event: ev.BeforeRun, facts: Facts) -> Record:
    return {
        "task-id": text_of(ids.task_id(event.origin.run_id)),
        "context-id": text_of(ids.context_id(event.context_id)),
        "source": event.source,
        "input-bytes": unsigned(event.input_bytes or size_of(event.prompt)),
        "budget-tokens": unsigned(event.seed_budget),
        "context-window": unsigned(event.window),
        "prior-tokens": unsigned(event.prior),
    }


def _task_end(event: ev.BeforeRunEnd, facts: Facts) -> Record:
    return {"task-id": text_of(ids.task_id(event.origin.run_id)), "exit-status": event.status}


def _inference(event: ev.AfterModelCall, facts: Facts) -> Record:
    return {
        "turn": unsigned(event.step, U32),
        "input-tokens": unsigned(event.usage.input_tokens),
        "output-tokens": unsigned(event.usage.output_tokens),
        "decision": decision_of(event),
        "tool-name": text_of(event.calls[0].name) if event.calls else None,
        "prompt": json_of([wire_form(each) for each in event.messages]),
        "output": json_of(blocks_of(event.output_text, event.calls)),
        "tools": json_of([_tool(each) for each in event.tools]),
    }


def _tool(spec: ToolSpec) -> Record:
    return {"name": spec.name, "description": spec.description, "input_schema": spec.parameters}


def _call(event: ev.BeforeDispatch | ev.AfterToolCall | ev.ToolCallFailed, outcome: Record | None) -> Record:
    given = input_of(event)
    return {
        "turn": unsigned(event.origin.step, U32),
        "tool-name": text_of(event.tool_name),
        "input-bytes": size_of(given),
        "input": given,
        "outcome": outcome,
    }


def _called(event: ev.AfterToolCall | ev.ToolCallFailed, facts: Facts) -> Record:
    failed = isinstance(event, ev.ToolCallFailed)
    outcome: Record = {
        "output-bytes": size_of(output_of(event)),
        "duration-ms": milliseconds(event.duration),
        "status": "error" if failed else "ok",
    }
    return _call(event, outcome)


def output_of(event: ev.AfterToolCall | ev.ToolCallFailed) -> str:
    """What the model reads of a call."""
    return event.error if isinstance(event, ev.ToolCallFailed) else event.text


def _command(command: ResolvedCommand, step: int, outcome: Record | None) -> Record:
    return {
        "turn": unsigned(step, U32),
        "binary": text_of(command.program),
        "command": shown(command),
        "argv": [text_of(each) for each in command.arguments],
        "script": None if command.script is None else text_of(command.script),
        "recipe": None if command.recipe is None else text_of(command.recipe),
        "outcome": outcome,
    }


def _ran(event: ev.AfterShell, facts: Facts) -> Record:
    stdout, stderr = cut(event.stdout, KEPT), cut(event.stderr, KEPT)
    outcome: Record = {
        "exit-code": signed(event.exit_code),
        "stdout": stdout,
        "stderr": stderr,
        "stdout-bytes": size_of(stdout),
        "stderr-bytes": size_of(stderr),
        "duration-ms": milliseconds(event.duration),
    }
    return _command(event.command, event.origin.step, outcome)


def _dispatch(event: ev.BeforeDispatch, facts: Facts) -> Record:
    if event.command is None:
        return _call(event, None)
    return _command(event.command, event.origin.step, None)


def _compaction(event: ev.BeforeCompaction, facts: Facts) -> Record:
    inference = facts.capsule.inference
    return {
        "messages": [outgoing(each) for each in event.messages if each.role],
        "session-tokens": unsigned(event.tokens),
        "threshold": float(event.ratio),
        "model": inference.compaction_model,
        "system-prompt": inference.compaction_prompt,
    }


def _session_end(event: ev.SessionEnd, facts: Facts) -> Record:
    totals = event.totals
    return {
        "total-turns": unsigned(totals.steps, U32),
        "total-input-tokens": unsigned(totals.input_tokens),
        "total-output-tokens": unsigned(totals.output_tokens),
        "total-tool-calls": unsigned(totals.tool_calls, U32),
        "total-shell-calls": unsigned(totals.shell_calls, U32),
        "duration-ms": milliseconds(totals.duration),
        "exit-status": totals.status,
    }


RECORDS: Mapping[type[Event], Callable[[Any, Facts], Record]] = {
    ev.BeforeStage: _stage,
    ev.SessionStart: _session,
    ev.BeforeRun: _task_start,
    ev.AfterModelCall: _inference,
    ev.BeforeDispatch: _dispatch,
    ev.AfterToolCall: _called,
    ev.ToolCallFailed: _called,
    ev.AfterShell: _ran,
    ev.BeforeCompaction: _compaction,
    ev.BeforeRunEnd: _task_end,
    ev.SessionEnd: _session_end,
}

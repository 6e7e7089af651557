"""The record that tells of each event, a row for each field of it (section 4.4)."""

from collections.abc import Mapping
from typing import Any

from hookline._core import events as ev
from hookline._core.points import Event
from hookline._core.strictjson import Path
from hookline.dialects._keys import Fields, Key, fields_in, into, key
from hookline.dialects._kinds import (
    ARRAY,
    COUNT,
    NUMBER,
    STRINGS,
    whole,
)
from hookline.dialects.murmur import ids
from hookline.dialects.murmur.calls import CALL, CALLED, COMMAND, RAN
from hookline.dialects.murmur.inferences import INFERENCE
from hookline.dialects.murmur.messages import all_incoming, outgoing
from hookline.dialects.murmur.rows import configured, row, several
from hookline.dialects.murmur.wire import (
    U32,
    U64,
    milliseconds,
    size_of,
    text_of,
    unsigned,
)

STAGE = (
    row("shell-allow", lambda event: [text_of(each) for each in event.shell_allow], STRINGS, several("shell_allow")),
)

SESSION = (
    configured("capsule-name", lambda facts: facts.capsule.name),
    configured("capsule-version", lambda facts: facts.capsule.version),
    row(
        "session-id",
        lambda event: text_of(ids.session_id(event.origin.session_id)),
        fields=into("session_id"),
        required=True,
    ),
    Key(
        name="model",
        value=lambda about: text_of(about.facts.capsule.inference.model or about.event.origin.model),
        fields=into("model"),
    ),
    configured("capabilities", lambda facts: list(facts.capsule.capabilities), STRINGS),
)

TASK = row("task-id", lambda event: text_of(ids.task_id(event.origin.run_id)), fields=into("run_id"), required=True)
TASK_START = (
    TASK,
    row("context-id", lambda event: text_of(ids.context_id(event.context_id)), fields=into("context_id")),
    row("source", lambda event: event.source, fields=into("source")),
    row("input-bytes", lambda event: unsigned(event.input_bytes or size_of(event.prompt)), COUNT, into("input_bytes")),
    row("budget-tokens", lambda event: unsigned(event.seed_budget), COUNT, into("seed_budget")),
    row("context-window", lambda event: unsigned(event.window), COUNT, into("window")),
    row("prior-tokens", lambda event: unsigned(event.prior), COUNT, into("prior")),
)
TASK_END = (TASK, row("exit-status", lambda event: event.status, fields=into("status")))


MESSAGE = (
    key("role", required=True),
    key("content", required=True),
    key("id"),
    key("source-id", "source_id"),
)


def _messages(records: list[Any], at: Path) -> Fields:
    for number, each in enumerate(records):
        fields_in(MESSAGE, each, (*at, number))
    return {"messages": all_incoming(records)}


COMPACTION = (
    row("messages", lambda event: [outgoing(each) for each in event.messages if each.role], ARRAY, _messages),
    row("session-tokens", lambda event: unsigned(event.tokens), COUNT, into("tokens")),
    row("threshold", lambda event: float(event.ratio), NUMBER, lambda value, _: {"ratio": float(value)}),
    configured("model", lambda facts: facts.capsule.inference.compaction_model),
    configured("system-prompt", lambda facts: facts.capsule.inference.compaction_prompt),
)


def _total(name: str, attribute: str, most: int = U64) -> Key:
    return row(
        f"total-{name}", lambda event: unsigned(getattr(event.totals, attribute), most), whole(0, most), into(attribute)
    )


SESSION_END = (
    _total("turns", "steps", U32),
    _total("input-tokens", "input_tokens"),
    _total("output-tokens", "output_tokens"),
    _total("tool-calls", "tool_calls", U32),
    _total("shell-calls", "shell_calls", U32),
    row(
        "duration-ms",
        lambda event: milliseconds(event.totals.duration),
        COUNT,
        lambda value, _: {"duration": value / 1000},
    ),
    row("exit-status", lambda event: event.totals.status, fields=into("status")),
)

RECORDS: Mapping[type[Event], tuple[Key, ...]] = {
    ev.BeforeStage: STAGE,
    ev.SessionStart: SESSION,
    ev.BeforeRun: TASK_START,
    ev.AfterModelCall: INFERENCE,
    ev.BeforeDispatch: CALL,  # of one that starts a program, COMMAND
    ev.AfterToolCall: CALLED,
    ev.ToolCallFailed: CALLED,
    ev.AfterShell: RAN,
    ev.BeforeCompaction: COMPACTION,
    ev.BeforeRunEnd: TASK_END,
    ev.SessionEnd: SESSION_END,
}


def rows_of(event: Event) -> tuple[Key, ...]:
    """The rows of the record that tells of *event*."""
    if isinstance(event, ev.BeforeDispatch) and event.command is not None:
        return COMMAND
    return RECORDS[event.point.event]

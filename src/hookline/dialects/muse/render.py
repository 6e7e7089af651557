"""The `--json` stream of `exec`, and what `exec` says on standard error: renderings of the account (section 18)."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from hookline._core import strictjson
from hookline._core.points import Origin
from hookline._core.records import (
    CallEnded,
    CallStarted,
    CallStatus,
    ContextAdded,
    Dispatched,
    HookEnded,
    HookStarted,
    MessageAdded,
    Noted,
    Record,
    ReopenRefused,
    RunEnded,
    RunStarted,
    SessionClosed,
)
from hookline.dialects.muse.rules import RULES
from hookline.dialects.muse.runs import Body, HookRuns
from hookline.dialects.muse.terminal import some_lines

CAP_REACHED = "Stop hook continuation limit reached; ignoring the continuation and completing normally."

OF_THE_SESSION = frozenset({"command_accepted", "session_run_linked"})  # they stand before the run's own stream
PAYLOAD_TYPES = {"run_terminal": "run.terminal.completed"}  # however the run ended; else the kind, with dots
FIRST_CONTEXT = 900_000  # the order of context block 0: after everything that is not a hook's

CALL_STATES = {CallStatus.DONE: "completed", CallStatus.FAILED: "failed", CallStatus.REFUSED: "refused"}

# What a context block belongs to, by the event that gave it; `tool` where it came with a call.
SCOPES = {
    "session_start": "session",
    "subagent_start": "session",
    "user_prompt_submit": "prompt",
    "pre_llm_call": "model",
    "post_llm_call": "model",
}
_SNAKE = {rule.event.point.name: rule.snake for rule in RULES}


class Stream:
    """Renders the records of one command, in their order, as JSON lines.

    Of a hook's run the start is rendered from `HookStarted` and the end from `Dispatched`; see `HookRuns`. *now* is
    the time in nanoseconds since 1970.
    """

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        self._now = now
        self._sequences: Counter[tuple[str, str]] = Counter()
        self._runs = HookRuns()
        self._calls: set[tuple[str, str]] = set()  # tool calls that have started and not ended

    def lines(self, record: Record) -> list[str]:
        """The lines that *record* gives rise to, none for most."""
        return [self._line(body, record.origin) for body in self._bodies(record)]

    def _line(self, body: Body, origin: Origin) -> str:
        kind = body["kind"]
        in_run = bool(origin.run_id) and kind not in OF_THE_SESSION
        stream = ("run", origin.run_id) if in_run else ("session", origin.session_id)
        self._sequences[stream] += 1
        sequence = self._sequences[stream]
        envelope = {
            "schema_version": 1,
            "id": f"{stream[1]}:{sequence}",
            "stream": {"kind": stream[0], "id": stream[1]},
            "sequence": sequence,
            "recorded_at": self._now() // 1000,
            "record_type": "event",
            "durability": "durable",
            "causation_id": _command_id(origin) if origin.run_id else None,
            "payload_type": PAYLOAD_TYPES.get(kind, kind.replace("_", ".")),
            "payload_schema_version": 1,
            "payload": body,
        }
        return strictjson.encode(envelope, spaced=True).decode()

    def _bodies(self, record: Record) -> list[Body]:
        match record:
            case HookStarted():
                return self._runs.started(record)
            case HookEnded():
                self._runs.ended(record)
                return []
            case Dispatched():
                return self._runs.folded(record)
            case CallStarted():
                self._calls.add((record.origin.session_id, record.call_id))
                return [_task(record, "started", input=record.input)]
            case CallEnded():
                return self._call_ended(record)
            case RunEnded():
                return [*self._runs.cut_off(record.origin), _run_terminal(record)]
            case SessionClosed():
                return self._runs.cut_off(record.origin)
            case _:
                return _told(record)

    def _call_ended(self, record: CallEnded) -> list[Body]:
        """The end of a task, if it ever was one, and what the model was told."""
        state = CALL_STATES[record.status]
        result = {
            "kind": "tool_result",
            "tool_use_id": record.call_id,
            "tool_name": record.tool,
            "status": state,
            "text": record.text,
        }
        call = (record.origin.session_id, record.call_id)
        if call not in self._calls:
            return [result]
        self._calls.remove(call)
        return [_task(record, state, duration_ms=round(record.duration * 1000)), result]


def notices(record: Record, program: str) -> list[str]:
    """The lines that *record* puts on standard error where the stream is not asked for."""
    match record:
        case Noted():
            said = some_lines(record.text)
        case ReopenRefused():
            said = CAP_REACHED
        case _:
            return []
    return [f"{program}: {line}" for line in said.split("\n")]


def _told(record: Record) -> list[Body]:
    """The bodies that need nothing but their record."""
    match record:
        case RunStarted():
            return _run_started(record)
        case MessageAdded() if record.message.role == "assistant" and record.message.text:
            return [{"kind": "run_output_delta", "text": record.message.text}]
        case ContextAdded():
            return [_context_block(record)]
        case ReopenRefused():
            snake = _SNAKE.get(record.point, record.point)
            return [
                {
                    "kind": "context_block_diagnostic",
                    "id": f"hook:{snake}:continuation-cap",
                    "reason": "stop_hook_continuation_cap_reached",
                    "text": CAP_REACHED,
                }
            ]
        case _:
            return []


def _run_started(record: RunStarted) -> list[Body]:
    origin = record.origin
    return [
        {"kind": "command_accepted", "command_id": _command_id(origin)},
        {"kind": "session_run_linked", "session_id": origin.session_id, "run_id": origin.run_id},
        {"kind": "run_started", "run_id": origin.run_id},
        {"kind": "turn_input_user", "text": record.prompt},
    ]


def _run_terminal(record: RunEnded) -> Body:
    """Exactly these members in this order: the source document shows this body as the whole terminal record."""
    return {
        "kind": "run_terminal",
        "terminal": record.ending.value,
        "text": record.text,
        "reason": record.reason,
    }


def _task(record: CallStarted | CallEnded, state: str, **more: Any) -> Body:
    return {"kind": "task_lifecycle", "task_id": record.call_id, "tool_name": record.tool, "state": state, **more}


def _context_block(record: ContextAdded) -> Body:
    snake = _SNAKE.get(record.point, record.point)
    return {
        "kind": "context_block_updated",
        "id": f"hook:{snake}:{SCOPES.get(snake, 'tool')}:{record.number}",
        "role": "developer",
        "source": "runtime_hook",
        "lifecycle": snake,
        "order": FIRST_CONTEXT + record.number,
        "text": record.text,
        "reason": f"hook:{snake}",
    }


def _command_id(origin: Origin) -> str:
    """The command that a run obeys; one begins each run."""
    return f"{origin.run_id}:command"

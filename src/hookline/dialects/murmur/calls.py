"""The records of calls, of a tool and of a command: before they run, when they have no outcome, and after."""

from typing import Any

from hookline._core import events as ev
from hookline._core.commands import ResolvedCommand
from hookline.dialects._keys import Key, constant, inner, into
from hookline.dialects._kinds import ANYTHING, COUNT, OBJECT, STRING, STRINGS, one_of, or_null, whole
from hookline.dialects.murmur.rows import U32_COUNT, json_in, row, several
from hookline.dialects.murmur.wire import (
    S32,
    U32,
    cut,
    exact_json,
    json_of,
    milliseconds,
    signed,
    size_of,
    text_of,
    unsigned,
)

SHOWN = 200  # characters of a command that are displayed: nobody may decide on these
KEPT = 16 * 1024  # bytes of each stream of a command


def shown(command: ResolvedCommand) -> str:
    """A command for display."""
    return text_of(command.text)[:SHOWN]


def input_of(event: ev.BeforeDispatch | ev.AfterToolCall | ev.ToolCallFailed) -> str:
    """The input of a call in JSON."""
    exact = exact_json(event.input)
    return json_of(event.input) if exact is None else exact


def output_of(event: ev.AfterToolCall | ev.ToolCallFailed) -> str:
    """What the model reads of a call."""
    return event.error if isinstance(event, ev.ToolCallFailed) else event.text


STEP = row("turn", lambda event: unsigned(event.origin.step, U32), U32_COUNT, into("turn"))


def _call(outcome: Key) -> tuple[Key, ...]:
    return (
        STEP,
        row("tool-name", lambda event: text_of(event.tool_name), fields=into("tool_name"), required=True),
        row("input-bytes", lambda event: size_of(input_of(event)), COUNT),
        row("input", input_of, fields=lambda value, at: {"input": json_in(value, ANYTHING, at)}, required=True),
        outcome,
    )


NOT_YET = constant("outcome", None, or_null(OBJECT), required=True)
DURATION = row(
    "duration-ms", lambda event: milliseconds(event.duration), COUNT, lambda value, _: {"duration": value / 1000}
)
STATUSES = {ev.AfterToolCall: "ok", ev.ToolCallFailed: "error"}

CALL_OUTCOME = (
    row("output-bytes", lambda event: size_of(output_of(event)), COUNT),
    DURATION,
    row("status", lambda event: STATUSES[type(event)], one_of(STATUSES.values()), required=True),
)
CALL = _call(NOT_YET)
CALLED = _call(inner("outcome", CALL_OUTCOME, dict, required=True))


def _command(outcome: Key) -> tuple[Key, ...]:
    def maybe(name: str) -> Key:
        def value(event: Any) -> str | None:
            text = getattr(event.command, name)
            return None if text is None else text_of(text)

        return row(name, value, or_null(STRING), into(name))

    return (
        STEP,
        row("binary", lambda event: text_of(event.command.program), fields=into("program"), required=True),
        row("command", lambda event: shown(event.command), fields=into("text")),
        row("argv", lambda event: [text_of(each) for each in event.command.arguments], STRINGS, several("arguments")),
        maybe("script"),
        maybe("recipe"),
        outcome,
    )


def _stream(name: str) -> tuple[Key, Key]:
    """What a command wrote there, as much of it as is told; and the bytes of that."""

    def kept(event: ev.AfterShell) -> str:
        return cut(getattr(event, name), KEPT)

    return row(name, kept, fields=into(name)), row(f"{name}-bytes", lambda event: size_of(kept(event)), COUNT)


(STDOUT, STDOUT_BYTES), (STDERR, STDERR_BYTES) = _stream("stdout"), _stream("stderr")
SHELL_OUTCOME = (
    row("exit-code", lambda event: signed(event.exit_code), whole(-S32 - 1, S32), into("exit_code"), required=True),
    STDOUT,
    STDERR,
    STDOUT_BYTES,
    STDERR_BYTES,
    DURATION,
)
COMMAND = _command(NOT_YET)
RAN = _command(inner("outcome", SHELL_OUTCOME, dict, required=True))

"""The records that functions take and answers are made of, with the types that the interface has them in (section 4).

Each is what `murmur.wit` says of it, which guests are built with. Here each field also has its meaning as a sentence.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from hookline.dialects.murmur.rules import (
    ARTIFACT,
    COMPACTION,
    DENY,
    INFERENCE,
    SESSION_END,
    SESSION_START,
    SHELL,
    STAGE,
    TASK_END,
    TASK_START,
    TOOL_CALL,
)


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its type as the interface spells it, what it means, and for a closed word its values."""

    name: str
    type: str
    said: str
    words: tuple[str, ...] = ()


TURN = Field("turn", "u32", "Which model call it is, from 0.")
TASK_ID = Field("task-id", "string", "The task's id.")
DURATION = Field("duration-ms", "u64", "How long it took, in milliseconds.")

RECORDS: Mapping[str, tuple[Field, ...]] = {
    "message": (
        Field("role", "string", "Who speaks: `user`, `assistant`, `developer` or `tool`."),
        Field("content", "string", "JSON text: the content blocks, or the envelope of a tool's result."),
        Field("id", "option<string>", "The host's id of it."),
        Field("source-id", "option<string>", "Of a copy, the message that it was copied from."),
    ),
    "tool-manifest": (
        Field("binary-name", "string", "The program of the shell."),
        Field("content", "string", "The `murmur.yaml` to be written for it."),
    ),
    "stage-event": (Field("shell-allow", "list<string>", "The programs that the capsule may run."),),
    "session-context": (
        Field("capsule-name", "string", "The capsule's name."),
        Field("capsule-version", "string", "The capsule's version."),
        Field("session-id", "string", "The session's id."),
        Field("model", "string", "The capsule's model."),
        Field("capabilities", "list<string>", "Of `network`, `filesystem` and `shell` those that it has a grant in."),
    ),
    "inference-event": (
        TURN,
        Field("input-tokens", "u64", "Tokens of the request."),
        Field("output-tokens", "u64", "Tokens of the response."),
        Field("decision", "string", "What the model wants next.", ("tool_call", "end_turn", "text")),
        Field("tool-name", "option<string>", "The first tool that was asked for."),
        Field("prompt", "option<string>", "JSON text: the messages of the request."),
        Field("output", "option<string>", "JSON text: the blocks of the response."),
        Field("tools", "option<string>", "JSON text: the tools of the request."),
    ),
    "tool-outcome": (
        Field("output-bytes", "u64", "How long what the model reads of it is, in bytes."),
        DURATION,
        Field("status", "string", "How it ended.", ("ok", "error")),
    ),
    "tool-event": (
        TURN,
        Field("tool-name", "string", "The tool's name."),
        Field("input-bytes", "u64", "How long the input is, in bytes."),
        Field("input", "string", "JSON text: the exact input, never cut."),
        Field("outcome", "option<tool-outcome>", "What came of it."),
    ),
    "shell-outcome": (
        Field("exit-code", "s32", "The exit status; 128 and its number for a signal, -1 where there is none."),
        Field("stdout", "string", "Standard output, as far as the host keeps it."),
        Field("stderr", "string", "Standard error, as far as the host keeps it."),
        Field("stdout-bytes", "u64", "How long that standard output is, in bytes."),
        Field("stderr-bytes", "u64", "How long that standard error is, in bytes."),
        DURATION,
    ),
    "shell-event": (
        TURN,
        Field("binary", "string", "The program's path where its name is found on `PATH`, else the name."),
        Field("command", "string", "The command for display, cut at 200 characters; nobody may decide on it."),
        Field("argv", "list<string>", "The arguments, without the program."),
        Field("script", "option<string>", "What an interpreter is given to run."),
        Field("recipe", "option<string>", "What the build recipe that is named will run."),
        Field("outcome", "option<shell-outcome>", "What came of it."),
    ),
    "compaction-event": (
        Field("messages", "list<message>", "The conversation that is to be shortened."),
        Field("session-tokens", "u64", "How many tokens it takes."),
        Field("threshold", "f64", "The measured share of the window that is in use."),
        Field("model", "option<string>", "The model that the capsule names for this."),
        Field("system-prompt", "option<string>", "The system prompt that the capsule has for this."),
    ),
    "task-start-event": (
        TASK_ID,
        Field("context-id", "string", "The conversation that the task belongs to."),
        Field("source", "string", "Where the task came from."),
        Field("input-bytes", "u64", "How long the task is, in bytes."),
        Field("budget-tokens", "u64", "How many tokens may be seeded; 0 for none."),
        Field("context-window", "u64", "How many tokens the model takes; 0 where that is not known."),
        Field("prior-tokens", "u64", "Tokens of the history that the task loads anyway."),
    ),
    "task-end-event": (
        TASK_ID,
        Field("exit-status", "string", "How this attempt ended.", ("ok", "failed", "max_turns_reached")),
    ),
    "session-end-event": (
        Field("total-turns", "u32", "How many model calls there were."),
        Field("total-input-tokens", "u64", "Tokens of all requests."),
        Field("total-output-tokens", "u64", "Tokens of all responses."),
        Field("total-tool-calls", "u32", "How many tool calls ran."),
        Field("total-shell-calls", "u32", "How many commands ran."),
        DURATION,
        Field("exit-status", "string", "How the session ended.", ("ok", "failed")),
    ),
}

# The record that each function is called with.
ARGUMENTS: Mapping[str, str] = {
    STAGE: "stage-event",
    SESSION_START: "session-context",
    TASK_START: "task-start-event",
    INFERENCE: "inference-event",
    TOOL_CALL: "tool-event",
    SHELL: "shell-event",
    COMPACTION: "compaction-event",
    TASK_END: "task-end-event",
    SESSION_END: "session-end-event",
}

# What each arm carries; `none` carries nothing.
CARRIED: tuple[Field, ...] = (
    Field("replace-context", "list<message>", "What the conversation becomes."),
    Field("write-manifests", "list<tool-manifest>", "The manifests to be written."),
    Field(ARTIFACT, "string", "JSON text: an object, kept with the session."),
    Field("reopen-task", "string", "The feedback with which the task runs again."),
    Field("seed-context", "list<message>", "What stands before the task, the oldest first."),
    Field(DENY, "string", "Why the call does not run, which is not blank."),
)

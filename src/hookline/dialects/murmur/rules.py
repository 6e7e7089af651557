"""Murmur's lifecycle functions, a row for each event that is told through one. Everything here reads this table.

Section numbers in this folder are those of docs/dialects/murmur.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookline._core import events as ev
from hookline._core.answer import Word
from hookline._core.decisions import Deny
from hookline._core.effects import EmitArtifact, Reopen, ReplaceContext, SeedContext, WriteManifests
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline._core.rules import FailurePolicy, Rule

NONE, DENY, ARTIFACT = "none", "deny", "artifact"

# The arms of `hook-output`, and what each asks for. But for `artifact` they are also the commit policies.
ARMS: Mapping[str, Word | None] = {
    NONE: None,
    "replace-context": ReplaceContext,
    "write-manifests": WriteManifests,
    ARTIFACT: EmitArtifact,
    "reopen-task": Reopen,
    "seed-context": SeedContext,
    DENY: Deny,
}

STAGE, SESSION_START, SESSION_END = "on-stage", "on-session-start", "on-session-end"
TASK_START, TASK_END = "on-task-start", "on-task-end"
INFERENCE, COMPACTION = "on-inference", "on-compaction"
TOOL_CALL, SHELL = "on-tool-call", "on-shell"

REFUSAL = (
    "Refused by policy hook '{hook}': {reason}\n\nThis call did not run. Retrying it unchanged will be refused again."
)

BEGINNINGS = frozenset({"startup", "resume", "fork"})  # a conversation that was cleared or shortened begins no launch


@dataclass(frozen=True, slots=True, kw_only=True)
class MurmurRule(Rule):
    """One event of ours. `function` is the one that tells of it; `arm` the one that it honors, empty for none.

    `optional`: a hook that does not have the function is not called, and nothing is said.
    """

    function: str
    arm: str = ""
    optional: bool = False


def _row(function: str, event: type[Event], arm: str = "", **more: Any) -> MurmurRule:
    word = ARMS[arm or NONE]
    usual: dict[str, Any] = {
        "name": function,
        "admits": frozenset() if word is None else frozenset({word}),
        "has_subject": event.point.subject is not None,
    }
    return MurmurRule(function=function, event=event, arm=arm, **(usual | more))


def _came_back(event: ev.AfterModelCall) -> bool:
    """A request that failed is no inference."""
    return event.status == "success"


RULES: tuple[MurmurRule, ...] = (
    _row(STAGE, ev.BeforeStage, "write-manifests"),
    _row(SESSION_START, ev.SessionStart, occurs=lambda event: event.source in BEGINNINGS),
    _row(TASK_START, ev.BeforeRun, "seed-context", optional=True),
    _row(INFERENCE, ev.AfterModelCall, ARTIFACT, occurs=_came_back),
    # The decision point: `on-shell` where the call is a command, see function_of. A gate that breaks stays shut.
    _row(
        TOOL_CALL,
        ev.BeforeDispatch,
        DENY,
        name="decision point",
        also_named=(TOOL_CALL, SHELL),
        on_failure=FailurePolicy.DENY,
        refusal=REFUSAL,
        no_answer="{why}",
    ),
    _row(TOOL_CALL, ev.AfterToolCall),
    _row(TOOL_CALL, ev.ToolCallFailed),
    _row(SHELL, ev.AfterShell),
    # An error ends the task as failed; an arm that is not honored is nothing but a fault (section 20).
    _row(
        COMPACTION,
        ev.BeforeCompaction,
        "replace-context",
        on_failure=FailurePolicy.FAIL_RUN,
        forgives=frozenset({Failure.NOT_ADMITTED}),
    ),
    _row(TASK_END, ev.BeforeRunEnd, "reopen-task", optional=True),
    _row(SESSION_END, ev.SessionEnd),
)

BY_EVENT: dict[type[Event], MurmurRule] = {rule.event: rule for rule in RULES}


def rule_of(event: Event) -> MurmurRule:
    return BY_EVENT[event.point.event]


def function_of(event: Event) -> str:
    """The function that tells of *event*."""
    if isinstance(event, ev.BeforeDispatch) and event.command is not None:
        return SHELL
    return rule_of(event).function


def _events_of(function: str) -> tuple[type[Event], ...]:
    return tuple(rule.event for rule in RULES if rule.function == function and rule.event is not ev.BeforeDispatch)


# The events of each binding, the decision point apart; and those of a hook that names none.
EVENTS_OF: Mapping[str, tuple[type[Event], ...]] = {rule.function: _events_of(rule.function) for rule in RULES}
SESSION_EVENTS = tuple(event for function, events in EVENTS_OF.items() if function != STAGE for event in events)


@dataclass(frozen=True, slots=True)
class Gated:
    """Which calls a policy hook is asked about: a command is no tool call to it, nor the other way."""

    commands: bool

    def __str__(self) -> str:
        return "the call is a command" if self.commands else "the call is no command"

    def __call__(self, event: Event) -> bool:
        return not isinstance(event, ev.BeforeDispatch) or (event.command is not None) is self.commands


GATED: Mapping[str, Gated] = {TOOL_CALL: Gated(commands=False), SHELL: Gated(commands=True)}  # by binding

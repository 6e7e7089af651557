"""The 14 Meerkat points, a row each. Loader, envelopes, answers, events, workbench and documentation read it.

Section numbers in this folder are those of docs/dialects/meerkat.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookline._core import events as ev
from hookline._core.answer import Word
from hookline._core.decisions import Allow, Deny
from hookline._core.effects import Notify
from hookline._core.points import Event
from hookline._core.rules import FailurePolicy, Rule, Strategy
from hookline.dialects._keys import Key
from hookline.dialects._kinds import OBJECT
from hookline.dialects.meerkat import observations
from hookline.dialects.meerkat.faults import error_report, failure_in
from hookline.dialects.meerkat.members import (
    LLM_REQUEST,
    LLM_RESPONSE,
    PROMPT_INPUT,
    TOOL_CALL,
    TOOL_FAILURE,
    TOOL_RESULT,
    TURN,
    TURN_OF_CALL,
    TURNS,
    observation,
)
from hookline.dialects.meerkat.words import POST_COMMIT, HookPoint


@dataclass(frozen=True, slots=True, kw_only=True)
class MeerkatRule(Rule):
    """One Meerkat point. `members` are those of its envelope behind `point` and `session_id`, in their order.

    `fires` says when, for people.
    """

    point: HookPoint
    members: tuple[Key, ...]
    fires: str

    @property
    def settled(self) -> bool:
        """Whether the point reports what cannot be refused any more."""
        return self.point in POST_COMMIT


def _report(event: ev.RunFailed) -> dict[str, Any]:
    if event.fault is None:  # made by somebody who knows of a failed model call only
        return {"class": "llm", "message": event.details or event.category}
    return error_report(event.fault, point_of)


REPORT = (
    Key(
        name="error_report",
        value=_report,
        kind=OBJECT,
        fields=lambda value, at: failure_in(value, at, canonical_of),
        required=True,
    ),
    Key(name="error_class", value=lambda event: _report(event)["class"]),
)

NOTHING_TO_APPROVE = {Allow: ""}  # an allow objects to nothing, and there is nothing more that it could do
UNCHANGED = "the committed fact is unchanged"


def _in_the_loop(point: HookPoint, event: type[Event], *members: Key, fires: str, **more: Any) -> MeerkatRule:
    """A row for a point of the agent loop: a hook that fails ends the run as failed, and so does one that denies."""
    usual: dict[str, Any] = {
        "admits": frozenset[Word]({Deny, Notify}),
        "on_failure": FailurePolicy.FAIL_RUN,
        "discards": NOTHING_TO_APPROVE,
        "deny_fails": True,
    }
    return _row(point, event, members, fires, usual | more)


def _settled(point: HookPoint, event: type[Event], keys: tuple[Key, ...], *, fires: str) -> MeerkatRule:
    """A row for a point that reports a fact."""
    settled = {"strategy": Strategy.SEQUENCE, "discards": {Allow: "", Deny: UNCHANGED}}
    return _row(point, event, (observation(point.value, keys),), fires, settled)


def _row(
    point: HookPoint, event: type[Event], members: tuple[Key, ...], fires: str, more: Mapping[str, Any]
) -> MeerkatRule:
    subject = event.point.subject is not None
    return MeerkatRule(
        name=point.value, point=point, event=event, members=members, fires=fires, has_subject=subject, **more
    )


# What is refused is one call, and the run goes on; but all calls of a step are asked about before the first is run.
OF_ONE_CALL = {"deny_fails": False, "whole_batch": True, "objects_only": True}

RULES: tuple[MeerkatRule, ...] = (
    _in_the_loop(
        HookPoint.RUN_STARTED,
        ev.BeforeRun,
        PROMPT_INPUT,
        fires="once a run, before its input joins the transcript",
    ),
    _in_the_loop(
        HookPoint.PRE_LLM_REQUEST,
        ev.BeforeModelCall,
        TURN_OF_CALL,
        LLM_REQUEST,
        fires="before each model call",
    ),
    _in_the_loop(
        HookPoint.POST_LLM_RESPONSE,
        ev.AfterModelCall,
        TURN_OF_CALL,
        LLM_RESPONSE,
        fires="after each model call, before anything of it joins the transcript",
    ),
    _in_the_loop(
        HookPoint.PRE_TOOL_EXECUTION,
        ev.BeforeToolCall,
        TURN,
        TOOL_CALL,
        fires="once a requested call, all of a batch before the first of them runs",
        **OF_ONE_CALL,
    ),
    *(
        _in_the_loop(
            HookPoint.POST_TOOL_EXECUTION,
            event,
            TURN,
            result,
            fires="once a finished call, in the order of the calls, before its result joins the transcript",
            **OF_ONE_CALL,
        )
        for event, result in ((ev.AfterToolCall, TOOL_RESULT), (ev.ToolCallFailed, TOOL_FAILURE))
    ),
    _in_the_loop(
        HookPoint.TURN_BOUNDARY,
        ev.StepEnd,
        TURN,
        fires="after each batch of calls, and after the final answer",
    ),
    _in_the_loop(
        HookPoint.RUN_COMPLETED,
        ev.RunCompleted,
        TURNS,
        fires="once a run that has its answer, before that is published",
    ),
    _in_the_loop(
        HookPoint.RUN_FAILED,
        ev.RunFailed,
        *REPORT,
        fires="once a run that failed or was cut off",
        admits=frozenset[Word]({Notify}),
        on_failure=FailurePolicy.IGNORE,
        discards={Allow: "", Deny: "the run has failed already"},
    ),
    _settled(
        HookPoint.RUNTIME_INPUT_ACCEPTED,
        ev.InputAccepted,
        observations.ACCEPTED,
        fires="after the admission of an input was committed",
    ),
    _settled(
        HookPoint.RUNTIME_INPUT_REJECTED,
        ev.InputRejected,
        observations.REJECTED,
        fires="after an input was refused for good",
    ),
    _settled(
        HookPoint.RUNTIME_INPUT_DEDUPLICATED,
        ev.InputDeduplicated,
        observations.DEDUPLICATED,
        fires="when an input turned out to be one that was admitted before",
    ),
    _settled(
        HookPoint.PEER_INGRESS_COMMITTED,
        ev.PeerReceived,
        observations.RECEIVED,
        fires="after the input of a peer was committed",
    ),
    _settled(
        HookPoint.PEER_EGRESS_COMMITTED,
        ev.PeerSent,
        observations.SENT,
        fires="after a message to a peer was sent, as far as its transport proves",
    ),
    _settled(
        HookPoint.INTERACTION_COMPLETED,
        ev.InteractionCompleted,
        observations.COMPLETED,
        fires="after the result of an interaction was published durably",
    ),
)

BY_EVENT: dict[type[Event], MeerkatRule] = {rule.event: rule for rule in RULES}

EVENTS_OF: dict[HookPoint, tuple[type[Event], ...]] = {
    point: tuple(rule.event for rule in RULES if rule.point is point) for point in HookPoint
}

_BY_NAME = {rule.event.point.name: rule.point for rule in RULES}


def point_of(canonical: str) -> HookPoint | None:
    """The point that the canonical one of this name is, if it is one."""
    return _BY_NAME.get(canonical)


def canonical_of(point: str) -> str:
    """The name of the canonical point that is told of by this one; the word itself where it is none of ours."""
    return next((rule.event.point.name for rule in RULES if rule.name == point), point)

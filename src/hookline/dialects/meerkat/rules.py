"""The 14 Meerkat points, a row each. Loader, envelopes, answers, events, workbench and documentation read it.

Section numbers in this folder are those of docs/dialects/meerkat.md.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hookline._core import events as ev
from hookline._core.answer import Word
from hookline._core.decisions import Allow, Deny
from hookline._core.effects import Notify
from hookline._core.inputs import InputKind, RejectionReason
from hookline._core.messages import Provenance
from hookline._core.peers import Proof
from hookline._core.points import Event
from hookline._core.rules import FailurePolicy, Rule, Strategy
from hookline.dialects.meerkat.content import blocks_of
from hookline.dialects.meerkat.faults import error_report
from hookline.dialects.meerkat.words import POST_COMMIT, HookPoint


@dataclass(frozen=True, slots=True)
class Key:
    """One member of an envelope: its name, and where its value comes from. A value that is None is left out."""

    name: str
    value: Callable[[Any], Any]


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


def _left_out_if_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value is not None}


def _provenance(provenance: Provenance | None) -> dict[str, str] | None:
    return None if provenance is None else {"kind": provenance.kind, "source_id": provenance.source}


def _prompt_input(event: ev.BeforeRun) -> dict[str, Any]:
    return {"kind": "pending_tool_results"} if event.resumes else {"kind": "content", "content": event.prompt}


def _llm_request(event: ev.BeforeModelCall) -> dict[str, Any]:
    return _left_out_if_empty(
        {
            "max_tokens": event.max_tokens,
            "temperature": event.options.get("temperature"),
            "provider_params": event.options.get("provider_params") or None,
            "message_count": len(event.messages),
        }
    )


STOP_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "content_filter",
}  # those of the models that come with hookline; a provider's own words go as they are, if Meerkat has them
KNOWN_STOPS = frozenset({*STOP_REASONS.values(), "stop_sequence", "cancelled"})

SERVER_TOOLS = frozenset({"web_search", "google_search"})


def _stop_reason(finish: str | None) -> str | None:
    word = STOP_REASONS.get(finish or "", finish)
    return word if word in KNOWN_STOPS else None


def _server_tool(name: str) -> dict[str, str]:
    return {"kind": name} if name in SERVER_TOOLS else {"kind": "provider_native", "name": name}


def _llm_response(event: ev.AfterModelCall) -> dict[str, Any]:
    usage = event.usage
    counted = usage.input_tokens or usage.output_tokens
    return _left_out_if_empty(
        {
            "assistant_text": event.output_text,
            "tool_call_names": [call.name for call in event.calls],
            "stop_reason": _stop_reason(event.finish_reason),
            "usage": {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cache_creation_tokens": None,
                "cache_read_tokens": usage.cached_tokens or None,
            }
            if counted
            else None,
            "server_tool_content": [_server_tool(name) for name in event.server_tools] or None,
        }
    )


def _tool_call(event: ev.BeforeToolCall) -> dict[str, Any]:
    return _left_out_if_empty(
        {
            "tool_use_id": event.call_id,
            "name": event.tool_name,
            "args": event.input if isinstance(event.input, dict) else {},
            "provenance": _provenance(event.provenance),
        }
    )


def _tool_result(event: ev.AfterToolCall | ev.ToolCallFailed) -> dict[str, Any]:
    failed = isinstance(event, ev.ToolCallFailed)
    blocks = blocks_of(event.error if isinstance(event, ev.ToolCallFailed) else event.response)
    return _left_out_if_empty(
        {
            "tool_use_id": event.call_id,
            "name": event.tool_name,
            "content_blocks": blocks or None,
            "is_error": failed,
            "provenance": _provenance(event.provenance),
        }
    )


def _report(event: ev.RunFailed) -> dict[str, Any]:
    if event.fault is None:  # made by somebody who knows of a failed model call only
        return {"class": "llm", "message": event.details or event.category}
    return error_report(event.fault, point_of)


def _observation(kind: HookPoint, fields: Callable[[Any], dict[str, Any]]) -> tuple[Key, ...]:
    def value(event: Event) -> dict[str, Any]:
        return {"observation_type": kind.value, "observation": _left_out_if_empty(fields(event))}

    return (Key("observation", value),)


def _input(event: ev.InputAccepted | ev.InputRejected | ev.InputDeduplicated) -> dict[str, Any]:
    return {"input_id": event.input_id, "input_kind": event.input_kind.value}


def _rejected(event: ev.InputRejected) -> dict[str, Any]:
    told = "state" if event.reason is RejectionReason.NOT_READY else "detail"
    return {**_input(event), "reason": {"reason_type": event.reason.value, told: event.detail}}


NOTICES = {
    InputKind.PEER_MESSAGE: "message",
    InputKind.PEER_REQUEST: "request",
    InputKind.PEER_RESPONSE_PROGRESS: "response_progress",
    InputKind.PEER_RESPONSE_TERMINAL: "response_terminal",
}


def _received(event: ev.PeerReceived) -> dict[str, Any]:
    peer = {"id": event.peer_id, "display_name": event.peer_name or None} if is_uuid(event.peer_id) else None
    return {
        "kind": NOTICES.get(event.input_kind, event.input_kind.value),
        "peer": None if peer is None else _left_out_if_empty(peer),
        "request_id": event.request_id,
        "sender_taint": event.taint,
    }


def is_uuid(text: str) -> bool:
    """Whether *text* is a UUID, as ids of peers are told only where they are."""
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def _sent(event: ev.PeerSent) -> dict[str, Any]:
    delivery = event.delivery
    resolved = delivery.proof is Proof.DURABLY_RESOLVED
    return {
        "kind": event.kind.value,
        "peer_id": event.peer.id,
        "display_name": event.peer.name or None,
        "envelope_id": event.envelope_id,
        "delivery": {delivery.proof.value: {"outcome": delivery.outcome}} if resolved else delivery.proof.value,
        "interaction_id": event.interaction_id,
        "in_reply_to": event.in_reply_to,
    }


TURN = Key("turn_number", lambda event: event.origin.step)
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


def _settled(
    point: HookPoint, event: type[Event], fields: Callable[[Any], dict[str, Any]], *, fires: str
) -> MeerkatRule:
    """A row for a point that reports a fact."""
    settled = {"strategy": Strategy.SEQUENCE, "discards": {Allow: "", Deny: UNCHANGED}}
    return _row(point, event, _observation(point, fields), fires, settled)


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
        Key("prompt_input", _prompt_input),
        fires="once a run, before its input joins the transcript",
    ),
    _in_the_loop(
        HookPoint.PRE_LLM_REQUEST,
        ev.BeforeModelCall,
        TURN,
        Key("llm_request", _llm_request),
        fires="before each model call",
    ),
    _in_the_loop(
        HookPoint.POST_LLM_RESPONSE,
        ev.AfterModelCall,
        TURN,
        Key("llm_response", _llm_response),
        fires="after each model call, before anything of it joins the transcript",
    ),
    _in_the_loop(
        HookPoint.PRE_TOOL_EXECUTION,
        ev.BeforeToolCall,
        TURN,
        Key("tool_call", _tool_call),
        fires="once a requested call, all of a batch before the first of them runs",
        **OF_ONE_CALL,
    ),
    *(
        _in_the_loop(
            HookPoint.POST_TOOL_EXECUTION,
            event,
            TURN,
            Key("tool_result", _tool_result),
            fires="once a finished call, in the order of the calls, before its result joins the transcript",
            **OF_ONE_CALL,
        )
        for event in (ev.AfterToolCall, ev.ToolCallFailed)
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
        Key("turn_number", lambda event: event.origin.step + 1),
        fires="once a run that has its answer, before that is published",
    ),
    _in_the_loop(
        HookPoint.RUN_FAILED,
        ev.RunFailed,
        Key("error_report", _report),
        Key("error_class", lambda event: _report(event)["class"]),
        fires="once a run that failed or was cut off",
        admits=frozenset[Word]({Notify}),
        on_failure=FailurePolicy.IGNORE,
        discards={Allow: "", Deny: "the run has failed already"},
    ),
    _settled(
        HookPoint.RUNTIME_INPUT_ACCEPTED,
        ev.InputAccepted,
        lambda event: {**_input(event), "handling_mode": event.handling.value},
        fires="after the admission of an input was committed",
    ),
    _settled(
        HookPoint.RUNTIME_INPUT_REJECTED,
        ev.InputRejected,
        _rejected,
        fires="after an input was refused for good",
    ),
    _settled(
        HookPoint.RUNTIME_INPUT_DEDUPLICATED,
        ev.InputDeduplicated,
        lambda event: {**_input(event), "existing_input_id": event.existing_input_id},
        fires="when an input turned out to be one that was admitted before",
    ),
    _settled(
        HookPoint.PEER_INGRESS_COMMITTED,
        ev.PeerReceived,
        _received,
        fires="after the input of a peer was committed",
    ),
    _settled(
        HookPoint.PEER_EGRESS_COMMITTED,
        ev.PeerSent,
        _sent,
        fires="after a message to a peer was sent, as far as its transport proves",
    ),
    _settled(
        HookPoint.INTERACTION_COMPLETED,
        ev.InteractionCompleted,
        lambda event: {
            "interaction_id": event.interaction_id,
            "result": event.result,
            "structured_output": event.structured_output,
        },
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

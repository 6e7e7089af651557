"""What may not be admitted: a table, of which the first row that speaks decides."""

from collections.abc import Callable
from dataclasses import dataclass

from hookline._core.inputs import (
    PEER_KINDS,
    Durability,
    Handling,
    Input,
    InputKind,
    Rejected,
    RejectionReason,
    SourceType,
)

FROM_OUTSIDE = frozenset({SourceType.OPERATOR, SourceType.PEER, SourceType.EXTERNAL})

# Kinds that nothing else could be made from again, whoever gives them.
NEVER_DERIVED = frozenset(
    {
        InputKind.PROMPT,
        InputKind.PEER_MESSAGE,
        InputKind.PEER_REQUEST,
        InputKind.PEER_RESPONSE_TERMINAL,
        InputKind.FLOW_STEP,
    }
)

TERMINAL_STATUSES = ("completed", "failed")


@dataclass(frozen=True, slots=True)
class Rule:
    """A ground for refusal: when, by which reason, and in which words; `{kind}` and `{status}` are the input's."""

    applies: Callable[[Input], bool]
    reason: RejectionReason
    detail: str


def _is_derived(input: Input) -> bool:
    return input.durability is Durability.DERIVED


def _is_terminal(input: Input) -> bool:
    return input.kind is InputKind.PEER_RESPONSE_TERMINAL


RULES: tuple[Rule, ...] = (
    Rule(
        lambda given: given.durability is None,
        RejectionReason.DURABILITY_VIOLATION,
        "input durability observation missing",
    ),
    Rule(
        lambda given: _is_derived(given) and given.source.type in FROM_OUTSIDE,
        RejectionReason.DURABILITY_VIOLATION,
        "External ingress cannot submit derived inputs",
    ),
    Rule(
        lambda given: _is_derived(given) and given.kind in NEVER_DERIVED,
        RejectionReason.DURABILITY_VIOLATION,
        "Derived durability forbidden for {kind}",
    ),
    Rule(
        lambda given: given.kind is InputKind.PEER_RESPONSE_PROGRESS and given.handling is not None,
        RejectionReason.PEER_HANDLING_MODE_INVALID,
        "handling_mode is forbidden on ResponseProgress peer inputs",
    ),
    Rule(
        lambda given: given.kind in PEER_KINDS and given.handling is Handling.STEER and given.has_context,
        RejectionReason.PEER_HANDLING_MODE_INVALID,
        "steer handling_mode cannot carry injected context on peer inputs",
    ),
    Rule(
        lambda given: _is_terminal(given) and not given.request_id,
        RejectionReason.PEER_RESPONSE_TERMINAL_INVALID,
        "a terminal response names the request that it answers",
    ),
    Rule(
        lambda given: _is_terminal(given) and given.status not in TERMINAL_STATUSES,
        RejectionReason.PEER_RESPONSE_TERMINAL_INVALID,
        "the status of a terminal response is completed or failed, not {status}",
    ),
)


def objection_to(input: Input) -> Rejected | None:
    """Why *input* is refused, if it is."""
    for rule in RULES:
        if rule.applies(input):
            detail = rule.detail.format(kind=input.kind.value, status=input.status)
            return Rejected(input.id, rule.reason, detail)
    return None

"""What may not be admitted, in which words, and which reason comes first."""

import uuid
from typing import Any

import pytest

from hookline._core.inputs import (
    PEER_KINDS,
    Durability,
    Handling,
    Input,
    InputKind,
    InputSource,
    Rejected,
    RejectionReason,
    SourceType,
)
from hookline.session.admission.validation import objection_to

DURABILITY = RejectionReason.DURABILITY_VIOLATION
HANDLING = RejectionReason.PEER_HANDLING_MODE_INVALID
TERMINAL = RejectionReason.PEER_RESPONSE_TERMINAL_INVALID

MISSING = "input durability observation missing"
EXTERNAL = "External ingress cannot submit derived inputs"
FORBIDDEN = "handling_mode is forbidden on ResponseProgress peer inputs"
STEERED = "steer handling_mode cannot carry injected context on peer inputs"
NAMELESS = "a terminal response names the request that it answers"
STATUS = "the status of a terminal response is completed or failed, not {}"

OUTSIDE = [SourceType.OPERATOR, SourceType.PEER, SourceType.EXTERNAL]
INSIDE = [SourceType.FLOW, SourceType.SYSTEM]
NEVER_DERIVED = [
    InputKind.PROMPT,
    InputKind.PEER_MESSAGE,
    InputKind.PEER_REQUEST,
    InputKind.PEER_RESPONSE_TERMINAL,
    InputKind.FLOW_STEP,
]
PROGRESS = InputKind.PEER_RESPONSE_PROGRESS


def given(kind: InputKind = InputKind.PROMPT, source: SourceType = SourceType.OPERATOR, **fields: Any) -> Input:
    return Input(id=str(uuid.uuid4()), kind=kind, source=InputSource(type=source), **fields)


def response(**fields: Any) -> Input:
    """A terminal response that is in order but for *fields*."""
    terms = {"request_id": "r", "status": "completed", **fields}
    return given(InputKind.PEER_RESPONSE_TERMINAL, SourceType.PEER, **terms)


def refused(name: str, input: Input, reason: RejectionReason, detail: str) -> Any:
    return pytest.param(input, reason, detail, id=name)


REFUSED = [
    *[refused(f"{kind.value} without durability", given(kind, durability=None), DURABILITY, MISSING)
      for kind in InputKind],
    *[refused(f"derived {kind.value} of {source.value}", given(kind, source, durability=Durability.DERIVED),
              DURABILITY, EXTERNAL)
      for source in OUTSIDE for kind in InputKind],
    *[refused(f"derived {kind.value} of {source.value}", given(kind, source, durability=Durability.DERIVED),
              DURABILITY, f"Derived durability forbidden for {kind.value}")
      for source in INSIDE for kind in NEVER_DERIVED],
    *[refused(f"{handling.value} on progress", given(PROGRESS, SourceType.PEER, handling=handling), HANDLING, FORBIDDEN)
      for handling in Handling],
    *[refused(f"steered {kind.value} with context", given(kind, SourceType.PEER, handling=Handling.STEER,
                                                          has_context=True), HANDLING, STEERED)
      for kind in InputKind if kind in PEER_KINDS - {PROGRESS}],
    refused("response to nothing", response(request_id=None), TERMINAL, NAMELESS),
    refused("response to an empty id", response(request_id=""), TERMINAL, NAMELESS),
    *[refused(f"response with status {status}", response(status=status), TERMINAL, STATUS.format(status))
      for status in ("cancelled", "progress", "", None, "Completed", "{kind}")],
]  # fmt: skip

BOTH = [
    refused("nothing said and steered", given(PROGRESS, durability=None, handling=Handling.STEER), DURABILITY, MISSING),
    refused(
        "derived from outside, and steered with context",
        given(
            InputKind.PEER_MESSAGE,
            SourceType.PEER,
            durability=Durability.DERIVED,
            handling=Handling.STEER,
            has_context=True,
        ),
        DURABILITY,
        EXTERNAL,
    ),
    refused(
        "steered with context, a response to nothing",
        response(request_id=None, handling=Handling.STEER, has_context=True),
        HANDLING,
        STEERED,
    ),
    refused("a response to nothing, cancelled", response(request_id=None, status="cancelled"), TERMINAL, NAMELESS),
    refused(
        "steered progress with context",
        given(PROGRESS, SourceType.PEER, handling=Handling.STEER, has_context=True),
        HANDLING,
        FORBIDDEN,
    ),
]

FINE = {
    **{
        f"{durability.value} {kind.value} of {source.value}": given(kind, source, durability=durability)
        for durability in (Durability.DURABLE, Durability.EPHEMERAL)
        for kind in InputKind
        for source in SourceType
        if kind is not InputKind.PEER_RESPONSE_TERMINAL
    },
    **{
        f"derived {kind.value} of {source.value}": given(kind, source, durability=Durability.DERIVED)
        for source in INSIDE
        for kind in InputKind
        if kind not in NEVER_DERIVED
    },
    "a steered prompt with context": given(handling=Handling.STEER, has_context=True),
    "a queued message with context": given(InputKind.PEER_MESSAGE, handling=Handling.QUEUE, has_context=True),
    "a steered message without": given(InputKind.PEER_MESSAGE, handling=Handling.STEER),
    "a completed response": response(),
    "a failed response": response(status="failed"),
    "a steered response": response(handling=Handling.STEER),
}


@pytest.mark.parametrize(("input", "reason", "detail"), REFUSED)
def test_refused(input: Input, reason: RejectionReason, detail: str) -> None:
    """Each ground for refusal has its reason and its words."""
    assert Rejected(input.id, reason, detail) == objection_to(input)


@pytest.mark.parametrize(("input", "reason", "detail"), BOTH)
def test_the_first_ground_decides(input: Input, reason: RejectionReason, detail: str) -> None:
    """Of several grounds the one that stands first in the table is told."""
    assert Rejected(input.id, reason, detail) == objection_to(input)


@pytest.mark.parametrize("input", FINE.values(), ids=FINE)
def test_admissible(input: Input) -> None:
    """What no ground speaks of is not refused."""
    assert objection_to(input) is None


@pytest.mark.parametrize(
    ("reason", "detail", "words"),
    [
        (RejectionReason.NOT_READY, "stopped", "Runtime not ready: stopped"),
        *[(reason, "why", "Input validation failed: why")
          for reason in RejectionReason if reason is not RejectionReason.NOT_READY],
    ],
    ids=[reason.value for reason in RejectionReason],
)  # fmt: skip
def test_words_of_a_refusal(reason: RejectionReason, detail: str, words: str) -> None:
    """The submitter reads why in one line: that of a runtime not ready, or that of an input that is not valid."""
    assert words == str(Rejected("i", reason, detail))

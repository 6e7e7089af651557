"""What a hook is given can be read back: each dialect's `read_payload` is the inverse of its `encode`."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import drawn

from hookline._core import events as ev
from hookline._core.commands import ResolvedCommand
from hookline._core.events.session import Totals
from hookline._core.faults import Fault, FaultKind
from hookline._core.guests import GuestCall
from hookline._core.hooks import Hook
from hookline._core.inputs import InputKind, RejectionReason
from hookline._core.messages import Message, Provenance, ToolCall, ToolSpec, Usage
from hookline._core.payload import Payload
from hookline._core.peers import Delivery, EnvelopeKind, Peer, Proof
from hookline._core.points import Agent, Event, Origin
from hookline._core.targets import CommandTarget
from hookline.dialects import PACKAGES, Package
from hookline.dialects._base import Unread
from hookline.testing import SAMPLES

READERS = {package.dialect.name: package for package in PACKAGES if package.read_payload is not None}

ORIGIN = Origin(session_id="s", run_id="r", step=3, cwd="/project", model="m", provider="p", approval_off=True)
IN_CHILD = replace(ORIGIN, agent=Agent(id="a", type="general"))
CONVERSATION = (
    Message(role="user", text="fix it"),
    Message(role="assistant", text="", calls=(ToolCall(id="c", name="bash", input={"command": "ls"}),)),
    Message(role="tool", text="gone", call_id="c", is_error=True),
    Message(role="developer", text="hurry", id="m-4", source_id="m-1"),
)
TOOLS = (
    ToolSpec(name="bash", description="", parameters={"type": "object", "properties": {"command": {}}}),
    ToolSpec(name="look", description="Look", parameters={"additionalProperties": False}),
)
OPTIONS = {"temperature": 0, "provider_params": {"top_p": 0.5}}
REQUEST = {"provider": "p", "step": 3, "messages": CONVERSATION, "tools": TOOLS, "options": OPTIONS, "origin": ORIGIN}
CALL = {"tool_name": "look", "call_id": "c", "provenance": Provenance("mcp", "docs"), "origin": ORIGIN}
SCRIPT = ResolvedCommand(program="/bin/make", arguments=("all",), text="make all", recipe="cc -o it it.c")
BLOCKS = [{"type": "text", "text": "seen"}, {"type": "image", "media_type": "image/png"}]
FAULTS = (
    Fault(kind=FaultKind.MODEL, message="slow down", category="rate_limit", details="slow down"),
    Fault(kind=FaultKind.MODEL, message="gone", category="unknown"),
    Fault(kind=FaultKind.TOOL, message="no object"),
    Fault(kind=FaultKind.HOOK_DENIED, message="no", hook="meerkat:x", point="before_tool_call", details="a - b"),
    Fault(kind=FaultKind.HOOK_DENIED, message="no", hook="x", point="before_dispatch", code="timeout"),
    Fault(kind=FaultKind.HOOK_TIMEOUT, message="late", hook="meerkat:x", limit=1.5),
    Fault(kind=FaultKind.HOOK_FAILED, message="broken", hook="meerkat:x", details="exit 1"),
    Fault(kind=FaultKind.STEPS, message="no answer"),
    Fault(kind=FaultKind.CANCELLED, message="interrupted"),
    Fault(kind=FaultKind.INTERNAL, message="oh"),
)

# What the samples leave at its default, and what is told in more than one way.
MORE: tuple[Event, ...] = (
    ev.BeforeRun(prompt="", resumes=True, origin=ORIGIN),
    ev.BeforeRun(prompt="x", source="a2a", context_id="theirs", seed_budget=1, window=2, prior=3, origin=ORIGIN),
    ev.BeforeRunEnd(last_message=None, reopened=True, status="failed", origin=ORIGIN),
    ev.BeforeModelCall(**REQUEST, attempt=2, max_tokens=9),  # type: ignore[arg-type]  # shared fields, spelled once
    *(
        ev.AfterModelCall(
            **REQUEST,  # type: ignore[arg-type]
            status="success",
            usage=Usage(input_tokens=4, output_tokens=3, cached_tokens=2, reasoning_tokens=1),
            finish_reason=finish,
            output_text="so",
            server_tools=("web_search", "code_runner"),
        )
        for finish in ("stop", "length", "stop_sequence", None)
    ),
    ev.BeforeToolCall(**CALL, input={}),  # type: ignore[arg-type]
    ev.BeforeDispatch(**CALL, input=["any", None]),  # type: ignore[arg-type]
    ev.BeforeDispatch(**CALL, input={}, command=SCRIPT),  # type: ignore[arg-type]
    *(
        ev.AfterToolCall(**CALL, input={"a": 1}, response=response, duration=1.234)  # type: ignore[arg-type]
        for response in (
            None,
            "",
            "seen",
            {"b": [1]},
            [1, 2],
            BLOCKS,
            BLOCKS[:1],
            [{"type": "structured"}],
            [{"type": []}],
        )
    ),
    ev.AfterShell(**CALL, input={}, command=SCRIPT, exit_code=-1, stderr="no"),  # type: ignore[arg-type]
    ev.ToolCallFailed(**CALL, input={}, error="", interrupted=True),  # type: ignore[arg-type]
    replace(SAMPLES[ev.AfterToolBatch], origin=IN_CHILD),
    replace(SAMPLES[ev.RunFailed], origin=IN_CHILD),
    *(ev.RunFailed(category=each.category or each.kind.value, fault=each, origin=ORIGIN) for each in FAULTS),
    ev.BeforeCompaction(trigger="threshold", messages=CONVERSATION, tokens=7, ratio=0.5, origin=ORIGIN),
    ev.SubagentStart(subagent_id="a", origin=ORIGIN),
    ev.SessionEnd(reason="other", totals=Totals(steps=2, tool_calls=1, duration=9.5, status="failed"), origin=ORIGIN),
    *(
        ev.InputRejected(input_id="i", input_kind=InputKind.OPERATION, reason=reason, detail="why", origin=ORIGIN)
        for reason in RejectionReason
    ),
    *(ev.PeerReceived(input_kind=kind, peer_id="no uuid", origin=ORIGIN) for kind in InputKind),
    *(
        ev.PeerSent(
            kind=EnvelopeKind.RESPONSE,
            peer=Peer("reviewer"),
            envelope_id="e",
            delivery=Delivery(proof, "accepted" if proof is Proof.DURABLY_RESOLVED else ""),
            in_reply_to="q",
            origin=ORIGIN,
        )
        for proof in Proof
    ),
    ev.InteractionCompleted(interaction_id="i", structured_output={"a": None}, origin=ORIGIN),
)

# What of a payload cannot be told again by the event that is read from it, and why.
LOST = {
    ("muse", "PostLLMCall", "tool_call_count"): "how many calls there are says none of them",
    ("meerkat", "pre_llm_request", "llm_request.message_count"): "how many messages there are says none of them",
    ("murmur", "on-tool-call", "argument.outcome.output-bytes"): "how long the result was says nothing of it",
}

EVENTS = [*SAMPLES.values(), *MORE]
CASES = [
    pytest.param(package, event, id=f"{name}-{event.point.name}-{number}")
    for name, package in READERS.items()
    for number, event in enumerate(EVENTS)
    if (rule := package.dialect.rule(type(event))) is not None and (rule.occurs is None or rule.occurs(event))
]


def form_of(package: Package, event: Event) -> dict[str, Any]:
    """What a hook is given of *event*, as a parsed object."""
    hook = Hook(
        id="h", event=type(event), target=CommandTarget(argv=("/bin/true",), env={}), dialect=package.dialect.name
    )
    payload = package.dialect.encode(event, hook)
    assert isinstance(payload, Payload)
    if isinstance(payload.value, GuestCall):
        line = json.dumps({"call": payload.value.function, "argument": payload.value.argument})
        return dict(json.loads(line))
    return dict(json.loads(payload.body))


def read(package: Package, members: dict[str, Any]) -> Event | Unread | None:
    assert package.read_payload is not None
    return package.read_payload(members)


def without_lost(package: Package, form: dict[str, Any]) -> dict[str, Any]:
    """*form* without the members that are listed above."""
    point = point_of(form)
    for dialect, named, path in LOST:
        if (dialect, named) == (package.dialect.name, point):
            *way, last = path.split(".")
            inside: Any = form
            for step in way:
                inside = inside.get(step) or {}
            inside.pop(last, None)
    return form


@pytest.mark.parametrize(("package", "event"), CASES)
def test_a_payload_is_read_as_the_event_that_it_tells_of(package: Package, event: Event) -> None:
    """The event that is read is of the same class, and is told in the same payload again."""
    form = form_of(package, event)
    again = read(package, form)

    assert type(event) is type(again)
    assert isinstance(again, Event)
    assert without_lost(package, form) == without_lost(package, form_of(package, again))


def test_what_is_lost_is_lost() -> None:
    """Each of the listed members differs in some payload that is told again: there is no reason too many."""
    lost = set()
    for package, form in FORMS:
        again = read(package, form)
        assert isinstance(again, Event)
        for row in LOST:
            dialect, named, path = row
            if (dialect, named) == (package.dialect.name, point_of(form)):
                before, after = member(form, path), member(form_of(package, again), path)
                lost |= {row} if before != after else set()
    assert set(LOST) == lost


def point_of(form: dict[str, Any]) -> str:
    return str(next(form[name] for name in ("hook_event_name", "point", "call") if name in form))


def member(form: Any, path: str) -> Any:
    for step in path.split("."):
        form = (form or {}).get(step)
    return form


@pytest.mark.parametrize(("package", "event"), CASES)
def test_no_payload_is_taken_for_one_of_another_dialect(package: Package, event: Event) -> None:
    """Every dialect but its own sees at once that it is none of its form."""
    form = form_of(package, event)
    others = [each for each in READERS.values() if each is not package]

    assert [None] * len(others) == [read(each, form) for each in others]


def test_every_dialect_of_payloads_is_read() -> None:
    """The three that have a form of their own, at each of their points."""
    assert {"muse", "meerkat", "murmur"} == set(READERS)
    told = {(case.values[0].dialect.name, type(case.values[1])) for case in CASES}  # type: ignore[union-attr]
    assert {(name, event) for name, each in READERS.items() for event in each.dialect.rules} == told


scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
FORMS = [(each.values[0], form_of(*each.values)) for each in CASES]  # type: ignore[arg-type]


def spots(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in *value*."""
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    return [*([at] if at else []), *(spot for step, each in inside for spot in spots(each, (*at, step)))]


def replaced(value: Any, at: tuple[str | int, ...], by: Any) -> Any:
    """*value* with another one at that place, or without it where *by* is nothing."""
    if not at:
        return by
    step, *rest = at
    copy = dict(value) if isinstance(value, dict) else list(value)
    if not rest and by is spots:
        del copy[step]
    else:
        copy[step] = replaced(copy[step], tuple(rest), by)
    return copy


odd = st.sampled_from(FORMS).flatmap(
    lambda form: st.tuples(
        st.just(form[0]),
        st.tuples(st.sampled_from(spots(form[1])), values | st.just(spots)).map(
            lambda change: replaced(form[1], change[0], change[1])
        ),
    )
)


@given(odd)
@drawn.THOROUGHLY
def test_a_payload_with_anything_in_it_is_read_or_said_to_be_wrong(case: tuple[Package, dict[str, Any]]) -> None:
    """Whatever stands in any place of a payload, there is an event, a text or nothing, and never an exception.

    What became an event can be told again.
    """
    package, form = case
    found = read(package, form)
    assert found is None or isinstance(found, Event | Unread)
    if isinstance(found, Event):
        hook = Hook(id="h", event=type(found), target=CommandTarget(argv=("x",), env={}), dialect=package.dialect.name)
        package.dialect.encode(found, hook)
    if isinstance(found, Unread):
        assert found.why.isprintable()


NAMES = st.sampled_from(["hook_event_name", "point", "call", "function", "argument", "session_id"])


@given(st.sampled_from(list(READERS.values())), st.dictionaries(NAMES | st.text(max_size=8), values, max_size=5))
@drawn.THOROUGHLY
def test_any_object_is_read_or_said_to_be_wrong(package: Package, form: dict[str, Any]) -> None:
    """An event, a text or nothing, and never an exception."""
    found = read(package, form)
    assert found is None or isinstance(found, Event | Unread)

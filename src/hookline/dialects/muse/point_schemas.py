"""The JSON Schema of every payload and of every answer, made of the tables of events and of answer keys.

A schema admits no answer that `answer_schema` refuses. It refuses one that is admitted there: PermissionRequest's
verdict written at both levels, which has to be the same at both; no schema can compare two values.
"""

from collections.abc import Iterator, Mapping

from hookline._core.answer import Word
from hookline._core.decisions import Deny
from hookline._core.effects import AddFeedback, EndRun, Reopen
from hookline.dialects._base import PointSchema
from hookline.dialects._schema import NEVER, Schema, constant, flag, one_of, point_schema, record, spoken, text, word
from hookline.dialects.muse import values
from hookline.dialects.muse.answer_schema import NESTED, SPECIFIC, TOP, Field
from hookline.dialects.muse.build import DIALECT
from hookline.dialects.muse.rules import RULES, MuseRule, Stopping

VERSION = "1.3.0"  # of Muse Code, whose document this is

SENT = "What a hook of {name} reads on standard input."
SAID = "What a hook of {name} may print on standard output and exit with 0; nothing, or text, is no JSON answer."

BLOCKS: Mapping[Word, str] = {
    Deny: "Refuses what was about to happen; needs a `reason`.",
    AddFeedback: "Gives the model a `reason` beside the result.",
    Reopen: "Has the run go on, with a `reason` as its instruction.",
}
STOPS: Mapping[Word, str] = {
    Deny: "false refuses what was about to happen.",
    EndRun: "false ends the run.",
}


def schemas() -> tuple[PointSchema, ...]:
    """Of each event, in the order of the table."""
    return tuple(_schemas_of(rule) for rule in RULES)


def _schemas_of(rule: MuseRule) -> PointSchema:
    events = (rule.event.point.name,)
    return point_schema((DIALECT, VERSION), rule.name, events, payload=_payload(rule), answer=_answer(rule))


def _payload(rule: MuseRule) -> Schema:
    own = {key.name: values.schema_of(rule.name, key.name) for key in rule.payload}
    run = {"turn_id": values.RUN} if rule.has_run else {}
    child = {"agent_id": values.AGENT_ID, "agent_type": values.AGENT_TYPE} if rule.in_child else {}
    members = {
        "hook_event_name": constant("The event.", rule.name),
        **own,
        "session_id": values.SESSION,
        **run,
        "cwd": values.CWD,
        "transcript_path": values.TRANSCRIPT_PATH,
        "model": values.MODEL,
        "permission_mode": values.PERMISSION_MODE,
        "model_provider": values.MODEL_PROVIDER,
        **child,
    }
    together = {"dependentRequired": {name: [*child] for name in child}} if child else {}
    optional = [key.name for key in rule.payload if key.optional]
    said = SENT.format(name=rule.name)
    return record(said, members, optional=[*optional, "model_provider", *child], **together)


def _answer(rule: MuseRule) -> Schema:
    top = {**_accepted(TOP, rule), **dict(_of_event(rule))}
    specific = _accepted(NESTED, rule)
    specific["hookEventName"] = constant("The event that is answered.", rule.name)
    if rule.verdict:
        top["decision"] = one_of("A block, or the verdict in its older place.", top["decision"], _verdict())
        specific["decision"] = _verdict()
    inner = record(
        "What only this event takes.",
        specific,
        optional=[name for name in specific if name != "hookEventName"],
        **_all_of(_permission_terms(rule)),
    )
    return record(
        SAID.format(name=rule.name),
        {**top, SPECIFIC: inner},
        optional=[*top, SPECIFIC],
        **_all_of(_block_terms(rule)),
    )


def _of_event(rule: MuseRule) -> Iterator[tuple[str, Schema]]:
    """The keys at the top that mean something else at each event."""
    if rule.stopping is Stopping.INERT:
        yield "continue", flag("Accepted, and changes nothing here.")
    elif rule.stopping is Stopping.EFFECTIVE:
        yield "continue", flag(STOPS[rule.stop_as])
    if rule.block is not None:
        yield "decision", constant(BLOCKS[rule.block], "block")


def _accepted(fields: Mapping[str, Field], rule: MuseRule) -> dict[str, Schema]:
    return {name: dict(field.schema) for name, field in fields.items() if field.accepted(rule)}


def _all_of(terms: Iterator[Schema]) -> Schema:
    held = list(terms)
    return {"allOf": held} if held else {}


def _verdict() -> Schema:
    members = {
        "behavior": word("The verdict on the approval that is waited for.", "allow", "deny"),
        "message": text("Why it is denied; not read of an allow."),
    }
    return record("A verdict.", members, optional=["message"])


def _is(name: str, value: str) -> Schema:
    return {"properties": {name: {"const": value}}, "required": [name]}


def _without(name: str) -> Schema:
    return {"properties": {name: NEVER}}


def _with(name: str, schema: Schema) -> Schema:
    return {"properties": {name: schema}, "required": [name]}


def _block_terms(rule: MuseRule) -> Iterator[Schema]:
    """`decision` and `reason` go together, and so does a verdict with one place only."""
    if rule.block is None:
        return
    reason = _with("reason", spoken("Why, for whom it concerns."))
    yield {"if": _is("decision", "block"), "then": reason, "else": _without("reason")}
    if rule.verdict:
        elsewhere = {"properties": {SPECIFIC: _without("decision")}}
        yield {"if": {"required": ["decision"]}, "then": elsewhere}


def _permission_terms(rule: MuseRule) -> Iterator[Schema]:
    """What a permission decision needs beside it."""
    if not rule.permission:
        return
    decision, reason = "permissionDecision", "permissionDecisionReason"
    yield {"if": {"required": [reason]}, "then": {"required": [decision]}}
    yield {"if": _is(decision, "allow"), "then": _with("updatedInput", {"type": "object"})}
    yield {"if": _is(decision, "deny"), "then": _with(reason, spoken("Why the call is denied, for the model."))}

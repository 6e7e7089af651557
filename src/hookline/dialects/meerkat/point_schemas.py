"""The JSON Schema of every envelope and of every response, made of the table of points."""

from collections.abc import Mapping

from hookline._core.decisions import Deny
from hookline.dialects._base import PointSchema
from hookline.dialects._schema import Schema, constant, one_of, open_record, point_schema, record
from hookline.dialects.meerkat import values
from hookline.dialects.meerkat.envelope import ORDER
from hookline.dialects.meerkat.rules import EVENTS_OF, RULES, MeerkatRule
from hookline.dialects.meerkat.words import DIALECT, HookPoint

SENT = "What a hook is given at {point}, {fires}."
SAID = "What a hook may answer at {point}: no opinion, an allow or a deny."
IN_VAIN = "What a hook may answer at {point}; a deny changes nothing, as {why}."

# What is derived when an envelope is written, by the member that it stands beside; a prompt only where there is one.
DERIVED: Mapping[str, tuple[str, Schema]] = {
    "prompt_input": ("prompt", values.PROMPT),
    "error_report": ("error", values.ERROR),
}
PERHAPS = ("prompt",)


def schemas() -> tuple[PointSchema, ...]:
    """Of each point, in the order of the document's table."""
    return tuple(map(_schemas_of, HookPoint))


def _schemas_of(point: HookPoint) -> PointSchema:
    rule = next(rule for rule in RULES if rule.point is point)
    events = tuple(event.point.name for event in EVENTS_OF[point])
    return point_schema((DIALECT, ""), point.value, events, payload=_envelope(rule), answer=_response(rule))


def _envelope(rule: MeerkatRule) -> Schema:
    members: dict[str, Schema] = {
        "point": constant("The point.", rule.point.value),
        "session_id": values.SESSION,
    }
    for key in rule.members:
        members[key.name] = values.schema_of(rule.point, key.name)
        if key.name in DERIVED:
            name, schema = DERIVED[key.name]
            members[name] = schema
    in_order = {name: members[name] for name in ORDER if name in members}
    said = SENT.format(point=rule.point.value, fires=rule.fires)
    return open_record(said, in_order, optional=PERHAPS)


def _response(rule: MeerkatRule) -> Schema:
    allow = open_record("It objects to nothing.", {"decision": constant("It may go on.", "allow")})
    deny = open_record(
        "An objection; an entry whose capability is observe may not.", values.DENIAL, optional=["payload"]
    )
    opinion = one_of("The hook's opinion; null for none.", {"type": "null"}, allow, deny)
    said = IN_VAIN if Deny in rule.discards else SAID
    told = said.format(point=rule.point.value, why=rule.discards.get(Deny))
    return record(told, {"decision": opinion}, optional=["decision"])

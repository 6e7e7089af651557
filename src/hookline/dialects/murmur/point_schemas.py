"""The JSON Schema of every record and of every answer, in the form in which a hook that is a program has them.

It reads `{"call": function, "argument": payload}` and writes the answer, each on a line. A component is handed the same
record, and returns the same arm, without JSON.
"""

import re

from hookline._core.events import BeforeDispatch
from hookline.dialects._base import PointSchema
from hookline.dialects._schema import (
    NOT_BLANK,
    Schema,
    constant,
    each,
    number,
    one_of,
    open_record,
    or_null,
    point_schema,
    record,
    text,
    whole,
    word,
)
from hookline.dialects.murmur.build import DIALECT
from hookline.dialects.murmur.interfaces import VERSION
from hookline.dialects.murmur.rules import DENY, NONE, RULES, SHELL, TOOL_CALL, MurmurRule
from hookline.dialects.murmur.types import ARGUMENTS, CARRIED, RECORDS, Field
from hookline.dialects.murmur.wire import S32, U32, U64

GATED = (TOOL_CALL, SHELL)  # the functions by which a policy hook is asked
OUTCOME = "outcome"

TOLD = "The argument of {function}, which tells of what has happened."
ASKED = "The argument of {function}, by which a policy hook is asked about a call before it runs."
SAID = 'What a hook may answer at {point}; {{"err": text}} says that it failed.'

NUMBERS = {"u32": (0, U32), "u64": (0, U64), "s32": (-S32 - 1, S32)}
_OF = re.compile(r"(option|list)<(.+)>")


def schemas() -> tuple[PointSchema, ...]:
    """Of each name in the table of rules, in its order."""
    rows: dict[str, list[MurmurRule]] = {}
    for rule in RULES:
        rows.setdefault(rule.name, []).append(rule)
    return tuple(map(_schemas_of, rows.values()))


def _schemas_of(rules: list[MurmurRule]) -> PointSchema:
    rule = rules[0]
    is_asked = rule.event is BeforeDispatch
    point = rule.name.replace(" ", "-")
    return point_schema(
        (DIALECT, VERSION),
        point,
        [same.event.point.name for same in rules],
        payload=one_of("The call as it was resolved.", *map(_asked, GATED)) if is_asked else _told(rule.function),
        answer=_answer(point, rule.arm),
        also=GATED if is_asked else (),
    )


def _told(function: str) -> Schema:
    name = ARGUMENTS[function]
    outcomes = {field.name: _typed(_inside(field.type), field) for field in RECORDS[name] if field.name == OUTCOME}
    return _record(name, TOLD.format(function=function), outcomes)


def _asked(function: str) -> Schema:
    nothing = constant("Null: the call has not run.", None)
    return _record(ARGUMENTS[function], ASKED.format(function=function), {OUTCOME: nothing})


def _record(name: str, said: str, instead: dict[str, Schema]) -> Schema:
    """The record called *name*, with what some of its fields are *instead*."""
    return record(said, {field.name: _typed(field.type, field) for field in RECORDS[name]} | instead)


def _inside(option: str) -> str:
    """The type of which *option* is one."""
    return option.removeprefix("option<").removesuffix(">")


def _typed(type: str, field: Field) -> Schema:
    """What a value of the interface's *type* is in JSON, an option always there: it is the value, or null."""
    if found := _OF.fullmatch(type):
        if found[1] == "option":
            return or_null(_typed(found[2], field))
        return each(field.said, _typed(found[2], Field("", found[2], f"One {found[2]}.")))
    if type in NUMBERS:
        least, most = NUMBERS[type]
        return whole(field.said, least=least, most=most)
    if type in RECORDS:
        return _record(type, field.said, {})
    if type == "f64":
        return number(field.said)
    return word(field.said, *field.words) if field.words else text(field.said)


def _answer(point: str, arm: str) -> Schema:
    """`none`, and the one arm that is honored there. What else stands in the answer is not read."""
    nothing = {"ok": constant("Nothing is asked for.", NONE)}
    arms = [_arm(nothing)] + [_arm(_carrying(field)) for field in CARRIED if field.name == arm]
    return one_of(SAID.format(point=point), *arms)


def _arm(members: dict[str, Schema]) -> Schema:
    return open_record("An answer.", members) | {"not": {"required": ["err"]}}


def _carrying(field: Field) -> dict[str, Schema]:
    value = _typed(field.type, field)
    if field.name == DENY:
        value["pattern"] = NOT_BLANK
    return {"ok": constant("The arm.", field.name), "value": _lenient(value)}


def _lenient(value: Schema) -> Schema:
    """The same without a need for options, and open: what a hook leaves out is null, what else it has is not read."""
    if value.get("type") != "array":
        return value
    item = value["items"]
    options = [name for name, schema in item["properties"].items() if "null" in schema["type"]]
    return {**value, "items": open_record(item["description"], item["properties"], optional=options)}

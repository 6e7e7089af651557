"""The schemas of `hookline schema`, with a validator for each, and events whose fields are drawn."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hookline._core import events as ev
from hookline._core.events.session import Totals
from hookline._core.guests import GuestCall
from hookline._core.hooks import Hook
from hookline._core.inputs import RuntimeState
from hookline._core.payload import Payload
from hookline._core.points import Event
from hookline._core.rules import Rule
from hookline._core.targets import CommandTarget
from hookline.dialects import PACKAGES, PointSchema
from hookline.workbench.schemas import every_schema

EVERY = every_schema()
DIALECTS = {package.dialect.name: package.dialect for package in PACKAGES if package.schemas is not None}

# Every row of every table with the schemas of its point, under a name for it.
ROWS: dict[str, tuple[PointSchema, Rule]] = {
    f"{schema.dialect}: {schema.point} at {rule.event.point.name}": (schema, rule)
    for schema in EVERY
    for rule in DIALECTS[schema.dialect].rules.values()
    if schema.point == rule.name.replace(" ", "-")
}


def hook_at(rule: Rule, dialect: str, **more: Any) -> Hook:
    """A hook that may say there all that can be said."""
    terms: dict[str, Any] = {"commits": rule.event.point.admits, **more}
    return Hook(id="h", event=rule.event, target=CommandTarget(("true",), {}), dialect=dialect, **terms)


def sent(event: Event, rule: Rule, dialect: str) -> Any:
    """What a hook is sent of *event*, read as its program would read it."""
    payload = DIALECTS[dialect].encode(event, hook_at(rule, dialect))
    assert isinstance(payload, Payload), payload
    if isinstance(payload.value, GuestCall):
        return json.loads(json.dumps(payload.value.argument))
    return json.loads(payload.body)


@cache
def _validator(dialect: str, point: str, side: str) -> Draft202012Validator:
    (schema,) = (each for each in EVERY if (each.dialect, each.point) == (dialect, point))
    return Draft202012Validator(_shut(schema.payload) if side == "payload" else schema.answer)


def faults(schema: PointSchema, side: str, value: Any) -> list[str]:
    """What is wrong with *value*; of a payload also every member that its schema does not describe."""
    found = _validator(schema.dialect, schema.point, side).iter_errors(value)
    return [f"{fault.json_path}: {fault.message}" for fault in found]


AS_THEY_ARE = "content_blocks"  # a tool's own words


def _shut(schema: Any) -> Any:
    """The same schema, with every object closed that is described by its members."""
    if isinstance(schema, list):
        return [_shut(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    shut = {name: each if name == AS_THEY_ARE else _shut(each) for name, each in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        shut["additionalProperties"] = False
    return shut


TEXT = st.text(max_size=8)
COUNT = st.integers(0, 2**40)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.floats(0, 2),
        "provider_params": st.fixed_dictionaries({}, optional={"top_p": st.floats(0, 1), "reasoning": TEXT}),
    },
)
BLOCKS = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "image", "structured"])}, optional={"text": TEXT}),
    max_size=3,
)

# Fields whose words are closed, and those that are no plain values of their types.
CLOSED: Mapping[tuple[type, str], st.SearchStrategy[Any]] = {
    (ev.SessionStart, "source"): st.sampled_from(["startup", "resume", "clear", "compact", "fork"]),
    (ev.SessionEnd, "reason"): st.sampled_from(["other", "clear", "interrupted", "terminated"]),
    (Totals, "status"): st.sampled_from(["ok", "failed"]),
    (ev.BeforeRunEnd, "status"): st.sampled_from(["ok", "failed", "max_turns_reached"]),
    (ev.BeforeCompaction, "trigger"): st.sampled_from(["soft", "hard", "manual", "threshold", "seed"]),
    (ev.AfterCompaction, "trigger"): st.sampled_from(["soft", "hard", "manual", "threshold"]),
    (ev.BeforeModelCall, "options"): OPTIONS,
    (ev.AfterModelCall, "options"): OPTIONS,
    (ev.BeforeModelCall, "attempt"): st.integers(1, 9),
    (ev.AfterModelCall, "attempt"): st.integers(1, 9),
    (ev.AfterToolCall, "response"): JSON | BLOCKS,
    (ev.InputRejected, "detail"): st.sampled_from([state.value for state in RuntimeState]),
    (ev.AfterShell, "exit_code"): st.integers(-64, 255),
}


@cache
def drawn(kind: type) -> st.SearchStrategy[Any]:
    """Instances of a dataclass, every field drawn by its type."""
    hints = get_type_hints(kind)
    return st.builds(kind, **{each.name: _of_field(kind, each.name, hints[each.name]) for each in fields(kind)})


def _of_field(kind: type, name: str, hint: Any) -> st.SearchStrategy[Any]:
    return CLOSED[kind, name] if (kind, name) in CLOSED else _of(hint)


def _of(hint: Any) -> st.SearchStrategy[Any]:
    if hint in PLAIN:
        return PLAIN[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return st.one_of(*map(_of, inner))
    if origin is tuple:
        return st.lists(_of(inner[0]), max_size=2).map(tuple)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    if is_dataclass(hint):
        return drawn(hint)
    return st.dictionaries(TEXT, JSON, max_size=3)


PLAIN: Mapping[Any, st.SearchStrategy[Any]] = {
    Any: JSON,
    type(None): st.none(),
    str: TEXT,
    bool: st.booleans(),
    int: COUNT,
    float: st.floats(0, 1e6),
}


def objects_in(value: Any) -> Iterator[Any]:
    """Every JSON object that stands in a case file, as it is or within a text, those within others too."""
    match value:
        case dict():
            yield value
            for each in value.values():
                yield from objects_in(each)
        case list():
            for each in value:
                yield from objects_in(each)
        case str() if len(value) < 20_000:
            yield from _written_in(value)


def _written_in(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            found, _ = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            pass
        else:
            yield found
        at = text.find("{", at + 1)

"""Whatever a hook is sent is what the schema of its point says, and nothing besides."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.laws.drawn import LAW
from tests.schema_rig import DIALECTS, EVERY, ROWS, drawn, faults, sent

from hookline.dialects import PointSchema
from hookline.testing import SAMPLES

SIDES = ("payload", "answer")


@pytest.mark.parametrize("row", list(ROWS))
def test_the_sample_of_every_point_is_what_its_schema_says(row: str) -> None:
    """In every dialect."""
    schema, rule = ROWS[row]

    assert [] == faults(schema, "payload", sent(SAMPLES[rule.event], rule, schema.dialect))


@LAW
@given(st.data())
@pytest.mark.parametrize("row", list(ROWS))
def test_any_event_is_sent_as_its_schema_says(row: str, data: st.DataObject) -> None:
    """Whatever an event holds, as long as its closed words are those that there are."""
    schema, rule = ROWS[row]
    event = data.draw(drawn(rule.event))

    assert [] == faults(schema, "payload", sent(event, rule, schema.dialect))


@pytest.mark.parametrize("row", list(ROWS))
def test_a_payload_that_lacks_something_is_none(row: str) -> None:
    """Each member that a schema requires is missed, and one that it does not describe is found."""
    schema, rule = ROWS[row]
    whole = sent(SAMPLES[rule.event], rule, schema.dialect)
    required = schema.payload.get("required", ["turn", "outcome"])

    assert required
    for name in required:
        assert faults(schema, "payload", {key: value for key, value in whole.items() if key != name})
    assert faults(schema, "payload", {**whole, "never sent": 1})


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("schema", EVERY, ids=lambda schema: f"{schema.dialect}: {schema.point}")
def test_every_schema_is_one(schema: PointSchema, side: str) -> None:
    """Of the draft that it names."""
    document = getattr(schema, side)

    assert "https://json-schema.org/draft/2020-12/schema" == document["$schema"]
    Draft202012Validator.check_schema(document)


def test_every_schema_has_an_id_of_its_own() -> None:
    """It names the dialect, with its version where it has one, the point and the side."""
    ids = [getattr(schema, side)["$id"] for schema in EVERY for side in SIDES]

    assert len(ids) == len(set(ids))
    assert "urn:hookline:schema:muse:1.3.0:PreToolUse:answer" in ids
    assert "urn:hookline:schema:meerkat:run_started:payload" in ids
    assert "urn:hookline:schema:murmur:0.8.0:decision-point:payload" in ids


def test_every_row_of_every_table_has_schemas() -> None:
    """Of each dialect that has a form of its own."""
    told = {(schema.dialect, name) for schema in EVERY for name in schema.events}

    assert told == {(name, event.point.name) for name, dialect in DIALECTS.items() for event in dialect.rules}
    assert len(told) == len(ROWS)


@pytest.mark.parametrize("schema", EVERY, ids=lambda schema: f"{schema.dialect}: {schema.point}")
def test_every_value_is_described(schema: PointSchema) -> None:
    """In a sentence."""
    for document in (schema.payload, schema.answer):
        assert [] == [place for place, said in descriptions(document, "$") if not (said or "").endswith(".")]


def descriptions(schema: Any, place: str) -> Any:
    """Each place of a schema that describes a value, with what it says."""
    yield place, schema.get("description")
    for name, each in schema.get("properties", {}).items():
        yield from descriptions(each, f"{place}.{name}")
    if "properties" in schema.get("items", {}):
        yield from descriptions(schema["items"], f"{place}[]")

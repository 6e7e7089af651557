"""JSON Schema 2020-12 in few words. *said* is what a value means, with its unit."""

from collections.abc import Mapping, Sequence
from typing import Any

from hookline.dialects._base import PointSchema

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
NOT_BLANK = r"\S"
NEVER: Schema = {"not": {}}


def anything(said: str) -> Schema:
    """Any JSON."""
    return {"description": said}


def text(said: str, **more: Any) -> Schema:
    return {"description": said, "type": "string", **more}


def spoken(said: str) -> Schema:
    """A text that says something."""
    return text(said, pattern=NOT_BLANK)


def word(said: str, *words: str) -> Schema:
    """One of *words*, and no other."""
    return {"description": said, "enum": list(words)}


def constant(said: str, value: str | None) -> Schema:
    return {"description": said, "const": value}


def flag(said: str) -> Schema:
    return {"description": said, "type": "boolean"}


def whole(said: str, *, least: int | None = 0, most: int | None = None) -> Schema:
    """A whole number."""
    bounds = {name: bound for name, bound in (("minimum", least), ("maximum", most)) if bound is not None}
    return {"description": said, "type": "integer", **bounds}


def number(said: str) -> Schema:
    return {"description": said, "type": "number"}


def or_null(schema: Mapping[str, Any]) -> Schema:
    """The same, or null."""
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]}


def each(said: str, items: Mapping[str, Any], **more: Any) -> Schema:
    """An array."""
    return {"description": said, "type": "array", "items": items, **more}


def record(said: str, members: Mapping[str, Schema], *, optional: Sequence[str] = (), **more: Any) -> Schema:
    """An object that has these members and no others, all of them but the *optional* ones."""
    required = [name for name in members if name not in optional]
    needed = {"required": required} if required else {}
    closed = {"type": "object", "properties": dict(members), **needed, "additionalProperties": False}
    return {"description": said, **closed, **more}


def open_record(said: str, members: Mapping[str, Schema], *, optional: Sequence[str] = ()) -> Schema:
    """An object that has these members, and may have more."""
    closed = record(said, members, optional=optional)
    return {name: value for name, value in closed.items() if name != "additionalProperties"}


def mapping(said: str) -> Schema:
    """An object with any members."""
    return {"description": said, "type": "object"}


def one_of(said: str, *schemas: Mapping[str, Any]) -> Schema:
    return {"description": said, "oneOf": list(schemas)}


def point_schema(
    owner: tuple[str, str],
    point: str,
    events: Sequence[str],
    *,
    payload: Mapping[str, Any],
    answer: Mapping[str, Any],
    also: tuple[str, ...] = (),
) -> PointSchema:
    """Both schemas of one point, each a document by itself. *owner* is the dialect and its version, "" for none."""

    def document(side: str, schema: Mapping[str, Any]) -> Schema:
        name = ":".join(part for part in (*owner, point, side) if part)
        dialect = " ".join(part for part in owner if part)
        return {
            "$schema": DRAFT,
            "$id": f"urn:hookline:schema:{name}",
            "title": f"{dialect}: {point}, {side}",
            **schema,
        }

    return PointSchema(
        dialect=owner[0],
        point=point,
        events=tuple(events),
        payload=document("payload", payload),
        answer=document("answer", answer),
        also=also,
    )

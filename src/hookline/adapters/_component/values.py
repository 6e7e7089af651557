"""JSON values and a component's, each in the shape of the component's own types.

A record is an object under the names of its fields, an option its value or null, a list or a tuple an array, an enum
its case as text, flags an array of texts; a case of a variant is `{"arm": name, "value": payload}`, one of a result
`{"ok": value}` or `{"err": value}`. Fields that the component does not know are left out, options that nobody gave
are none: so one event serves every version of an interface.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from wasmtime.component import (
    F32,
    F64,
    S8,
    S16,
    S32,
    S64,
    U8,
    U16,
    U32,
    U64,
    Bool,
    Char,
    EnumType,
    FlagsType,
    ListType,
    OptionType,
    Record,
    RecordType,
    ResultType,
    String,
    TupleType,
    ValType,
    Variant,
    VariantType,
)

from hookline.adapters._component.frozen import Item

Change = Callable[[Any], Any]

INTEGERS: Mapping[type[ValType], tuple[int, int]] = {
    U8: (0, 2**8 - 1),
    U16: (0, 2**16 - 1),
    U32: (0, 2**32 - 1),
    U64: (0, 2**64 - 1),
    S8: (-(2**7), 2**7 - 1),
    S16: (-(2**15), 2**15 - 1),
    S32: (-(2**31), 2**31 - 1),
    S64: (-(2**63), 2**63 - 1),
}


class Misshapen(ValueError):
    """A value is not of its type. The text names the place and both."""

    def within(self, place: str) -> "Misshapen":
        text = str(self)
        return Misshapen(f"{place}{text}" if text.startswith((".", ":", "[")) else f"{place}: {text}")


class Unsupported(TypeError):
    """A type whose values cannot be written as JSON: a resource, a stream."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How values of one type are lowered from JSON, and lifted to it. Lowering raises Misshapen."""

    lower: Change
    lift: Change


class _Fields(Record):
    """A record on its way in: wasmtime reads the attributes, which have the names of the fields."""

    def __init__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)


def shape_of(kind: ValType) -> Shape:
    """The shape of *kind*. Raises Unsupported."""
    for classes, make in _MADE:
        if isinstance(kind, classes):
            return make(kind)
    raise Unsupported(f"no JSON has values of {kind.__class__.__name__}")


def _as_it_is(value: Any) -> Any:
    return value


def _expected(what: str, value: object) -> Misshapen:
    return Misshapen(f"expected {what}, found {value.__class__.__name__}")


def _lower_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _expected("text", value)
    if value.isascii():
        return value
    # Halves of characters that found each other make one; others, which no component may be given, are replaced.
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _lower_char(value: Any) -> str:
    text = _lower_text(value)
    if len(text) != 1:
        raise _expected("one character", value)
    return text


def _lower_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _expected("true or false", value)
    return value


def _lower_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _expected("a number", value)
    return float(value)


def _lift_float(value: float) -> float | None:
    return value if math.isfinite(value) else None  # JSON has no other


def _integer(kind: ValType) -> Shape:
    least, most = INTEGERS[kind.__class__]

    def lower(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise Misshapen(f"expected a whole number from {least} to {most}")
        return value

    return Shape(lower, _as_it_is)


def _enum(kind: EnumType) -> Shape:
    names = frozenset(kind.names)

    def lower(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise Misshapen(f"there is no case {value!r}")
        return value

    return Shape(lower, _as_it_is)


def _flags(kind: FlagsType) -> Shape:
    names = frozenset(kind.names)

    def lower(value: Any) -> set[str]:
        if not isinstance(value, list | tuple) or not names.issuperset(value):
            raise Misshapen(f"expected an array of some of {', '.join(sorted(names))}")
        return set(value)

    return Shape(lower, sorted)


def _record(kind: RecordType) -> Shape:
    fields = {name: shape_of(each) for name, each in kind.fields}
    lowering = tuple((name, shape.lower) for name, shape in fields.items())
    lifting = tuple((name, shape.lift) for name, shape in fields.items())

    def lower(value: Any) -> _Fields:
        if not isinstance(value, Mapping):
            raise _expected("an object", value)
        lowered: dict[str, Any] = {}
        for name, change in lowering:
            try:
                lowered[name] = change(value.get(name))
            except Misshapen as error:
                raise error.within(f".{name}") from None
        return _Fields(lowered)

    def lift(value: Any) -> dict[str, Any]:
        known = vars(value)
        return {name: change(known[name]) for name, change in lifting}

    return Shape(lower, lift)


def _list(kind: ListType) -> Shape:
    item = shape_of(kind.element)
    in_bytes = kind._is_bytes()  # noqa: SLF001 - what wasmtime asks

    def lower(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise _expected("an array", value)
        try:
            lowered = [item.lower(each) for each in value]
        except Misshapen as error:
            raise error.within("[]") from None
        return bytes(lowered) if in_bytes else lowered

    return Shape(lower, lambda value: [item.lift(each) for each in value])


def _tuple(kind: TupleType) -> Shape:
    items = [shape_of(each) for each in kind.elements]

    def lower(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or len(value) != len(items):
            raise Misshapen(f"expected an array of {len(items)}")
        return tuple(shape.lower(each) for shape, each in zip(items, value, strict=True))

    return Shape(lower, lambda value: [shape.lift(each) for shape, each in zip(items, value, strict=True)])


class _Cases:
    """A type of several cases. Its values are tagged where wasmtime could not tell them by their Python classes."""

    def __init__(self, kind: VariantType | OptionType | ResultType) -> None:
        cases = kind._cases()  # noqa: SLF001 - the one list that all three have
        self._tagged = kind._tagged()  # noqa: SLF001 - what wasmtime asks too
        self._shapes = {name: None if each is None else shape_of(each) for name, each in cases}
        self._classes = {name: _classes_of(each) for name, each in cases}

    def lower(self, name: str, payload: Any) -> Any:
        if name not in self._shapes:
            raise Misshapen(f"there is no case {name!r}")
        shape = self._shapes[name]
        lowered = None if shape is None else shape.lower(payload)
        return Variant(name, lowered) if self._tagged else lowered

    def lift(self, value: Any) -> tuple[str, Any]:
        if self._tagged:
            name, payload = value.tag, value.payload
        else:
            name, payload = next(name for name, known in self._classes.items() if isinstance(value, known)), value
        shape = self._shapes[name]
        return name, None if shape is None else shape.lift(payload)


def _classes_of(payload: ValType | None) -> tuple[type, ...]:
    if payload is None:
        return (type(None),)
    classes: set[type] = set()
    payload.add_classes(classes)
    return tuple(classes)


def _option(kind: OptionType) -> Shape:
    cases = _Cases(kind)
    return Shape(
        lambda value: cases.lower("none", None) if value is None else cases.lower("some", value),
        lambda value: cases.lift(value)[1],
    )


def _result(kind: ResultType) -> Shape:
    cases = _Cases(kind)

    def lower(value: Any) -> Any:
        if not isinstance(value, Mapping) or len(value) != 1:
            raise Misshapen("expected an object with ok or err")
        ((name, payload),) = value.items()
        return cases.lower(name, payload)

    return Shape(lower, lambda value: dict((cases.lift(value),)))


def _variant(kind: VariantType) -> Shape:
    cases = _Cases(kind)

    def lower(value: Any) -> Any:
        if not isinstance(value, Mapping) or "arm" not in value:
            raise Misshapen("expected an object with arm and value")
        return cases.lower(value["arm"], value.get("value"))

    def lift(value: Any) -> dict[str, Any]:
        name, payload = cases.lift(value)
        return {"arm": name, "value": payload}

    return Shape(lower, lift)


_MADE: tuple[tuple[type | tuple[type, ...], Callable[[Any], Shape]], ...] = (
    (Item, lambda item: shape_of(item.kind)),
    (RecordType, _record),
    (ListType, _list),
    (TupleType, _tuple),
    (OptionType, _option),
    (ResultType, _result),
    (VariantType, _variant),
    (EnumType, _enum),
    (FlagsType, _flags),
    (tuple(INTEGERS), _integer),
    ((F32, F64), lambda _: Shape(_lower_float, _lift_float)),
    (Bool, lambda _: Shape(_lower_bool, _as_it_is)),
    (Char, lambda _: Shape(_lower_char, _as_it_is)),
    (String, lambda _: Shape(_lower_text, _as_it_is)),
)

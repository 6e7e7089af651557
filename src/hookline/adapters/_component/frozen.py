"""Types of a component, read once. wasmtime-py else asks its library for them at every value of every call.

All that may be one of several cases is tagged here, so that no value has to be told from another by its Python class.
Lifting counts what it makes, as a guest may return more than there is time to look at.
"""

from typing import Any

from wasmtime.component import (
    Bool,
    Func,
    FuncType,
    ListType,
    OptionType,
    RecordType,
    ResultType,
    String,
    TupleType,
    ValType,
    VariantType,
)

MOST_TEXT = 16 * 1024 * 1024  # bytes of an answer: a conversation of a million tokens has a quarter of it
MOST_VALUES = 200_000  # that conversation as messages of 100 bytes; lifting them takes about a second

Cases = list[tuple[str, ValType | None]]


class TooLarge(Exception):  # caught where a call is made
    """More came than is lifted."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class Budget:
    """What one answer may still come to."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self._text = 0
        self._values = 0

    def take_text(self, size: int) -> None:
        self._text += size
        if self._text > MOST_TEXT:
            raise TooLarge(self._text)

    def take_value(self) -> None:
        self._values += 1
        if self._values > MOST_VALUES:
            raise TooLarge(0)


# Of the types below none holds on to wasmtime's own: what it would be asked for is known.


class _Record(RecordType):
    fields: list[tuple[str, ValType]] = []  # noqa: RUF012 - in the place of a property

    def __init__(self, fields: list[tuple[str, ValType]]) -> None:
        self.fields = fields


class _List(ListType):
    element: ValType = Bool()  # in the place of a property

    def __init__(self, element: ValType) -> None:
        self.element = element


class _Tuple(TupleType):
    elements: list[ValType] = []  # noqa: RUF012 - in the place of a property

    def __init__(self, elements: list[ValType]) -> None:
        self.elements = elements


class _Tagged:
    """Cases that are known, each lifted to a `Variant`."""

    def __init__(self, cases: Cases) -> None:
        self._known = cases

    def _cases(self) -> Cases:
        return self._known

    def _tagged(self) -> bool:
        return True


class _Variant(_Tagged, VariantType):
    pass


class _Option(_Tagged, OptionType):
    pass


class _Result(_Tagged, ResultType):
    pass


class _String(String):
    """A text that is counted before it is decoded."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def convert_from_c(self, c: Any) -> Any:
        self.budget.take_text(c.of.string.size)
        return super().convert_from_c(c)


class Item(ValType):
    """An item of a list, which is counted before it is lifted."""

    def __init__(self, kind: ValType, budget: Budget) -> None:
        self.kind = kind
        self.budget = budget

    def add_classes(self, s: set[type]) -> None:
        self.kind.add_classes(s)

    def convert_to_c(self, store: Any, val: Any, ptr: Any) -> None:
        self.kind.convert_to_c(store, val, ptr)

    def convert_from_c(self, c: Any) -> Any:
        self.budget.take_value()
        return self.kind.convert_from_c(c)


class _Typed(Func):
    """A function that knows its type."""

    signature: "Signature"

    def type(self, store: Any) -> FuncType:
        return self.signature  # type: ignore[return-value]  # all that a call reads of it are these two


class Signature:
    """The parameters and the result of a function, frozen; what it returns is held to a budget."""

    def __init__(self, kind: FuncType) -> None:
        self.budget = Budget()
        self.params = [(name, freeze(each, self.budget)) for name, each in kind.params]
        result = kind.result
        self.result = None if result is None else freeze(result, self.budget)

    def given_to(self, function: Func) -> Func:
        """*function*, which no longer asks for its type."""
        function.__class__ = _Typed
        function.signature = self  # type: ignore[attr-defined]
        return function


def freeze(kind: ValType, budget: Budget) -> ValType:
    """*kind*, with all that it consists of, in the place of which it can be used."""
    match kind:
        case RecordType():
            return _Record([(name, freeze(each, budget)) for name, each in kind.fields])
        case ListType():
            return _List(Item(freeze(kind.element, budget), budget))
        case TupleType():
            return _Tuple([freeze(each, budget) for each in kind.elements])
        case VariantType():
            return _Variant(_cases(kind.cases, budget))
        case OptionType():
            return _Option(_cases([("none", None), ("some", kind.payload)], budget))
        case ResultType():
            return _Result(_cases([("ok", kind.ok), ("err", kind.err)], budget))
        case String():
            return _String(budget)
        case _:
            return kind


def _cases(cases: Cases, budget: Budget) -> Cases:
    return [(name, None if each is None else freeze(each, budget)) for name, each in cases]

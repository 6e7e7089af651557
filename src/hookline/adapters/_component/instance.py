"""One instance of a component: made, and called."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wasmtime import Store, WasmtimeError
from wasmtime.component import Func, Linker, ResultType, String, VariantType

from hookline._core.capsule import CallLimits
from hookline._core.reasons import Failure
from hookline.adapters._component.broken import Broken, unusable
from hookline.adapters._component.compiled import Loaded
from hookline.adapters._component.engine import fault_of, said
from hookline.adapters._component.frozen import Signature, TooLarge
from hookline.adapters._component.values import Change, Misshapen, Unsupported, shape_of

PAGE = 65_536
# What wasmtime says where an instance needs more from the start; what it counts in, in bytes or pieces.
OVER_LIMIT = (
    (re.compile(r"memory minimum size of (\d+) pages exceeds"), "memory", PAGE),
    (re.compile(r"table minimum size of (\d+) elements exceeds"), "table", 1),
    (re.compile(r"instance count too high at (\d+)"), "instances", 1),
)


@dataclass(frozen=True, slots=True)
class _Callable:
    """A function of the interface: its one argument from JSON, its result to a line."""

    function: Func
    signature: Signature
    lower: Change
    lift: Change


def limit(store: Store, limits: CallLimits, *, own_instances: int = 0) -> None:
    """Hold the guest in *store* to its limits, *own_instances* of it being ours."""
    store.set_limits(
        memory_size=limits.memory_bytes,
        table_elements=limits.table_elements,
        instances=limits.instances + own_instances,
    )


class Instance:
    """A component in a store of its own, which is used by one thread at a time and never after a call that failed."""

    def __init__(self, loaded: Loaded, interface: str, store: Store, linker: Linker) -> None:
        """Instantiate it, which may run code of its. Raises Broken."""
        self._store = store
        self._component = loaded.component
        self._interface = interface
        self._callables: dict[str, _Callable] = {}
        try:
            self._instance = linker.instantiate(store, loaded.component)
        except WasmtimeError as error:
            raise _start_fault(error) from None

    def call(self, function: str, argument: Mapping[str, Any]) -> dict[str, Any]:
        """What *function* returned, as a line of the protocol. Raises Broken."""
        known = self._callables.get(function)
        if known is None:
            known = self._callables[function] = self._callable(function)
        try:
            lowered = known.lower(argument)
        except Misshapen as error:
            raise self._unlike(function, str(error.within("its argument"))) from None
        known.signature.budget.begin()
        try:
            returned = known.function(self._store, lowered)
            known.function.post_return(self._store)
        except WasmtimeError as error:
            raise fault_of(error) from None
        except TooLarge as error:
            detail = "it returned more than is read"
            raise Broken(Failure.OUTPUT_TOO_LARGE, detail, stream="body", size=error.size) from None
        (name, value), *_ = known.lift(returned).items()
        return {"err": value} if name == "err" else {"ok": value["arm"], "value": value["value"]}

    def _callable(self, name: str) -> _Callable:
        function = self._function(name)
        signature = Signature(function.type(self._store))
        result = signature.result
        if len(signature.params) != 1:
            raise self._unlike(name, f"it takes {len(signature.params)} arguments, not one")
        if not isinstance(result, ResultType) or not _is_answer(result):
            raise self._unlike(name, "it does not return a result of a variant, or a text")
        try:
            lower, lift = shape_of(signature.params[0][1]).lower, shape_of(result).lift
        except Unsupported as error:
            raise self._unlike(name, str(error)) from None
        return _Callable(signature.given_to(function), signature, lower, lift)

    def _function(self, name: str) -> Func:
        within = self._component.get_export_index(self._interface)
        index = self._component.get_export_index(name, within)
        function = None if index is None else self._instance.get_func(self._store, index)
        if function is None:
            raise unusable(f"missing function {self._interface}#{name}")
        return function

    def _unlike(self, function: str, detail: str) -> Broken:
        return unusable(f"the signature of {self._interface}#{function} is another: {detail}")


def _is_answer(result: ResultType) -> bool:
    (_, ok), (_, err) = result._cases()  # noqa: SLF001 - frozen, so that it is no question to the library
    return isinstance(ok, VariantType) and isinstance(err, String)


def _start_fault(error: WasmtimeError) -> Broken:
    cause = said(error)
    for pattern, stream, unit in OVER_LIMIT:
        if found := pattern.search(cause):
            return Broken(Failure.OVER_LIMIT, cause, stream=stream, size=int(found[1]) * unit)
    return unusable(f"it cannot be instantiated: {cause}")

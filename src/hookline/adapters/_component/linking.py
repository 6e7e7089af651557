"""Linking: every import of a component is always there, so that none fails to load for want of a grant.

WASI is wasmtime's where it may be used, what the host serves is asked of it, and whatever else there is refuses.
"""

import itertools
from collections.abc import Callable, Collection
from typing import Any

from wasmtime import Engine, WasmtimeError
from wasmtime.component import (
    Component,
    ComponentInstanceType,
    ComponentItem,
    FuncType,
    Linker,
    LinkerInstance,
    ResourceType,
    ValType,
)

from hookline.adapters._component.broken import unusable
from hookline.adapters._component.exported import WASI, Inspected

Provider = Callable[[str, FuncType], Callable[..., Any]]  # of a function's name and type; what is called then

# What wasmtime has of WASI 0.2. Their versions are compatible with one another.
PROVIDED = {
    "cli": "environment exit stderr stdin stdout terminal-input terminal-output terminal-stderr terminal-stdin "
    "terminal-stdout",
    "clocks": "monotonic-clock wall-clock",
    "filesystem": "preopens types",
    "http": "outgoing-handler types",
    "io": "error poll streams",
    "random": "insecure insecure-seed random",
    "sockets": "instance-network ip-name-lookup network tcp tcp-create-socket udp udp-create-socket",
}
FOREIGN = 1_000_000  # resources that nobody makes: each type has a number of its own from here on


def inspected(engine: Engine, component: Component) -> Inspected:
    """What a component has and asks for. None of its code runs."""
    kind = component.type
    exports, imports = kind.exports(engine), kind.imports(engine)
    return Inspected(exports=_functions(engine, exports), imports=_functions(engine, imports))


def is_provided(interface: str) -> bool:
    """Whether *interface*, an import's name, is one that wasmtime has."""
    package, _, rest = interface.removeprefix(WASI).partition("/")
    name, _, version = rest.partition("@")
    return interface.startswith(WASI) and version.startswith("0.2.") and name in PROVIDED.get(package, "").split()


def link(linker: Linker, engine: Engine, component: Component, provide: Provider, *, given: Collection[str]) -> None:
    """Define every import that is not one of *given*: its functions as *provide* has them, its resources as empty."""
    stubs = _Stubs(provide)
    with linker.root() as root:
        for name, extern in component.type.imports(engine).items():
            if name in given:
                continue
            if not isinstance(extern.ty, ComponentInstanceType):
                stubs.define(root, name, name, extern.ty)
                continue
            with root.add_instance(name) as instance:
                for member, each in extern.ty.exports(engine).items():
                    stubs.define(instance, member, f"{name}#{member}", each.ty)


class _Stubs:
    """What is defined in the place of imports."""

    def __init__(self, provide: Provider) -> None:
        self._provide = provide
        self._numbers = itertools.count(FOREIGN)

    def define(self, parent: LinkerInstance, name: str, full_name: str, item: ComponentItem) -> None:
        match item:
            case FuncType():
                parent.add_func(name, self._provide(full_name, item))
            case ResourceType():
                parent.add_resource(name, ResourceType.host(next(self._numbers)), _forget)
            case ValType():
                pass  # a name for what its functions have in them
            case _:
                raise unusable(f"it imports {full_name}, which is no function, type or resource")


def refuses(name: str, _: FuncType) -> Callable[..., Any]:
    """A function that nobody serves: it can be linked, and fails when it is called."""

    def refuse(*_: Any) -> Any:
        # Of no other class: wasmtime-py keeps those for whichever thread looks next.
        raise WasmtimeError(f"{name} is not granted")

    return refuse


def _functions(engine: Engine, items: dict[str, Any]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for name, extern in items.items():
        item = extern.ty
        if isinstance(item, ComponentInstanceType):
            members = item.exports(engine)
            found[name] = frozenset(each for each in members if isinstance(members[each].ty, FuncType))
        elif isinstance(item, FuncType):
            found[""] = found.get("", frozenset()) | {name}
        else:
            found.setdefault(name, frozenset())
    return found


def _forget(*_: Any) -> None:
    """There is nothing behind a resource that nobody makes."""

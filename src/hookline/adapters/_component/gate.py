"""The gate through which a guest's HTTP requests pass: to places that were granted, and to no other."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from wasmtime import Engine, Store, StoreContext, WasmtimeError, wat2wasm
from wasmtime.component import Component, Func, Linker, ResourceAny, Variant

from hookline._core.capsule import Destination
from hookline.adapters._component.broken import unusable
from hookline.adapters._component.engine import said
from hookline.adapters._component.gate_text import GATE

HANDLER = "wasi:http/outgoing-handler@"
DENIED = "HTTP-request-denied"
PORTS = {"http": 80, "https": 443}
# A host and a port as they are written in a URL. No user and password, which nobody needs to be told of a granted host.
AUTHORITY = re.compile(r"(?P<host>[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?")


class Gate:
    """Looks at each request, in the store of the guest that makes it."""

    def __init__(self, engine: Engine, store: Store, linker: Linker, network: Sequence[Destination]) -> None:
        """*linker* has the library's own WASI and HTTP. Raises Broken."""
        self._network = network
        try:
            instance = linker.instantiate(store, Component(engine, wat2wasm(GATE)))
        except WasmtimeError as error:
            raise unusable(f"no HTTP for guests: {said(error)}") from None
        functions = [instance.get_func(store, name) for name in ("scheme", "authority", "handle")]
        self._scheme, self._authority, self._send = (_calling(each) for each in functions if each is not None)

    def handle(self, store: StoreContext, request: ResourceAny, options: ResourceAny | None) -> Any:
        """In the place of the library's `handle`: the same for a place that was granted, an error for any other."""
        scheme, authority = self._scheme(store, request), self._authority(store, request)
        if not is_granted(None if scheme is None else scheme.tag, authority, self._network):
            request.drop(store)
            if options is not None:
                options.drop(store)
            return Variant(DENIED)
        return self._send(store, request, options)


def is_granted(scheme: str | None, authority: str | None, network: Sequence[Destination]) -> bool:
    """Whether a request may be sent. One without a scheme goes by HTTPS, as the library has it."""
    written = AUTHORITY.fullmatch(authority or "")
    name = (scheme or "HTTPS").lower()
    if written is None or name not in PORTS:
        return False
    port = int(written["port"] or PORTS[name])
    hosts = {written["host"], written["host"].strip("[]")}  # of an IPv6 address either spelling will do
    return any(place.covers(name, host, port) for place in network for host in hosts)


def _calling(function: Func) -> Callable[..., Any]:
    def call(store: StoreContext, *arguments: Any) -> Any:
        result = function(store, *arguments)
        function.post_return(store)
        return result

    return call

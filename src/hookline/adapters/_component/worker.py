"""The worker: a process with one component in it that may use WASI, to be killed when its time is up.

Its standard input and output are the host's line to it. The guest has neither: what it prints goes to standard error.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from wasmtime import Store, WasiConfig, WasmtimeError
from wasmtime.component import EnumType, FuncType, Linker, ResultType, String, ValType, VariantType

from hookline._core.capsule import CallLimits, Destination
from hookline._core.reasons import Failure
from hookline.adapters._component.broken import Broken, unusable
from hookline.adapters._component.compiled import Loaded, fetch
from hookline.adapters._component.gate import HANDLER, Gate
from hookline.adapters._component.gate_text import GATE_INSTANCES
from hookline.adapters._component.instance import Instance, limit
from hookline.adapters._component.lines import LONGEST, line
from hookline.adapters._component.linking import inspected, is_provided, link, refuses
from hookline.adapters._component.values import Misshapen, Shape, Unsupported, shape_of

NEVER = 2**62  # epochs: here the deadline is the end of the process


class Channel:
    """The line to the host."""

    def __init__(self) -> None:
        """Take standard input and output for ourselves."""
        self._in: BinaryIO = os.fdopen(os.dup(0), "rb")
        self._out = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def read(self) -> Any:
        """The next message. Ends the process where there is none."""
        text = self._in.readline()
        if not text.endswith(b"\n"):
            leave()
        return json.loads(text)

    def write(self, message: dict[str, Any]) -> None:
        data = line(message)
        if len(data) > LONGEST:
            detail = "it returned more than is read"
            data = line(Broken(Failure.OUTPUT_TOO_LARGE, detail, stream="body", size=len(data)).as_message())
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._out, rest) :]


def main() -> None:
    channel = Channel()
    try:
        setup = channel.read()["setup"]
        try:
            instance = _instance(setup, channel)
        except Broken as broken:
            channel.write(broken.as_message())
            return
        channel.write({"ready": setup["interface"], "functions": setup["functions"]})
        while True:
            channel.write(_answer(instance, channel.read()))
    except BrokenPipeError:
        leave()


def leave() -> NoReturn:
    """The host is gone."""
    os._exit(0)


def _answer(instance: Instance, message: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return instance.call(message["call"], message["argument"])
    except Broken as broken:
        return broken.as_message()


def _instance(setup: Mapping[str, Any], channel: Channel) -> Instance:
    """The component, with all that it is granted and nothing else. Raises Broken."""
    loaded = fetch(setup["key"], Path(setup["folder"]))
    if loaded is None:
        raise unusable("its compiled form is gone")
    store = Store(loaded.engine)
    store.set_epoch_deadline(NEVER)
    store.set_wasi(_wasi(setup))
    return Instance(loaded, setup["interface"], store, _linker(loaded, store, setup, channel))


def _wasi(setup: Mapping[str, Any]) -> WasiConfig:
    """An environment and folders. Of the network there is nothing: sockets are refused by the library."""
    config = WasiConfig()
    config.env = list(setup["env"].items())
    config.inherit_stdout()  # which is standard error by now
    config.inherit_stderr()
    for guest, path in setup["folders"]:
        try:
            config.preopen_dir(path, guest)
        except WasmtimeError:
            raise unusable(f"its folder {path} cannot be opened") from None
    return config


def _linker(loaded: Loaded, store: Store, setup: Mapping[str, Any], channel: Channel) -> Linker:
    engine, component = loaded.engine, loaded.component
    imports = inspected(engine, component).imports
    given = {name for name in imports if is_provided(name)}
    linker = Linker(engine)
    linker.allow_shadowing = True
    linker.add_wasip2()
    speaks_http = any(name.startswith("wasi:http/") for name in given)
    limit(store, CallLimits(**setup["limits"]), own_instances=GATE_INSTANCES if speaks_http else 0)
    if speaks_http:
        store.set_wasi_http()
        linker.add_wasi_http()
        _shut(linker, loaded, store, setup, {name for name in given if name.startswith(HANDLER)})
    asks = frozenset(setup["asks"])

    def provide(name: str, kind: FuncType) -> Callable[..., Any]:
        return asking(name, kind, channel) if name in asks else refuses(name, kind)

    link(linker, engine, component, provide, given=given)
    return linker


def _shut(linker: Linker, loaded: Loaded, store: Store, setup: Mapping[str, Any], names: set[str]) -> None:
    """Put the gate in the place of the library's handler, under every name by which it is imported."""
    real = Linker(loaded.engine)
    real.add_wasip2()
    real.add_wasi_http()
    network = [Destination(host=host, port=port, scheme=scheme) for host, port, scheme in setup["network"]]
    gate = Gate(loaded.engine, store, real, network)
    with linker.root() as root:
        for name in names:
            with root.add_instance(name) as instance:
                instance.add_func("handle", gate.handle)


def asking(name: str, kind: FuncType, channel: Channel) -> Callable[..., Any]:
    """A function that asks the host; one that refuses where its types cannot be written as JSON."""
    try:
        lifts = [shape_of(each).lift for _, each in kind.params]
        told = Told(name, kind.result)
    except Unsupported:
        return refuses(name, kind)

    def ask(_: Any, *arguments: Any) -> Any:
        lifted = [lift(each) for lift, each in zip(lifts, arguments, strict=True)]
        channel.write({"ask": name, "arguments": lifted})
        return told.as_result(channel.read())

    return ask


class Told:
    """What the host said, in the type that an import returns. Where that has no place for an error, the guest traps."""

    def __init__(self, name: str, kind: ValType | None) -> None:
        self._name = name
        self._shape: Shape | None = None if kind is None else shape_of(kind)
        self._result = kind if isinstance(kind, ResultType) else None
        self._error = None if self._result is None else self._result.err

    def as_result(self, reply: Mapping[str, Any]) -> Any:
        """Raises WasmtimeError."""
        try:
            if "err" in reply:
                return self._refused(str(reply["err"]))
            if self._shape is None:
                return None
            return self._shape.lower(reply["ok"] if self._result is None else {"ok": reply["ok"]})
        except Misshapen as error:
            raise WasmtimeError(f"{self._name}: the host's answer does not fit: {error}") from None

    def _refused(self, text: str) -> Any:
        if self._shape is None or self._result is None:
            raise WasmtimeError(f"{self._name}: {text}")
        return self._shape.lower({"err": _as_error(text, self._error)})


def _as_error(text: str, kind: ValType | None) -> Any:
    """*text* as a value of *kind*: itself, a case of that name, or `name: rest` as a case with a payload."""
    match kind:
        case None:
            return None
        case String() | EnumType():
            return text
        case VariantType():
            name, colon, rest = text.partition(": ")
            return {"arm": name, "value": rest if colon else None}
        case _:
            pass
    raise Misshapen(f"there is no place for {text!r}")


if __name__ == "__main__":
    sys.exit("started by hookline alone")

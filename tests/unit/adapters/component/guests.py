"""Components, called with the fewest words."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.component_rig import INTERFACE, written
from tests.unit.adapters.rig import EVENT

from hookline._core.components import ComponentTarget, Interface
from hookline._core.guests import GuestCall, GuestError
from hookline._core.payload import CallFailed, Limits, Payload, Reply, Yielded
from hookline._core.reasons import Failure
from hookline._processes.watchdog import NoWatchdog
from hookline.adapters.component import ComponentAdapter

SERVED = (Interface(name=INTERFACE, required=frozenset({"on-event"}), optional=frozenset({"on-other"})),)
LATE = CallFailed(why=Failure.TIMEOUT, detail="hook timed out after 200ms", interface=INTERFACE)
WITHIN = 0.2  # seconds: the limit of one that will not answer
DESK = "demo:host/desk@1.0.0"


def said(text: str, *, fresh: bool = False) -> Yielded:
    return Yielded(arm="said", value=text, interface=INTERFACE, fresh=fresh)


def nothing(*, fresh: bool = False) -> Yielded:
    return Yielded(arm="none", interface=INTERFACE, fresh=fresh)


def event(text: str = "hello", number: int = 0, **more: Any) -> dict[str, Any]:
    return {"text": text, "number": number, "note": None, "items": [], **more}


@dataclass
class Desk:
    """A host that serves the three functions of `component_rig.HOST`, and knows what it was asked."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    dropped: asyncio.Event = field(default_factory=asyncio.Event)

    def imports(self) -> frozenset[str]:
        return frozenset(f"{DESK}#{name}" for name in ("echo", "count", "knock"))

    async def ask(self, name: str, arguments: tuple[Any, ...]) -> Any:
        self.asked.append((name, arguments))
        answer = self.answers[name.removeprefix(f"{DESK}#")]
        if isinstance(answer, Exception):
            raise answer
        if answer is Ellipsis:
            try:
                await asyncio.Event().wait()
            finally:
                self.dropped.set()
        return answer


def refusal(text: str) -> GuestError:
    return GuestError(text)


class Guests:
    """An adapter, and components in files of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.adapter = ComponentAdapter(NoWatchdog(), cache=folder / "compiled")
        self._made = 0

    def target(self, data: bytes, **more: Any) -> ComponentTarget:
        self._made += 1
        path = written(self.folder / f"{self._made}.wasm", data)
        return ComponentTarget(**{"subject": "the hook", "path": path, "interfaces": SERVED, **more})

    async def call(
        self, target: ComponentTarget, text: str = "hello", number: int = 0, *, within: float = 10.0, **more: Any
    ) -> Reply:
        return await self.ask(target, event(text, number, **more), within=within)

    async def ask(
        self, target: ComponentTarget, argument: Any, *, function: str = "on-event", within: float = 10.0
    ) -> Reply:
        call = GuestCall(function=function, argument=argument)
        return await self.adapter.call(target, Payload(EVENT, value=call), Limits(within))

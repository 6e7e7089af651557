"""A shipped component by itself: one instance, any number of events."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookline._core.components import ComponentTarget, Folder
from hookline._core.events import SessionStart
from hookline._core.guests import GuestCall, GuestHost
from hookline._core.payload import CallFailed, Limits, Payload, Yielded
from hookline._processes.watchdog import ShellWatchdog
from hookline.adapters.component import ComponentAdapter
from hookline.dialects.murmur.interfaces import INTERFACES

SHIPPED = Path(__file__).parent.parent.parent / "src" / "hookline" / "shipped"


@dataclass(frozen=True)
class Shipped:
    """Calls one instance."""

    adapter: ComponentAdapter
    target: ComponentTarget = field(repr=False)

    async def call(self, function: str, argument: Mapping[str, Any]) -> Yielded | CallFailed:
        payload = Payload(SessionStart(source="startup"), value=GuestCall(function=function, argument=argument))
        reply = await self.adapter.call(self.target, payload, Limits(timeout=20.0))
        assert isinstance(reply, Yielded | CallFailed)
        return reply


@asynccontextmanager
async def shipped(
    name: str, *, env: Mapping[str, str] | None = None, scope: Path | None = None, host: GuestHost | None = None
) -> AsyncIterator[Shipped]:
    """The component that is shipped under this name."""
    adapter = ComponentAdapter(ShellWatchdog())
    target = ComponentTarget(
        subject=name,
        path=SHIPPED / name / "capsule.wasm",
        interfaces=INTERFACES,
        env=dict(env or {}),
        folders=() if scope is None else (Folder(guest=".", path=scope),),
        host=host,
    )
    try:
        yield Shipped(adapter, target)
    finally:
        await adapter.aclose()

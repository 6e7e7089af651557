"""One component alone, called as a capsule calls it: for the tests of whoever writes hooks."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline._core.capsule import CallLimits
from hookline._core.components import ComponentTarget, Folder
from hookline._core.errors import StateError
from hookline._core.events import SessionStart
from hookline._core.guests import GuestCall, GuestHost
from hookline._core.payload import CallFailed, Limits, Payload, Yielded
from hookline._processes.watchdog import ShellWatchdog
from hookline.adapters.component import ComponentAdapter
from hookline.dialects.murmur.grants import destination
from hookline.dialects.murmur.interfaces import INTERFACES
from hookline.dialects.murmur.kinds import Refusal
from hookline.journal.places import components_folder


def call_hook(
    component: Path | str,
    function: str,
    argument: Mapping[str, Any],
    *,
    env: Mapping[str, str] | None = None,
    scope: Path | str | None = None,
    network: tuple[str, ...] = (),
    host: GuestHost | None = None,
    limits: CallLimits | None = None,
) -> Yielded | CallFailed:
    """What the hook answers to one event, called through the interface that it exports.

    *argument* is the event's record, with its fields as the interface spells them and None for what is left out.
    *scope* is the folder that it is granted, *network* entries as a manifest grants them, *host* what it may ask; of
    all these it has nothing by default, and of the environment what *env* says. The reply is the arm with its payload,
    or why there is none. Raises ValueError for a grant that no manifest could have.
    """
    bounds = limits or CallLimits()
    target = ComponentTarget(
        subject=str(component),
        path=Path(component).resolve(),
        interfaces=INTERFACES,
        limits=bounds,
        env=dict(env or {}),
        folders=() if scope is None else (Folder(guest=".", path=Path(scope).resolve()),),
        network=tuple(map(_granted, network)),
        host=host,
    )
    return asyncio.run(_called(target, GuestCall(function=function, argument=argument), bounds))


def _granted(entry: str) -> Any:
    found = destination(entry)
    if isinstance(found, Refusal):
        raise ValueError(f"network {entry!r}: {found}")  # noqa: TRY004  # it is of the right type, and no grant
    return found


def _cache() -> Path | None:
    """Where compiled components are kept: a hook of a whole language runtime takes ten seconds to compile."""
    try:
        return components_folder(os.environ)
    except StateError:
        return None


async def _called(target: ComponentTarget, call: GuestCall, limits: CallLimits) -> Yielded | CallFailed:
    adapter = ComponentAdapter(ShellWatchdog(), cache=_cache())
    try:
        payload = Payload(event=SessionStart(source="startup"), value=call)
        reply = await adapter.call(target, payload, Limits(timeout=limits.deadline))
    finally:
        await adapter.aclose()
    if isinstance(reply, Yielded | CallFailed):
        return reply
    raise TypeError(f"a component gave {reply!r}")

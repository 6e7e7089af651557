"""What the tests of the adapters stand on: hooks that are really run."""

import asyncio
import sys
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tests.unit.processes.rig import carriers

from hookline._core.events import BeforeRun
from hookline._core.payload import Limits, Payload, Reply
from hookline._core.targets import CommandTarget
from hookline._processes.watchdog import NoWatchdog
from hookline.adapters._drive import drive
from hookline.adapters.command import CommandAdapter

EVENT = BeforeRun(prompt="fix the build")
GRACE = 0.2
DRAIN = 0.2


def command_adapter() -> CommandAdapter:
    return CommandAdapter(NoWatchdog(), grace=GRACE, drain=DRAIN)


@dataclass
class Hooks:
    """Runs commands, and knows which of the processes that they started are still alive."""

    adapter: CommandAdapter = field(default_factory=command_adapter)
    token: str = field(default_factory=lambda: uuid4().hex)

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "TOKEN": self.token}

    async def run(
        self, *argv: str, within: float = 10, cap: int = 16_384, body: bytes = b"{}", cwd: str = "/"
    ) -> Reply:
        target = CommandTarget(argv, self.env)
        return await self.adapter.call(target, Payload(EVENT, body, cwd), Limits(within, cap))

    async def sh(
        self, script: str, *, within: float = 10, cap: int = 16_384, body: bytes = b"{}", cwd: str = "/"
    ) -> Reply:
        return await self.run("/bin/sh", "-c", script, within=within, cap=cap, body=body, cwd=cwd)

    async def py(self, script: str, *, within: float = 10) -> Reply:
        return await self.run(sys.executable, "-I", "-S", "-c", script, within=within)

    def alive(self) -> list[int]:
        return carriers(self.token)


async def driven(coroutine: Coroutine[Any, Any, object], within: float = 10) -> Reply:
    """A handler's coroutine, driven as the adapter drives it."""
    return await drive(coroutine, Limits(within), asyncio.get_running_loop().time() + within)


def cancel_requests() -> int:
    """How many requests for the cancellation of this task there are."""
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()

"""What the tests of the adapters stand on: hooks that are really run, and knowing what is left of them."""

import asyncio
import os
import sys
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from hookline._core.events import BeforeRun
from hookline._core.payload import Limits, Payload, Reply
from hookline._core.targets import CommandTarget
from hookline.adapters._drive import drive
from hookline.adapters._watchdog import NoWatchdog
from hookline.adapters.command import CommandAdapter

EVENT = BeforeRun(prompt="fix the build")
GRACE = 0.2
DRAIN = 0.2


def descriptors() -> int:
    """How many this program has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def carriers(token: str) -> list[int]:
    """The living processes that have *token* in their environment."""

    def carries(entry: Path) -> bool:
        try:
            return token.encode() in (entry / "environ").read_bytes()
        except OSError:
            return False

    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and carries(entry)]


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


class Fifo:
    """Lines from a hook to a test, so that the test knows how far the hook is."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self.fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    async def lines(self, count: int = 1) -> list[str]:
        """Wait for this many lines."""
        text = ""
        while text.count("\n") < count:
            await readable(self.fd)
            text += os.read(self.fd, 4096).decode()
        return text.splitlines()


async def readable(fd: int) -> None:
    """Wait until there is something to read, or the end."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        async with asyncio.timeout(10):
            await ready.wait()
    finally:
        loop.remove_reader(fd)


async def ended(pid: int) -> None:
    """Wait until a process has ended, whoever's child it is."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        await readable(fd)
    finally:
        os.close(fd)

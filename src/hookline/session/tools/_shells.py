"""The commands that the shell tools of one session have started."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hookline._core.credentials import without_credentials
from hookline._core.errors import ToolError
from hookline._processes.leftovers import Leftovers
from hookline._processes.spawn import Stdin
from hookline._processes.watchdog import ShellWatchdog
from hookline.session.ports import CallContext
from hookline.session.tools import _process
from hookline.session.tools._capture import Capture
from hookline.session.tools._process import Process, Status

BYTES_PER_TOKEN = 4  # a rough average over models
KEPT = 32  # background commands, running or not yet forgotten: each may hold 64 KiB of output
LEFT_BEHIND = "\n[what the command left running was ended with it; `background` keeps a command running]\n"


@dataclass(slots=True, kw_only=True)
class Shell:
    """One command that was started. In the background, `task` attends to it; `talking` is held by who talks to it."""

    id: str
    command: str
    description: str
    process: Process
    task: asyncio.Task[None] | None = None
    talking: asyncio.Lock = field(default_factory=asyncio.Lock)

    def report(self, output: Capture) -> str:
        """The account of it that the model and the hooks read: a JSON text with the keys that Muse hooks know."""
        process = self.process
        account: dict[str, Any] = {
            "chunk_id": self.id,
            "command": self.command,
            "description": self.description,
            "exit_code": process.exit_code,
            "terminal_status": process.status.value,
            "output": output.text() + (LEFT_BEHIND if process.left_behind else ""),
            "original_output_bytes": output.total,
            "original_output_tokens": -(-output.total // BYTES_PER_TOKEN),
            "truncated": output.truncated,
        }
        if process.reason:
            account["terminal_reason"] = process.reason
        if process.status is Status.RUNNING:
            account["pid"] = process.pid
        return msgspec.json.encode(account).decode()

    def new_output(self) -> Capture:
        """What it printed since the last time."""
        output = self.process.output
        running = self.process.status is Status.RUNNING
        self.process.output = output.cut() if running else Capture()
        return output


class Shells:
    """Starts commands and keeps those in the background. The shell tools of a session share one of these."""

    def __init__(self) -> None:
        self._watchdog = ShellWatchdog()
        self._leftovers = Leftovers()
        self._count = 0
        self._background: dict[str, Shell] = {}

    def start(
        self, argv: tuple[str, ...], context: CallContext, *, description: str, stdin: Stdin = Stdin.NONE
    ) -> Shell:
        """Start a command. Whoever asked for it attends to its process, with nothing awaited in between."""
        self._count += 1
        if not self._watchdog.ready:
            self._watchdog.start()
        process = _process.start(
            argv,
            cwd=context.cwd,
            env=without_credentials(context.env),
            stdin=stdin,
            watchdog=self._watchdog,
            leftovers=self._leftovers,
        )
        return Shell(id=f"bash-{self._count}", command=argv[-1], description=description, process=process)

    def start_in_background(
        self, argv: tuple[str, ...], context: CallContext, *, description: str, timeout: float | None
    ) -> Shell:
        """Start a command that is attended to here."""
        self._make_room()
        shell = self.start(argv, context, description=description, stdin=Stdin.PIPE)
        shell.task = asyncio.create_task(shell.process.attend(timeout), name=shell.id)
        self._background[shell.id] = shell
        return shell

    def find(self, name: str) -> Shell:
        """The background command of this id."""
        if name not in self._background:
            known = ", ".join(self._background) or "none"
            raise ToolError(f"there is no background command `{name}`; there are: {known}")
        return self._background[name]

    async def aclose(self) -> None:
        """End every background command, and whatever else a command of this session left running."""
        shells = tuple(self._background.values())
        self._background.clear()
        for shell in shells:
            shell.process.stop()
        try:
            await asyncio.gather(*(shell.task for shell in shells if shell.task is not None), return_exceptions=True)
        finally:
            for shell in shells:
                shell.process.remove()  # a task that was cancelled before it began has not done it
            self._watchdog.close()
            await self._leftovers.end()

    def _make_room(self) -> None:
        """Forget the oldest background command that has ended, where there are too many."""
        if len(self._background) < KEPT:
            return
        ended = (name for name, shell in self._background.items() if shell.process.status is not Status.RUNNING)
        oldest = next(ended, None)
        if oldest is None:
            raise ToolError(f"{KEPT} background commands are running; end one first: `kill -- -<pid>`")
        del self._background[oldest]

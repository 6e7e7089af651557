"""The shell tools: run a command, or start one in the background and talk to it."""

import os
import shutil
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from hookline._core.commands import ResolvedCommand
from hookline._core.errors import ToolError
from hookline._core.shells import ShellResult
from hookline.session.ports import CallContext, Risk, ToolResult
from hookline.session.tools._base import BuiltinTool, PathText, ToolInput
from hookline.session.tools._capture import Capture
from hookline.session.tools._files import is_inside, locate
from hookline.session.tools._process import Status
from hookline.session.tools._shells import Shells

DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 3_600_000
MAX_WAIT_MS = 60_000


class Command(ToolInput, frozen=True):
    """What `bash` takes."""

    command: Annotated[str, Meta(min_length=1, description="The command line, as the shell reads it.")]
    description: Annotated[str, Meta(description="What it does, in a few words, for the person.")] = ""
    workdir: Annotated[PathText, Meta(description="Where to run it, from the workspace.")] = "."
    timeout_ms: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_TIMEOUT_MS)] | None,
        Meta(description="Left out: 120000, and in the background no limit."),
    ] = None
    background: Annotated[bool, Meta(description="Only start it; the answer says its `chunk_id`.")] = False


class Typed(ToolInput, frozen=True):
    """What `bash_input` takes."""

    id: Annotated[str, Meta(description="The `chunk_id` of a command that `bash` started in the background.")]
    input: Annotated[str, Meta(description="Text for its standard input. A newline is not added.")] = ""
    close: Annotated[bool, Meta(description="Close its standard input after that.")] = False
    wait_ms: Annotated[int, Meta(ge=0, le=MAX_WAIT_MS, description="The longest wait for output.")] = 1000


class Bash(BuiltinTool[Command]):
    """Runs a command. Its response is a JSON text, of a command that fails too."""

    name = "bash"
    kind = "shell"
    description = (
        "Run a command with bash, or with sh where there is no bash. It has no standard input, and what it leaves "
        "running ends with it. With `background` it is only started: `bash_input` then reads its output and writes "
        "to it, `kill -- -<pid>` ends it, and so does the end of the session. Answers with a JSON object."
    )
    shape = Command

    def __init__(self, aliases: tuple[str, ...] = (), *, shells: Shells) -> None:
        super().__init__(aliases)
        self._shells = shells

    def reach(self, wanted: Command, workspace: Path) -> Risk:
        return Risk.CHANGES if is_inside(self.place(wanted, workspace), workspace) else Risk.REACHES_OUT

    def place(self, wanted: Command, workspace: Path) -> Path:
        return locate(wanted.workdir, workspace)

    def command(self, wanted: Command, context: CallContext) -> ResolvedCommand:
        shell = shell_on(context.env.get("PATH", os.defpath))
        return ResolvedCommand(
            program=shell, arguments=("-c", wanted.command), text=wanted.command, script=wanted.command
        )

    async def perform(self, wanted: Command, context: CallContext) -> ToolResult:
        argv = (context.command or self.command(wanted, context)).argv
        if wanted.background:
            limit = None if wanted.timeout_ms is None else wanted.timeout_ms / 1000
            shell = self._shells.start_in_background(argv, context, description=wanted.description, timeout=limit)
            return ToolResult(text=shell.report(Capture()))
        shell = self._shells.start(argv, context, description=wanted.description)
        await shell.process.attend((wanted.timeout_ms or DEFAULT_TIMEOUT_MS) / 1000)
        text = shell.report(shell.process.output)
        code = shell.process.exit_code
        ended = ShellResult(exit_code=-1 if code is None else code, stdout=shell.process.output.text())
        if shell.process.status is not Status.COMPLETED:
            raise ToolError(text, ended)
        return ToolResult(text=text, shell=ended)

    async def aclose(self) -> None:
        await self._shells.aclose()


class BashInput(BuiltinTool[Typed]):
    """Talks to a command in the background: as far-reaching as starting it was."""

    name = "bash_input"
    kind = "shell"
    description = (
        "Write to a command that `bash` started in the background, then answer with what it has printed since the "
        "last time and how it stands. Without `input` it only reads. Answers with a JSON object."
    )
    shape = Typed

    def __init__(self, aliases: tuple[str, ...] = (), *, shells: Shells) -> None:
        super().__init__(aliases)
        self._shells = shells

    def reach(self, wanted: Typed, workspace: Path) -> Risk:
        return Risk.CHANGES

    async def perform(self, wanted: Typed, context: CallContext) -> ToolResult:
        shell = self._shells.find(wanted.id)
        async with shell.talking:
            if wanted.input:
                await shell.process.write(wanted.input.encode())
            if wanted.close:
                shell.process.close_input()
            await shell.process.news(wanted.wait_ms / 1000)
            return ToolResult(text=shell.report(shell.new_output()))

    async def aclose(self) -> None:
        await self._shells.aclose()


def shell_on(path: str) -> str:
    """The shell that commands are given to. A relative entry of *path* would let a workspace choose it."""
    absolute = os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry).is_absolute())
    return shutil.which("bash", path=absolute) or "/bin/sh"

"""The tools of a capsule: the programs that its manifest allows, and those that come as artifacts."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline._core.commands import ResolvedCommand
from hookline._core.credentials import without_credentials
from hookline._core.errors import ToolError
from hookline._core.messages import Provenance, ToolSpec
from hookline._core.shells import ShellResult
from hookline.session.capsule.programs import Programs
from hookline.session.capsule.resolving import resolve
from hookline.session.capsule.staging import description_of
from hookline.session.ports import CallContext, Risk, ToolResult

COMMAND = {
    "type": "object",
    "required": ["command"],
    "properties": {"command": {"type": "string"}},
}

SHELL_HOME = ".capsule-home"  # of the working directory: programs find no home of the person's


class _Tool:
    """What the tools here share. Implements `session.ports.Tool` together with its subclasses."""

    aliases: tuple[str, ...] = ()

    def __init__(self, name: str, description: str, parameters: Mapping[str, Any], kind: str) -> None:
        self.spec = ToolSpec(
            name=name, description=description, parameters=parameters, provenance=Provenance(kind, "capsule")
        )

    def check(self, input: Any) -> str | None:
        return None if isinstance(input, Mapping) else "the input must be a JSON object"

    def risk(self, input: Any, workspace: Path) -> Risk:
        return Risk.CHANGES

    def directory(self, input: Any, workspace: Path) -> Path:
        return workspace

    def resolve(self, input: Any, context: CallContext) -> ResolvedCommand | None:
        return None

    async def aclose(self) -> None:
        """Nothing of it outlives a call."""


class ShellTool(_Tool):
    """A program of the allow list. What runs is what was resolved, to the letter."""

    def __init__(self, name: str, *, description: str, programs: Programs, path: str) -> None:
        super().__init__(name, description or description_of(name), COMMAND, "shell")
        self._programs = programs
        self._path = path

    def check(self, input: Any) -> str | None:
        found = resolve(self.spec.name, input, workdir=Path(), path="", with_recipe=False)
        return found if isinstance(found, str) else None

    def resolve(self, input: Any, context: CallContext) -> ResolvedCommand | None:
        found = resolve(self.spec.name, input, workdir=context.cwd, path=self._path, with_recipe=True)
        return None if isinstance(found, str) else found

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        command = context.command or self.resolve(input, context)
        if command is None:
            raise ToolError(self.check(input) or "no command")
        ended = await self._programs.run(command.argv, cwd=context.cwd, env=shell_env(context))
        text = _told(ended)
        if ended.exit_code != 0:
            raise ToolError(text, ended)
        return ToolResult(text=text, shell=ended)


class NativeTool(_Tool):
    """A program that comes as an artifact: it reads the input's JSON, and what it writes is the result."""

    def __init__(
        self, name: str, description: str, parameters: Mapping[str, Any], *, programs: Programs, program: Path
    ) -> None:
        super().__init__(name, description, parameters, "native")
        self._programs = programs
        self._program = program

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        body = json.dumps(input, separators=(",", ":")).encode()
        ended = await self._programs.run([str(self._program)], cwd=context.cwd, env=shell_env(context), stdin=body)
        if ended.exit_code != 0:
            raise ToolError(ended.stderr or f"{self.spec.name} ended with {ended.exit_code}")
        return ToolResult(text=ended.stdout)


class SkillTool(_Tool):
    """A skill: a text to read."""

    def __init__(self, name: str, description: str, *, text: str) -> None:
        super().__init__(name, description, {"type": "object", "properties": {}}, "skill")
        self._text = text

    def risk(self, input: Any, workspace: Path) -> Risk:
        return Risk.READS

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        return ToolResult(text=self._text)


def shell_env(context: CallContext) -> dict[str, str]:
    """What a program of a capsule sees: no credentials, and a home of its own."""
    home = context.cwd / SHELL_HOME
    home.mkdir(exist_ok=True)
    return {**without_credentials(context.env), "HOME": str(home)}


def _told(ended: ShellResult) -> str:
    streams = (("stdout", ended.stdout), ("stderr", ended.stderr))
    return "\n".join([f"exit code: {ended.exit_code}", *(f"{name}:\n{text}" for name, text in streams if text)])

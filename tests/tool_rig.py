"""What tests of their own tools stand on."""

from pathlib import Path
from typing import Any

from hookline.session.ports import CallContext, Risk, ToolResult


class Willing:
    """A tool that takes any input, only reads, and starts no program. A test's own tool says what its call does."""

    aliases: tuple[str, ...] = ()

    def check(self, input: Any) -> str | None:
        return None

    def risk(self, input: Any, workspace: Path) -> Risk:
        return Risk.READS

    def directory(self, input: Any, workspace: Path) -> Path:
        return workspace

    def resolve(self, input: Any, context: CallContext) -> None:
        """It executes nothing."""

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        raise NotImplementedError

    async def aclose(self) -> None:
        """Nothing runs."""

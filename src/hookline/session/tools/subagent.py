"""The tool that starts a child agent."""

from pathlib import Path
from typing import Annotated

from msgspec import Meta

from hookline.session.ports import CallContext, Risk, ToolResult
from hookline.session.tools._base import BuiltinTool, ToolInput


class Task(ToolInput, frozen=True):
    """What `subagent_spawn` takes."""

    objective: Annotated[str, Meta(min_length=1, description="What the child agent is to do, in full.")]
    role: Annotated[str, Meta(description="Who it is to be, such as `reviewer`.")] = ""
    subagent_type: Annotated[str, Meta(description="Which kind of agent to start.")] = "default"
    command_id: Annotated[str, Meta(description="An id of yours, given back in the answer.")] = ""


class SubagentSpawn(BuiltinTool[Task]):
    name = "subagent_spawn"
    description = (
        "Start a child agent on a task of its own. Answers with its id at once; what it found is added to the "
        "conversation when it is done."
    )
    shape = Task

    def reach(self, wanted: Task, workspace: Path) -> Risk:
        return Risk.CHANGES

    async def perform(self, wanted: Task, context: CallContext) -> ToolResult:
        child = await context.session.spawn(objective=wanted.objective, role=wanted.role, kind=wanted.subagent_type)
        return ToolResult(
            text=f"child agent {child} has started",
            response={"subagent_id": child, "status": "accepted", "command_id": wanted.command_id},
        )

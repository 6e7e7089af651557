"""@NAME@: a Murmur hook. Each method is given the event's record, and returns one case of HookOutput.

Raising `Err("text")` says that the hook failed. A hook that decides whether a call may run is asked before it, with no
outcome, and told of it behind it, with one. What it may reach is granted by the capsule's manifest, never by its own.
"""

import json
import os

from wit_world import exports
from wit_world.exports.lifecycle import (
    CompactionEvent,
    HookOutput,
    HookOutput_Deny,
    HookOutput_None_,
    InferenceEvent,
    SessionContext,
    SessionEndEvent,
    ShellEvent,
    StageEvent,
    TaskEndEvent,
    TaskStartEvent,
    ToolEvent,
)

NONE = HookOutput_None_()


class Lifecycle(exports.Lifecycle):
    def on_tool_call(self, event: ToolEvent) -> HookOutput:
        if event.outcome is not None:
            return NONE
        refused = json.loads(os.environ.get("MURMUR_ARTIFACT_CONFIG", "{}")).get("refuse", [])
        if event.tool_name in refused:
            return HookOutput_Deny(f"{event.tool_name} is refused by the configuration of @NAME@")
        return NONE

    def on_stage(self, event: StageEvent) -> HookOutput:
        return NONE

    def on_session_start(self, event: SessionContext) -> HookOutput:
        return NONE

    def on_task_start(self, event: TaskStartEvent) -> HookOutput:
        return NONE

    def on_inference(self, event: InferenceEvent) -> HookOutput:
        return NONE

    def on_shell(self, event: ShellEvent) -> HookOutput:
        return NONE

    def on_compaction(self, event: CompactionEvent) -> HookOutput:
        return NONE

    def on_task_end(self, event: TaskEndEvent) -> HookOutput:
        return NONE

    def on_session_end(self, event: SessionEndEvent) -> HookOutput:
        return NONE

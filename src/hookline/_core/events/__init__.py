"""One event class per hook point, one file per noun."""

from hookline._core.events.compaction import AfterCompaction, BeforeCompaction
from hookline._core.events.model import AfterModelCall, BeforeModelCall
from hookline._core.events.notice import Notification
from hookline._core.events.run import BeforeRun, BeforeRunEnd, RunCompleted, RunFailed, StepEnd
from hookline._core.events.runtime import (
    InputAccepted,
    InputDeduplicated,
    InputRejected,
    InteractionCompleted,
    PeerReceived,
    PeerSent,
)
from hookline._core.events.session import SessionEnd, SessionStart
from hookline._core.events.stage import BeforeStage
from hookline._core.events.subagent import SubagentEnd, SubagentStart
from hookline._core.events.tool import (
    AfterShell,
    AfterToolBatch,
    AfterToolCall,
    BeforeDispatch,
    BeforeToolCall,
    PermissionRequest,
    ToolCallFailed,
)

__all__ = [
    "AfterCompaction",
    "AfterModelCall",
    "AfterShell",
    "AfterToolBatch",
    "AfterToolCall",
    "BeforeCompaction",
    "BeforeDispatch",
    "BeforeModelCall",
    "BeforeRun",
    "BeforeRunEnd",
    "BeforeStage",
    "BeforeToolCall",
    "InputAccepted",
    "InputDeduplicated",
    "InputRejected",
    "InteractionCompleted",
    "Notification",
    "PeerReceived",
    "PeerSent",
    "PermissionRequest",
    "RunCompleted",
    "RunFailed",
    "SessionEnd",
    "SessionStart",
    "StepEnd",
    "SubagentEnd",
    "SubagentStart",
    "ToolCallFailed",
]

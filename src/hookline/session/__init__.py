"""The agent: session > run > step > call, its models, tools, approval, compaction and child agents.

Here are the types that a tool, a model or an approver of your own is made of; the session itself is `hookline.Session`.
"""

from hookline._core.errors import ModelError, ToolError
from hookline._core.messages import Message, ToolCall, ToolSpec, Usage
from hookline._core.records import Ending
from hookline.session.ports import (
    ApprovalRequest,
    Approver,
    CallContext,
    Model,
    ModelReply,
    ModelRequest,
    Risk,
    RunResult,
    Tool,
    ToolResult,
    Verdict,
)

__all__ = [
    "ApprovalRequest",
    "Approver",
    "CallContext",
    "Ending",
    "Message",
    "Model",
    "ModelError",
    "ModelReply",
    "ModelRequest",
    "Risk",
    "RunResult",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "ToolSpec",
    "Usage",
    "Verdict",
]

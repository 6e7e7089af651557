"""The agent: session > run > step > call, its models, tools, approval, compaction and child agents.

Here are the types that a tool, a model, an approver, a store of inputs or a transport of your own is made of; the
session itself is `hookline.Session`.
"""

from hookline._core.errors import ModelError, ToolError
from hookline._core.messages import Message, ToolCall, ToolSpec, Usage
from hookline._core.peers import (
    Delivery,
    Envelope,
    EnvelopeKind,
    Peer,
    PeerError,
    PeerFault,
    Proof,
    Receipt,
    ReceiptKind,
    Receiver,
    Transport,
)
from hookline._core.records import Ending
from hookline.session.admission.store import Indeterminate, Phase, Published, RequestPhase, Row, Store
from hookline.session.peers.local import LocalHub
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
    "Delivery",
    "Ending",
    "Envelope",
    "EnvelopeKind",
    "Indeterminate",
    "LocalHub",
    "Message",
    "Model",
    "ModelError",
    "ModelReply",
    "ModelRequest",
    "Peer",
    "PeerError",
    "PeerFault",
    "Phase",
    "Proof",
    "Published",
    "Receipt",
    "ReceiptKind",
    "Receiver",
    "RequestPhase",
    "Risk",
    "Row",
    "RunResult",
    "Store",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "ToolSpec",
    "Transport",
    "Usage",
    "Verdict",
]

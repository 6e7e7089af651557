"""The public names. `hookline` itself imports this module when the first of them is used."""

from hookline._compose import JournalFolder, inputs_store, peer_tools, peers_over, tools
from hookline._core.answer import Answer
from hookline._core.decisions import Allow, Ask, Deny
from hookline._core.effects import AddContext, AddFeedback, EndRun, Notify, Reopen, RewriteInput
from hookline._core.errors import ConfigError, HooklineError, HookProblemWarning, StateError, UsageError
from hookline._core.events import (
    AfterCompaction,
    AfterModelCall,
    AfterShell,
    AfterToolBatch,
    AfterToolCall,
    BeforeCompaction,
    BeforeDispatch,
    BeforeModelCall,
    BeforeRun,
    BeforeRunEnd,
    BeforeStage,
    BeforeToolCall,
    InputAccepted,
    InputDeduplicated,
    InputRejected,
    InteractionCompleted,
    Notification,
    PeerReceived,
    PeerSent,
    PermissionRequest,
    RunCompleted,
    RunFailed,
    SessionEnd,
    SessionStart,
    StepEnd,
    SubagentEnd,
    SubagentStart,
    ToolCallFailed,
)
from hookline._core.handlers import Handlers
from hookline._core.inputs import (
    Accepted,
    Deduplicated,
    Durability,
    Handling,
    Input,
    InputKind,
    InputSource,
    Rejected,
    RuntimeState,
    SourceType,
)
from hookline._core.matchers import names
from hookline._core.resolution import Resolution
from hookline._core.rules import FailurePolicy
from hookline._engine.engine import HookEngine
from hookline._engines import Project, load, new_engine, open_project, pattern
from hookline.session.admission.runtime import InputRefused
from hookline.session.approval import ApprovalMode
from hookline.session.beginning import Beginning
from hookline.session.compaction import Window
from hookline.session.models.echo import EchoModel
from hookline.session.models.script import ScriptModel
from hookline.session.peers.exchange import Peers
from hookline.session.session import Session

__all__ = [
    "Accepted",
    "AddContext",
    "AddFeedback",
    "AfterCompaction",
    "AfterModelCall",
    "AfterShell",
    "AfterToolBatch",
    "AfterToolCall",
    "Allow",
    "Answer",
    "ApprovalMode",
    "Ask",
    "BeforeCompaction",
    "BeforeDispatch",
    "BeforeModelCall",
    "BeforeRun",
    "BeforeRunEnd",
    "BeforeStage",
    "BeforeToolCall",
    "Beginning",
    "ConfigError",
    "Deduplicated",
    "Deny",
    "Durability",
    "EchoModel",
    "EndRun",
    "FailurePolicy",
    "Handlers",
    "Handling",
    "HookEngine",
    "HookProblemWarning",
    "HooklineError",
    "Input",
    "InputAccepted",
    "InputDeduplicated",
    "InputKind",
    "InputRefused",
    "InputRejected",
    "InputSource",
    "InteractionCompleted",
    "JournalFolder",
    "Notification",
    "Notify",
    "PeerReceived",
    "PeerSent",
    "Peers",
    "PermissionRequest",
    "Project",
    "Rejected",
    "Reopen",
    "Resolution",
    "RewriteInput",
    "RunCompleted",
    "RunFailed",
    "RuntimeState",
    "ScriptModel",
    "Session",
    "SessionEnd",
    "SessionStart",
    "SourceType",
    "StateError",
    "StepEnd",
    "SubagentEnd",
    "SubagentStart",
    "ToolCallFailed",
    "UsageError",
    "Window",
    "inputs_store",
    "load",
    "names",
    "new_engine",
    "open_project",
    "pattern",
    "peer_tools",
    "peers_over",
    "tools",
]

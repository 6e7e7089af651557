"""The public names. `hookline` itself imports this module when the first of them is used."""

from hookline._compose import JournalFolder, Project, load, new_engine, open_project, pattern, tools
from hookline._core.answer import Answer
from hookline._core.decisions import Allow, Ask, Deny
from hookline._core.effects import AddContext, AddFeedback, EndRun, Notify, Reopen, RewriteInput
from hookline._core.errors import ConfigError, HooklineError, HookProblemWarning, StateError, UsageError
from hookline._core.events import (
    AfterCompaction,
    AfterModelCall,
    AfterToolBatch,
    AfterToolCall,
    BeforeCompaction,
    BeforeDispatch,
    BeforeModelCall,
    BeforeRun,
    BeforeRunEnd,
    BeforeToolCall,
    Notification,
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
from hookline._core.matchers import names
from hookline._core.resolution import Resolution
from hookline._core.rules import FailurePolicy
from hookline._engine.engine import HookEngine
from hookline.session.approval import ApprovalMode
from hookline.session.beginning import Beginning
from hookline.session.compaction import Window
from hookline.session.models.echo import EchoModel
from hookline.session.models.script import ScriptModel
from hookline.session.session import Session

__all__ = [
    "AddContext",
    "AddFeedback",
    "AfterCompaction",
    "AfterModelCall",
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
    "BeforeToolCall",
    "Beginning",
    "ConfigError",
    "Deny",
    "EchoModel",
    "EndRun",
    "FailurePolicy",
    "HookEngine",
    "HookProblemWarning",
    "HooklineError",
    "JournalFolder",
    "Notification",
    "Notify",
    "PermissionRequest",
    "Project",
    "Reopen",
    "Resolution",
    "RewriteInput",
    "RunCompleted",
    "RunFailed",
    "ScriptModel",
    "Session",
    "SessionEnd",
    "SessionStart",
    "StateError",
    "StepEnd",
    "SubagentEnd",
    "SubagentStart",
    "ToolCallFailed",
    "UsageError",
    "Window",
    "load",
    "names",
    "new_engine",
    "open_project",
    "pattern",
    "tools",
]

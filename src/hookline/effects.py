"""What a hook may say: decisions on the pending action, and effects on the session."""

from hookline._core.answer import Answer
from hookline._core.decisions import Allow, Ask, Decision, Deny
from hookline._core.effects import (
    AddContext,
    AddFeedback,
    Combine,
    Effect,
    EmitArtifact,
    EndRun,
    Notify,
    Reopen,
    ReplaceContext,
    RewriteInput,
    SeedContext,
    ToolManifest,
    WriteManifests,
)
from hookline._core.messages import Message, ToolCall

__all__ = [
    "AddContext",
    "AddFeedback",
    "Allow",
    "Answer",
    "Ask",
    "Combine",
    "Decision",
    "Deny",
    "Effect",
    "EmitArtifact",
    "EndRun",
    "Message",
    "Notify",
    "Reopen",
    "ReplaceContext",
    "RewriteInput",
    "SeedContext",
    "ToolCall",
    "ToolManifest",
    "WriteManifests",
]

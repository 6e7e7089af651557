"""What a hook may say: decisions on the pending action, and effects on the session."""

from hookline._core.answer import Answer
from hookline._core.decisions import Allow, Ask, Decision, Deny
from hookline._core.effects import AddContext, AddFeedback, Combine, Effect, EndRun, Notify, Reopen, RewriteInput

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
    "EndRun",
    "Notify",
    "Reopen",
    "RewriteInput",
]

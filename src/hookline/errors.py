"""What hookline raises and warns with."""

from hookline._core.errors import (
    ConfigError,
    HooklineError,
    HookProblemWarning,
    ModelError,
    StateError,
    ToolError,
    UsageError,
)
from hookline._core.problems import Problem, Scope, Where

__all__ = [
    "ConfigError",
    "HookProblemWarning",
    "HooklineError",
    "ModelError",
    "Problem",
    "Scope",
    "StateError",
    "ToolError",
    "UsageError",
    "Where",
]

"""What we raise on purpose. A hook's misbehaviour is an outcome, never an exception."""

from typing import Any

from hookline._core.problems import Problem
from hookline._core.shells import ShellResult


class HooklineError(Exception):
    """Base of everything that hookline raises on purpose."""


class ConfigError(HooklineError):
    """A configuration that cannot be used at all. `problems` says what is wrong, where, and what to write."""

    def __init__(self, message: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class UsageError(HooklineError):
    """The API or the command line was used in a way that cannot work, such as a hook for a point that never fires."""


class CodedError(HooklineError):
    """An error with a code of its own, for programs that read it: `as_json` is all of it, and `lines` is for people."""

    @property
    def lines(self) -> tuple[str, ...]:
        return (str(self),)

    def as_json(self) -> dict[str, Any]:
        raise NotImplementedError


class StateError(HooklineError):
    """A file of ours could not be read or written. The message names the path and what the system said."""


class ModelError(HooklineError):
    """A model call failed. `category` is what `run_failed` matchers are tested against, such as `rate_limit`."""

    def __init__(self, category: str, details: str = "") -> None:
        super().__init__(details or category)
        self.category = category
        self.details = details

    @classmethod
    def of(cls, fault: Exception) -> "ModelError":
        """*fault* as a failed model call: itself, or of the category `unknown`, for a model may raise anything."""
        return fault if isinstance(fault, cls) else cls("unknown", f"{type(fault).__name__}: {fault}")


class ToolError(HooklineError):
    """A tool could not do what was asked. The message goes to the model as the call's failed result.

    `shell` is how the program ended that the tool ran, where that is why.
    """

    def __init__(self, message: str, shell: ShellResult | None = None) -> None:
        super().__init__(message)
        self.shell = shell


class HookProblemWarning(UserWarning):
    """Part of a configuration that was loaded through the Python API will not run."""

"""Targets: what to call, as data. The adapter registered for a target's class does the calling."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hookline._core.answer import Answerable

Handler = Callable[[Any], Answerable | Awaitable[Answerable]]


@dataclass(frozen=True, slots=True)
class Target:
    """Base of all targets."""

    @property
    def leaves_process(self) -> bool:
        """Whether calling it goes through another process, so that its start is worth a record of its own."""
        return True


def is_async(handler: Any) -> bool:
    """Whether calling *handler* gives a coroutine."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__)


@dataclass(frozen=True, slots=True)
class FunctionTarget(Target):
    """A Python callable in this process, given the event itself. `is_async`: calling it gives a coroutine."""

    handler: Handler
    is_async: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_async", is_async(self.handler))

    @property
    def leaves_process(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class NamedTarget(Target):
    """A Python callable of this process that is known by its name, and looked up when it is called."""

    name: str

    @property
    def leaves_process(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class HttpTarget(Target):
    """An HTTP endpoint. The payload is the body of a request by *method*; *headers* are added as they are written.

    They may hold credentials, so they are never part of a representation or a record.
    """

    url: str
    method: str = "POST"
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class CommandTarget(Target):
    """A program: *argv* as it is executed, the whole environment it gets, and the text its author wrote.

    The environment may hold granted secrets, so it is never part of a representation or a record.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    written: str = ""

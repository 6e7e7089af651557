"""Targets: what to call, as data. The adapter registered for a target's class does the calling."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from hookline._core.answer import Answerable
from hookline._core.capsule import CallLimits, Destination
from hookline._core.guests import GuestHost

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


class Lifetime(Enum):
    """How long an instance of a component lives."""

    REUSED = "reused"  # until its engine is closed, or it traps; what it keeps in memory survives its calls
    ONE_CALL = "one_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """An interface that a component may export, and the functions of it that it must and may have."""

    name: str
    required: frozenset[str]
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder of this machine that a component sees as `guest`, and may write to."""

    guest: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComponentTarget(Target):
    """A WebAssembly component, and all that it may reach. Hooks that share a target share its one instance.

    `subject` is what messages call it. `interfaces` are those that are served, the preferred one first. `env` is its
    whole environment, which may hold granted secrets. `network` are the places that it may send requests to. `host` is
    what it may ask, None for nothing. With `program`, a program is run in its place that speaks for it in JSON lines.
    """

    subject: str
    path: Path
    interfaces: tuple[Interface, ...]
    lifetime: Lifetime = Lifetime.REUSED
    limits: CallLimits = CallLimits()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    folders: tuple[Folder, ...] = ()
    network: tuple[Destination, ...] = ()
    host: GuestHost | None = field(default=None, repr=False)
    program: tuple[str, ...] = ()

"""A WebAssembly component as a target: which one, called through which interface, and all that it may reach."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from hookline._core.capsule import CallLimits, Destination
from hookline._core.guests import GuestHost
from hookline._core.targets import Target


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

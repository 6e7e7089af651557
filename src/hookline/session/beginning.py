"""Where a session begins: what it is called, how it came about, what was said before, and whose child it is."""

from dataclasses import dataclass, field

from hookline._core.messages import Message
from hookline._core.points import Agent


@dataclass(slots=True, eq=False)
class Users:
    """How many open sessions share their tools: a fork may outlive the session that it comes from."""

    count: int = 0

    @property
    def gone(self) -> bool:
        return self.count == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The session that another one comes from, by its id, and what the two share. `agent` is what it calls a child.

    `depth` is 1 for a session that nobody spawned.
    """

    parent: str | None = None
    agent: Agent | None = None
    depth: int = 1
    users: Users = field(default_factory=Users)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """Where a session begins; by default anew, under an id of its own.

    `source` is what `session_start` tells: `startup`, `resume` or `fork`. `conversation` is what was said before;
    `recorded`: the session's journal has just that already. `damage` says what of it could not be read, a line each.
    """

    session_id: str | None = None
    source: str = "startup"
    conversation: tuple[Message, ...] = ()
    recorded: bool = False
    damage: tuple[str, ...] = ()
    family: Family = field(default_factory=Family, repr=False)

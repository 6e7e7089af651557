"""Hooks: what is configured, in the order in which it counts."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hookline._core.answer import Word
from hookline._core.matchers import EVERYTHING, Matcher
from hookline._core.points import Event
from hookline._core.problems import Problem
from hookline._core.rules import FailurePolicy
from hookline._core.targets import Target

Condition = Callable[[Event], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a hook was declared. `layer` is the dialect's word for it; `label` names the file in messages.

    Line and column count from 1, 0 where they are not known.
    """

    layer: str
    label: str
    path: str = ""
    line: int = 0
    column: int = 0


IN_CODE = Source(layer="code", label="code")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One configured entry.

    `id` is unique in an engine and says where the hook stands; `key` is the dialect's identity of its definition,
    which two equal hooks share. `commits` is what it may ask for: nothing makes it an observer, Deny makes it a
    policy hook. `timeout` is in seconds. `fallback` is called in its place when it fails. `on_failure` overrides the
    rule's policy, `deny_fails` what it says of a Deny. `priority` orders hooks under the chain and the sequence, lowest
    first. `also` are further points at which it is called. `output_bytes` is its own cap, `pool` how many background
    hooks of its dialect may run at once, None as the dialect says. `facts` are for its dialect alone: what a payload
    says of the configuration that the hook belongs to.
    """

    id: str
    event: type[Event]
    target: Target
    dialect: str
    source: Source = IN_CODE
    key: str = ""
    matcher: Matcher = EVERYTHING
    condition: Condition | None = field(default=None, repr=False)
    commits: frozenset[Word] = frozenset()
    timeout: float = 600.0
    background: bool = False
    fallback: "Hook | None" = None
    on_failure: FailurePolicy | None = None
    priority: int = 0
    also: tuple[type[Event], ...] = ()
    output_bytes: int | None = None
    pool: int | None = None
    deny_fails: bool | None = None
    label: str = ""
    facts: object = field(default=None, repr=False)

    @property
    def events(self) -> tuple[type[Event], ...]:
        """Every point at which it is called."""
        return (self.event, *self.also)

    def selects(self, event: Event) -> bool:
        """Whether this hook is called for *event*."""
        if not self.matcher.matches(event.subjects()):
            return False
        return self.condition is None or self.condition(event)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    """Hooks that were found and will not run, with the reason: a file's worth of them.

    `hooks` are those of them that are known one by one, `problems` what would be wrong with the file if they were to
    run. `meant`: whoever wrote them wanted that, so no session tells.
    """

    label: str
    path: str
    count: int
    why: str
    hooks: tuple[Hook, ...] = ()
    problems: tuple[Problem, ...] = ()
    meant: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What a dialect's configuration says about the session itself.

    `drain` is how long background hooks may still be at work when everything else has ended, in seconds.
    """

    reopen_limit: int = 8
    drain: float = 2.0

"""Rules: one row per hook point that a dialect has. Loader, dispatcher, workbench and documentation read it."""

from dataclasses import dataclass
from enum import Enum

from hookline._core.answer import Word
from hookline._core.effects import Notify
from hookline._core.points import Event


class Strategy(Enum):
    """How the foreground hooks of one dialect are run at one event."""

    PARALLEL = "parallel"  # all start at once, none sees another's answer, the configured order decides
    CHAIN = "chain"  # one after the other by priority, each sees the event as earlier ones left it, a Deny ends it


class FailurePolicy(Enum):
    """What a hook that fails does to the action it was asked about."""

    IGNORE = "ignore"
    DENY = "deny"
    FAIL_RUN = "fail_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One point in one dialect.

    `admits` is what an answer may hold here, always within what the point itself admits. `survives_deny` are the
    effects that still count when the action was denied. `strategy` is how the hooks are run here, None for as they are
    everywhere in the dialect.
    """

    name: str
    event: type[Event]
    admits: frozenset[Word] = frozenset({Notify})
    on_failure: FailurePolicy = FailurePolicy.IGNORE
    survives_deny: frozenset[Word] = frozenset({Notify})
    has_subject: bool = True
    strategy: Strategy | None = None

"""Rules: one row per hook point that a dialect has. Loader, dispatcher, workbench and documentation read it."""

from dataclasses import dataclass
from enum import Enum

from hookline._core.answer import Word
from hookline._core.effects import Notify
from hookline._core.points import Event


class FailurePolicy(Enum):
    """What a hook that fails does to the action it was asked about."""

    IGNORE = "ignore"
    DENY = "deny"
    FAIL_RUN = "fail_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One point in one dialect.

    `admits` is what an answer may hold here, always within what the point itself admits. `survives_deny` are the
    effects that still count when the action was denied.
    """

    name: str
    event: type[Event]
    admits: frozenset[Word] = frozenset({Notify})
    on_failure: FailurePolicy = FailurePolicy.IGNORE
    survives_deny: frozenset[Word] = frozenset({Notify})
    has_subject: bool = True

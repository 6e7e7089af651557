"""Rules: one row per hook point that a dialect has. Loader, dispatcher, workbench and documentation read it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from hookline._core.answer import Word
from hookline._core.effects import Notify
from hookline._core.points import Event
from hookline._core.reasons import Failure


class Strategy(Enum):
    """How the hooks of one dialect are run at one event; the foreground ones, where nothing else is said."""

    PARALLEL = "parallel"  # all start at once, none sees another's answer, the configured order decides
    CHAIN = "chain"  # one after the other by priority, each sees the event as earlier ones left it, a Deny ends it
    SEQUENCE = "sequence"  # one after the other by priority, the background too; a failure ends it


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

    `discards` are words that an answer may hold here beside those, and that change nothing; the text says why, and is
    told unless it is empty. `occurs` says which occurrences of the event are the dialect's point, None all of them.
    `deny_fails`: a Deny ends the run as failed, where it else cancels it or only refuses the one action.
    `whole_batch`: the hooks are asked about every call of a step before the first of them is run, and told of them when
    the last is done. `objects_only`: a call whose input is no object fails the run instead. `forgives`: failures that
    do nothing to the action, whatever the policy. `refusal` is what the model
    is told of a call that was denied here, `no_answer` the reason of a Deny that a failed hook's policy makes.
    `also_named`: what else people call the point.
    """

    name: str
    event: type[Event]
    admits: frozenset[Word] = frozenset({Notify})
    on_failure: FailurePolicy = FailurePolicy.IGNORE
    survives_deny: frozenset[Word] = frozenset({Notify})
    has_subject: bool = True
    strategy: Strategy | None = None
    discards: Mapping[Word, str] = field(default_factory=dict, hash=False)
    occurs: Callable[[Any], bool] | None = field(default=None, repr=False)
    deny_fails: bool = False
    whole_batch: bool = False
    objects_only: bool = False
    forgives: frozenset[Failure] = frozenset()
    refusal: str = "tool blocked by hook: {reason}"
    no_answer: str = "hook {hook} gave no answer: {why}"
    also_named: tuple[str, ...] = ()

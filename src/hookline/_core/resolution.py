"""The resolution of one event: every hook's outcome, folded."""

from dataclasses import dataclass
from typing import TypeVar

from hookline._core.answer import Word
from hookline._core.decisions import Decision, Deny
from hookline._core.effects import Effect
from hookline._core.hooks import Hook
from hookline._core.made import made
from hookline._core.outcomes import Outcome
from hookline._core.points import Event

T = TypeVar("T", bound=Effect)


@dataclass(frozen=True, slots=True)
class Applied:
    """An effect that counts, and the hook that asked for it."""

    hook: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class Ignored:
    """A decision or an effect that does not count, whose it was, and why."""

    hook: str
    what: Word
    why: str


@made(kw_only=True)
class Resolution:
    """What all hooks together said about one event.

    `event` is the event as they left it: a rewritten tool input stands in it. `decided_by` is the id of the hook
    whose decision counts. `failed_run` is the outcome that must end the run as failed, under a dialect whose failures
    do; `deny_fails`: the Deny that counts must, too. `applied`, `ignored` and `outcomes` are in the order in which the
    hooks are configured. `launched` are the background hooks that were sent on their way. `refusal` is what
    the model is told of a call that was denied.
    """

    event: Event
    decision: Decision | None = None
    decided_by: str | None = None
    applied: tuple[Applied, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    failed_run: Outcome | None = None
    deny_fails: bool = False
    launched: tuple[Hook, ...] = ()
    refusal: str = ""

    @property
    def denied(self) -> bool:
        """Whether the action must not happen."""
        return isinstance(self.decision, Deny) or self.failed_run is not None

    @property
    def reason(self) -> str:
        """Why: the reason of the decision that counts, else how the hook failed that fails the run, else nothing."""
        if self.decision is not None:
            return self.decision.reason
        return "" if self.failed_run is None else f"hook {self.failed_run.hook.id} failed: {self.failed_run.detail}"

    def effects(self, kind: type[T]) -> tuple[T, ...]:
        """The effects of one kind that count, in configured order."""
        return tuple(each.effect for each in self.applied if isinstance(each.effect, kind))

    def first(self, kind: type[T]) -> T | None:
        """The first effect of one kind that counts."""
        return next(iter(self.effects(kind)), None)

    def unheard(self) -> tuple[Outcome, ...]:
        """The outcomes of hooks that could have denied and gave no answer, where the action goes on all the same."""
        silent = [each for each in self.outcomes if each.why is not None]  # failed or skipped: a reason says why
        if not silent or self.denied:
            return ()
        return tuple([each for each in silent if Deny in each.hook.commits])

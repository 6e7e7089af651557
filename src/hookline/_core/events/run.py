"""A run: one prompt up to its final answer, and the steps it is made of."""

from dataclasses import dataclass, field

from hookline._core.decisions import Deny
from hookline._core.effects import AddContext, EndRun, Reopen, SeedContext
from hookline._core.faults import Fault, FaultKind
from hookline._core.points import Event, hook_point


@hook_point("before_run", admits=(Deny, AddContext, SeedContext))
@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeRun(Event):
    """A prompt was submitted; no model has seen it. `resumes`: there is none, the run goes on with what is there.

    Of a capsule's task `context_id` names the conversation that it belongs to and `source` where it came from;
    `input_bytes` is how long it is. `seed_budget`, `window` and `prior` are tokens: what may be seeded, what the model
    takes, what of an earlier conversation is there already; 0 where they are not known.
    """

    prompt: str
    resumes: bool = False
    source: str = field(default="", repr=False)
    context_id: str = field(default="", repr=False)
    input_bytes: int = field(default=0, repr=False)
    seed_budget: int = field(default=0, repr=False)
    window: int = field(default=0, repr=False)
    prior: int = field(default=0, repr=False)


@hook_point("step_end", admits=(Deny, AddContext, EndRun))
@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnd(Event):
    """A model call and all its tool calls are done; the next step has not begun."""

    tool_calls: int = 0


@hook_point("before_run_end", admits=(Reopen, EndRun))
@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeRunEnd(Event):
    """The run is about to end. `reopened`: a hook already kept it working in this run.

    `status` is how: `ok` where the model wants it to end; of a capsule's task, also `failed` and `max_turns_reached`.
    """

    last_message: str | None = None
    reopened: bool = False
    status: str = "ok"


@hook_point("run_completed", admits=(Deny,))
@dataclass(frozen=True, slots=True, kw_only=True)
class RunCompleted(Event):
    """The run has its final answer. A Deny turns it into a failed run."""

    text: str = ""


@hook_point("run_failed", subject="category")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailed(Event):
    """The run failed, or was cut off. `fault` says how.

    Where a model call failed `category` is closed per model, `unknown` at worst; else it is the kind of the fault.
    """

    category: str
    details: str | None = None
    last_message: str | None = None
    fault: Fault | None = None

    @property
    def by_model(self) -> bool:
        """Whether a model call failed, and not something else."""
        return self.fault is None or self.fault.kind is FaultKind.MODEL

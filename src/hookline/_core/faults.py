"""Why a run failed: a closed kind, and what there is to say of it."""

from dataclasses import dataclass
from enum import Enum


class FaultKind(Enum):
    """What ended a run that did not end as it should."""

    MODEL = "model"  # a model call failed
    TOOL = "tool"  # the model asked for a call that is none
    HOOK_DENIED = "hook_denied"
    HOOK_TIMEOUT = "hook_timeout"
    HOOK_FAILED = "hook_failed"
    STEPS = "steps"  # no answer within the limit
    CANCELLED = "cancelled"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """How a run failed. `message` is in words for people.

    Of a failed model call `category` is the closed word and `details` what was said. Of a hook `hook` is its id,
    `point` the canonical point, `code` its own word for a denial, `details` its reason, `limit` the seconds it had.
    """

    kind: FaultKind
    message: str
    category: str = ""
    details: str = ""
    hook: str = ""
    point: str = ""
    code: str = ""
    limit: float = 0.0

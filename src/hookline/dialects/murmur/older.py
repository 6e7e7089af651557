"""The records of `murmur:hook/lifecycle@0.5.0`, made of those of today (section 1).

Its `hook-output` has neither `seed-context` nor `deny`, and its events of a call tell only of what has run.
"""

from collections.abc import Callable, Mapping
from typing import Any

Record = Mapping[str, Any]

NO_DECISIONS = (
    "hook {name} was built against murmur:hook/lifecycle@0.5.0, which has no words for a call that has not run, so it "
    "cannot be asked by {function}; rebuild the hook against the current WIT"
)

LATER = {
    "on-task-start": ("budget-tokens", "context-window", "prior-tokens"),
    "on-tool-call": ("input",),
    "on-shell": ("argv", "script", "recipe"),
}


def shaped(function: str, record: Record) -> Record:
    """The argument of *function* as it was then."""
    later = LATER.get(function, ())
    kept = {name: value for name, value in record.items() if name not in later}
    return _RESHAPED.get(function, dict)(kept)


def _flat(record: Record) -> Record:
    """The fields of the outcome beside the others."""
    return {**{name: value for name, value in record.items() if name != "outcome"}, **record["outcome"]}


def _anonymous(record: Record) -> Record:
    """Messages had no identity."""
    messages = [{"role": each["role"], "content": each["content"]} for each in record["messages"]]
    return {**record, "messages": messages}


_RESHAPED: Mapping[str, Callable[[Record], Record]] = {
    "on-tool-call": _flat,
    "on-shell": _flat,
    "on-compaction": _anonymous,
}

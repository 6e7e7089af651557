"""What an event came to, in the words of a case, and where that is not what was wanted."""

from collections.abc import Iterator, Mapping
from typing import Any

from hookline._core.errors import UsageError
from hookline._core.events.tool import ToolEvent
from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._engines import pattern
from hookline.journal.encode import effect_fields, word_name
from hookline.journal.plain import plain
from hookline.workbench.cases.types import Case, Difference
from hookline.workbench.fire import Fired

NOT_ASKED = "not asked"
EXPRESSION = 2  # characters of the shortest `/.../`


def found_in(fired: Fired) -> dict[str, Any]:
    """What *fired* came to, member by member as a case may want it."""
    resolution = fired.resolution
    decision = "none" if resolution.decision is None else word_name(type(resolution.decision))
    if resolution.failed_run is not None:
        decision = "failed_run"
    found: dict[str, Any] = {
        "decision": decision,
        "reason": resolution.reason,
        "by": resolution.decided_by or (resolution.failed_run.hook.id if resolution.failed_run else ""),
        "effects": [_effect(effect_fields(each.effect)) for each in resolution.applied],
        "ignored": [f"{word_name(each.what)} of {each.hook}" for each in resolution.ignored],
        "told": resolution.refusal,
        "outcomes": {each.hook.id: outcome_text(each) for each in (*resolution.outcomes, *fired.ended)},
    }
    if isinstance(resolution.event, ToolEvent):
        found["input"] = plain(resolution.event.input)
    return found


def outcome_text(outcome: Outcome) -> str:
    """`answered`, or `failed(timeout)`."""
    return outcome.kind.value + (f"({outcome.why.value})" if outcome.why is not None else "")


def _effect(fields: Mapping[str, Any]) -> dict[str, Any]:
    told = plain(fields)
    name = told.pop("effect")
    return {name: told}


def differences(case: Case, fired: Fired, found: Mapping[str, Any], hooks: tuple[Hook, ...]) -> Iterator[Difference]:
    """Everything that *case* wants otherwise. Raises UsageError for a hook that there is not."""
    wanted = {} if case.want is None else dict(case.want.members)
    outcomes = wanted.pop("outcomes", None) or {}
    if wanted.get("by"):
        wanted["by"] = hook_called(wanted["by"], hooks).id
    for what, value in wanted.items():
        if not matches(value, found.get(what)):
            yield Difference(what, value, found.get(what))
    for name, value in outcomes.items():
        told = found["outcomes"].get(hook_called(name, hooks).id, NOT_ASKED)
        if told != value and told.partition("(")[0] != value:
            yield Difference(f"outcome of {name}", value, told)
    yield from _too_slow(case, fired, hooks)


def _too_slow(case: Case, fired: Fired, hooks: tuple[Hook, ...]) -> Iterator[Difference]:
    took = fired.dispatched.duration_ms / 1000
    if case.within is not None and took > case.within:
        yield Difference("within", f"{case.within:g} s", f"{took:.3f} s")
    ran = {each.hook.id: each.ran for each in (*fired.resolution.outcomes, *fired.ended)}
    for name, limit in case.within_each.items():
        own = ran.get(hook_called(name, hooks).id)
        if own is None or own > limit:
            yield Difference(f"within of {name}", f"{limit:g} s", NOT_ASKED if own is None else f"{own:.3f} s")


def hook_called(name: str, hooks: tuple[Hook, ...]) -> Hook:
    """The hook with this id, or the only one with this label, or the only one whose id ends so."""
    by_id = [hook for hook in hooks if hook.id == name]
    by_label = [hook for hook in hooks if hook.label == name]
    by_end = [hook for hook in hooks if hook.id.endswith(name)]
    found = by_id or by_label or by_end
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{name!r} may be any of {', '.join(hook.id for hook in found)}: write one of these")
    known = ", ".join(hook.id for hook in hooks) or "none"
    raise UsageError(f"there is no hook {name!r}; there are {known}")


def matches(wanted: Any, found: Any) -> bool:
    """Whether *found* is as *wanted*: a text equals it or fits `/expression/`, an object has at least its members."""
    match wanted:
        case str() if len(wanted) > EXPRESSION and wanted.startswith("/") and wanted.endswith("/"):
            return isinstance(found, str) and pattern(wanted[1:-1]).matches((found,))
        case dict():
            return isinstance(found, dict) and all(
                name in found and matches(value, found[name]) for name, value in wanted.items()
            )
        case list():
            return (
                isinstance(found, list)
                and len(found) == len(wanted)
                and all(matches(each, other) for each, other in zip(wanted, found, strict=True))
            )
        case _:
            return type(wanted) is type(found) and bool(wanted == found)

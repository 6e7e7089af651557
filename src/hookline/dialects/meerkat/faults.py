"""A run's fault as Meerkat reports it: class, reason, message (sections 3.2 and 9)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hookline._core.faults import Fault, FaultKind
from hookline._core.strictjson import Path
from hookline.dialects._keys import Fields, Key, check, fields_in, into, key, told
from hookline.dialects._kinds import ANYTHING, COUNT, OBJECT, STRING
from hookline.dialects.meerkat.words import HookPoint, ReasonCode

CLASS = {
    FaultKind.MODEL: "llm",
    FaultKind.TOOL: "tool",
    FaultKind.HOOK_DENIED: "hook",
    FaultKind.HOOK_TIMEOUT: "hook",
    FaultKind.HOOK_FAILED: "hook",
    FaultKind.STEPS: "max_turns",
    FaultKind.CANCELLED: "cancelled",
    FaultKind.INTERNAL: "internal",
}

PREFIX = "meerkat:"  # of the ids of this dialect's hooks in an engine; the entry's own id follows

CATEGORIES = {"rate_limit": "llm_rate_limited", "authentication_failed": "llm_auth_error"}  # of a failed model call


def entry_id(hook: str) -> str:
    """The id that the entry of a hook has in its file; for a hook of another dialect, the hook's own."""
    return hook.removeprefix(PREFIX)


def camel(word: str) -> str:
    """`pre_tool_execution` as `PreToolExecution`."""
    return "".join(part.capitalize() for part in word.split("_"))


def milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _code(fault: Fault) -> str:
    """A denial of a hook that has no such words is one of policy."""
    return fault.code or ReasonCode.POLICY_VIOLATION.value


HOOK_ID = Key(name="hook_id", value=lambda fault: entry_id(fault.hook), fields=into("hook"))

# The rows of a `reason` behind its `reason_type`, by the kind of fault that has one.
REASONS: Mapping[FaultKind, tuple[str, tuple[Key, ...]]] = {
    FaultKind.HOOK_DENIED: (
        "hook_denied",
        (HOOK_ID, key("point"), Key(name="reason_code", value=_code, fields=into("code"))),
    ),
    FaultKind.HOOK_TIMEOUT: (
        "hook_timeout",
        (
            HOOK_ID,
            Key(
                name="timeout_ms",
                value=lambda fault: milliseconds(fault.limit),
                kind=COUNT,
                fields=lambda value, _: {"limit": value / 1000},
            ),
        ),
    ),
    FaultKind.HOOK_FAILED: ("hook_execution_failed", (HOOK_ID, key("reason", "details"))),
}
KIND_OF = {reason_type: kind for kind, (reason_type, _) in REASONS.items()}
CATEGORY_OF = {reason_type: category for category, reason_type in CATEGORIES.items()}
KIND_OF_CLASS = {word: kind for kind, word in CLASS.items()}  # of a hook, the last: it failed

REPORT = (
    key("class", required=True),
    Key(name="reason", value=lambda _: None, kind=OBJECT, fields=into("reason")),
    key("message", required=True),
)


def error_report(fault: Fault, point_of: Callable[[str], HookPoint | None]) -> dict[str, Any]:
    """The report of a failed run. *point_of* gives the point for a canonical one."""
    point = point_of(fault.point)
    here = fault if point is None else replace(fault, point=point.value)
    reason = _reason(here)
    report: dict[str, Any] = {"class": CLASS[fault.kind]}
    if reason is not None:
        report["reason"] = reason
    return {**report, "message": _message(here)}


def failure_in(report: Any, at: Path, canonical_of: Callable[[str], str]) -> Fields:
    """The fields of a failed run that a report stands for. A class that is none of ours is an inner fault."""
    said = fields_in(REPORT, report, at)
    given = said.get("reason", {})
    reason_type, reason = given.get("reason_type"), (*at, "reason")
    check(reason_type, STRING if given else ANYTHING, (*reason, "reason_type"))
    kind = KIND_OF.get(reason_type, KIND_OF_CLASS.get(said["class"], FaultKind.INTERNAL))
    rows = REASONS[kind][1] if reason_type in KIND_OF else ()
    fault = Fault(kind=kind, message=said["message"], **fields_in(rows, given, reason))
    if kind is FaultKind.MODEL:
        fault = replace(fault, category=CATEGORY_OF.get(reason_type, "unknown"))
    elif kind is FaultKind.HOOK_DENIED:
        fault = replace(fault, point=canonical_of(fault.point), details=said["message"].removeprefix(_message(fault)))
    category = fault.category or kind.value
    return {"category": category, "details": fault.details or said["message"], "fault": fault}


def _reason(fault: Fault) -> dict[str, Any] | None:
    if fault.kind is FaultKind.MODEL and fault.category in CATEGORIES:
        return {"reason_type": CATEGORIES[fault.category]}
    if fault.kind not in REASONS:
        return None
    reason_type, rows = REASONS[fault.kind]
    return {"reason_type": reason_type, **told(rows, fault)}


def _message(fault: Fault) -> str:
    hook = entry_id(fault.hook)
    match fault.kind:
        case FaultKind.HOOK_DENIED:
            return f"Hook '{hook}' denied at {camel(fault.point)}: {camel(_code(fault))} - {fault.details}"
        case FaultKind.HOOK_TIMEOUT:
            return f"Hook '{hook}' timed out after {milliseconds(fault.limit)}ms"
        case FaultKind.HOOK_FAILED:
            return f"Hook execution failed for '{hook}': {fault.details}"
        case _:
            return fault.message

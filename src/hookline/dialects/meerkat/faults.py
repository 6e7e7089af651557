"""A run's fault as Meerkat reports it: class, reason, message (sections 3.2 and 9)."""

from collections.abc import Callable
from typing import Any

from hookline._core.faults import Fault, FaultKind
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


def error_report(fault: Fault, point_of: Callable[[str], HookPoint | None]) -> dict[str, Any]:
    """The report of a failed run. *point_of* gives the point for a canonical one."""
    point = point_of(fault.point)
    reason = _reason(fault, point)
    report: dict[str, Any] = {"class": CLASS[fault.kind]}
    if reason is not None:
        report["reason"] = reason
    return {**report, "message": _message(fault, point)}


def _reason(fault: Fault, point: HookPoint | None) -> dict[str, Any] | None:
    hook = entry_id(fault.hook)
    match fault.kind:
        case FaultKind.HOOK_DENIED:
            where = fault.point if point is None else point.value
            return {"reason_type": "hook_denied", "hook_id": hook, "point": where, "reason_code": _code(fault)}
        case FaultKind.HOOK_TIMEOUT:
            return {"reason_type": "hook_timeout", "hook_id": hook, "timeout_ms": milliseconds(fault.limit)}
        case FaultKind.HOOK_FAILED:
            return {"reason_type": "hook_execution_failed", "hook_id": hook, "reason": fault.details}
        case FaultKind.MODEL if fault.category in CATEGORIES:
            return {"reason_type": CATEGORIES[fault.category]}
        case _:
            return None


def _message(fault: Fault, point: HookPoint | None) -> str:
    hook = entry_id(fault.hook)
    match fault.kind:
        case FaultKind.HOOK_DENIED:
            where = camel(fault.point if point is None else point.value)
            return f"Hook '{hook}' denied at {where}: {camel(_code(fault))} - {fault.details}"
        case FaultKind.HOOK_TIMEOUT:
            return f"Hook '{hook}' timed out after {milliseconds(fault.limit)}ms"
        case FaultKind.HOOK_FAILED:
            return f"Hook execution failed for '{hook}': {fault.details}"
        case _:
            return fault.message


def _code(fault: Fault) -> str:
    """A denial of a hook that has no such words is one of policy."""
    return fault.code or ReasonCode.POLICY_VIOLATION.value

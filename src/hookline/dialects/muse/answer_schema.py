"""The JSON answer's closed schema: what may stand where, and what is said of it where it may not (section 13).

A check is given the parsed object and the event's row, and says what is wrong, or None. The first that speaks decides,
and then nothing of the answer counts. `meaning` reads only what passed them all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hookline.dialects._schema import NEVER, Schema, flag, mapping, or_null, text, word
from hookline.dialects.muse.rules import MuseRule, Stopping
from hookline.dialects.muse.terminal import one_line

Members = Mapping[str, Any]
Check = Callable[[Members, MuseRule], str | None]

SPECIFIC = "hookSpecificOutput"
NAMED_IN_BLOCK = frozenset({"PostToolUse"})  # events that the text about a missing `reason` names
SKILL_KEYS = ("id", "path", "description")
SKILL_DESCRIPTION_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Field:
    """One key: the events that accept it, and what its value must be, unless a check of its own looks at that.

    `schema` says the same, and what the key is for. What it is at one event only, and what keys need of one another, is
    in `point_schemas`.
    """

    accepted: Callable[[MuseRule], bool]
    kinds: tuple[type, ...] = (object,)
    noun: str = ""
    schema: Schema = field(default_factory=dict, repr=False)


def _everywhere(rule: MuseRule) -> bool:
    return True


def _where_stopping(rule: MuseRule) -> bool:
    return rule.stopping is not Stopping.REJECTED


def _where_blocking(rule: MuseRule) -> bool:
    return rule.block is not None


def _where_permission(rule: MuseRule) -> bool:
    return rule.permission


STOP_REASON = text("Why, where `continue` is false.")
SUPPRESS = flag("Accepted, and changes nothing.")
SYSTEM_MESSAGE = text("For the person at the terminal; what goes over 1000 characters is cut.")
REASON = text("Why, for whom it concerns.")
CONTEXT = text("What the model is to know; blank for nothing.")
PERMISSION = word("Whether the call may run; an allow needs `updatedInput`.", "allow", "deny", "ask")
PERMISSION_REASON = text("Why; a deny needs one that is not blank.")
UPDATED_INPUT = or_null(mapping("The input that the call runs with instead; null for its own."))
SKILLS: Schema = {**NEVER, "description": "Not without the experiment skills.v1, which is off."}

TOP: dict[str, Field] = {
    "continue": Field(_where_stopping, (bool,), "boolean"),
    "stopReason": Field(_where_stopping, (str,), "string", STOP_REASON),
    "suppressOutput": Field(_everywhere, (bool,), "boolean", SUPPRESS),
    "systemMessage": Field(_everywhere, (str,), "string", SYSTEM_MESSAGE),
    "decision": Field(_where_blocking),
    "reason": Field(_where_blocking, (str,), "string", REASON),
    SPECIFIC: Field(_everywhere, (dict,), "JSON object"),
}
NESTED: dict[str, Field] = {
    "hookEventName": Field(_everywhere),
    "additionalContext": Field(lambda rule: rule.context, (str,), "string", CONTEXT),
    "permissionDecision": Field(_where_permission, schema=PERMISSION),
    "permissionDecisionReason": Field(_where_permission, (str,), "string", PERMISSION_REASON),
    "updatedInput": Field(_where_permission, (dict, type(None)), "JSON object", UPDATED_INPUT),
    "decision": Field(lambda rule: rule.verdict),
    "selectedSkills": Field(lambda rule: rule.skills, schema=SKILLS),
}


def fault_in(said: Members, rule: MuseRule) -> str | None:
    """What makes this answer malformed, or None when all of it may be applied."""
    return next((fault for check in CHECKS if (fault := check(said, rule)) is not None), None)


def is_blank(value: object) -> bool:
    """Whether a text that must say something says nothing."""
    return not isinstance(value, str) or not value.strip()


def _block_where_impossible(said: Members, rule: MuseRule) -> str | None:
    if rule.block is None and said.get("decision") == "block":
        return "`decision: block` is unsupported for this hook event"
    return None


def _top_level(said: Members, rule: MuseRule) -> str | None:
    for key, value in said.items():
        field = TOP.get(key)
        if field is None or not field.accepted(rule):
            fault = f"unsupported `{one_line(key)}` in output of {rule.name} hook output"
            nested = NESTED.get(key)
            if nested is not None and nested.accepted(rule):
                fault += f"; `{key}` belongs inside `{SPECIFIC}`"
            return fault
        if not isinstance(value, field.kinds):
            return f"`{key}` must be a {field.noun}"
    return None


def _event_name(said: Members, rule: MuseRule) -> str | None:
    if SPECIFIC not in said:
        return None
    specific = said[SPECIFIC]
    if "hookEventName" not in specific:
        return f"`{SPECIFIC}` is missing the required `hookEventName` (expected `{rule.name}`)"
    if specific["hookEventName"] != rule.name:
        return f"`{SPECIFIC}.hookEventName` must be `{rule.name}`"
    return None


def _nested_level(said: Members, rule: MuseRule) -> str | None:
    for key, value in said.get(SPECIFIC, {}).items():
        field = NESTED.get(key)
        if field is None or not field.accepted(rule):
            return f"unsupported `{one_line(key)}` in {SPECIFIC} of {rule.name} hook output"
        if not isinstance(value, field.kinds):
            return f"`{SPECIFIC}.{key}` must be a {field.noun}"
    return None


def _block(said: Members, rule: MuseRule) -> str | None:
    """`decision` and `reason`, which go together. PermissionRequest takes its verdict here too, an older spelling."""
    decision = said.get("decision")
    if decision == "block":
        if not is_blank(said.get("reason")):
            return None
        whose = rule.name if rule.name in NAMED_IN_BLOCK else "hook output with"
        return f"{whose} `decision: block` requires a non-empty `reason`"
    if "decision" not in said or (rule.verdict and isinstance(decision, dict)):
        return f"{rule.name} output set `reason` without `decision: block`" if "reason" in said else None
    if not isinstance(decision, str):
        return f"`decision` must be a string{' or a JSON object' if rule.verdict else ''}"
    if rule.permission and decision == "approve":
        return f"unsupported legacy {rule.name} output; use `{SPECIFIC}.permissionDecision`"
    return f"unsupported `decision` value in {rule.name} output"


def _permission(said: Members, rule: MuseRule) -> str | None:
    specific = said.get(SPECIFIC, {})
    if "permissionDecision" not in specific:
        if "permissionDecisionReason" in specific:
            return f"{rule.name} output set `permissionDecisionReason` without a `permissionDecision`"
        return None
    decision = specific["permissionDecision"]
    if decision == "allow" and specific.get("updatedInput") is None:
        return f"{rule.name} `permissionDecision: allow` requires `updatedInput`; a bare allow is rejected"
    if decision == "deny" and is_blank(specific.get("permissionDecisionReason")):
        return f"{rule.name} `permissionDecision: deny` requires a non-empty `permissionDecisionReason`"
    if decision not in ("allow", "deny", "ask"):
        return f"unsupported `permissionDecision` value in {rule.name} output"
    return None


def _verdict(said: Members, rule: MuseRule) -> str | None:
    specific = said.get(SPECIFIC, {})
    older = said.get("decision")
    if "decision" in specific:
        if older is not None and older != specific["decision"]:
            return f"`decision` and `{SPECIFIC}.decision` differ in {rule.name} output"
        return _verdict_object(specific["decision"], f"{SPECIFIC}.decision", rule)
    if isinstance(older, dict):
        return _verdict_object(older, "decision", rule)
    return None


def _verdict_object(verdict: object, path: str, rule: MuseRule) -> str | None:
    if not isinstance(verdict, dict):
        if isinstance(verdict, str):
            return f"unsupported `decision.behavior` value in {rule.name} output"
        return f"`{path}` must be a string or a JSON object"
    further = next((key for key in verdict if key not in ("behavior", "message")), None)
    if further is not None:
        return f"unsupported `{path}.{one_line(further)}` in {rule.name} hook output"
    if verdict.get("behavior") not in ("allow", "deny"):
        return f"unsupported `decision.behavior` value in {rule.name} output"
    if not isinstance(verdict.get("message", ""), str):
        return f"`{path}.message` must be a string"
    return None


def _skills(said: Members, rule: MuseRule) -> str | None:
    """The shape of a selection; whether it was asked for is told by the hook (section 19)."""
    specific = said.get(SPECIFIC, {})
    if "selectedSkills" not in specific:
        return None
    skills = specific["selectedSkills"]
    if not isinstance(skills, list):
        return "selectedSkills must be an array"
    return next((fault for skill in skills if (fault := _skill(skill)) is not None), None)


def _skill(skill: object) -> str | None:
    if not isinstance(skill, dict):
        return "selectedSkills entries must be objects"
    if set(skill) != set(SKILL_KEYS):
        return "selectedSkills entries must contain exactly id, path, and description"
    for key in SKILL_KEYS:
        if not isinstance(skill[key], str):
            return f"selectedSkills.{key} must be a string"
        if is_blank(skill[key]):
            return f"selectedSkills.{key} must not be empty"
    if len(skill["description"].encode()) > SKILL_DESCRIPTION_BYTES:
        return f"selectedSkills.description exceeds {SKILL_DESCRIPTION_BYTES} bytes"
    return None


CHECKS: tuple[Check, ...] = (
    _block_where_impossible,
    _top_level,
    _event_name,
    _nested_level,
    _block,
    _permission,
    _verdict,
    _skills,
)

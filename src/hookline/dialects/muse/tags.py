"""An outcome in the dialect's own words: the status of a hook's run, and tags for what became of its answer (13.7)."""

from enum import Enum

from hookline._core.answer import Answer, Word
from hookline._core.decisions import Allow, Deny
from hookline._core.effects import AddContext, AddFeedback, EndRun, Reopen, RewriteInput
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import Exited
from hookline._core.reasons import Failure
from hookline._core.resolution import Resolution
from hookline.dialects.muse.meaning import verdict_in
from hookline.dialects.muse.output import Malformed, parse, starts_as_json, text_of
from hookline.dialects.muse.rules import BY_EVENT, MuseRule


class Status(Enum):
    """How one run of a hook ended."""

    COMPLETED = "completed"
    BLOCKED = "blocked"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


def status_of(outcome: Outcome) -> Status | None:
    """The status of a run, or None where nothing ran."""
    match outcome.kind:
        case Kind.SKIPPED:
            return None
        case Kind.CANCELLED:
            return Status.CANCELLED
        case Kind.FAILED:
            return Status.TIMED_OUT if outcome.why is Failure.TIMEOUT else Status.FAILED
        case Kind.ANSWERED:
            held_up = outcome.answer is not None and _hold(outcome.answer, BY_EVENT[outcome.hook.event])
            return Status.BLOCKED if held_up else Status.COMPLETED


def effects_of(outcome: Outcome, resolution: Resolution) -> tuple[str, ...]:
    """The tags of a run, in the order of section 13.7. A run without an answer has none."""
    answer = outcome.answer
    if answer is None:
        return ()
    rule = BY_EVENT[outcome.hook.event]
    hold = _hold(answer, rule)
    tags = [hold] if hold else []
    said = answer.words()
    ignored = {each.what for each in resolution.ignored if each.hook == outcome.hook.id}
    if Allow in said - ignored:
        tags.append("permission_allowed")
    if _denies_permission(outcome):
        tags.append("permission_denied")
    if AddFeedback in said - ignored:
        tags.append("feedback")
    if RewriteInput in said:
        tags.append("rewrite_ignored" if RewriteInput in ignored else "rewrite_selected")
    if AddContext in said - ignored:
        tags.append("context")
    return tuple(tags)


def holds_up(outcome: Outcome) -> str:
    """`stopped` or `blocked`, where a run by itself holds something up; else nothing."""
    return "" if outcome.answer is None else _hold(outcome.answer, BY_EVENT[outcome.hook.event])


def permission_in(outcome: Outcome) -> str | None:
    """The permission decision that a run's answer spelled: allow, deny or ask."""
    reply, rule = outcome.reply, BY_EVENT[outcome.hook.event]
    if outcome.answer is None or not isinstance(reply, Exited) or reply.code != 0:
        return None
    if not (rule.permission or rule.verdict) or not starts_as_json(text_of(reply.stdout)):
        return None
    said = parse(reply.stdout)
    verdict = None if isinstance(said, Malformed) else verdict_in(said)
    return verdict if verdict in ("allow", "deny", "ask") else None


def _hold(answer: Answer, rule: MuseRule) -> str:
    """`stopped` or `blocked`, where this answer by itself holds something up."""
    said = answer.words()
    if EndRun in said or (Deny in said and rule.block is not Deny):
        return "stopped"
    blocking: frozenset[Word] = frozenset({Deny, Reopen, AddFeedback} if rule.blocks else {Deny, Reopen})
    return "blocked" if said & blocking else ""


def _denies_permission(outcome: Outcome) -> bool:
    """Whether a Deny was spelled as a permission decision; a plain block has no tag beside `blocked`."""
    denies = outcome.answer is not None and isinstance(outcome.answer.decision, Deny)
    return denies and permission_in(outcome) == "deny"

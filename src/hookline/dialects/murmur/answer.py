"""A hook's reply understood, or why it is none: sections 8, 14 and 15.3."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hookline._core.answer import NOTHING, Answer
from hookline._core.decisions import Deny
from hookline._core.effects import (
    Effect,
    EmitArtifact,
    Reopen,
    ReplaceContext,
    SeedContext,
    ToolManifest,
    WriteManifests,
)
from hookline._core.events import BeforeDispatch
from hookline._core.hooks import Hook
from hookline._core.payload import CallFailed, Reply, Yielded
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline.dialects.murmur.facts import Facts, facts_of
from hookline.dialects.murmur.failures import worded
from hookline.dialects.murmur.messages import NoMessage, all_incoming
from hookline.dialects.murmur.rules import ARMS, DENY, NONE, function_of, rule_of

UNSUPPORTED = (
    "hook '{name}' returned unsupported hook-output arm '{arm}' from '{function}'; this event does not honor that arm, "
    "so the value was discarded"
)
UNREADABLE = "hook '{name}' {function} returned what cannot be read: {why}"

NOT_ANSWERABLE = (
    "policy hook '{name}' returned hook-output arm '{arm}' from the '{function}' decision point; only 'deny' or 'none' "
    "is answerable there, so the call was refused"
)
NO_REASON = "policy hook '{name}' refused this call from '{function}' but returned an empty reason"
NO_EXPORT = (
    "policy hook '{name}' does not export '{function}'; a policy hook must export the function it gates, so the call "
    "was refused"
)
FAILED_AT = "policy hook '{name}' failed at the '{function}' decision point: {why}"

FRESH = "its instance was new: what the one before it kept in memory is lost"
OF_ASYNC = "the {arm} of an async hook is discarded"
OF_POLICY = "commit_policy '{policy}' discards its {arm}"


class Unreadable(Exception):  # a value for the decoder below, not a fault of the program
    """A payload that is not what its arm carries; the text says what is wrong."""


def decode(reply: Reply, event: Event, hook: Hook) -> Answer | CallFailed:
    """What *hook* said about *event*, or why that is no answer. Never raises, whatever came back."""
    said = understood(reply, event, hook)
    if not isinstance(event, BeforeDispatch) or isinstance(said, Answer):
        return said
    return replace(said, detail=_refusal(reply, said, event, facts_of(hook)))


def understood(reply: Reply, event: Event, hook: Hook) -> Answer | CallFailed:
    """The same in the words of the log, where a decision point is an event like any other."""
    facts = facts_of(hook)
    match reply:
        case Yielded():
            return _of_arm(reply, event, hook, facts)
        case CallFailed():
            return worded(reply, event, facts)
        case _:
            return _unreadable(f"{type(reply).__name__} is no reply of a component", event, facts)


def _refusal(reply: Reply, failed: CallFailed, event: Event, facts: Facts) -> str:
    """Why a call is refused whose policy hook did not answer."""
    about = {"name": facts.name, "function": function_of(event)}
    match reply:
        case Yielded(arm=arm) if failed.why is Failure.NOT_ADMITTED:
            return NOT_ANSWERABLE.format(arm=arm, **about)
        case Yielded(arm="deny", value=str()):
            return NO_REASON.format(**about)
        case CallFailed(stream="function"):
            return NO_EXPORT.format(**about)
        case _:
            return FAILED_AT.format(why=failed.detail, **about)


def _of_arm(reply: Yielded, event: Event, hook: Hook, facts: Facts) -> Answer | CallFailed:
    arm: object = reply.arm
    notes = (FRESH,) if reply.fresh else ()
    if not isinstance(arm, str) or arm not in ARMS:
        return _unreadable(f"hook-output has no arm {str(arm)[:80]!r}", event, facts)
    if arm == NONE:
        return Answer(notes=notes) if notes else NOTHING
    if arm != rule_of(event).arm:
        detail = UNSUPPORTED.format(name=facts.name, arm=arm, function=function_of(event))
        return CallFailed(why=Failure.NOT_ADMITTED, detail=detail)
    if hook.background:
        return Answer(notes=(OF_ASYNC.format(arm=arm), *notes))
    if ARMS[arm] not in hook.commits:
        return Answer(notes=(OF_POLICY.format(policy=facts.policy, arm=arm), *notes))
    try:
        return _committed(arm, reply.value, notes)
    except (Unreadable, NoMessage) as fault:
        return _unreadable(f"{arm}: {fault}", event, facts)


def _committed(arm: str, value: Any, notes: tuple[str, ...]) -> Answer:
    if arm != DENY:
        return Answer(effects=(_EFFECTS[arm](value),), notes=notes)
    reason = _text(value)
    if not reason.strip():
        raise Unreadable("an empty reason")
    return Answer(decision=Deny(reason), notes=notes)


def _unreadable(why: str, event: Event, facts: Facts) -> CallFailed:
    detail = UNREADABLE.format(name=facts.name, function=function_of(event), why=why)
    return CallFailed(why=Failure.MALFORMED_ANSWER, detail=detail)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Unreadable(f"text is expected, found {type(value).__name__}")
    return value


def _manifests(value: object) -> tuple[ToolManifest, ...]:
    if not isinstance(value, list | tuple):
        raise Unreadable(f"a list of manifests is expected, found {type(value).__name__}")
    return tuple(map(_manifest, value))


def _manifest(value: object) -> ToolManifest:
    if not isinstance(value, Mapping):
        raise Unreadable(f"a manifest is a record, found {type(value).__name__}")
    return ToolManifest(_text(value.get("binary-name")), _text(value.get("content")))


_EFFECTS: Mapping[str, Callable[[Any], Effect]] = {
    "replace-context": lambda value: ReplaceContext(all_incoming(value)),
    "write-manifests": lambda value: WriteManifests(_manifests(value)),
    "artifact": lambda value: EmitArtifact(_text(value)),
    "reopen-task": lambda value: Reopen(_text(value)),
    "seed-context": lambda value: SeedContext(all_incoming(value)),
}

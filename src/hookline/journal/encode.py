"""Records to the bodies of lines: field by field, but for those that say more than their fields."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from msgspec.structs import replace

from hookline._core import records as rec
from hookline._core.answer import NOTHING, Answer, Word
from hookline._core.decisions import Decision, Deny
from hookline._core.effects import Effect
from hookline._core.events import AfterModelCall, BeforeCompaction, BeforeModelCall
from hookline._core.hooks import Hook
from hookline._core.messages import ToolSpec
from hookline._core.outcomes import Outcome
from hookline._core.payload import CallFailed, Exited, Responded
from hookline._core.points import Event, Origin
from hookline.journal import entries as en

IN_ENVELOPE = ("session_id", "run_id", "step")
USUAL_ORIGIN = tuple((each.name, each.default) for each in fields(Origin) if each.name not in IN_ENVELOPE)
KEPT_OUTPUT = 2000  # characters of each output stream: enough for what a person looks for in an account


def body_of(record: rec.Record) -> en.Body:
    """What the line for *record* says besides its envelope."""
    return SPECIAL.get(type(record), _field_by_field)(record)


def word_name(word: Word) -> str:
    """The name of a kind of decision or effect: `add_context` for AddContext."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", word.__name__).lower()


class _FieldNames(dict[type, tuple[str, ...]]):
    """The fields of each class of event or effect, in order, without `origin`."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        names = self[kind] = tuple(each.name for each in fields(kind) if each.name != "origin")
        return names


_FIELD_NAMES = _FieldNames()


def milliseconds(seconds: float) -> float:
    """To the microsecond. `round` would say the same in three times the time, and every outcome has two of these."""
    return int(seconds * 1_000_000 + 0.5) / 1000


# A line has a hook for every outcome, and most of the time of writing it went into them. Hooks never change, and one
# that stands here is alive, so that its id is its own. An engine has a few hundred hooks at most.
_KNOWN: dict[int, tuple[Hook, en.Hook]] = {}
_MOST_KNOWN = 1024


def hook_fields(hook: Hook) -> en.Hook:
    known = _KNOWN.get(id(hook))
    if known is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[id(hook)] = (hook, _described(hook))
    return known[1]


def _described(hook: Hook) -> en.Hook:
    source = hook.source
    return en.Hook(
        id=hook.id,
        key=hook.key,
        layer=source.layer,
        file=source.path or source.label,
        dialect=hook.dialect,
        label=hook.label,
        background=hook.background,
        commits=tuple(sorted(map(word_name, hook.commits))),
    )


def origin_fields(origin: Origin) -> dict[str, Any]:
    """Where an event happened, without what the envelope says already and what is as always."""
    told: dict[str, Any] = {}
    for name, usual in USUAL_ORIGIN:
        value = getattr(origin, name)
        if value != usual:
            told[name] = value
    return told


_MODEL_CALLS = (BeforeModelCall, AfterModelCall)
_OF_THE_CONVERSATION = (*_MODEL_CALLS, BeforeCompaction)


def event_fields(event: Event) -> dict[str, Any]:
    """The whole event, but for the conversation: its messages are in lines of their own, so their number will do."""
    told: dict[str, Any] = {"point": event.point.name, "origin": origin_fields(event.origin)}
    if type(event) is not event.point.event:
        told[en.KIND_OF_EVENT] = type(event).__name__
    for name in _FIELD_NAMES[type(event)]:
        told[name] = getattr(event, name)
    if isinstance(event, _OF_THE_CONVERSATION) and not (isinstance(event, BeforeCompaction) and event.of_seed):
        told["messages"] = len(event.messages)
    if isinstance(event, _MODEL_CALLS):
        told["tools"] = [_outline(spec) for spec in event.tools]
    return told


def event_mention(event: Event) -> dict[str, Any]:
    """Enough to say which event this is."""
    told: dict[str, Any] = {"point": event.point.name}
    for name in (event.point.subject, "call_id"):
        if name is not None and hasattr(event, name):
            told[name] = getattr(event, name)
    return told


def _outline(spec: ToolSpec) -> dict[str, Any]:
    """A tool as events are asked about it: whether it takes parameters and whether they are closed, not which."""
    parameters: dict[str, Any] = {"properties": {key: {} for key in spec.parameters.get("properties", ())}}
    if "additionalProperties" in spec.parameters:
        parameters["additionalProperties"] = spec.parameters["additionalProperties"]
    return {"name": spec.name, "description": spec.description, "parameters": parameters}


def effect_fields(effect: Effect) -> dict[str, Any]:
    kind = type(effect)
    return {"effect": word_name(kind), **{name: getattr(effect, name) for name in _FIELD_NAMES[kind]}}


def decision_fields(decision: Decision | None) -> en.Decision | None:
    if decision is None:
        return None
    told: dict[str, Any] = {"code": decision.code, "data": decision.data} if isinstance(decision, Deny) else {}
    return en.Decision(decision=word_name(type(decision)), reason=decision.reason, **told)


def _beginning(output: bytes) -> str:
    return output[: KEPT_OUTPUT * 4].decode("utf-8", "replace")[:KEPT_OUTPUT]


def reply_fields(reply: Exited | Responded | CallFailed) -> dict[str, Any]:
    """What came back from outside this process. What a function returned stands in its answer."""
    if isinstance(reply, Responded):
        return {"code": reply.status, "stdout": _beginning(reply.body), "stdout_size": len(reply.body)}
    told = {
        "code": reply.code,
        "stdout": _beginning(reply.stdout),
        "stdout_size": len(reply.stdout),
        "stderr": _beginning(reply.stderr),
        "stderr_size": len(reply.stderr),
        "left_behind": reply.left_behind,
    }
    if isinstance(reply, Exited):
        told |= {"stdin_read": reply.stdin_read, "stdin_size": reply.stdin_size}
    return told


def answer_fields(answer: Answer) -> dict[str, Any]:
    return {
        "decision": decision_fields(answer.decision),
        "effects": tuple(effect_fields(effect) for effect in answer.effects),
        "notes": answer.notes,
    }


def outcome_fields(outcome: Outcome) -> en.Outcome:
    told = _told_besides(outcome)
    line = en.Outcome(
        hook=hook_fields(outcome.hook),
        kind=outcome.kind.value,
        detail=outcome.detail,
        started=int(outcome.started * 1_000_000),
        queued_ms=milliseconds(outcome.queued),
        ran_ms=milliseconds(outcome.ran),
    )
    return replace(line, **told) if told else line


def _told_besides(outcome: Outcome) -> dict[str, Any]:
    """What most outcomes do not have: a reason, an answer that says something, a process, a fallback."""
    told: dict[str, Any] = {}
    if outcome.why is not None:
        told["why"] = outcome.why.value
    if outcome.answer is not None and outcome.answer is not NOTHING:
        told |= answer_fields(outcome.answer)
    if isinstance(outcome.reply, Exited | Responded | CallFailed):
        told |= reply_fields(outcome.reply)
    if outcome.links:
        told["links"] = tuple(outcome_fields(link) for link in outcome.links)
    if outcome.by is not None and outcome.by is not outcome.hook:
        told["by"] = hook_fields(outcome.by)
    return told


def _hook_started(record: rec.HookStarted) -> en.Body:
    return en.HookStarted(hook=hook_fields(record.hook), event=event_mention(record.event))


def _hook_ended(record: rec.HookEnded) -> en.Body:
    return en.HookEnded(outcome=outcome_fields(record.outcome), event=event_mention(record.event))


def _message_added(record: rec.MessageAdded) -> en.Body:
    return en.MessageAdded(message=en.Message.of(record.message))


def _replaced(record: rec.ConversationReplaced) -> en.Body:
    return en.ConversationReplaced(why=record.why, messages=tuple(map(en.Message.of, record.messages)))


def _changed(asked: Event, left: Event) -> dict[str, Any]:
    """The fields that hooks changed, as they were before."""
    names = (name for name in _FIELD_NAMES[type(asked)] if getattr(asked, name) != getattr(left, name, None))
    return {name: getattr(asked, name) for name in names}


def _dispatched(record: rec.Dispatched) -> en.Body:
    resolution = record.resolution
    return en.Dispatched(
        event=event_fields(resolution.event),
        duration_ms=milliseconds(record.duration),
        outcomes=tuple([outcome_fields(outcome) for outcome in resolution.outcomes]),
        **_came_to(record),
    )


def _came_to(record: rec.Dispatched) -> dict[str, Any]:
    """What most events do not come to: a decision, an effect, a change, a guard that was not heard."""
    resolution = record.resolution
    told: dict[str, Any] = {}
    if record.event is not resolution.event:
        told["asked"] = _changed(record.event, resolution.event)
    if resolution.decision is not None:
        told |= {"decision": decision_fields(resolution.decision), "decided_by": resolution.decided_by}
    if resolution.applied:
        told["applied"] = tuple(
            en.Applied(hook=each.hook, effect=effect_fields(each.effect)) for each in resolution.applied
        )
    if resolution.ignored:
        told["ignored"] = tuple(
            en.Ignored(hook=each.hook, what=word_name(each.what), why=each.why) for each in resolution.ignored
        )
    if resolution.failed_run is not None:
        told["failed_run"] = resolution.failed_run.hook.id
    if resolution.launched:
        told["launched"] = tuple(hook.id for hook in resolution.launched)
    if unheard := resolution.unheard():
        told["unheard"] = tuple(outcome.hook.id for outcome in unheard)
    return told


SPECIAL: Mapping[type[rec.Record], Callable[[Any], en.Body]] = {
    rec.MessageAdded: _message_added,
    rec.ConversationReplaced: _replaced,
    rec.HookStarted: _hook_started,
    rec.HookEnded: _hook_ended,
    rec.Dispatched: _dispatched,
}


def _field_by_field(record: rec.Record) -> en.Body:
    body = en.BODIES[record.kind]
    return body(**{name: _field(record, name) for name in body.__struct_fields__})


def _field(record: rec.Record, name: str) -> Any:
    if name.endswith("_ms"):
        return milliseconds(getattr(record, name.removesuffix("_ms")))
    value = getattr(record, name)
    return value.value if isinstance(value, Enum) else value

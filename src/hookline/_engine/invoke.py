"""One hook's turn at one event: encode, call, decode, admit, and its fallbacks where it failed."""

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import replace
from functools import lru_cache
from typing import Any, get_args

from hookline._core.answer import Answer
from hookline._core.hooks import Hook
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import CallFailed, Limits, Payload, Refused, Reply
from hookline._core.reasons import Failure, Skip
from hookline._core.records import HookStarted
from hookline._engine.admit import objection_to
from hookline._engine.occasion import Occasion
from hookline._engine.plan import Unusable

# As tuples: a union of types takes several times as long to be asked, and every call asks twice.
_PAYLOADS = (Payload, Refused)
_REPLIES = get_args(Reply)


def invoke(hook: Hook, occasion: Occasion) -> Coroutine[Any, Any, Outcome]:
    """The one outcome of *hook* on this occasion. A failed attempt hands over to its fallback; the last attempt counts.

    Raises only on cancellation, after recording it.
    """
    return _attempt(hook, occasion) if hook.fallback is None else _attempts(hook, occasion)


async def _attempts(hook: Hook, occasion: Occasion) -> Outcome:
    outcome = await _attempt(hook, occasion)
    links: list[Outcome] = []
    while outcome.kind is Kind.FAILED and (link := outcome.hook.fallback) is not None:
        links.append(outcome)
        outcome = await _attempt(link, occasion)
    return replace(outcome, hook=hook, by=outcome.hook, links=tuple(links)) if links else outcome


def requests_to_cancel() -> int:
    """How many requests to cancel the current task are open."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


def skipped(hook: Hook, why: Skip, detail: str = "") -> Outcome:
    """The outcome of a hook that was selected and not called."""
    return Outcome(hook=hook, kind=Kind.SKIPPED, why=why, detail=detail)


async def _attempt(hook: Hook, occasion: Occasion) -> Outcome:
    payload = _encode(hook, occasion)
    if not isinstance(payload, Payload):
        outcome = _never_called(hook, payload)
        if hook.background:
            occasion.record_end(outcome)
        return outcome
    started, begun = time.time(), time.monotonic()
    recorded = hook.target.leaves_process or hook.background  # what ends within the dispatch stands in its record
    if recorded:
        occasion.record(HookStarted(origin=occasion.event.origin, hook=hook, event=occasion.event))
    try:
        reply = await _call(hook, payload, occasion)
    except asyncio.CancelledError:
        if recorded:
            ran = time.monotonic() - begun
            occasion.record_end(Outcome(hook=hook, kind=Kind.CANCELLED, started=started, ran=ran))
        raise
    answer, why, detail = _understand(hook, reply, occasion)
    outcome = Outcome(
        hook=hook,
        kind=Kind.ANSWERED if why is None else Kind.FAILED,
        answer=answer,
        why=why,
        detail=detail,
        reply=reply,
        started=started,
        queued=begun - occasion.since,
        ran=time.monotonic() - begun,
    )
    if recorded:
        occasion.record_end(outcome)
    return outcome


def _never_called(hook: Hook, why: Refused | CallFailed) -> Outcome:
    if isinstance(why, Refused):
        return skipped(hook, why.why, why.detail)
    return Outcome(hook=hook, kind=Kind.FAILED, why=why.why, detail=why.detail, reply=why)


def _encode(hook: Hook, occasion: Occasion) -> Payload | Refused | CallFailed:
    if isinstance(hook.target, Unusable):
        return CallFailed(why=Failure.CRASHED, detail=hook.target.detail)
    try:
        payload: object = occasion.dialect.encode(occasion.event, hook)
    except Exception as fault:  # noqa: BLE001  # an event from outside may hold anything
        return CallFailed(why=Failure.CRASHED, detail=f"its payload could not be made: {fault!r}")
    if isinstance(payload, _PAYLOADS):
        return payload
    return CallFailed(why=Failure.CRASHED, detail=f"its payload could not be made: the dialect gave {payload!r}")


_limits = lru_cache(maxsize=256)(Limits)  # a configuration has a handful, and every call needs one


async def _call(hook: Hook, payload: Payload, occasion: Occasion) -> Reply:
    adapter = occasion.adapters.get(type(hook.target))
    if adapter is None:
        kind = type(hook.target).__name__
        return CallFailed(why=Failure.COULD_NOT_START, detail=f"no adapter is registered for {kind}")
    cap = occasion.dialect.output_bytes if hook.output_bytes is None else hook.output_bytes
    try:
        return await adapter.call(hook.target, payload, _limits(hook.timeout, cap))
    except asyncio.CancelledError:
        if requests_to_cancel() > occasion.requests:
            raise
        return CallFailed(why=Failure.CRASHED, detail=f"{type(adapter).__name__}: its work was cancelled from within")
    except Exception as fault:  # noqa: BLE001  # an adapter that breaks its contract is a hook that failed, not a crash
        return CallFailed(why=Failure.CRASHED, detail=f"{type(adapter).__name__}: {fault!r}")


def _understand(hook: Hook, reply: object, occasion: Occasion) -> tuple[Answer | None, Failure | None, str]:
    if not isinstance(reply, _REPLIES):
        return None, Failure.CRASHED, f"its adapter gave {reply!r}, which is no reply"
    try:
        answer: object = occasion.dialect.decode(reply, occasion.event, hook)
    except Exception as fault:  # noqa: BLE001  # a dialect from outside that breaks must not turn a guard into nothing
        return None, Failure.CRASHED, f"its reply could not be read: {fault!r}"
    if isinstance(answer, CallFailed):
        return None, answer.why, answer.detail
    if not isinstance(answer, Answer):
        return None, Failure.CRASHED, f"its reply could not be read: the dialect gave {answer!r}"
    if objection := objection_to(answer, hook, occasion.rule):
        return None, Failure.NOT_ADMITTED, objection
    return answer, None, ""

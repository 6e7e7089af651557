"""A hook's reply understood (section 4), or why it is none, in the words of sections 8 and 9."""

import re
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hookline._core import strictjson
from hookline._core.answer import NOTHING, Answer, answer_from
from hookline._core.decisions import Allow, Deny
from hookline._core.hooks import Hook
from hookline._core.payload import CallFailed, Exited, Reply, Responded, Returned, Yielded
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget, HttpTarget
from hookline.dialects.meerkat.faults import milliseconds
from hookline.dialects.meerkat.rules import BY_EVENT
from hookline.dialects.meerkat.words import ReasonCode

OBSERVE_ONLY = "observe_only_violation: this hook declares capability observe, and it answered with a denial"
DEEPEST = 128  # levels of a response, as deep as common readers go
CODES = tuple(code.value for code in ReasonCode)
LOSSY = 2000  # characters of an error's text that a failure repeats


class InvalidResponse(Exception):  # a value for the decoder below, not a fault of the program
    """A response that is none; the message says what is wrong with it."""


def decode(reply: Reply, event: Event, hook: Hook) -> Answer | CallFailed:
    """What *hook* said about *event*, or why that is no answer. Never raises, whatever the bytes."""
    said = _said(reply, hook)
    if isinstance(said, CallFailed) or said.decision is None:
        return said
    if hook.background:
        return Answer(notes=(f"the {_word(said)} of a background hook changes nothing",))
    rule = BY_EVENT[event.point.event]
    if isinstance(said.decision, Deny) and Deny not in hook.commits and Deny not in rule.discards:
        return CallFailed(why=Failure.NOT_ADMITTED, detail=OBSERVE_ONLY)
    return said


def _said(reply: Reply, hook: Hook) -> Answer | CallFailed:
    match reply:
        case Exited():
            return _of_command(reply)
        case Responded():
            return _of_http(reply)
        case Returned():
            return _of_handler(reply)
        case CallFailed():
            return _worded(reply, hook)
        case Yielded():
            return CallFailed(why=Failure.MALFORMED_ANSWER, detail=f"a component answered with {reply.arm}")


def _word(answer: Answer) -> str:
    return "allow" if isinstance(answer.decision, Allow) else "deny"


def _of_command(reply: Exited) -> Answer | CallFailed:
    if reply.code != 0:
        detail = f"command hook exited with exit status: {reply.code}: {_text(reply.stderr)}"
        return CallFailed(
            why=Failure.EXIT_CODE,
            detail=detail,
            code=reply.code,
            stdout=reply.stdout,
            stderr=reply.stderr,
            left_behind=reply.left_behind,
        )
    said = _read(reply.stdout, "command")
    if isinstance(said, CallFailed):
        return replace(said, code=0, stdout=reply.stdout, stderr=reply.stderr, left_behind=reply.left_behind)
    return said


def _of_http(reply: Responded) -> Answer | CallFailed:
    if not 200 <= reply.status < 300:  # noqa: PLR2004  # the class of statuses that mean success
        detail = f"HTTP hook returned {reply.status} {reply.reason}: {_text(reply.body)}"
        return CallFailed(why=Failure.EXIT_CODE, detail=detail, code=reply.status, stdout=reply.body)
    said = _read(reply.body, "HTTP")
    return replace(said, code=reply.status, stdout=reply.body) if isinstance(said, CallFailed) else said


def _of_handler(reply: Returned) -> Answer | CallFailed:
    """A handler returns the response as an object, or what any handler of hookline returns."""
    if isinstance(reply.value, Mapping):
        try:
            return response_from(dict(reply.value))
        except InvalidResponse as fault:
            return _malformed(f"invalid in-process hook response: {fault}")
    answer = answer_from(reply.value)
    if answer is None or answer.effects or (answer.decision and not isinstance(answer.decision, Allow | Deny)):
        found = type(reply.value).__name__
        wanted = "None, Allow, Deny or a response such as {'decision': {'decision': 'allow'}}"
        return _malformed(f"invalid in-process hook response: the handler returned {found}; return {wanted}")
    decision = answer.decision
    if not isinstance(decision, Deny):
        return answer
    if not decision.code:
        return replace(answer, decision=replace(decision, code=ReasonCode.POLICY_VIOLATION.value))
    if decision.code not in CODES:
        return _malformed(f"invalid in-process hook response: {_unknown_code(decision.code)}")
    return answer


def _read(data: bytes, kind: str) -> Answer | CallFailed:
    try:
        return response_from(strictjson.parse(data, max_bytes=len(data), max_depth=DEEPEST))
    except strictjson.JsonFault as fault:
        why = fault.message if data.strip() else "it is empty; a hook that has nothing to say writes {}"
        return _malformed(f"invalid {kind} hook response: {why}")
    except InvalidResponse as fault:
        return _malformed(f"invalid {kind} hook response: {fault}")


def response_from(value: Any) -> Answer:
    """The answer in a response object. Raises InvalidResponse."""
    if not isinstance(value, dict):
        raise InvalidResponse("it is no JSON object")
    if unknown := [key for key in value if key != "decision"]:
        raise InvalidResponse(f"unknown field `{str(unknown[0])[:80]}`, expected `decision`")
    decision = value.get("decision")
    if decision is None:
        return NOTHING
    if not isinstance(decision, dict):
        raise InvalidResponse('`decision` is no object; write {"decision": {"decision": "allow"}}')
    match decision.get("decision"):
        case "allow":
            return Answer(decision=Allow())
        case "deny":
            return Answer(decision=_denial(decision))
        case other:
            raise InvalidResponse(f"`decision.decision` has to be `allow` or `deny`, found {_shown(other)}")


def _denial(decision: dict[str, Any]) -> Deny:
    """A denial. Its `hook_id` has to be there and counts for nothing: an entry cannot speak for another."""
    for name in ("hook_id", "reason_code", "message"):
        if name not in decision:
            raise InvalidResponse(f"missing field `{name}` in a deny")
        if not isinstance(decision[name], str):
            raise InvalidResponse(f"`{name}` in a deny has to be a string, found {_shown(decision[name])}")
    if decision["reason_code"] not in CODES:
        raise InvalidResponse(_unknown_code(decision["reason_code"]))
    return Deny(decision["message"], decision["reason_code"], decision.get("payload"))


def _unknown_code(code: str) -> str:
    return f"unknown reason_code {_shown(code)}, expected one of {', '.join(CODES)}"


def _shown(value: object) -> str:
    return repr(value)[:80]


def _malformed(detail: str) -> CallFailed:
    return CallFailed(why=Failure.MALFORMED_ANSWER, detail=detail)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()[:LOSSY]


def _too_large(reply: CallFailed, hook: Hook) -> str | None:
    what = "HTTP hook response" if reply.stream == "body" else f"command {reply.stream}"
    return f"{what} exceeds max size: {reply.size} > {hook.output_bytes}" if reply.stream else None


def _not_started(reply: CallFailed, hook: Hook) -> str | None:
    match hook.target:
        case CommandTarget():
            return f"failed to spawn command hook: {reply.detail}"
        case HttpTarget():
            return _of_request(reply, hook)
        case _:
            return None


_BY_SIGNAL = re.compile(r"killed by (\w+)$")


def _signalled(reply: CallFailed) -> str | None:
    found = _BY_SIGNAL.match(reply.detail)
    if found is None:
        return None
    name = found[1]
    number = signal.Signals[name].value if name in signal.Signals.__members__ else 0
    return f"command hook exited with signal: {number} ({name}): {_text(reply.stderr)}"


# How the adapter marks what part of an exchange broke, and how that is put here.
_PARTS = {"request: ": "HTTP hook request failed: ", "body: ": "failed reading HTTP hook response body: "}


def _of_request(reply: CallFailed, hook: Hook) -> str | None:
    for mark, words in _PARTS.items():
        if reply.detail.startswith(mark):
            return words + reply.detail.removeprefix(mark)
    return None


# How a failure is put, by its reason; None leaves it as the adapter has it.
_WORDS: dict[Failure, Callable[[CallFailed, Hook], str | None]] = {
    Failure.TIMEOUT: lambda _, hook: f"hook timed out after {milliseconds(hook.timeout)}ms",
    Failure.OUTPUT_TOO_LARGE: _too_large,
    Failure.COULD_NOT_START: _not_started,
    Failure.SIGNAL: lambda reply, _: _signalled(reply),
    Failure.UNREACHABLE: _of_request,
    Failure.MALFORMED_ANSWER: _of_request,
}


def _worded(reply: CallFailed, hook: Hook) -> CallFailed:
    word = _WORDS.get(reply.why)
    detail = None if word is None else word(reply, hook)
    return reply if detail is None else replace(reply, detail=detail)

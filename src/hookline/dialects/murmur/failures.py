"""How a call that failed is put: in the words of section 8, and of section 4.1 for a function that is not there."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from hookline._core.answer import NOTHING, Answer
from hookline._core.events import BeforeStage
from hookline._core.payload import CallFailed
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline.dialects.murmur.facts import Facts
from hookline.dialects.murmur.interfaces import MISSING
from hookline.dialects.murmur.rules import function_of, rule_of

FUNCTION = "function"  # the part of a component that a call failed of, where it is the function that was not there

DEADLINE = "exceeded its {seconds:g}s execution deadline (capabilities.limits.deadline_seconds) and was interrupted"
RESOURCES = "exceeded its configured resource limits: {which}"
MEMORY = "linear memory growth{to} exceeds capabilities.limits.memory_bytes ({most})"
TABLE = "table growth{to} exceeds capabilities.limits.table_elements ({most})"
TRAPPED = "trapped: {why}"
NOT_STARTED = "failed to instantiate hook {hook}: {why}"
NO_STAGE = "hook {hook} missing on-stage"


def worded(failed: CallFailed, event: Event, facts: Facts) -> Answer | CallFailed:
    """*failed* with its detail in Murmur's words; nothing was said where the function need not be there."""
    if failed.stream == FUNCTION:
        if rule_of(event).optional:
            return NOTHING
        return replace(failed, detail=_missing(event, facts))
    return replace(failed, detail=_detail(failed, event, facts))


def _missing(event: Event, facts: Facts) -> str:
    if isinstance(event, BeforeStage):
        return NO_STAGE.format(hook=facts.full_name)
    about = {"name": facts.name, "version": facts.version, "interface": facts.interface}
    return MISSING.format(function=function_of(event), **about)


def _detail(failed: CallFailed, event: Event, facts: Facts) -> str:
    if failed.why is Failure.ERROR:
        return failed.detail  # its own words, and nothing around them
    if failed.why is Failure.COULD_NOT_START:
        return NOT_STARTED.format(hook=facts.full_name, why=failed.detail)
    word = _WORDS.get(failed.why)
    told = TRAPPED.format(why=failed.detail) if word is None else word(failed, facts)
    return f"hook '{facts.name}' {function_of(event)} {told}"


def _deadline(failed: CallFailed, facts: Facts) -> str:
    return DEADLINE.format(seconds=facts.capsule.limits.deadline)


def _limit(failed: CallFailed, facts: Facts) -> str:
    limits = facts.capsule.limits
    match failed.stream:
        case "memory":
            to = f" to {failed.size} bytes" if failed.size else ""
            return RESOURCES.format(which=MEMORY.format(to=to, most=limits.memory_bytes))
        case "table":
            to = f" to {failed.size} elements" if failed.size else ""
            return RESOURCES.format(which=TABLE.format(to=to, most=limits.table_elements))
        case _:
            return RESOURCES.format(which=failed.detail)


_WORDS: Mapping[Failure, Callable[[CallFailed, Facts], str]] = {
    Failure.TIMEOUT: _deadline,
    Failure.OVER_LIMIT: _limit,
    Failure.MALFORMED_ANSWER: lambda failed, _: f"returned what cannot be read: {failed.detail}",
}

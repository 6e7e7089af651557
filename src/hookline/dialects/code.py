"""Handlers registered in code: the event itself goes in, a Python value comes out, nothing is encoded."""

from functools import cache

from hookline._core.answer import Answer, answer_from
from hookline._core.decisions import Deny
from hookline._core.effects import AddContext, AddFeedback, Notify
from hookline._core.events import AfterToolCall, BeforeRun, BeforeToolCall, ToolCallFailed
from hookline._core.events.tool import UnknownToolCall
from hookline._core.hooks import Hook
from hookline._core.lanes import LanePolicy
from hookline._core.payload import CallFailed, Payload, Reply, Returned
from hookline._core.points import Event, Point
from hookline._core.reasons import Failure
from hookline._core.rules import FailurePolicy, Rule, Strategy
from hookline.dialects._base import Package, TableDialect

# Context of a refused tool call still helps the model; that of a refused prompt has nobody to help.
_KEPT = frozenset({AddContext, AddFeedback, Notify})


# A result withheld because a handler broke would help nobody: the call has had its effect.
_DONE = (AfterToolCall, ToolCallFailed)


def _of_a_tool(event: Event) -> bool:
    """Handlers are asked about calls that could be made."""
    return not isinstance(event, UnknownToolCall)


@cache
def _rule(point: Point) -> Rule:
    """Whoever embeds the engine registers a guard to be guarded: one that fails does not let the action through."""
    return Rule(
        name=point.name,
        event=point.event,
        admits=point.admits,
        on_failure=FailurePolicy.DENY if Deny in point.admits and point.event not in _DONE else FailurePolicy.IGNORE,
        occurs=_of_a_tool if point.event is BeforeToolCall else None,
        survives_deny=frozenset({Notify}) if point.event is BeforeRun else _KEPT,
        has_subject=point.subject is not None,
    )


def encode(event: Event, hook: Hook) -> Payload:
    return Payload(event)


def decode(reply: Reply, event: Event, hook: Hook) -> Answer | CallFailed:
    if isinstance(reply, CallFailed):
        return reply
    answer = answer_from(reply.value) if isinstance(reply, Returned) else None
    if answer is None:
        found = type(reply.value).__name__ if isinstance(reply, Returned) else type(reply).__name__
        wanted = "None, a decision, an effect or an Answer"
        return CallFailed(why=Failure.MALFORMED_ANSWER, detail=f"the handler returned {found}; return {wanted}")
    return answer


class CodeDialect(TableDialect):
    """Has every hook point there is, those that were declared after this module was imported too."""

    def rule(self, event: type[Event]) -> Rule | None:
        point: Point | None = getattr(event, "point", None)
        return None if point is None else _rule(point)


DIALECT = CodeDialect(
    name="code",
    strategy=Strategy.CHAIN,
    lane=LanePolicy(workers=32, queue=1024),
    rules={},  # made when they are asked for
    encode=encode,
    decode=decode,
)

PACKAGE = Package(dialect=DIALECT)

"""What every dialect promises, whoever wrote it."""

from collections.abc import Iterable, Iterator

from hookline._core.answer import Answer, listed
from hookline._core.hooks import Hook
from hookline._core.payload import CallFailed, Exited, Payload, Refused, Reply, Returned, Yielded
from hookline._core.points import POINTS, Event
from hookline._core.ports import Dialect
from hookline._core.reasons import Failure
from hookline._core.rules import Rule
from hookline._core.targets import CommandTarget
from hookline.workbench.samples import SAMPLES

OUTPUTS = (
    b"",
    b"{}",
    b"[1]",
    b"{",
    b'{"decision": "block"}',
    b'{"decision": "deny", "reason": "no"}',
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"{} {}",
    b'{"a": NaN}',
    b'{"a": 1, "a": 2}',
    b"[" * 10_000,
    b'"\\ud800"',
    b"plain text",
    b"x" * 16_384,
)

ARMS = ("none", "deny", "artifact", "replace-context", "seed-context", "write-manifests", "reopen-task", "no such arm")

REPLIES: tuple[Reply, ...] = (
    *(
        Exited(code=code, stdout=out, stderr=err)
        for code in (0, 1, 2, 126, 255)
        for out in OUTPUTS
        for err in (b"", b"no")
    ),
    *(CallFailed(why=why, detail="detail") for why in Failure),
    *(Returned(value) for value in (None, 42, "yes", [], object())),
    *(Yielded(arm=arm, value=value) for arm in ARMS for value in (None, 42, "yes", "", [], [None], [{}], object())),
)


def breaches_of_dialect(dialect: Dialect, *, events: Iterable[Event] = tuple(SAMPLES.values())) -> list[str]:
    """What *dialect* breaks of its promises, one line each; none is what there should be.

    A rule admits only what its point can honour. A payload is made of every event, or refused with a reason, and the
    event in it is the one that was given. Every reply is understood as an answer or as a failure, never an exception;
    and an answer holds nothing that the rule does not admit.
    """
    return [
        f"{event.point.name}: {breach}"
        for event in events
        if (rule := dialect.rule(type(event))) is not None
        for breach in _breaches(dialect, rule, event)
    ]


def _breaches(dialect: Dialect, rule: Rule, event: Event) -> Iterator[str]:
    if POINTS.get(event.point.name) is not event.point:
        yield "this point is not registered"
    if beyond := rule.admits - event.point.admits:
        yield f"the rule admits {listed(beyond)}, which the point cannot honour"
    hook = Hook(
        id="sample",
        event=type(event),
        target=CommandTarget(argv=("/bin/true",), env={}),
        dialect=dialect.name,
        commits=rule.admits,
    )
    try:
        payload: object = dialect.encode(event, hook)  # of which no more is taken for granted than was checked
    except Exception as fault:  # noqa: BLE001  # that is the breach
        yield f"encode raised {fault!r}"
    else:
        if not isinstance(payload, Payload | Refused):
            yield f"encode returned {type(payload).__name__}"
        elif isinstance(payload, Payload) and payload.event is not event:
            yield "the payload holds another event"
    for reply in REPLIES:
        yield from _breaches_on(reply, dialect, rule, event, hook)


def _breaches_on(reply: Reply, dialect: Dialect, rule: Rule, event: Event, hook: Hook) -> Iterator[str]:
    try:
        answer: object = dialect.decode(reply, event, hook)
    except Exception as fault:  # noqa: BLE001  # that is the breach
        yield f"decode raised {fault!r} on {reply!r}"
        return
    if isinstance(answer, Answer):
        if beyond := answer.words() - rule.admits:
            yield f"decode answered {listed(beyond)}, which the rule does not admit, on {reply!r}"
        if isinstance(reply, CallFailed):
            yield f"decode made an answer of {reply!r}"
    elif not isinstance(answer, CallFailed):
        yield f"decode returned {type(answer).__name__} on {reply!r}"

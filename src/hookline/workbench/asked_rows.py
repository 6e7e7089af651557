"""An explained event, and one that hooks were asked about, as rows for people."""

from collections.abc import Iterator, Sequence

from hookline._core.hooks import Hook
from hookline._core.problems import Problem
from hookline._core.rules import Strategy
from hookline.journal import entries as en
from hookline.journal.encode import event_fields, word_name
from hookline.workbench.explain import AtDialect, Considered, Explained, Verdict
from hookline.workbench.fire import Fired, Prepared, Sent
from hookline.workbench.hook_rows import asked_rows, compact, detail_rows, lasted, outcome_row, said_rows, verdict
from hookline.workbench.rows import Role, Rows, Span, first_line

HOW = {
    Strategy.PARALLEL: "all at once; their answers count in this order",
    Strategy.CHAIN: "one after the other, by priority; a denial ends it",
    Strategy.SEQUENCE: "one after the other, by priority",
}
STDOUT, STDERR = "stdout", "stderr"
SHOWN = 600  # characters of what crossed that are shown where not all is asked for


def explained_rows(explained: Explained) -> Rows:
    """The event, each dialect that has hooks for it, and each of these."""
    event = explained.event
    subjects = " or ".join(event.subjects())
    tested = Span(Role.QUIET, f"matchers are tested against {subjects}" if subjects else "nothing to match against")
    yield 0, [Span(Role.HEADING, event.point.name), tested]
    for at in explained.dialects:
        yield from _dialect_rows(at)
    if not explained.dialects:
        yield 1, [Span(Role.MARK, "no hook is there for this event")]
    yield from missing_rows(explained.not_loaded)


def _dialect_rows(at: AtDialect) -> Rows:
    yield 1, [Span(Role.NAME, at.point), Span(Role.QUIET, at.dialect), Span(Role.QUIET, HOW[at.strategy])]
    for each in at.hooks:
        yield from _considered_rows(each)


def _considered_rows(each: Considered) -> Rows:
    hook = each.hook
    if each.verdict is Verdict.ASKED:
        yield 2, [Span(Role.GOOD, f"{each.order:>2}"), *_named(hook), Span(Role.QUIET, place_text(hook))]
        yield 4, [Span(Role.QUIET, "calls"), Span(Role.TEXT, target_text(hook))]
        yield 4, [Span(Role.QUIET, "when"), Span(Role.TEXT, _when(hook))]
        may = ", ".join(sorted(map(word_name, each.may))) or "nothing: it observes"
        yield 4, [Span(Role.QUIET, "may"), Span(Role.TEXT, may)]
        limit = f"within {hook.timeout:g} s" + (", in the background" if hook.background else "")
        yield 4, [Span(Role.QUIET, "fails"), Span(Role.TEXT, each.on_failure), Span(Role.QUIET, limit)]
        return
    yield 2, [Span(Role.MARK, " -"), *_named(hook), Span(Role.QUIET, place_text(hook))]
    yield 4, [Span(Role.MARK, each.verdict.value), Span(Role.TEXT, each.why)]


def _named(hook: Hook) -> list[Span]:
    label = "" if hook.label in hook.id else hook.label
    return [Span(Role.NAME, hook.id), Span(Role.TEXT, label)]


def place_text(hook: Hook) -> str:
    """Where a hook comes from, in short."""
    source = hook.source
    return f"{source.layer}, line {source.line}" if source.line else source.layer


def _when(hook: Hook) -> str:
    condition = "" if hook.condition is None else f", if {hook.condition}"
    return f"{hook.matcher}{condition}"


def target_text(hook: Hook) -> str:
    """What a hook calls, in one line. Nothing that may be a secret is in it."""
    target = hook.target
    for name in ("written", "url", "subject", "name"):
        if text := getattr(target, name, ""):
            arguments = getattr(target, "argv", ("",))[1:] if getattr(target, "argv", ("",))[0] == text else ()
            return " ".join(map(str, (text, *arguments)))
    return getattr(getattr(target, "handler", target), "__qualname__", type(target).__name__)


def missing_rows(problems: Sequence[Problem], level: int = 1) -> Rows:
    """What is wrong with files such that hooks are missing."""
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        told = f"{count}: {'hooks that may belong here' if level else 'some hooks'} are not loaded"
        yield level, [Span(Role.BAD, told), Span(Role.QUIET, "see check")]
    for each in problems:
        yield level + 1, [Span(Role.BAD, each.code), Span(Role.TEXT, f"{each.where}: {each.message}")]


def prepared_rows(prepared: Prepared, *, whole: bool) -> Rows:
    """The explanation, and what would cross."""
    yield from explained_rows(prepared.explained)
    for sent in prepared.sent:
        yield 1, [Span(Role.HEADING, "would be sent"), Span(Role.NAME, sent.hook.id)]
        yield from _sent_rows(sent, 2, whole=whole)


def _sent_rows(sent: Sent, level: int, *, whole: bool) -> Rows:
    text = sent.text
    cut = "" if whole or len(text) <= SHOWN else f"... of {len(text)} characters; --whole shows all"
    shown = text if not cut else text[:SHOWN]
    size = f"{len(sent.body)} bytes" if sent.body else ""
    yield level, [Span(Role.QUIET, "sent"), Span(Role.QUIET, size), Span(Role.TEXT, shown + cut)]


def fired_rows(fired: Fired, *, whole: bool) -> Rows:
    """The event, each hook that was asked with what crossed, those that were not, and what came of it."""
    dispatched = fired.dispatched
    event = fired.explained.event
    yield 0, [Span(Role.HEADING, event.point.name), Span(Role.QUIET, " or ".join(event.subjects()))]
    for outcome in dispatched.outcomes:
        yield 1, outcome_row(outcome)
        yield from _crossed_rows(outcome, fired.sent_to(outcome.hook.id), whole=whole)
        for spans in (*said_rows(outcome, dispatched), *_detail_rows(outcome, whole=whole)):
            yield 2, spans
    for ended in fired.background:
        yield 1, [Span(Role.QUIET, "background"), *outcome_row(ended.outcome)]
        yield from _crossed_rows(ended.outcome, fired.sent_to(ended.outcome.hook.id), whole=whole)
        for spans in (*asked_rows(ended.outcome), *_detail_rows(ended.outcome, whole=whole)):
            yield 2, spans
    for hook in fired.abandoned:
        yield 1, [Span(Role.BAD, "cut off in the background"), Span(Role.NAME, hook)]
    for at in fired.explained.dialects:
        for each in at.hooks:
            if each.verdict is not Verdict.ASKED:
                yield from _considered_rows(each)
    yield from missing_rows(fired.explained.not_loaded)
    yield from _resolution_rows(fired)


def _crossed_rows(outcome: en.Outcome, sent: Sent | None, *, whole: bool) -> Rows:
    if sent is not None:
        yield from _sent_rows(sent, 2, whole=whole)
    if outcome.started:
        code = "" if outcome.code is None else f"exit {outcome.code}"
        sizes = f"stdout {outcome.stdout_size} bytes, stderr {outcome.stderr_size}"
        times = f"queued {lasted(outcome.queued_ms)}, ran {lasted(outcome.ran_ms)}"
        yield 2, [Span(Role.QUIET, "came"), Span(Role.TEXT, code), Span(Role.QUIET, sizes), Span(Role.QUIET, times)]
        yield from _came_rows(outcome, whole=whole)
    if outcome.kind == "answered" and outcome.decision is None and not outcome.effects:
        yield 2, [Span(Role.QUIET, "said"), Span(Role.TEXT, "nothing")]


def _came_rows(outcome: en.Outcome, *, whole: bool) -> Rows:
    """What a hook wrote, and its first line where not all is asked for, unless another row tells of it."""
    reason = "" if outcome.decision is None else outcome.decision.reason
    for name, text in ((STDOUT, outcome.stdout), (STDERR, outcome.stderr)):
        told_elsewhere = outcome.kind != "answered" or (name == STDOUT and outcome.notes) or text.strip() == reason
        if whole:
            for line in text.splitlines():
                yield 2, [Span(Role.QUIET, name), Span(Role.TEXT, line)]
        elif text.strip() and not told_elsewhere:
            line = first_line(text)[:SHOWN]
            more = "" if line == text.strip() else "...; --whole shows all"
            yield 2, [Span(Role.QUIET, name), Span(Role.TEXT, line), Span(Role.QUIET, more)]


def _detail_rows(outcome: en.Outcome, *, whole: bool) -> Iterator[list[Span]]:
    """Its details, without the beginning of what has been shown whole."""
    for spans in detail_rows(outcome):
        if not whole or spans[0].text not in (STDOUT, STDERR):
            yield spans


def _resolution_rows(fired: Fired) -> Rows:
    dispatched, resolution = fired.dispatched, fired.resolution
    told = verdict(dispatched)
    if not told.text:
        told = Span(Role.GOOD, "goes on" if dispatched.outcomes or fired.background else "no hook was asked")
    yield 0, [Span(Role.HEADING, "=>"), told, Span(Role.QUIET, lasted(dispatched.duration_ms))]
    if resolution.denied and resolution.refusal:
        yield 1, [Span(Role.QUIET, "told"), Span(Role.TEXT, resolution.refusal)]
    for applied in dispatched.applied:
        effect = {name: value for name, value in applied.effect.items() if name != "effect"}
        what = Span(Role.GOOD, str(applied.effect["effect"]))
        yield 1, [what, Span(Role.TEXT, "; ".join(map(compact, effect.values()))), Span(Role.QUIET, applied.hook)]
    if dispatched.asked:
        changed = {name: value for name, value in event_fields(resolution.event).items() if name in dispatched.asked}
        yield 1, [Span(Role.GOOD, "now"), Span(Role.TEXT, compact(changed))]

"""A journal as a tree for people: session, run, step, call, hook."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from hookline.journal import entries as en
from hookline.journal.reader import Damage, Entry
from hookline.workbench.capsule_rows import spans_of
from hookline.workbench.hook_rows import (
    asked_rows,
    compact,
    detail_rows,
    lasted,
    named,
    outcome_row,
    said_rows,
    verdict,
)
from hookline.workbench.rows import Role, Span, Style, first_line, rendered, unstyled

WIDTH = 80
NO_END = "no end"
TIME_WIDTH = 9  # `+9999.999`: a session of some hours, to the millisecond
ID_SHOWN = 8  # characters of a run's id: enough to find it by
SESSION, RUN, STEP, CALL = range(4)  # levels of the tree; what happens within one stands a level deeper

# Points within a step that are about no single call. Those about a call name it; all others belong to the run.
STEP_POINTS = frozenset({"before_model_call", "after_model_call", "after_tool_batch", "step_end"})

STATUS = {"done": Role.GOOD, "failed": Role.BAD, "refused": Role.BAD}
ENDING = {"completed": Role.GOOD, "failed": Role.BAD, "cancelled": Role.MARK}

Spans = Sequence[Span]


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `at` is Unix time in microseconds, None where there is no time to tell."""

    level: int
    spans: Spans
    at: int | None = None


def tree(entries: Iterable[Entry | Damage], *, style: Style = unstyled, width: int = WIDTH) -> Iterator[str]:
    """The lines of the tree, each as soon as its entry is read.

    The column on the left is seconds since the first entry. An event that reached no hook has no line. An action that
    went on although a hook that may deny gave no answer is marked `proceeded_without_answer`. Another session that
    this one started stands where it began, by its id.
    """
    walk = _Walk()
    for row in walk.all_rows(entries):
        if any(span.text for span in row.spans):
            yield _line(row, walk.begun, style, width)


def _line(row: Row, begun: int, style: Style, width: int) -> str:
    time = "" if row.at is None else f"{(row.at - begun) / 1_000_000:+.3f}"
    margin = f"{time:>{TIME_WIDTH}} "
    indent = "  " * row.level
    room = width - len(margin) - len(indent)
    return (style(Role.TIME, margin) + indent + rendered(row.spans, width=room, style=style)).rstrip()


@dataclass(frozen=True, slots=True)
class _Which:
    """Which event a hook was called at."""

    point: str
    call_id: str

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> "_Which":
        return cls(str(event.get("point", "?")), str(event.get("call_id", "")))


@dataclass(slots=True)
class _Walk:
    """A walk down a journal: where in the tree it is, and which hooks and calls have begun and not ended yet."""

    begun: int = 0
    session: str | None = None
    run: str = ""
    step: int | None = None
    call: str = ""
    has_lines: bool = False
    is_open: bool = False
    at_work: dict[tuple[_Which, str], Entry] = field(default_factory=dict)
    calls: dict[str, Entry] = field(default_factory=dict)

    def all_rows(self, entries: Iterable[Entry | Damage]) -> Iterator[Row]:
        for entry in entries:
            self.has_lines = True
            yield from self.rows(entry)
        yield from self._end()

    def rows(self, entry: Entry | Damage) -> Iterator[Row]:
        if isinstance(entry, Damage):
            yield Row(SESSION, [Span(Role.BAD, f"line {entry.line} is damaged: {entry.why}")])
            return
        self.begun = self.begun or entry.at
        match entry.body:
            case en.SessionOpened() as opened if self.session not in (None, entry.session):
                yield Row(self._level() + 1, _session("child session", entry, opened), entry.at)
            case en.SessionOpened() as opened:
                yield from self._open(entry, opened)
            case en.MessageAdded() | en.ContextAdded():
                return  # no line of their own, and a context's origin is the event that it came from
            case _:
                yield from self._go_to_run(entry)
                yield from self._told(entry)

    def cut_off(self) -> Iterator[Row]:
        """The hooks that began and whose end, or what it led to, is not in the journal."""
        for (which, _), entry in self.at_work.items():
            match entry.body:
                case en.HookStarted(hook=hook):
                    spans = [Span(Role.BAD, NO_END), Span(Role.TEXT, which.point), *named(hook)]
                    yield Row(RUN, spans, entry.at)
                case en.HookEnded(outcome=outcome):
                    yield Row(RUN, [*outcome_row(outcome), Span(Role.BAD, f"{which.point} was cut off")], entry.at)
                case _:
                    continue
        self.at_work.clear()
        for entry in self.calls.values():
            if isinstance(entry.body, en.CallStarted):
                spans = [Span(Role.BAD, NO_END), Span(Role.TEXT, entry.body.tool), Span(Role.QUIET, entry.body.call_id)]
                yield Row(RUN, spans, entry.at)
        self.calls.clear()

    def _end(self) -> Iterator[Row]:
        """What the last line leaves open."""
        yield from self.cut_off()
        if not self.has_lines:
            yield Row(SESSION, [Span(Role.QUIET, "nothing is recorded yet")])
        elif self.is_open:
            yield Row(SESSION, [Span(Role.MARK, NO_END), Span(Role.TEXT, "it is running still, or was cut off")])

    def _open(self, entry: Entry, opened: en.SessionOpened) -> Iterator[Row]:
        yield from self.cut_off()
        self.session, self.run, self.step, self.call = entry.session, "", None, ""
        self.is_open = True
        yield Row(SESSION, _session("session", entry, opened), entry.at)
        moment = datetime.fromtimestamp(entry.at // 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        hooks = "1 hook" if opened.hooks == 1 else f"{opened.hooks} hooks"
        yield Row(SESSION, [Span(Role.QUIET, moment), Span(Role.QUIET, hooks), Span(Role.TEXT, opened.workspace)])
        if opened.parent:
            yield Row(SESSION, [Span(Role.QUIET, "parent"), Span(Role.NAME, opened.parent)])

    def _go_to_run(self, entry: Entry) -> Iterator[Row]:
        if isinstance(entry.body, en.Dispatched) and not (entry.run or entry.body.outcomes):
            return  # it has no line; of what is before a session, as the staging of a capsule, most have none
        if entry.session != self.session:
            self.session, self.run, self.step, self.call = entry.session, "", None, ""
            yield Row(SESSION, [Span(Role.HEADING, "session"), Span(Role.NAME, entry.session)], entry.at)
        if entry.run and entry.run != self.run:  # a line of the session itself leaves the run where it is
            self.run, self.step, self.call = entry.run, None, ""
            if not isinstance(entry.body, en.RunStarted):
                yield Row(RUN, _run(entry, ""), entry.at)

    def _go_to_step(self, entry: Entry) -> Iterator[Row]:
        self.call = ""
        if entry.step != self.step:
            self.step = entry.step
            yield Row(STEP, [Span(Role.HEADING, f"step {entry.step}")], entry.at)

    def _go_to_call(self, entry: Entry, call_id: str, tool: str, input: object = None) -> Iterator[Row]:
        if call_id == self.call:
            return
        yield from self._go_to_step(entry)
        self.call = call_id
        shown = Span(Role.TEXT, "" if input is None else compact(input))
        yield Row(CALL, [Span(Role.HEADING, tool), Span(Role.QUIET, call_id), shown], entry.at)

    def _go_to_event(self, entry: Entry, event: Mapping[str, Any]) -> Iterator[Row]:
        which = _Which.of(event)
        if which.call_id:
            yield from self._go_to_call(entry, which.call_id, str(event.get("tool_name", "?")), event.get("input"))
        elif which.point in STEP_POINTS:
            yield from self._go_to_step(entry)
        else:
            self.call = ""

    def _level(self) -> int:
        """How deep the walk is."""
        if self.call:
            return CALL
        return STEP if self.step is not None else RUN if self.run else SESSION

    def _event_level(self, event: Mapping[str, Any]) -> int:
        which = _Which.of(event)
        if which.call_id:
            return CALL + 1
        return STEP + 1 if which.point in STEP_POINTS else RUN + 1 if self.run else SESSION + 1

    def _told(self, entry: Entry) -> Iterator[Row]:  # noqa: C901  a line for each kind of entry
        match entry.body:
            case en.SessionClosed() as closed:
                yield from self._closed(entry, closed)
            case en.RunStarted(prompt=prompt):
                yield Row(RUN, _run(entry, prompt), entry.at)
            case en.RunEnded() as ended:
                self.step, self.call = None, ""
                text = Span(Role.TEXT, first_line(ended.reason or ended.text))
                yield Row(RUN + 1, [Span(ENDING.get(ended.ending, Role.TEXT), ended.ending), text], entry.at)
            case en.ModelCalled() as called:
                yield from self._go_to_step(entry)
                yield Row(STEP + 1, _model(called), entry.at)
            case en.CallStarted() as started:
                self.calls[started.call_id] = entry
                yield from self._go_to_call(entry, started.call_id, started.tool, started.input)
            case en.ApprovalAsked() as asked:
                yield from self._go_to_call(entry, asked.call_id, asked.tool)
                yield Row(CALL + 1, _approval(asked), entry.at)
            case en.CallEnded() as ended:
                self.calls.pop(ended.call_id, None)
                yield from self._go_to_call(entry, ended.call_id, ended.tool)
                yield Row(CALL + 1, _call_end(ended), entry.at)
            case en.HookStarted(hook=hook, event=event):
                self.at_work[_Which.of(event), hook.id] = entry
            case en.HookEnded() as ended:
                yield from self._hook_ended(entry, ended)
            case en.Dispatched() as dispatched:
                yield from self._dispatched(entry, dispatched)
            case _:
                yield from self._remarked(entry)

    def _remarked(self, entry: Entry) -> Iterator[Row]:
        match entry.body:
            case en.ConversationReplaced(why=why, messages=messages):
                told = f"conversation replaced ({why}): {len(messages)} messages"
                yield Row(self._level() + 1, [Span(Role.TEXT, told)], entry.at)
            case en.ReopenRefused() as refused:
                told = f"not reopened again for {refused.hook}: {refused.limit} times is the limit"
                yield Row(self._level() + 1, [Span(Role.MARK, told)], entry.at)
            case en.InputDecided() as decided:
                yield Row(SESSION + 1, _input(decided), entry.at)
            case en.EnvelopeSent(what=what, to=to, delivery=delivery, text=text):
                spans = [Span(Role.HEADING, f"{what} sent"), Span(Role.NAME, f"to {to}"), Span(Role.QUIET, delivery)]
                yield Row(SESSION + 1, [*spans, Span(Role.TEXT, first_line(text))], entry.at)
            case en.InteractionPublished(what=what, line=line):
                told = f"{what} published as line {line}"
                yield Row(SESSION + 1, [Span(Role.QUIET, told)], entry.at)
            case en.Noted() as noted:
                spans = [Span(Role.QUIET, "note"), Span(Role.NAME, noted.hook), Span(Role.TEXT, noted.text)]
                yield Row(self._level() + 1, spans, entry.at)
            case _ if (row := spans_of(entry.body)) is not None:
                yield Row(self._level() + 1, row, entry.at)
            case _:
                return

    def _closed(self, entry: Entry, closed: en.SessionClosed) -> Iterator[Row]:
        self.step, self.call = None, ""
        self.is_open = False
        yield Row(SESSION, [Span(Role.HEADING, "closed"), Span(Role.TEXT, closed.reason)], entry.at)
        for hook in closed.abandoned:
            yield Row(SESSION + 1, [Span(Role.BAD, "cut off in the background"), Span(Role.NAME, hook)])

    def _hook_ended(self, entry: Entry, ended: en.HookEnded) -> Iterator[Row]:
        """A background hook's end is told here. That of another is, once its event is resolved."""
        outcome = ended.outcome
        key = (_Which.of(ended.event), outcome.hook.id)
        if not outcome.hook.background:
            self.at_work[key] = entry
            return
        self.at_work.pop(key, None)
        point = Span(Role.TEXT, key[0].point)
        yield Row(self._level() + 1, [Span(Role.QUIET, "background"), *outcome_row(outcome), point], entry.at)
        for spans in (*asked_rows(outcome), *detail_rows(outcome)):
            yield Row(self._level() + 2, spans)

    def _dispatched(self, entry: Entry, dispatched: en.Dispatched) -> Iterator[Row]:
        event = dispatched.event
        began = entry.at - int(dispatched.duration_ms * 1000)  # a line is written at the end
        entry = replace(entry, at=max(began, self.begun or entry.at))
        which = _Which.of(event)
        for key in [key for key, each in self.at_work.items() if key[0] == which and not _in_background(each)]:
            del self.at_work[key]
        if (which.call_id or dispatched.outcomes) and entry.run:
            yield from self._go_to_event(entry, event)
        if not dispatched.outcomes:
            return
        level = self._event_level(event) if entry.run else SESSION + 1
        took = Span(Role.QUIET, lasted(dispatched.duration_ms))
        yield Row(level, [Span(Role.NAME, which.point), verdict(dispatched), took], entry.at)
        for outcome in dispatched.outcomes:
            yield Row(level + 1, outcome_row(outcome), outcome.started or None)
            for spans in (*said_rows(outcome, dispatched), *detail_rows(outcome)):
                yield Row(level + 2, spans)


def _in_background(entry: Entry) -> bool:
    return isinstance(entry.body, en.HookStarted) and entry.body.hook.background


def _session(word: str, entry: Entry, opened: en.SessionOpened) -> Spans:
    return [Span(Role.HEADING, word), Span(Role.NAME, entry.session), Span(Role.TEXT, opened.source)]


def _run(entry: Entry, prompt: str) -> Spans:
    return [Span(Role.HEADING, "run"), Span(Role.NAME, entry.run[:ID_SHOWN]), Span(Role.TEXT, first_line(prompt))]


def _input(decided: en.InputDecided) -> Spans:
    """What became of an input: `input  prompt  accepted`."""
    roles = {"accepted": Role.GOOD, "rejected": Role.BAD}
    told = f"as {decided.existing}" if decided.existing else decided.detail if decided.outcome == "rejected" else ""
    return [
        Span(Role.HEADING, "input"),
        Span(Role.NAME, decided.input_kind),
        Span(roles.get(decided.outcome, Role.MARK), decided.outcome),
        Span(Role.TEXT, told),
        Span(Role.QUIET, f"key {decided.key}" if decided.key else ""),
    ]


def _model(called: en.ModelCalled) -> Spans:
    tokens = ", ".join(f"{count} {name.removesuffix('_tokens')}" for name, count in called.usage.items() if count)
    return [
        Span(Role.HEADING, "model"),
        Span(Role.BAD if called.error else Role.GOOD, called.status),
        Span(Role.TEXT, first_line(called.error or "")),
        Span(Role.QUIET, tokens),
        Span(Role.QUIET, lasted(called.duration_ms)),
    ]


def _approval(asked: en.ApprovalAsked) -> Spans:
    allowed = Span(Role.GOOD, "approved") if asked.allowed else Span(Role.BAD, "not approved")
    return [allowed, Span(Role.NAME, f"by {asked.by}" if asked.by else ""), Span(Role.TEXT, first_line(asked.reason))]


def _call_end(ended: en.CallEnded) -> Spans:
    ran = lasted(ended.duration_ms) if ended.duration_ms else ""
    why = "" if ended.status == "done" else first_line(ended.text)
    return [Span(STATUS.get(ended.status, Role.TEXT), ended.status), Span(Role.TEXT, why), Span(Role.QUIET, ran)]

"""What a replay found, as rows for people."""

from collections.abc import Iterator, Mapping, Sequence

from hookline.workbench.hook_rows import compact
from hookline.workbench.replayed import Change, Kind, Replayed, Said, Trouble
from hookline.workbench.rows import Role, Rows, Span, first_line

ID_SHOWN = 8  # characters of a run's id: enough to find it by
NO_DECISION = "no decision"

ROLES = {
    Kind.NEWLY_DENIED: Role.BAD,
    Kind.NEWLY_FAILING: Role.BAD,
    Kind.NO_LONGER_DENIED: Role.GOOD,
    Kind.NO_LONGER_FAILING: Role.GOOD,
}


def change_rows(change: Change) -> Rows:
    """Where it was, in what it differs, and both sides of each of these."""
    run = f"run {change.run[:ID_SHOWN]} step {change.step}" if change.run else ""
    where = [Span(Role.QUIET, f"line {change.line}"), Span(Role.QUIET, run), Span(Role.HEADING, change.point)]
    yield 1, [*where, Span(Role.NAME, change.tool), Span(Role.TEXT, change.input)]
    for kind in change.kinds:
        for spans in SIDES[kind](change.then, change.now):
            yield 2, [Span(ROLES.get(kind, Role.MARK), kind.value), *spans]
        if SIDES[kind] is _decisions:
            yield from ((3, spans) for spans in _whose(change.then, change.now))


def _decisions(then: Said, now: Said) -> Iterator[Sequence[Span]]:
    yield [_decision(then), Span(Role.QUIET, "->"), _decision(now)]


def _decision(said: Said) -> Span:
    role = Role.BAD if said.denied else Role.GOOD if said.decision else Role.QUIET
    return Span(role, said.decision or NO_DECISION)


def _whose(then: Said, now: Said) -> Iterator[Sequence[Span]]:
    """Whose decisions they are, each on a line of its own: ids and reasons are long."""
    for word, said in (("then", then), ("now", now)):
        if said.by:
            yield [Span(Role.QUIET, f"{word} by"), Span(Role.NAME, said.by), Span(Role.TEXT, first_line(said.reason))]


def _left(then: Said, now: Said) -> Iterator[Sequence[Span]]:
    for name in dict.fromkeys((*then.left, *now.left)):
        if then.left.get(name) != now.left.get(name):
            both = [
                f"{name} {_one_line(said.left[name])}" if name in said.left else f"{name} as it was"
                for said in (then, now)
            ]
            yield [Span(Role.TEXT, both[0]), Span(Role.QUIET, "->"), Span(Role.TEXT, both[1])]


def _effects(then: Said, now: Said) -> Iterator[Sequence[Span]]:
    for mark, here, there in (("-", then, now), ("+", now, then)):
        for each in here.effects:
            if each not in there.effects:
                content = "; ".join(_one_line(value) for name, value in each.items() if name != "effect")
                yield [Span(Role.QUIET, mark), Span(Role.NAME, str(each.get("effect"))), Span(Role.TEXT, content)]


def _one_line(value: object) -> str:
    return " ".join(compact(value).split())


def _failures(here: Mapping[str, str], there: Mapping[str, str]) -> Iterator[Sequence[Span]]:
    for hook, why in here.items():
        if hook not in there:
            yield [Span(Role.NAME, hook), Span(Role.TEXT, why)]


def _hooks(then: Said, now: Said) -> Iterator[Sequence[Span]]:
    for mark, here, there in (("-", then, now), ("+", now, then)):
        for hook in here.asked:
            if hook not in there.asked:
                yield [Span(Role.QUIET, mark), Span(Role.NAME, hook)]


SIDES = {
    Kind.NEWLY_DENIED: _decisions,
    Kind.NO_LONGER_DENIED: _decisions,
    Kind.DECIDED_OTHERWISE: _decisions,
    Kind.ANOTHER_REASON: _decisions,
    Kind.LEFT_OTHERWISE: _left,
    Kind.OTHER_EFFECTS: _effects,
    Kind.NEWLY_FAILING: lambda then, now: _failures(now.failed, then.failed),
    Kind.NO_LONGER_FAILING: lambda then, now: _failures(then.failed, now.failed),
    Kind.OTHER_HOOKS: _hooks,
}


def trouble_row(trouble: Trouble) -> Sequence[Span]:
    return [Span(Role.BAD, "trouble"), Span(Role.TEXT, trouble.text)]


def summary_rows(all_of_it: Replayed) -> Rows:
    """How much was asked about, by which hooks, and what came of it."""
    counts = (
        f"{_count(all_of_it.sessions, 'session')}, {_count(all_of_it.events, 'event')}, {all_of_it.asked:,} asked about"
    )
    changed = Span(Role.MARK if all_of_it.changes else Role.GOOD, _changed(all_of_it.changes))
    yield 0, [Span(Role.HEADING, "=>"), changed, Span(Role.TEXT, counts)]
    for kind, number in all_of_it.by_kind.items():
        yield 1, [Span(ROLES.get(kind, Role.MARK), f"{number:,}"), Span(Role.TEXT, kind.value)]
    if all_of_it.not_compared:
        told = f"{_count(all_of_it.not_compared, 'event')} not compared: their folder is gone"
        yield 1, [Span(Role.BAD, told)]
    if all_of_it.troubles:
        yield 1, [Span(Role.BAD, f"{all_of_it.troubles:,}"), Span(Role.TEXT, "in trouble: see above")]
    yield 1, [Span(Role.QUIET, "against the hooks of"), Span(Role.TEXT, _against(all_of_it.against))]
    if all_of_it.elsewhere:
        told = f"{_count(all_of_it.elsewhere, 'session')} worked in a folder that is gone"
        yield 1, [Span(Role.MARK, told), Span(Role.QUIET, "the hooks of the current folder were asked")]
    for each in all_of_it.not_loaded:
        yield 1, [Span(Role.BAD, "hooks not loaded"), Span(Role.TEXT, " ".join(each.split()))]


MOST_NAMED = 3  # places whose hooks were asked; of more the number will do


def _against(places: Sequence[str]) -> str:
    if len(places) > MOST_NAMED:
        return f"{len(places)} places, each session's own"
    return ", ".join(places) or "nobody"


def _changed(count: int) -> str:
    return "nothing changes" if not count else f"{_count(count, 'change')}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"

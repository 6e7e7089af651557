"""The law of crashes, read from what the store holds and from what the processes have logged."""

import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.crash.plan import Given, Group, Way


@dataclass(frozen=True, slots=True)
class Row:
    """An input as the store has it."""

    id: str
    key: str | None
    phase: str
    attempt: int
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the event log, or of the outbox, which has no payload here and may have no number yet."""

    seq: int | None
    id: str
    payload: str = ""
    phase: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """What a store holds of one runtime."""

    inputs: tuple[Row, ...] = ()
    outbox: tuple[Line, ...] = ()
    events: tuple[Line, ...] = ()
    published: int = 0

    def ids(self) -> frozenset[str]:
        return frozenset(row.id for row in self.inputs)

    def told(self) -> frozenset[str]:
        """The inputs that have a line in the event log."""
        return frozenset(line.id for line in self.events)

    def owners(self) -> dict[str, str]:
        return {row.key: row.id for row in self.inputs if row.key is not None}

    def consumed(self) -> frozenset[str]:
        """The labels of inputs of which the work has ended."""
        return frozenset(row.label for row in self.inputs if row.phase not in {"queued", "staged"})


@dataclass(frozen=True, slots=True)
class Life:
    """What one process logged, word by word, whether it was killed, and what the store held when it had ended."""

    lines: tuple[tuple[str, ...], ...]
    state: State
    was_killed: bool = False
    gave_all: bool = False  # it gave every input there is, and was not killed

    def of(self, word: str) -> list[list[str]]:
        return [rest for first, *rest in self.lines if first == word]

    def names(self, word: str) -> list[str]:
        return [rest[0] for rest in self.of(word)]


def breaches(lives: Sequence[Life], groups: Sequence[Group]) -> list[str]:
    """What the *lives* of processes one after the other have broken; the last one was not killed."""
    found = [f"life {number}: {breach}" for number, life in enumerate(lives) for breach in _of_one(life)]
    for number, (before, after) in enumerate(itertools.pairwise(lives), 1):
        found += [f"life {number}: {breach}" for breach in _of_two(before, after)]
    found += [f"all: {breach}" for breach in (*_of_all(lives), *_of_runs(lives))]
    for number, life in enumerate(lives):
        if not life.was_killed:
            found += [f"life {number}: {breach}" for breach in _of_the_end(lives[: number + 1], groups)]
    return found


def _of_one(life: Life) -> Iterator[str]:
    """What is told is committed, and the event log is whole, whenever a life ends."""
    state = life.state
    for word in ("accepted", "returned"):
        yield from (
            f"{word} {which}, which is not in the store" for which in life.names(word) if which not in state.ids()
        )
    yield from (
        f"completed {which}, which is in no event" for which in life.names("completed") if which not in state.told()
    )
    yield from (f"rejected {label}" for label in life.names("rejected"))
    for word in ("deduplicated", "existing"):
        for _, existing in life.of(word):
            if existing not in state.ids():
                yield f"{word} as {existing}, which is not in the store"
    if [line.seq for line in state.events] != list(range(1, len(state.events) + 1)):
        yield f"the event log has the numbers {[line.seq for line in state.events]}"
    if state.published != len(state.events):
        yield f"the runtime counts {state.published} events, and there are {len(state.events)}"
    yield from _of_the_outbox(state)


def _of_the_outbox(state: State) -> Iterator[str]:
    """An event has been in the outbox, is marked there, and belongs to an input of which the work has ended."""
    yield from (f"more than one event of {which}" for which in _more_than_once(line.id for line in state.events))
    yield from (f"more than one completion of {which}" for which in _more_than_once(line.id for line in state.outbox))
    seqs = {line.id: line.seq for line in state.events}
    ended = {row.id for row in state.inputs if row.phase in {"consumed", "abandoned"}}
    for line in state.outbox:
        if line.seq != seqs.get(line.id) or (line.phase == "published") != (line.id in seqs):
            yield f"the outbox has {line.id} as {line.phase} {line.seq}, the event log as {seqs.get(line.id)}"
    if {line.id for line in state.outbox} != ended:
        yield "the outbox does not hold just the inputs of which the work has ended"


def _of_two(before: Life, after: Life) -> Iterator[str]:
    """What one life has committed, the next one does not undo, and does not do again."""
    old, new = before.state, after.state
    yield from (f"the input {which} is lost" for which in old.ids() - new.ids())
    if new.events[: len(old.events)] != old.events:
        yield "the event log that was there has changed"
    for key, owner in old.owners().items():
        if new.owners().get(key) != owner:
            yield f"the key {key} has gone from {owner} to {new.owners().get(key)}"
    yield from (f"{label} is run again, which was consumed" for label in after.names("run") if label in old.consumed())
    for which in after.names("completed"):
        if which in old.told():
            yield f"completed {which} is told again"
    attempts = {row.id: row.attempt for row in old.inputs}
    for row in new.inputs:
        if row.attempt < attempts.get(row.id, 0):
            yield f"{row.label} has had {attempts[row.id]} attempts, and now {row.attempt}"


def _of_all(lives: Sequence[Life]) -> Iterator[str]:
    """No fact is told twice."""
    for word in ("accepted", "returned", "completed"):
        for which in _more_than_once(which for life in lives for which in life.names(word)):
            yield f"{word} {which} more than once"


def _of_runs(lives: Sequence[Life]) -> Iterator[str]:
    """Work begins after its attempt was counted, and begins again only for an input at which a life was killed."""
    begun: Counter[str] = Counter()
    for number, life in enumerate(lives):
        attempts = {row.label: row.attempt for row in life.state.inputs}
        begun.update(life.names("run"))
        for label, count in begun.items():
            if count > attempts.get(label, 0):
                yield f"{label} has been run {count} times by life {number}, in {attempts.get(label, 0)} attempts"
        yield from (f"life {number} runs {label} twice" for label in _more_than_once(life.names("run")))
    killed = sum(life.was_killed for life in lives)
    for row in lives[-1].state.inputs:
        if row.attempt > 1 + killed:
            yield f"{row.label} had {row.attempt} attempts, and {killed} processes were killed"


def _of_the_end(lives: Sequence[Life], groups: Sequence[Group]) -> Iterator[str]:
    """When a life has ended in order, every admitted input has ended, once, with what its run came to."""
    last = lives[-1]
    state = last.state
    ran = {label for life in lives for label in life.names("ran")}
    events = {line.id: json.loads(line.payload) for line in state.events}
    for row in state.inputs:
        event = events.get(row.id)
        if row.phase != "consumed":
            yield f"{row.label} is still {row.phase}"
        if event is None:
            yield f"{row.label} has no event"
        elif (event["type"], event["result"]) != ("interaction_complete", f"did {row.label}"):
            yield f"{row.label} ended as {event}"
        if row.label not in ran:
            yield f"{row.label} has never been run to its end"
    if last.gave_all:
        yield from _of_what_was_given(last, groups)


def _of_what_was_given(last: Life, groups: Sequence[Group]) -> Iterator[str]:
    """Every input that was given is in the store, or the one that has its key."""
    state = last.state
    labels = {row.label: row for row in state.inputs}
    for is_run, each in _given(groups):
        row = _stands_for(each, state)
        if row is None:
            yield f"{each.label} is not in the store, nor is an input with its key"
        elif is_run:
            answers = [rest[1:] for rest in last.of("answered") if rest[0] == each.label]
            if answers.count(["completed", f"did_{row.label}"]) != 1:
                yield f"{each.label} stands for {row.label} and was answered {answers}"
    keys = {each.key or each.label for _, each in _given(groups)}
    if len(state.inputs) != len(keys):
        yield f"{len(keys)} inputs were given, and {sorted(labels)} are in the store"


def _given(groups: Sequence[Group]) -> list[tuple[bool, Given]]:
    """Every input that is given, and whether by `Session.run`, which answers."""
    return [(group.way is Way.RUN and each is group.given[0], each) for group in groups for each in group.given]


def _stands_for(given: Given, state: State) -> Row | None:
    rows = [row for row in state.inputs if (row.key == given.key if given.key else row.label == given.label)]
    return rows[0] if len(rows) == 1 else None


def _more_than_once(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]

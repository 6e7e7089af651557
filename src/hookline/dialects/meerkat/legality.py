"""Which entries may stand together: capability, mode, point and id, over the whole list in force (section 5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hookline._core.problems import Problem, Scope
from hookline.dialects.meerkat.document import quoted, spoken
from hookline.dialects.meerkat.entries import Entry
from hookline.dialects.meerkat.words import POST_COMMIT, Capability, Mode


@dataclass(frozen=True, slots=True)
class Violation:
    """A breach of the rules. `text` is the document's own, which the engine fails with; the problem adds the remedy."""

    text: str
    problem: Problem


def violations(entries: Sequence[Entry]) -> tuple[Violation, ...]:
    """Every breach, disabled entries included. The first is the one that the engine fails with, at every point."""
    first: dict[str, Entry] = {}
    found: list[Violation] = []
    for entry in entries:
        found += _of(entry, first.get(entry.id))
        first.setdefault(entry.id, entry)
    return tuple(found)


def _of(entry: Entry, namesake: Entry | None) -> Iterator[Violation]:
    """The breaches of one entry in the document's order. *namesake* had its id before it."""
    may_deny = entry.capability is not Capability.OBSERVE
    written = f'`capability` is "{entry.capability.value}"'
    if not entry.id.strip():
        remedy = f"found {quoted(entry.id)}; write a name that says what the hook is for"
        yield _violation(entry, "EmptyId", "hook id cannot be empty", remedy, at="id")
    if entry.mode is Mode.BACKGROUND and may_deny:
        text = f"background hooks must be observe-only: {entry.id}"
        remedy = f'{written}; write mode = "foreground" if it is to deny, else capability = "observe"'
        yield _violation(entry, "BackgroundDenies", text, remedy, at="mode")
    if entry.point in POST_COMMIT and may_deny:
        text = f"post-commit hook points are observe-only: {entry.id}"
        remedy = f'{written} at {entry.point.value}, which reports what is settled; write capability = "observe"'
        yield _violation(entry, "PostCommitDenies", text, remedy, at="capability")
    if namesake is not None:
        text = f"duplicate hook id: {entry.id}"
        unnamed = "" if entry.is_named else f", for an entry without an id is called {quoted(entry.id)}"
        remedy = f"the first stands at {spoken(namesake.where)}; write an id of its own{unnamed}"
        yield _violation(entry, "DuplicateId", text, remedy, at="id")


def _violation(entry: Entry, code: str, text: str, remedy: str, *, at: str) -> Violation:
    where = entry.spot.where_of(at)
    return Violation(text, Problem(scope=Scope.SETTINGS, code=code, message=f"{text}: {remedy}", where=where))

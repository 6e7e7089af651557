"""Reads journals: line by line, in constant memory, whatever state they are in."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, NoReturn, TypeVar

import msgspec

from hookline._core import events as _events  # noqa: F401  fills POINTS
from hookline._core.errors import StateError, UsageError
from hookline._core.events.tool import UnknownToolCall
from hookline._core.messages import Message, with_results
from hookline._core.points import POINTS, Event, Origin, Point
from hookline.journal import entries as en
from hookline.journal.places import SUFFIX, checked_session_id

T = TypeVar("T")

SPECIAL: tuple[type[Event], ...] = (UnknownToolCall,)  # classes of events beside that of their point
LAST = "last"  # names the session that was written to last
BLOCK = 1024 * 1024  # bytes: large enough that the search, not the reading, takes the time
MILESTONE = re.compile(
    rb'\n(\{"v":[0-9]{1,9},"seq":[0-9]{1,15},"at":[0-9]{1,18},'
    rb'"kind":"(?:session_opened|session_closed|run_started|run_ended)",[^\n]*)'
)

COARSE = 1_000_000  # microseconds that a file system's clock may be behind ours

GONE = -1

MOST_NAMED = 5  # session ids in a message: enough to see which letter to write next


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line, read. `line` counts from 1, `at` is Unix time in microseconds, `text` is the line itself."""

    line: int
    seq: int
    at: int
    kind: str
    session: str
    run: str
    step: int
    body: en.Body
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that was not read, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A session in short. `ending` is how its last run ended, empty while that has not ended or there was none.

    `closed` is why the session ended, empty if its journal does not say that it did. `damaged` counts lines.
    """

    path: Path
    session: str = ""
    started: int = 0
    workspace: str = ""
    parent: str | None = None
    runs: int = 0
    ending: str = ""
    closed: str = ""
    damaged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A conversation as it was recorded, the same fit to go on with, and the lines that could not be read.

    A call whose result is missing, because the session ended before it, gets one that says so. A result whose call
    is missing is left out. No model takes a conversation with either.
    """

    recorded: tuple[Message, ...]
    mended: tuple[Message, ...]
    damage: tuple[Damage, ...]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event that hooks were asked about, as they were asked, and the entry with what they said."""

    entry: Entry
    event: Event


def read(path: Path) -> Iterator[Entry | Damage]:
    """Every line, in order. StateError only if the file itself cannot be read."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(_lines(file), 1):
                yield parsed(number, line)
    except OSError as error:
        raise StateError(f"cannot read {path}: {error.strerror}") from error


def conversation(path: Path) -> tuple[Message, ...]:
    """The session's conversation as the model would see it now, fit to go on with."""
    return spoken(path).mended


def spoken(path: Path) -> Spoken:
    """What the journal has of its session's conversation. Reads the whole file."""
    said = _Said()
    damage: list[Damage] = []
    for entry in _of_first_session(read(path)):
        if isinstance(entry, Damage):
            damage.append(entry)
        else:
            said.hear(entry.body)
    mended = tuple(with_results(said.messages, said.ended))
    return Spoken(recorded=tuple(said.messages), mended=mended, damage=tuple(damage))


def summary(path: Path) -> Summary:
    """The session in short. Reads the whole file."""
    return _in_short(path, read(path))


def outline(path: Path) -> Summary:
    """The same, many times as fast: of the lines behind the first only those are read that a summary is about.

    Damage in others is not found.
    """
    return _in_short(path, _milestones(path))


def _in_short(path: Path, entries: Iterator[Entry | Damage]) -> Summary:
    told = Summary(path=path)
    for entry in _of_first_session(entries):
        told = _continued(told, entry)
    return told


def _milestones(path: Path) -> Iterator[Entry | Damage]:
    """The first line, and of the others those that begin or end a session or a run. Their numbers are not counted."""
    try:
        with path.open("rb") as file:
            first = next(_lines(file), b"")
            if first:
                yield parsed(1, first)
            rest = b"\n"
            while block := file.read(BLOCK):
                whole, end, rest = (rest + block).rpartition(b"\n")
                for line in MILESTONE.findall(whole):
                    yield parsed(0, line + b"\n")
                rest = (end + rest)[: en.MAX_LINE]
            for line in MILESTONE.findall(rest):
                yield parsed(0, line)
    except OSError as error:
        raise StateError(f"cannot read {path}: {error.strerror}") from error


def sessions(folder: Path) -> tuple[Path, ...]:
    """The journals in a folder, the one last written to first. None if there is no such folder."""
    try:
        with os.scandir(folder) as entries:
            journals = [each for each in entries if each.name.endswith(SUFFIX) and each.is_file()]
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise StateError(f"cannot list {folder}: {error.strerror}") from error
    found = [(-at, Path(each.path)) for each in journals if (at := _written(each)) != GONE]
    return tuple(path for _, path in sorted(found))  # of a tie the parent first


def children(folder: Path, session: str, *, since: int = 0) -> tuple[Entry, ...]:
    """The beginnings of the sessions that were forked or spawned from this one, in order of time.

    Journals that were last written to before *since*, in microseconds since 1970, are not opened.
    """
    recent = (path for path in sessions(folder) if _written(path) >= (since - COARSE) * 1000)
    begun = (first for path in recent if (first := first_entry(path)) is not None and parent_of(first) == session)
    return tuple(sorted(begun, key=lambda entry: entry.at))


def first_entry(path: Path) -> Entry | None:
    """The first line that is none of the damaged ones. None if there is none yet, or the file cannot be read."""
    try:
        return next((entry for entry in read(path) if isinstance(entry, Entry)), None)
    except StateError:
        return None


def parent_of(first: Entry | None) -> str | None:
    """The session that the one with this first line was forked or spawned from."""
    return first.body.parent if first is not None and isinstance(first.body, en.SessionOpened) else None


def _written(file: "Path | os.DirEntry[str]") -> int:
    """When it was last written to, in nanoseconds since 1970, or GONE: somebody may remove journals meanwhile."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return GONE


def find(folder: Path, session_id: str) -> Path:
    """The journal of the session with this id, of the only one whose id begins so, or of the `last` one written to.

    Raises UsageError if there is none.
    """
    beginning = checked_session_id(session_id)
    recorded = sessions(folder)
    if beginning == LAST and recorded:
        return recorded[0]
    found = [path for path in recorded if path.stem.startswith(beginning)]
    exact = [path for path in found if path.stem == beginning]
    match exact or found:
        case [path]:
            return path
        case []:
            raise UsageError(f"no session {session_id} in {folder}")
        case several:
            named = ", ".join(path.stem for path in several[:MOST_NAMED])
            more = ", ..." if len(several) > MOST_NAMED else ""
            raise UsageError(
                f"{len(several)} sessions begin with {session_id}, the newest first: {named}{more}; "
                f"write more of the id, or `{LAST}`"
            )


def events_from(path: Path) -> Iterator[Occurrence | Damage]:
    """Every event that hooks were asked about, as an object again, for asking today's hooks the same.

    An event comes as the hooks were asked, whatever they made of it. One that cannot be rebuilt is reported as damage.
    """
    return (each for each in entries_and_events(path, rebuild=lambda _: True) if not isinstance(each, Entry))


def entries_and_events(
    path: Path, *, rebuild: Callable[[Entry], bool], about_messages: bool = True
) -> Iterator[Entry | Occurrence | Damage]:
    """As `read`, but an entry about an event comes with the event as an object again, where *rebuild* wants it.

    The conversation is kept meanwhile, as long as it is at its longest, unless nothing *about_messages* is wanted.
    """
    sessions: defaultdict[str, _Said] = defaultdict(_Said)
    for entry in read(path):
        if isinstance(entry, Damage):
            yield entry
            continue
        if about_messages:
            sessions[entry.session].hear(entry.body)
        if isinstance(entry.body, en.Dispatched) and rebuild(entry):
            yield _occurrence(entry, entry.body, sessions[entry.session])
        else:
            yield entry


class _Said:
    """A conversation while its lines are read, and how the calls ended, by the place of the message with the call."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.ended: dict[int, dict[str, str]] = {}
        self._asking = -1

    def hear(self, body: en.Body) -> None:
        match body:
            case en.MessageAdded(message=message):
                if message.calls:
                    self._asking = len(self.messages)
                self.messages.append(message.as_message())
            case en.CallEnded(call_id=call_id, text=text):
                self.ended.setdefault(self._asking, {})[call_id] = text
            case en.ContextAdded(text=text):
                self.messages.append(Message(role="developer", text=text))
            case en.ConversationReplaced(messages=replacement):
                self.messages = [each.as_message() for each in replacement]
                self.ended = {}
            case _:
                return


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Each line, of one that is too long only a part that is too long as well."""
    while line := file.readline(en.MAX_LINE + 1):
        yield line
        rest = line if len(line) > en.MAX_LINE else b""
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(en.MAX_LINE)


def parsed(number: int, line: bytes) -> Entry | Damage:
    """The line of this number, its end with it."""
    if len(line) > en.MAX_LINE:
        return Damage(number, f"longer than {en.MAX_LINE} bytes")
    try:
        text = line.decode().removesuffix("\n")
        envelope = _decoded(text, en.Envelope)
        if envelope.v != en.VERSION:
            return Damage(number, f"written in version {envelope.v} of the format; this program reads {en.VERSION}")
        if envelope.kind not in en.BODIES:
            return Damage(number, f"of an unknown kind, {envelope.kind!r}")
        body = _decoded(text, en.BODIES[envelope.kind])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        ended = line.endswith(b"\n")
        return Damage(number, f"not an entry: {error}" if ended else "cut off: the file ends within this line")
    return Entry(
        line=number,
        seq=envelope.seq,
        at=envelope.at,
        kind=envelope.kind,
        session=envelope.session,
        run=envelope.run,
        step=envelope.step,
        body=body,
        text=text,
    )


def _decoded(text: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError:
        if "\\ud" not in text:
            raise
    # Half of a surrogate pair, which a model or a hook gave us: only the standard library takes it.
    return msgspec.convert(json.loads(text, parse_constant=_refuse), kind)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _of_first_session(entries: Iterator[Entry | Damage]) -> Iterator[Entry | Damage]:
    """Without the lines of other sessions, such as children that share the file."""
    session: str | None = None
    for entry in entries:
        if isinstance(entry, Entry):
            session = entry.session if session is None else session
            if entry.session != session:
                continue
        yield entry


def _continued(told: Summary, entry: Entry | Damage) -> Summary:
    if isinstance(entry, Damage):
        return replace(told, damaged=told.damaged + 1)
    if not told.started:
        told = replace(told, session=entry.session, started=entry.at)
    match entry.body:
        case en.SessionOpened(workspace=workspace, parent=parent):
            return replace(told, workspace=workspace, parent=parent, closed="")
        case en.SessionClosed(reason=reason):
            return replace(told, closed=reason)
        case en.RunStarted():
            return replace(told, runs=told.runs + 1, ending="")
        case en.RunEnded(ending=ending):
            return replace(told, ending=ending)
        case _:
            return told


def _occurrence(entry: Entry, body: en.Dispatched, said: _Said) -> Occurrence | Damage:
    told = {**body.event, **body.asked}
    point = POINTS.get(str(told.pop("point", "")))
    if point is None:
        return Damage(entry.line, f"an event of an unknown hook point, {body.event.get('point')!r}")
    if isinstance(told.get("messages"), int):
        if told["messages"] != len(said.messages):
            why = f"an event about {told['messages']} messages, of which {len(said.messages)} are in the journal"
            return Damage(entry.line, why)
        told["messages"] = tuple(said.messages)
    where = {"session_id": entry.session, "run_id": entry.run, "step": entry.step}
    try:
        told["origin"] = msgspec.convert({**told.get("origin", {}), **where}, Origin)
        return Occurrence(entry, msgspec.convert(told, _kind_of(point, told.pop(en.KIND_OF_EVENT, ""))))
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        return Damage(entry.line, f"an event that {point.name} does not have: {error}")


def _kind_of(point: Point, name: str) -> type[Event]:
    """The class of an event: its point's, or a special one of those."""
    return next((each for each in SPECIAL if each.__name__ == name and issubclass(each, point.event)), point.event)

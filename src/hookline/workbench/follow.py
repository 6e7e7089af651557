"""A session while it runs: its lines as they are written, and where other sessions begin."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from hookline.journal.following import Tail, being_written
from hookline.journal.reader import Damage, Entry, children, first_entry, parent_of, sessions

INTERVAL = 0.2  # seconds between two looks at a file: soon enough for a person, and next to no work

GONE = "no program of this machine writes to {path} now: waiting for one to go on with that session"

Pause = Callable[[], None]  # called between two looks; whatever it raises ends them
Tell = Callable[[str], None]


def follow(path: Path, *, pause: Pause, tell: Tell) -> Iterator[Entry | Damage]:
    """The lines of a journal, those to come as well, until the session is closed.

    *tell* is told once if nobody seems to write to it. Raises StateError when the file is replaced, cut or removed.
    """
    with Tail(path) as tail:
        for _ in _looks(tail, pause, tell):
            yield from tail.new_lines()


def follow_family(path: Path, *, pause: Pause, tell: Tell) -> Iterator[Entry | Damage]:
    """The same, and among the lines, in order of time, the beginnings of the sessions that this one started."""
    with Tail(path) as tail:
        births = _Births(path)
        for _ in _looks(tail, pause, tell):
            yield from merged(births.new(), tail.new_lines())


def wait_for_session(folder: Path, *, pause: Pause, tell: Tell) -> Path:
    """The journal in *folder* that a program of this machine writes to, or the first one that anybody writes to next.

    Where several are being written it is the last one begun by itself, not by another of them.
    """
    before = _states(folder)
    live = being_written(folder)
    if not live:
        tell(f"waiting for a session to begin in {folder}")
    while not live:
        pause()
        live = tuple(path for path, state in _states(folder).items() if before.get(path) != state)
    parents = {path.stem for path in live}
    return next((path for path in live if parent_of(first_entry(path)) not in parents), live[0])


def merged(begun: Iterable[Entry], entries: Iterable[Entry | Damage]) -> Iterator[Entry | Damage]:
    """The entries, and among them, in order of time, where other sessions began."""
    waiting = sorted(begun, key=lambda entry: -entry.at)
    for entry in entries:
        while waiting and isinstance(entry, Entry) and waiting[-1].at < entry.at:
            yield waiting.pop()
        yield entry
    yield from reversed(waiting)


def family(path: Path) -> tuple[Entry, ...]:
    """The beginnings of the sessions that this one started, in the folder where it lies."""
    first = first_entry(path)
    return children(path.parent, path.stem, since=0 if first is None else first.at)


def _looks(tail: Tail, pause: Pause, tell: Tell) -> Iterator[None]:
    """One for each time that there may be something new."""
    told = False
    yield
    while not tail.is_closed:
        tail.check()
        gone = not (told or tail.is_being_written())
        if not gone:
            pause()
        yield  # where the writer has just gone, for what it wrote before
        if gone and not tail.is_closed:
            told = True
            tell(GONE.format(path=tail.path))


class _Births:
    """The sessions that one session started, each told once. Looks about only when its folder has changed."""

    def __init__(self, path: Path) -> None:
        self._session = path.stem
        self._folder = path.parent
        self._changed = -1
        self._known: set[Path] = set()
        self._nameless: set[Path] = set()  # they have no line yet

    def new(self) -> tuple[Entry, ...]:
        try:
            changed = self._folder.stat().st_mtime_ns
        except OSError:  # it is gone, and the journal with it: whoever looks after that will say so
            return ()
        if changed != self._changed:
            self._changed = changed
            found = set(sessions(self._folder))
            self._nameless |= found - self._known
            self._known = found
        firsts = {path: first for path in self._nameless if (first := first_entry(path)) is not None}
        self._nameless -= firsts.keys()
        return tuple(first for first in firsts.values() if parent_of(first) == self._session)


def _states(folder: Path) -> dict[Path, tuple[int, int]]:
    """The journals that have a line, the one last written to first, with when that was and their size."""
    return {path: state for path in sessions(folder) if (state := _state(path))[1]}


def _state(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:  # it has just been removed
        return 0, 0
    return stat.st_mtime_ns, stat.st_size

"""A recorded session's events, put to other hooks: which of them come out otherwise."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from pathlib import Path

from hookline._core.credentials import secrets_in
from hookline._core.errors import HooklineError
from hookline._core.points import Event
from hookline._core.problems import Scope
from hookline._core.reasons import Failure
from hookline._core.resolution import Resolution
from hookline._engine.engine import HookEngine
from hookline._engines import Project
from hookline.dialects._base import NOT_TRUSTED
from hookline.journal import entries as en
from hookline.journal.reader import Damage, Entry, Occurrence, entries_and_events, read
from hookline.journal.redact import Redactor
from hookline.workbench.asker import Asker
from hookline.workbench.fire import BACKGROUND
from hookline.workbench.opening import Chosen, engine_with, opened
from hookline.workbench.replayed import NOTHING, Change, Found, Kind, Replayed, Said, Trouble, kinds_of, said_in, shown

BETWEEN_BEATS = 0.25  # seconds: often enough for whoever watches
TURN = 256  # lines between two looks at the clock; what is to end this gets its turn then
OPENED_WITHIN = 1000  # lines in which a session says where it works; the staging of a capsule stands before it

TRUST_IT = "; --trust-workspace trusts it for this once"
GONE = (
    "{folder} is gone, where this event happened: programs cannot start there, so it and those like it are not "
    "compared; --cwd FOLDER runs them elsewhere"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is replayed, and how.

    `own_workspace`: the hooks are those of the folder that a session worked in, while that is there. Only events at
    `points`, of `tools`, not before `since` (Unix time in microseconds) are asked about; empty, all. `cwd` is where
    they happen, instead of where they did. `background`: ask the hooks too that nobody waits for. `dry_run`: ask none,
    and compare which would be. `reasons`: another reason is a change. `fail_fast`: the first change ends it.
    """

    own_workspace: bool = False
    points: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    since: int = 0
    cwd: str = ""
    background: bool = False
    dry_run: bool = False
    reasons: bool = False
    fail_fast: bool = False


@dataclass(frozen=True, slots=True)
class Beat:
    """How far the replay of a session is: bytes of its journal, events, changes."""

    path: Path
    read: int
    events: int
    changes: int


AS_IT_IS = Terms()


def nobody(beat: Beat) -> None:
    """Takes word, and has no use for it."""


async def replay(
    path: Path, chosen: Chosen, terms: Terms = AS_IT_IS, *, told: Callable[[Beat], None] = nobody
) -> AsyncGenerator[Found]:
    """Put the events of the journal in *path* to the hooks of *chosen*, for real, in their order.

    Yields each Change and each Trouble as it is met, and at the end, always, what came of it as Replayed. *told* gets
    word now and then. Memory does not grow with the journal, but for the conversation where hooks are asked about model
    calls. Raises only what dispatching does.
    """
    walk = _Walk(path, terms, told)
    try:
        workspace = _workspace_of(path) if terms.own_workspace else None
        if workspace is not None and workspace.is_dir():
            chosen = replace(chosen, workspace=workspace)
        walk.tally.against, walk.tally.elsewhere = _named(chosen), workspace is not None and not workspace.is_dir()
        async with _asked_engine(chosen, terms) as (project, engine):
            walk.tally.not_loaded = _not_loaded(project)
            async for found in walk.over(engine, Redactor(secrets_in(chosen.env))):
                yield found
    except HooklineError as error:
        walk.tally.troubles += 1
        yield Trouble(path, 0, f"not replayed: {error}")
    yield walk.tally.replayed()


def _named(chosen: Chosen) -> tuple[str, ...]:
    """Which hooks are meant, for people."""
    files = chosen.files if chosen.capsule is None else (chosen.capsule,)
    return tuple(map(str, files)) or (str(chosen.workspace),)


def _workspace_of(path: Path) -> Path | None:
    """Where the session of a journal worked, as far as its beginning says."""
    bodies = (each.body for each in islice(read(path), OPENED_WITHIN) if isinstance(each, Entry))
    return next((Path(body.workspace) for body in bodies if isinstance(body, en.SessionOpened)), None)


def _not_loaded(project: Project) -> tuple[str, ...]:
    """Why hooks may be missing, or are, in words."""
    told: list[str] = []
    for _, loaded in project.loaded:
        told += [f"{each.where}: {each.message}" for each in loaded.problems if each.scope is not Scope.NOTE]
        for held in loaded.held_back:
            remedy = TRUST_IT if held.why == NOT_TRUSTED else ""
            told.append(f"{held.path}: {held.count} held back: {held.why}{remedy}")
    return tuple(told)


@asynccontextmanager
async def _asked_engine(chosen: Chosen, terms: Terms) -> AsyncIterator[tuple[Project, HookEngine]]:
    """The hooks of *chosen*, without those in the background if these are not to be asked."""
    async with opened(chosen) as project:
        if terms.background or terms.dry_run or not any(hook.background for hook in project.engine.hooks()):
            yield project, project.engine
            return
        foreground = engine_with(project, chosen, lambda hook: None if hook.background else hook)
        async with foreground:
            yield project, foreground


@dataclass(slots=True)
class _Tally:
    """What is counted on the way."""

    against: tuple[str, ...] = ()
    elsewhere: bool = False
    events: int = 0
    asked: int = 0
    not_compared: int = 0
    changes: int = 0
    troubles: int = 0
    by_kind: "Counter[Kind]" = field(default_factory=Counter)
    not_loaded: tuple[str, ...] = ()

    def replayed(self) -> Replayed:
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        kinds = {kind: self.by_kind[kind] for kind in Kind if self.by_kind[kind]}
        return Replayed(**{**told, "elsewhere": int(self.elsewhere), "by_kind": kinds})


class _Walk:
    """A walk down one journal."""

    def __init__(self, path: Path, terms: Terms, told: Callable[[Beat], None]) -> None:
        self.tally = _Tally()
        self._path = path
        self._terms = terms
        self._told = told
        self._gone: dict[str, bool] = {}  # folders, by whether they are gone
        self._told_of: set[str] = set()  # those of them that there was word of
        self._sessions: set[str] = set()  # those whose hooks may be at work in the background

    async def over(self, engine: HookEngine, redactor: Redactor) -> AsyncIterator[Change | Trouble]:
        asker = Asker(engine, redactor, self._terms.points)
        length, last = 0, time.monotonic()
        lines = entries_and_events(self._path, rebuild=self._is_for(asker), about_messages=asker.hears_messages)
        for number, each in enumerate(lines, 1):
            entry = each.entry if isinstance(each, Occurrence) else each
            length += len(entry.text) + 1 if isinstance(entry, Entry) else 0
            found = await self._found(each, asker)
            if found is not None:
                yield found
                if self._terms.fail_fast and isinstance(found, Change):
                    break
            if number % TURN == 0 and (now := time.monotonic()) - last > BETWEEN_BEATS:
                last = now
                self._told(Beat(self._path, length, self.tally.events, self.tally.changes))
                await asyncio.sleep(0)
        for session in self._sessions:
            await engine.drain(session, BACKGROUND)

    def _is_for(self, asker: Asker) -> Callable[[Entry], bool]:
        def wanted(entry: Entry) -> bool:
            assert isinstance(entry.body, en.Dispatched)  # noqa: S101  # for the type checker: only of those asked
            return self._is_meant(entry, entry.body) and asker.has_hooks_for(entry.body)

        return wanted

    def _is_meant(self, entry: Entry, line: en.Dispatched) -> bool:
        terms, event = self._terms, line.event
        if entry.at < terms.since or (terms.points and event.get("point") not in terms.points):
            return False
        return not terms.tools or not terms.tools.isdisjoint((event.get("tool_name"), *event.get("aliases", ())))

    async def _found(self, each: Entry | Occurrence | Damage, asker: Asker) -> Change | Trouble | None:
        """What there is to tell of a line."""
        match each:
            case Damage(line=line, why=why):
                self.tally.troubles += 1
                return Trouble(self._path, line, why)
            case Occurrence(entry=entry, event=event):
                self.tally.events += 1
                return await self._compared(entry, event, asker)
            case Entry(body=en.Dispatched() as line) as entry if self._is_meant(entry, line):
                self.tally.events += 1  # nobody has a hook for it now
                return self._change(entry, line, NOTHING)
            case _:
                return None

    async def _compared(self, entry: Entry, event: Event, asker: Asker) -> Change | Trouble | None:
        assert isinstance(entry.body, en.Dispatched)  # noqa: S101  # for the type checker: it is of an event
        if self._terms.cwd:
            event = replace(event, origin=replace(event.origin, cwd=self._terms.cwd))
        if self._terms.dry_run:
            would = tuple(hook.id for hook in asker.engine.preview(event))
            self.tally.asked += bool(would)
            return self._change(entry, entry.body, Said(asked=would))
        resolution = await asker.resolution(event)
        self.tally.asked += bool(resolution.outcomes or resolution.launched)
        if resolution.launched:
            self._sessions.add(event.origin.session_id)
        if self._is_gone(event.origin.cwd) and _could_not_start(resolution):
            return self._not_compared(entry, event.origin.cwd)
        return self._change(entry, entry.body, asker.said(event, resolution))

    def _is_gone(self, folder: str) -> bool:
        if folder not in self._gone:
            self._gone[folder] = bool(folder) and not Path(folder).is_dir()
        return self._gone[folder]

    def _not_compared(self, entry: Entry, folder: str) -> Trouble | None:
        """Word of the first event in a folder that is gone, none of the others."""
        self.tally.not_compared += 1
        if folder in self._told_of:
            return None
        self._told_of.add(folder)
        self.tally.troubles += 1
        return Trouble(self._path, entry.line, GONE.format(folder=folder))

    def _change(self, entry: Entry, line: en.Dispatched, now: Said) -> Change | None:
        then = said_in(line)
        if then is NOTHING and now is NOTHING:
            return None
        if self._terms.dry_run:
            differ = frozenset(then.asked) != frozenset(now.asked)
            kinds: tuple[Kind, ...] = (Kind.OTHER_HOOKS,) if differ else ()
        else:
            kinds = kinds_of(then, now, reasons=self._terms.reasons)
        if not kinds:
            return None
        self.tally.changes += 1
        self.tally.by_kind.update(kinds)
        event = {**line.event, **line.asked}
        return Change(
            path=self._path,
            session=entry.session,
            line=entry.line,
            run=entry.run,
            step=entry.step,
            point=str(event.get("point", "")),
            tool=str(event.get("tool_name", "")),
            input=shown(event.get("input")),
            kinds=kinds,
            then=then,
            now=now,
        )


def _could_not_start(resolution: Resolution) -> bool:
    return any(each.why is Failure.COULD_NOT_START for each in resolution.outcomes)

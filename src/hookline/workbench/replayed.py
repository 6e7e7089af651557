"""What a replay finds: what hooks said then and say now, where that differs, and what came of each session."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from hookline._core.effects import EFFECTS, Effect
from hookline._core.reasons import Skip
from hookline.journal import entries as en
from hookline.journal.encode import word_name
from hookline.workbench.hook_rows import compact

SHOWN = 300  # characters of an input: enough to know the call again; the journal has the whole of it

DENY, FAILED_RUN = "deny", "failed run"
DENIED = frozenset({DENY, FAILED_RUN})

# Effects whose whole content is what they make of the event, which is compared as it was left.
_IN_THE_EVENT = frozenset(word_name(each) for each in EFFECTS if each.applied_to is not Effect.applied_to)


class Kind(Enum):
    """In what an event comes out otherwise."""

    NEWLY_DENIED = "newly denied"
    NO_LONGER_DENIED = "no longer denied"
    DECIDED_OTHERWISE = "decided otherwise"
    ANOTHER_REASON = "another reason"
    LEFT_OTHERWISE = "left otherwise"
    OTHER_EFFECTS = "other effects"
    NEWLY_FAILING = "hooks newly failing"
    NO_LONGER_FAILING = "hooks no longer failing"
    OTHER_HOOKS = "other hooks asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What hooks together made of one event.

    `decision` is a word of the journal's, or `failed run`, empty for none; `by` is the hook whose it is. `left` are the
    fields of the event that they changed, as they left them; `effects` those that count, as the journal has them.
    `failed` says of each hook without an answer why. `asked` are the hooks that it reached.
    """

    decision: str = ""
    by: str = ""
    reason: str = ""
    left: Mapping[str, Any] = field(default_factory=dict)
    effects: tuple[Mapping[str, Any], ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[str, ...] = ()

    @property
    def denied(self) -> bool:
        return self.decision in DENIED

    def as_json(self) -> dict[str, Any]:
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**told, "decision": self.decision or None, "by": self.by or None, "reason": self.reason or None}


NOTHING = Said()


def said_in(line: en.Dispatched) -> Said:
    """What the hooks said, by the journal's line of the event."""
    reached = tuple(each.hook.id for each in line.outcomes) + line.launched
    if not reached:
        return NOTHING
    decision = line.decision
    failed_run = next((each for each in line.outcomes if each.hook.id == line.failed_run), None)
    return Said(
        decision=FAILED_RUN if line.failed_run else "" if decision is None else decision.decision,
        by=line.failed_run or line.decided_by or "",
        reason=failed_run.detail if failed_run else "" if decision is None else decision.reason,
        left={name: line.event.get(name) for name in line.asked},
        effects=tuple(each.effect for each in line.applied),
        failed={each.hook.id: each.why for each in line.outcomes if _gave_no_answer(each)},
        asked=reached,
    )


def _gave_no_answer(outcome: en.Outcome) -> bool:
    """Whether it was its own doing: not that it was cut off by what another hook had said."""
    return outcome.kind == "failed" or outcome.why == Skip.PAYLOAD_TOO_LARGE.value


def kinds_of(then: Said, now: Said, *, reasons: bool) -> tuple[Kind, ...]:
    """In what *now* differs from *then*. What follows from a denial that is new or gone is not told besides."""
    kinds: list[Kind] = []
    if then.denied != now.denied:
        kinds.append(Kind.NEWLY_DENIED if now.denied else Kind.NO_LONGER_DENIED)
    else:
        if then.decision != now.decision:
            kinds.append(Kind.DECIDED_OTHERWISE)
        elif reasons and then.reason != now.reason:
            kinds.append(Kind.ANOTHER_REASON)
        if then.left != now.left:
            kinds.append(Kind.LEFT_OTHERWISE)
        if _contents(then) != _contents(now):
            kinds.append(Kind.OTHER_EFFECTS)
    if now.failed.keys() - then.failed.keys():
        kinds.append(Kind.NEWLY_FAILING)
    if then.failed.keys() - now.failed.keys():
        kinds.append(Kind.NO_LONGER_FAILING)
    return tuple(kinds)


def _contents(said: Said) -> "Counter[str]":
    """The effects by kind and content, whoever asked for them and in whatever order."""
    return Counter(compact(dict(each)) for each in said.effects if each.get("effect") not in _IN_THE_EVENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An event of a session that comes out otherwise now.

    `line` is that of the journal in `path`. `tool` is the called tool, empty for an event about none, and `input` the
    beginning of what it was called with.
    """

    path: Path
    session: str
    line: int
    run: str
    step: int
    point: str
    tool: str = ""
    input: str = ""
    kinds: tuple[Kind, ...]
    then: Said
    now: Said

    def as_json(self) -> dict[str, Any]:
        return {
            "what": "change",
            "path": str(self.path),
            "session": self.session,
            "line": self.line,
            "run": self.run,
            "step": self.step,
            "point": self.point,
            "tool": self.tool or None,
            "input": self.input or None,
            "kinds": [each.value for each in self.kinds],
            "then": self.then.as_json(),
            "now": self.now.as_json(),
        }


def shown(value: object) -> str:
    """The beginning of an input, in one line."""
    text = "" if value is None else compact(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


@dataclass(frozen=True, slots=True)
class Trouble:
    """What could not be replayed, and why: a line of a journal, or from there on, or with line 0 all of it."""

    path: Path
    line: int
    why: str

    @property
    def text(self) -> str:
        """In one line."""
        where = f"{self.path}:{self.line}" if self.line else f"{self.path}"
        return f"{where}: {' '.join(self.why.split())}"

    def as_json(self) -> dict[str, Any]:
        return {"what": "trouble", "path": str(self.path), "line": self.line or None, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What came of a session, or of several together.

    `against` says which hooks were asked; `elsewhere` counts the sessions whose own folder is gone, so that they are
    others than the session's. `asked` counts the events that reached one, `not_compared` those that happened in a
    folder where no program can be started any more, `changes` the changed events, `by_kind` in what. `troubles` counts
    what was told of as Trouble. `not_loaded` says why hooks may be missing.
    """

    against: tuple[str, ...] = ()
    sessions: int = 1
    elsewhere: int = 0
    events: int = 0
    asked: int = 0
    not_compared: int = 0
    changes: int = 0
    by_kind: Mapping[Kind, int] = field(default_factory=dict)
    troubles: int = 0
    not_loaded: tuple[str, ...] = ()

    @property
    def is_fine(self) -> bool:
        """Whether everything was compared, and nothing differs."""
        return not (self.changes or self.troubles or self.not_compared)

    def __add__(self, other: "Replayed") -> "Replayed":
        kinds = Counter(self.by_kind) + Counter(other.by_kind)
        return Replayed(
            against=tuple(dict.fromkeys((*self.against, *other.against))),
            sessions=self.sessions + other.sessions,
            elsewhere=self.elsewhere + other.elsewhere,
            events=self.events + other.events,
            asked=self.asked + other.asked,
            not_compared=self.not_compared + other.not_compared,
            changes=self.changes + other.changes,
            by_kind={kind: kinds[kind] for kind in Kind if kinds[kind]},
            troubles=self.troubles + other.troubles,
            not_loaded=tuple(dict.fromkeys((*self.not_loaded, *other.not_loaded))),
        )

    def as_json(self) -> dict[str, Any]:
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        by_kind = {kind.value: count for kind, count in self.by_kind.items()}
        return {"what": "summary", **told, "by_kind": by_kind, "is_fine": self.is_fine}


def together(each: Iterable[Replayed]) -> Replayed:
    """Several sessions as one."""
    return reduce(add, each, Replayed(sessions=0))


Found = Change | Trouble | Replayed

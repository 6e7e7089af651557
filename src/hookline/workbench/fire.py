"""One event put to hooks for real, or only to the point where they would be called; and what crossed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hookline._core.guests import GuestCall
from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._core.payload import Payload, Refused
from hookline._core.points import Event
from hookline._core.records import Dispatched, HookEnded, HookStarted, Record
from hookline._core.resolution import Resolution
from hookline._engine.engine import HookEngine
from hookline._engines import Project
from hookline.journal import entries as en
from hookline.journal.encode import body_of
from hookline.journal.plain import plain
from hookline.workbench.explain import Explained, explain

BACKGROUND = 10.0  # seconds that hooks in the background are given to end, where nothing else is said


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What crosses to one hook: the bytes in its dialect's form, or a value of this process; or why nothing does."""

    hook: Hook
    body: bytes = b""
    value: Any = None
    refused: str = ""

    @property
    def text(self) -> str:
        """For a person."""
        if self.refused:
            return f"nothing: {self.refused}"
        if self.body:
            return self.body.decode("utf-8", "replace").rstrip("\n")
        return "the event itself" if self.value is None else json.dumps(plain(self.value), ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An event and what would cross to each hook that it reaches. Nothing was called."""

    explained: Explained
    sent: tuple[Sent, ...]

    def as_json(self) -> dict[str, Any]:
        return {**self.explained.as_json(), "sent": {each.hook.id: each.text for each in self.sent}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """An event that hooks were asked about: what came of it, and what crossed.

    `dispatched` is the line that a session's journal would have of it, `background` how the hooks ended that nobody
    waited for, `abandoned` those of them that did not in time. `ended` are the outcomes of the same hooks.
    """

    explained: Explained
    resolution: Resolution
    dispatched: en.Dispatched
    sent: tuple[Sent, ...]
    background: tuple[en.HookEnded, ...]
    abandoned: tuple[str, ...] = ()
    ended: tuple[Outcome, ...] = ()

    @property
    def is_fine(self) -> bool:
        """Whether every hook answered, and the action may happen."""
        silent = any(each.outcome.kind == "failed" for each in self.background) or self.abandoned
        unanswered = any(each.why is not None for each in self.resolution.outcomes)
        return not (self.resolution.denied or unanswered or silent)

    def sent_to(self, hook: str) -> Sent | None:
        """What crossed to the hook of this id."""
        return next((each for each in self.sent if each.hook.id == hook), None)

    def as_json(self) -> dict[str, Any]:
        """The explanation, what crossed, and the journal's own form of the rest."""
        return {
            **self.explained.as_json(),
            "sent": {each.hook.id: each.text for each in self.sent},
            "dispatched": plain(self.dispatched),
            "background": [plain(each.outcome) for each in self.background],
            "abandoned": list(self.abandoned),
        }


def prepare(project: Project, event: Event) -> Prepared:
    """What would cross to each hook that *event* reaches, were it to be asked as it is. No hook is called."""
    explained = explain(project, event)
    dialects = {dialect.name: dialect for dialect in project.engine.dialects}
    sent = tuple(crossing(each.hook, event, dialects) for each in explained.asked)
    return Prepared(explained=explained, sent=sent)


async def fire(
    project: Project, event: Event, *, engine: HookEngine | None = None, background: float = BACKGROUND
) -> Fired:
    """Ask every hook of *project* that *event* reaches, as a session would, and wait for those in the background too.

    *engine* is asked in the place of the project's own. *background* are the seconds that those hooks are given.
    Raises only what dispatching does.
    """
    asked = project.engine if engine is None else engine
    explained = explain(project, event)
    heard = Heard()
    resolution = await asked.recording(heard).dispatch(event)
    abandoned = await asked.drain(event.origin.session_id, background)
    dialects = {dialect.name: dialect for dialect in asked.dialects}
    begun = {record.hook.id: record for record in heard.records if isinstance(record, HookStarted)}
    called = {outcome.hook.id: outcome.hook for outcome in resolution.outcomes if outcome.started}
    called |= {hook.id: hook for hook in resolution.launched}
    seen = {name: record.event for name, record in begun.items()}
    dispatched = next(body_of(each) for each in heard.records if isinstance(each, Dispatched))
    ended = [each for each in heard.records if isinstance(each, HookEnded) and each.outcome.hook.background]
    assert isinstance(dispatched, en.Dispatched)  # noqa: S101  # for the type checker: a record has its own body
    return Fired(
        explained=explained,
        resolution=resolution,
        dispatched=dispatched,
        sent=tuple(crossing(hook, seen.get(name, event), dialects) for name, hook in called.items()),
        background=tuple(body for each in ended if isinstance(body := body_of(each), en.HookEnded)),
        abandoned=abandoned,
        ended=tuple(each.outcome for each in ended),
    )


class Heard:
    """Keeps the account of one event."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def record(self, record: Record) -> None:
        self.records.append(record)

    def close(self) -> None:
        """There is nothing to close."""


def crossing(hook: Hook, event: Event, dialects: Mapping[str, Any]) -> Sent:
    """What *hook* is sent of *event*: its payload is made once more, which gives the same."""
    payload: Payload | Refused = dialects[hook.dialect].encode(event, hook)
    if isinstance(payload, Refused):
        return Sent(hook=hook, refused=payload.detail)
    value = payload.value
    if isinstance(value, GuestCall):
        value = {"function": value.function, "argument": value.argument}
    return Sent(hook=hook, body=payload.body, value=value)

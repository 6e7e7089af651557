"""What the tests of the session stand on: a scripted model, the real tools, and every event that was fired."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.kept import Kept

import hookline as hl
from hookline._core.points import POINTS, Event
from hookline._core.records import Record
from hookline.session.session import FIRES

Play = Callable[..., hl.Session]
Step = dict[str, Any]

# Told aside, so they stand in no order with the others.
SETTLED = frozenset(
    {"input_accepted", "input_rejected", "input_deduplicated", "peer_received", "peer_sent", "interaction_completed"}
)


class Breaking(Kept):
    """Journals in memory that raise *fault* behind each record of *kind*."""

    def __init__(self, kind: type[Any], fault: Exception) -> None:
        super().__init__()
        self._kind = kind
        self._fault = fault

    def record(self, record: Record) -> None:
        super().record(record)
        if isinstance(record, self._kind):
            raise self._fault


class Seen:
    """Every event that an engine dispatched, in order."""

    def __init__(self, engine: hl.HookEngine) -> None:
        self.events: list[Event] = []
        for point in POINTS.values():
            if point.name in FIRES:
                engine.on(point.event)(self._observe)

    def _note(self, event: Event) -> None:
        self.events.append(event)

    async def _observe(self, event: Event) -> None:
        self._note(event)

    def points(self) -> list[str]:
        """Those that a session waits for, in their order."""
        return [event.point.name for event in self.events if event.point.name not in SETTLED]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def engine() -> hl.HookEngine:
    return hl.new_engine()


@pytest.fixture
def seen(engine: hl.HookEngine) -> Seen:
    """Asked for, it observes every point of *engine*."""
    return Seen(engine)


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder.resolve()


@pytest.fixture
def play(engine: hl.HookEngine, kept: Kept, workspace: Path) -> Play:
    """A session whose model plays *steps*; every call is approved unless the test says otherwise."""

    def make(*steps: Step, agents: dict[str, Any] | None = None, **more: Any) -> hl.Session:
        script: dict[str, Any] = {"steps": list(steps), "summary": "what was said"}
        if agents:
            script["agents"] = agents
        text = msgspec.json.encode(script).decode()
        settings: dict[str, Any] = {
            "model": hl.ScriptModel.parse(text, file="script.yaml"),
            "tools": hl.tools(),
            "journals": kept,
            "workspace": workspace,
            "approval": hl.ApprovalMode.NEVER,
        }
        return hl.Session(engine, **{**settings, **more})

    return make

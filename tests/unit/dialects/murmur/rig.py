"""A capsule with hooks that answer what a test says, in an engine of the real kind."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import hookline as hl
from hookline._core.capsule import Artifact, ArtifactKind, Capsule, Inference
from hookline._core.commands import ResolvedCommand
from hookline._core.components import ComponentTarget
from hookline._core.guests import GuestCall
from hookline._core.hooks import Hook
from hookline._core.payload import CallFailed, Limits, Payload, Reply, Yielded
from hookline._core.points import Event, Origin
from hookline._core.ports import Recorder
from hookline._core.problems import Where
from hookline._core.reasons import Failure
from hookline._core.records import Record
from hookline._engine.engine import HookEngine
from hookline.dialects.murmur.build import Staged, hooks_of
from hookline.dialects.murmur.interfaces import INTERFACES
from hookline.dialects.murmur.logs import Logs
from hookline.dialects.murmur.trace import Stream

SESSION, RUN = "0190a7e0-0000-7000-8000-000000000001", "0190a7e0-0000-7000-8000-000000000002"
ORIGIN = Origin(session_id=SESSION, run_id=RUN, step=3, model="other")

CAPSULE = Capsule(
    name="builder",
    version="1.2.0",
    path=Path("/capsule/murmur.yaml"),
    shell_allow=("bash", "git"),
    inference=Inference(model="large", compaction_model="small", compaction_prompt="Summarize."),
)

COMMAND = ResolvedCommand(
    program="/bin/bash", arguments=("-c", "rm -rf build"), text="rm -rf build", script="rm -rf build"
)

NONE = Yielded(arm="none")

Says = Reply | Callable[[GuestCall], Reply]


def target(name: str) -> ComponentTarget:
    return ComponentTarget(subject=name, path=Path("/hooks") / f"{name}.wasm", interfaces=INTERFACES)


def staged(name: str = "watch", **terms: Any) -> Staged:
    """A hook of a capsule. *waits*: its events wait for room."""
    where = Where(file="/capsule/murmur.yaml", label="murmur.yaml", line=7, column=5)
    artifact = Artifact(
        name=name, version="1.0.0", kind=ArtifactKind.HOOK, waits=terms.pop("waits", False), where=where
    )
    mine = target(name)
    usual = {"version": "1.0.0", "target": mine, "stage_target": replace(mine, subject=f"{name} at staging")}
    return Staged(artifact=artifact, **(usual | terms))


def hook(name: str = "watch", *, capsule: Capsule = CAPSULE, **terms: Any) -> Hook:
    (built,) = hooks_of(capsule, [staged(name, **terms)])
    return built


class Guests:
    """Components that answer what was said for their subject; `gate`, where there is one, holds their calls back."""

    def __init__(self, says: Mapping[str, Says]) -> None:
        self._says = says
        self.calls: list[tuple[str, GuestCall]] = []
        self.gate: asyncio.Event | None = None
        self._came = asyncio.Event()

    async def call(self, target: ComponentTarget, payload: Payload, limits: Limits) -> Reply:
        call: Any = payload.value
        self.calls.append((target.subject, call))
        self._came.set()
        if self.gate is not None:
            await self.gate.wait()
        said = self._says.get(target.subject, NONE)
        return said(call) if callable(said) else said

    async def begun(self, count: int) -> None:
        """Wait until so many calls have begun."""
        while len(self.calls) < count:
            self._came.clear()
            await self._came.wait()

    async def aclose(self) -> None:
        """Nothing runs."""

    def functions(self, subject: str) -> list[str]:
        """What was called of one of them, in order."""
        return [call.function for name, call in self.calls if name == subject]


class Place:
    """An engine over staged hooks, and everything that is told of it."""

    def __init__(
        self, *hooks: Staged, says: Mapping[str, Says] | None = None, capsule: Capsule = CAPSULE, strict: bool = False
    ) -> None:
        self.guests = Guests(says or {})
        self.engine: HookEngine = hl.new_engine(
            hooks=hooks_of(capsule, hooks), adapters={ComponentTarget: self.guests}, strict=strict
        )
        self.records: list[Record] = []
        self.trace: list[dict[str, Any]] = []
        self.log: list[tuple[str, str]] = []
        self._stream, self._logs = Stream(capsule, ("bash",)), Logs()

    def record(self, record: Record) -> None:
        self.records.append(record)
        self.trace.extend(map(json.loads, self._stream.lines(record)))
        self.log.extend(self._logs.lines(record))

    def close(self) -> None:
        """No record comes after this."""

    async def dispatch(self, event: Event) -> Any:
        recorder: Recorder = self
        return await self.engine.recording(recorder).dispatch(event)

    async def drained(self, budget: float = 60.0) -> tuple[str, ...]:
        return await self.engine.drain(SESSION, budget)

    def faults(self) -> list[tuple[str, str, str]]:
        lines = [line for line in self.trace if line["event_type"] == "hook_dispatch_error"]
        return [(line["hook_name"], line["event"], line["arm"]) for line in lines]


def failed(why: Failure, detail: str = "", **more: Any) -> CallFailed:
    return CallFailed(why=why, detail=detail, **more)

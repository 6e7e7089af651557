"""A capsule in a folder, with hooks that do what a script says, and all that is left of it when it has run."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from hookline._capsules import check_capsule, launch
from hookline._core.hooks import Hook
from hookline._core.inputs import Input
from hookline._core.records import Record
from hookline.session.admission.places import store_for
from hookline.session.approval import ApprovalMode
from hookline.session.capsule.life import live
from hookline.session.models.script import ScriptModel
from hookline.session.ports import Model, RunResult

SCRIPTED = Path(__file__).parent / "components" / "scripted"
MARK, ROOM = b"@@SCRIPT@@", 4096


def component(script: str = "", *, asks: bool = False) -> bytes:
    """A real component that does at each event what its line of *script* says (tests/components/scripted/scripted.c).

    One that *asks* imports what hosts serve, and runs in a process of its own.
    """
    data = (SCRIPTED / ("asking.wasm" if asks else "scripted.wasm")).read_bytes()
    start = data.index(MARK)
    lines = script.encode()
    assert len(lines) < ROOM
    return data[:start] + lines.ljust(ROOM, b"\0") + data[start + ROOM :]


@dataclass(kw_only=True)
class Recorded:
    """Keeps every record. Implements Journals and Recorder."""

    records: list[Record] = field(default_factory=list)

    def recorder(self, session_id: str) -> "Recorded":
        return self

    def record(self, record: Record) -> None:
        self.records.append(record)

    def close(self) -> None:
        """Nothing is open."""

    def of(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.records if isinstance(each, kind)]


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a capsule left: the results of its tasks, its trace, its logs, its folder and its account."""

    results: list[RunResult]
    trace: list[dict[str, Any]]
    logs: dict[str, list[str]]
    folder: Path
    session: Path
    records: Recorded
    messages: Sequence[Any]
    hooks: tuple[Hook, ...]

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The lines of the trace of one kind."""
        return [each for each in self.trace if each["event_type"] == kind]


@dataclass(kw_only=True)
class CapsuleRig:
    """Makes a capsule below *root*, and runs it."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    manifest: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.root / "artifacts").mkdir(parents=True, exist_ok=True)
        (self.root / "home").mkdir(exist_ok=True)
        self.env = {"HOME": str(self.root / "home"), "PATH": os.environ["PATH"], **self.env}

    def hook(
        self,
        name: str,
        script: str = "",
        *,
        asks: bool = False,
        wasm: bytes | None = None,
        entry: Mapping[str, Any] | None = None,
        **contract: str,
    ) -> None:
        """Add a hook. *contract* is what its own manifest says, *entry* what its entry in the capsule's has besides."""
        folder = self.root / "artifacts" / name
        folder.mkdir()
        own = {"name": name, "version": "1.0.0", "runtime": "hook", **contract}
        (folder / "murmur.yaml").write_text(yaml.safe_dump(own, sort_keys=False))
        (folder / "capsule.wasm").write_bytes(component(script, asks=asks) if wasm is None else wasm)
        self.artifacts.append({"name": name, "version": "1.0.0", "runtime": "hook", **(entry or {})})

    def tool(self, name: str, program: str) -> None:
        """Add a native tool that is a shell script."""
        folder = self.root / "artifacts" / name
        folder.mkdir()
        own = {
            "name": name,
            "version": "1.0.0",
            "runtime": "tool",
            "implementation": "native",
            "description": "A tool.",
            "input": {"type": "object"},
        }
        (folder / "murmur.yaml").write_text(yaml.safe_dump(own, sort_keys=False))
        (folder / name).write_text(f"#!/bin/sh\n{program}\n")
        (folder / name).chmod(0o755)
        self.artifacts.append({"name": name, "version": "1.0.0", "runtime": "tool"})

    def written(self) -> Path:
        """The manifest, as a file."""
        told: dict[str, Any] = {
            "name": "my-capsule",
            "version": "1.0.0",
            "artifacts": self.artifacts,
            "inference": {"model": "model-1", "driver": {"artifact": "script"}},
        }
        for key, value in self.manifest.items():
            told[key] = {**told[key], **value} if isinstance(told.get(key), dict) else value
        path = self.root / "murmur.yaml"
        path.write_text(yaml.safe_dump(told, sort_keys=False))
        return path

    async def run(
        self,
        *tasks: str,
        steps: Sequence[Mapping[str, Any]] = ({"say": "done"},),
        agents: Mapping[str, Any] | None = None,
        model: Model | None = None,
        lines: Sequence[Input] = (),
        workdir: Path | None = None,
        idle: float = 0.0,
        waits: bool = False,
        native: Path | None = None,
    ) -> Ran:
        """Check, launch, stage and live to the end. Raises what these raise."""
        script = {"steps": list(steps), **({} if agents is None else {"agents": dict(agents)})}
        answers = model or ScriptModel.parse(json.dumps(script))
        checked = await check_capsule(self.written(), env=self.env, native=native)
        launched = await launch(checked, env=self.env, workdir=workdir)
        records = Recorded()

        async def given() -> Any:
            for each in lines:
                yield each

        store = store_for(None)
        async with launched.engine:
            await store.open()
            session = await launched.session(model=answers, journals=records, approval=ApprovalMode.NEVER, inputs=store)
            async with session:
                results = await live(session, given=tasks, lines=given() if lines else None, waits=waits, idle=idle)
        await store.aclose()
        launched.programs.close()
        layout = launched.layout
        trace = [json.loads(line) for line in layout.trace.read_text().splitlines()] if layout.trace.exists() else []
        logs = {each.stem: each.read_text().splitlines() for each in sorted((layout.session / "logs").iterdir())}
        return Ran(
            results=results,
            trace=trace,
            logs=logs,
            folder=layout.accessible,
            session=layout.session,
            records=records,
            messages=session.conversation.messages,
            hooks=launched.engine.hooks(),
        )

"""Cases that need no process: the loader, the startup lines, and the engine over replies that the case has."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conformance.place import Place
from tests.conformance.reading import Case

from hookline._core.errors import ConfigError
from hookline._core.hooks import Hook
from hookline._core.outcomes import Outcome
from hookline._core.payload import Exited, Limits, Payload, Reply
from hookline._core.points import POINTS, Event, Origin
from hookline._core.resolution import Resolution
from hookline._core.targets import CommandTarget
from hookline._engines import Project, new_engine, open_project
from hookline.dialects.muse.report import startup_lines
from hookline.dialects.muse.rules import BY_EVENT, TOOL_ALIASES
from hookline.dialects.muse.tags import effects_of, status_of

TRUSTED = "run-flag"


def loading(case: Case, place: Place) -> dict[str, Any]:
    """What is found of a configuration: the runnable hooks in order, and the lines that a start prints."""
    place.configure(case.given["config"])
    try:
        project = _open(case, place)
    except ConfigError as error:
        return {"refused": str(error), "hooks": [], "report": []}
    return {"refused": None, "hooks": [_name(hook) for hook in project.engine.hooks()], "report": _report(project)}


def dispatching(case: Case, place: Place) -> dict[str, Any]:
    """What comes of one event after the other, where every hook has the reply that the case gives it."""
    place.configure(case.given["config"])
    project = _open(case, place)
    canned = _Canned(project.engine.hooks(), case.given.get("replies", {}))
    given = case.given["event"]
    events = [_event(each, place.workspace) for each in (given if isinstance(given, list) else [given])]
    resolutions = asyncio.run(_dispatch(events, canned))
    decisions = [_decision(each) for each in resolutions]
    return {
        "report": _report(project),
        "called": [name for name in canned.names if name in canned.payloads],
        "decision": decisions[0] if len(set(map(str, decisions))) == 1 else decisions,
        "runs": [line for each in resolutions for line in _runs(each)],
        "applied": [_applied(each.effect) for resolution in resolutions for each in resolution.applied],
        "payloads": canned.payloads,
    }


def _open(case: Case, place: Place) -> Project:
    env = place.env_with(case.given.get("env", {}))
    return open_project(place.workspace, env=env, trust=TRUSTED)


def _name(hook: Hook) -> str:
    """Its id, which in the project's own file needs no file name."""
    return hook.id.removeprefix("hooks.json:")


def _report(project: Project) -> list[str]:
    return [line for package, loaded in project.loaded if package.report for line in startup_lines(loaded, "muse")]


class _Canned:
    """The adapter for commands: each has the reply that the case gives it, by default an exit with 0 and no word."""

    def __init__(self, hooks: tuple[Hook, ...], replies: Mapping[str, Any]) -> None:
        self.hooks = hooks
        self._links = [link for hook in hooks for link in _chain(hook)]
        self.names = [_name(link) for link in self._links]
        self.payloads: dict[str, list[Any]] = {}
        self._replies = replies
        if unknown := replies.keys() - set(self.names):
            raise ValueError(f"replies for hooks that there are not: {sorted(unknown)}; there are {self.names}")
        if unknown := {key for reply in replies.values() for key in reply} - {"exit", "stdout", "stderr"}:
            raise ValueError(f"a reply has no {sorted(unknown)}")

    async def call(self, target: CommandTarget, payload: Payload, limits: Limits) -> Reply:
        name = next(_name(link) for link in self._links if link.target is target)
        self.payloads.setdefault(name, []).append(json.loads(payload.body))
        said = self._replies.get(name, {})
        stdout, stderr = (_bytes(said.get(stream, "")) for stream in ("stdout", "stderr"))
        return Exited(code=said.get("exit", 0), stdout=stdout, stderr=stderr)

    async def aclose(self) -> None:
        pass


def _chain(hook: Hook) -> list[Hook]:
    return [hook, *([] if hook.fallback is None else _chain(hook.fallback))]


def _bytes(said: str | bytes) -> bytes:
    return said.encode() if isinstance(said, str) else said


def _event(given: dict[str, Any], workspace: Path) -> Event:
    fields = dict(given)
    event = POINTS[fields.pop("point")].event
    if "tool_name" in fields:
        fields["aliases"] = TOOL_ALIASES.get(fields["tool_name"], ())
    return event(origin=Origin(session_id="session", run_id="run", cwd=str(workspace)), **fields)


async def _dispatch(events: list[Event], canned: _Canned) -> list[Resolution]:
    async with new_engine(hooks=canned.hooks, adapters={CommandTarget: canned}) as engine:
        return [await engine.dispatch(event) for event in events]


def _decision(resolution: Resolution) -> dict[str, str] | None:
    made = resolution.decision
    return None if made is None else {type(made).__name__.lower(): made.reason}


def _runs(resolution: Resolution) -> list[str]:
    attempts = [attempt for outcome in resolution.outcomes for attempt in (*outcome.links, outcome)]
    return [_run(attempt, resolution) for attempt in attempts]


def _run(attempt: Outcome, resolution: Resolution) -> str:
    status = status_of(attempt)
    return run_line(
        BY_EVENT[type(resolution.event)].name,
        "skipped" if status is None else status.value,
        effects_of(attempt, resolution),
        None if attempt.answer is not None else attempt.detail,
    )


def run_line(event: str, status: str, effects: tuple[str, ...] | list[str], error: str | None) -> str:
    """One run of a hook as cases write it: `PreToolUse blocked [blocked, permission_denied]`."""
    tags = f" [{', '.join(effects)}]" if effects else ""
    return f"{event} {status}{tags}" + (f": {error}" if error else "")


def _applied(effect: Any) -> dict[str, Any]:
    (field,) = effect.__dataclass_fields__.keys() - {"combine"}
    return {type(effect).__name__: getattr(effect, field)}

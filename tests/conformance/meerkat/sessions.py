"""Cases of sessions: a configuration, a model that plays a script, and what came of the runs."""

import asyncio
import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conformance.meerkat.account import Account
from tests.conformance.meerkat.loading import opened
from tests.conformance.meerkat.said import Played, handlers_of
from tests.conformance.place import Place
from tests.conformance.reading import Case
from tests.tool_rig import Willing

from hookline._compose import tools
from hookline._core.errors import ConfigError
from hookline._core.messages import Provenance, ToolSpec
from hookline._core.records import CallEnded
from hookline.dialects.meerkat.faults import error_report
from hookline.dialects.meerkat.rules import point_of
from hookline.session.admission.runtime import InputRefused
from hookline.session.admission.wire import input_from
from hookline.session.approval import ApprovalMode
from hookline.session.beginning import Beginning
from hookline.session.models.echo import EchoModel
from hookline.session.models.script import ScriptModel
from hookline.session.ports import CallContext, RunResult, ToolResult
from hookline.session.session import Session

SESSION_ID = "00000000-0000-7000-8000-000000000000"

PICTURE = [
    {"type": "text", "text": "hello"},
    {"type": "image", "media_type": "image/png", "source": "inline", "data": "aGk="},
]


class Lookup(Willing):
    """A tool of an MCP server, whose result holds a picture."""

    spec = ToolSpec(name="lookup", description="", parameters={}, provenance=Provenance("mcp", "docs"))

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        return ToolResult(text="hello", response=PICTURE)


class Anonymous(Willing):
    """A tool of which nobody says where it comes from."""

    spec = ToolSpec(name="anonymous", description="", parameters={})

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        return ToolResult(text="ok")


class CountingModel:
    """A model, and how many tokens each answer of it might have."""

    def __init__(self, model: EchoModel | ScriptModel) -> None:
        self._model = model
        self.asked: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def complete(self, request: Any) -> Any:
        self.asked.append(request.max_tokens)
        return await self._model.complete(request)


def model_of(case: Case, place: Place) -> CountingModel:
    """The model of a case: it plays the script, or is echo where there is none."""
    if "script" not in case.given:
        return CountingModel(EchoModel())
    return CountingModel(ScriptModel.parse(json.dumps(place.filled(case.given["script"]))))


def talking(case: Case, place: Place) -> dict[str, Any]:
    """What comes of prompts, one after the other, in one session."""
    for name, text in case.given.get("files", {}).items():
        place.write(place.workspace / name, text)
    return asyncio.run(_talking(case, place))


async def _talking(case: Case, place: Place) -> dict[str, Any]:
    given = case.given
    played = Played(given.get("handlers", {}))
    account, model = Account(), model_of(case, place)
    try:
        project = opened(case, place, handlers_of(played) if "handlers" in given else None)
    except ConfigError as error:
        return {
            "refused": str(error),
            "endings": [],
            "model_calls": len(model.asked),
            "called": [],
            **_left(case, place),
        }
    async with (
        project.engine as engine,
        Session(
            engine,
            model=model,
            tools=(*tools(), Lookup(), Anonymous()),
            journals=account,
            workspace=place.workspace,
            approval=ApprovalMode.NEVER,
            env=place.env_with(given.get("env", {})),
            beginning=Beginning(session_id=SESSION_ID),
            max_steps=given.get("max_steps", 20),
            max_tokens=given.get("max_tokens", 16_384),
        ) as session,
    ):
        prompts = given["session"] if isinstance(given["session"], list) else [given["session"]]
        results = [await _run(session, prompt, case, place) for prompt in prompts]
        conversation = [f"{each.role}: {each.text}" for each in session.conversation.messages]
        played.release()
    return {
        "refused": None,
        "endings": [ending_line(result) for result in results],
        "faults": [_fault(result) for result in results],
        "model_calls": len(model.asked),
        "max_tokens": model.asked,
        "conversation": conversation,
        "course": account.course(),
        "events": account.events(),
        "ledger": account.ledger(),
        "notes": account.notes(),
        "results": [f"{each.tool} {each.status.value}: {each.text}" for each in _of(account, CallEnded)],
        "called": played.called,
        "payloads": played.payloads,
        **_left(case, place),
    }


def _left(case: Case, place: Place) -> dict[str, Any]:
    files = {name: place.text(name) for name in case.want.get("files", {})}
    return {"files": files, "dead": place.dead(case.want.get("dead", []))}


async def _run(session: Session, prompt: Any, case: Case, place: Place) -> RunResult | str:
    work: Callable[[], Any] = (
        (lambda: session.run(prompt))
        if isinstance(prompt, str)
        else (lambda: session.submit(input_from(json.dumps(prompt).encode())))
    )
    try:
        if "cut_off_at" in case.given:
            return await _cut_off(work, place.workspace / case.given["cut_off_at"])
        return await work()
    except InputRefused as refused:
        return f"refused: {refused}"


async def _cut_off(work: Callable[[], Any], ready: Path) -> str:
    """Cancel the run when a hook of it has opened the pipe *ready*."""
    os.mkfifo(ready)
    task = asyncio.ensure_future(work())
    await asyncio.to_thread(ready.read_text)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return "cancelled" if task.cancelled() else "went on"


def ending_line(result: RunResult | str) -> str:
    """How a run ended, and its text or the reason."""
    if isinstance(result, str):
        return result
    return f"{result.ending.value}: {result.text if result.reason is None else result.reason}"


def _fault(result: RunResult | str) -> Any:
    fault = None if isinstance(result, str) else result.fault
    return None if fault is None else error_report(fault, point_of)


def _of(account: Account, kind: type[Any]) -> list[Any]:
    return [record for record in account.records if isinstance(record, kind)]

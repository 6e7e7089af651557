"""One capsule of a case, lived from its manifest to its end, and all that there is to look at afterwards."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from tests.capsule_rig import CapsuleRig, Ran
from tests.conformance.murmur.others import OTHERS
from tests.conformance.place import Place
from tests.conformance.reading import Case

from hookline._core import records as rec
from hookline._core.components import ComponentTarget
from hookline._core.errors import ConfigError, UsageError
from hookline._core.events import BeforeDispatch
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import Payload
from hookline._core.points import Event
from hookline.dialects.murmur import build, dialect, logs
from hookline.dialects.murmur.payload import encode
from hookline.dialects.murmur.rules import function_of
from hookline.session.models.script import ScriptModel
from hookline.session.ports import ModelReply, ModelRequest

PLAIN = {"name", "script", "asks", "wasm", "entry"}


class Watched(ScriptModel):
    """A model that plays a script, and keeps what it was asked."""

    def __init__(self, script: Any) -> None:
        super().__init__(script)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        return await super().complete(request)


async def lived(case: Case, place: Place) -> dict[str, Any]:
    given = case.given
    rig = CapsuleRig(root=place.workspace, manifest=place.filled(given.get("capsule", {})))
    for hook in given["hooks"]:
        _add(rig, hook)
    for name, program in given.get("tools", {}).items():
        rig.tool(name, program)
    work = place.workspace / "work"
    work.mkdir()
    for name, text in given.get("files", {}).items():
        place.write(work / name, text)
    script = {"steps": given.get("steps", [{"say": "done"}]), "agents": given.get("agents", {})}
    model = Watched.parse(yaml.dump(script, Dumper=_Plain))
    before = build.DRAIN, logs.DRAIN, dialect.QUEUE, logs.QUEUE
    build.DRAIN = logs.DRAIN = given.get("drain", build.DRAIN)
    dialect.QUEUE = logs.QUEUE = given.get("queue", dialect.QUEUE)
    try:
        ran = await rig.run(*given.get("tasks", ["do it"]), model=model, workdir=work)
    except (ConfigError, UsageError) as error:
        return {"problems": _problems(error), "logs": {}, "files": _files(case, work)}
    finally:
        build.DRAIN, logs.DRAIN, dialect.QUEUE, logs.QUEUE = before
    return _seen(ran, case, model)


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _add(rig: CapsuleRig, hook: dict[str, Any]) -> None:
    contract = {key: value for key, value in hook.items() if key not in PLAIN}
    wasm = OTHERS[hook["wasm"]]() if "wasm" in hook else None
    script = "".join(f"{line}\n" for line in hook.get("script", []))
    rig.hook(hook["name"], script, asks=hook.get("asks", False), wasm=wasm, entry=hook.get("entry"), **contract)


def _problems(error: ConfigError | UsageError) -> list[str]:
    told = [each.message for each in error.problems] if isinstance(error, ConfigError) else []
    return told or [str(error)]


def _files(case: Case, work: Path) -> dict[str, str | None]:
    names = case.want.get("files", {})
    return {name: (work / name).read_text() if (work / name).is_file() else None for name in names}


def _seen(ran: Ran, case: Case, model: Watched) -> dict[str, Any]:
    want = case.want
    hooks = {each["name"] for each in case.given["hooks"]}
    first = model.requests[0].messages if model.requests else ()
    named = want.get("order", [])
    looked_at = {each.split()[0] for each in want.get("called", [])}
    return {
        "problems": [],
        "results": [f"{each.ending.value}: {each.reason or each.text}" for each in ran.results],
        "trace": {kind: _lines(ran, kind, lines) for kind, lines in want.get("trace", {}).items()},
        "order": [each["event_type"] for each in ran.trace if each["event_type"] in named],
        "logs": {
            name.removeprefix("hook-"): lines
            for name, lines in ran.logs.items()
            if name != "bootstrap" and name.removeprefix("hook-") in hooks
        },
        "bootstrap": ran.logs.get("bootstrap", []),
        "files": _files(case, ran.folder),
        "manifests": {
            name: (ran.session / "tools" / name / "murmur.yaml").read_text() for name in want.get("manifests", {})
        },
        "called": [each for each in _called(ran) if each.split()[0] in looked_at],
        "read": [each.text for each in ran.messages if each.role == "tool"],
        "messages": [f"{each.role}: {each.text}" for each in ran.messages],
        "first": [f"{each.role}: {each.text}" for each in first],
        "artifacts": [f"{each.hook}: {each.content}" for each in ran.records.of(rec.ArtifactEmitted)],
        "asked": [_asked(each, want["asked"]) for each in _decisions(ran)] if "asked" in want else [],
        "payloads": _payloads(ran),
        "env": {each.id: dict(each.target.env) for each in ran.hooks if isinstance(each.target, ComponentTarget)},
        "folders": {
            each.id: [str(folder.path.relative_to(ran.folder)) for folder in each.target.folders]
            for each in ran.hooks
            if isinstance(each.target, ComponentTarget)
        },
        "reaches": {
            each.id: [url for url in case.given.get("urls", []) if _reaches(each.target, url)]
            for each in ran.hooks
            if isinstance(each.target, ComponentTarget)
        },
        "gated": sum(
            bool(each.resolution.outcomes)
            for each in ran.records.of(rec.Dispatched)
            if isinstance(each.event, BeforeDispatch)
        ),
    }


def _lines(ran: Ran, kind: str, wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = ran.of(kind)
    if len(found) != len(wanted):
        return [{key: value for key, value in each.items() if key not in ("event_id", "parent_id")} for each in found]
    return [{key: have.get(key, "(missing)") for key in want} for want, have in zip(wanted, found, strict=True)]


def _decisions(ran: Ran) -> Iterator[Any]:
    for each in ran.records.of(rec.Dispatched):
        if isinstance(each.event, BeforeDispatch) and each.resolution.outcomes:
            payload = encode(each.event, each.resolution.outcomes[0].hook)
            assert isinstance(payload, Payload)
            yield payload.value


def _payloads(ran: Ran) -> dict[str, list[dict[str, Any]]]:
    """What each hook that was waited for was called with, by function."""
    found: dict[str, list[dict[str, Any]]] = {}
    for record in ran.records.of(rec.Dispatched):
        for outcome in record.resolution.outcomes:
            payload = encode(record.event, outcome.hook)
            if outcome.kind is not Kind.SKIPPED and isinstance(payload, Payload):
                call: Any = payload.value
                found.setdefault(call.function, []).append(call.argument)
    return found


def _asked(call: Any, wanted: list[dict[str, Any]]) -> dict[str, Any]:
    keys = {key for want in wanted for key in want}
    return {key: call.function if key == "function" else call.argument.get(key) for key in keys}


def _reaches(target: ComponentTarget, url: str) -> bool:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    return any(each.covers(parts.scheme, parts.hostname or "", port) for each in target.network)


def _called(ran: Ran) -> Iterator[str]:
    """Every call of a hook that took place."""
    for record in ran.records.records:
        outcomes: tuple[tuple[Outcome, Event], ...] = ()
        if isinstance(record, rec.Dispatched):
            outcomes = tuple((each, record.event) for each in record.resolution.outcomes)
        elif isinstance(record, rec.HookEnded) and record.outcome.hook.background:
            outcomes = ((record.outcome, record.event),)
        for outcome, event in outcomes:
            if outcome.kind is not Kind.SKIPPED:
                yield f"{outcome.hook.id} {function_of(event)}"

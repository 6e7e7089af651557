"""What the reports' tests for Meerkat stand on: its files, made from Python values, and sessions under them."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kept import Kept

import hookline as hl
from hookline._core.outcomes import Outcome
from hookline._core.records import Dispatched, HookEnded
from hookline.session.ports import RunResult, Tool

Json = dict[str, Any]

GUARD: Json = {"capability": "guardrail"}
OBSERVER: Json = {"capability": "observe"}
BACKGROUND: Json = {"capability": "observe", "mode": "background"}

QUIET = "echo '{}'"
MARKED = {"call": {"tool": "bash", "input": {"command": "touch MARK"}}}


def runs(line: str, **fields: Any) -> Json:
    """A runtime: a command line, which has to ask for its shell itself."""
    return {"type": "command", "command": "sh", "args": ["-c", line], **fields}


def asks(url: str, **fields: Any) -> Json:
    """A runtime: an endpoint."""
    return {"type": "http", "url": url, **fields}


def calls(handler: str) -> Json:
    """A runtime: a handler of the program."""
    return {"type": "in_process", "handler": handler}


def entry(id: str, runtime: Json, *, point: str = "pre_tool_execution", **fields: Any) -> Json:
    return {"id": id, "point": point, **fields, "runtime": runtime}


def guard(line: str, **fields: Any) -> Json:
    """The entry of a command that may deny tool calls."""
    return entry("guard", runs(line), **{**GUARD, **fields})


def configuration(*entries: Json, **limits: Any) -> str:
    """The text of a `config.toml` with these entries."""
    head = ["[hooks]", *(f"{name} = {_toml(value)}" for name, value in limits.items())]
    tables = [["[[hooks.entries]]", *(f"{name} = {_toml(each[name])}" for name in each)] for each in entries]
    return "".join(f"{line}\n" for lines in (head, *tables) for line in lines)


def _toml(value: Any) -> str:
    match value:
        case dict():
            return f"{{ {', '.join(f'{json.dumps(name)} = {_toml(each)}' for name, each in value.items())} }}"
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case _:
            return json.dumps(value, ensure_ascii=False)  # what TOML has in common with JSON


def denial(message: str = "no", **members: Any) -> Json:
    """A response that denies."""
    decision = {"decision": "deny", "hook_id": "guard", "reason_code": "policy_violation", "message": message}
    return {"decision": {**decision, **members}}


def printing(response: object) -> str:
    """A command line that answers with this."""
    return f"printf %s '{json.dumps(response)}'"


DENIES = printing(denial())


class Account(Kept):
    """The account of a session under Meerkat's hooks."""

    def ended(self, hook: str) -> list[Outcome]:
        """How each turn of one hook's ended, of those that went to another process or to the background."""
        return [each.outcome for each in self.of(HookEnded) if each.outcome.hook.id == f"meerkat:{hook}"]

    def outcomes(self, point: str) -> list[Outcome]:
        """Every outcome of the events at a point."""
        resolutions = [each.resolution for each in self.of(Dispatched)]
        return [outcome for each in resolutions if each.event.point.name == point for outcome in each.outcomes]


@dataclass(frozen=True, kw_only=True)
class Lived:
    """A session that is over: what each prompt came to, its records, and the folder that it worked in."""

    results: list[RunResult]
    kept: Account
    folder: Path

    @property
    def result(self) -> RunResult:
        return self.results[-1]

    @property
    def ending(self) -> str:
        return self.result.ending.value

    @property
    def mark(self) -> bool:
        """Whether the tool call that makes MARK took effect."""
        return (self.folder / "MARK").exists()

    @property
    def told(self) -> list[str]:
        """What the model was told of each call."""
        return [record.text for record in self.kept.records if record.kind == "call_ended"]  # type: ignore[attr-defined]


def opened(
    folder: Path,
    config: str,
    *,
    strict: bool = False,
    handlers: hl.Handlers | None = None,
    overrides: object = None,
    env: dict[str, str] | None = None,
) -> hl.Project:
    """The project of a folder whose `.rkat/config.toml` is *config*, and which is trusted."""
    file = folder / ".rkat" / "config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(config, encoding="utf-8")
    given = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder / "home"), **(env or {})}
    return hl.open_project(folder, env=given, trust="run-flag", handlers=handlers, overrides=overrides, strict=strict)


async def live(
    folder: Path,
    config: str,
    *steps: Json,
    prompts: Sequence[str] = ("go",),
    tools: Sequence[Tool] | None = None,
    **how: Any,
) -> Lived:
    """A whole session under *config*; without *steps* its model asks for the one call that makes MARK. See `opened`."""
    kept = Account()
    project = opened(folder, config, **how)
    script = json.dumps({"steps": [*(steps or (MARKED,)), {"say": "done"}]})
    async with (
        project.engine as engine,
        hl.Session(
            engine,
            model=hl.ScriptModel.parse(script),
            tools=hl.tools() if tools is None else tools,
            workspace=folder,
            journals=kept,
            approval=hl.ApprovalMode.NEVER,
        ) as session,
    ):
        results = [await session.run(prompt) for prompt in prompts]
    return Lived(results=results, kept=kept, folder=folder)

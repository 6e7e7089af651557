"""The two guards that come with hookline, as they are shipped."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.components.shipped_rig import Shipped, shipped

from hookline._core.payload import Yielded

SHELL_TABLE = yaml.safe_load((Path(__file__).parent / "protect_shell.yaml").read_text())
GLOBS = yaml.safe_load((Path(__file__).parent / "protect_globs.yaml").read_text())
SHELL, TOOL = "murmur-hook-protect-shell", "murmur-hook-protect-tool"


def shell_event(**fields: Any) -> dict[str, Any]:
    return {
        "turn": 0,
        "binary": "/usr/bin/bash",
        "command": "for display only",
        "argv": [],
        "script": None,
        "recipe": None,
        "outcome": None,
        **fields,
    }


def tool_event(name: str, given: Any, **fields: Any) -> dict[str, Any]:
    text = given if isinstance(given, str) else json.dumps(given)
    return {"turn": 0, "tool-name": name, "input-bytes": len(text), "input": text, "outcome": None, **fields}


RAN = {"exit-code": 0, "stdout": "", "stderr": "", "stdout-bytes": 0, "stderr-bytes": 0, "duration-ms": 0}
CALLED = {"output-bytes": 0, "duration-ms": 0, "status": "ok"}


def config(value: object) -> dict[str, str]:
    return {"MURMUR_ARTIFACT_CONFIG": json.dumps(value)}


async def test_each_call_of_the_table_is_refused_or_free() -> None:
    """What is refused says what the row has, and nothing else is refused."""
    for group in SHELL_TABLE:
        async with shipped(SHELL, env={} if group["config"] is None else config(group["config"])) as guard:
            answered = [{"call": row["call"], **await answer_to(guard, row)} for row in group["rows"]]

        assert group["rows"] == answered


async def answer_to(guard: Shipped, row: dict[str, Any]) -> dict[str, str]:
    """In the words of the row, as far as they fit."""
    call = row["call"]
    fields = {"argv": ["-c", call], "script": call} if isinstance(call, str) else call
    reply = await guard.call("on-shell", shell_event(**fields))
    assert isinstance(reply, Yielded), (row, reply)
    if reply.arm != "deny":
        return {"free": row.get("free", "")}
    refused = row.get("refused", "")
    return {"refused": refused if refused and refused in reply.value else reply.value}


@pytest.mark.slow
async def test_a_glob_protects_by_its_shape() -> None:
    """Each row of the table, through the tool guard."""
    for glob in sorted({glob for glob, _, _ in GLOBS}):
        async with shipped(TOOL, env=config({"protect": [glob]})) as guard:
            for path, protects in [(path, protects) for each, path, protects in GLOBS if each == glob]:
                call = tool_event("murmur-tool-editor", {"operation": "write_file", "path": path, "content": ""})
                reply = await guard.call("on-tool-call", call)
                assert isinstance(reply, Yielded)
                assert ("deny" if protects else "none") == reply.arm, (glob, path, reply)


@pytest.mark.parametrize("value", [None, {"protect": []}], ids=["guarding", "unusable"])
async def test_behind_a_call_nothing_is_refused(value: object) -> None:
    """It has run, so there is nothing to decide, not even without a configuration that can be used."""
    env = {} if value is None else config(value)
    async with shipped(SHELL, env=env) as shell, shipped(TOOL, env=env) as tool:
        ran = await shell.call("on-shell", shell_event(script="rm tests/a", outcome=RAN))
        call = tool_event("murmur-tool-create", {"path": "tests/a"})
        called = await tool.call("on-tool-call", {**call, "outcome": CALLED})

    assert isinstance(ran, Yielded)
    assert isinstance(called, Yielded)
    assert ("none", "none") == (ran.arm, called.arm)


@pytest.mark.parametrize(
    ("name", "given", "refused"),
    [
        ("murmur-tool-editor", {"operation": "write_file", "path": "tests/a"}, True),
        ("murmur-tool-editor", {"operation": "replace_in_file", "path": "tests/a"}, True),
        ("murmur-tool-editor", {"operation": "read_file", "path": "tests/a"}, False),
        ("murmur-tool-editor", {"operation": "write_file", "path": "src/a"}, False),
        ("murmur-tool-create", {"path": "tests/a"}, True),
        ("murmur-tool-create", {"path": "src/a"}, False),
        ("another", {"operation": "write_file", "path": "tests/a"}, False),
    ],
)
async def test_the_usual_tools_are_guarded(name: str, given: dict[str, str], refused: bool) -> None:
    """Without `tools`: the editor where it writes, and what creates, always."""
    async with shipped(TOOL) as guard:
        reply = await guard.call("on-tool-call", tool_event(name, given))

    assert isinstance(reply, Yielded)
    assert refused == (reply.arm == "deny")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (SHELL, {"protect": []}),
        (SHELL, {"protect": "tests/"}),
        (SHELL, {"protects": ["tests/"]}),
        (SHELL, {"shell_write_binaries": [1]}),
        (TOOL, {"tools": [{"path_keys": ["path"]}]}),
        (TOOL, {"tools": [{"match": "x", "write_when": {"key": "op"}}]}),
        (TOOL, {"tools": [{"match": "x", "path_key": ["to"]}]}),
        (TOOL, {"tools": []}),
        (TOOL, {"allow": ["../x"]}),
        (SHELL, {"protect": ["/"]}),
        (TOOL, ["tests/"]),
    ],
)
async def test_a_configuration_that_cannot_be_used_refuses_everything(name: str, value: object) -> None:
    """A guard that does not know what it guards lets nothing through, and says why."""
    async with shipped(name, env=config(value)) as guard:
        if name == SHELL:
            reply = await guard.call("on-shell", shell_event(script="true"))
        else:
            reply = await guard.call("on-tool-call", tool_event("anything", {}))

    assert isinstance(reply, Yielded)
    assert "deny" == reply.arm
    assert "configuration error" in reply.value


async def test_a_tool_of_the_configuration_is_guarded() -> None:
    """By its own keys and its own words for writing; what cannot be read is refused, what only reads is not."""
    own = {"match": "put", "path_keys": ["to", "also"], "write_when": {"key": "do", "any_of": ["put"]}}
    calls = {
        "one": ({"do": "put", "to": "tests/a"}, "deny"),
        "list": ({"do": "put", "to": "a", "also": ["b", "tests/c"]}, "deny"),
        "other": ({"do": "get", "to": "tests/a"}, "none"),
        "free": ({"do": "put", "to": "src/a"}, "none"),
        "no text": ({"do": "put", "to": 7}, "deny"),
        "no object": ("[1]", "deny"),
    }
    async with shipped(TOOL, env=config({"tools": [own]})) as guard:
        found = {
            name: (await guard.call("on-tool-call", tool_event("put", given))) for name, (given, _) in calls.items()
        }
        unguarded = await guard.call("on-tool-call", tool_event("murmur-tool-editor", {"path": "tests/a"}))

    assert {name: arm for name, (_, arm) in calls.items()} == {
        name: reply.arm for name, reply in found.items() if isinstance(reply, Yielded)
    }
    assert isinstance(unguarded, Yielded)
    assert "none" == unguarded.arm

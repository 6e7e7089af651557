"""The two guards that come with hookline, as they are shipped."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.components.shipped_rig import shipped

from hookline._core.payload import Yielded

TABLE = yaml.safe_load((Path(__file__).parent / "protect.yaml").read_text())
SHELL, TOOL = "murmur-hook-protect-shell", "murmur-hook-protect-tool"
CONFIG = {"allow": ["tests/generated/"], "shell_write_binaries": ["format"]}


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


def config(value: object) -> dict[str, str]:
    return {"MURMUR_ARTIFACT_CONFIG": json.dumps(value)}


async def test_scripts_that_write_to_protected_paths_are_refused() -> None:
    """Each form of the table, and nothing else."""
    answered: dict[str, list[str]] = {"refused": [], "free": []}
    async with shipped(SHELL, env=config(CONFIG)) as guard:
        for script in (*TABLE["scripts"]["refused"], *TABLE["scripts"]["free"]):
            reply = await guard.call("on-shell", shell_event(argv=["-c", script], script=script))
            assert isinstance(reply, Yielded), (script, reply)
            answered["refused" if reply.arm == "deny" else "free"].append(script)

    assert TABLE["scripts"] == answered


@pytest.mark.slow
async def test_a_glob_protects_by_its_shape() -> None:
    """Each row of the table, through the tool guard."""
    for glob in sorted({glob for glob, _, _ in TABLE["globs"]}):
        async with shipped(TOOL, env=config({"protect": [glob]})) as guard:
            for path, protects in [(path, protects) for each, path, protects in TABLE["globs"] if each == glob]:
                call = tool_event("murmur-tool-editor", {"operation": "write_file", "path": path, "content": ""})
                reply = await guard.call("on-tool-call", call)
                assert isinstance(reply, Yielded)
                assert ("deny" if protects else "none") == reply.arm, (glob, path, reply)


@pytest.mark.parametrize(
    ("event", "refused"),
    [
        (shell_event(binary="/bin/rm", argv=["tests/a"]), True),
        (shell_event(binary="/bin/rm", argv=["src/a"]), False),
        (shell_event(binary="/bin/make", argv=["clean"], recipe="rm -rf tests"), True),
        (shell_event(binary="/bin/make", argv=["clean"], recipe="rm -rf build"), False),
        (shell_event(binary="/bin/make", argv=["clean"], command="rm -rf tests"), False),
        (shell_event(script="rm tests/a", outcome=RAN), False),
    ],
    ids=["argv", "argv elsewhere", "recipe", "recipe elsewhere", "never the display text", "never behind the call"],
)
async def test_it_decides_on_what_is_executed(event: dict[str, Any], refused: bool) -> None:
    """Arguments, script and recipe count; the text for display does not, and neither does a call that has run."""
    async with shipped(SHELL) as guard:
        reply = await guard.call("on-shell", event)

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

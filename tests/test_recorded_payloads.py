"""What hooks were sent in real sessions, as they read it themselves, is what the schemas say."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.capsule_rig import CapsuleRig
from tests.schema_rig import EVERY, faults

from hookline.dialects.murmur.types import ARGUMENTS
from hookline.dialects.muse.rules import RULES

ROOT = Path(__file__).parent.parent

ALLOWED = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}


def wrong(dialect: str, point: str, payloads: Iterable[Any]) -> list[str]:
    """What the schema of this point does not say of *payloads*."""
    (schema,) = (each for each in EVERY if (each.dialect, each.point) == (dialect, point))
    return [fault for payload in payloads for fault in faults(schema, "payload", payload)]


def read(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A program in *folder*, which is its home too."""
    env = {"HOME": str(folder), "PATH": os.environ["PATH"], "SHELL": "/bin/sh"}
    argv = [sys.executable, *command]
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=18, check=False)


def saving(event: str) -> dict[str, Any]:
    """A hook that keeps what it reads, and approves whatever waits for approval."""
    said = f"; echo '{json.dumps(ALLOWED)}'" if event == "PermissionRequest" else ""
    return {"hooks": [{"type": "command", "command": f"cat >> {event}.jsonl{said}"}]}


def muse_session(folder: Path, steps: Sequence[Any], *prompts: str) -> None:
    (folder / ".muse").mkdir(exist_ok=True)
    (folder / ".muse/hooks.json").write_text(json.dumps({"hooks": {rule.name: [saving(rule.name)] for rule in RULES}}))
    (folder / "steps.json").write_text(
        json.dumps({"steps": steps, "agents": {"default": {"steps": [{"say": "seen"}]}}})
    )
    options = ("--trust-workspace", "--provider", "script", "--model", "steps.json")
    run(folder, "-m", "hookline", "exec", *options, *prompts)


@pytest.mark.slow
def test_muse_hooks_are_sent_what_their_schemas_say(tmp_path: Path) -> None:
    """Calls that succeed, fail and are approved, a child agent, a compaction, a model that fails."""
    calls = [
        {"tool": "bash", "input": {"command": "echo made > made"}},
        {"tool": "bash", "input": {"command": "exit 3"}},
        {"tool": "write_file", "input": {"path": "a.txt", "content": "a"}},
    ]
    child = {"call": {"tool": "subagent_spawn", "input": {"objective": "look"}}}
    said = [{"say": "one"}, {"say": "a summary"}]
    muse_session(tmp_path, [{"calls": calls}, child, *said], "go", "/compact")
    muse_session(tmp_path, [{"fail": {"category": "rate_limit", "details": "slow down"}}], "again")
    found = {path.stem: read(path) for path in tmp_path.glob("[A-Z]*.jsonl")}

    assert {rule.name for rule in RULES} - {"Notification"} == set(found)  # a person is asked at a terminal only
    assert {} == {point: faults for point, payloads in found.items() if (faults := wrong("muse", point, payloads))}


def test_the_payloads_of_the_original_are_what_our_schemas_say() -> None:
    """Those that Muse Code itself sent, in the transcript of its document."""
    payloads = read(ROOT / "tests/conformance/transcripts/payloads.jsonl")

    assert payloads
    assert [] == [fault for each in payloads for fault in wrong("muse", each["hook_event_name"], [each])]


@pytest.mark.slow
def test_meerkat_hooks_are_sent_what_their_schemas_say(tmp_path: Path) -> None:
    """In the session of the documentation, in which every point fires."""
    ended = run(tmp_path, str(ROOT / "examples/meerkat/every_point.py"), str(tmp_path / "project"))
    given = read(tmp_path / "project/events.jsonl")

    assert 0 == ended.returncode, ended.stderr
    assert {schema.point for schema in EVERY if schema.dialect == "meerkat"} == {each["point"] for each in given}
    assert [] == [fault for each in given for fault in wrong("meerkat", each["point"], [each])]


PROGRAM = """#!/usr/bin/env python3
import json, sys
said = {"ready": "murmur:hook/lifecycle@0.8.0", "functions": %s}
print(json.dumps(said), flush=True)
for line in sys.stdin:
    with open(%r, "a") as seen:
        seen.write(line)
    print('{"ok": "none", "value": null}', flush=True)
"""


@pytest.mark.slow
async def test_murmur_hooks_are_sent_what_their_schemas_say(tmp_path: Path) -> None:
    """Programs in the place of an observer of all events, and of the two policy hooks that there can be."""
    rig = CapsuleRig(root=tmp_path)
    rig.manifest = {"capabilities": {"shell": {"allow": ["bash"]}}}
    rig.tool("native", "true")
    native = tmp_path / "native"
    native.mkdir()
    contracts: dict[str, dict[str, str]] = {
        "watch": {},
        "shell": {"binding": "on-shell", "commit_policy": "deny"},
        "call": {"binding": "on-tool-call", "commit_policy": "deny"},
        "stage": {"binding": "on-stage"},
    }
    for name, contract in contracts.items():
        rig.hook(name, wasm=b"no component", **contract)
        (native / name).write_text(PROGRAM % (json.dumps(list(ARGUMENTS)), str(tmp_path / f"{name}.jsonl")))
        (native / name).chmod(0o755)
    steps = [
        {"call": {"tool": "bash", "input": {"command": "echo one; exit 3"}}},
        {"call": {"tool": "native", "input": {}}},
        {"say": "done"},
    ]
    await rig.run("go", steps=steps, native=native)
    seen = {name: read(tmp_path / f"{name}.jsonl") for name in contracts}
    told = [(each["call"], each["argument"]) for name in ("watch", "stage") for each in seen[name]]
    asked = [each["argument"] for name in ("shell", "call") for each in seen[name] if not each["argument"]["outcome"]]

    assert set(ARGUMENTS) - {"on-compaction"} == {function for function, _ in told}
    assert 2 == len(asked)
    assert [] == [fault for function, record in told for fault in wrong("murmur", function, [record])]
    assert [] == wrong("murmur", "decision-point", asked)

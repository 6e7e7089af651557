"""One session with every hook that comes with hookline, each of them the component that is shipped, or the program."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.capsule_rig import CapsuleRig
from tests.components.receiver import attributes, receiving
from tests.services import native_hooks

SHIPPED = Path(__file__).parent.parent.parent / "src" / "hookline" / "shipped"

DOCUMENTED = SHIPPED.parent.parent.parent / "docs" / "dialects" / "murmur-session.jsonl"  # the trace of this session

STEPS = [
    {
        "calls": [
            {"tool": "bash", "input": {"command": "echo changed > notes.txt"}},
            {"tool": "bash", "input": {"command": "echo x > tests/test_a.py"}},
            {"tool": "murmur-tool-editor", "input": {"operation": "write_file", "path": "a.py", "content": "b = 2\n"}},
            {"tool": "murmur-tool-editor", "input": {"operation": "write_file", "path": "test_a.py", "content": "x"}},
        ]
    },
    {"say": "done"},
]

ENTRIES: dict[str, dict[str, Any]] = {
    "murmur-hook-debug": {"capabilities": {"filesystem": {"scope": "."}}},
    "murmur-hook-grafana": {},
    "murmur-hook-eval": {"capabilities": {"filesystem": {"scope": "."}}},
    "murmur-hook-diff-summary": {"capabilities": {"filesystem": {"scope": "."}}},
    "murmur-hook-compact": {},
    "murmur-hook-memory": {"capabilities": {"conversation": {"read": True}, "task_io": {"read": True}}},
    "murmur-hook-protect-shell": {},
    "murmur-hook-protect-tool": {},
}


def test_every_shipped_hook_is_in_the_session() -> None:
    """What is shipped and what this session has are the same hooks."""
    assert {each.name for each in SHIPPED.iterdir() if each.is_dir()} == set(ENTRIES)


def test_every_shipped_component_is_small() -> None:
    """Each is under 100 KiB."""
    sizes = {each.parent.name: each.stat().st_size for each in SHIPPED.glob("*/capsule.wasm")}

    assert {} == {name: size for name, size in sizes.items() if size >= 100 * 1024}


@pytest.mark.slow
@pytest.mark.parametrize("built", ["components", "programs"])
async def test_every_shipped_hook_does_its_work(built: str, tmp_path: Path) -> None:
    """They observe, export, score, summarise, shorten and refuse in one session, and none of them complains."""
    native = native_hooks() if built == "programs" else None
    rig = CapsuleRig(root=tmp_path)
    async with receiving() as receiver:
        grants = {"murmur-hook-grafana": receiver.url, "murmur-hook-eval": receiver.url}
        for name, entry in ENTRIES.items():
            told = json.loads(json.dumps(entry))
            if name in grants:
                told.setdefault("capabilities", {})["network"] = {"allow": [grants[name]]}
            rig.artifacts.append({"name": name, "version": "1.0.0", "runtime": "hook", **told})
        rig.artifacts.append({"name": "murmur-tool-editor", "version": "1.0.0", "runtime": "tool"})
        rig.manifest |= {
            "capabilities": {"shell": {"allow": ["bash"]}},
            "context": {"max_tokens": 2000, "seed_budget": 0.5},
            "inference": {"compaction": {"threshold": 0.15}},
            "observability": {
                "otel_endpoint": receiver.url,
                "eval": {"dataset_id": "set-1", "scorers": [{"type": "exit_ok", "name": "ended-well"}]},
            },
        }
        work = tmp_path / "work"
        (work / "tests").mkdir(parents=True)
        (work / "a.py").write_text("a = 1\n")
        agents = {"hook": {"steps": [{"say": "in short"}] * 9}}
        ran = await rig.run("change a.py", steps=STEPS, agents=agents, workdir=work, native=native)

    documented = [json.loads(line)["event_type"] for line in DOCUMENTED.read_text().splitlines()]
    assert documented == [each["event_type"] for each in ran.trace]
    assert ["completed"] == [each.ending.value for each in ran.results]
    assert [] == [name for name in ran.logs if name.startswith("hook-")]
    assert [] == ran.of("hook_dispatch_error")
    # refused by the two guards, and by nobody else
    assert [("on-shell", "murmur-hook-protect-shell"), ("on-tool-call", "murmur-hook-protect-tool")] == [
        (each["event"], each["hook_name"]) for each in ran.of("call_denied")
    ]
    assert ["changed\n", "b = 2\n"] == [(work / name).read_text() for name in ("notes.txt", "a.py")]
    assert not (work / "tests/test_a.py").exists()
    # shortened with a summary that the hook had the model write
    assert ran.of("compaction")
    assert {"hook:murmur-hook-compact"} == {each["origin"] for each in ran.of("inference") if "origin" in each}
    # observed
    events = [json.loads(line)["event"] for line in (work / "hook-debug.jsonl").read_text().splitlines()]
    assert ["session-start", "inference", "compaction", "tool-call", "shell", "tool-call"] == events[:6]
    assert "session-end" == events[-1]
    # scored
    *scores, overall = [json.loads(line) for line in (work / "eval.jsonl").read_text().splitlines()]
    assert [("ended-well", "pass")] == [(each["scorer"], each["result"]) for each in scores]
    assert ("set-1", "pass") == (overall["dataset_id"], overall["overall"])
    # summarised
    (artifact,) = [each for each in ran.records.records if each.kind == "artifact_emitted"]
    (file,) = json.loads(artifact.content)["files"]
    assert ("a.py", "python", 1, 1) == (file["path"], file["language"], file["added_lines"], file["removed_lines"])
    assert "--- a/a.py\n+++ b/a.py\n@@ -1,1 +1,1 @@\n-a = 1\n+b = 2\n" == file["diff"]
    # exported
    assert [] == receiver.refused
    root, *children = receiver.spans
    assert ("capsule.session", b"") == (root.name, root.parent_span_id)
    assert {root.span_id} == {each.parent_span_id for each in children}
    assert {"capsule.inference", "capsule.tool_call", "capsule.shell", "capsule.compaction"} == {
        each.name for each in children
    }
    assert "my-capsule" == attributes(root)["service.name"]
    assert len(receiver.logs) == 1

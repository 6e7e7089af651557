"""Policy hooks: whatever they do, a call runs only where each of them said `none`; and no hook permits anything."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.capsule_rig import CapsuleRig, Ran
from tests.conformance.murmur.others import OTHERS

# What a hook does at a decision point, as its component's script has it. Only the first lets a call pass.
CLEAN = "none"
FAULTS = (
    "deny:no",
    "deny:",
    "deny:  ",
    "err:broken",
    "trap",
    "spin",
    "hog",
    "recurse",
    "artifact:{}",
    "replace:x",
    "reopen:x",
    "seed:x",
    "manifest:bash:x",
    "badtag",
    "badptr",
    "many",
)
ANYTHING = (CLEAN, *FAULTS)

LIMITS = {"deadline_seconds": 0.1, "memory_bytes": 8 * 1024 * 1024}
CALLS = {
    "on-shell": {"tool": "bash", "input": {"command": "touch shell-ran"}},
    "on-tool-call": {"tool": "native", "input": {}},
}
MARKS = {"on-shell": "shell-ran", "on-tool-call": "tool-ran"}

LAW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def hooks(draw: st.DrawFn) -> list[dict[str, str]]:
    """Up to four hooks in any order: guards of either kind, and observers that answer with anything."""
    made = []
    for number in range(draw(st.integers(1, 4))):
        binding = draw(st.sampled_from(list(CALLS)))
        guards = draw(st.booleans())
        clean = draw(st.booleans())  # else two guards would hardly ever agree
        action = CLEAN if clean else draw(st.sampled_from(FAULTS))
        made.append(
            {
                "name": f"hook-{number}",
                "binding": binding,
                "policy": "deny" if guards else "none",
                "action": action,
                "script": f"{binding}{'!' if guards else ''}={action}",
            }
        )
    return made


async def ran_with(folder: Path, made: list[dict[str, str]], **capsule: Any) -> Ran:
    rig = CapsuleRig(root=folder)
    for each in made:
        script, wasm = f"{each['script']}\n", OTHERS[each["wasm"]]() if "wasm" in each else None
        rig.hook(each["name"], script, wasm=wasm, binding=each["binding"], commit_policy=each["policy"])
    rig.tool("native", "touch tool-ran")
    rig.manifest = {"capabilities": {"shell": {"allow": ["bash"]}, "limits": LIMITS, **capsule}}
    return await rig.run("go", steps=[{"calls": list(CALLS.values())}, {"say": "done"}])


def lived(made: list[dict[str, str]]) -> dict[str, bool]:
    """Whether each of the two calls took effect."""
    with tempfile.TemporaryDirectory() as folder:
        ran = asyncio.run(ran_with(Path(folder), made))
        assert ["completed"] == [each.ending.value for each in ran.results]  # the session survives all of it
        return {binding: (ran.folder / mark).exists() for binding, mark in MARKS.items()}


@pytest.mark.slow
@LAW
@given(hooks())
def test_a_call_runs_only_where_every_policy_hook_agrees(made: list[dict[str, str]]) -> None:
    """It is dispatched if, and only if, each of them returned a clean `none`; observers change nothing about it."""
    agreed = {
        binding: all(
            each["action"] == CLEAN for each in made if each["policy"] == "deny" and each["binding"] == binding
        )
        for binding in CALLS
    }

    assert agreed == lived(made)


@pytest.mark.parametrize("action", FAULTS)
@pytest.mark.parametrize("binding", list(CALLS))
def test_every_fault_refuses(binding: str, action: str) -> None:
    """Each by itself, behind a hook that agrees and in front of one: the other call runs."""
    agrees = {"binding": binding, "policy": "deny", "action": CLEAN, "script": ""}
    broken = {"name": "b", "binding": binding, "policy": "deny", "script": f"{binding}!={action}"}
    took_effect = lived([{"name": "a", **agrees}, broken, {"name": "c", **agrees}])

    assert {each: each != binding for each in CALLS} == took_effect


@pytest.mark.parametrize("wasm", ["lifecycle 0.5.0"])
def test_a_hook_that_cannot_be_asked_refuses(wasm: str) -> None:
    """One whose interface has no words for the question lets nothing through that it was to guard."""
    broken = {"name": "b", "binding": "on-shell", "policy": "deny", "script": "", "wasm": wasm}

    assert {"on-shell": False, "on-tool-call": True} == lived([broken])


@pytest.mark.slow
async def test_a_hook_that_waits_for_its_host_refuses(tmp_path: Path) -> None:
    """A guard that asks a model which never answers is cut off at its deadline, and so is the call."""
    rig = CapsuleRig(root=tmp_path)
    rig.hook("h", "on-shell!=infer:may it?\n", asks=True, binding="on-shell", commit_policy="deny")
    rig.manifest = {"capabilities": {"shell": {"allow": ["bash"]}, "limits": {"deadline_seconds": 0.3}}}
    agents = {"hook": {"steps": [{"say": "yes", "wait": 60}]}}
    ran = await rig.run("go", steps=[{"call": CALLS["on-shell"]}, {"say": "done"}], agents=agents)

    assert not (ran.folder / "shell-ran").exists()
    (denied,) = ran.of("call_denied")
    assert "execution deadline" in denied["reason"]
    assert ["completed"] == [each.ending.value for each in ran.results]


@pytest.mark.parametrize("action", [action for action in ANYTHING if action not in ("spin", "hog", "many")])
async def test_no_hook_permits_what_the_manifest_forbids(action: str, tmp_path: Path) -> None:
    """A program that is not allowed, and a path that is protected, stay so whatever a hook returns at any event."""
    rig = CapsuleRig(root=tmp_path)
    events = ("session-start", "task-start", "inference", "tool-call", "shell")
    rig.hook("all", "".join(f"on-{event}={action}\n" for event in events))
    for binding in CALLS:
        rig.hook(f"guard-{binding}", f"{binding}={action}\n", binding=binding, commit_policy="deny")
    rig.manifest = {"capabilities": {"shell": {"allow": ["bash"]}, "filesystem": {"read_only": ["kept"]}}}
    work = tmp_path / "work"
    (work / "kept").mkdir(parents=True)
    steps = [
        {
            "calls": [
                {"tool": "touch", "input": {"command": "made"}},
                {"tool": "bash", "input": {"command": "echo x > kept/a"}},
            ]
        },
        {"say": "done"},
    ]
    ran = await rig.run("go", steps=steps, workdir=work)

    assert [] == [name for name in ("made", "kept/a") if (work / name).exists()]
    assert [] == ran.of("tool_call")[1:]  # the unknown program's call has failed, and the other was never made

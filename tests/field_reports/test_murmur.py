"""Reports under Murmur: a capsule's hooks are components, its guards are asked before a call, and staging is closed."""

from pathlib import Path
from typing import Any

import pytest
from tests.capsule_rig import CapsuleRig, Ran
from tests.conformance.murmur.others import OTHERS

from hookline._core.errors import ConfigError
from hookline.dialects.murmur.answer import FRESH

SHELL = {"capabilities": {"shell": {"allow": ["bash"]}}}
TOUCH = {"tool": "bash", "input": {"command": "touch made"}}
ONCE = ({"call": TOUCH}, {"say": "done"})


@pytest.fixture
def rig(tmp_path: Path) -> CapsuleRig:
    return CapsuleRig(root=tmp_path, manifest=dict(SHELL))


def made(ran: Ran) -> bool:
    return (ran.folder / "made").exists()


async def refused(rig: CapsuleRig, action: str) -> list[str]:
    """The reasons with which a guard that does *action* refused the one call of a session, which then went on."""
    rig.hook("guard", f"on-shell!={action}\n", binding="on-shell", commit_policy="deny")
    ran = await rig.run("go", steps=ONCE)

    assert not made(ran)
    assert ["completed"] == [each.ending.value for each in ran.results]
    return [each["reason"] for each in ran.of("call_denied")]


async def test_b01_a_guard_that_timed_out_refuses(rig: CapsuleRig) -> None:
    """No answer in time is no yes, and the trace says which guard gave none, and why."""
    rig.manifest["capabilities"] = {**SHELL["capabilities"], "limits": {"deadline_seconds": 0.2}}
    (reason,) = await refused(rig, "spin")

    assert "guard" in reason
    assert "0.2s execution deadline" in reason


async def test_b08_a_guard_that_crashed_refuses(rig: CapsuleRig) -> None:
    """A trap is a refusal with the guard's name."""
    (reason,) = await refused(rig, "trap")

    assert "hook 'guard' on-shell trapped" in reason


async def test_b13_a_guard_that_cannot_be_compiled_stops_the_capsule(rig: CapsuleRig) -> None:
    """One that never could run is an error before anything runs, not an approval later."""
    rig.hook("guard", wasm=OTHERS["truncated"](), binding="on-shell", commit_policy="deny")
    with pytest.raises(ConfigError, match="not a component that can be compiled"):
        await rig.run("go", steps=ONCE)

    assert not list(rig.root.rglob("made"))


async def test_f09_after_a_trap_the_next_event_finds_a_fresh_instance(rig: CapsuleRig) -> None:
    """A guard that traps at one event agrees to the next call; that it lost what it knew is told."""
    script = "on-shell!=none\non-shell=trap\n"  # it traps whenever it observes
    rig.hook("guard", script, binding="on-shell", commit_policy="deny")
    ran = await rig.run("go", steps=({"call": TOUCH}, {"call": TOUCH}, {"call": TOUCH}, {"say": "done"}))

    assert made(ran)
    assert [] == ran.of("call_denied")
    assert 3 == sum("on-shell trapped" in line for line in ran.logs["hook-guard"])
    assert 2 == sum(FRESH in line for line in ran.logs["hook-guard"])  # the two calls that came after a trap


async def test_f10_hooks_of_the_older_interface_are_served(rig: CapsuleRig) -> None:
    """0.5.0 has no words for a refusal: its hooks observe, and one that ought to guard refuses and says so."""
    rig.hook("older", wasm=OTHERS["lifecycle 0.5.0"](), binding="on-session-start")
    watched = await rig.run("go", steps=ONCE)
    assert made(watched)

    (rig.root / "second").mkdir()
    other = CapsuleRig(root=rig.root / "second", manifest=dict(SHELL))
    other.hook("older", wasm=OTHERS["lifecycle 0.5.0"](), binding="on-shell", commit_policy="deny")
    guarded = await other.run("go", steps=ONCE)
    assert not made(guarded)
    assert any("murmur:hook/lifecycle@0.5.0" in line for line in guarded.logs["hook-older"])


@pytest.mark.parametrize("binding", ["on-everything", "", "On-Shell"])
async def test_f14_a_binding_that_cannot_be_read_is_no_wildcard(rig: CapsuleRig, binding: str) -> None:
    """A hook whose points are not known is not called at all of them: the capsule is refused."""
    rig.hook("h", binding=binding)
    with pytest.raises(ConfigError) as caught:
        await rig.run("go", steps=ONCE)

    assert any("binding" in problem.message for problem in caught.value.problems)


async def test_trap7_only_a_clean_none_lets_a_call_through(rig: CapsuleRig) -> None:
    """A Deny without a reason still refuses; a Deny of what has happened changes nothing, and is told."""
    (reason,) = await refused(rig, "deny:")
    assert "guard" in reason

    (rig.root / "second").mkdir()
    other = CapsuleRig(root=rig.root / "second", manifest=dict(SHELL))
    other.hook("guard", "on-shell!=none\non-shell=deny:too late\n", binding="on-shell", commit_policy="deny")
    ran = await other.run("go", steps=ONCE)
    assert made(ran)
    assert [] == ran.of("call_denied")
    assert any("deny" in line for line in ran.logs["hook-guard"])


@pytest.mark.parametrize(
    "contract",
    [
        {"binding": "on-shell", "commit_policy": "seed-context"},
        {"binding": "on-shell", "commit_policy": "deny", "execution_mode": "async"},
        {"binding": "on-stage", "execution_mode": "async"},
        {"commit_policy": "deny"},
    ],
    ids=["another point's word", "a word of one not waited for", "a stage not waited for", "a guard of everything"],
)
async def test_trap8_what_a_hook_may_not_be_is_said_before_it_is_compiled(
    rig: CapsuleRig, contract: dict[str, Any]
) -> None:
    """The component is no component at all, and the problem is still the contract's."""
    rig.hook("h", wasm=b"no component", **contract)
    with pytest.raises(ConfigError) as caught:
        await rig.run("go", steps=ONCE)

    assert not any("WebAssembly" in problem.message for problem in caught.value.problems)

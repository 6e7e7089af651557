"""The decision point: a call runs on a clean `none` alone (the Murmur hooks document, "Policy hooks")."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.dialects.murmur.rig import CAPSULE, COMMAND, NONE, ORIGIN, Place, failed, hook, staged

from hookline._core.capsule import CallLimits
from hookline._core.decisions import Deny
from hookline._core.events import AfterShell, AfterToolCall, BeforeDispatch, ToolCallFailed
from hookline._core.payload import Exited, Yielded
from hookline._core.reasons import Failure, Skip
from hookline.dialects.murmur.interfaces import OLDER

TOOL = BeforeDispatch(tool_name="editor", input={"path": "a.txt"}, call_id="call-1", origin=ORIGIN)
SHELL = BeforeDispatch(
    tool_name="bash", input={"command": "rm -rf build"}, call_id="call-2", command=COMMAND, origin=ORIGIN
)
TOLD = AfterToolCall(tool_name="editor", input={}, call_id="call-1", response="ok", text="ok", origin=ORIGIN)
RAN = AfterShell(tool_name="bash", input={}, call_id="call-2", command=COMMAND, origin=ORIGIN)

EVENTS = {"on-tool-call": TOOL, "on-shell": SHELL}
OF = [pytest.param(binding, id=binding) for binding in EVENTS]

AFTERWARDS = "\n\nThis call did not run. Retrying it unchanged will be refused again."
ARM = (
    "policy hook 'guard' returned hook-output arm '{arm}' from the '{{fn}}' decision point; only 'deny' or 'none' is "
    "answerable there, so the call was refused"
)
FAILED_AT = "policy hook 'guard' failed at the '{fn}' decision point: "
DEADLINE = "exceeded its 30s execution deadline (capabilities.limits.deadline_seconds) and was interrupted"
OVER = "exceeded its configured resource limits: "

# What a policy hook may do, the reason that the agent is given, and what the log of the hook gets, in their order.
TABLE: dict[str, tuple[Any, str, str | None]] = {
    "a reason": (Yielded(arm="deny", value=" no \n"), " no \n", None),
    "no reason": (
        Yielded(arm="deny", value=""),
        "policy hook 'guard' refused this call from '{fn}' but returned an empty reason",
        None,
    ),
    "a blank reason": (
        Yielded(arm="deny", value=" \t\n"),
        "policy hook 'guard' refused this call from '{fn}' but returned an empty reason",
        None,
    ),
    **{
        f"the arm {arm}": (
            Yielded(arm=arm, value=value),
            ARM.format(arm=arm),
            (
                f"hook 'guard' returned unsupported hook-output arm '{arm}' from '{{fn}}'; this event does not honor "
                "that arm, so the value was discarded"
            ),
        )
        for arm, value in {
            "artifact": "{}",
            "replace-context": [],
            "seed-context": [],
            "write-manifests": [],
            "reopen-task": "again",
        }.items()
    },
    "an error": (failed(Failure.ERROR, "cannot say"), FAILED_AT + "cannot say", "cannot say"),
    "a trap": (
        failed(Failure.CRASHED, "unreachable"),
        FAILED_AT + "hook 'guard' {fn} trapped: unreachable",
        "hook 'guard' {fn} trapped: unreachable",
    ),
    "no end": (
        failed(Failure.TIMEOUT, "timed out"),
        FAILED_AT + "hook 'guard' {fn} " + DEADLINE,
        "hook 'guard' {fn} " + DEADLINE,
    ),
    "too much memory": (
        failed(Failure.OVER_LIMIT, "memory", stream="memory", size=600_000_000),
        FAILED_AT
        + "hook 'guard' {fn} "
        + OVER
        + "linear memory growth to 600000000 bytes exceeds capabilities.limits.memory_bytes (536870912)",
        "hook 'guard' {fn} "
        + OVER
        + "linear memory growth to 600000000 bytes exceeds capabilities.limits.memory_bytes (536870912)",
    ),
    "too large a table": (
        failed(Failure.OVER_LIMIT, "table", stream="table", size=100_001),
        FAILED_AT
        + "hook 'guard' {fn} "
        + OVER
        + "table growth to 100001 elements exceeds capabilities.limits.table_elements (100000)",
        "hook 'guard' {fn} "
        + OVER
        + "table growth to 100001 elements exceeds capabilities.limits.table_elements (100000)",
    ),
    "a limit of unknown size": (
        failed(Failure.OVER_LIMIT, "memory", stream="memory"),
        FAILED_AT
        + "hook 'guard' {fn} "
        + OVER
        + "linear memory growth exceeds capabilities.limits.memory_bytes (536870912)",
        "hook 'guard' {fn} " + OVER + "linear memory growth exceeds capabilities.limits.memory_bytes (536870912)",
    ),
    "an unreadable return": (
        failed(Failure.MALFORMED_ANSWER, "no discriminant 9"),
        FAILED_AT + "hook 'guard' {fn} returned what cannot be read: no discriminant 9",
        "hook 'guard' {fn} returned what cannot be read: no discriminant 9",
    ),
    "an unreadable reason": (
        Yielded(arm="deny", value=7),
        FAILED_AT + "hook 'guard' {fn} returned what cannot be read: deny: text is expected, found int",
        "hook 'guard' {fn} returned what cannot be read: deny: text is expected, found int",
    ),
    "an arm that there is not": (
        Yielded(arm="allow"),
        FAILED_AT + "hook 'guard' {fn} returned what cannot be read: hook-output has no arm 'allow'",
        "hook 'guard' {fn} returned what cannot be read: hook-output has no arm 'allow'",
    ),
    "no component's reply": (
        Exited(code=0),
        FAILED_AT + "hook 'guard' {fn} returned what cannot be read: Exited is no reply of a component",
        "hook 'guard' {fn} returned what cannot be read: Exited is no reply of a component",
    ),
    "not instantiated": (
        failed(Failure.COULD_NOT_START, "unknown import"),
        FAILED_AT + "failed to instantiate hook guard@1.0.0: unknown import",
        "failed to instantiate hook guard@1.0.0: unknown import",
    ),
    "no such function": (
        failed(Failure.CRASHED, "there is none", stream="function"),
        (
            "policy hook 'guard' does not export '{fn}'; a policy hook must export the function it gates, so the call "
            "was refused"
        ),
        "hook guard@1.0.0 missing function murmur:hook/lifecycle@0.8.0#{fn}",
    ),
}


def guarded(binding: str, says: Any, **terms: Any) -> Place:
    guard = staged("guard", binding=binding, policy="deny", **terms)
    return Place(guard, says={"guard": says})


@pytest.mark.parametrize("binding", OF)
@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in TABLE.items()])
async def test_everything_but_none_refuses(binding: str, row: tuple[Any, str, str | None]) -> None:
    """Whatever else a policy hook does, the call is refused, and the agent and the log are told why."""
    says, reason, logged = row
    place = guarded(binding, says)
    resolution = await place.dispatch(EVENTS[binding])

    reason = reason.replace("{fn}", binding)
    assert resolution.decision == Deny(reason)
    assert f"Refused by policy hook 'guard': {reason}{AFTERWARDS}" == resolution.refusal
    assert place.log == ([] if logged is None else [("hook-guard", logged.replace("{fn}", binding))])


@pytest.mark.parametrize("binding", OF)
async def test_a_clean_none_lets_the_call_pass(binding: str) -> None:
    """`ok(none)` changes nothing and leaves no line anywhere."""
    place = guarded(binding, NONE)
    resolution = await place.dispatch(EVENTS[binding])

    assert (False, "", []) == (resolution.denied, resolution.refusal, place.log)
    assert place.trace == []


@pytest.mark.parametrize("binding", OF)
async def test_a_hook_is_asked_about_calls_of_its_binding_alone(binding: str) -> None:
    """A command is put to `on-shell` policies only, and everything else to `on-tool-call` policies only."""
    place = guarded(binding, Yielded(arm="deny", value="no"))
    for event in EVENTS.values():
        await place.dispatch(event)

    assert [binding] == place.guests.functions("guard")


async def test_a_policy_hook_is_told_of_the_call_too() -> None:
    """One that allows is called twice for a call: without an outcome, then with one."""
    place = guarded("on-tool-call", NONE)
    for event in (TOOL, TOLD):
        await place.dispatch(event)

    assert [True, False] == [call.argument["outcome"] is None for _, call in place.guests.calls]


@pytest.mark.parametrize("told", [TOLD, ToolCallFailed(tool_name="editor", input={}, error="no", origin=ORIGIN)])
async def test_a_denial_of_what_has_run_is_a_fault(told: Any) -> None:
    """At the observation a `deny` refuses nothing: it is logged and traced, whoever says it."""
    place = guarded("on-tool-call", Yielded(arm="deny", value="too late"))
    resolution = await place.dispatch(told)

    assert not resolution.denied
    text = (
        "hook 'guard' returned unsupported hook-output arm 'deny' from 'on-tool-call'; this event does not honor that "
        "arm, so the value was discarded"
    )
    assert [("hook-guard", text)] == place.log


async def test_policies_are_asked_until_the_first_refusal() -> None:
    """The first denial counts, those behind it are not asked; a `none` before it changes nothing."""
    deny = Yielded(arm="deny", value="no")
    hooks = [staged(name, binding="on-shell", policy="deny") for name in ("a", "b", "c")]
    place = Place(*hooks, says={"b": deny, "c": deny})
    resolution = await place.dispatch(SHELL)

    assert ["a", "b"] == [name for name, _ in place.guests.calls]
    assert "b" == resolution.decided_by
    assert Skip.DENIED_EARLIER is resolution.outcomes[2].why


async def test_observers_are_not_asked_before_a_call() -> None:
    """Hooks that decide nothing, bound to the event or unbound, are only told."""
    place = Place(staged("bound", binding="on-shell"), staged("unbound"), staged("late", is_async=True))
    await place.dispatch(SHELL)
    assert [] == place.guests.calls

    await place.dispatch(RAN)
    await place.drained()
    assert ["bound", "unbound", "late"] == [name for name, _ in place.guests.calls]


async def test_an_older_hook_refuses() -> None:
    """One that was built before there were decision points has no words for them: the call is refused, and logged."""
    place = guarded("on-shell", NONE, interface=OLDER.name)
    resolution = await place.dispatch(SHELL)

    assert resolution.refusal.startswith("Refused by policy hook 'guard': hook guard@1.0.0 was built against ")
    assert [] == place.guests.calls
    assert [("hook-guard", resolution.reason)] == place.log


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb"])
async def test_what_cannot_be_shown_to_the_letter_is_refused(text: str) -> None:
    """A policy decides on what runs, so a command that no component's string can carry does not run."""
    place = guarded("on-shell", NONE)
    command = replace(COMMAND, arguments=(text,))
    resolution = await place.dispatch(BeforeDispatch(tool_name="cat", input={}, command=command, origin=ORIGIN))

    assert resolution.denied
    assert [] == place.guests.calls


@pytest.mark.parametrize("input", [{"n": float("nan")}, {"o": object()}])
async def test_an_input_that_is_no_json_is_refused(input: Any) -> None:
    """The same of a tool call whose input has no exact JSON text."""
    place = guarded("on-tool-call", NONE)
    resolution = await place.dispatch(BeforeDispatch(tool_name="editor", input=input, origin=ORIGIN))

    assert resolution.denied
    assert [] == place.guests.calls


async def test_the_limits_of_the_texts_are_the_capsules() -> None:
    """A configured deadline stands in the reason, and is what the component is given."""
    capsule = replace(CAPSULE, limits=CallLimits(deadline=0.5))
    guard = staged("guard", binding="on-shell", policy="deny")
    place = Place(guard, says={"guard": failed(Failure.TIMEOUT)}, capsule=capsule)
    resolution = await place.dispatch(SHELL)

    assert "exceeded its 0.5s execution deadline" in resolution.reason
    assert 0.5 == hook("guard", capsule=capsule).timeout


async def test_a_denial_is_traced_once() -> None:
    """`call_denied` names the event, the hook, what was to run and why; nothing else is written of the call."""
    place = guarded("on-shell", Yielded(arm="deny", value="no"))
    await place.dispatch(SHELL)

    [line] = place.trace
    told = {key: line[key] for key in ("event_type", "turn", "event", "hook_name", "target", "reason")}
    assert told == {
        "event_type": "call_denied",
        "turn": 3,
        "event": "on-shell",
        "hook_name": "guard",
        "target": "/bin/bash",
        "reason": "no",
    }


async def test_of_a_tool_call_the_target_is_the_tool() -> None:
    """`target` is the tool's name where no program runs."""
    place = guarded("on-tool-call", Yielded(arm="deny", value="no"))
    await place.dispatch(TOOL)

    assert ["editor"] == [line["target"] for line in place.trace]

"""What is called, in which order, and what comes of it where nothing is decided (sections 5, 7.1 and 14)."""

from typing import Any

import pytest
from tests.unit.dialects.murmur.rig import CAPSULE, COMMAND, ORIGIN, RUN, SESSION, Place, failed, hook, staged

from hookline._core import events as ev
from hookline._core.effects import EmitArtifact, Reopen, ReplaceContext, SeedContext, ToolManifest, WriteManifests
from hookline._core.messages import Message, ToolCall
from hookline._core.payload import Yielded
from hookline._core.points import Event
from hookline._core.reasons import Failure
from hookline._core.records import SessionClosed
from hookline.dialects.murmur.rules import ARMS, RULES, function_of

TOOL: dict[str, Any] = {"tool_name": "editor", "input": {}, "call_id": "call-1", "origin": ORIGIN}
MODEL: dict[str, Any] = {"provider": "p", "origin": ORIGIN}

OCCURRENCES: dict[str, Event] = {
    "on-stage": ev.BeforeStage(origin=ORIGIN),
    "on-session-start": ev.SessionStart(source="startup", origin=ORIGIN),
    "on-task-start": ev.BeforeRun(prompt="go", origin=ORIGIN),
    "on-inference": ev.AfterModelCall(**MODEL),
    "on-tool-call": ev.AfterToolCall(**TOOL),
    "on-shell": ev.AfterShell(**TOOL, command=COMMAND),
    "on-compaction": ev.BeforeCompaction(trigger="threshold", origin=ORIGIN),
    "on-task-end": ev.BeforeRunEnd(origin=ORIGIN),
    "on-session-end": ev.SessionEnd(reason="other", origin=ORIGIN),
}
HONORED = {
    "on-stage": "write-manifests",
    "on-task-start": "seed-context",
    "on-inference": "artifact",
    "on-compaction": "replace-context",
    "on-task-end": "reopen-task",
}
SAID: dict[str, Any] = {
    "replace-context": [{"role": "user", "content": '"so far"', "id": None, "source-id": None}],
    "write-manifests": [{"binary-name": "../git", "content": "name: git"}],
    "artifact": "{}",
    "reopen-task": "again",
    "seed-context": [{"role": "user", "content": "before", "id": "msg_1", "source-id": "s"}],
    "deny": "no",
}
EFFECTS = {
    "replace-context": ReplaceContext((Message(role="user", text="so far"),)),
    "write-manifests": WriteManifests((ToolManifest("../git", "name: git"),)),
    "artifact": EmitArtifact("{}"),
    "reopen-task": Reopen("again"),
    "seed-context": SeedContext((Message(role="user", text="before", id="msg_1", source_id="s"),)),
}
EVENTS = [pytest.param(function, id=function) for function in OCCURRENCES]
PAIRS = [
    pytest.param(function, arm, is_async, id=f"{arm} from {function}, {'async' if is_async else 'blocking'}")
    for function in OCCURRENCES
    for arm in SAID
    for is_async in (False, True)
    if HONORED.get(function) != arm and not (is_async and function == "on-stage")  # which is never async
]


def policy_of(function: str) -> str:
    arm = HONORED.get(function, "none")
    return "none" if arm == "artifact" else arm


def closing() -> SessionClosed:
    return SessionClosed(origin=ORIGIN, reason="other")


@pytest.mark.parametrize("function", EVENTS)
async def test_a_binding_is_its_event(function: str) -> None:
    """A bound hook is called at its event and at no other; an unbound one at all but staging."""
    place = Place(staged("bound", binding=function), staged("unbound"))
    for event in OCCURRENCES.values():
        await place.dispatch(event)

    subject = "bound at staging" if function == "on-stage" else "bound"
    assert [function] == place.guests.functions(subject)
    assert [each for each in OCCURRENCES if each != "on-stage"] == place.guests.functions("unbound")


@pytest.mark.parametrize("function", HONORED)
async def test_an_honored_arm_takes_effect(function: str) -> None:
    """What an event honors, and the hook's policy names, is what the session is asked for, without a line of log."""
    arm = HONORED[function]
    name = "watch at staging" if function == "on-stage" else "watch"
    place = Place(staged(binding=function, policy=policy_of(function)), says={name: Yielded(arm=arm, value=SAID[arm])})
    resolution = await place.dispatch(OCCURRENCES[function])

    assert [EFFECTS[arm]] == [each.effect for each in resolution.applied]
    assert (["watch"], []) == ([each.hook for each in resolution.applied], place.log)


@pytest.mark.parametrize("function", [each for each in HONORED if each not in ("on-inference", "on-stage")])
async def test_without_the_policy_an_honored_arm_is_discarded(function: str) -> None:
    """`commit_policy: none` discards its output: no effect, no log line and no fault."""
    arm = HONORED[function]
    place = Place(staged(), says={"watch": Yielded(arm=arm, value=SAID[arm])})
    resolution = await place.dispatch(OCCURRENCES[function])
    place.record(closing())

    assert ((), [], []) == (resolution.applied, place.log, place.faults())
    assert resolution.outcomes[0].answer.notes == (f"commit_policy 'none' discards its {arm}",)


@pytest.mark.parametrize(("function", "arm", "is_async"), PAIRS)
async def test_an_arm_that_is_not_honored_is_a_fault(function: str, arm: str, is_async: bool) -> None:
    """It changes nothing: one line in the log, and one fault but at staging, before which there is no trace."""
    subject = "watch at staging" if function == "on-stage" else "watch"
    place = Place(staged(binding=function, is_async=is_async), says={subject: Yielded(arm=arm, value=SAID[arm])})
    resolution = await place.dispatch(OCCURRENCES[function])
    await place.drained()
    place.record(closing())

    text = (
        f"hook 'watch' returned unsupported hook-output arm '{arm}' from '{function}'; this event does not honor that "
        "arm, so the value was discarded"
    )
    assert ((), False, [("hook-watch", text)]) == (resolution.applied, resolution.denied, place.log)
    assert place.faults() == ([] if function == "on-stage" else [("watch", function, arm)])


FAILURES = {
    "an error": (failed(Failure.ERROR, "x"), "x"),
    "a trap": (failed(Failure.CRASHED, "unreachable"), "hook 'watch' {fn} trapped: unreachable"),
    "no end": (
        failed(Failure.TIMEOUT),
        (
            "hook 'watch' {fn} exceeded its 30s execution deadline (capabilities.limits.deadline_seconds) and was "
            "interrupted"
        ),
    ),
    "a limit": (
        failed(Failure.OVER_LIMIT, stream="table", size=7),
        (
            "hook 'watch' {fn} exceeded its configured resource limits: table growth to 7 elements exceeds "
            "capabilities.limits.table_elements (100000)"
        ),
    ),
}
SURVIVED = [each for each in OCCURRENCES if each not in ("on-stage", "on-compaction")]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("function", SURVIVED)
@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in FAILURES.items()])
async def test_a_failure_is_logged_and_survived(row: tuple[Any, str], function: str, strict: bool) -> None:
    """Blocking: one line in the log, no fault, and the next hook is called; under strict too, for nothing was gated."""
    says, text = row
    place = Place(staged(binding=function), staged("next", binding=function), says={"watch": says}, strict=strict)
    resolution = await place.dispatch(OCCURRENCES[function])
    place.record(closing())

    assert (False, ()) == (resolution.denied, resolution.applied)
    assert [("hook-watch", text.replace("{fn}", function))] == place.log
    assert ([function], []) == (place.guests.functions("next"), place.faults())


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in FAILURES.items()])
async def test_an_async_failure_is_traced_too(row: tuple[Any, str]) -> None:
    """Async: logged once, and one fault with the arm `error`."""
    says, text = row
    place = Place(staged(binding="on-session-end", is_async=True), says={"watch": says})
    await place.dispatch(OCCURRENCES["on-session-end"])
    await place.drained()
    place.record(closing())

    assert [("hook-watch", text.replace("{fn}", "on-session-end"))] == place.log
    assert [("watch", "on-session-end", "error")] == place.faults()


async def test_an_error_of_a_compaction_hook_fails_the_run() -> None:
    """It beats a replacement by another hook, is logged once, and says which hook and why."""
    replacing = Yielded(arm="replace-context", value=SAID["replace-context"])
    place = Place(
        staged("compact", binding="on-compaction", policy="replace-context"),
        staged("broken", binding="on-compaction"),
        says={"compact": replacing, "broken": failed(Failure.ERROR, "no model")},
    )
    resolution = await place.dispatch(OCCURRENCES["on-compaction"])

    assert resolution.failed_run is not None
    assert ("broken", "no model") == (resolution.failed_run.hook.id, resolution.failed_run.detail)
    assert ((), [("hook-broken", "no model")]) == (resolution.applied, place.log)


@pytest.mark.parametrize("arm", [arm for arm in SAID if arm != "replace-context"])
async def test_a_wrong_arm_of_a_compaction_hook_does_not(arm: str) -> None:
    """There an unsupported arm is a fault like anywhere else."""
    place = Place(staged(binding="on-compaction"), says={"watch": Yielded(arm=arm, value=SAID[arm])})
    resolution = await place.dispatch(OCCURRENCES["on-compaction"])

    assert (None, False) == (resolution.failed_run, resolution.denied)


@pytest.mark.parametrize("function", [each for each in HONORED if each not in ("on-inference", "on-stage")])
async def test_the_first_to_commit_wins(function: str) -> None:
    """All hooks are called, the first value counts, and the others are dropped without a word."""
    arm = HONORED[function]
    says = {name: Yielded(arm=arm, value=SAID[arm]) for name in ("b", "c")}
    place = Place(*(staged(name, binding=function, policy=arm) for name in ("a", "b", "c")), says=says)
    resolution = await place.dispatch(OCCURRENCES[function])

    assert ["a", "b", "c"] == [name for name, _ in place.guests.calls]
    assert (["b"], []) == ([each.hook for each in resolution.applied], place.log)


async def test_all_artifacts_are_collected() -> None:
    """Every blocking hook's artifact counts, in the order of the manifest, whatever its policy."""
    says = {name: Yielded(arm="artifact", value=f'"{name}"') for name in ("a", "b", "c")}
    hooks = [staged("a"), staged("b", binding="on-inference"), staged("c", policy="reopen-task")]
    place = Place(*hooks, says=says)
    resolution = await place.dispatch(OCCURRENCES["on-inference"])

    assert ["a", "b", "c"] == [each.hook for each in resolution.applied]
    assert (EmitArtifact('"a"'), EmitArtifact('"b"'), EmitArtifact('"c"')) == resolution.effects(EmitArtifact)


async def test_blocking_hooks_come_first() -> None:
    """In the order of the manifest those that are waited for, then those that are not."""
    place = Place(staged("a", is_async=True), staged("b"), staged("c", is_async=True), staged("d"))
    await place.dispatch(OCCURRENCES["on-inference"])
    await place.drained()

    assert ["b", "d", "a", "c"] == [name for name, _ in place.guests.calls]


MISSING = failed(Failure.CRASHED, "no such function", stream="function")


@pytest.mark.parametrize("function", ["on-task-start", "on-task-end"])
async def test_a_function_that_may_be_missing_is_not_missed(function: str) -> None:
    """A hook without it is skipped: neither a log line nor a fault."""
    place = Place(staged(), staged("late", is_async=True), says={"watch": MISSING, "late": MISSING})
    resolution = await place.dispatch(OCCURRENCES[function])
    await place.drained()
    place.record(closing())

    assert (True, [], []) == (resolution.outcomes[0].ok, place.log, place.faults())


async def test_a_stage_hook_without_its_function_is_logged() -> None:
    """Staging goes on, and the log says which hook has no `on-stage`."""
    place = Place(staged(binding="on-stage"), says={"watch at staging": MISSING})
    resolution = await place.dispatch(OCCURRENCES["on-stage"])

    assert (False, [("hook-watch", "hook watch@1.0.0 missing on-stage")]) == (resolution.denied, place.log)


async def test_a_new_instance_is_told_of() -> None:
    """After a trap the next call has a fresh instance: the answer and the log say what is lost."""
    place = Place(staged(), says={"watch": Yielded(arm="none", fresh=True)})
    resolution = await place.dispatch(OCCURRENCES["on-inference"])

    lost = "its instance was new: what the one before it kept in memory is lost"
    assert ((lost,), [("hook-watch", lost)]) == (resolution.outcomes[0].answer.notes, place.log)


@pytest.mark.parametrize(
    "event",
    [
        ev.SessionStart(source="compact", origin=ORIGIN),
        ev.SessionStart(source="clear", origin=ORIGIN),
        ev.AfterModelCall(**MODEL, status="error", error="slow down"),
        ev.BeforeToolCall(**TOOL),
        ev.RunCompleted(text="done", origin=ORIGIN),
    ],
)
async def test_what_is_none_of_its_events_reaches_no_hook(event: Event) -> None:
    """A launch begins once, a request that failed is no inference, and other points are other dialects'."""
    place = Place(staged(), staged("guard", binding="on-tool-call", policy="deny"))
    await place.dispatch(event)

    assert [] == place.guests.calls


async def test_a_call_that_failed_is_observed() -> None:
    """So is one that never was valid, or of a tool that there is not."""
    place = Place(staged(binding="on-tool-call"))
    await place.dispatch(ev.ToolCallFailed(tool_name="curl", input="no JSON", error="there is no tool", origin=ORIGIN))

    [(_, call)] = place.guests.calls
    assert ("error", '"no JSON"') == (call.argument["outcome"]["status"], call.argument["input"])


def test_each_arm_is_honored_at_one_event() -> None:
    """The table has every arm at the function of section 3.1, and nowhere else."""
    honored = {(rule.function, rule.arm) for rule in RULES if rule.arm}

    assert {*HONORED.items(), ("on-tool-call", "deny")} == honored
    assert set(SAID) == set(ARMS) - {"none"}
    assert {function: function_of(event) for function, event in OCCURRENCES.items()} == {f: f for f in OCCURRENCES}


def test_a_hook_is_what_its_manifest_says() -> None:
    """Its id, its place, its time and its target are the artifact's, the manifest's and the capsule's."""
    built = hook("watch", binding="on-task-end", policy="reopen-task")

    assert ("watch", "watch@1.0.0", "murmur", 30.0) == (built.id, built.key, built.dialect, built.timeout)
    assert ("murmur.yaml", 7, 5) == (built.source.label, built.source.line, built.source.column)
    assert (frozenset({Reopen}), False) == (built.commits, built.background)
    assert frozenset() == hook("late", is_async=True).commits
    assert CAPSULE.name == built.facts.capsule.name


async def test_ids_are_those_of_the_session() -> None:
    """Session and task are named alike in every record: prefix, then the UUID without its dashes."""
    place = Place(staged())
    for function in ("on-session-start", "on-task-start", "on-task-end"):
        await place.dispatch(OCCURRENCES[function])

    [start, task, end] = [call.argument for _, call in place.guests.calls]
    assert "ses_" + SESSION.replace("-", "") == start["session-id"]
    assert "tsk_" + RUN.replace("-", "") == task["task-id"] == end["task-id"]


async def test_the_calls_of_a_turn_are_told_in_order() -> None:
    """`on-inference` has the first requested tool and the decision."""
    place = Place(staged(binding="on-inference"))
    calls = (ToolCall(id="1", name="git", input={}), ToolCall(id="2", name="bash", input={}))
    for given, finish in ((calls, "tool_calls"), ((), "stop"), ((), "length")):
        await place.dispatch(ev.AfterModelCall(**MODEL, calls=given, finish_reason=finish))

    told = [(call.argument["decision"], call.argument["tool-name"]) for _, call in place.guests.calls]
    assert [("tool_call", "git"), ("end_turn", None), ("text", None)] == told

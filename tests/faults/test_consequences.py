"""A hook that gives no answer never looks like a yes: every fault in every dialect, and what becomes of the call."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.kept import Kept
from tests.tool_rig import Willing

import hookline as hl
from hookline._core.capsule import Artifact, ArtifactKind, Capsule
from hookline._core.components import ComponentTarget
from hookline._core.events import BeforeDispatch, BeforeToolCall
from hookline._core.hooks import Hook
from hookline._core.messages import ToolSpec
from hookline._core.outcomes import Outcome
from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply, Returned, Yielded
from hookline._core.points import Event
from hookline._core.problems import Where
from hookline._core.reasons import Failure
from hookline._core.records import CallEnded, CallStarted, Dispatched, HookEnded
from hookline._core.resolution import Resolution
from hookline._core.targets import CommandTarget, FunctionTarget
from hookline.dialects import PACKAGES
from hookline.dialects.murmur.build import Staged
from hookline.dialects.murmur.build import hooks_of as murmur_hooks_of
from hookline.dialects.murmur.interfaces import INTERFACES
from hookline.session.ports import CallContext, RunResult, ToolResult

ROWS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("consequences.yaml").read_text())

SIDES = ("dialect", "mode", "commits", "strict")
LARGE = 300 * 1024  # bytes: over the cap of each dialect that has one


def failed(why: Failure, detail: str, **more: Any) -> CallFailed:
    return CallFailed(why=why, detail=detail, **more)


@dataclass(frozen=True)
class Fault:
    """What comes back of a call: of a program, of a function, of a component. The adapter itself raises an exception.

    `component` is what a program says, where it says nothing of its own.
    """

    program: object
    function: object
    component: object = None


def alike(reply: object) -> Fault:
    return Fault(reply, reply)


MEERKAT_DENIAL = {
    "decision": {"decision": "deny", "hook_id": "guard", "reason_code": "policy_violation", "message": "no"}
}
MUSE_DENIAL = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "no",
    }
}
BOTH = json.dumps({**MEERKAT_DENIAL, **MUSE_DENIAL}).encode()

FAULTS = {
    "timeout": alike(failed(Failure.TIMEOUT, "hook timed out after 1s")),
    "could not start": alike(failed(Failure.COULD_NOT_START, "program /no/such/guard: No such file or directory")),
    "killed": alike(failed(Failure.SIGNAL, "killed by SIGKILL")),
    "crashed": alike(failed(Failure.CRASHED, "ValueError: bad input")),
    "unreachable": alike(failed(Failure.UNREACHABLE, "request: http://127.0.0.1:9: Connection refused (os error 111)")),
    "too much said": alike(failed(Failure.OUTPUT_TOO_LARGE, "stdout went over its cap", stream="stdout", size=LARGE)),
    "exit 1 with a reason": Fault(Exited(code=1, stderr=b"BLOCKED\n"), failed(Failure.EXIT_CODE, "exit code 1")),
    "exit 2 without one": Fault(Exited(code=2, stdout=b"no\n"), failed(Failure.EXIT_CODE, "exit code 2")),
    "exit 127": Fault(Exited(code=127, stderr=b"not found\n"), failed(Failure.EXIT_CODE, "exit code 127")),
    "half an object": Fault(Exited(code=0, stdout=b'{"decision":'), Returned({"decision": None})),
    "two documents": Fault(Exited(code=0, stdout=b"{}{}"), Returned([{}, {}])),
    "a key twice": Fault(Exited(code=0, stdout=b'{"decision":null,"decision":null}'), Returned({})),
    "no UTF-8": Fault(Exited(code=0, stdout=b'{"\xff":1}'), Returned(b"\xff")),
    "words of its own": Fault(Exited(code=0, stdout=b'{"action":"deny"}'), Returned("deny"), Yielded(arm="block")),
    "several dialects at once": Fault(Exited(code=0, stdout=BOTH), Returned(MUSE_DENIAL)),
    "a number for a reply": alike(2),
    "an adapter that raises": alike(RuntimeError("broken")),
    "chatter": Fault(Exited(code=0, stdout=b"Welcome!\n"), Returned("Welcome!")),
    "nothing said": Fault(Exited(code=0), Returned(None), Yielded(arm="none")),
    "an event that does not fit": alike(None),  # takes LARGE bytes; where there is no cap every event fits
    "a denial": alike(None),  # no fault of a guard's, and the one way for an observer to say what it may not
}
OVERSIZE, DENIAL = "an event that does not fit", "a denial"
SPOKEN = {"muse": Exited(code=0, stdout=json.dumps(MUSE_DENIAL).encode()), "code": Returned(hl.Deny("no"))}
SPOKEN["meerkat"] = Exited(code=0, stdout=json.dumps(MEERKAT_DENIAL).encode())
SPOKEN["murmur"] = Yielded(arm="deny", value="no")

# Where the guards of a dialect are asked about a call, and what the model reads of one that none of them allowed.
POINT = {"muse": BeforeToolCall, "meerkat": BeforeToolCall, "murmur": BeforeDispatch, "code": BeforeToolCall}
REFUSED = dict.fromkeys(POINT, ("tool blocked by hook: no", "tool blocked by hook: hook {hook} gave no answer: "))
REFUSED["murmur"] = ("Refused by policy hook '{hook}': no\n", "Refused by policy hook '{hook}': ")
UNCAPPED = ("code", "murmur")


@dataclass(frozen=True)
class Case:
    dialect: str
    mode: str
    commits: str
    strict: bool
    fault: str
    becomes: str

    def __str__(self) -> str:
        strict = "strict" if self.strict else "lenient"
        return f"{self.dialect} {self.mode} {self.commits} {strict}: {self.fault}"

    @property
    def said(self) -> object:
        if self.fault == DENIAL:
            return SPOKEN[self.dialect]
        fault = FAULTS[self.fault]
        match self.dialect:
            case "code":
                return fault.function
            case "murmur" if fault.component is not None:
                return fault.component
            case _:
                return fault.program


def cases() -> Iterator[Case]:
    for row in ROWS:
        sides = {name: row[name] for name in SIDES}
        for fault in FAULTS:
            if not (fault == OVERSIZE and row["dialect"] in UNCAPPED):
                yield Case(**sides, fault=fault, becomes=row.get("but", {}).get(fault, row["every"]))


class Canned:
    """Comes to one reply, or raises. Implements Adapter."""

    def __init__(self, said: object) -> None:
        self._said = said

    async def call(self, target: Any, payload: Payload, limits: Limits) -> Reply:
        if isinstance(self._said, Exception):
            raise self._said
        return self._said  # type: ignore[return-value]  # what is none is a fault, too

    async def aclose(self) -> None:
        """Nothing runs."""


class Flag(Willing):
    """A tool that counts its calls. Implements Tool."""

    spec = ToolSpec(name="flag", description="Sets a flag.", parameters={"type": "object"})

    def __init__(self) -> None:
        self.calls = 0

    async def call(self, input: Any, context: CallContext) -> ToolResult:
        self.calls += 1
        return ToolResult(text="set")


class Account(Kept):
    """The account of one call that is guarded at *point*."""

    def __init__(self, point: type[Event]) -> None:
        super().__init__()
        self._point = point

    @property
    def asked(self) -> list[Resolution]:
        """What came of each event at that point."""
        resolutions = [record.resolution for record in self.of(Dispatched)]
        return [each for each in resolutions if isinstance(each.event, self._point)]

    @property
    def outcomes(self) -> list[Outcome]:
        """How the hook's turns ended: from the resolutions and, of those that nobody waited for, from their records."""
        waited = [outcome for resolution in self.asked for outcome in resolution.outcomes]
        return [*waited, *(each.outcome for each in self.of(HookEnded) if each.outcome.hook.background)]


MUSE = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]}}
MEERKAT = """
[[hooks.entries]]
id = "guard"
point = "pre_tool_execution"
mode = "{mode}"
capability = "{capability}"
runtime = {{ type = "command", command = "guard" }}
"""


def hooks_of(case: Case, folder: Path) -> tuple[Hook, ...]:
    """The one hook of a case, out of a file of its dialect, or registered as anybody would."""
    match case.dialect:
        case "muse":
            file = folder / "hooks.json"
            text = json.dumps(MUSE)
            in_background = '"command": "guard", "async": true'
            file.write_text(text.replace('"command": "guard"', in_background) if case.mode == "background" else text)
        case "meerkat":
            file = folder / "hooks.toml"
            capability = {"guard": "guardrail", "observer": "observe"}[case.commits]
            file.write_text(MEERKAT.format(mode=case.mode, capability=capability))
        case "murmur":
            return _staged(folder)
        case _:
            return _registered(case)
    return hl.load(file, env={"PATH": "/bin", "HOME": str(folder)}).hooks()


def _staged(folder: Path) -> tuple[Hook, ...]:
    """A policy hook of a capsule."""
    where = Where(file=str(folder / "murmur.yaml"), label="murmur.yaml")
    artifact = Artifact(name="guard", version="1.0.0", kind=ArtifactKind.HOOK, where=where)
    target = ComponentTarget(subject="hook 'guard'", path=folder / "guard.wasm", interfaces=INTERFACES)
    guard = Staged(
        artifact=artifact, version="1.0.0", binding="on-tool-call", policy="deny", target=target, stage_target=target
    )
    capsule = Capsule(name="capsule", version="1.0.0", path=folder / "murmur.yaml", artifacts=(artifact,))
    return murmur_hooks_of(capsule, [guard])


def _registered(case: Case) -> tuple[Hook, ...]:
    engine = hl.new_engine()

    def guard(event: hl.BeforeToolCall) -> hl.Deny | None:
        raise NotImplementedError  # the adapter answers in its place

    def observer(event: hl.BeforeToolCall) -> None:
        raise NotImplementedError

    engine.on(hl.BeforeToolCall)(guard if case.commits == "guard" else observer)
    return tuple(replace(hook, background=case.mode == "background") for hook in engine.hooks())


@dataclass(frozen=True)
class Lived:
    """What was left of a session."""

    result: RunResult
    calls: int  # that reached the tool
    account: Account


async def lived(case: Case, folder: Path) -> Lived:
    """A session in which the model asks for one tool call, with the case's hook before it."""
    flag, account = Flag(), Account(POINT[case.dialect])
    canned = Canned(case.said)
    hooks = hooks_of(case, folder)
    adapters: Any = {CommandTarget: canned, FunctionTarget: canned, ComponentTarget: canned}
    text = '"' * (LARGE // 2 if case.fault == OVERSIZE else 1)  # each takes two bytes in JSON, and here one
    script = f"steps: [{{call: {{tool: flag, input: {{text: '{text}'}}}}}}, {{say: done}}]"
    async with (
        hl.new_engine(hooks=hooks, adapters=adapters, strict=case.strict) as engine,
        hl.Session(
            engine, model=hl.ScriptModel.parse(script), tools=[flag], workspace=folder, journals=account
        ) as session,
    ):
        result = await session.run("go")
    return Lived(result, flag.calls, account)


def consequence(lived: Lived) -> str:
    """The table's word for what has happened."""
    [asked], [outcome] = lived.account.asked, lived.account.outcomes
    match lived.result.ending.value, lived.calls:
        case "failed", 0:
            return "run failed"
        case "completed", 0:
            return "blocked"
        case "completed", 1 if asked.unheard():
            return "called"
        case "completed", 1 if outcome.answer is not None and outcome.answer.doubt and not outcome.hook.background:
            return "doubtful"
        case "completed", 1 if outcome.why is not None or (outcome.answer is not None and outcome.answer.notes):
            return "ignored"
        case "completed", 1:
            return "answered"
        case ending:
            return str(ending)


CASES = [pytest.param(case, id=str(case)) for case in cases()]


@pytest.mark.parametrize("case", CASES)
async def test_consequence(case: Case, tmp_path: Path) -> None:
    """The call is made or not as the table says; whatever the end, the account has the hook, and says how it ended."""
    what = await lived(case, tmp_path)

    assert case.becomes == consequence(what)
    [asked], [outcome] = what.account.asked, what.account.outcomes
    hook = outcome.hook.id
    match case.becomes:
        case "called":
            assert asked.unheard() == (outcome,)
            assert outcome.detail
        case "blocked":
            [ended] = what.account.of(CallEnded)
            denied, failed = REFUSED[case.dialect]
            assert ended.text.startswith((denied if case.fault == DENIAL else failed).format(hook=hook))
            assert (ended.status.value, what.account.of(CallStarted)) == ("refused", [])
        case "run failed":
            assert what.result.reason == f"hook {hook} failed: {outcome.detail}"
            assert what.account.of(CallStarted) == []
        case "doubtful":
            assert outcome.answer is not None
            assert outcome.answer.doubt in outcome.answer.notes
        case _:
            assert what.result.text == "done"


def test_no_guard_is_ignored() -> None:
    """Over the table: what may deny is ignored nowhere; strict lets no fault pass, and but for Muse nobody does."""
    guards = [case for case in cases() if case.commits == "guard" and case.becomes != "answered"]

    assert {case.becomes for case in guards} == {"called", "doubtful", "blocked", "run failed"}
    lets_pass = {(case.dialect, case.strict) for case in guards if case.becomes in ("called", "doubtful")}
    assert lets_pass == {("muse", False)}


def test_the_table_is_whole() -> None:
    """Every dialect has its rows, each of them with and without strict, and no word in them is not a fault."""
    named = {fault for row in ROWS for fault in row.get("but", ())}
    rows = [tuple(row[side] for side in SIDES) for row in ROWS]

    assert named <= set(FAULTS)
    assert {dialect for dialect, *_ in rows} == {package.dialect.name for package in PACKAGES}
    assert len(set(rows)) == len(rows)
    assert {(*others, not strict) for *others, strict in rows} == set(rows)

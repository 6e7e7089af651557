"""How long it takes to show a journal, and whether the memory for that grows with it."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from figures import TARGETS, interleaved, median, print_heading, print_table, target

from hookline._core import records as rec
from hookline._core.answer import Answer
from hookline._core.decisions import Deny
from hookline._core.effects import AddContext, RewriteInput
from hookline._core.events import AfterToolCall, BeforeModelCall, BeforeRun, BeforeToolCall
from hookline._core.hooks import Hook, Source
from hookline._core.messages import Message, ToolCall
from hookline._core.outcomes import Kind, Outcome
from hookline._core.payload import Exited
from hookline._core.points import Event, Origin
from hookline._core.reasons import Failure
from hookline._core.resolution import Applied, Resolution
from hookline._core.targets import CommandTarget
from hookline.journal import Journal

SIZES = (100_000, 1_000_000)
ROUNDS = 3
STEPS = 20  # of a run
LISTED = 2_000  # sessions in a folder, for the list

COMMANDS = {"trace": [], "trace --report": ["--report"], "trace --json": ["--json"]}

INPUT = {"command": "python -m pytest tests/unit -q --maxfail=1", "description": "run the tests that changed"}
OUTPUT = "collected 412 items\n" + "tests/unit/test_engine.py ............ [ 25%]\n" * 12

# Runs the command as its own program would, and says last how much memory it ever took.
PEAK = """
import sys
from pathlib import Path
from hookline._cli.main import run
code = run(sys.argv[1:])
(peak,) = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
print(peak, file=sys.stderr)
sys.exit(code)
"""


def command_hook(number: int, event: type[Event], **more: object) -> Hook:
    return Hook(
        id=f"hooks.json:{event.__name__}[{number}].hooks[0]",
        event=event,
        target=CommandTarget(argv=("/bin/sh",), env={}),
        dialect="muse",
        source=Source(layer="project", label="hooks.json", path="/project/.muse/hooks.json"),
        **more,  # type: ignore[arg-type]
    )


GUARDS = [command_hook(number, BeforeToolCall, commits=frozenset({Deny, RewriteInput})) for number in range(3)]
AUDITOR = command_hook(0, AfterToolCall, background=True)


def outcome_of(hook: Hook, number: int) -> Outcome:
    """Mostly an answer; now and then a denial, a timeout, a crash."""
    shared = {"hook": hook, "started": 1_790_000_000.0 + number, "queued": 0.0003, "ran": 0.004 + number % 97 / 5_000}
    reply = Exited(code=0, stdout=b"{}", stderr=b"", stdin_read=900, stdin_size=900, left_behind=0)
    match number % 50:
        case 7:
            detail = "hook timed out after 5s"
            return Outcome(kind=Kind.FAILED, why=Failure.TIMEOUT, detail=detail, **shared)  # type: ignore[arg-type]
        case 11:
            return Outcome(kind=Kind.FAILED, why=Failure.EXIT_CODE, detail="exited with 3", **shared)  # type: ignore[arg-type]
        case 13:
            answer = Answer(decision=Deny("not in this project"))
            return Outcome(kind=Kind.ANSWERED, answer=answer, reply=reply, **shared)  # type: ignore[arg-type]
        case _:
            return Outcome(kind=Kind.ANSWERED, answer=Answer(), reply=reply, **shared)  # type: ignore[arg-type]


def records(session: str) -> Iterator[rec.Record]:
    """A session that never ends: runs of some steps, each a model call and one tool call with four hooks."""
    origin = Origin(session_id=session, cwd="/project")
    yield rec.SessionOpened(origin=origin, source="startup", workspace="/project", hooks=4)
    number = 0
    while True:
        run = f"run-{number:012}"
        yield rec.RunStarted(origin=Origin(session_id=session, run_id=run), prompt="fix the build")
        yield from a_dispatch(BeforeRun(origin=Origin(session_id=session, run_id=run), prompt="fix the build"), ())
        for step in range(STEPS):
            number += 1
            yield from a_step(Origin(session_id=session, run_id=run, step=step), number)
        yield rec.RunEnded(origin=Origin(session_id=session, run_id=run), ending=rec.Ending.COMPLETED, text="done")


def a_step(origin: Origin, number: int) -> Iterator[rec.Record]:
    call = ToolCall(id=f"call-{number}", name="bash", input=INPUT)
    yield from a_dispatch(
        BeforeModelCall(origin=origin, provider="echo", messages=(Message(role="user", text="x"),) * 30), ()
    )
    usage = {"input_tokens": 1200, "output_tokens": 90}
    yield rec.ModelCalled(origin=origin, request_id=f"r-{number}", status="success", duration=1.2, usage=usage)
    yield rec.MessageAdded(origin=origin, message=Message(role="assistant", text="I run the tests.", calls=(call,)))
    asked = BeforeToolCall(origin=origin, tool_name="bash", input=INPUT, call_id=call.id)
    outcomes = tuple(outcome_of(hook, number + place) for place, hook in enumerate(GUARDS))
    yield from a_dispatch(asked, outcomes)
    yield rec.CallStarted(origin=origin, call_id=call.id, tool="bash", input=INPUT)
    yield rec.CallEnded(
        origin=origin, call_id=call.id, tool="bash", status=rec.CallStatus.DONE, text=OUTPUT, duration=0.8
    )
    told = AfterToolCall(origin=origin, tool_name="bash", input=INPUT, call_id=call.id, text=OUTPUT)
    yield rec.HookStarted(origin=origin, hook=AUDITOR, event=told)
    yield from a_dispatch(told, ())
    yield rec.MessageAdded(origin=origin, message=Message(role="tool", text=OUTPUT, call_id=call.id))
    yield rec.HookEnded(origin=origin, outcome=outcome_of(AUDITOR, number), event=told)


def a_dispatch(event: Event, outcomes: tuple[Outcome, ...]) -> Iterator[rec.Record]:
    for outcome in outcomes:
        yield rec.HookStarted(origin=event.origin, hook=outcome.hook, event=event)
    for outcome in outcomes:
        yield rec.HookEnded(origin=event.origin, outcome=outcome, event=event)
    applied = tuple(Applied(outcome.hook.id, AddContext("look at the tests first")) for outcome in outcomes[:1])
    resolution = Resolution(event=event, outcomes=outcomes, applied=applied)
    yield rec.Dispatched(origin=event.origin, event=event, resolution=resolution, duration=0.012)


def write(folder: Path, session: str, lines: int) -> Path:
    journal = Journal.create(folder, session)
    for _, record in zip(range(lines), records(session), strict=False):
        journal.record(record)
    journal.close()
    return journal.path


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds and MB that a command took. Zero lines give what it takes at all."""

    seconds: float
    memory: float


def run(arguments: list[str], state: Path) -> Run:
    env = {"HOME": str(state), "XDG_STATE_HOME": str(state), "PATH": os.defpath}
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", PEAK, "trace", *arguments],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Run(time.perf_counter() - begun, int(done.stderr.split()[-1]) / 1024)


def measure(state: Path) -> dict[tuple[str, int], list[Run]]:
    cases = [(name, size) for name in COMMANDS for size in SIZES]
    runs: dict[tuple[str, int], list[Run]] = {case: [] for case in cases}
    for name, size in interleaved(cases, ROUNDS):
        runs[name, size].append(run([*COMMANDS[name], f"lines-{size}"], state))
    return runs


def main() -> None:
    print_heading(f"journals, {ROUNDS} interleaved rounds")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        paths = {size: write(state / "hookline" / "sessions", f"lines-{size}", size) for size in SIZES}
        sizes = {size: path.stat().st_size / 1e6 for size, path in paths.items()}
        runs = measure(state)
        listed = measure_list(state / "many")
    small, large = SIZES
    rows, targets = [], []
    for name in COMMANDS:
        seconds = {size: median([each.seconds for each in runs[name, size]]) for size in SIZES}
        memory = {size: median([each.memory for each in runs[name, size]]) for size in SIZES}
        each = [f"{seconds[size] / (size / 100_000):.2f}" for size in SIZES]
        rows.append([name, *each, *(f"{memory[size]:.1f}" for size in SIZES)])
        targets.append(target(f"memory of {name}, {large} over {small}", memory[large] / memory[small], 1.1, "x"))
    print_table(["", "s per 100k, 100k", "s per 100k, 1M", "peak MB, 100k", "peak MB, 1M"], rows)
    print(f"\nthe journals: {sizes[small]:.0f} and {sizes[large]:.0f} MB")
    print(f"trace --list of {LISTED} sessions of 200 lines: {listed:.2f} s")
    print_table(TARGETS, targets)
    print(f"\n{time.monotonic() - begun:.0f} seconds")


def measure_list(state: Path) -> float:
    """Seconds for a folder of many sessions, of which all but the first are copies under other names."""
    folder = state / "hookline" / "sessions"
    content = write(folder, "s-0", 200).read_bytes()
    for number in range(1, LISTED):
        (folder / f"s-{number}.jsonl").write_bytes(content)
    return median([run(["--list"], state).seconds for _ in range(ROUNDS)])


if __name__ == "__main__":
    main()

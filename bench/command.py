"""One command hook beside bare `Popen`, eight at once beside asyncio's own, and the return after a timeout."""

import asyncio
import gc
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path

from figures import TARGETS, interleaved, median, p95, print_heading, print_table, target
from survivors import ENVIRONMENT, survivors

import hookline as hl
from hookline._core.hooks import Hook
from hookline._core.payload import Exited
from hookline._core.points import Origin
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget
from hookline.adapters.command import GRACE

ROUNDS = 400
AT_ONCE = 8
PAYLOAD_BYTES = 2048

LIMIT = 0.2  # seconds; long enough for each command below to have started its children
SLACK = 0.05
TIMEOUTS_EACH = 5

# How a hook may hang, and whether it is still there when the grace is over.
HANGING = {
    "obeys SIGTERM": ("sleep 60", False),
    "ignores SIGTERM": ("trap '' TERM; sleep 60", True),
    "child in a session of its own": ("setsid sleep 60 & sleep 60", False),
    "the same, ignoring SIGTERM": ("trap '' TERM; setsid sleep 60 & sleep 60", True),
    "orphan in a session of its own": ("(setsid sleep 60 &); sleep 60", False),
    "the same, silent": ("(setsid sleep 60 >/dev/null 2>&1 </dev/null &); sleep 60", False),
}

Call = Callable[[], Awaitable[object]]


def loaded_hook(folder: Path) -> Hook:
    """A hook as it comes out of a file, with the shell and the environment that it gets there."""
    path = folder / "hooks.json"
    handler = {"type": "command", "command": "exit 0", "timeout": 5}
    path.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}))
    (hook,) = hl.load(path, env={**os.environ, "SHELL": "/bin/sh"}).hooks()
    return hook


def hanging_hook(hook: Hook, name: str, command: str) -> Hook:
    shell = CommandTarget(argv=("/bin/sh", "-c", command), env=ENVIRONMENT)
    return replace(hook, id=name, target=shell, matcher=hl.names(name), timeout=LIMIT)


def tool_call(folder: Path, *, tool: str = "bash", padding: int = 0) -> hl.BeforeToolCall:
    origin = Origin(session_id="session-1", run_id="run-1", cwd=str(folder))
    return hl.BeforeToolCall(tool_name=tool, input={"command": "x" * padding}, call_id="call-1", origin=origin)


async def payload_size(engine: hl.HookEngine, event: hl.BeforeToolCall) -> int:
    (outcome,) = (await engine.dispatch(event)).outcomes
    if not isinstance(outcome.reply, Exited):
        raise TypeError(f"the hook did not run: {outcome}")
    return outcome.reply.stdin_size


async def bare_popen(target: CommandTarget, payload: bytes, folder: Path) -> None:
    pipe = subprocess.PIPE
    process = subprocess.Popen(  # noqa: ASYNC220  # that it blocks is what is measured
        target.argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=dict(target.env)
    )
    process.communicate(payload)


async def bare_asyncio(target: CommandTarget, payload: bytes, folder: Path) -> None:
    pipe = subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *target.argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=dict(target.env)
    )
    await process.communicate(payload)


async def measured(cases: Mapping[str, Call]) -> dict[str, list[float]]:
    """Milliseconds of every call."""
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for call in cases.values():
        await call()
    gc.collect()
    gc.freeze()
    for name in interleaved(cases, ROUNDS):
        begun = time.perf_counter()
        await cases[name]()
        samples[name].append((time.perf_counter() - begun) * 1000)
    return samples


async def measure_calls(folder: Path) -> dict[str, list[float]]:
    hook = loaded_hook(folder)
    copies = [replace(hook, id=f"{hook.id}, copy {number}") for number in range(AT_ONCE)]
    bare = hook.target
    async with hl.new_engine(hooks=[hook]) as one, hl.new_engine(hooks=copies) as many:
        event = tool_call(folder, padding=PAYLOAD_BYTES - await payload_size(one, tool_call(folder)))
        payload = b"x" * await payload_size(one, event)
        recorded = one.recording(hl.JournalFolder(folder / "journals", env={}).recorder("session-1"))
        if not isinstance(bare, CommandTarget):
            raise TypeError(f"{hook.id} is no command hook")
        return await measured(
            {
                "Popen": lambda: bare_popen(bare, payload, folder),
                "hookline": lambda: one.dispatch(event),
                "hookline, journal on": lambda: recorded.dispatch(event),
                "asyncio": lambda: bare_asyncio(bare, payload, folder),
                "8 x hookline": lambda: many.dispatch(event),
                "8 x asyncio": lambda: asyncio.gather(*(bare_asyncio(bare, payload, folder) for _ in range(AT_ONCE))),
            }
        )


async def measure_timeouts(folder: Path) -> tuple[dict[str, list[float]], int]:
    """Milliseconds past the limit until the event was resolved, by name; and how many processes were left by then."""
    hook = loaded_hook(folder)
    hooks = [hanging_hook(hook, name, command) for name, (command, _) in HANGING.items()]
    ready = replace(hook, matcher=hl.names("ready"))
    late: dict[str, list[float]] = {name: [] for name in HANGING}
    left = 0
    async with hl.new_engine(hooks=[ready, *hooks]) as engine:
        await engine.dispatch(tool_call(folder, tool="ready"))  # what the first call starts is not timed
        for _ in range(TIMEOUTS_EACH):
            for name in HANGING:
                begun = time.perf_counter()
                (outcome,) = (await engine.dispatch(tool_call(folder, tool=name))).outcomes
                late[name].append((time.perf_counter() - begun - LIMIT) * 1000)
                left += len(survivors())
                if outcome.why is not Failure.TIMEOUT:
                    raise RuntimeError(f"{name} did not time out: {outcome}")
    return late, left


def report(calls: Mapping[str, list[float]], late: Mapping[str, list[float]], left: int) -> None:
    middle = {name: median(taken) for name, taken in calls.items()}
    tail = {name: p95(taken) for name, taken in calls.items()}
    print_table(
        ["milliseconds", "p50", "p95"],
        ([name, f"{middle[name]:.2f}", f"{tail[name]:.2f}"] for name in calls),
    )
    print_table(
        [f"milliseconds past a limit of {LIMIT * 1000:.0f}, by how the hook hangs", "median", "most"],
        ([name, f"{median(taken):.1f}", f"{max(taken):.1f}"] for name, taken in late.items()),
    )
    quick = max(max(late[name]) for name, (_, stays) in HANGING.items() if not stays)
    stubborn = max(max(late[name]) for name, (_, stays) in HANGING.items() if stays)
    print_table(
        TARGETS,
        [
            target("one hook / Popen, p50", middle["hookline"] / middle["Popen"], 1.3, "x"),
            target("one hook / Popen, p95", tail["hookline"] / tail["Popen"], 1.3, "x"),
            target("8 at once / asyncio.gather, p50", middle["8 x hookline"] / middle["8 x asyncio"], 0.75, "x"),
            target("past the limit, ending on SIGTERM", quick, SLACK * 1000, " ms"),
            target("past the limit, to be killed", stubborn, (GRACE + SLACK) * 1000, " ms"),
            target("processes left after a timeout", left, 0, ""),
        ],
    )


def main() -> None:
    print_heading(f"command hooks, `/bin/sh -c 'exit 0'`, {PAYLOAD_BYTES} bytes to read, {ROUNDS} interleaved rounds")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calls = asyncio.run(measure_calls(folder))
        late, left = asyncio.run(measure_timeouts(folder))
    report(calls, late, left)


if __name__ == "__main__":
    main()

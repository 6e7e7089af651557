"""Replaying long journals: seconds, and the most memory that it takes, with ten times as many lines."""

import asyncio
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import TARGETS, print_heading, print_table, target

import hookline as hl
from hookline.workbench.opening import Chosen
from hookline.workbench.replay import replay
from hookline.workbench.replayed import Replayed

LINES = (100_000, 1_000_000)

STEPS = """\
steps:
  - {calls: [{tool: read_file, input: {path: a}}, {tool: read_file, input: {path: b}}]}
  - {call: {tool: read_file, input: {path: c}}}
  - {say: done}
"""

HOOK = """\
[[hooks.entries]]
id = "judge"
point = "{point}"
capability = "guardrail"
runtime = {{ type = "in_process", handler = "judge" }}
"""

# What each case is asked about: calls alone, for which no conversation is kept, or what is sent to the model.
POINTS = {"tool calls": "pre_tool_execution", "model calls": "pre_llm_request"}

SEQ = re.compile(rb'^\{"v":1,"seq":\d+')


async def record(folder: Path) -> None:
    """A session of one run whose conversation is cleared behind it, so that its lines can be repeated."""
    tools = [tool for tool in hl.tools() if tool.spec.name == "read_file"]
    journals = hl.JournalFolder(folder)
    model = hl.ScriptModel.parse(STEPS)
    async with hl.new_engine() as engine, hl.Session(engine, model=model, tools=tools, journals=journals) as session:
        await session.run("look at everything")
        await session.clear()


def write(path: Path, block: list[bytes], lines: int) -> None:
    """A journal of about that many lines, whole runs of them."""
    with path.open("wb") as file:
        number = 0
        while number < lines:
            for line in block:
                number += 1
                file.write(SEQ.sub(b'{"v":1,"seq":%d' % number, line))


def most_memory() -> float:
    """The most that this process ever held, in MB: `ru_maxrss` would count that of whoever started it, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def abstain(envelope: object) -> None:
    """The hook: it has nothing to say."""


async def measured(path: Path, config: Path) -> None:
    """Replay *path* and print seconds, megabytes, events and how many of them were asked about."""
    handlers = hl.Handlers()
    handlers.register("judge", abstain)
    since = time.perf_counter()
    found = [each async for each in replay(path, Chosen(files=(config,), handlers=handlers))]
    took = time.perf_counter() - since
    (ended,) = found
    if not isinstance(ended, Replayed) or not ended.is_fine:
        raise SystemExit(f"nothing was to be found: {found}")
    print(took, most_memory(), ended.events, ended.asked)


def replayed(path: Path, config: Path) -> tuple[float, float, int, int]:
    """The same in a process of its own, whose memory is that of the replay alone."""
    command = [sys.executable, __file__, str(path), str(config)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    took, most, events, asked = ran.stdout.split()
    return float(took), float(most), int(events), int(asked)


def main() -> None:
    print_heading("replay of long journals")
    rows, ratios = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(record(folder / "recorded"))
        (recorded,) = (folder / "recorded").glob("*.jsonl")
        block = recorded.read_bytes().splitlines(keepends=True)
        for lines in LINES:
            write(folder / f"{lines}.jsonl", block, lines)
        for case, point in POINTS.items():
            config = folder / "config.toml"
            config.write_text(HOOK.format(point=point))
            most = []
            for lines in LINES:
                path = folder / f"{lines}.jsonl"
                took, memory, events, asked = replayed(path, config)
                most.append(memory)
                size = path.stat().st_size / 1e6
                told = (f"{lines:,}", f"{size:.0f}", f"{events:,}", f"{asked:,}", f"{took:.1f}", f"{memory:.1f}")
                rows.append((case, *told))
            ratios.append(target(f"memory of {case}, ten times the lines", most[1] / most[0], 1.1, "x"))
    print_table(("asked about", "lines", "MB", "events", "asked", "seconds", "most MB"), rows)
    print_table(TARGETS, ratios)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(measured(*map(Path, sys.argv[1:])))
    else:
        main()

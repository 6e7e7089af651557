"""Each input once: processes that share a queue in PostgreSQL admit and work on thousands of inputs.

The processes admit at the same time as they work, and a fifth of the inputs has a key that another one has, which as a
rule another process admits. Ends with 1 if an input was lost, run twice, or run although its key was used.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures import print_heading

import hookline as hl
from hookline._core.inputs import Input, InputKind
from hookline._core.messages import Message
from hookline.session import ModelReply, ModelRequest
from hookline.session.admission.postgres import PostgresStore
from hookline.session.peers.exchange import Peers
from hookline.session.peers.jetstream import NatsTransport
from hookline.session.peers.queueing import Place

POSTGRES = os.environ.get("HOOKLINE_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")
NATS = os.environ.get("HOOKLINE_TEST_NATS", "nats://127.0.0.1:4222")
LONG = 0.6  # seconds that the last input takes, in which whoever has nothing to do must not take it over
REPEATED = 0.2  # of the inputs have a key that another has
ROOM = 16 * 1024 * 1024  # bytes, which a NATS server sets aside for a stream


@dataclass(frozen=True, slots=True)
class Given:
    label: str
    key: str


def given(count: int, seed: int) -> list[Given]:
    """*count* inputs in the order of their admission, dealt out to the processes in turns. The last has its own key."""
    chance = random.Random(seed)  # noqa: S311 - an order is no secret
    fresh = count - round(count * REPEATED)
    keys = [f"key-{number}" for number in range(fresh - 1)]
    keys += [chance.choice(keys) for _ in range(count - fresh)]
    chance.shuffle(keys)
    return [Given(f"work-{number}", key) for number, key in enumerate([*keys, f"key-{fresh - 1}"])]


class Logging:
    """A model that notes each call in a file. The input *last* takes it long."""

    name = "unknown"
    provider = "model.unknown.response"
    provider_known = False

    def __init__(self, log: Path, last: str) -> None:
        self._last = last
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    async def complete(self, request: ModelRequest) -> ModelReply:
        label = next(message.text for message in reversed(request.messages) if message.role == "user")
        os.write(self._log, f"{label}\n".encode())
        if label == self._last:
            await asyncio.sleep(LONG)
        return ModelReply(text=f"did {label}", finish_reason="stop")

    async def summarise(self, messages: Sequence[Message]) -> str:
        return f"{len(messages)} messages"

    def for_child(self, kind: str) -> "Logging":
        return self


async def work(number: int, options: argparse.Namespace) -> None:
    """One of the processes: admits its part, works until nothing is left anywhere, and prints what it admitted."""
    peers = None
    if options.nats:
        place = Place(f"{options.name}", f"hookline.{options.name}", ROOM)
        peers = Peers(f"{options.name}-{number}", NatsTransport(options.nats, place=place))
    everything = given(options.inputs, options.seed)
    outcomes: Counter[str] = Counter()
    existing: dict[str, str] = {}
    async with PostgresStore(options.place) as store:
        session = hl.Session(
            hl.new_engine(),
            model=Logging(options.folder / f"runs-{number}", everything[-1].label),
            workspace=options.folder,
            inputs=store,
            queue=f"rt:{options.name}",
            peers=peers,
        )
        async with session:
            serving = asyncio.create_task(session.serve())
            for each in everything[number :: options.processes]:
                made = Input(id=str(uuid.uuid4()), kind=InputKind.PROMPT, text=each.label, key=each.key)
                admission = await session.admit(made)
                outcomes[type(admission).__name__.lower()] += 1
                if hasattr(admission, "existing"):
                    existing[each.label] = admission.existing
            print("admitted", flush=True)
            await asyncio.to_thread(sys.stdin.readline)  # which comes when the others have admitted theirs too
            await session.runtime.worked_off()
            serving.cancel()
            await asyncio.wait({serving})
            if not serving.cancelled() and (fault := serving.exception()) is not None:
                raise fault
    print(json.dumps({"outcomes": outcomes, "existing": existing}), flush=True)


async def measure(options: argparse.Namespace) -> bool:
    """Start the processes, read what they did, and print it. Whether each input was run exactly once."""
    import asyncpg  # type: ignore[import-untyped]

    options.name = f"exactly_once_{os.getpid()}_{random.getrandbits(32):08x}"
    options.place = f"{options.postgres}{'&' if '?' in options.postgres else '?'}search_path={options.name}"
    connection = await asyncpg.connect(options.postgres)
    try:
        await connection.execute(f'CREATE SCHEMA "{options.name}"')
        await connection.execute(f'SET search_path = "{options.name}"')
        began = time.monotonic()
        reports = await run_all(options)
        seconds = time.monotonic() - began
        inputs = await connection.fetch("SELECT input_id, phase, attempt, body FROM hookline_inputs")
        events = await connection.fetch("SELECT seq, input_id FROM hookline_events ORDER BY seq")
    finally:
        await connection.execute(f'DROP SCHEMA "{options.name}" CASCADE')
        await connection.close()
        await drop_stream(options)
    return told(options, reports, inputs, events, seconds)


async def run_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """What each process printed at its end."""
    command = [sys.executable, __file__, "--place", options.place, "--name", options.name, "--nats", options.nats]
    command += ["--inputs", str(options.inputs), "--processes", str(options.processes), "--seed", str(options.seed)]
    command += ["--folder", str(options.folder)]
    pipe = asyncio.subprocess.PIPE
    processes = [
        await asyncio.create_subprocess_exec(*command, "--number", str(number), stdin=pipe, stdout=pipe, limit=1 << 26)
        for number in range(options.processes)
    ]
    try:
        for process in processes:
            if process.stdout is None or await process.stdout.readline() != b"admitted\n":
                raise SystemExit(f"process {process.pid} ended before it had admitted its inputs")
        said = await asyncio.gather(*(process.communicate(b"\n") for process in processes))
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                await process.wait()
    if any(process.returncode for process in processes):
        raise SystemExit("a process failed")
    return [json.loads(out) for out, _ in said]


async def drop_stream(options: argparse.Namespace) -> None:
    if not options.nats:
        return
    import nats
    from nats.js.errors import NotFoundError

    client = await nats.connect(options.nats)
    try:
        await client.jetstream().delete_stream(options.name)
    except NotFoundError:  # it was never made
        pass
    finally:
        await client.close()


def told(
    options: argparse.Namespace, reports: Sequence[dict[str, Any]], inputs: Any, events: Any, seconds: float
) -> bool:
    """Print the figures, and say whether each input was run exactly once."""
    everything = given(options.inputs, options.seed)
    keys = {each.label: each.key for each in everything}
    logs = [options.folder / f"runs-{number}" for number in range(options.processes)]
    runs = [Counter(log.read_text().split()) if log.exists() else Counter() for log in logs]
    by_label = sum(runs, Counter())
    owners = {bytes(which).decode(): json.loads(bytes(body))["text"] for which, _, _, body in inputs}
    by_key = Counter(keys[label] for label in by_label.elements())
    outcomes = sum((Counter(report["outcomes"]) for report in reports), Counter())
    wrong = [
        label
        for report in reports
        for label, existing in report["existing"].items()
        if keys.get(owners.get(existing, "")) != keys[label]
    ]
    missing = set(keys.values()) - set(by_key)
    unfinished = sum(phase != "consumed" for _, phase, _, _ in inputs)
    print_heading(f"{options.processes} processes, one queue: each input once")
    print()
    print(f"given                 {len(everything)}")
    print(f"keys                  {len(set(keys.values()))}")
    print(f"admitted              {outcomes['accepted']}")
    print(f"deduplicated          {outcomes['deduplicated']}, {len(wrong)} of them to another key")
    print(f"rejected              {outcomes['rejected']}")
    print(f"runs per process      {', '.join(str(each.total()) for each in runs)}")
    print(f"runs per input, most  {max(by_key.values(), default=0)}")
    print(f"attempts, most        {max((attempt for _, _, attempt, _ in inputs), default=0)}")
    print(f"missing               {len(missing)}")
    print(f"unfinished            {unfinished}")
    print(f"events                {len(events)}")
    print(f"seconds               {seconds:.1f}")
    is_once = (
        outcomes == Counter(accepted=len(set(keys.values())), deduplicated=len(keys) - len(set(keys.values())))
        and set(by_key.values()) == {1}
        and set(by_label) == set(owners.values())
        and not (wrong or missing or unfinished)
        and [seq for seq, _ in events] == list(range(1, len(inputs) + 1))
        and {bytes(which).decode() for _, which in events} == set(owners)
    )
    print()
    print("exactly once" if is_once else "NOT exactly once")
    return is_once


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--inputs", type=int, default=10_000)
    read.add_argument("--processes", type=int, default=2)
    read.add_argument("--seed", type=int, default=1)
    read.add_argument("--postgres", default=POSTGRES, help="URL of the database; a schema of its own is made there")
    read.add_argument("--nats", default=NATS, help="URL of the server that the sessions are peers at; empty for none")
    for name in ("--number", "--name", "--place", "--folder"):  # said to the processes that this one starts
        read.add_argument(name, help=argparse.SUPPRESS)
    options = read.parse_args()
    if options.number is not None:
        options.folder = Path(options.folder)
        asyncio.run(work(int(options.number), options))
        return
    with tempfile.TemporaryDirectory() as folder:
        options.folder = Path(folder)
        is_once = asyncio.run(measure(options))
    raise SystemExit(0 if is_once else 1)


if __name__ == "__main__":
    main()

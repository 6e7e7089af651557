"""Every fault that a target may have, as data, with real processes and real handlers."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.adapters.rig import EVENT, GRACE, Hooks
from tests.unit.processes.rig import descriptors

from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply, Returned
from hookline._core.targets import CommandTarget, FunctionTarget
from hookline.adapters._drive import PATIENCE
from hookline.adapters.function import FunctionAdapter

FAULTS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text())

SLACK = 3.0  # for a machine that is busy with something else


class Handlers:
    """What the rows of functions call."""

    async def raises(self, _: Any) -> None:
        raise ValueError("bad\ninput")

    def raises_in_a_thread(self, _: Any) -> None:
        raise ValueError("bad\ninput")

    async def exits(self, _: Any) -> None:
        raise SystemExit(1)

    def exits_in_a_thread(self, _: Any) -> None:
        raise SystemExit(1)

    async def raises_a_timeout(self, _: Any) -> None:
        await asyncio.sleep(0)
        raise TimeoutError("mine")

    async def hangs(self, _: Any) -> None:
        await asyncio.Event().wait()

    def hangs_in_a_thread(self, _: Any) -> None:
        time.sleep(1)

    async def blocks(self, _: Any) -> str:
        time.sleep(0.1)  # noqa: ASYNC251 - blocking the loop is the fault
        return "too late"

    async def returns_garbage(self, _: Any) -> object:
        return [1, {"a": None}]

    def returns_garbage_from_a_thread(self, _: Any) -> object:
        return [1, {"a": None}]

    async def swallows_cancellation(self, _: Any) -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    async def answers_when_cancelled(self, _: Any) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "too late"
        return "not reached"


def filled(value: Any, directory: Path) -> Any:
    """A part of a row with {dir} replaced."""
    match value:
        case str():
            return value.replace("{dir}", str(directory))
        case list():
            return [filled(each, directory) for each in value]
        case dict():
            return {key: filled(each, directory) for key, each in value.items()}
        case _:
            return value


async def reply_to(row: dict[str, Any], hooks: Hooks, directory: Path) -> Reply:
    limits = Limits(row.get("timeout", 10), row.get("cap", 16_384))
    payload = Payload(EVENT, b"x" * row.get("body", 2), row.get("cwd", str(directory)))
    if "handler" in row:
        functions = FunctionAdapter()
        try:
            return await functions.call(FunctionTarget(getattr(Handlers(), row["handler"])), payload, limits)
        finally:
            await functions.aclose()
    argv = tuple(row["argv"]) if "argv" in row else ("/bin/sh", "-c", row["command"])
    return await hooks.adapter.call(CommandTarget(argv, hooks.env), payload, limits)


def seen(reply: Reply, member: str) -> Any:
    """One member of `want`, as the reply has it."""
    match member, reply:
        case "exited", Exited(code=code):
            return code
        case "returned", Returned(value=value):
            return value
        case "failed", CallFailed(why=why):
            return why.value
        case "exited" | "returned" | "failed", _:
            return reply
        case "stdout_size" | "stderr_size", _:
            return len(getattr(reply, member.removesuffix("_size")))
        case _:
            return getattr(reply, member)


def wanted(value: Any, member: str) -> Any:
    return value.encode() if member in ("stdout", "stderr") and isinstance(value, str) else value


@pytest.mark.parametrize("row", [pytest.param(row, id=f"{index}: {row['note']}") for index, row in enumerate(FAULTS)])
async def test_fault(row: dict[str, Any], tmp_path: Path) -> None:
    """Every fault has its one reply, in bounded time, and leaves neither a process nor a descriptor."""
    row = filled(row, tmp_path)
    if "file" in row:
        (tmp_path / "guard").write_text(row["file"]["text"])
        (tmp_path / "guard").chmod(0o755 if row["file"]["executable"] else 0o644)
    before, start = descriptors(), time.monotonic()
    hooks = Hooks()

    reply = await reply_to(row, hooks, tmp_path)

    took = time.monotonic() - start
    want = {member: wanted(value, member) for member, value in row["want"].items()}
    assert want == {member: seen(reply, member) for member in want}
    assert hooks.alive() == []
    deadline = row["timeout"] if want.get("failed") == "timeout" else 0
    assert took < deadline + max(GRACE, PATIENCE) + SLACK
    await hooks.adapter.aclose()
    assert descriptors() == before

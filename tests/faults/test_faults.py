"""Every fault that a target may have, as data, with real processes, real servers and real handlers."""

import asyncio
import inspect
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.engine_rig import idle
from tests.http_rig import (
    Peer,
    Step,
    answer,
    answers,
    floods,
    hangs,
    reads_nothing,
    resets,
    sends,
    sends_and_closes,
    serving,
    unused_port,
)
from tests.unit.adapters.rig import EVENT, GRACE, Hooks
from tests.unit.processes.rig import descriptors

from hookline._core.handlers import Handlers as Registry
from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply, Responded, Returned
from hookline._core.targets import CommandTarget, FunctionTarget, HttpTarget, NamedTarget
from hookline.adapters._drive import PATIENCE
from hookline.adapters.function import FunctionAdapter, NamedAdapter
from hookline.adapters.http import HttpAdapter

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


async def trickles(peer: Peer) -> None:
    """A byte at a time, each in time, and never the last one."""
    await peer.send(answer(b"", length=65_536))
    while True:
        await peer.send(b" ")
        await asyncio.sleep(0.01)  # being slow is the fault


async def slow_head(peer: Peer) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 65_536:
        await peer.send(bytes((byte,)))
        await asyncio.sleep(0.01)  # being slow is the fault


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
DENIAL = b'{"decision":{"decision":"deny"}}'

# What the rows of servers name. Each request gets one step, the last step again and again; None: nobody listens.
SERVERS: dict[str, tuple[Step, ...] | None] = {
    "is down": None,
    "answers": (answers(b"{}"),),
    "answers with a page": (answers(b"<html>", headers=("Content-Type: text/html",)),),
    "answers in ISO 8859": (answers(b"\xe9", headers=("Content-Type: application/json; charset=iso-8859-1",)),),
    "answers with nothing": (answers(b""),),
    "says that there is no content": (sends(b"HTTP/1.1 204 No Content\r\n\r\n"),),
    "is broken": (answers(DENIAL, status="500 Internal Server Error"),),
    "refuses": (answers(b"who are you?", status="401 Unauthorized"),),
    "has no words for its status": (sends(b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}"),),
    "says to go on first": (sends(b"HTTP/1.1 100 Continue\r\n\r\n" + answer(b"{}")),),
    "redirects elsewhere": (answers(b"there", status="302 Found", headers=("Location: http://127.0.0.1:9/",)),),
    "redirects to a file": (answers(b"there", status="302 Found", headers=("Location: file:///etc/passwd",)),),
    "redirects to no address": (answers(b"there", status="302 Found", headers=("Location: http://[",)),),
    "redirects without an address": (answers(b"there", status="302 Found"),),
    "redirects to itself": (answers(b"", status="307 Temporary Redirect", headers=("Location: /again",)),),
    "redirects and answers": (
        answers(b"", status="308 Permanent Redirect", headers=("Location: /moved",)),
        answers(b"{}"),
    ),
    "closes": (sends_and_closes(b""),),
    "resets": (resets,),
    "breaks off in its head": (sends_and_closes(b"HTTP/1.1 2"),),
    "breaks off in its body": (sends_and_closes(answer(b'{"dec', length=100)),),
    "breaks off in a chunk": (sends_and_closes(CHUNKED + b"64\r\n{}"),),
    "breaks off between chunks": (sends_and_closes(CHUNKED + b"2\r\n{}\r\n"),),
    "sends a chunk that is none": (sends(CHUNKED + b"two\r\n{}\r\n"),),
    "ends with its connection": (sends_and_closes(b"HTTP/1.1 200 OK\r\n\r\n{}"),),
    "speaks another protocol": (sends_and_closes(b"SSH-2.0-server\r\n"),),
    "sends two lengths": (sends(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),),
    "hangs": (hangs,),
    "trickles": (trickles,),
    "trickles its headers": (slow_head,),
    "sends half and hangs": (sends(answer(b'{"decision":', length=100)),),
    "fills the cap": (answers(b" " * 16_384),),
    "is one byte over the cap": (answers(b" " * 16_385),),
    "fills the cap in chunks": (sends(CHUNKED + b"4000\r\n" + b" " * 16_384 + b"\r\n0\r\n\r\n"),),
    "floods": (floods(answer(b"", length=1 << 40), b"x" * 65_536),),
    "floods in chunks": (floods(CHUNKED, b"1000\r\n" + b"x" * 4096 + b"\r\n"),),
    "floods with headers": (floods(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 4096 + b"\r\n"),),
    "compresses": (answers(b"\x1f\x8b", headers=("Content-Encoding: gzip",)),),
}

DEAF = "reads nothing"  # so it never hears that the client has gone


async def reply_of_server(row: dict[str, Any], payload: Payload, limits: Limits) -> Reply:
    """The reply of a server, which the adapter has left alone by the end; <origin> stands for where it listens."""
    deaf = row["http"] == DEAF
    steps = () if deaf else SERVERS[row["http"]]
    adapter = HttpAdapter()
    if steps is None:
        origin = f"http://127.0.0.1:{unused_port()}"
        reply = await adapter.call(HttpTarget(f"{origin}/hook"), payload, limits)
        await adapter.aclose()
    else:
        async with serving(*steps, greeting=reads_nothing if deaf else None) as server:
            origin = server.url.removesuffix("/hook")
            reply = await adapter.call(HttpTarget(server.url), payload, limits)
            await adapter.aclose()
            if not deaf:
                await server.left()
            assert len(server.requests) <= row.get("requests", 1)
        await idle()  # in which the server's own ends are closed
    return replace(reply, detail=reply.detail.replace(origin, "<origin>")) if isinstance(reply, CallFailed) else reply


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


def registry() -> Registry:
    """Every function of the rows, by its name."""
    known = Registry()
    for name, function in inspect.getmembers(Handlers(), inspect.ismethod):
        known.register(name, function)
    return known


async def reply_to(row: dict[str, Any], hooks: Hooks, directory: Path) -> Reply:
    limits = Limits(row.get("timeout", 10), row.get("cap", 16_384))
    payload = Payload(EVENT, b"x" * row.get("body", 2), row.get("cwd", str(directory)))
    if "http" in row:
        return await reply_of_server(row, payload, limits)
    if "named" in row:
        named = NamedAdapter(registry())
        try:
            return await named.call(NamedTarget(row["named"]), replace(payload, value={}), limits)
        finally:
            await named.aclose()
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
        case "responded", Responded(status=status):
            return status
        case "failed", CallFailed(why=why):
            return why.value
        case "exited" | "returned" | "responded" | "failed", _:
            return reply
        case "stdout_size" | "stderr_size" | "body_size", _:
            return len(getattr(reply, member.removesuffix("_size")))
        case _:
            return getattr(reply, member)


def wanted(value: Any, member: str) -> Any:
    return value.encode() if member in ("stdout", "stderr", "body") and isinstance(value, str) else value


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

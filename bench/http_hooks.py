"""One HTTP hook over a kept connection, beside a bare asyncio stream, aiohttp and httpx."""

import asyncio
import gc
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

import aiohttp
import httpx
from figures import TARGETS, interleaved, median, p95, print_heading, print_table, target

import hookline as hl
from hookline._core.payload import Limits, Payload, Responded
from hookline._core.targets import HttpTarget
from hookline.adapters.http import HttpAdapter

ROUNDS = 3000
WARM_UP = 200
PAYLOAD = b"x" * 2048
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
HEADERS = {"content-type": "application/json"}
LIMITS = Limits(timeout=5.0)

Call = Callable[[], Awaitable[object]]


class Answering(asyncio.Protocol):
    """Answers as soon as a whole request is there, and does nothing else: its time is in every figure."""

    def __init__(self) -> None:
        self._missing = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        _, _, body = data.partition(b"\r\n\r\n") if not self._missing else (b"", b"", data)
        self._missing = (self._missing or len(PAYLOAD)) - len(body)
        if not self._missing:
            self._transport.write(ANSWER)  # type: ignore[attr-defined]


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


@contextmanager
def serving() -> Iterator[int]:
    """The port of a server that runs in a program of its own."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, __file__, "serve"], stdin=pipe, stdout=pipe, text=True) as program:
        if program.stdout is None:
            raise RuntimeError("the server has no output")
        yield int(program.stdout.readline())
        program.communicate()


@asynccontextmanager
async def bare_stream(port: int) -> AsyncIterator[Call]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /hook HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(PAYLOAD)}\r\n\r\n".encode() + PAYLOAD

    async def call() -> bytes:
        writer.write(request)
        await writer.drain()
        await reader.readuntil(b"\r\n\r\n")
        return await reader.readexactly(2)

    try:
        yield call
    finally:
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def adapter(url: str) -> AsyncIterator[Call]:
    called = HttpAdapter()
    hook, payload = HttpTarget(url), Payload(hl.BeforeRun(prompt="go"), PAYLOAD)

    async def call() -> Responded:
        reply = await called.call(hook, payload, LIMITS)
        if not isinstance(reply, Responded):
            raise TypeError(f"the server did not answer: {reply}")
        return reply

    try:
        yield call
    finally:
        await called.aclose()


@asynccontextmanager
async def bare_aiohttp(url: str) -> AsyncIterator[Call]:
    async with aiohttp.ClientSession() as session:

        async def call() -> bytes:
            async with session.post(url, data=PAYLOAD, headers=HEADERS) as response:
                return await response.read()

        yield call


@asynccontextmanager
async def bare_httpx(url: str) -> AsyncIterator[Call]:
    async with httpx.AsyncClient() as client:

        async def call() -> bytes:
            return (await client.post(url, content=PAYLOAD, headers=HEADERS)).content

        yield call


async def measured(port: int) -> dict[str, list[float]]:
    """Microseconds of every call."""
    url = f"http://127.0.0.1:{port}/hook"
    async with (
        bare_stream(port) as stream,
        adapter(url) as hook,
        bare_aiohttp(url) as through_aiohttp,
        bare_httpx(url) as through_httpx,
    ):
        cases = {"asyncio stream": stream, "hookline": hook, "aiohttp": through_aiohttp, "httpx": through_httpx}
        for name in interleaved(cases, WARM_UP):
            await cases[name]()
        gc.collect()
        gc.freeze()
        samples: dict[str, list[float]] = {name: [] for name in cases}
        for name in interleaved(cases, ROUNDS):
            begun = time.perf_counter()
            await cases[name]()
            samples[name].append((time.perf_counter() - begun) * 1_000_000)
    return samples


def report(calls: Mapping[str, list[float]]) -> None:
    middle = {name: median(taken) for name, taken in calls.items()}
    print_table(
        ["microseconds", "p50", "p95"],
        ([name, f"{middle[name]:.0f}", f"{p95(taken):.0f}"] for name, taken in calls.items()),
    )
    print_table(
        TARGETS,
        [
            target("hookline / asyncio stream, p50", middle["hookline"] / middle["asyncio stream"], 1.5, "x"),
            target("hookline / aiohttp, p50", middle["hookline"] / middle["aiohttp"], 1.3, "x"),
            target("hookline / httpx, p50", middle["hookline"] / middle["httpx"], 0.75, "x"),
        ],
    )


def main() -> None:
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
        return
    print_heading(
        f"HTTP hooks, kept connections on loopback, {len(PAYLOAD)} bytes to read, {ROUNDS} interleaved rounds"
    )
    with serving() as port:
        calls = asyncio.run(measured(port))
    report(calls)


if __name__ == "__main__":
    main()

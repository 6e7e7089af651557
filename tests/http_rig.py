"""A server of raw bytes that does what it is told to, right or wrong, and keeps count of what reaches it."""

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Request:
    """One request as it came."""

    head: bytes
    body: bytes

    @property
    def line(self) -> str:
        return self.head.partition(b"\r\n")[0].decode()

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Names in lower case."""
        lines = self.head.decode().split("\r\n")[1:]
        return [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]

    def values(self, name: str) -> list[str]:
        return [value for each, value in self.headers if each == name]


@dataclass
class Peer:
    """The server's end of a connection. `gone` is set when the client has closed it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def request(self) -> Request:
        """The next one, whole. Raises EOFError or OSError where the client goes first."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).removesuffix(b"\r\n\r\n")
        sizes = Request(head, b"").values("content-length")
        return Request(head, await self.reader.readexactly(int(sizes[0])) if sizes else b"")

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def close(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        """Close it so that the other end sees an error."""
        option = b"\x01\x00\x00\x00\x00\x00\x00\x00"  # linger on, for no time at all
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, option)
        self.writer.transport.abort()


Step = Callable[[Peer], Awaitable[None]]


class FaultServer:
    """A server on loopback. The nth request gets the nth step, and the last step over and over.

    `greeting` comes in the place of reading: what it does on each connection is all that happens there.
    """

    def __init__(self, *steps: Step, greeting: Step | None = None) -> None:
        self.steps = steps
        self.greeting = greeting
        self.requests: list[Request] = []
        self.peers: list[Peer] = []
        self.port = 0
        self.scheme = "http"
        self._asked = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/hook"

    @property
    def connections(self) -> int:
        return len(self.peers)

    async def asked(self, count: int = 1) -> None:
        """Wait until there were this many connections with something to answer."""
        while len(self.requests) < count if self.greeting is None else self.connections < count:
            self._asked.clear()
            await self._asked.wait()

    async def left(self) -> None:
        """Wait until the client has closed each of its connections."""
        for peer in self.peers:
            await peer.gone.wait()

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        peer = Peer(reader, writer)
        self.peers.append(peer)
        self._asked.set()
        try:
            await self._serve(peer)
        except (EOFError, OSError):
            peer.gone.set()
        except asyncio.CancelledError:  # the test is over
            pass
        finally:
            writer.transport.abort()
            self._tasks.discard(task)

    async def _serve(self, peer: Peer) -> None:
        if self.greeting is not None:
            await self.greeting(peer)
        while self.greeting is None:
            request = await peer.request()
            self.requests.append(request)
            self._asked.set()
            await self.steps[min(len(self.requests), len(self.steps)) - 1](peer)
        while await peer.reader.read(65536):
            pass
        peer.gone.set()

    async def stop(self) -> None:
        for task in (tasks := tuple(self._tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def serving(
    *steps: Step, greeting: Step | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[FaultServer]:
    server = FaultServer(*steps, greeting=greeting)
    listening = await asyncio.start_server(server.meet, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    server.scheme = "http" if tls is None else "https"
    try:
        yield server
    finally:
        listening.close()
        await server.stop()


def answer(
    body: bytes = b"{}", *, status: str = "200 OK", headers: tuple[str, ...] = (), length: int | None = None
) -> bytes:
    """The bytes of an answer, without a date, so that each is like the other."""
    size = f"Content-Length: {len(body) if length is None else length}"
    return "\r\n".join((f"HTTP/1.1 {status}", size, *headers, "", "")).encode() + body


def answers(
    body: bytes = b"{}", *, status: str = "200 OK", headers: tuple[str, ...] = (), length: int | None = None
) -> Step:
    return sends(answer(body, status=status, headers=headers, length=length))


def sends(data: bytes) -> Step:
    """These very bytes, and the connection stays open."""

    async def step(peer: Peer) -> None:
        await peer.send(data)

    return step


def sends_and_closes(data: bytes) -> Step:
    async def step(peer: Peer) -> None:
        await peer.send(data)
        peer.close()

    return step


async def resets(peer: Peer) -> None:
    peer.reset()


async def hangs(peer: Peer) -> None:
    """Reads on and says nothing."""


async def reads_nothing(peer: Peer) -> None:
    """Leaves even the request where it is, for good."""
    peer.writer.transport.pause_reading()  # type: ignore[attr-defined]
    await asyncio.Event().wait()


def floods(first: bytes, rest: bytes) -> Step:
    """Never ends, however fast it is read."""

    async def step(peer: Peer) -> None:
        await peer.send(first)
        while True:
            await peer.send(rest)

    return step


def unused_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class ClosingServer:
    """Answers one request a connection and closes it at once, from a thread: whatever the client's loop does."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._closed = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._serve)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/"
        self.connections = 0

    def wait_closed(self) -> None:
        """Block, the loop too, until the server has closed one more connection."""
        assert self._closed.acquire(timeout=10)

    def _serve(self) -> None:
        while True:
            connection, _ = self._listening.accept()
            with connection:
                seen = b""
                while not seen.endswith(b"{}") and (more := connection.recv(65536)):
                    seen += more
                if not seen:
                    return
                self.connections += 1
                connection.sendall(answer())
            self._closed.release()

    def stop(self) -> None:
        with socket.create_connection(self._listening.getsockname()):
            pass
        self._thread.join()
        self._listening.close()

    def start(self) -> None:
        self._thread.start()


@contextlib.contextmanager
def closing_server() -> Iterator[ClosingServer]:
    server = ClosingServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()

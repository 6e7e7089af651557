"""The HTTP port of `run`: it admits inputs, tells what became of them, and streams events.

POST /inputs             one input as JSON: 202 accepted, 200 deduplicated, 422 or 503 rejected
GET  /inputs/<id>        how far it has come, and its result
GET  /events             server-sent events: the event log from the start, or after `Last-Event-ID`, then what comes;
                         agent events only while they come, for the log has none
GET  /healthz            200 while inputs are taken; needs no token

Whoever may write here may have the agent do things, so every other request brings the token. A request that a browser
sends for another site is refused, and so is one that calls us by another name: that is how a page gets at a port of
this machine. Nobody is waited for without end, and no more are let in than the session can bear.
"""

import asyncio
import hmac
import json
import logging
import socket
import uuid
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from hookline._cli.report import save_report
from hookline._core.errors import HooklineError, UsageError
from hookline._core.inputs import Accepted, Admission, Deduplicated, Rejected, RejectionReason
from hookline._core.records import InteractionPublished, Record
from hookline.session.admission.wire import MAX_BYTES, InvalidInput, input_from
from hookline.session.session import Session

if TYPE_CHECKING:
    from aiohttp.web import Request, Response, StreamResponse

Handler = Callable[["Request"], Awaitable["StreamResponse"]]

JSON = "application/json"
LOST = 1000  # lines of events that a reader may be behind before it is let go: it comes again with Last-Event-ID
LAST = 2**63 - 1  # number that a line of the log can have
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
PORTS = 65535
HTTP = 80  # the port that a client leaves out of its `Host`

MOST = 100  # connections at once, far fewer than the descriptors that hooks and tools need too
HEAD_TIMEOUT = 10.0  # seconds from a connection to its first request
BODY_TIMEOUT = 60.0  # seconds for a body, once its head has come
IDLE_TIMEOUT = 60.0  # seconds between two requests on one connection
SIGN_OF_LIFE = 15.0  # seconds of silence after which a reader of events is written to: it may have gone


def address_of(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT` or `PORT`. Raises UsageError."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    number = _number(port, PORTS)
    if number is None:
        raise UsageError(f"--listen takes HOST:PORT or a port, such as 127.0.0.1:8765, found {text!r}")
    if host not in LOOPBACK:
        raise UsageError(f"--listen takes an address of this machine only, such as 127.0.0.1, found {host}")
    return "127.0.0.1" if host == "localhost" else host, number


def bound(host: str, port: int) -> socket.socket:
    """A socket at this address, which nobody can connect to yet. Raises UsageError where there can be none."""
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that was let go of a moment ago is free
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise UsageError(_not_there(host, port, error)) from error
    return made


def no_events(record: Record) -> list[tuple[str, str]]:
    """Nothing but what every session's readers are told."""
    return []


class Listener:
    """One session's port. `watch` is given every record, so that readers of events hear of what is published.

    *say* hears of what is our fault; of what clients do wrong they hear themselves, and nobody else. *events* are what
    readers are told of a record besides, as names and data.
    """

    def __init__(
        self,
        session: Session,
        *,
        token: str,
        say: Callable[[str], None],
        events: Callable[[Record], list[tuple[str, str]]] = no_events,
    ) -> None:
        self._session = session
        self._of_record = events
        self._say = say
        self._token = f"Bearer {token}".encode(errors="surrogateescape")
        self._address = ""
        self._names: frozenset[str] = frozenset()
        self._fresh: set[Any] = set()  # connections that no request has come from
        self._readers: set[_Reader] = set()

    def watch(self, record: Record, lines: list[str]) -> None:
        """A record was made, and *lines* are what the wanted stream makes of it."""
        told: list[str | None] = [f"event: agent\ndata: {line}\n\n" for line in lines]
        told += [f"event: {name}\ndata: {data}\n\n" for name, data in self._of_record(record)]
        if isinstance(record, InteractionPublished):
            told.append(None)  # the log has news
        for reader in tuple(self._readers):
            for each in told:
                if not reader.tell(each):
                    self._readers.discard(reader)
                    break

    async def open(self, at: socket.socket) -> Callable[[], Awaitable[None]]:
        """Begin to listen. Gives what ends it. Raises UsageError where that cannot be."""
        try:
            from aiohttp import web
        except ImportError as error:
            at.close()
            raise UsageError("--listen needs aiohttp: pip install 'hookline[http]'") from error
        host, self.port = at.getsockname()[:2]
        self._address = f"{in_url(host)}:{self.port}"
        names = {in_url(name) for name in LOOPBACK}
        self._names = frozenset({f"{name}:{self.port}" for name in names} | (names if self.port == HTTP else set()))

        @web.middleware
        async def guarded(request: "Request", handler: Handler) -> "StreamResponse":
            return await self._guarded(request, handler)

        app = web.Application(client_max_size=MAX_BYTES, middlewares=[guarded])
        app.router.add_post("/inputs", self._admit)
        app.router.add_get("/inputs/{id}", self._find)
        app.router.add_get("/events", self._events)
        app.router.add_get("/healthz", self._health)
        # What is sent compressed stays so, and is no JSON: a few bytes must not become many.
        runner = web.AppRunner(
            app,
            access_log=None,
            logger=_unheard(),
            shutdown_timeout=1.0,
            auto_decompress=False,
            keepalive_timeout=IDLE_TIMEOUT,
        )
        await runner.setup()
        try:
            server = await asyncio.get_running_loop().create_server(lambda: self._connection(runner.server), sock=at)
        except OSError as error:  # another was bound to it too, and has begun to listen
            await runner.cleanup()
            at.close()
            raise UsageError(_not_there(host, self.port, error)) from error
        return self._closing(server, runner.cleanup)

    def _connection(self, server: Any) -> asyncio.Protocol:
        """What deals with one connection, which is closed if no request comes."""
        if len(server.connections) >= MOST:
            return _Full()
        made: asyncio.Protocol = server()
        self._fresh.add(made)
        asyncio.get_running_loop().call_later(HEAD_TIMEOUT, self._close_if_fresh, made)
        return made

    def _close_if_fresh(self, connection: Any) -> None:
        if connection in self._fresh:
            self._fresh.discard(connection)
            connection.force_close()

    def _closing(self, server: asyncio.Server, cleanup: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        async def close() -> None:
            server.close()
            for reader in tuple(self._readers):
                self._readers.discard(reader)
                reader.end()
            await cleanup()

        return close

    async def _guarded(self, request: "Request", handler: Handler) -> "StreamResponse":
        """The answer of *handler*, if the request is one of ours; in JSON whatever it is."""
        from aiohttp.web import HTTPException

        self._fresh.discard(request.protocol)
        refused = self._refusal(request)
        if refused is not None:
            return refused
        try:
            return await handler(request)
        except HTTPException as error:
            allowed = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
            return _answer(error.status, {"error": error.reason}, allowed)
        except HooklineError as error:  # a store that is away, or a session that has just ended
            return _answer(503, {"error": str(error)})
        except Exception as fault:  # noqa: BLE001  # whatever it is, the session goes on
            self._say(f"this is a bug of ours ({type(fault).__name__}: {fault}); {save_report(fault)}")
            return _answer(500, {"error": "this is a bug of ours; a report of it was saved"})

    def _refusal(self, request: "Request") -> "Response | None":
        hosts = request.headers.getall("Host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._names:
            return _answer(403, {"error": f"say whom you mean, as `Host: {self._address}`"})
        if "Origin" in request.headers:
            return _answer(403, {"error": "requests of web pages are refused"})
        given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
        if request.path != "/healthz" and not hmac.compare_digest(given, self._token):
            told = {"error": "send the token that was printed, as `Authorization: Bearer TOKEN`"}
            return _answer(401, told, {"WWW-Authenticate": "Bearer"})
        return None

    async def _admit(self, request: "Request") -> "Response":
        if request.content_type != JSON or "Content-Encoding" in request.headers:
            return _answer(415, {"error": f"send {JSON}, not compressed"})
        try:
            async with asyncio.timeout(BODY_TIMEOUT):
                body = await request.read()
        except TimeoutError:
            return _answer(408, {"error": f"the body did not come within {BODY_TIMEOUT:g} s"})
        try:
            given = input_from(body)
        except InvalidInput as error:
            return _answer(400, {"error": str(error)})
        return _answer(*_told(await self._session.admit(given)))

    async def _find(self, request: "Request") -> "Response":
        runtime = self._session.runtime
        try:
            row = await runtime.store.find(runtime.name, str(uuid.UUID(request.match_info["id"])))
        except ValueError:
            row = None
        if row is None:
            return _answer(404, {"error": "there is no such input here"})
        kept = await runtime.store.completion(runtime.name, row.input.id)
        body = {"input_id": row.input.id, "input_kind": row.input.kind.value, "phase": row.phase.value}
        return _answer(200, body if kept is None else {**body, "completion": json.loads(kept)})

    async def _events(self, request: "Request") -> "StreamResponse":
        from aiohttp import web

        last = _number(request.headers.get("Last-Event-ID", "0"), LAST)
        if last is None:
            return _answer(400, {"error": "Last-Event-ID is the number of a line"})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        reader = _Reader(request.transport)
        self._readers.add(reader)  # before the log is read: what comes in between is told twice rather than never
        try:
            await response.prepare(request)
            seq = await self._catch_up(response, last)
            while not reader.ended:
                news = await reader.news()
                if news is None:
                    seq = await self._catch_up(response, seq)
                else:
                    await response.write(news.encode())
        except ConnectionResetError:
            pass  # the reader has gone, or was let go
        finally:
            self._readers.discard(reader)
        return response

    async def _catch_up(self, response: "StreamResponse", seq: int) -> int:
        runtime = self._session.runtime
        while lines := await runtime.store.events(runtime.name, after=seq):
            for line in lines:
                seq = line.seq
                await response.write(b"id: %d\nevent: interaction\ndata: %s\n\n" % (seq, line.payload))
        return seq

    async def _health(self, request: "Request") -> "Response":
        state = self._session.runtime.state
        return _answer(200 if state.is_open else 503, {"state": state.value})


class _Reader:
    """Somebody who reads events: what was told and not written yet."""

    def __init__(self, transport: asyncio.Transport | None) -> None:
        self._transport = transport
        self._told: asyncio.Queue[str | None] = asyncio.Queue()
        self.ended = False

    def tell(self, news: str | None) -> bool:
        """A text to be written, or None: the log has more. False when too much waits, and the connection is cut."""
        if self._told.qsize() < LOST:
            self._told.put_nowait(news)
            return True
        self.ended = True
        if self._transport is not None:
            self._transport.abort()  # what it did not take fills the connection: nothing else gets through
        return False

    def end(self) -> None:
        """What was told is written, and nothing after it."""
        self.ended = True
        self._told.put_nowait("")

    async def news(self) -> str | None:
        """What comes next; a comment when nothing did for a while."""
        try:
            async with asyncio.timeout(SIGN_OF_LIFE):
                return await self._told.get()
        except TimeoutError:
            self._told.put_nowait(None)  # another process may have published to the same log
            return ":\n\n"


class _Full(asyncio.Protocol):
    """Closes a connection that there is no room for."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def _unheard() -> logging.Logger:
    """What aiohttp says of requests that are none: anybody on this machine could fill a terminal with it."""
    logger = logging.getLogger(__name__)
    logger.propagate = False
    logger.addHandler(logging.NullHandler())
    return logger


def _answer(status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> "Response":
    from aiohttp import web

    return web.json_response(body, status=status, headers=headers)


def _told(admission: Admission) -> tuple[int, dict[str, Any]]:
    told: dict[str, Any] = {"outcome": admission.outcome, "input_id": admission.input_id}
    match admission:
        case Accepted(handling=handling):
            return 202, {**told, "handling_mode": handling.value}
        case Deduplicated(existing=existing):
            return 200, {**told, "existing_input_id": existing}
        case Rejected(reason=reason) as rejected:
            status = 503 if reason is RejectionReason.NOT_READY else 422
            return status, {**told, "reason": reason.value, "error": str(rejected)}


def _number(text: str, highest: int) -> int | None:
    """The number that *text* is, if it is one up to *highest*, in plain digits."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(highest))):
        return None
    return number if (number := int(text)) <= highest else None


def in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _not_there(host: str, port: int, error: OSError) -> str:
    return f"cannot listen on {in_url(host)}:{port}: {error.strerror}; name another port, or 0 for any that is free"

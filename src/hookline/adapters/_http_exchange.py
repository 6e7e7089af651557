"""Requests and answers over aiohttp. The only module here that imports it: import this one when a call needs it."""

import asyncio
import contextlib
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.payload import Payload as RequestBody
from yarl import URL

from hookline._core.payload import CallFailed, Limits, Reply, Responded
from hookline._core.reasons import Failure
from hookline._core.targets import HttpTarget
from hookline.adapters._limits import Capped, could_not_start, timed_out

MOST_REDIRECTS = 10
# Seconds that an idle connection is kept: less than the five after which many servers close theirs, so that their
# close and our next request seldom cross. A call that comes later pays for a new one.
KEPT = 4.0
# Turns of the loop until a close that has arrived is noticed: it is polled for in the first and read in the second. One
# to spare, for loops that do it in another order.
TURNS = 3

_KEEP = frozenset({HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT})
_POST_TO_GET = frozenset({HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.FOUND})
_ABOUT_BODY = frozenset({"content-type", "content-encoding", "content-language", "content-location"})
_CONTENT_TYPE: Final = ("content-type", "application/json")
_NOT_ADDED = ("Accept-Encoding", "User-Agent")  # by aiohttp; an answer in an encoding would have to be refused


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    url: URL
    headers: tuple[tuple[str, str], ...]
    body: bytes | None  # None: without any, as after a redirect that turns it into a GET

    @property
    def origin(self) -> str:
        """Where it goes, without what may be secret in the rest of the address."""
        return str(self.url.origin())

    async def as_written(
        self, request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Give aiohttp's request the method as it is written; aiohttp itself would write it in capitals.

        As aiohttp takes each for a POST until here, it also never sends one again by itself.
        """
        request.method = self.method
        if self.body is None:
            request.headers.popall("Content-Length", None)
        return await send(request)


class _Body(RequestBody):
    """The body of one attempt. It knows the connection that it went to, and whether any byte did.

    aiohttp writes the headers together with the first bytes of the body. What it raises instead, because the connection
    is closed, it raises before it gives the connection anything.
    """

    _value: bytes

    def __init__(self, value: bytes) -> None:
        super().__init__(value)
        self.sent = False
        self._transport: asyncio.WriteTransport | None = None

    @property
    def size(self) -> int:
        return len(self._value)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._value.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        self._transport = writer.transport
        self.sent = self._transport is not None and not self._transport.is_closing()
        await writer.write(self._value)

    def let_go(self, *, answered: bool) -> None:
        """Abort a connection without an answer, and one that has not taken the whole request.

        aiohttp closes those, which waits for the server to read on. It may never do so.
        """
        transport = self._transport
        if transport is not None and (not answered or transport.get_write_buffer_size()):
            transport.abort()


class Client:
    """The connections of one adapter on one event loop. They are closed with the loop at the latest."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._sessions = _sessions()
        self._session: aiohttp.ClientSession | None = None
        self._used = False
        self._closed = False
        self._running: set[asyncio.Timeout] = set()
        self._idle = asyncio.Event()

    async def call(self, target: HttpTarget, body: bytes, limits: Limits) -> Reply:
        """Make a request of the target and of *body*, and read the answer, all of it within the limits."""
        request = _first(target, body)
        if isinstance(request, CallFailed):
            return request
        if self._session is None:
            self._session = await anext(self._sessions)
        try:
            async with asyncio.timeout(limits.timeout) as deadline:
                self._running.add(deadline)
                try:
                    return await self._follow(self._session, request, limits.output_bytes)
                finally:
                    self._running.discard(deadline)
                    self._idle.set()
        except TimeoutError:
            return _cut_off() if self._closed else timed_out(limits)

    async def close(self) -> None:
        """Cut off the requests that are under way, and close all connections."""
        self._closed = True
        for deadline in self._running:
            if not deadline.expired():
                deadline.reschedule(self.loop.time())
        while self._running:
            self._idle.clear()
            await self._idle.wait()
        await self._sessions.aclose()

    async def _follow(self, session: aiohttp.ClientSession, request: _Request, cap: int) -> Reply:
        """The answer at the end of the redirects that stay on this origin."""
        for _ in range(MOST_REDIRECTS + 1):
            answer = await self._ask(session, request, cap)
            if not isinstance(answer, _Request):
                return answer
            request = answer
        return _unreachable(f"request: {request.origin}: more than {MOST_REDIRECTS} redirects")

    async def _ask(self, session: aiohttp.ClientSession, request: _Request, cap: int) -> Reply | _Request:
        """The answer, or the request that it redirects to.

        A connection that was kept, and turned out to be closed before a byte was sent, is replaced once. After the
        first byte nothing is sent a second time: the server may have acted on it.
        """
        for _ in range(2):
            if self._used:
                for _ in range(TURNS):
                    await asyncio.sleep(0)
            answer = await _attempt(session, request, cap)
            self._used = True
            if answer is not None:
                return answer
        return _unreachable(f"request: {request.origin}: it closed two connections before a byte was sent")


async def _sessions() -> AsyncGenerator[aiohttp.ClientSession]:
    """One session, closed after it. A generator, as loops end those that are left when they are shut down."""
    session = aiohttp.ClientSession(
        # No limit to connections: a hook must not have to wait until others stop hanging.
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT),
        timeout=aiohttp.ClientTimeout(total=None),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        skip_auto_headers=_NOT_ADDED,
        trust_env=False,
    )
    try:
        yield session
    finally:
        await session.close()


def _first(target: HttpTarget, body: bytes) -> _Request | CallFailed:
    try:
        url = URL(target.url)
    except ValueError as error:
        return could_not_start(f"request: URL: {error}")
    if url.scheme not in ("http", "https"):
        return could_not_start(f"request: URL: its scheme is {url.scheme!r}, not http or https")
    if not url.raw_host:
        return could_not_start("request: URL: it names no host")
    if not url.raw_host.isprintable() or " " in url.raw_host:
        return could_not_start("request: URL: its host holds a character that no host can have")
    if url.user is not None and any(name.lower() == "authorization" for name, _ in target.headers):
        return could_not_start(
            "request: URL: it holds credentials, and so does a header 'authorization': leave one out"
        )
    return _Request(target.method, url, _alike((_CONTENT_TYPE, *target.headers)), body)


def _alike(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The same headers, each name spelt as where it came first: of two spellings aiohttp drops the first."""
    spelt: dict[str, str] = {}
    return tuple((spelt.setdefault(name.lower(), name), value) for name, value in headers)


async def _attempt(session: aiohttp.ClientSession, request: _Request, cap: int) -> Reply | _Request | None:
    """The answer, or the request that it redirects to; None if the connection was lost before a byte was sent."""
    body = None if request.body is None else _Body(request.body)
    answered = False
    try:
        response = await session.request(
            "POST",
            request.url,
            data=body,
            headers=request.headers,
            allow_redirects=False,
            middlewares=(request.as_written,),
        )
        try:
            answer = _redirected(request, response) or await _read(response, request, cap)
        finally:
            response.close()  # which only does anything if not all of it was read
        answered = not isinstance(answer, CallFailed)
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
        if body is not None and not body.sent and not isinstance(error, aiohttp.ClientConnectorError):
            return None
        return _unreachable(f"request: {request.origin}: {_said(error)}")
    except aiohttp.ClientResponseError as error:
        return _malformed(f"request: {request.origin}: its answer is not HTTP: {_kind_of(error.message)}")
    except ValueError as error:  # such as an address that the library takes exception to; an InvalidURL quotes it all
        said = (error.description or "not valid") if isinstance(error, aiohttp.InvalidURL) else error
        return could_not_start(f"request: URL: {said}")
    except (aiohttp.ClientError, OSError) as error:
        return _unreachable(f"request: {request.origin}: {_said(error)}")
    else:
        return answer
    finally:
        if body is not None:
            body.let_go(answered=answered)


def _redirected(request: _Request, response: aiohttp.ClientResponse) -> _Request | None:
    """The request that an answer redirects to; None if it does not, or to another origin.

    As browsers do: 307 and 308 have the request as it is, 303 and a POST's 301 and 302 have a GET of the other address.
    """
    if response.status not in _KEEP | _POST_TO_GET | {HTTPStatus.SEE_OTHER}:
        return None
    try:
        url = request.url.join(URL(response.headers["Location"]))
        if url.origin() != request.url.origin():
            return None
    except (KeyError, ValueError):
        return None
    url = url.with_user(request.url.user)
    if request.url.password is not None:
        url = url.with_password(request.url.password)
    if response.status in _KEEP or (response.status in _POST_TO_GET and request.method != "POST"):
        return replace(request, url=url)
    if request.method == "HEAD":
        return replace(request, url=url)
    headers = tuple(header for header in request.headers if header[0].lower() not in _ABOUT_BODY)
    return _Request("GET", url, headers, None)


async def _read(response: aiohttp.ClientResponse, request: _Request, cap: int) -> Responded | CallFailed:
    packed = ",".join(response.headers.getall("Content-Encoding", ())).strip().lower()
    if packed not in ("", "identity"):
        return _malformed(f"body: {request.origin}: it came compressed (content-encoding), which was not asked for")
    body = Capped(cap)
    try:
        if response.content.is_eof():  # all of it has come, so it can be over the cap, but not break off
            over = not body.take(response.content.read_nowait())
        else:
            with _hearing_of_loss(response):
                over = await _fill(body, response.content)
    except (aiohttp.ClientError, HttpProcessingError, OSError):
        return _unreachable(f"body: {request.origin}: it broke off after {body.seen} bytes")
    if over:
        return _too_large(body)
    return Responded(
        status=response.status,
        reason=_text((response.reason or "").encode("utf-8", "surrogateescape")),
        headers=tuple((_text(name).lower(), _text(value)) for name, value in response.raw_headers),
        body=body.kept,
    )


async def _fill(body: Capped, content: aiohttp.StreamReader) -> bool:
    """Whether it is more than fits."""
    while chunk := await content.readany():
        if not body.take(chunk):
            return True
    return False


@contextlib.contextmanager
def _hearing_of_loss(response: aiohttp.ClientResponse) -> Iterator[None]:
    """Have whoever reads the body told when its connection is closed.

    Where aiohttp closes it itself, over a later chunk that is none, it leaves the reader to wait.
    """
    protocol = None if response.connection is None else response.connection.protocol
    lost = None if protocol is None else protocol.closed
    if lost is None:  # all of it is here, or the connection is gone and aiohttp has said so
        yield
        return

    def tell(_: object) -> None:
        if not response.content.is_eof() and response.content.exception() is None:
            response.content.set_exception(aiohttp.ClientPayloadError())

    lost.remove_done_callback(_heard)  # of the answer before on this connection
    lost.add_done_callback(_heard)
    lost.add_done_callback(tell)
    try:
        yield
    finally:
        lost.remove_done_callback(tell)


def _heard(lost: asyncio.Future[None]) -> None:
    """A connection that ends with an error is nothing to be logged by the loop."""
    if not lost.cancelled():
        lost.exception()


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _too_large(body: Capped) -> CallFailed:
    detail = f"body went over its cap of {body.cap} bytes: {body.seen} were read"
    return CallFailed(why=Failure.OUTPUT_TOO_LARGE, detail=detail, stream="body", size=body.seen)


def _unreachable(detail: str) -> CallFailed:
    return CallFailed(why=Failure.UNREACHABLE, detail=detail)


def _malformed(detail: str) -> CallFailed:
    return CallFailed(why=Failure.MALFORMED_ANSWER, detail=detail)


def _cut_off() -> CallFailed:
    return _unreachable("request: cut off because the engine was closed")


def _kind_of(message: str) -> str:
    """What the parser found, without the bytes that it found it in."""
    return message.partition(":")[0].partition("\n")[0]


def _said(error: Exception) -> str:
    """Why there is no connection, or none any more."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        error = error.certificate_error
    elif isinstance(error, aiohttp.ClientConnectorError):
        error = error.os_error
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate is not accepted: {error.verify_message}"
        case ssl.SSLError():
            return f"TLS: {error.reason or 'failed'}"
        case socket.gaierror():
            return f"its name is not found: {error.strerror}"
        case OSError(errno=int() as number):
            return f"{os.strerror(number)} (os error {number})"
        case OSError(strerror=str() as text):
            return text
        case aiohttp.ServerDisconnectedError():
            return "it closed the connection without an answer"
        case _:
            return type(error).__name__

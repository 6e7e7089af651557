"""Reports about endpoints, under Meerkat: an HTTP answer that is none never looks like a yes."""

import asyncio
import contextlib
import re
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.field_reports.meerkat_rig import BACKGROUND, GUARD, MARKED, OBSERVER, Json, asks, configuration, entry, live
from tests.http_rig import (
    Peer,
    Request,
    Step,
    answer,
    answers,
    hangs,
    resets,
    sends_and_closes,
    serving,
    unused_port,
)

from hookline._core.reasons import Failure
from hookline._core.records import CallStarted

CAP = 131_072
KIB = 1024

DENIAL = b'{"decision":{"decision":"deny","hook_id":"x","reason_code":"policy_violation","message":"no"}}'


async def trickles(peer: Peer) -> None:
    """A byte at a time, each in its own packet, without ever coming to an end."""
    await peer.send(answer(b"", length=CAP))
    while True:
        await peer.send(b" ")
        await asyncio.sleep(0.02)


@dataclass(frozen=True)
class Trouble:
    """What a server does in the place of answering, and the text of the failure.

    In it <origin> is where the server listens, and <more> is whatever depends on the network or a library.
    """

    step: Step | None  # None: there is no server
    detail: str
    why: Failure
    timeout_ms: int = 5000

    def is_told_by(self, detail: str, origin: str) -> bool:
        wanted = re.escape(self.detail.replace("<origin>", origin)).replace("<more>", ".+")
        return re.fullmatch(wanted, detail) is not None


TROUBLES = {
    "down": Trouble(None, "HTTP hook request failed: <origin>: Connection refused (os error 111)", Failure.UNREACHABLE),
    "hangs": Trouble(hangs, "hook timed out after 200ms", Failure.TIMEOUT, timeout_ms=200),
    "trickles": Trouble(trickles, "hook timed out after 200ms", Failure.TIMEOUT, timeout_ms=200),
    "closes": Trouble(
        sends_and_closes(b""),
        "HTTP hook request failed: <origin>: it closed the connection without an answer",
        Failure.UNREACHABLE,
    ),
    "resets": Trouble(
        resets, "HTTP hook request failed: <origin>: Connection reset by peer (os error 104)", Failure.UNREACHABLE
    ),
    "breaks off": Trouble(
        sends_and_closes(answer(b"{}", length=100)),
        "failed reading HTTP hook response body: <origin>: it broke off after 2 bytes",
        Failure.UNREACHABLE,
    ),
    "no HTTP": Trouble(
        sends_and_closes(b"SSH-2.0-server\r\n\r\n"),
        "HTTP hook request failed: <origin>: its answer is not HTTP: <more>",
        Failure.MALFORMED_ANSWER,
    ),
    "500": Trouble(
        answers(b"{}", status="500 Internal Server Error"),
        "HTTP hook returned 500 Internal Server Error: {}",
        Failure.EXIT_CODE,
    ),
    "403 with a denial": Trouble(
        answers(DENIAL, status="403 Forbidden"), "HTTP hook returned 403 Forbidden: <more>", Failure.EXIT_CODE
    ),
    "200 KiB": Trouble(
        answers(b" " * 200 * KIB + b"{}"),
        "HTTP hook response exceeds max size: <more> > 131072",
        Failure.OUTPUT_TOO_LARGE,
    ),
    "a page": Trouble(
        answers(b"<html>fine</html>", headers=("Content-Type: text/html",)),
        "invalid HTTP hook response: expecting value",
        Failure.MALFORMED_ANSWER,
    ),
    "204": Trouble(
        sends_and_closes(b"HTTP/1.1 204 No Content\r\n\r\n"),
        "invalid HTTP hook response: it is empty; a hook that has nothing to say writes {}",
        Failure.MALFORMED_ANSWER,
    ),
    "empty": Trouble(
        answers(b""),
        "invalid HTTP hook response: it is empty; a hook that has nothing to say writes {}",
        Failure.MALFORMED_ANSWER,
    ),
    "compressed": Trouble(
        answers(b"{}", headers=("Content-Encoding: gzip",)),
        "failed reading HTTP hook response body: <origin>: it came compressed (content-encoding), <more>",
        Failure.MALFORMED_ANSWER,
    ),
    "a member too many": Trouble(
        answers(b'{"decision":null,"patches":[]}'),
        "invalid HTTP hook response: unknown field `patches`, expected `decision`",
        Failure.MALFORMED_ANSWER,
    ),
}
MODES: dict[str, Json] = {"guardrail": GUARD, "observe": OBSERVER, "background": BACKGROUND}


@contextlib.asynccontextmanager
async def origin_of(trouble: Trouble) -> AsyncIterator[str]:
    if trouble.step is None:
        yield f"http://127.0.0.1:{unused_port()}"
        return
    async with serving(trouble.step) as server:
        yield server.url.removesuffix("/hook")


@pytest.mark.parametrize("strict", [False, True], ids=["", "strict"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TROUBLES)
async def test_b94_what_is_no_answer_is_no_yes(tmp_path: Path, name: str, mode: str, strict: bool) -> None:
    """One table: in the foreground each trouble fails the run before the call, in the background it is on record.

    `--strict` changes neither: there is nothing left for it to refuse.
    """
    trouble = TROUBLES[name]
    async with origin_of(trouble) as origin:
        reviewer = entry("h", asks(f"{origin}/hook"), timeout_ms=trouble.timeout_ms, **MODES[mode])
        lived = await live(tmp_path, configuration(reviewer), strict=strict)

    [outcome] = lived.kept.ended("h")
    assert outcome.why is trouble.why
    assert trouble.is_told_by(outcome.detail, origin), outcome.detail
    if mode == "background":
        assert (lived.ending, lived.result.reason, lived.mark) == ("completed", None, True)
    else:
        reason = f"hook meerkat:h failed: {outcome.detail}"
        assert (lived.ending, lived.result.reason, lived.mark) == ("failed", reason, False)
        assert lived.kept.of(CallStarted) == []


@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect"])
@pytest.mark.parametrize("mode", MODES)
async def test_b94_a_redirect_to_another_port_is_not_followed(tmp_path: Path, mode: str, status: str) -> None:
    """The second server counts no connection: its answer would have been an allow, and the first one's is a failure."""
    async with serving(answers(b"{}")) as other:
        there = (f"Location: {other.url}",)
        async with serving(answers(b"over there", status=status, headers=there)) as server:
            lived = await live(tmp_path, configuration(entry("h", asks(server.url), **MODES[mode])))

    assert (other.connections, other.requests) == (0, [])
    [outcome] = lived.kept.ended("h")
    assert outcome.detail == f"HTTP hook returned {status}: over there"
    assert lived.mark is (mode == "background")


async def test_f05_no_header_and_no_envelope_goes_elsewhere(tmp_path: Path) -> None:
    """Neither a redirect, to another name of this very host, nor a proxy of the environment's is followed."""
    async with serving(answers(b"{}")) as other:
        there = f"http://localhost:{other.port}/hook"
        async with serving(answers(b"", status="307 Temporary Redirect", headers=(f"Location: {there}",))) as server:
            secret = asks(server.url, headers={"Authorization": "Bearer local-secret"})
            with pytest.MonkeyPatch.context() as patch:
                for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
                    patch.setenv(name, other.url)
                lived = await live(tmp_path, configuration(entry("h", secret, **GUARD)))

    assert other.connections == 0
    assert [request.values("authorization") for request in server.requests] == [["Bearer local-secret"]]
    assert lived.ending == "failed"
    assert "local-secret" not in repr(lived.kept.records) + str(lived.result)


async def test_b94_a_redirect_within_the_server_is_followed(tmp_path: Path) -> None:
    """To another path of the same server the request is repeated whole, and what is found there counts."""
    moved = answers(b"", status="307 Temporary Redirect", headers=("Location: /moved",))
    async with serving(moved, answers(DENIAL)) as server:
        lived = await live(tmp_path, configuration(entry("h", asks(server.url), **GUARD)))

    assert [request.line for request in server.requests] == ["POST /hook HTTP/1.1", "POST /moved HTTP/1.1"]
    assert server.requests[0].body == server.requests[1].body
    assert (lived.ending, lived.told, lived.mark) == ("completed", ["tool blocked by hook: no"], False)


async def test_b94_a_type_that_is_wrong_beside_a_right_body_is_no_matter(tmp_path: Path) -> None:
    """What counts is the body: an answer that says that it is a page, and is a denial, denies."""
    async with serving(answers(DENIAL, headers=("Content-Type: text/html",))) as server:
        lived = await live(tmp_path, configuration(entry("h", asks(server.url), **GUARD)))

    assert (lived.ending, lived.told, lived.mark) == ("completed", ["tool blocked by hook: no"], False)


MANY = 20  # the report had one failure in ten to twenty calls


@contextlib.contextmanager
def one_answer_a_connection() -> Iterator[tuple[str, list[bytes]]]:
    """Where a server is that closes after each answer, from a thread: whatever the client's loop does meanwhile.

    And the heads of the requests that it had.
    """
    heads: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                connection, _ = listening.accept()
                with connection, connection.makefile("rb") as stream:
                    head = b"".join(iter(stream.readline, b"\r\n"))
                    if not head:
                        return
                    stream.read(int(Request(head.strip(), b"").values("content-length")[0]))
                    heads.append(head)
                    connection.sendall(answer())

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/hook", heads
        with socket.create_connection(listening.getsockname()) as last:
            last.sendall(b"\r\n")
        thread.join()


async def test_b94_a_server_that_closes_idle_connections_is_healthy(tmp_path: Path) -> None:
    """Each of 20 calls has its answer, and its own connection: none fails for the one before having been closed."""
    calls: list[Any] = [{"call": {"tool": "bash", "input": {"command": "true"}}} for _ in range(MANY)]
    with one_answer_a_connection() as (url, heads):
        config = configuration(entry("h", asks(url), **GUARD))
        lived = await live(tmp_path, config, *calls)

    assert [outcome.detail for outcome in lived.kept.ended("h") if not outcome.ok] == []
    assert (len(lived.kept.ended("h")), len(heads)) == (MANY, MANY)
    assert lived.ending == "completed"


async def test_b94_nothing_is_sent_twice(tmp_path: Path) -> None:
    """A kept connection that breaks after the request is a failure: a server that has read it may have acted on it."""
    async with serving(answers(b"{}"), sends_and_closes(b"")) as server:
        lived = await live(tmp_path, configuration(entry("h", asks(server.url), **GUARD)), MARKED, MARKED)

    assert (len(server.requests), server.connections) == (2, 1)
    assert [outcome.ok for outcome in lived.kept.ended("h")] == [True, False]
    assert lived.ending == "failed"


async def test_b94_a_connection_is_kept_for_the_next_call(tmp_path: Path) -> None:
    """A server that keeps connections open is asked over one."""
    async with serving(answers(b"{}")) as server:
        lived = await live(tmp_path, configuration(entry("h", asks(server.url), **GUARD)), MARKED, MARKED, MARKED)

    assert (lived.ending, len(server.requests), server.connections) == ("completed", 3, 1)


@pytest.mark.parametrize(("size", "fits"), [(1000, True), (1001, False)])
async def test_b34_the_cap_of_a_body_is_bytes_and_inclusive(tmp_path: Path, size: int, fits: bool) -> None:
    """As many bytes as `payload_max_bytes` says are read; one more is a failure that names both numbers."""
    body = b'{"decision":null}'.ljust(size)
    async with serving(answers(body)) as server:
        config = configuration(entry("h", asks(server.url), **GUARD), payload_max_bytes=1000)
        lived = await live(tmp_path, config)

    [outcome] = lived.kept.ended("h")
    assert outcome.ok is fits
    assert lived.mark is fits
    assert fits or outcome.detail == "HTTP hook response exceeds max size: 1001 > 1000"


async def test_b01_one_limit_covers_all_of_a_request(tmp_path: Path) -> None:
    """The call goes no further than its limit, and the server is let go: nothing is left open behind it."""
    async with serving(trickles) as server:
        reviewer = entry("h", asks(server.url), timeout_ms=100, **GUARD)
        lived = await live(tmp_path, configuration(reviewer))
        await server.left()

    assert lived.result.reason == "hook meerkat:h failed: hook timed out after 100ms"

"""HTTP hooks, over real connections to a server that does as it is told."""

import asyncio
import gc
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.http_rig import (
    FaultServer,
    Peer,
    Step,
    answer,
    answers,
    closing_server,
    floods,
    hangs,
    reads_nothing,
    resets,
    sends,
    sends_and_closes,
    serving,
    unused_port,
)
from tests.unit.adapters.rig import EVENT
from tests.unit.processes.rig import descriptors

from hookline._core.payload import CallFailed, Limits, Payload, Reply, Responded
from hookline._core.reasons import Failure
from hookline._core.targets import HttpTarget
from hookline.adapters import _http_exchange
from hookline.adapters.http import NO_AIOHTTP, HttpAdapter

FINE = Responded(status=200, reason="OK", headers=(("content-length", "2"),), body=b"{}")
SECRET = "s3cret"


class Client:
    """An adapter, and calls of it with the fewest words."""

    def __init__(self) -> None:
        self.adapter = HttpAdapter()

    async def call(
        self,
        url: str,
        *headers: tuple[str, str],
        method: str = "POST",
        body: bytes = b"{}",
        within: float = 10,
        cap: int = 16_384,
    ) -> Reply:
        target = HttpTarget(url, method, headers)
        return await self.adapter.call(target, Payload(EVENT, body, "/"), Limits(within, cap))


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    """Whatever a test did, its adapter leaves no task and no descriptor."""
    before = len(asyncio.all_tasks()), descriptors()
    client = Client()
    yield client
    await client.adapter.aclose()
    assert before == (len(asyncio.all_tasks()), descriptors())


def failed(reply: Reply, why: Failure) -> str:
    """The text of a failure, which is for this reason."""
    assert isinstance(reply, CallFailed)
    assert reply.why is why, reply
    return reply.detail


# What is sent


async def test_a_call_is_a_request_with_the_payload(client: Client) -> None:
    """The method, a content type of JSON and the payload go out, and little else: the target says what more."""
    async with serving(answers()) as server:
        assert FINE == await client.call(server.url, body=b'{"a":1}')

    (request,) = server.requests
    assert request.line == "POST /hook HTTP/1.1"
    assert request.body == b'{"a":1}'
    assert sorted(request.headers) == [
        ("accept", "*/*"),
        ("content-length", "7"),
        ("content-type", "application/json"),
        ("host", f"127.0.0.1:{server.port}"),
    ]


@pytest.mark.parametrize("method", ["patch", "GET", "PoSt", "DELETE", "X-1"])
async def test_a_method_is_sent_as_it_is_written(client: Client, method: str) -> None:
    """Any token is a method, in the very letters of the configuration, and each has the payload as its body."""
    async with serving(answers()) as server:
        assert FINE == await client.call(server.url, method=method)

    assert [(f"{method} /hook HTTP/1.1", b"{}")] == [(each.line, each.body) for each in server.requests]


async def test_an_answer_to_head_has_no_body(client: Client) -> None:
    """Whatever length it declares."""
    async with serving(sends(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")) as server:
        expected = Responded(status=200, reason="OK", headers=(("content-length", "5"),))
        assert expected == await client.call(server.url, method="HEAD")


async def test_headers_are_sent_as_they_are_written(client: Client, monkeypatch: Any) -> None:
    """No variable is put in, and a header that is there already gets a second value."""
    monkeypatch.setenv("TOKEN", "expanded")
    headers = [("Authorization", "Bearer $TOKEN"), ("Content-Type", "text/x"), ("X-A", "1"), ("x-a", "é\t2")]
    async with serving(answers()) as server:
        assert FINE == await client.call(server.url, *headers)

    (request,) = server.requests
    assert ["Bearer $TOKEN"] == request.values("authorization")
    assert ["application/json", "text/x"] == request.values("content-type")
    assert ["1", "é\t2"] == request.values("x-a")


@pytest.mark.parametrize("method", ["x y", "", "a\r\nb", "é", "GET:", "a" * 3 + "\0"])
async def test_a_method_that_is_no_token_is_refused(client: Client, method: str) -> None:
    """Nothing is sent for it, and it is named."""
    async with serving(answers()) as server:
        detail = failed(await client.call(server.url, method=method), Failure.COULD_NOT_START)

    assert detail.startswith(f"invalid HTTP method {method!r}: ")
    assert server.connections == 0


@pytest.mark.parametrize(
    ("header", "place"),
    [
        pytest.param(("X-A", f"{SECRET}\r\nX-B: 1"), "header 'X-A'", id="line break"),
        pytest.param(("X-A", f"{SECRET}\0"), "header 'X-A'", id="nul"),
        pytest.param(("X-A", f"{SECRET}\ud800"), "header 'X-A'", id="surrogate"),
        pytest.param((f"X-A: {SECRET}", "1"), "header 2", id="value in the name"),
        pytest.param(("", SECRET), "header 2", id="no name"),
        pytest.param(("Content-Length", SECRET), "header 'Content-Length'", id="length"),
        pytest.param(("transfer-encoding", SECRET), "header 'transfer-encoding'", id="encoding"),
        pytest.param(("Expect", SECRET), "header 'Expect'", id="expect"),
    ],
)
async def test_a_header_that_cannot_be_sent_is_refused(client: Client, header: tuple[str, str], place: str) -> None:
    """Nothing is sent; the header is named, and its value is not."""
    async with serving(answers()) as server:
        detail = failed(await client.call(server.url, ("X-Fine", "1"), header), Failure.COULD_NOT_START)

    assert detail.startswith(f"request: {place}: ")
    assert SECRET not in detail
    assert server.connections == 0


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://host/", "its scheme is 'ftp', not http or https"),
        ("host/path", "its scheme is '', not http or https"),
        ("", "its scheme is '', not http or https"),
        ("http:///path", "it names no host"),
        ("http://host:99999/", "Port out of range 0-65535"),
        ("http://[::1/", "Invalid IPv6 URL"),
        ("http://a b/", "its host holds a character that no host can have"),
        ("http://2130706433/", "is not a canonical IPv4 address"),
        ("http://u:p@127.0.0.1/", "it holds credentials, and so does a header 'authorization': leave one out"),
    ],
)
async def test_an_address_that_is_none_is_refused(client: Client, url: str, said: str) -> None:
    """The text says what is wrong with it, and repeats neither it nor a header."""
    reply = await client.call(url, ("authorization", SECRET))

    assert f"request: URL: {said}" == failed(reply, Failure.COULD_NOT_START)


@pytest.mark.parametrize("host", ["a" * 70, "\ud800"])
async def test_a_name_that_cannot_be_looked_up_is_refused(client: Client, host: str) -> None:
    """Wherever the libraries find out."""
    assert failed(await client.call(f"http://{host}/"), Failure.COULD_NOT_START).startswith("request: URL: ")


async def test_the_environment_has_no_say(client: Client, monkeypatch: Any, tmp_path: Path) -> None:
    """Neither its proxies nor a netrc file count."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login user password secret\n")
    async with serving(answers()) as server, serving(answers()) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
        assert FINE == await client.call(server.url)

    assert ([[]], 0) == ([each.values("authorization") for each in server.requests], proxy.connections)


async def test_no_cookies_are_kept(client: Client) -> None:
    """What one answer sets no later request carries."""
    async with serving(answers(headers=("Set-Cookie: a=b; Path=/",))) as server:
        for _ in range(2):
            assert isinstance(await client.call(server.url), Responded)

    assert [[], []] == [each.values("cookie") for each in server.requests]


# What comes back


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        pytest.param(
            answers(b"oops", status="500 Internal Server Error"),
            Responded(status=500, reason="Internal Server Error", headers=(("content-length", "4"),), body=b"oops"),
            id="500",
        ),
        pytest.param(
            answers(b"<p>", headers=("Content-Type: text/html",)),
            Responded(
                status=200,
                reason="OK",
                headers=(("content-length", "3"), ("content-type", "text/html")),
                body=b"<p>",
            ),
            id="html",
        ),
        pytest.param(
            sends(b"HTTP/1.1 204 No Content\r\n\r\n"), Responded(status=204, reason="No Content"), id="no content"
        ),
        pytest.param(
            sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"),
            Responded(status=200, reason="OK", headers=(("transfer-encoding", "chunked"),), body=b"{}"),
            id="chunked",
        ),
        pytest.param(
            sends_and_closes(b"HTTP/1.0 200 OK\r\n\r\n{}"),
            Responded(status=200, reason="OK", body=b"{}"),
            id="up to the end of the connection",
        ),
        pytest.param(sends(b"HTTP/1.1 100 Continue\r\n\r\n" + answer()), FINE, id="after a 100"),
        pytest.param(
            sends(b"HTTP/1.1 200\r\nContent-Length: 0\r\nX-A: 1\r\nx-a: \xff\r\n\r\n"),
            Responded(status=200, headers=(("content-length", "0"), ("x-a", "1"), ("x-a", "\ufffd"))),
            id="no reason, and bytes that are no text",
        ),
        pytest.param(
            sends(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc"),
            Responded(status=101, reason="Switching Protocols", headers=(("upgrade", "x"), ("connection", "upgrade"))),
            id="101",
        ),
    ],
)
async def test_an_answer_comes_back_uninterpreted(client: Client, step: Step, expected: Responded) -> None:
    """Whatever its status and type are."""
    async with serving(step) as server:
        assert expected == await client.call(server.url)


@pytest.mark.parametrize("chunked", [True, False], ids=["chunked", "with a length"])
@pytest.mark.parametrize("status", ["200 OK", "500 Oops"])
async def test_exactly_the_cap_fits(client: Client, chunked: bool, status: str) -> None:
    """One byte more is too much, whatever the status says; the connection is then dropped."""

    def body(size: int) -> Step:
        if chunked:
            start = f"HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n\r\n{size:x}\r\n".encode()
            return sends(start + b"x" * size + b"\r\n0\r\n\r\n")
        return answers(b"x" * size, status=status)

    async with serving(body(1000), body(1001), answers()) as server:
        fits = await client.call(server.url, cap=1000)
        over = await client.call(server.url, cap=1000)
        assert FINE == await client.call(server.url)

    assert isinstance(fits, Responded)
    assert fits.body == b"x" * 1000
    detail = "body went over its cap of 1000 bytes: 1001 were read"
    assert over == CallFailed(why=Failure.OUTPUT_TOO_LARGE, detail=detail, stream="body", size=1001)
    assert server.connections == 2


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(answers(b"x" * 200 * 1024), id="200 KiB"),
        pytest.param(floods(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 4096), id="without end"),
    ],
)
async def test_a_flood_is_cut(client: Client, step: Step) -> None:
    """Reading stops soon after the cap, and the server sees the connection go."""
    async with serving(step) as server:
        reply = await client.call(server.url)
        assert failed(reply, Failure.OUTPUT_TOO_LARGE).startswith("body went over its cap of 16384 bytes: ")
        assert isinstance(reply, CallFailed)
        assert 16_384 < reply.size < 512 * 1024
        await server.left()


@pytest.mark.parametrize(
    ("step", "said"),
    [
        pytest.param(sends(b"garbage\r\n\r\n"), "Bad status line", id="garbage"),
        pytest.param(sends_and_closes(b"\x16\x03\x01\x00\x00"), "Bad status line", id="binary"),
        pytest.param(
            floods(b"HTTP/1.1 200 OK\r\n", f"x-a: {SECRET}\r\n".encode() * 100),
            "Too many headers received",
            id="endless headers",
        ),
        pytest.param(
            floods(b"HTTP/1.1 200 OK\r\nx-a: ", SECRET.encode() * 100),
            "Got more than 8190 bytes when reading",
            id="an endless header",
        ),
        pytest.param(sends(f"HTTP/1.1 200 OK\r\nx a: {SECRET}\r\n\r\n".encode()), "Invalid header token", id="header"),
    ],
)
async def test_what_is_not_http_is_malformed(client: Client, step: Step, said: str) -> None:
    """It is a failure as any other, whose text quotes nothing of it."""
    async with serving(step) as server:
        detail = failed(await client.call(server.url), Failure.MALFORMED_ANSWER)
        await server.left()

    assert f"request: http://127.0.0.1:{server.port}: its answer is not HTTP: {said}" == detail


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip"])
async def test_a_compressed_answer_is_malformed(client: Client, encoding: str) -> None:
    """It was not asked for, and what it unpacks to nobody bounds."""
    async with serving(answers(headers=(f"Content-Encoding: {encoding}",))) as server:
        detail = failed(await client.call(server.url), Failure.MALFORMED_ANSWER)

    assert detail.startswith(f"body: http://127.0.0.1:{server.port}: it came compressed")


async def test_identity_is_no_compression(client: Client) -> None:
    """A server may say that it did not compress."""
    async with serving(answers(headers=("Content-Encoding: Identity",))) as server:
        assert isinstance(await client.call(server.url), Responded)


# Servers that fail


async def test_a_server_that_is_down_is_unreachable(client: Client) -> None:
    """The text names it and says what the system said."""
    url = f"http://127.0.0.1:{unused_port()}"

    detail = failed(await client.call(f"{url}/path?key={SECRET}"), Failure.UNREACHABLE)
    assert f"request: {url}: Connection refused (os error 111)" == detail


async def test_a_name_that_is_not_found_is_unreachable(client: Client) -> None:
    """`.invalid` never is."""
    detail = failed(await client.call("http://hook.invalid/"), Failure.UNREACHABLE)

    assert detail.startswith("request: http://hook.invalid: its name is not found: ")


@pytest.mark.parametrize("method", ["POST", "GET", "PUT", "DELETE"])
@pytest.mark.parametrize("kept", [False, True], ids=["new", "kept"])
@pytest.mark.parametrize(
    ("step", "said"),
    [
        (sends_and_closes(b""), "it closed the connection without an answer"),
        (resets, "Connection reset by peer (os error 104)"),
    ],
    ids=["closes", "resets"],
)
async def test_a_request_that_was_sent_is_not_sent_again(
    client: Client, method: str, kept: bool, step: Step, said: str
) -> None:
    """A server may have acted on it, also where the method says that a second one would do no harm."""
    steps = (answers(), step) if kept else (step,)
    async with serving(*steps) as server:
        if kept:
            assert FINE == await client.call(server.url)
        detail = failed(await client.call(server.url, method=method), Failure.UNREACHABLE)
        await server.left()

    assert f"request: http://127.0.0.1:{server.port}: {said}" == detail
    assert (1, len(steps)) == (server.connections, len(server.requests))


@pytest.mark.parametrize(
    "data",
    [
        answer(b"ab", length=5),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
    ],
    ids=["length", "chunked"],
)
async def test_a_body_that_breaks_off_is_unreachable(client: Client, data: bytes) -> None:
    """Half an answer is none, and is not asked for again."""
    async with serving(sends_and_closes(data)) as server:
        detail = failed(await client.call(server.url), Failure.UNREACHABLE)

    assert f"body: http://127.0.0.1:{server.port}: it broke off after 2 bytes" == detail
    assert len(server.requests) == 1


async def test_a_body_that_turns_to_garbage_is_unreachable(client: Client) -> None:
    """So is one whose pieces stop to make sense."""
    go_on = asyncio.Event()

    async def step(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
        await go_on.wait()
        await peer.send(b"garbage\r\n")

    async with serving(step) as server:
        call = asyncio.ensure_future(client.call(server.url))
        await server.asked()
        for _ in range(10):  # turns in which the first piece is read
            await asyncio.sleep(0)
        go_on.set()
        assert failed(await call, Failure.UNREACHABLE).startswith("body: ")


async def test_tls_to_a_plain_port_is_unreachable(client: Client) -> None:
    """The server is not who it should be."""
    async with serving(greeting=sends(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as server:
        detail = failed(await client.call(f"https://127.0.0.1:{server.port}/"), Failure.UNREACHABLE)

    assert detail.startswith(f"request: https://127.0.0.1:{server.port}: ")
    assert server.requests == []


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: Any) -> Path:
    """A certificate for the address of loopback that nobody vouches for, with its key."""
    path: Path = tmp_path_factory.mktemp("tls") / "server.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", path.with_suffix(".key"), "-out", path.with_suffix(".crt")),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    path.write_bytes(path.with_suffix(".key").read_bytes() + path.with_suffix(".crt").read_bytes())
    return path


def tls_of(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def test_a_certificate_that_nobody_vouches_for_is_not_accepted(client: Client, certificate: Path) -> None:
    """The payload stays here."""
    async with serving(answers(), tls=tls_of(certificate)) as server:
        detail = failed(await client.call(server.url), Failure.UNREACHABLE)

    expected = "its certificate is not accepted: self-signed certificate"
    assert f"request: https://127.0.0.1:{server.port}: {expected}" == detail
    assert server.requests == []


TLS_PROGRAM = """
import asyncio, sys
from hookline._core.events import BeforeRun
from hookline._core.payload import Limits, Payload
from hookline.adapters import HttpTarget
from hookline.adapters.http import HttpAdapter

async def main():
    adapter = HttpAdapter()
    payload = Payload(BeforeRun(prompt=""), b"{}", "/")
    for _ in range(50):
        print((await adapter.call(HttpTarget(sys.argv[1]), payload, Limits(10))).status)
        sys.stdin.readline()  # the loop stands still until the server has closed
    await adapter.aclose()

asyncio.run(main())
"""


async def test_tls_connections_that_were_closed_are_noticed(certificate: Path) -> None:
    """With a certificate that is accepted, each call reaches a server that closes idle connections. In a program of its
    own, as which certificates are accepted is settled when the library is imported."""
    closed = asyncio.Semaphore(0)

    async def step(peer: Peer) -> None:
        await peer.send(answer())
        peer.close()
        for _ in range(5):  # turns in which it says so to the other end
            await asyncio.sleep(0)
        closed.release()

    async with serving(step, tls=tls_of(certificate)) as server:
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-u", "-c", TLS_PROGRAM, server.url),
            env={"SSL_CERT_FILE": str(certificate), "PYTHONPATH": ":".join(sys.path)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert program.stdin is not None
        assert program.stdout is not None
        for _ in range(50):
            assert b"200\n" == await program.stdout.readline()
            await closed.acquire()
            program.stdin.write(b"\n")
        assert 0 == await program.wait()

    assert 50 == server.connections


# Connections


async def test_connections_are_kept(client: Client) -> None:
    """One call after the other goes over the same connection."""
    async with serving(answers()) as server:
        for _ in range(20):
            assert FINE == await client.call(server.url)

    assert (1, 20) == (server.connections, len(server.requests))


async def test_an_idle_connection_that_is_reset_is_nobodys_error(client: Client) -> None:
    """However its answers came, there is nothing for the loop to report when it ends, and the next call is fine."""
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))

    async def in_two_pieces(peer: Peer) -> None:
        await peer.send(answer(b"{", length=2))
        for _ in range(10):  # turns in which the first is read
            await asyncio.sleep(0)
        await peer.send(b"}")

    async with serving(in_two_pieces) as server:
        for _ in range(3):
            assert FINE == await client.call(server.url)
        server.peers[0].reset()
        assert FINE == await client.call(server.url)
        gc.collect()

    assert (2, []) == (server.connections, reported)
    asyncio.get_running_loop().set_exception_handler(None)


async def test_a_server_that_closes_idle_connections_is_reached_each_time(client: Client) -> None:
    """The close has arrived and the loop has not had a turn since: it is noticed all the same, 200 times of 200."""
    with closing_server() as server:
        for _ in range(200):
            assert FINE == await client.call(server.url)
            server.wait_closed()
        assert 200 == server.connections


async def test_a_connection_that_is_lost_before_a_byte_was_sent_is_replaced(client: Client, monkeypatch: Any) -> None:
    """The close comes when the connection has just been chosen: once more, on a new one."""
    write = _http_exchange._Body.write
    lost: list[str] = []

    async def lose_first(body: Any, writer: Any) -> None:
        if not lost:
            lost.append("now")
            writer.transport.close()
        await write(body, writer)

    async with serving(answers()) as server:
        assert FINE == await client.call(server.url)
        monkeypatch.setattr(_http_exchange._Body, "write", lose_first)
        assert FINE == await client.call(server.url, method="post")

    assert ["POST /hook HTTP/1.1", "post /hook HTTP/1.1"] == [each.line for each in server.requests]
    assert 2 == server.connections


async def test_connections_that_are_lost_each_time_are_replaced_once(client: Client, monkeypatch: Any) -> None:
    """Two attempts are enough to say that a server does not want us."""
    write = _http_exchange._Body.write

    async def lose(body: Any, writer: Any) -> None:
        writer.transport.close()
        await write(body, writer)

    monkeypatch.setattr(_http_exchange._Body, "write", lose)
    async with serving(answers()) as server:
        detail = failed(await client.call(server.url), Failure.UNREACHABLE)

    assert detail.endswith(": it closed two connections before a byte was sent")
    assert (2, []) == (server.connections, server.requests)


async def test_many_calls_at_once_do_not_wait_for_one_another(client: Client) -> None:
    """More than aiohttp lets through by default, while others hang."""
    everybody = asyncio.Barrier(110)

    async def step(peer: Peer) -> None:
        await everybody.wait()
        await peer.send(answer())

    async with serving(hangs) as deaf, serving(step) as server:
        hanging = [asyncio.ensure_future(client.call(deaf.url)) for _ in range(20)]
        replies = await asyncio.gather(*(client.call(server.url) for _ in range(110)))
        for call in hanging:
            call.cancel()
        await asyncio.wait(hanging)

    assert [FINE] * 110 == replies


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_another_origin_is_the_answer(client: Client, status: int) -> None:
    """It is not followed: the payload and the headers are for one server only."""
    async with serving(answers()) as other:
        location = f"Location: {other.url}"
        async with serving(answers(b"", status=f"{status} Away", headers=(location,))) as server:
            reply = await client.call(server.url, ("Authorization", SECRET))

    expected = (("content-length", "0"), ("location", other.url))
    assert Responded(status=status, reason="Away", headers=expected) == reply
    assert (1, 0) == (len(server.requests), other.connections)


@pytest.mark.parametrize(
    "location",
    [
        "https://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://127.0.0.1/",
        "//127.0.0.2:{port}/",
        "ftp://a",
        "http://[",
        "mailto:a",
        "http://127.0.0.1:99999/",
    ],
)
async def test_another_origin_is_another_scheme_host_or_port(client: Client, location: str) -> None:
    """Or an address that cannot be understood."""

    async def step(peer: Peer) -> None:
        port = peer.writer.get_extra_info("sockname")[1]
        await peer.send(answer(status="307 Away", headers=(f"Location: {location.format(port=port)}",)))

    async with serving(step) as server:
        reply = await client.call(server.url)

    assert isinstance(reply, Responded)
    assert (307, 1) == (reply.status, len(server.requests))


@pytest.mark.parametrize("status", [300, 302, 304])
async def test_a_redirect_without_an_address_is_the_answer(client: Client, status: int) -> None:
    """So is what only looks like one."""
    async with serving(answers(b"", status=f"{status} Well")) as server:
        reply = await client.call(server.url)

    assert isinstance(reply, Responded)
    assert (status, 1) == (reply.status, len(server.requests))


@pytest.mark.parametrize(
    ("status", "method", "then", "body"),
    [
        (307, "POST", "POST", b"{}"),
        (308, "patch", "patch", b"{}"),
        (301, "POST", "GET", b""),
        (302, "POST", "GET", b""),
        (303, "POST", "GET", b""),
        (303, "PUT", "GET", b""),
        (302, "PUT", "PUT", b"{}"),
        (303, "HEAD", "HEAD", b"{}"),
    ],
)
async def test_a_redirect_within_the_origin_is_followed(
    client: Client, status: int, method: str, then: str, body: bytes
) -> None:
    """As browsers do it: who loses the body loses the headers about it, and nobody loses any other."""
    moved = answers(b"", status=f"{status} Moved", headers=("Location: there?a=b#c",))
    last = answers(b"" if method == "HEAD" else b"{}")
    async with serving(moved, last) as server:
        reply = await client.call(server.url, ("X-A", "1"), method=method)

    assert isinstance(reply, Responded)
    assert reply.status == 200
    _, second = server.requests
    assert (f"{then} /there?a=b HTTP/1.1", body, ["1"]) == (second.line, second.body, second.values("x-a"))
    length, kind = (["2"], ["application/json"]) if body else ([], [])
    assert (length, kind) == (second.values("content-length"), second.values("content-type"))
    assert server.connections == 1


async def test_credentials_of_the_address_stay_with_it(client: Client) -> None:
    """They are sent as such, also after a redirect within the origin, which cannot change them."""

    async def step(peer: Peer) -> None:
        port = peer.writer.get_extra_info("sockname")[1]
        await peer.send(answer(status="307 Moved", headers=(f"Location: http://x:y@127.0.0.1:{port}/there",)))

    async with serving(step, answers()) as server:
        assert FINE == await client.call(f"http://user:word@127.0.0.1:{server.port}/")

    assert [["Basic dXNlcjp3b3Jk"]] * 2 == [each.values("authorization") for each in server.requests]


async def test_ten_redirects_are_followed_and_no_more(client: Client) -> None:
    """The eleventh is one too many."""
    moved = answers(b"", status="307 Moved", headers=("Location: /hook",))
    async with serving(*[moved] * 10, answers(), *[moved] * 11) as server:
        assert FINE == await client.call(server.url)
        detail = failed(await client.call(server.url), Failure.UNREACHABLE)

    assert f"request: http://127.0.0.1:{server.port}: more than 10 redirects" == detail
    assert 22 == len(server.requests)


# Limits of time, cancellation, the end


@pytest.mark.parametrize(
    "hanging",
    [
        pytest.param(lambda: serving(hangs), id="no answer"),
        pytest.param(lambda: serving(greeting=reads_nothing), id="reads nothing"),
        pytest.param(lambda: serving(sends(b"HTTP/1.1 200 OK\r\nContent-")), id="half the headers"),
        pytest.param(lambda: serving(sends(answer(b"{", length=2))), id="half the body"),
        pytest.param(lambda: serving(floods(b"", b"HTTP/1.1 100 Continue\r\n\r\n")), id="100 for ever"),
    ],
)
async def test_a_server_that_hangs_times_out(client: Client, hanging: Any) -> None:
    """One limit covers sending, the headers and the body; the connection is gone, also one that takes nothing more."""
    async with hanging() as server:
        reply = await client.call(server.url, body=b"x" * 8_000_000, within=0.2)
        assert "hook timed out after 200ms" == failed(reply, Failure.TIMEOUT)
        if server.greeting is None:
            await server.left()


async def test_a_handshake_that_hangs_times_out(client: Client) -> None:
    """The limit covers TLS too."""
    async with serving(greeting=hangs) as server:
        reply = await client.call(f"https://127.0.0.1:{server.port}/", within=0.2)
        assert "hook timed out after 200ms" == failed(reply, Failure.TIMEOUT)
        await server.left()


async def test_a_connection_that_takes_no_more_does_not_linger(client: Client) -> None:
    """What was not sent of a request is given up at its limit. Nothing waits for the server to read it."""
    async with serving(greeting=reads_nothing) as server:
        before = descriptors()
        await client.call(server.url, body=b"x" * 8_000_000, within=0.2)
        for _ in range(3):
            await asyncio.sleep(0)
        assert before + 1 == descriptors()  # the server's end


async def test_a_trickle_times_out(client: Client) -> None:
    """That bytes keep coming does not move the limit."""

    async def step(peer: Peer) -> None:
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while True:
            await peer.send(b"x")
            await asyncio.sleep(0.05)

    async with serving(step) as server:
        assert "hook timed out after 300ms" == failed(await client.call(server.url, within=0.3), Failure.TIMEOUT)


async def test_redirects_share_one_limit(client: Client) -> None:
    """Each redirect takes of the same time."""

    async def step(peer: Peer) -> None:
        await asyncio.sleep(0.05)
        await peer.send(answer(b"", status="307 Moved", headers=("Location: /hook",)))

    async with serving(step) as server:
        assert "hook timed out after 200ms" == failed(await client.call(server.url, within=0.2), Failure.TIMEOUT)

    assert 1 < len(server.requests) < 6


async def test_no_time_is_a_timeout(client: Client) -> None:
    """Nothing is sent then."""
    async with serving(answers()) as server:
        assert "hook timed out after 0s" == failed(await client.call(server.url, within=0), Failure.TIMEOUT)

    assert server.connections == 0


async def test_cancelling_the_caller_ends_the_request(client: Client) -> None:
    """The cancellation passes through, and the server sees the connection go."""
    async with serving(hangs) as server:
        call = asyncio.ensure_future(client.call(server.url))
        await server.asked()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await server.left()


async def test_closing_cuts_off_what_is_under_way() -> None:
    """Nothing runs after it, nothing is started after it, and it may be closed again."""
    client = Client()
    async with serving(hangs) as server:
        calls = [asyncio.ensure_future(client.call(server.url)) for _ in range(3)]
        await server.asked(3)
        await client.adapter.aclose()
        await asyncio.wait(calls)
        await server.left()
        await client.adapter.aclose()
        after = await client.call(server.url)

    text = "request: cut off because the engine was closed"
    assert [text] * 3 == [failed(call.result(), Failure.UNREACHABLE) for call in calls]
    assert "no hook is started any more: the engine was closed" == failed(after, Failure.COULD_NOT_START)
    assert 3 == server.connections


async def test_an_adapter_that_was_never_called_can_be_closed() -> None:
    """There is nothing to close then."""
    await HttpAdapter().aclose()


def test_each_loop_has_connections_of_its_own() -> None:
    """A loop that ends closes those that were kept in it, also where nobody closed the adapter."""
    client = Client()

    async def one() -> FaultServer:
        async with serving(answers()) as server:
            for _ in range(2):
                assert FINE == await client.call(server.url)
        return server

    before = descriptors()
    for _ in range(2):
        assert 1 == asyncio.run(one()).connections
    asyncio.run(client.adapter.aclose())
    gc.collect()
    assert before == descriptors()


async def test_a_missing_library_says_what_to_install(client: Client, monkeypatch: Any) -> None:
    """aiohttp is optional, and only who calls over HTTP is told."""
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    monkeypatch.delitem(sys.modules, "hookline.adapters._http_exchange")

    reply = await client.call("http://127.0.0.1/")
    assert CallFailed(why=Failure.COULD_NOT_START, detail=NO_AIOHTTP) == reply


def test_the_library_is_imported_by_the_first_call_only() -> None:
    """Who has no HTTP hooks does not wait for it."""
    program = "import sys, hookline.adapters; hookline.adapters.builtin(); print('aiohttp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "False" == done.stdout.strip()

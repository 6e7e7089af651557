"""The HTTP port of `run`, with the real program behind it: answers, events, and what is refused."""

import asyncio
import contextlib
import http.client
import os
import socket
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.cli.rig import ENOUGH, TOKEN, Place, Port, events_in, script

from hookline._cli import listening
from hookline._cli.listening import Listener, address_of, bound
from hookline._core.errors import UsageError
from hookline._core.inputs import RuntimeState
from hookline._core.points import Origin
from hookline._core.records import InteractionPublished
from hookline.session.admission.wire import MAX_BYTES

NOBODYS = "01a22f9a-0000-7000-8000-000000000000"  # the id of no input
JSON = "application/json"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Port]:
    """One program for all tests that leave it as it was."""
    place = Place(tmp_path_factory.mktemp("shared"))
    yield place.listen()[1]
    place.close()


@contextlib.contextmanager
def raw(port: Port) -> Iterator[socket.socket]:
    """A connection without anything that knows HTTP."""
    with socket.create_connection((port.host, port.number), timeout=ENOUGH) as connection:
        yield connection


def answered(connection: socket.socket) -> bytes:
    """All that comes, up to the end of the connection."""
    answer = b""
    while chunk := connection.recv(65536):
        answer += chunk
    return answer


async def opened(session: Any = None, said: list[str] | None = None) -> tuple[Listener, Any]:
    """A port in this process, and what ends it."""
    listener = Listener(session, token=TOKEN, say=([] if said is None else said).append)
    return listener, await listener.open(bound("127.0.0.1", 0))


@pytest.mark.slow
def test_an_input_is_followed_to_its_end(place: Place) -> None:
    """It is accepted with its id, found while it is worked on, and has its result afterwards."""
    place.write("go", "")
    (place.project / "go").unlink()
    wait = {"call": {"tool": "bash", "input": {"command": "until test -e go; do sleep 0.02; done"}}}
    place.write("steps.yaml", script(wait, {"say": "well done"}))
    _, port = place.listen("--provider", "script", "--model", "steps.yaml", "--approval-mode", "never")

    given = port.post({"text": "go"})
    input_id = given.body["input_id"]
    second = port.post({"text": "and then?"}).body["input_id"]
    events = port.events()
    before = port.ask("GET", f"/inputs/{second}")
    place.write("go", "")
    first, last = next(events), next(events)
    events.close()
    after = port.ask("GET", f"/inputs/{input_id}")

    assert (202, {"outcome": "accepted", "input_id": input_id, "handling_mode": "queue"}) == (given.status, given.body)
    assert {"input_id": second, "input_kind": "prompt", "phase": "queued"} == before.body
    assert [(input_id, "1"), (second, "2")] == [(each.data["interaction_id"], each.id) for each in (first, last)]
    completion = {"type": "interaction_complete", "interaction_id": input_id, "result": "well done"}
    assert {"input_id": input_id, "input_kind": "prompt", "phase": "consumed", "completion": completion} == after.body


def test_what_a_run_comes_to_is_printed_too(place: Place) -> None:
    """Whoever gave the input: the operator sees the answers as `exec` shows them."""
    program, port = place.listen()
    port.post({"text": "hello"})

    program.prints("echo: hello\n")


def test_one_key_is_one_input(port: Port) -> None:
    """The second time the answer is 200, and names the input that stands for both."""
    first = port.post({"text": "hello", "idempotency_key": "k"}).body["input_id"]

    again = port.post({"text": "hello", "idempotency_key": "k"})

    assert (200, "deduplicated", first) == (again.status, again.body["outcome"], again.body["existing_input_id"])


def test_what_may_not_be_admitted_is_422(port: Port) -> None:
    """With the reason as a word and as a sentence."""
    refused = port.post({"text": "hello", "durability": "derived"})

    assert (422, "rejected", "durability_violation") == (
        refused.status,
        refused.body["outcome"],
        refused.body["reason"],
    )
    assert "External ingress cannot submit derived inputs" in refused.body["error"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", "an input is one JSON object"),
        ("nonsense", "an input is one JSON object"),
        ("[]", "object"),
        ('{"txt": "x"}', "the fields are kind, text"),
        ('{"kind": "whim"}', "the kinds are prompt"),
        ('{"text": 3}', "$.text"),
        ('{"text": "x", "text": "y"}', "text"),
        ('{"text": "\\ud800"}', "surrogate"),
        ('{"id": "one"}', "`id` has to be a UUID"),
        (b'{"text": "\xff"}', "not UTF-8"),
        ('{"data":' + "[" * 500 + "]" * 500 + "}", "nested more than 128 levels deep"),
    ],
)
def test_what_is_no_input_is_400(body: str | bytes, said: str, port: Port) -> None:
    """It says what is wrong."""
    refused = port.ask("POST", "/inputs", body, Content_Type=JSON)

    assert 400 == refused.status
    assert said in refused.body["error"]


@pytest.mark.parametrize("text", ["", "\0", "\u2028", "x\x1b[2J", "😀", "../../etc/passwd"])
def test_any_text_is_an_input(text: str, port: Port) -> None:
    """It comes back as it was given."""
    given = port.post({"text": text, "idempotency_key": f"key {text}"})

    assert 202 == given.status
    assert f"echo: {text}" == port.ended(given.body["input_id"])["completion"]["result"]


@pytest.mark.parametrize(
    ("method", "path", "status", "allowed"),
    [
        ("GET", "/", 404, None),
        ("GET", "/inputs/", 404, None),
        ("GET", "/inputs/%2e%2e%2fevents", 404, None),
        ("GET", "/inputs/..%2f..%2f..%2fetc%2fpasswd", 404, None),
        ("GET", "/../../etc/passwd", 404, None),
        ("GET", f"/inputs/{NOBODYS}", 404, None),
        ("GET", "/inputs/%00", 404, None),
        ("GET", "/inputs/%ff%fe", 404, None),
        ("GET", "/inputs/" + "x" * 4000, 404, None),
        ("GET", "/inputs", 405, "POST"),
        ("POST", "/events", 405, "GET,HEAD"),
        ("OPTIONS", "/inputs", 405, "POST"),
        ("DELETE", "/healthz", 405, "GET,HEAD"),
    ],
)
def test_what_is_not_there_is_said(method: str, path: str, status: int, allowed: str | None, port: Port) -> None:
    """404 or 405, in JSON as every answer."""
    refused = port.ask(method, path)

    assert (status, JSON) == (refused.status, refused.headers["Content-Type"].partition(";")[0])
    assert allowed == refused.headers.get("Allow")
    assert {"error"} == set(refused.body)


@pytest.mark.parametrize("path", ["/inputs", "/events", f"/inputs/{NOBODYS}", "/nowhere"])
@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", TOKEN, f"bearer {TOKEN}", "Bearer \udcff"]
)
def test_without_the_token_there_is_nothing(path: str, given: str, port: Port) -> None:
    """401 and how to bring it, for whatever path: nobody learns what there is. The token is not in the answer."""
    with raw(port) as connection:
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port.number}\r\nConnection: close\r\n"
        connection.sendall((head + f"Authorization: {given}\r\n\r\n").encode(errors="surrogateescape"))
        answer = answered(connection)

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"WWW-Authenticate: Bearer" in answer
    assert TOKEN.encode() not in answer


@pytest.mark.parametrize("path", ["/inputs", "/healthz"])
def test_a_web_page_s_request_is_refused(path: str, port: Port) -> None:
    """Even one that brings the token: what a browser sends for a page says so by its Origin."""
    assert 403 == port.ask("POST" if path == "/inputs" else "GET", path, "{}", Origin="https://example.org").status


@pytest.mark.parametrize("path", ["/inputs", "/events", "/healthz", "/nowhere"])
@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "example.org:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:{port}.example.org",
        "127.0.0.1:{port}@example.org",
        "localhost.example.org:{port}",
        "0.0.0.0:{port}",
        "127.0.0.1:{port}\r\nHost: example.org",
    ],
)
def test_a_request_for_another_name_is_refused(path: str, host: str | None, port: Port) -> None:
    """A page whose name was made to lead here still asks for its own name. With the token too, and for HTTP/1.0."""
    named = "" if host is None else f"Host: {host.format(port=port.number)}\r\n"
    with raw(port) as connection:
        head = f"GET {path} HTTP/1.0\r\n{named}Authorization: Bearer {TOKEN}\r\n\r\n"
        connection.sendall(head.encode())
        answer = answered(connection)

    assert answer.split(b" ")[1] in {b"403", b"400"}, answer  # the parser itself refuses two of them
    assert b"idle" not in answer


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_every_name_of_this_machine_will_do(host: str, port: Port) -> None:
    """They cannot be made to lead elsewhere."""
    assert 200 == port.ask("GET", "/healthz", Host=f"{host}:{port.number}").status


def test_health_needs_no_token(port: Port) -> None:
    """And tells nothing but the state."""
    assert (200, {"state": "idle"}) == ((answer := port.ask("GET", "/healthz", token="")).status, answer.body)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
        {"Content_Type": JSON, "Content_Encoding": "deflate"},
    ],
)
def test_anything_but_plain_json_is_415(headers: dict[str, str], port: Port) -> None:
    """A form, which any page may send, is none, and what is compressed is not blown up."""
    body = zlib.compress(b'{"text": "x"}') if "Content_Encoding" in headers else '{"text": "x"}'

    assert 415 == port.ask("POST", "/inputs", body, **headers).status


@pytest.mark.parametrize("says_so", [True, False])
def test_a_body_over_the_cap_is_413(says_so: bool, port: Port) -> None:
    """Whether it says its length or comes in chunks."""
    size = MAX_BYTES + 1
    head = f"POST /inputs HTTP/1.1\r\nHost: 127.0.0.1:{port.number}\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += f"Content-Type: {JSON}\r\nConnection: close\r\n"
    head += f"Content-Length: {size}\r\n\r\n" if says_so else "Transfer-Encoding: chunked\r\n\r\n"
    with raw(port) as connection:
        connection.sendall(head.encode())
        with contextlib.suppress(OSError):  # it need not read all of that
            for _ in range(0, size, 1 << 20):
                connection.sendall(
                    (b"" if says_so else b"100000\r\n") + b" " * (1 << 20) + (b"" if says_so else b"\r\n")
                )
            connection.sendall(b" " if says_so else b"1\r\n \r\n0\r\n\r\n")
        status = http.client.HTTPResponse(connection)
        status.begin()
        assert 413 == status.status
        status.close()

    assert 202 == port.post({"text": "still there"}).status


@pytest.mark.parametrize(
    "given",
    [
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /healthz\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + b"X: y\r\n" * 1000 + b"\r\n",
        b"GET /" + b"x" * 100_000,
    ],
)
@pytest.mark.slow
def test_what_is_no_request_disturbs_nobody(given: bytes, place: Place) -> None:
    """It is refused or cut off; the port goes on, and the terminal stays clean."""
    program, port = place.listen()
    with raw(port) as connection:
        connection.sendall(given)
        connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            assert not answered(connection).startswith(b"HTTP/1.1 2")

    assert 200 == port.ask("GET", "/healthz").status
    assert "Traceback" not in program.err()


@pytest.mark.slow
def test_a_runtime_that_takes_nothing_is_503(place: Place) -> None:
    """Retired, it refuses inputs as not ready, and says so when asked for its health."""
    from hookline._compose import inputs_store

    session = str(uuid.uuid4())

    async def retire() -> None:
        async with inputs_store(str(place.project / "inputs.db")) as store:
            await store.set_state(f"rt:session:{session}", RuntimeState.RETIRED)

    asyncio.run(retire())
    _, port = place.listen("--store", "inputs.db", "--session-id", session)

    refused, health = port.post({"text": "hello"}), port.ask("GET", "/healthz")

    assert (503, "not_ready") == (refused.status, refused.body["reason"])
    assert "Runtime not ready: retired" in refused.body["error"]
    assert (503, {"state": "retired"}) == (health.status, health.body)


@pytest.mark.slow
def test_a_store_that_cannot_be_used_is_503(place: Place) -> None:
    """The answer says why, and nothing is known to have been decided."""
    os.mkfifo(place.project / "go")
    place.write("steps.yaml", script({"call": {"tool": "bash", "input": {"command": "read line < go"}}}))
    model = ("--provider", "script", "--model", "steps.yaml", "--approval-mode", "never")
    _, port = place.listen("--store", "inputs.db", *model)
    port.post({"text": "wait"})
    with (place.project / "go").open("w"):  # it is at work then, and does not meet the store before the next input does
        for path in place.project.glob("inputs.db*"):
            if path.is_file():
                path.write_bytes(b"overwritten by somebody" * 1000)

        refused = port.post({"text": "hello"})

    assert 503 == refused.status
    assert "inputs.db" in refused.body["error"]


def test_events_are_told_from_the_start_and_from_where_a_reader_was(place: Place) -> None:
    """Each has the number that `Last-Event-ID` takes up after, and a reader that waits hears of what comes."""
    _, port = place.listen()
    ids = [port.post({"text": str(number)}).body["input_id"] for number in range(3)]
    from_the_start = port.events()
    assert ids == [next(from_the_start).data["interaction_id"] for _ in ids]
    later = port.events(last="2")
    assert ("3", ids[2]) == ((event := next(later)).id, event.data["interaction_id"])
    more = port.post({"text": "more"}).body["input_id"]
    for reader in (from_the_start, later):
        assert ("4", more) == ((event := next(reader)).id, event.data["interaction_id"])
        reader.close()


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "²", "", "9" * 19, "9" * 5000])
def test_a_place_in_the_log_is_a_number(last: str, port: Port) -> None:
    """Anything else is the reader's mistake, however many digits it has."""
    assert 400 == port.ask("GET", "/events", Last_Event_ID=last.encode().decode("latin-1")).status


def test_a_reader_from_the_future_waits(port: Port) -> None:
    """A number that the log has not reached is no fault."""
    connection = port.connect()
    connection.request("GET", "/events", headers={"Authorization": f"Bearer {TOKEN}", "Last-Event-ID": str(2**63 - 1)})
    assert 200 == connection.getresponse().status
    connection.close()


HOOK = """[[hooks.entries]]
id = "seen"
point = "run_started"
[hooks.entries.runtime]
type = "command"
command = "sh"
args = ["-c", "echo {}"]
"""


@pytest.mark.slow
def test_agent_events_are_told_as_they_come(place: Place) -> None:
    """The port streams the lines that --json would print, of whom --events says, to those who read at that moment."""
    place.write(".rkat/config.toml", HOOK)
    program, port = place.listen("--trust-workspace", "--events", "meerkat")
    ahead = port.events(kind="agent")
    connection = port.connect()
    connection.request("GET", "/events", headers={"Authorization": f"Bearer {TOKEN}"})
    connection.getresponse()  # its headers are there: it is a reader from now on
    port.post({"text": "before"})
    program.prints("echo: before")
    connection.close()
    reading = port.connect()
    reading.request("GET", "/events", headers={"Authorization": f"Bearer {TOKEN}"})
    response = reading.getresponse()
    ahead.close()
    port.post({"text": "hello"})

    found = []
    for event in events_in(response):
        found.append((event.kind, event.data["type"]))
        if found.count(("interaction", "interaction_complete")) == 2:
            break
    reading.close()
    assert [
        ("interaction", "interaction_complete"),
        ("agent", "hook_started"),
        ("agent", "hook_completed"),
        ("interaction", "interaction_complete"),
    ] == found


@pytest.mark.slow
def test_a_reader_that_goes_away_is_missed_by_nobody(place: Place) -> None:
    """Others hear on, work goes on, and nothing is printed about it."""
    program, port = place.listen()
    for _ in range(5):
        gone = port.connect()
        gone.request("GET", "/events", headers={"Authorization": f"Bearer {TOKEN}"})
        gone.getresponse()
        gone.close()
    staying = port.events()
    input_id = port.post({"text": "hello"}).body["input_id"]

    assert input_id == next(staying).data["interaction_id"]
    staying.close()
    assert "Traceback" not in program.err()


class Cut:
    """A transport that only knows whether it was cut."""

    def __init__(self) -> None:
        self.aborted = False

    def abort(self) -> None:
        self.aborted = True


def published(seq: int) -> InteractionPublished:
    return InteractionPublished(origin=Origin(), input_id="i", line=seq, what="interaction_complete")


def test_a_reader_that_is_too_far_behind_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection is cut, for what it has not read fills it; the others are told on. No news is lost in the log."""
    monkeypatch.setattr(listening, "LOST", 3)
    listener = Listener(None, token=TOKEN, say=print)  # type: ignore[arg-type]  # no request comes to it
    slow, quick = Cut(), Cut()
    behind = listening._Reader(slow)  # type: ignore[arg-type]
    reading = listening._Reader(quick)  # type: ignore[arg-type]
    listener._readers |= {behind, reading}
    for number in range(4):
        listener.watch(published(number), [])
        reading._told.get_nowait()

    assert (True, False) == (slow.aborted, quick.aborted)
    assert {reading} == listener._readers
    assert (True, False) == (behind.ended, reading.ended)


class Log:
    """A session as far as readers of events need one: each line of its log is large."""

    name = "log"

    def __init__(self) -> None:
        self.runtime = self.store = self

    async def events(self, name: str, *, after: int) -> list[SimpleNamespace]:
        return [SimpleNamespace(seq=after + 1, payload=b"x" * 1_000_000)]


async def test_a_reader_that_reads_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although its connection is full, it ends, and with it whatever was kept for that reader."""
    monkeypatch.setattr(listening, "LOST", 3)
    listener, close = await opened(Log())
    reading, writing = await asyncio.open_connection("127.0.0.1", listener.port, limit=1)
    head = f"GET /events HTTP/1.1\r\nHost: localhost:{listener.port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    writing.write(head.encode())
    assert b"HTTP/1.1 200" == await reading.readexactly(12)
    for number in range(5):
        listener.watch(published(number), [])

    with contextlib.suppress(ConnectionResetError):
        while await reading.read(65536):  # the log itself has no end
            pass
    assert set() == listener._readers
    writing.close()
    with contextlib.suppress(ConnectionResetError):
        await writing.wait_closed()
    await close()


@pytest.mark.parametrize("limit", ["HEAD_TIMEOUT", "MOST"])
async def test_nobody_keeps_a_connection_for_nothing(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that no request comes from is closed after a while, and one more than there may be at once."""
    monkeypatch.setattr(listening, limit, 0.05 if limit == "HEAD_TIMEOUT" else 0)
    listener, close = await opened()
    reading, writing = await asyncio.open_connection("127.0.0.1", listener.port)
    writing.write(b"GET /healthz HTTP/1.1\r\n")  # and never more

    with contextlib.suppress(ConnectionResetError):
        assert b"" == await reading.read()
    writing.close()
    with contextlib.suppress(ConnectionResetError):
        await writing.wait_closed()
    await close()


async def test_a_body_that_does_not_come_is_408(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sender that stops in the middle is not waited for without end."""
    monkeypatch.setattr(listening, "BODY_TIMEOUT", 0.05)
    listener, close = await opened()
    reading, writing = await asyncio.open_connection("127.0.0.1", listener.port)
    head = f"POST /inputs HTTP/1.1\r\nHost: localhost:{listener.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
    writing.write(f"{head}Content-Type: {JSON}\r\nContent-Length: 100\r\n\r\n{{".encode())

    assert (await reading.readline()).startswith(b"HTTP/1.1 408 ")
    writing.close()
    await writing.wait_closed()
    await close()


async def test_a_bug_of_ours_is_told_to_the_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client hears that it is one and nothing of it, the terminal has one line, the traceback is in a file."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    said: list[str] = []
    listener, close = await opened(None, said)
    reading, writing = await asyncio.open_connection("127.0.0.1", listener.port)
    head = f"GET /healthz HTTP/1.1\r\nHost: localhost:{listener.port}\r\nConnection: close\r\n\r\n"
    writing.write(head.encode())

    answer = await reading.read()
    assert answer.startswith(b"HTTP/1.1 500 ")
    assert b"NoneType" not in answer
    (line,) = said
    (report,) = tmp_path.iterdir()
    why = "AttributeError: 'NoneType' object has no attribute 'runtime'"
    assert f"this is a bug of ours ({why}); its report is in {report}" == line
    assert why in report.read_text()
    writing.close()
    await writing.wait_closed()
    await close()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("8765", ("127.0.0.1", 8765)),
        (":8765", ("127.0.0.1", 8765)),
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("localhost:65535", ("127.0.0.1", 65535)),
        ("[::1]:1", ("::1", 1)),
    ],
)
def test_an_address_is_read(text: str, address: tuple[str, int]) -> None:
    """A port alone is one of 127.0.0.1, and so is localhost's: one name, one socket."""
    assert address == address_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "x",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "127.0.0.1:²",
        "127.0.0.1:" + "9" * 5000,
        "0.0.0.0:1",
        "[::]:1",
        "::1",
        "192.0.2.1:1",
        "example.org:1",
        "[127.0.0.1]]:1",
        "127.0.0.1:1:2",
        "*:1",
    ],
)
def test_what_is_no_address_of_this_machine_s_own_is_refused(text: str) -> None:
    """Nobody outside may give the agent work, by whatever spelling."""
    with pytest.raises(UsageError, match="--listen takes"):
        address_of(text)

"""What a component may not do: each attempt fails, in bounded time, and the next call works."""

import http.server
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.component_rig import ECHO, GROWS, INTERFACE, LOOPS, Import, component
from tests.component_wasi import (
    CLOCK,
    CONNECTION_REFUSED,
    CONNECTS,
    DENIED,
    ENVIRONMENT,
    FILES,
    FOLDER,
    HTTP,
    LINKS,
    READS,
    REQUESTING,
    REQUESTS,
    SLEEPS,
    SOCKETS,
    TELLS_ENVIRONMENT,
    WRITES,
)
from tests.unit.adapters.component.guests import LATE, WITHIN, Guests, event, nothing, said

from hookline._core.capsule import CallLimits, Destination
from hookline._core.components import ComponentTarget, Folder
from hookline._core.payload import CallFailed, Reply, Yielded
from hookline._core.reasons import Failure
from hookline.adapters._component.gate import is_granted

ON = event("on")


def refused(text: str) -> CallFailed:
    return CallFailed(why=Failure.ERROR, detail=text, interface=INTERFACE)


async def goes_on(guests: Guests, target: ComponentTarget) -> Reply:
    """The next call."""
    return await guests.ask(target, ON, function="on-other")


@pytest.mark.parametrize(
    ("body", "imported"),
    [
        pytest.param(SLEEPS, CLOCK, id="sleep"),
        pytest.param(LOOPS, CLOCK, id="loop"),
    ],
)
async def test_the_deadline_ends_a_worker(guests: Guests, body: str, imported: Import) -> None:
    """One that sleeps, which nothing can interrupt, and one that loops are killed at the deadline."""
    target = guests.target(component({"on-event": body, "on-other": ECHO}, (imported,)))

    assert LATE == await guests.call(target, number=10**15, within=WITHIN)
    assert said("on", fresh=True) == await goes_on(guests, target)


async def test_memory_of_a_worker_is_bounded(guests: Guests) -> None:
    """One that takes memory without end meets its limit in a worker as well."""
    bodies = {"on-event": GROWS, "on-other": ECHO}
    target = guests.target(component(bodies, (CLOCK,)), limits=CallLimits(memory_bytes=16 * 65_536))

    reply = await guests.call(target)
    assert isinstance(reply, CallFailed)
    assert Failure.CRASHED is reply.why
    assert said("on", fresh=True) == await goes_on(guests, target)


async def test_the_environment_is_what_was_given(guests: Guests, monkeypatch: pytest.MonkeyPatch) -> None:
    """A component sees its own environment, and nothing of ours."""
    monkeypatch.setenv("SECRET", "s3cret")
    data = component(TELLS_ENVIRONMENT, (ENVIRONMENT,))

    granted = Yielded(arm="many", value=["A", "1", "B", ""], interface=INTERFACE)
    assert granted == await guests.call(guests.target(data, env={"A": "1", "B": ""}))
    assert Yielded(arm="many", value=[], interface=INTERFACE) == await guests.call(guests.target(data))


FILE_WORK = component(
    {"on-event": READS, "on-other": ECHO, "on-write": WRITES, "on-link": LINKS}, (FILES,), more=FOLDER
)
NOT_PERMITTED, NO_ENTRY = chr(48 + 31), chr(48 + 20)  # where they stand among the error codes


@pytest.fixture
def yard(tmp_path: Path) -> Path:
    """A folder with a file in it, links that lead out of it, and a file beside it."""
    yard = tmp_path / "yard"
    yard.mkdir()
    (tmp_path / "outside").write_text("secret")
    (yard / "inside").write_text("public")
    (yard / "up").symlink_to("../outside")
    (yard / "far").symlink_to(tmp_path / "outside")
    (yard / "out").symlink_to("..")
    os.mkfifo(yard / "fifo")
    return yard


async def test_files_are_those_of_its_folder(guests: Guests, yard: Path) -> None:
    """What lies in the folder can be read and written; no path, and no link, leads out of it."""
    target = guests.target(FILE_WORK, folders=(Folder(guest=".", path=yard),))

    assert said("public") == await guests.call(target, "inside")
    for path in ("../outside", str(yard.parent / "outside"), "up", "far", "out/outside", "./../yard/../outside"):
        assert refused(NOT_PERMITTED) == await guests.call(target, path), path
    for path in ("../new", "out/new", str(yard.parent / "new")):
        assert refused(NOT_PERMITTED) == await guests.ask(target, event(path, note="x"), function="on-write"), path
    assert nothing() == await guests.ask(target, event("new", note="written"), function="on-write")
    assert "written" == (yard / "new").read_text()
    assert not (yard.parent / "new").exists()


async def test_links_of_its_own_lead_nowhere_either(guests: Guests, yard: Path) -> None:
    """A guest may plant a link in its folder, and does not get out by it."""
    target = guests.target(FILE_WORK, folders=(Folder(guest=".", path=yard),))

    assert refused(NOT_PERMITTED) == await guests.ask(target, event("mine", note="/etc/passwd"), function="on-link")
    assert nothing() == await guests.ask(target, event("mine", note="../outside"), function="on-link")
    assert refused(NOT_PERMITTED) == await guests.call(target, "mine")


async def test_without_a_folder_there_are_no_files(guests: Guests) -> None:
    """A component that was granted no folder finds none; it loads all the same."""
    assert refused("nowhere") == await guests.call(guests.target(FILE_WORK), "inside")


async def test_a_folder_that_is_not_there_could_not_start(guests: Guests, tmp_path: Path) -> None:
    """A grant that cannot be had is told, and not passed over."""
    missing = tmp_path / "missing"
    reply = await guests.call(guests.target(FILE_WORK, folders=(Folder(guest=".", path=missing),)))
    assert CallFailed(why=Failure.COULD_NOT_START, detail=f"its folder {missing} cannot be opened") == reply


async def test_a_pipe_that_nobody_writes_to_holds_nobody_up(guests: Guests, yard: Path) -> None:
    """A guest that opens a named pipe in its folder is killed at the deadline."""
    target = guests.target(FILE_WORK, folders=(Folder(guest=".", path=yard),))

    assert LATE == await guests.call(target, "fifo", within=WITHIN)
    assert said("on", fresh=True) == await goes_on(guests, target)


@pytest.fixture
def server() -> Iterator[int]:
    """The port of a server that answers 204."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


async def test_sockets_are_never_granted(guests: Guests, server: int) -> None:
    """A socket does not connect, not even to a place that requests may go to."""
    target = guests.target(component(CONNECTS, (SOCKETS,)), network=(Destination(host="127.0.0.1"),))
    assert said("1") == await guests.call(target, number=server)  # access-denied


REQUESTING_HOOK = component({"on-event": REQUESTS, "on-other": ECHO}, (HTTP,), more=REQUESTING)


async def test_requests_go_to_places_that_were_granted(guests: Guests, server: int) -> None:
    """A request to a granted place is sent; to any other port, host or spelling it is denied, and the guest told so."""
    place = Destination(host="127.0.0.1", port=server, scheme="http")
    target = guests.target(REQUESTING_HOOK, network=(place,))

    assert said("2") == await guests.call(target, f"127.0.0.1:{server}")
    for authority in ("127.0.0.1", "127.0.0.1:1", f"localhost:{server}", f"x@127.0.0.1:{server}", "example.org"):
        assert refused(DENIED) == await guests.call(target, authority), authority
    assert refused(DENIED) == await guests.call(target, f"127.0.0.1:{server}", number=1)  # by HTTPS


async def test_without_a_grant_no_request_is_sent(guests: Guests, server: int) -> None:
    """A component that was granted no place loads, and every request of its is denied."""
    target = guests.target(REQUESTING_HOOK)
    assert refused(DENIED) == await guests.call(target, f"127.0.0.1:{server}")
    assert said("on") == await goes_on(guests, target)


async def test_a_server_that_hangs_holds_nobody_up(guests: Guests) -> None:
    """A guest that waits for a server is killed at the deadline; one that finds none is told by the library."""
    target = guests.target(REQUESTING_HOOK, network=(Destination(host="127.0.0.1"),))
    with socket.socket() as hanging:
        hanging.bind(("127.0.0.1", 0))
        hanging.listen(1)
        port = hanging.getsockname()[1]
        assert LATE == await guests.call(target, f"127.0.0.1:{port}", within=WITHIN)

    assert said("on", fresh=True) == await goes_on(guests, target)
    assert refused(CONNECTION_REFUSED) == await guests.call(target, f"127.0.0.1:{port}")


UNKNOWN = Import(
    """
  (import "wasi:keyvalue/store@0.2.0" (instance $keys
    (export "bucket" (type $bucket (sub resource)))
    (export "open" (func (param "name" string) (result (own $bucket))))))
""",
    (("open", 'canon lower (func $keys "open")', "(param i32 i32) (result i32)"),),
)


async def test_wasi_that_nobody_has_refuses_at_the_call(guests: Guests) -> None:
    """A component that imports more of WASI than there is loads, and traps where it uses that."""
    uses = "(drop (call $open (local.get $text) (local.get $text-len))) (call $none)"
    target = guests.target(component({"on-event": uses, "on-other": ECHO}, (UNKNOWN,)))

    assert said("on") == await goes_on(guests, target)
    reply = await guests.call(target)
    assert isinstance(reply, CallFailed)
    assert (Failure.CRASHED, "wasi:keyvalue/store@0.2.0#open is not granted") == (reply.why, reply.detail)


@pytest.mark.parametrize(
    ("scheme", "authority", "place"),
    [
        ("HTTP", "Example.ORG", Destination(host="example.org")),
        ("HTTPS", "example.org", Destination(host="example.org", port=443)),
        ("HTTP", "example.org", Destination(host="example.org", port=80)),
        (None, "example.org", Destination(host="example.org", scheme="https")),
        ("HTTP", "[::1]:8080", Destination(host="::1", port=8080)),
        ("HTTP", "example.org.", Destination(host="example.org")),
    ],
)
def test_a_place_is_granted(scheme: str | None, authority: str, place: Destination) -> None:
    """Hosts count in any case, the port of a scheme where none is written, and HTTPS where no scheme is."""
    assert is_granted(scheme, authority, [place])


@pytest.mark.parametrize(
    ("scheme", "authority"),
    [
        ("HTTP", None),
        ("HTTP", ""),
        ("HTTP", "example.org:"),
        ("HTTP", "example.org:80:80"),
        ("HTTP", "example.org@evil.example"),
        ("HTTP", "evil.example#example.org"),
        ("HTTP", "example.org.evil.example"),
        ("HTTP", "example.org\n"),
        ("other", "example.org"),
    ],
)
def test_a_place_is_not_granted(scheme: str, authority: str | None) -> None:
    """What is not plainly a host that was granted is none."""
    assert not is_granted(scheme, authority, [Destination(host="example.org")])

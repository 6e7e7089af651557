"""Files that are components and files that are none, and what is kept of those that were compiled."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.component_rig import CALLS, COUNTS, ECHO, HOST, INTERFACE, TRAPS, component, written
from tests.component_wasi import CLOCK, SLEEPS
from tests.unit.adapters.component.guests import DESK, SERVED, Guests, said

from hookline._core.components import Lifetime
from hookline._core.payload import CallFailed
from hookline._core.reasons import Failure
from hookline.adapters._component import source
from hookline.adapters._component.exported import Inspected
from hookline.adapters.component import inspect

HEADER = b"\0asm\x0d\0\x01\0"
STARTS = "(func $start unreachable) (start $start)"  # of a module whose start function traps


def detail_of(reply: object) -> str:
    assert isinstance(reply, CallFailed)
    assert reply.why is Failure.COULD_NOT_START
    return reply.detail


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        pytest.param(b"", "the file is empty", id="empty"),
        pytest.param(b"(component)", "not WebAssembly", id="text"),
        pytest.param(os.urandom(1000).replace(b"\0asm", b""), "not WebAssembly", id="random"),
        pytest.param(b"\0asm\x01\0\0\0", "a core module, not a component", id="core module"),
        pytest.param(HEADER + b"\x07\xff", "unexpected end-of-file (at offset 0xa)", id="cut"),
        pytest.param(HEADER + bytes(range(200)), "not a component that can be compiled: ", id="garbled"),
        pytest.param(HEADER, f"it exports no interface instead of {INTERFACE}", id="bare"),
    ],
)
async def test_what_is_no_component_could_not_start(guests: Guests, data: bytes, detail: str) -> None:
    """Whatever the file holds, the reason is told, and nothing is run."""
    assert detail in detail_of(await guests.call(guests.target(data)))


async def test_a_file_that_is_not_there_or_no_file_is_named(guests: Guests, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing file, a folder, a pipe that nobody writes to and a file beyond the cap are told apart."""
    missing, pipe = guests.folder / "missing.wasm", guests.folder / "pipe"
    os.mkfifo(pipe)
    large = written(guests.folder / "large.wasm", component(ECHO))
    monkeypatch.setattr(source, "LARGEST", 100)

    assert f"{missing}: No such file or directory" == detail_of(await inspect(missing))
    assert f"{guests.folder}: not a regular file" == detail_of(await inspect(guests.folder))
    assert f"{pipe}: not a regular file" == detail_of(await inspect(pipe))
    assert f"{large}: larger than 100 bytes" == detail_of(await inspect(large))


async def test_what_is_inspected_does_not_run(tmp_path: Path) -> None:
    """What a component exports and imports is known by function without any of its code."""
    path = written(tmp_path / "hook.wasm", component({"on-event": ECHO, "on-other": TRAPS}, (HOST,), more=STARTS))

    expected = Inspected(
        exports={INTERFACE: frozenset({"on-event", "on-other"})},
        imports={DESK: frozenset({"echo", "count", "knock"})},
    )
    assert expected == await inspect(path)
    assert not expected.asks_for_wasi


async def test_what_is_prepared_has_an_instance(guests: Guests) -> None:
    """Preparing does what the first call would do: it fails where that would, and the call then finds all in place."""
    sound = guests.target(component(COUNTS, more=CALLS))
    assert isinstance(await guests.adapter.prepare(sound), Inspected)
    assert said("1") == await guests.call(sound)

    start = guests.target(component(ECHO, more=STARTS))
    detail = "it cannot be instantiated: wasm trap: wasm `unreachable` instruction executed"
    assert detail == detail_of(await guests.adapter.prepare(start))
    lacking = guests.target(component({"on-other": ECHO}), lifetime=Lifetime.ONE_CALL)
    assert f"missing function {INTERFACE}#on-event" == detail_of(await guests.adapter.prepare(lacking))


async def test_a_worker_is_prepared_like_any_other(guests: Guests) -> None:
    """Of a component that imports WASI it is known, and its worker is ready."""
    found = await guests.adapter.prepare(guests.target(component(SLEEPS, (CLOCK,))))
    assert isinstance(found, Inspected)
    assert found.asks_for_wasi


async def test_what_was_compiled_is_kept_for_ourselves(guests: Guests) -> None:
    """The folder is made for us alone, with one file for each component, which nobody else may read."""
    data = component(ECHO)
    for target in (guests.target(data), guests.target(data)):
        assert said("hello") == await guests.call(target)

    folder = guests.folder / "compiled"
    assert 0o700 == folder.stat().st_mode & 0o777
    (kept,) = folder.iterdir()
    assert 0o600 == kept.stat().st_mode & 0o777


@pytest.mark.parametrize("damage", ["cut", "flipped", "foreign", "empty", "a folder"])
async def test_damage_is_mended(guests: Guests, damage: str) -> None:
    """A kept file that is not as it was written is not used, and the component is compiled again."""
    one, other = component(ECHO), component(COUNTS, more=CALLS)
    assert said("hello") == await guests.call(guests.target(one))
    (kept,) = (guests.folder / "compiled").iterdir()
    whole = kept.read_bytes()
    match damage:
        case "cut":
            kept.write_bytes(whole[:-1])
        case "flipped":
            kept.write_bytes(whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
        case "foreign":  # another component's, under this one's name
            assert said("1") == await guests.call(guests.target(other))
            (foreign,) = set(kept.parent.iterdir()) - {kept}
            kept.write_bytes(foreign.read_bytes())
        case "empty":
            kept.write_bytes(b"")
        case "a folder":
            kept.unlink()
            kept.mkdir()

    assert said("hello") == await guests.call(guests.target(one))
    if damage != "a folder":
        assert len(whole) == len(kept.read_bytes())


async def test_a_folder_of_others_is_refused(guests: Guests) -> None:
    """Compiled code is neither read from nor written to a folder that others may enter, or one behind a link."""
    folder = guests.folder / "compiled"
    folder.mkdir()
    folder.chmod(0o755)
    expected = f"folder of compiled components {folder}: must be ours alone, with mode 0700"
    assert expected == detail_of(await guests.call(guests.target(component(ECHO))))
    assert [] == list(folder.iterdir())

    folder.rmdir()
    elsewhere = guests.folder / "elsewhere"
    elsewhere.mkdir(0o700)
    folder.symlink_to(elsewhere)
    expected = f"folder of compiled components {folder}: not a folder"
    assert expected == detail_of(await guests.call(guests.target(component(ECHO))))


async def test_a_worker_whose_compiled_form_is_gone_is_made_again(guests: Guests) -> None:
    """The file may go while the adapter lives: that call could not start, the next one compiles again."""
    target = guests.target(component(SLEEPS, (CLOCK,)), lifetime=Lifetime.ONE_CALL)
    await guests.adapter.prepare(target)
    (kept,) = (guests.folder / "compiled").iterdir()
    kept.unlink()

    assert "its compiled form is gone" == detail_of(await guests.call(target))
    assert "none" == getattr(await guests.call(target), "arm", None)


async def test_compiling_leaves_the_loop_its_turns(guests: Guests) -> None:
    """While a large component is compiled the loop goes on."""
    functions = "".join(
        f"(func (param i64) (result i64) {'(i64.add (i64.const 1)' * 20} local.get 0 {')' * 20})" for _ in range(700)
    )
    call = asyncio.ensure_future(guests.call(guests.target(component(ECHO, more=functions))))
    turns = 0
    while not call.done():
        await asyncio.sleep(0)
        turns += 1

    assert said("hello") == await call
    assert turns > 20


def test_without_wasmtime_the_remedy_is_told(tmp_path: Path) -> None:
    """The adapter can be had without the library, which it asks for by its extra when it is called."""
    path = written(tmp_path / "hook.wasm", component(ECHO))
    script = f"""
import asyncio, sys
sys.modules["wasmtime"] = None
from hookline.adapters.component import inspect
print(asyncio.run(inspect(__import__("pathlib").Path({str(path)!r}))).detail)
"""
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert "components need wasmtime, which is not installed: pip install 'hookline[wasm]'\n" == told.stdout


def test_the_adapters_do_not_load_wasmtime() -> None:
    """Whoever has no component does not pay for the library."""
    script = "import sys, hookline.adapters, hookline.adapters.component; sys.exit('wasmtime' in sys.modules)"
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert 0 == subprocess.run([sys.executable, "-c", script], env=env, check=False).returncode


def test_the_interfaces_of_the_rig_are_served() -> None:
    """What these tests call is the first function that is required."""
    assert {"on-event"} == SERVED[0].required

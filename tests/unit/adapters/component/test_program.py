"""A program in the place of a component, which speaks for it in lines."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.component_rig import INTERFACE
from tests.unit.adapters.component.guests import LATE, SERVED, WITHIN, Desk, Guests, event, refusal, said

from hookline._core.components import ComponentTarget, Folder, Lifetime
from hookline._core.payload import CallFailed, Yielded
from hookline._core.reasons import Failure
from hookline.adapters._component import lines, talk
from hookline.adapters.component import Inspected

BEGINS = f"""
import json, os, sys, time
def say(message): print(json.dumps(message), flush=True)
def hear(): return json.loads(sys.stdin.readline())
say({{"ready": {INTERFACE!r}, "functions": ["on-event", "on-other"]}})
calls = 0
"""
SERVES = (
    BEGINS + "while True:\n    call = hear(); calls += 1; argument = call['argument']; text = argument['text']\n    "
)


def program(script: str, **more: Any) -> ComponentTarget:
    argv = (sys.executable, "-I", "-S", "-c", script)
    return ComponentTarget(subject="the hook", path=Path("none.wasm"), interfaces=SERVED, program=argv, **more)


def failed(why: Failure, detail: str) -> CallFailed:
    return CallFailed(why=why, detail=detail, interface=INTERFACE)


async def test_a_program_answers_like_a_component(guests: Guests) -> None:
    """It is told the function and its argument, and answers with a case or an error."""
    target = program(
        SERVES + "say({'err': 'not like this'} if text == 'bad' else {'ok': 'said', 'value': [call['call'], argument]})"
    )

    reply = Yielded(arm="said", value=["on-event", event("x", 3)], interface=INTERFACE)
    assert reply == await guests.call(target, "x", 3)
    assert failed(Failure.ERROR, "not like this") == await guests.call(target, "bad")
    assert Yielded(arm="said", value=["on-other", event()], interface=INTERFACE) == await guests.ask(
        target, event(), function="on-other"
    )


async def test_a_program_says_what_it_has(guests: Guests) -> None:
    """What it is ready for is what was inspected of it; one for a single call is started for that, and ended."""
    target = program(SERVES + "say({'ok': 'said', 'value': str(calls)})", lifetime=Lifetime.ONE_CALL)

    found = Inspected(exports={INTERFACE: frozenset({"on-event", "on-other"})}, imports={})
    assert found == await guests.adapter.prepare(target)
    assert [said("1"), said("1")] == [await guests.call(target), await guests.call(target)]


async def test_a_program_asks_the_host(guests: Guests) -> None:
    """It may ask before it answers, and is told no where it was granted nothing."""
    script = SERVES + "say({'ask': text, 'arguments': [1, 'a']}); say({'ok': 'said', 'value': hear()})"
    desk = Desk({"echo": {"some": "thing"}, "count": refusal("shut")})
    target = program(script, host=desk)

    assert {"ok": {"some": "thing"}} == (await guests.call(target, "demo:host/desk@1.0.0#echo")).value  # type: ignore[union-attr]
    assert {"err": "shut"} == (await guests.call(target, "demo:host/desk@1.0.0#count")).value  # type: ignore[union-attr]
    assert {"err": "else is not granted"} == (await guests.call(target, "else")).value  # type: ignore[union-attr]
    assert [("demo:host/desk@1.0.0#echo", (1, "a")), ("demo:host/desk@1.0.0#count", (1, "a"))] == desk.asked


async def test_a_program_has_its_environment_and_its_folder(guests: Guests, tmp_path: Path) -> None:
    """Its environment is the target's, whole; it runs in its first folder, or in an empty one that goes with it."""
    script = SERVES + "say({'ok': 'said', 'value': [sorted(os.environ), os.getcwd(), os.listdir()]})"
    (tmp_path / "file").touch()
    yard = tmp_path / "yard"
    yard.mkdir()
    (yard / "inside").touch()

    reply = await guests.call(program(script, env={"A": "1"}, folders=(Folder(guest=".", path=yard),)))
    assert isinstance(reply, Yielded)
    environment, folder, files = reply.value
    assert ["A"] == [name for name in environment if name != "LC_CTYPE"]  # which Python sets for itself
    assert (str(yard), ["inside"]) == (folder, files)

    reply = await guests.call(program(script, lifetime=Lifetime.ONE_CALL))
    assert isinstance(reply, Yielded)
    assert [] == reply.value[2]
    assert not Path(reply.value[1]).exists()


@pytest.mark.parametrize(
    ("script", "why", "detail"),
    [
        pytest.param("print('oh', flush=True)", Failure.MALFORMED_ANSWER, "its line is not JSON: ", id="no json"),
        pytest.param("print('[]', flush=True)", Failure.MALFORMED_ANSWER, "its line is no object", id="no object"),
        pytest.param(
            'print(\'{"ok":"a","ok":"b"}\', flush=True)',
            Failure.MALFORMED_ANSWER,
            "its line is not JSON: ",
            id="twice",
        ),
        pytest.param(
            "say({'value': 1})",
            Failure.MALFORMED_ANSWER,
            "its line is neither an answer nor a question",
            id="neither",
        ),
        pytest.param("say({'ok': 1})", Failure.MALFORMED_ANSWER, "its line is neither", id="arm"),
        pytest.param("say({'ok': 'a', 'err': 1})", Failure.MALFORMED_ANSWER, "its line is neither", id="error"),
        pytest.param(
            'sys.stdout.write(\'{"ok":"a"}\\n{"ok":"b"}\\n\'); sys.stdout.flush()',
            Failure.MALFORMED_ANSWER,
            "it spoke when it was not its turn",
            id="two",
        ),
        pytest.param("sys.exit('bye')", Failure.CRASHED, "its process ended", id="exit"),
        pytest.param("say({'failed': 'yes'})", Failure.MALFORMED_ANSWER, "it failed in words that are none", id="fail"),
        pytest.param(
            "say({'failed': {'why': 'over_limit', 'detail': 'x', 'stream': 'memory', 'size': 7}})",
            Failure.OVER_LIMIT,
            "x",
            id="own failure",
        ),
    ],
)
async def test_a_program_that_talks_nonsense_is_ended(guests: Guests, script: str, why: Failure, detail: str) -> None:
    """Whatever is no answer is a failure of its own, and the next call has a new process."""
    target = program(
        SERVES
        + "sys.stderr.write('last words')\n    if text == 'on': say({'ok': 'said', 'value': 'on'})\n    else: "
        + script
    )

    reply = await guests.call(target)
    assert isinstance(reply, CallFailed)
    assert why is reply.why
    assert reply.detail.startswith(detail)
    assert said("on", fresh=True) == await guests.call(target, "on")


async def test_a_program_that_hangs_is_killed(guests: Guests) -> None:
    """One that neither answers nor listens is killed with all that it started, at the deadline."""
    script = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SERVES + "time.sleep(300)"
    assert LATE == await guests.call(program(script), within=WITHIN)


async def test_a_line_without_end_is_too_large(guests: Guests, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a line may have is not kept."""
    monkeypatch.setattr(talk, "LONGEST", 100_000)
    reply = await guests.call(program(SERVES + "while True: sys.stdout.write('x' * 10_000)"))

    assert isinstance(reply, CallFailed)
    assert (Failure.OUTPUT_TOO_LARGE, "stdout") == (reply.why, reply.stream)


async def test_a_long_line_is_whole(guests: Guests) -> None:
    """A long argument arrives, and so does a long answer."""
    reply = await guests.call(program(SERVES + "say({'ok': 'said', 'value': text + text})"), "ab" * 500_000)
    assert said("ab" * 1_000_000) == reply


@pytest.mark.parametrize(
    ("script", "detail"),
    [
        pytest.param("print('{}')", "its first line does not say that it is ready", id="something else"),
        pytest.param("", "its process ended", id="nothing"),
        pytest.param("print('oh')", "its line is not JSON: ", id="no json"),
        pytest.param(
            f"print({json.dumps({'ready': INTERFACE, 'functions': []})!r})",
            f"missing function {INTERFACE}#on-event",
            id="too little",
        ),
        pytest.param(
            f"print({json.dumps({'ready': 'demo:tool/run', 'functions': []})!r})",
            f"it exports demo:tool/run instead of {INTERFACE}",
            id="another",
        ),
    ],
)
async def test_a_program_that_is_not_ready_could_not_start(guests: Guests, script: str, detail: str) -> None:
    """One that does not begin as it should is ended, and why is told."""
    reply = await guests.call(program(script))
    assert isinstance(reply, CallFailed)
    assert Failure.COULD_NOT_START is reply.why
    assert reply.detail.startswith(detail)


async def test_a_program_that_is_not_there_could_not_start(guests: Guests) -> None:
    """What is missing is named."""
    target = ComponentTarget(subject="x", path=Path("x"), interfaces=SERVED, program=("/nowhere/hook",))
    reply = await guests.call(target)
    assert isinstance(reply, CallFailed)
    assert Failure.COULD_NOT_START is reply.why
    assert reply.detail.startswith("program /nowhere/hook: No such file or directory")


def test_what_is_said_fits_into_utf8() -> None:
    """Halves of characters, which no UTF-8 has, go as escapes."""
    assert b'{"text":"\\ud800"}\n' == lines.line({"text": "\ud800"})
    assert '{"text":"é"}\n'.encode() == lines.line({"text": "é"})

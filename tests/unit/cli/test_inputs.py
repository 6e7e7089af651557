"""Inputs as lines: `exec --inputs` and `run --inputs`, from files, pipes and whatever else can be read."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from tests.unit.cli.rig import Place, lines

from hookline._cli import input_lines, main
from hookline._cli.input_lines import STANDARD_INPUT, lines_of
from hookline.session.admission import wire

BAD = "an input is one JSON object"


async def read(file: Path) -> list[tuple[str, bytes]]:
    return [each async for each in lines_of(file)]


@pytest.mark.parametrize("command", ["exec", "run"])
@pytest.mark.parametrize(
    ("given", "out"),
    [
        ('{"text": "one"}\n{"text": "two"}\n', "echo: one\necho: two\n"),
        ('{"text": "one"}\r\n{"text": "two"}\r\n', "echo: one\necho: two\n"),
        ('\n  \n{"text": "one"}\n\r\n\t\n', "echo: one\n"),
        ('{"text": "one"}', "echo: one\n"),
        ("", ""),
        ('\ufeff{"text": "one"}\n', "echo: one\n"),
    ],
)
@pytest.mark.parametrize("source", ["a pipe", "a file", "a redirected file"])
def test_each_line_is_an_input(command: str, given: str, out: str, source: str, place: Place) -> None:
    """Blank lines are none, line ends may be Windows', and the last needs none: from a pipe and a file alike."""
    file = place.write("in.jsonl", given)
    match source:
        case "a pipe":
            ended = place.run(command, "--inputs", "-", given=given)
        case "a file":
            ended = place.run(command, "--inputs", str(file))
        case _:
            argv = ["/bin/sh", "-c", f'exec "$0" -m hookline {command} --inputs - < in.jsonl', sys.executable]
            ran = subprocess.run(argv, cwd=place.project, env=place.env(), capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stderr
            assert out == ran.stdout
            return

    assert (0, out, []) == (ended.code, ended.out, ended.said)


@pytest.mark.parametrize("command", ["exec", "run"])
@pytest.mark.parametrize("source", ["-", "in.jsonl"])
def test_a_bad_line_is_told_with_its_place_and_the_others_run(command: str, source: str, place: Place) -> None:
    """Lines count from 1, blank ones too; the exit code is 1 although the last line was good."""
    given = '{"text": "one"}\n\nnonsense\n{"txt": "x"}\n{"text": "two"}\n{"kind": "whim"}\n{"text": "three"}\n'
    place.write("in.jsonl", given)
    name = "standard input" if source == "-" else source

    ended = place.run(command, "--inputs", source, given=given)

    assert (1, "echo: one\necho: two\necho: three\n") == (ended.code, ended.out)
    assert [f"hookline: {name}:{number}: " for number in (3, 4, 6)] == [
        line[: len(f"hookline: {name}:3: ")] for line in ended.said
    ]
    assert BAD in ended.said[0]
    assert "the fields are kind, text, id, idempotency_key" in ended.said[1]
    assert "the kinds are prompt, peer_message" in ended.said[2]


@pytest.mark.parametrize("command", ["exec", "run"])
def test_a_refused_line_is_told_with_its_place(command: str, place: Place) -> None:
    """What is an input and may not be admitted is told with the reason, and makes the exit code 1."""
    given = lines({"text": "one"}, {"text": "made up", "durability": "derived"}, {"text": "two"})

    ended = place.run(command, "--inputs", "-", given=given)

    assert (1, "echo: one\necho: two\n") == (ended.code, ended.out)
    why = "Input validation failed: External ingress cannot submit derived inputs"
    assert [f"hookline: standard input:2: not admitted: {why}"] == ended.said


def test_prompts_come_before_lines(place: Place) -> None:
    """`exec` takes prompts and lines in one session."""
    assert "echo: zero\necho: one\n" == place.run("exec", "--inputs", "-", "zero", given=lines({"text": "one"})).out


def test_the_last_line_decides_how_the_command_ends(place: Place) -> None:
    """A failed run is not a bad line: what comes after it may be well again."""
    place.write("steps.yaml", json.dumps({"steps": [{"fail": {"category": "rate_limit"}}, {"say": "well"}]}))
    script = ("--provider", "script", "--model", "steps.yaml", "--inputs", "-")

    ended = place.run("exec", *script, given=lines({"text": "one"}, {"text": "two"}))
    failing = place.run("exec", *script, given=lines({"text": "one"}))

    assert (0, "well\n") == (ended.code, ended.out)
    assert 1 == failing.code


def test_a_line_over_the_cap_is_one_bad_line(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of a line that is too long nothing runs, not what stands at its end either, and the numbers stay right."""
    monkeypatch.setattr(input_lines, "MAX_BYTES", 64)
    monkeypatch.setattr(wire, "MAX_BYTES", 64)
    monkeypatch.setattr("sys.argv", ["hookline"])
    for name, value in place.env().items():
        monkeypatch.setenv(name, value)
    smuggled = b"x" * 65 + b'{"text": "smuggled"}'
    file = place.write("in.jsonl", lines({"text": "one"}).encode() + smuggled + b"\n" + lines({"text": "two"}).encode())

    code = main.run(["exec", "--workspace", str(place.project), "--inputs", str(file)])

    out, err = capfd.readouterr()
    assert (1, "echo: one\necho: two\n") == (code, out)
    assert f"{file}:2: {BAD}" in err
    assert "larger than 64 bytes" in err


@pytest.mark.parametrize("chunk", [1, 7, 64, 65536])
async def test_where_chunks_end_does_not_matter(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are the same however many bytes come at once; one at the cap is whole, one over it shows that it is."""
    monkeypatch.setattr(input_lines, "MAX_BYTES", 10)
    monkeypatch.setattr(input_lines, "CHUNK", chunk)
    file = tmp_path / "in"
    file.write_bytes(b"0123456789\n0123456789abcdef\n\nlast")

    expected = [(f"{file}:1", b"0123456789"), (f"{file}:2", b"0123456789a"), (f"{file}:4", b"last")]
    assert expected == await read(file)


async def test_lines_of_a_pipe_come_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line is there as soon as it has ended, and who waits for the next one can be cancelled."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "wb", buffering=0) as pipe:
        monkeypatch.setattr("sys.stdin", stdin)
        found = lines_of(STANDARD_INPUT)
        pipe.write(b"one\ntw")
        assert ("standard input:1", b"one") == await anext(found)
        waiting = asyncio.ensure_future(anext(found))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not waiting.done()
        pipe.write(b"o\n")
        assert ("standard input:2", b"two") == await waiting
        waiting = asyncio.ensure_future(anext(found))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_standard_input_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may read the same pipe or terminal after us: it blocks as it did, and is open."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        os.write(writing, b"one\n")
        os.close(writing)

        assert [("standard input:1", b"one")] == await read(STANDARD_INPUT)
        assert os.get_blocking(stdin.fileno())


async def test_a_named_pipe_that_nobody_has_opened_holds_nobody_up(tmp_path: Path) -> None:
    """Others go on with their work until somebody writes to it."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reading = asyncio.ensure_future(read(fifo))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not reading.done()
    writing = os.open(fifo, os.O_WRONLY)
    os.write(writing, b"one\n")
    os.close(writing)

    assert [(f"{fifo}:1", b"one")] == await reading


@pytest.mark.parametrize("given", ["</dev/null", "0<&-"])
@pytest.mark.parametrize("command", ["exec", "run"])
def test_a_standard_input_without_anything_in_it_ends_at_once(command: str, given: str, place: Place) -> None:
    """Neither /dev/null nor a stream that is closed is waited for."""
    argv = ["/bin/sh", "-c", f'exec "$0" -m hookline {command} --inputs - {given}', sys.executable]
    ran = subprocess.run(
        argv, cwd=place.project, env=place.env(), capture_output=True, text=True, check=False, timeout=15
    )

    assert (0, "") == (ran.returncode, ran.stdout)
    assert "Traceback" not in ran.stderr


async def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """With the system's reason, whether it cannot be opened or cannot be read."""
    with pytest.raises(click.ClickException, match=r"cannot read the inputs in .*/none: No such file"):
        await read(tmp_path / "none")
    with pytest.raises(click.ClickException, match=r"cannot read the inputs in .*: Is a directory"):
        await read(tmp_path)


@pytest.mark.parametrize("more", [(), ("--listen", "0")])
def test_run_ends_where_its_inputs_cannot_be_read(more: tuple[str, ...], place: Place) -> None:
    """Beside a port too: whoever named the file means it to be read."""
    ended = place.run("run", "--inputs", "none", *more)

    assert 1 == ended.code
    assert "cannot read the inputs in none: No such file or directory" in ended.err
    assert "Traceback" not in ended.err


def test_a_reader_that_has_gone_ends_the_command(place: Place) -> None:
    """Nobody reads the output any more: no traceback, and the journal is closed."""
    argv = ["/bin/sh", "-c", '"$0" -m hookline exec --inputs - | head -n 1', sys.executable]
    given = lines(*({"text": "x" * 4096} for _ in range(40)))
    ran = subprocess.run(
        argv, cwd=place.project, env=place.env(), input=given, capture_output=True, text=True, check=False, timeout=15
    )

    assert "echo: " + "x" * 4096 + "\n" == ran.stdout
    assert "Traceback" not in ran.stderr
    assert "bug" not in ran.stderr
    assert "session_closed" == place.journal()[-1]["kind"]


def test_the_operator_s_answers_are_not_read_as_inputs(place: Place) -> None:
    """While standard input gives inputs nobody is asked there: a call that needs approval is refused, and said so."""
    call = {"call": {"tool": "bash", "input": {"command": "touch made"}}}
    place.write("steps.yaml", json.dumps({"steps": [call, {"say": "done"}]}))

    ended = place.run(
        "exec", "--provider", "script", "--model", "steps.yaml", "--inputs", "-", given=lines({"text": "go"}) + "y\n"
    )

    assert (1, "done\n") == (ended.code, ended.out)
    assert not (place.project / "made").exists()
    assert any("bash was not run" in line for line in ended.said)
    assert any("standard input:2: " in line for line in ended.said)


def test_inputs_of_every_kind_are_taken(place: Place) -> None:
    """A line may say its kind, its id and its key; the journal has what was decided of each."""
    own = "0190c0de-0000-7000-8000-000000000001"
    given: list[dict[str, Any]] = [
        {"text": "one", "id": own, "idempotency_key": "k"},
        {"text": "again", "idempotency_key": "k"},
        {"kind": "external_event", "text": "two", "source": {"type": "external", "name": "webhook"}},
    ]

    ended = place.run("exec", "--inputs", "-", given=lines(*given))

    assert 0 == ended.code
    assert "echo: one\necho: one\n" == "".join(ended.out.splitlines(keepends=True)[:2])
    assert [f"hookline: this input was admitted before, as {own}: nothing is done again"] == ended.said
    decided = [record for record in place.journal() if record["kind"] == "input_decided"]
    assert ["accepted", "deduplicated", "accepted"] == [each["outcome"] for each in decided]

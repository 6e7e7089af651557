"""The person at the terminal: asked one thing at a time, shown what would run, in a real terminal."""

import asyncio
import os
import pty
from collections.abc import Iterator
from typing import Any, TextIO

import pytest

from hookline._cli.console import Console, _tame, _visible
from hookline._engines import Project, new_engine
from hookline.session.ports import ApprovalRequest


class Terminal:
    """The other end of a pseudo-terminal: what was printed there so far."""

    def __init__(self, descriptor: int, reading: TextIO, writing: TextIO) -> None:
        self._descriptor = descriptor
        self._reading = reading
        self._writing = writing
        self.text = ""

    def attach(self, monkeypatch: Any) -> None:
        """Make it the program's; in the test itself, as pytest sets the streams anew before each."""
        monkeypatch.setattr("sys.stdin", self._reading)
        monkeypatch.setattr("sys.stderr", self._writing)

    async def shows(self, text: str, times: int = 1) -> None:
        """Wait until *text* has been printed so often."""
        loop = asyncio.get_running_loop()
        while self.text.count(text) < times:
            readable = asyncio.Event()
            loop.add_reader(self._descriptor, readable.set)
            await readable.wait()
            loop.remove_reader(self._descriptor)
            self.text += os.read(self._descriptor, 4096).decode()

    def types(self, text: str) -> None:
        os.write(self._descriptor, text.encode())


@pytest.fixture
def terminal(monkeypatch: Any) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r", closefd=False) as reading, os.fdopen(theirs, "w", closefd=True) as writing:
        monkeypatch.setenv("TERM", "xterm")
        yield Terminal(ours, reading, writing)
    os.close(ours)


def request(command: str, reason: str = "approval mode untrusted") -> ApprovalRequest:
    return ApprovalRequest(tool_name="bash", input={"command": command}, reason=reason)


async def test_questions_come_one_at_a_time(terminal: Terminal, monkeypatch: Any) -> None:
    """With two calls waiting, an answer belongs to the one question on the screen, and the next one is asked then."""
    terminal.attach(monkeypatch)
    async with new_engine() as engine:
        approver = Console(Project(engine=engine, loaded=()), as_json=False).approver()
        assert approver is not None
        first = asyncio.ensure_future(approver(request("echo harmless")))
        await terminal.shows("allow? [y/N]")
        second = asyncio.ensure_future(approver(request("echo danger")))
        for _ in range(10):
            await asyncio.sleep(0)
        assert "danger" not in terminal.text
        terminal.types("y\n")
        assert (await first).allowed
        await terminal.shows("allow? [y/N]", times=2)
        terminal.types("n\n")
        assert not (await second).allowed


async def test_the_question_shows_what_runs_as_it_is_written(terminal: Terminal, monkeypatch: Any) -> None:
    """A reason that holds escapes and a command that holds emoji codes stand there as they are written."""
    terminal.attach(monkeypatch)
    async with new_engine() as engine:
        approver = Console(Project(engine=engine, loaded=()), as_json=False).approver()
        assert approver is not None
        asking = asyncio.ensure_future(approver(request("echo :x:", reason="look\x1b[2J\x1b[8m")))
        await terminal.shows("allow? [y/N]")
        terminal.types("\n")
        assert not (await asking).allowed

    assert "echo :x:" in terminal.text
    assert "look\\x1b[2J\\x1b[8m" in terminal.text
    assert "\x1b[2J" not in terminal.text


@pytest.mark.parametrize("unseen", ["\x1b", "\x9b", "\u202e", "\u3164", "\u2800", "\ufe0f", "\U000e0041"])
def test_what_is_not_seen_is_spelled_out(unseen: str) -> None:
    """No character of a question is invisible or turns the text around."""
    assert unseen not in _visible(f"rm{unseen}x")


def test_what_a_model_says_does_not_act_on_the_terminal() -> None:
    """An answer keeps its lines and tabs, and nothing in it hides or moves what comes after it."""
    assert _tame("a\n\tb\x1b[8m") == "a\n\tb\\x1b[8m"

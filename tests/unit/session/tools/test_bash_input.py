import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.processes.rig import descriptors, lives

from hookline._core.errors import ToolError
from hookline.session.ports import Risk, Tool
from hookline.session.tools import _process, _shells, builtin_tools


class Shell:
    """Both shell tools of one session, and short ways to call them."""

    def __init__(self, context: Any) -> None:
        tools = {tool.spec.name: tool for tool in builtin_tools()}
        self.bash: Tool = tools["bash"]
        self.input: Tool = tools["bash_input"]
        self._context = context

    async def start(self, command: str, **more: Any) -> dict[str, Any]:
        result = await self.bash.call({"command": command, "background": True, **more}, self._context())
        account: dict[str, Any] = json.loads(result.text)
        return account

    async def type(self, name: str = "bash-1", **more: Any) -> dict[str, Any]:
        result = await self.input.call({"id": name, "wait_ms": 10_000, **more}, self._context())
        account: dict[str, Any] = json.loads(result.text)
        return account

    async def end_of(self, name: str) -> dict[str, Any]:
        """The account of a command that has ended, waited for."""
        async with asyncio.timeout(10):
            while (account := await self.type(name))["terminal_status"] == "running":
                pass
        return account


@pytest.fixture
async def shell(context: Any) -> AsyncIterator[Shell]:
    shell = Shell(context)
    yield shell
    await shell.bash.aclose()


async def test_a_background_command_gives_its_id_at_once(shell: Shell) -> None:
    """Starting does not wait. The answer has the id that `bash_input` takes, and a pid to end it by."""
    account = await shell.start("sleep 60", description="wait")

    assert account["chunk_id"] == "bash-1"
    assert account["terminal_status"] == "running"
    assert account["exit_code"] is None
    assert account["output"] == ""
    assert lives(account["pid"])


async def test_a_conversation_with_a_command(shell: Shell) -> None:
    """What is written reaches it, each answer has only what is new, and the end of input ends it."""
    await shell.start('while read line; do echo "got $line"; done; echo bye')
    first = await shell.type(input="one\n")
    second = await shell.type(input="two\n")
    last = await shell.type(close=True)

    assert first["output"] == "got one\n"
    assert second["output"] == "got two\n"
    assert second["terminal_status"] == "running"
    assert last["output"] == "bye\n"
    assert (await shell.end_of("bash-1"))["terminal_status"] == "completed"


async def test_a_failure_in_the_background_is_told_not_raised(shell: Shell) -> None:
    """Asking how a command stands succeeds, whatever the answer; asking again says the same with no output."""
    await shell.start("read x; echo no; exit 3")
    first = await shell.type(input="\n")
    again = await shell.end_of("bash-1")

    assert first["output"] == "no\n"
    assert (again["terminal_status"], again["exit_code"]) == ("failed", 3)
    assert again["terminal_reason"] == "exit code 3"
    assert (await shell.type())["output"] == ""


async def test_no_wait_is_no_wait(shell: Shell) -> None:
    """`wait_ms` 0 says what is there already."""
    await shell.start("sleep 60")

    assert (await shell.type(wait_ms=0))["output"] == ""


async def test_an_unknown_id_is_refused_and_the_known_ones_named(shell: Shell) -> None:
    """The error says what there is; commands in the foreground are not among them."""
    with pytest.raises(ToolError, match="no background command `bash-9`; there are: none"):
        await shell.type("bash-9")
    await shell.start("sleep 60")
    with pytest.raises(ToolError, match=r"there are: bash-1$"):
        await shell.type("bash-9")


async def test_input_for_a_command_that_has_ended_is_refused(shell: Shell) -> None:
    """Text that nobody reads is not lost silently."""
    await shell.start("true")
    await shell.end_of("bash-1")
    with pytest.raises(ToolError, match="takes no more input"):
        await shell.type(input="hello\n")


async def test_input_after_closing_is_refused(shell: Shell) -> None:
    """Closing is final."""
    await shell.start("sleep 60")
    await shell.type(close=True, wait_ms=0)
    with pytest.raises(ToolError, match="takes no more input"):
        await shell.type(input="x")


async def test_a_command_that_closed_its_input_is_no_crash(shell: Shell) -> None:
    """A broken pipe is an answer for the model."""
    await shell.start("exec <&-; echo closed; sleep 60")
    assert (await shell.type())["output"] == "closed\n"
    with pytest.raises(ToolError, match="closed its standard input"):
        await shell.type(input="x")


async def test_a_command_that_reads_nothing_does_not_hold_us_up(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a pipe holds is offered for a bounded time, and the error says how much was taken."""
    monkeypatch.setattr(_process, "TAKING", 0.1)
    await shell.start("sleep 60")
    with pytest.raises(ToolError, match=r"took only 65536 of 100000 bytes"):
        await shell.type(input="x" * 100_000)


async def test_more_input_than_a_pipe_holds_arrives_whole(shell: Shell) -> None:
    """A command that reads at its own pace gets all of it."""
    await shell.start("wc -c")
    await shell.type(input="x" * 300_000, close=True)

    assert (await shell.end_of("bash-1"))["terminal_status"] == "completed"


async def test_a_character_is_not_broken_between_two_answers(shell: Shell) -> None:
    """Output that arrives in the middle of a character waits for the rest of it."""
    await shell.start(r"printf '\303'; read x; printf '\251\n'; read x")
    first = await shell.type(wait_ms=300)
    second = await shell.type(input="\n")

    assert first["output"] + second["output"] == "é\n"
    assert "\N{REPLACEMENT CHARACTER}" not in first["output"] + second["output"]


async def test_a_limit_holds_in_the_background_too(shell: Shell) -> None:
    """With `timeout_ms` a background command is ended like any other."""
    await shell.start("sleep 60", timeout_ms=50)

    assert (await shell.end_of("bash-1"))["terminal_status"] == "timed_out"


async def test_closing_either_tool_ends_every_background_command(
    shell: Shell, workspace: Path, gone: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing outlives the session: not the command, not its children, not those that left the group."""
    monkeypatch.setattr(_process, "GRACE", 0.1)
    before = descriptors()
    account = await shell.start(
        "trap '' TERM; sleep 60 & echo $! > child; setsid sleep 60 >/dev/null 2>&1 & echo $! > escaped; echo; wait"
    )
    await shell.type()
    await shell.input.aclose()

    assert not lives(account["pid"])
    assert gone(int((workspace / "child").read_text()))
    assert gone(int((workspace / "escaped").read_text()))
    assert descriptors() == before


async def test_closing_right_after_starting_ends_it_too(shell: Shell) -> None:
    """Not even a command whose attendant has not begun is left."""
    account = await shell.start("sleep 60")
    await shell.bash.aclose()

    assert not lives(account["pid"])


async def test_background_commands_are_bounded(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more than there is room for is refused while all run, else takes the place of one that has ended."""
    monkeypatch.setattr(_shells, "KEPT", 2)
    await shell.start("read x")
    await shell.start("sleep 60")
    with pytest.raises(ToolError, match="2 background commands are running"):
        await shell.start("sleep 60")
    await shell.type("bash-1", close=True)
    await shell.end_of("bash-1")
    await shell.start("sleep 60")
    with pytest.raises(ToolError, match="there are: bash-2, bash-3"):
        await shell.type("bash-1")


def test_writing_to_a_command_reaches_as_far_as_running_one(context: Any, workspace: Path) -> None:
    """A guard of the shell cannot be passed by way of a shell that already runs."""
    assert Shell(context).input.risk({"id": "bash-1", "input": "rm -rf /\n"}, workspace) is Risk.CHANGES

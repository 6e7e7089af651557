import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.processes.rig import descriptors, lives

from hookline._core.commands import ResolvedCommand
from hookline._core.errors import ToolError
from hookline.session.ports import Risk, Tool
from hookline.session.tools import _process, builtin_tools
from hookline.session.tools.shell import shell_on

KEYS = [
    "chunk_id",
    "command",
    "description",
    "exit_code",
    "terminal_status",
    "output",
    "original_output_bytes",
    "original_output_tokens",
    "truncated",
]


@pytest.fixture
async def bash() -> AsyncIterator[Tool]:
    bash = next(tool for tool in builtin_tools() if tool.spec.name == "bash")
    yield bash
    await bash.aclose()


async def failed(call: Any) -> dict[str, Any]:
    """The account of a command that failed."""
    with pytest.raises(ToolError) as raised:
        await call
    account: dict[str, Any] = json.loads(str(raised.value))
    return account


@pytest.fixture
def told_pid(workspace: Path) -> Callable[[], Awaitable[int]]:
    """Waits for the process id that a command writes to the pipe `pid` in the workspace."""
    os.mkfifo(workspace / "pid")

    async def read() -> int:
        return int(await asyncio.to_thread((workspace / "pid").read_text))

    return read


async def test_a_response_is_the_json_text_that_muse_hooks_know(bash: Tool, context: Any) -> None:
    """The keys, in the order of the captured responses; what the model reads and what hooks see is one text."""
    result = await bash.call({"command": "echo hi; echo oops >&2", "description": "greet"}, context())
    account = json.loads(result.text)

    assert list(account) == KEYS
    assert account == {
        "chunk_id": "bash-1",
        "command": "echo hi; echo oops >&2",
        "description": "greet",
        "exit_code": 0,
        "terminal_status": "completed",
        "output": "hi\noops\n",
        "original_output_bytes": 8,
        "original_output_tokens": 2,
        "truncated": False,
    }
    assert result.seen_by_hooks() == result.text


@pytest.mark.parametrize(
    ("command", "code", "reason"),
    [
        ("echo no; exit 3", 3, "exit code 3"),
        ("no-such-program", 127, "exit code 127"),
        ("kill -KILL $$", 137, "ended by signal 9 (Killed)"),
    ],
)
async def test_a_failure_is_a_tool_error_with_the_same_json(
    bash: Tool, context: Any, command: str, code: int, reason: str
) -> None:
    """A command that does not exit with 0 fails the call, and its account says how."""
    account = await failed(bash.call({"command": command}, context()))

    assert list(account) == [*KEYS, "terminal_reason"]
    assert account["exit_code"] == code
    assert account["terminal_status"] == "failed"
    assert account["terminal_reason"] == reason


async def test_there_is_no_standard_input(bash: Tool, context: Any) -> None:
    """A command that reads finds the end at once, and nothing of the agent's terminal."""
    result = await bash.call({"command": "cat; echo end"}, context())

    assert json.loads(result.text)["output"] == "end\n"


async def test_a_command_runs_in_its_effective_directory(bash: Tool, context: Any, workspace: Path) -> None:
    """`workdir` is taken from the workspace; the directory that hooks are told of is the one it runs in."""
    (workspace / "sub").mkdir()
    cwd = bash.directory({"command": "pwd", "workdir": "sub"}, workspace)
    result = await bash.call({"command": "pwd", "workdir": "sub"}, context(cwd=cwd))

    assert cwd == workspace / "sub"
    assert json.loads(result.text)["output"] == f"{workspace}/sub\n"


async def test_a_directory_that_is_gone_is_no_other_directory(bash: Tool, context: Any, workspace: Path) -> None:
    """A command that cannot run where it should does not run at all."""
    with pytest.raises(ToolError, match=r"cannot start .* in .*/nowhere"):
        await bash.call({"command": "touch ran", "workdir": "nowhere"}, context(cwd=workspace / "nowhere"))

    assert not (workspace / "ran").exists()


async def test_a_command_that_no_program_can_be_given_fails(bash: Tool, context: Any) -> None:
    """A NUL cannot stand in an argument; that is a failed call, not a crash."""
    with pytest.raises(ToolError, match="cannot start"):
        await bash.call({"command": "echo a\0b"}, context())


@pytest.mark.parametrize(("workdir", "risk"), [(".", Risk.CHANGES), ("sub", Risk.CHANGES), ("..", Risk.REACHES_OUT)])
async def test_a_command_outside_the_workspace_reaches_out(
    bash: Tool, workspace: Path, workdir: str, risk: Risk
) -> None:
    """A program changes things; one that is started outside the workspace says so itself."""
    assert bash.risk({"command": "ls", "workdir": workdir}, workspace) is risk


async def test_a_link_out_of_the_workspace_is_outside(bash: Tool, workspace: Path) -> None:
    """What counts is where a path leads, not how it is written."""
    (workspace / "link").symlink_to("/")

    assert bash.risk({"command": "ls", "workdir": "link"}, workspace) is Risk.REACHES_OUT


async def test_argv_is_what_is_executed(bash: Tool, context: Any, workspace: Path) -> None:
    """Hooks are shown the resolved program and the exact arguments, and these are what runs."""
    (workspace / "bin").mkdir()
    fake = workspace / "bin" / "bash"
    fake.write_text('#!/bin/sh\nprintf "%s|" "$0" "$@"\n')
    fake.chmod(0o755)
    env = {"PATH": f"{workspace}/bin:/usr/bin:/bin"}
    command = bash.resolve({"command": "ls -l"}, context(env=env))
    result = await bash.call({"command": "ls -l"}, context(env=env))

    assert command is not None
    assert command.argv == (str(fake), "-c", "ls -l")
    assert json.loads(result.text)["output"] == "|".join((*command.argv, ""))


async def test_what_was_resolved_is_what_runs(bash: Tool, context: Any, workspace: Path) -> None:
    """A call runs the command that its hooks were asked about, whatever its input would come to by now."""
    asked = ResolvedCommand(program="/bin/echo", arguments=("as", "asked"), text="ls")
    result = await bash.call({"command": "ls"}, replace(context(), command=asked))

    assert json.loads(result.text)["output"] == "as asked\n"


@pytest.mark.parametrize("path", ["", ".", "bin:.", "/nowhere"])
def test_a_relative_path_chooses_no_shell(path: str, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A workspace that holds a `bash` of its own is not asked; where there is none, `/bin/sh` is the shell."""
    (workspace / "bin").mkdir()
    for fake in (workspace / "bash", workspace / "bin" / "bash"):
        fake.write_text("#!/bin/sh\n")
        fake.chmod(0o755)
    monkeypatch.chdir(workspace)

    assert shell_on(path) == "/bin/sh"


async def test_secrets_do_not_reach_a_command(bash: Tool, context: Any) -> None:
    """The command's environment is the agent's without provider credentials."""
    env = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "secret", "COLOUR": "blue"}
    result = await bash.call({"command": 'echo "[$OPENAI_API_KEY] $COLOUR"'}, context(env=env))

    assert json.loads(result.text)["output"] == "[] blue\n"


async def test_a_command_sees_the_agents_environment_and_no_more(bash: Tool, context: Any) -> None:
    """Nothing of ours is in the environment that a command is started with."""
    env = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "secret", "COLOUR": "blue"}
    result = await bash.call({"command": "tr '\\0' '\\n' </proc/$$/environ"}, context(env=env))

    assert json.loads(result.text)["output"].splitlines() == [f"PATH={os.environ['PATH']}", "COLOUR=blue"]


async def test_too_much_output_keeps_head_and_tail(bash: Tool, context: Any) -> None:
    """Past 256 KiB the middle is left out, and the account says so and how much there was."""
    result = await bash.call({"command": "echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo last"}, context())
    account = json.loads(result.text)

    assert account["truncated"] is True
    assert account["original_output_bytes"] == 1_000_011
    assert account["output"].startswith("first\nxxx")
    assert account["output"].endswith("xxx" + "last\n")
    assert "bytes left out" in account["output"]
    assert len(account["output"]) < 257 * 1024


async def test_a_timeout_ends_the_whole_group(bash: Tool, context: Any, workspace: Path, gone: Any) -> None:
    """Out of time, the command and its children are ended; what was printed until then is kept."""
    command = "echo begun; sleep 60 & echo $! > pid; wait"
    account = await failed(bash.call({"command": command, "timeout_ms": 700}, context()))

    assert account["terminal_status"] == "timed_out"
    assert account["terminal_reason"] == "still running after 0.7 s"
    assert account["exit_code"] is None
    assert account["output"] == "begun\n"
    assert gone(int((workspace / "pid").read_text()))


async def test_a_command_may_clean_up_before_it_is_killed(bash: Tool, context: Any, workspace: Path) -> None:
    """TERM comes first, and there is time to answer it."""
    command = "trap 'sleep 0.2; echo tidy > tidied; exit' TERM; sleep 60 & wait"
    await failed(bash.call({"command": command, "timeout_ms": 700}, context()))

    assert (workspace / "tidied").read_text() == "tidy\n"


async def test_what_ignores_term_is_killed(
    bash: Tool, context: Any, workspace: Path, gone: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the grace there is KILL, also for a child that left the group and hides its output."""
    monkeypatch.setattr(_process, "GRACE", 0.1)
    command = "trap '' TERM; setsid sleep 60 >/dev/null 2>&1 & echo $! > pid; while :; do sleep 1; done"
    account = await failed(bash.call({"command": command, "timeout_ms": 700}, context()))

    assert account["terminal_status"] == "timed_out"
    assert gone(int((workspace / "pid").read_text()))


async def test_a_cancelled_call_leaves_nothing(
    bash: Tool, context: Any, told_pid: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cancellation goes on only when the command is gone and reaped, even one that ignores TERM."""
    monkeypatch.setattr(_process, "GRACE", 0.1)
    command = "trap '' TERM; echo $$ > pid; while :; do sleep 1; done"
    call = asyncio.create_task(bash.call({"command": command}, context()))
    pid = await told_pid()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert not lives(pid)


async def test_a_second_cancellation_cuts_the_grace_short(bash: Tool, context: Any, told_pid: Any) -> None:
    """Whoever cancels twice does not wait: the command is killed and reaped at once."""
    command = "trap '' TERM; echo $$ > pid; while :; do sleep 1; done"
    call = asyncio.create_task(bash.call({"command": command}, context()))
    pid = await told_pid()
    call.cancel()
    await asyncio.sleep(0)  # the first one has reached the call, which now waits out the grace
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert not lives(pid)


async def test_what_a_command_leaves_running_ends_with_it(bash: Tool, context: Any, workspace: Path, gone: Any) -> None:
    """A command succeeds when its shell does. Children of it are ended, and the output says so."""
    result = await bash.call({"command": "sleep 60 & echo $! > pid; echo done"}, context())
    account = json.loads(result.text)

    assert account["terminal_status"] == "completed"
    assert account["output"].startswith("done\n\n[what the command left running was ended with it")
    assert gone(int((workspace / "pid").read_text()))


async def test_a_child_that_hides_its_output_ends_too(bash: Tool, context: Any, workspace: Path, gone: Any) -> None:
    """Holding no output open does not keep a child alive."""
    result = await bash.call({"command": "sleep 60 >/dev/null 2>&1 & echo $! > pid; echo done"}, context())

    assert json.loads(result.text)["output"] == "done\n"
    assert gone(int((workspace / "pid").read_text()))


async def test_closing_ends_what_escaped(bash: Tool, context: Any, workspace: Path, gone: Any) -> None:
    """A daemon that left its group and its output behind lives on at most until the tools are closed."""
    await bash.call({"command": "setsid sleep 60 >/dev/null 2>&1 & echo $! > pid"}, context())
    await bash.aclose()

    assert gone(int((workspace / "pid").read_text()))


async def test_a_daemon_lives_until_the_tools_are_closed(bash: Tool, context: Any, workspace: Path, gone: Any) -> None:
    """What left the group and holds no output is of use to later commands, so the end of its own does not end it."""
    await bash.call({"command": "setsid sleep 60 >/dev/null 2>&1 & echo $! > pid"}, context())
    pid = int((workspace / "pid").read_text())
    await bash.call({"command": f"kill -0 {pid}"}, context())
    await bash.aclose()

    assert gone(pid)


async def test_who_escaped_ends_with_its_command(bash: Tool, context: Any, told_pid: Any, gone: Any) -> None:
    """Out of time, a command takes along even an orphan in a session of its own that holds no output."""
    command = "(setsid sh -c 'echo $$ > pid; exec sleep 60' >/dev/null 2>&1 </dev/null &); sleep 60"
    call = asyncio.create_task(failed(bash.call({"command": command, "timeout_ms": 700}, context())))
    pid = await told_pid()

    assert (await call)["terminal_status"] == "timed_out"
    assert gone(pid)


async def test_a_status_that_was_taken_is_no_success(bash: Tool, context: Any) -> None:
    """In a host that does not keep its children's exit statuses nobody claims that a command succeeded."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        account = await failed(bash.call({"command": "echo hi"}, context()))
    finally:
        signal.signal(signal.SIGCHLD, before)

    assert account["output"] == "hi\n"
    assert account["exit_code"] is None
    assert account["terminal_reason"] == "its exit code is not known"


HOST = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from hookline.session.ports import CallContext
from hookline.session.tools import builtin_tools

async def main():
    [bash, *_] = builtin_tools()
    context = CallContext(session=None, cwd=Path(sys.argv[1]), env={"PATH": "/usr/bin:/bin"})
    deaf = "trap '' TERM HUP INT; sleep 60 & echo $$ $! > pid; wait"
    await bash.call({"command": deaf, "background": True}, context)
    other = bash.call({"command": deaf.replace("> pid", "> other")}, context)
    ready = bash.call({"command": "echo > ready"}, context)  # starts after the other, and so when that is guarded
    await asyncio.gather(other, ready)

asyncio.run(main())
"""


async def test_commands_end_with_an_agent_that_is_killed(workspace: Path, gone: Any) -> None:
    """Killed outright, the agent takes the groups of its commands along, in the foreground and in the background."""
    names = ("pid", "other", "ready")
    for name in names:
        os.mkfifo(workspace / name)
    host = await asyncio.create_subprocess_exec(sys.executable, "-c", HOST, workspace)
    texts = [await asyncio.to_thread((workspace / name).read_text) for name in names]
    host.kill()
    await host.wait()

    assert all(gone(int(pid)) for text in texts for pid in text.split())


async def test_no_descriptor_is_left_open(bash: Tool, context: Any) -> None:
    """A call leaves as many open descriptors as it found, however it ends; all but the first, for what they share."""
    await bash.call({"command": "true"}, context())
    before = descriptors()
    await bash.call({"command": "true"}, context())
    await failed(bash.call({"command": "sleep 60", "timeout_ms": 50}, context()))
    with pytest.raises(ToolError):
        await bash.call({"command": "true"}, context(cwd=Path("/nowhere")))

    assert descriptors() == before


async def test_the_end_is_seen_without_process_descriptors_too(
    bash: Tool, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a system that has none the exit is found by looking."""
    monkeypatch.delattr(os, "pidfd_open")
    result = await bash.call({"command": "echo hi"}, context())
    account = await failed(bash.call({"command": "sleep 60", "timeout_ms": 50}, context()))

    assert json.loads(result.text)["output"] == "hi\n"
    assert account["terminal_status"] == "timed_out"

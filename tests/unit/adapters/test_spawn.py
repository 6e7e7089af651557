"""What cannot be started is a failure that names what was missing, and costs nothing."""

import asyncio
import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.adapters.rig import EVENT, Hooks

from hookline._core.payload import CallFailed, Exited, Limits, Payload
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget


def could_not_start(detail: str) -> CallFailed:
    return CallFailed(why=Failure.COULD_NOT_START, detail=detail)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    program = tmp_path / "guard"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


async def test_no_such_program(hooks: Hooks, tmp_path: Path) -> None:
    """A program that is not there is named, by its path or by the bare name that was looked for."""
    missing = "No such file or directory (os error 2)"

    assert await hooks.run(f"{tmp_path}/guard") == could_not_start(f"program {tmp_path}/guard: {missing}")
    assert await hooks.run("no-such-guard") == could_not_start(f"program no-such-guard: {missing}")


async def test_a_program_that_may_not_run(hooks: Hooks, program: Path) -> None:
    """A file without the execute bit is named with what the system said."""
    program.chmod(0o644)

    assert await hooks.run(str(program)) == could_not_start(f"program {program}: Permission denied (os error 13)")


async def test_a_file_that_is_no_program(hooks: Hooks, program: Path) -> None:
    """A text without an interpreter line is not guessed to be a shell script."""
    program.write_text("echo hi\n")

    assert await hooks.run(str(program)) == could_not_start(f"program {program}: Exec format error (os error 8)")


async def test_a_script_without_its_interpreter(hooks: Hooks, program: Path) -> None:
    """Where the script is there and its interpreter is not, the message does not blame the script."""
    program.write_text("#!/no/such/interpreter\n")

    assert await hooks.run(str(program)) == could_not_start(
        f"interpreter of {program}: No such file or directory (os error 2)"
    )


async def test_a_directory_that_is_gone(hooks: Hooks, tmp_path: Path) -> None:
    """A missing working directory is named; no other directory takes its place."""
    assert await hooks.sh("pwd", cwd=f"{tmp_path}/gone") == could_not_start(
        f"working directory {tmp_path}/gone: No such file or directory (os error 2)"
    )


async def test_a_directory_that_is_a_file(hooks: Hooks, program: Path) -> None:
    """What is no directory cannot be run in, not even where it is also the program."""
    assert await hooks.run(str(program), cwd=str(program)) == could_not_start(
        f"working directory {program}: Not a directory (os error 20)"
    )


async def test_a_program_that_is_the_directory(hooks: Hooks, tmp_path: Path) -> None:
    """A directory that is named as the program is the program that could not be started."""
    assert await hooks.run(str(tmp_path), cwd=str(tmp_path)) == could_not_start(
        f"program {tmp_path}: Permission denied (os error 13)"
    )


async def test_a_relative_directory(hooks: Hooks) -> None:
    """A relative working directory would depend on where the host was started, so it is refused."""
    assert await hooks.sh("pwd", cwd="src") == could_not_start("working directory src: not an absolute path")


async def test_our_own_directory_is_gone(hooks: Hooks, tmp_path: Path) -> None:
    """A hook that would run in our own directory does not start where that was removed."""
    here = Path.cwd()
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    try:
        reply = await hooks.sh("pwd", cwd="")
    finally:
        os.chdir(here)

    assert reply == could_not_start("working directory: No such file or directory (os error 2)")


@pytest.mark.parametrize(
    ("argv", "env", "detail"),
    [
        ((), {}, "program: the command is empty"),
        (("/bin/echo", "a\0b"), {}, "arguments or environment: embedded null byte"),
        (("/bin/echo",), {"A": "a\0b"}, "arguments or environment: embedded null byte"),
        (("/bin/echo",), {"A=B": "c"}, "arguments or environment: illegal environment variable name"),
        (("/bin/echo", "a" * 3_000_000), {}, "program /bin/echo: Argument list too long (os error 7)"),
    ],
    ids=["nothing", "NUL in argv", "NUL in env", "= in a name", "too long"],
)
async def test_what_cannot_be_executed(hooks: Hooks, argv: tuple[str, ...], env: dict[str, str], detail: str) -> None:
    """A command that no system could execute is a failure too, not an exception."""
    reply = await hooks.adapter.call(CommandTarget(argv, env), Payload(EVENT, b"", "/"), Limits(10))

    assert reply == could_not_start(detail)


async def test_a_name_that_is_no_text(hooks: Hooks) -> None:
    """A name that is not valid Unicode is shown escaped, so that the failure can be written down."""
    reply = await hooks.run("/no/such/gu\udcffard")

    assert reply == could_not_start(r"program /no/such/gu\udcffard: No such file or directory (os error 2)")


async def test_no_process_to_be_had(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no process left the message says so."""

    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)

    assert await hooks.sh("exit 0") == could_not_start("new process: Resource temporarily unavailable (os error 11)")


FEW_DESCRIPTORS = """
import asyncio, json, os, resource
from hookline._core.payload import Limits, Payload
from hookline._core.targets import CommandTarget
from hookline._processes.watchdog import {watchdog}
from hookline.adapters.command import CommandAdapter

def count():
    return len(os.listdir("/proc/self/fd"))

async def main():
    adapter = CommandAdapter({watchdog}())
    target = CommandTarget(("/bin/sh", "-c", "exit 0"), {{}})
    before, replies = count(), []
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for free in range(30):
        resource.setrlimit(resource.RLIMIT_NOFILE, (before - 1 + free, hard))
        replies.append(str(await adapter.call(target, Payload(None, b"x", "/"), Limits(10))))
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    await adapter.aclose()
    print(json.dumps([replies, count() - before]))

asyncio.run(main())
"""


@pytest.mark.parametrize("watchdog", ["NoWatchdog", "ShellWatchdog"])
def test_no_descriptors_to_be_had(watchdog: str) -> None:
    """However few descriptors are free a hook runs or fails by name, and none of them is lost."""
    script = FEW_DESCRIPTORS.format(watchdog=watchdog)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    replies, lost = json.loads(run.stdout)

    refused = str(could_not_start("file descriptors: Too many open files (os error 24)"))
    done = str(Exited(code=0, stdin_read=0, stdin_size=1))
    assert set(replies) == {refused, done}
    assert replies == sorted(replies), "once there are enough, there are enough"
    assert lost == 0


async def test_failing_to_start_costs_no_descriptor(hooks: Hooks) -> None:
    """Many failures to start at once leave nothing open and no process (which the fixture looks after)."""
    replies = await asyncio.gather(*(hooks.run("/no/such/guard") for _ in range(50)))

    assert {type(reply) for reply in replies} == {CallFailed}

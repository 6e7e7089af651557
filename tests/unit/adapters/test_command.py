"""What a command hook is given, and what is made of what it gives back."""

import asyncio
import os
import pty
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.adapters.rig import EVENT, Hooks

from hookline._core.payload import CallFailed, Exited, Limits, Payload
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget
from hookline._processes import given


async def test_payload_in_answer_out(hooks: Hooks) -> None:
    """The payload's bytes are its standard input, then comes the end; both outputs and the code come back as bytes."""
    reply = await hooks.sh("cat; echo no >&2; exit 2", body=b'{"a": "\xc3\xa9"}')

    assert reply == Exited(code=2, stdout=b'{"a": "\xc3\xa9"}', stderr=b"no\n", stdin_read=11, stdin_size=11)


async def test_argv_is_executed_as_it_is(hooks: Hooks) -> None:
    """No shell comes between: what looks like a glob, a variable or a quote arrives as written."""
    reply = await hooks.run("/usr/bin/printf", "[%s]", "*", "$HOME", "a b", '"', "")

    assert reply == Exited(code=0, stdout=b'[*][$HOME][a b]["][]', stdin_read=0, stdin_size=2)


async def test_a_bare_name_is_found_on_the_hooks_own_path(hooks: Hooks, tmp_path: Path) -> None:
    """A program without a slash is looked up on the PATH of the target's environment, not on ours."""
    (tmp_path / "guard").write_text("#!/bin/sh\necho found\n")
    (tmp_path / "guard").chmod(0o755)
    target = CommandTarget(("guard",), {"PATH": str(tmp_path)})

    reply = await hooks.adapter.call(target, Payload(EVENT, b"", "/"), Limits(10))

    assert reply == Exited(code=0, stdout=b"found\n", stdin_read=0)


async def test_the_environment_is_exactly_the_targets(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook gets the variables of its target and no other: none of ours, and no mark to find it by."""
    monkeypatch.setenv("FAKE_API_KEY", "secret")
    target = CommandTarget(("/usr/bin/env",), {"ONLY": "this"})

    reply = await hooks.adapter.call(target, Payload(EVENT, b"", "/"), Limits(10))

    assert reply == Exited(code=0, stdout=b"ONLY=this\n", stdin_read=0)


async def test_it_runs_in_the_payloads_directory(hooks: Hooks, tmp_path: Path) -> None:
    """The working directory is the payload's, and relative paths in the command resolve there."""
    (tmp_path / "check.sh").write_text("#!/bin/sh\npwd\n")
    (tmp_path / "check.sh").chmod(0o755)

    reply = await hooks.run("./check.sh", cwd=str(tmp_path))

    assert reply == Exited(code=0, stdout=f"{tmp_path}\n".encode(), stdin_read=0, stdin_size=2)


async def test_no_directory_means_ours(hooks: Hooks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the payload names no directory the hook runs in ours."""
    monkeypatch.chdir(tmp_path)

    reply = await hooks.run("/bin/pwd", cwd="")

    assert reply == Exited(code=0, stdout=f"{tmp_path}\n".encode(), stdin_read=0, stdin_size=2)


async def test_it_leads_a_group_of_our_session(hooks: Hooks) -> None:
    """A hook leads a process group of its own, which can be killed as one, and stays in our session."""
    reply = await hooks.py("import os; print(os.getpgid(0) == os.getpid(), os.getsid(0))")

    assert reply == Exited(code=0, stdout=f"True {os.getsid(0)}\n".encode(), stdin_read=0, stdin_size=2)


ON_A_TERMINAL = """
import asyncio, os
from hookline._core.events import BeforeRun
from hookline._core.payload import Limits, Payload
from hookline._core.targets import CommandTarget
from hookline._processes import given
from hookline._processes.watchdog import NoWatchdog
from hookline.adapters.command import CommandAdapter
target = CommandTarget(("/bin/sh", "-c", "echo seen on the terminal >/dev/tty"), {})
payload = Payload(BeforeRun(prompt=""), b"", "/")
print(asyncio.run(CommandAdapter(NoWatchdog()).call(target, payload, Limits(10))))
"""


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 on; the child executes at once
def test_it_keeps_the_terminal() -> None:
    """A hook of a program on a terminal can write to it."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-c", ON_A_TERMINAL])  # noqa: S606 - the child that `fork` made
    shown = b""
    try:
        while chunk := os.read(terminal, 4096):
            shown += chunk
    except OSError:  # how the end of a terminal reads
        pass
    os.close(terminal)
    os.waitpid(pid, 0)

    assert b"seen on the terminal\r\n" in shown
    assert b"Exited(code=0" in shown


async def test_nothing_else_of_ours_is_open_in_it(hooks: Hooks, tmp_path: Path) -> None:
    """Besides the three streams a hook inherits one pipe, which tells that it is alive, out of the way of scripts."""
    with (tmp_path / "ours").open("w"):
        reply = await hooks.py("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))")

    assert isinstance(reply, Exited)
    *streams, alive, listing = [int(number) for number in reply.stdout.strip(b"[]\n").split(b",")]
    assert streams in ([0, 1, 2], [0, 1, 2, 3])
    assert max(alive, listing) >= 10


async def test_scripts_may_use_low_descriptors(hooks: Hooks) -> None:
    """A script that opens descriptors 3 to 9 for itself cannot be taken for one that has ended."""
    script = (
        "exec 3>/dev/null 4>&3 5>&3 6>&3 7>&3 8>&3 9>&3; setsid sleep 300 >/dev/null 2>&1 </dev/null 3>&- & sleep 300"
    )

    reply = await hooks.sh(script, within=0.2)

    assert reply == CallFailed(why=Failure.TIMEOUT, detail="hook timed out after 200ms")
    assert hooks.alive() == []


# Standard input


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 204_800, 1_048_576])
async def test_any_size_arrives_whole(hooks: Hooks, size: int) -> None:
    """A payload of any size is read to its end, also past what a pipe holds."""
    reply = await hooks.sh("cat | wc -c", body=b"x" * size)

    assert reply == Exited(code=0, stdout=f"{size}\n".encode(), stdin_read=size, stdin_size=size)


@pytest.mark.parametrize(
    ("script", "read"),
    [
        ("exit 0", 0),
        ("head -c 1000 >/dev/null", 1000),
        ("cat >/dev/null", 204_800),
        ("exec <&-", 0),
    ],
)
async def test_reading_less_is_no_error(hooks: Hooks, script: str, read: int) -> None:
    """A hook may leave its input unread, or close it; the reply says how far it got."""
    reply = await hooks.sh(script, body=b"x" * 204_800)

    assert reply == Exited(code=0, stdin_read=read, stdin_size=204_800)


@pytest.mark.parametrize("size", [9, 204_800])
async def test_input_is_a_stream(hooks: Hooks, size: int) -> None:
    """Section 15.3: standard input is a pipe, as scripts test for, and opened anew by its name it is the same one."""
    script = "[ -p /dev/stdin ] && cat /dev/stdin | wc -c && cat /dev/stdin | wc -c"

    reply = await hooks.sh(script, body=b"x" * size)

    assert reply == Exited(code=0, stdout=f"{size}\n0\n".encode(), stdin_read=size, stdin_size=size)


@pytest.mark.parametrize(("script", "read"), [("cat >/dev/null", 70_000), ("head -c 9 >/dev/null", 9), ("exit 0", 0)])
async def test_input_that_no_pipe_holds_is_a_file(hooks: Hooks, monkeypatch: Any, script: str, read: int) -> None:
    """Where a pipe cannot be made large enough the payload arrives whole all the same."""
    monkeypatch.setattr(given, "SET_SIZE", None)

    reply = await hooks.sh(f"[ -p /dev/stdin ] || {{ {script}; }}", body=b"x" * 70_000)

    assert isinstance(reply, Exited)
    assert (reply.code, reply.stdin_read, reply.stdin_size) == (0, read, 70_000)


async def test_a_file_that_was_opened_anew_is_not_taken_for_unread(hooks: Hooks, monkeypatch: Any) -> None:
    """A hook that opens such a file by its name reads it all, and nobody claims to know how much it read."""
    monkeypatch.setattr(given, "PIPE", 0)
    monkeypatch.setattr(given, "SET_SIZE", None)

    reply = await hooks.sh("cat /dev/stdin", body=b"all of it")

    assert reply == Exited(code=0, stdout=b"all of it", stdin_read=None, stdin_size=9)


async def test_children_share_one_input(hooks: Hooks) -> None:
    """What one child of a hook has read is not read again by the next, as with a pipe."""
    reply = await hooks.sh("read -r first; cat", body=b"one\ntwo\n")

    assert reply == Exited(code=0, stdout=b"two\n", stdin_read=8, stdin_size=8)


# Output


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("cap", [0, 10, 16_384, 200_000])
async def test_exactly_the_cap_is_accepted(hooks: Hooks, stream: str, cap: int) -> None:
    """As many bytes as the cap are allowed, on each stream by itself."""
    other = "stderr" if stream == "stdout" else "stdout"
    number = 1 if stream == "stdout" else 2

    reply = await hooks.sh(f"head -c {cap} /dev/zero >&{number}", cap=cap)

    assert isinstance(reply, Exited)
    assert getattr(reply, stream) == bytes(cap)
    assert getattr(reply, other) == b""


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("cap", [0, 10, 16_384, 200_000])
async def test_one_byte_more_ends_the_hook(hooks: Hooks, stream: str, cap: int) -> None:
    """One byte over the cap ends the whole tree at once; what fitted is kept, and the message has both numbers."""
    number = 1 if stream == "stdout" else 2

    reply = await hooks.sh(f"head -c {cap + 1} /dev/zero >&{number}; sleep 300", cap=cap)

    detail = f"{stream} went over its cap of {cap} bytes: {cap + 1} were read"
    outputs = {"stdout": b"", "stderr": b"", stream: bytes(cap)}
    assert reply == CallFailed(
        why=Failure.OUTPUT_TOO_LARGE,
        detail=detail,
        stdout=outputs["stdout"],
        stderr=outputs["stderr"],
        stream=stream,
        size=cap + 1,
    )
    assert hooks.alive() == []


async def test_the_cap_counts_bytes(hooks: Hooks) -> None:
    """A character that the cap cuts is cut: what is kept is bytes, and its reader knows how to read them."""
    reply = await hooks.sh("printf '%s' '🙂🙂'", cap=7)

    assert isinstance(reply, CallFailed)
    assert reply.stdout == "🙂🙂".encode()[:7]


async def test_a_flood_is_ended_early(hooks: Hooks) -> None:
    """A hook that writes without end is ended long before its deadline."""
    async with asyncio.timeout(5):
        reply = await hooks.sh("yes & yes >&2", within=300)

    assert isinstance(reply, CallFailed)
    assert reply.why is Failure.OUTPUT_TOO_LARGE


async def test_output_before_a_timeout_is_kept(hooks: Hooks) -> None:
    """What a hook wrote before it was ended, and while it was asked to end, is kept for the record."""
    reply = await hooks.sh("trap 'echo last >&2; exit 1' TERM; echo first; sleep 300 & wait", within=0.3)

    assert reply == CallFailed(
        why=Failure.TIMEOUT, detail="hook timed out after 300ms", stdout=b"first\n", stderr=b"last\n"
    )


# How it ended


@pytest.mark.parametrize("code", [0, 1, 2, 127, 255])
async def test_exit_codes_are_replies(hooks: Hooks, code: int) -> None:
    """What an exit code means is for the dialect to say: any of them is a reply."""
    assert await hooks.sh(f"exit {code}") == Exited(code=code, stdin_read=0, stdin_size=2)


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL", "SIGABRT"])
async def test_dying_by_a_signal_is_a_failure(hooks: Hooks, name: str) -> None:
    """A hook that a signal ended has no exit code; the failure names the signal and keeps the output."""
    number = signal.Signals[name].value

    reply = await hooks.sh(f"echo so far; kill -{number} $$")

    assert reply == CallFailed(why=Failure.SIGNAL, detail=f"killed by {name}", stdout=b"so far\n")


async def test_a_nameless_signal_has_its_number(hooks: Hooks) -> None:
    """A signal that this system has no name for is named by its number."""
    assert await hooks.sh("kill -40 $$") == CallFailed(why=Failure.SIGNAL, detail="killed by signal 40")


async def test_a_status_that_was_taken_is_a_failure(hooks: Hooks) -> None:
    """In a host that does not keep its children's exit statuses a code is unknown, and never taken for success."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        reply = await hooks.sh("echo so far; exit 0")
    finally:
        signal.signal(signal.SIGCHLD, before)

    assert isinstance(reply, CallFailed)
    assert (reply.why, reply.stdout) == (Failure.CRASHED, b"so far\n")
    assert "exit status" in reply.detail


async def test_many_at_once_do_not_mix(hooks: Hooks) -> None:
    """Hooks that run at the same time each get their own payload and give their own answer."""
    replies = await asyncio.gather(*(hooks.sh("cat", body=str(number).encode()) for number in range(20)))

    assert [reply.stdout for reply in replies if isinstance(reply, Exited)] == [
        str(number).encode() for number in range(20)
    ]

"""A program that is killed at each of its steps, to look at what it leaves behind."""

import itertools
import os
import signal
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

# What a program changes something with, by its name in `os`.
CALLS = (
    "open",
    "write",
    "fsync",
    "mkdir",
    "rename",
    "replace",
    "chmod",
    "fchmod",
    "unlink",
    "rmdir",
    "link",
    "symlink",
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT  # a file that is opened to be read is no step
KILLED, FAILED = 9, 1


def at_every_step(
    operation: Callable[[], object], check: Callable[[], object], *, begin: Callable[[], object] = lambda: None
) -> int:
    """Let a process of its own run *operation*, and end it at its first step; then another at the second, and so on.

    *begin* is called before each, and *check* after each, also after the one that came to its end. A step is a call of
    `os` that changes something, and a process ends before it as if it were killed: nothing is tidied up. Returns how
    many were killed.
    """
    for step in itertools.count(1):
        begin()
        was_killed = _run(operation, step)
        check()
        if not was_killed:
            return step - 1
    raise AssertionError  # for the type checker: counting has no end


def _run(operation: Callable[[], object], last: int) -> bool:
    """Whether a process that runs *operation* did not live beyond the step *last*."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _be(operation, last, writing)
    os.close(writing)
    with os.fdopen(reading, errors="replace") as said:
        told = said.read()
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, KILLED), told or f"it ended with {code}"
    return code == KILLED


def _be(operation: Callable[[], object], last: int, writing: int) -> NoReturn:
    status, write = FAILED, os.write
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the clock of the tests is not this one's
        _count(last)
        operation()
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the parent has to know, and this process to end
        write(writing, traceback.format_exc().encode())
    finally:
        os._exit(status)


def _count(last: int) -> None:
    """From now on end this process at its step *last*."""
    steps = itertools.count(1)

    def counted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **options: Any) -> Any:
            reads = name == "open" and not (args[1] if len(args) > 1 else options["flags"]) & WRITING
            if not reads and next(steps) == last:
                os._exit(KILLED)
            return call(*args, **options)

        return step

    for name in CALLS:
        setattr(os, name, counted(name, getattr(os, name)))

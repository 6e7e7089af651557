"""Starting a program: descriptors, one vfork, and the words for why it could not be."""

import contextlib
import errno
import fcntl
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from hookline._processes.given import Given, give
from hookline._processes.watchdog import Guard, Watchdog

FIRST_FREE = 10  # scripts use 0 to 9 as they please (`exec 3>log`), so nothing of ours may have such a number there


class Stdin(Enum):
    """A standard input that is not a text known before."""

    NONE = "none"  # at its end from the start
    PIPE = "pipe"  # written to while the program runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to start, in the absolute directory *cwd*, with the whole of its environment.

    *stdin* as bytes is there before it starts and needs no writer, so that nothing can deadlock or break.
    *one_output* sends standard error where standard output goes. *own_session* takes our terminal from it, which it
    else keeps, in the background: it can write there, and is stopped if it tries to read.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(repr=False)
    cwd: str
    stdin: bytes | Stdin
    one_output: bool = False
    own_session: bool = False


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The program never ran; *detail* names what was missing and what the system said."""

    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawned:
    """A process, the leader of a new process group, and our ends of what it inherited.

    `given` is what it reads if that was known before; else `stdin_pipe` is where we write it. `outputs` are standard
    output and standard error, or one for both. `alive` is the reading end of a pipe that nobody writes to: descendants
    inherit the other end, so it is at its end once the last of them is gone. `guard` is the watch over it.
    `owned` are those of them that are still open here, and still ours to close.
    """

    process: subprocess.Popen[bytes]
    given: Given | None
    stdin_pipe: int | None
    outputs: tuple[int, ...]
    alive: int
    guard: Guard
    owned: set[int]

    def close(self) -> None:
        close(self.owned)
        self.owned.clear()


def spawn(program: Program, watchdog: Watchdog) -> Spawned | NotStarted:
    """Start *program*, which *watchdog*, if it is ready, ends if we die. Blocks until it runs or cannot."""
    ours: list[int] = []
    theirs: list[int] = []
    try:
        return _spawn(program, watchdog, ours, theirs)
    except OSError as error:
        close(ours)
        return NotStarted(f"{_missing(error, program)}: {said(error)}")
    except ValueError as error:  # a NUL, a lone surrogate, or a variable name with `=` in it
        close(ours)
        return NotStarted(f"arguments or environment: {error}")
    finally:
        close(theirs)


def said(error: OSError) -> str:
    """What the system said."""
    return f"{os.strerror(error.errno or 0)} (os error {error.errno})"


def close(fds: Iterable[int]) -> None:
    for fd in fds:
        with contextlib.suppress(OSError):
            os.close(fd)


def _spawn(program: Program, watchdog: Watchdog, ours: list[int], theirs: list[int]) -> Spawned:
    stdin, given, pipe = _open_stdin(program.stdin, ours, theirs)
    out, stdout = _open_pipe(ours, theirs)
    err, stderr = (out, stdout) if program.one_output else _open_pipe(ours, theirs)
    alive, sign = _open_pipe(ours, theirs)
    if sign < FIRST_FREE:
        theirs.append(sign := fcntl.fcntl(sign, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE))
    guard = watchdog.expect(os.fstat(alive).st_ino)
    try:
        # A new group, to be killed as one. Every argument here lets `Popen` vfork, which does not copy the page tables
        # of a large host.
        process = subprocess.Popen(
            [each.encode("utf-8", "surrogateescape") for each in program.argv],  # they are UTF-8, the locale may not be
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(sign,),
            cwd=program.cwd,
            env=dict(program.env),
            process_group=None if program.own_session else 0,
            start_new_session=program.own_session,
        )
    except BaseException:
        guard.end()
        raise
    guard.started(process.pid)
    return Spawned(
        process=process,
        given=given,
        stdin_pipe=pipe,
        outputs=(out,) if program.one_output else (out, err),
        alive=alive,
        guard=guard,
        owned=set(ours),
    )


def _open_stdin(stdin: bytes | Stdin, ours: list[int], theirs: list[int]) -> tuple[int, Given | None, int | None]:
    """The program's standard input, what it was given there, and the pipe's end by which we write to it."""
    match stdin:
        case Stdin.NONE:
            return subprocess.DEVNULL, None, None
        case Stdin.PIPE:
            reading, writing = os.pipe()
            theirs.append(reading)
            ours.append(writing)
            os.set_blocking(writing, False)
            return reading, None, writing
        case body:
            given = give(body)
            ours.append(given.fd)
            return given.fd, given, None


def _open_pipe(ours: list[int], theirs: list[int]) -> tuple[int, int]:
    """A pipe that we read from, without ever waiting."""
    reading, writing = os.pipe()
    ours.append(reading)
    theirs.append(writing)
    os.set_blocking(reading, False)
    return reading, writing


def _missing(error: OSError, program: Program) -> str:
    """What could not be had."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "file descriptors"
    if not (Path(program.cwd).is_dir() and os.access(program.cwd, os.X_OK)):
        return f"working directory {program.cwd}"
    if error.filename is None:
        return "new process"
    name = program.argv[0]
    if error.errno == errno.ENOENT and "/" in name and Path(program.cwd, name).exists():
        return f"interpreter of {name}"
    return f"program {name}"

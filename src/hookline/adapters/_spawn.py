"""Starting a hook's program: descriptors, one vfork, and the words for why it could not be."""

import contextlib
import errno
import fcntl
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from hookline._core.payload import CallFailed
from hookline._core.targets import CommandTarget
from hookline.adapters._files import nameless_file
from hookline.adapters._limits import could_not_start

FIRST_FREE = 10  # scripts use 0 to 9 as they please (`exec 3>log`), so nothing of ours may have such a number there


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawned:
    """A hook's process, the leader of a new process group in our session, and our ends of what it inherited.

    `stdin` is the file that it reads: the offset is shared, so it tells how far. `alive` is the reading end of a pipe
    that nobody writes to: descendants inherit the other end, so it is at its end once the last of them is gone.
    """

    process: subprocess.Popen[bytes]
    stdin: int
    stdout: int
    stderr: int
    alive: int

    def close(self) -> None:
        _close([self.stdin, self.stdout, self.stderr, self.alive])


def spawn(target: CommandTarget, cwd: str, body: bytes) -> Spawned | CallFailed:
    """Start *target* in *cwd* with *body* to read. Blocks until the program runs or cannot."""
    if not target.argv:
        return could_not_start("program: the command is empty")
    if cwd and not cwd.startswith("/"):
        return could_not_start(f"working directory {cwd}: not an absolute path")
    try:
        directory = cwd or str(Path.cwd())
    except OSError as error:
        return could_not_start(f"working directory: {_said(error)}")
    ours: list[int] = []
    theirs: list[int] = []
    try:
        _open_streams(ours, theirs, body)
        process = _start(target, directory, ours[0], theirs)
    except OSError as error:
        _close(ours)
        return could_not_start(f"{_missing(error, target.argv[0], directory)}: {_said(error)}")
    except ValueError as error:  # a NUL, a lone surrogate, or a variable name with `=` in it
        _close(ours)
        return could_not_start(f"arguments or environment: {error}")
    finally:
        _close(theirs)
    stdin, stdout, stderr, alive = ours
    return Spawned(process=process, stdin=stdin, stdout=stdout, stderr=stderr, alive=alive)


def _open_streams(ours: list[int], theirs: list[int], body: bytes) -> None:
    """Open what a `Spawned` has, in its order. Standard input needs no writer, so nothing can deadlock or break."""
    ours.append(stdin := nameless_file())
    written = 0
    while written < len(body):
        written += os.pwrite(stdin, memoryview(body)[written:], written)
    os.utime(stdin, ns=(0, 0))  # any later access time says that somebody has read it
    for _ in ("stdout", "stderr", "alive"):
        reading, writing = os.pipe()
        ours.append(reading)
        theirs.append(writing)
        os.set_blocking(reading, False)
    if theirs[-1] < FIRST_FREE:
        theirs.append(fcntl.fcntl(theirs[-1], fcntl.F_DUPFD_CLOEXEC, FIRST_FREE))


def _start(target: CommandTarget, cwd: str, stdin: int, theirs: list[int]) -> subprocess.Popen[bytes]:
    stdout, stderr, *_, alive = theirs
    # A new group, to be killed as one; the same session, so that the hook keeps its terminal. Every argument here
    # lets `Popen` vfork, which does not copy the page tables of a large host.
    return subprocess.Popen(
        [each.encode("utf-8", "surrogateescape") for each in target.argv],  # files are UTF-8, the locale may not be
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        pass_fds=(alive,),
        cwd=cwd,
        env=dict(target.env),
        process_group=0,
    )


def _missing(error: OSError, program: str, cwd: str) -> str:
    """What could not be had."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "file descriptors"
    if not (Path(cwd).is_dir() and os.access(cwd, os.X_OK)):
        return f"working directory {cwd}"
    if error.filename is None:
        return "new process"
    if error.errno == errno.ENOENT and "/" in program and Path(cwd, program).exists():
        return f"interpreter of {program}"
    return f"program {program}"


def _said(error: OSError) -> str:
    return f"{os.strerror(error.errno or 0)} (os error {error.errno})"


def _close(fds: list[int]) -> None:
    for fd in fds:
        with contextlib.suppress(OSError):
            os.close(fd)

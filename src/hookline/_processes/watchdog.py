"""What ends programs when this program cannot any more: because it was killed, crashed, or ran out of memory."""

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from typing import Protocol

from hookline._processes.files import nameless_file

# Waits until nobody can write to its standard input, then kills each group on the list that it has, for lack of a
# handier descriptor, as its standard output, and whoever else holds the writing end of a pipe that is named there.
# Deaf to polite signals: it has to outlive this program by a moment. They are blocked when it starts, too, as a shell
# takes a millisecond to get to its `trap`.
SCRIPT = """
trap '' HUP INT TERM
read -r _
signs=' '
while read -r group pipe; do
  case $group in
    '') continue ;;
    -) ;;
    *) kill -s KILL -- "-$group" ;;
  esac
  signs="${signs}pipe:[$pipe] "
done <&1
ls -l /proc/[0-9]*/fd | while read -r line; do
  case $line in
    /proc/*/fd:) pid=${line#/proc/} pid=${pid%/fd:} ;;
    l-wx*"-> pipe:"*) case $signs in *" ${line##* } "*) kill -s KILL -- "-$pid" "$pid" ;; esac ;;
  esac
done
"""

POLITE = {signal.SIGHUP, signal.SIGINT, signal.SIGTERM}

LINE = 36  # numbers of processes and of pipes have 10 and 20 digits at most; such lines can be overwritten in place


class Guard(Protocol):
    """The watch over one program, from before it is started."""

    def started(self, group: int) -> None:
        """It runs, as the leader of this process group."""
        ...

    def end(self) -> None:
        """It needs no watching any more, or never came to be."""
        ...


class Watchdog(Protocol):
    """Knows which programs must not outlive this one."""

    @property
    def ready(self) -> bool: ...

    def start(self) -> None:
        """Become ready. May spawn a process."""
        ...

    def expect(self, pipe: int) -> Guard:
        """Watch over a program that is about to be started, and is to inherit the writing end of *pipe*, an inode."""
        ...

    def close(self) -> None: ...


class NoGuard:
    """Nobody watches."""

    def started(self, group: int) -> None:
        """Forgets it."""

    def end(self) -> None:
        """Never knew it."""


class NoWatchdog:
    """Programs outlive a killed host, each up to its own end."""

    ready = True

    def start(self) -> None:
        """Ready as it is."""

    def expect(self, pipe: int) -> Guard:
        """Nobody watches over it."""
        del pipe
        return NoGuard()

    def close(self) -> None:
        """Holds nothing."""


class ShellWatchdog:
    """One small shell, started at the first program, and anew if it was killed.

    The list of programs is a file that it shares with us and reads only at the end, so a program costs three writes
    and wakes nobody. One that is started in the very instant in which we are killed is found by the pipe that it
    inherits, as are processes that left their group; without /proc both are out of reach. Where no shell can be started
    there is no watchdog.
    """

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        self._pipe: int | None = None  # the writing end of its standard input
        self._list: int | None = None
        self._lines = 0
        self._free: list[int] = []  # lines that were used before
        self._failed = False

    @property
    def ready(self) -> bool:
        return self._failed or (self._shell is not None and self._shell.poll() is None)

    def start(self) -> None:
        self._hang_up()
        try:
            if self._list is None:
                self._list = nameless_file()
            self._shell = self._started(self._list)
        except OSError:
            self._failed = True

    def expect(self, pipe: int) -> Guard:
        if not self._free:
            self._free.append(self._lines)
            self._lines += 1
        guard = _Line(self, self._free.pop(), pipe)
        self.write(guard.number, f"- {pipe}")
        return guard

    def write(self, line: int, text: str) -> None:
        """Let a line of the list say *text*."""
        if self._list is not None:
            with contextlib.suppress(OSError):  # as under a limit for files: then nobody watches over this program
                os.pwrite(self._list, f"{text:<{LINE - 1}}\n".encode(), line * LINE)

    def free(self, line: int) -> None:
        """Let somebody else have a line of the list."""
        self.write(line, "")
        self._free.append(line)

    def close(self) -> None:
        if self._shell is not None:
            self._shell.kill()  # before its input ends, which would be its cue
            self._shell.wait()
            self._shell = None
        self._hang_up()
        if self._list is not None:
            os.close(self._list)
            self._list = None

    def _started(self, groups: int) -> subprocess.Popen[bytes]:
        reading, writing = os.pipe()
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, POLITE)
        try:
            shell = subprocess.Popen(
                ["/bin/sh", "-c", SCRIPT],
                stdin=reading,
                stdout=groups,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                process_group=0,
            )
        except OSError:
            os.close(writing)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.close(reading)
        self._pipe = writing
        return shell

    def _hang_up(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None


@dataclass(frozen=True, slots=True)
class _Line:
    """A program's line on the list."""

    watchdog: ShellWatchdog
    number: int
    pipe: int

    def started(self, group: int) -> None:
        self.watchdog.write(self.number, f"{group} {self.pipe}")

    def end(self) -> None:
        self.watchdog.free(self.number)

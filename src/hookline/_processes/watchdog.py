"""What ends programs when this program cannot any more: because it was killed, crashed, or ran out of memory."""

import contextlib
import os
import signal
import subprocess
from typing import Protocol

from hookline._processes.files import nameless_file

# Waits until nobody can write to its standard input, then kills each group on the list that it has, for lack of a
# handier descriptor, as its standard output. Deaf to polite signals: it has to outlive this program by a moment. They
# are blocked when it starts, too, as a shell takes a millisecond to get to its `trap`.
SCRIPT = """
trap '' HUP INT TERM
read -r _
while read -r group; do [ -z "$group" ] || kill -s KILL -- "-$group"; done <&1
"""

POLITE = {signal.SIGHUP, signal.SIGINT, signal.SIGTERM}

LINE = 12  # a process number has at most ten digits; lines of one length can be overwritten in place


class Watchdog(Protocol):
    """Knows which process groups must not outlive this program."""

    @property
    def ready(self) -> bool: ...

    def start(self) -> None:
        """Become ready. May spawn a process."""
        ...

    def add(self, group: int) -> None: ...
    def remove(self, group: int) -> None: ...
    def close(self) -> None: ...


class NoWatchdog:
    """Programs outlive a killed host, each up to its own end."""

    ready = True

    def start(self) -> None:
        """Ready as it is."""

    def add(self, group: int) -> None:
        """Forgets it."""

    def remove(self, group: int) -> None:
        """Never knew it."""

    def close(self) -> None:
        """Holds nothing."""


class ShellWatchdog:
    """One small shell, started at the first program, and anew if it was killed.

    The list of groups is a file that it shares with us and reads only at the end, so a program costs two writes and
    wakes nobody. Out of its reach are processes that left their group, and a program that was started in the very
    instant in which we are killed, before it is on the list. Where no shell can be started there is no watchdog.
    """

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        self._pipe: int | None = None  # the writing end of its standard input
        self._list: int | None = None
        self._lines: dict[int, int] = {}  # which group stands in which line
        self._free: list[int] = []
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

    def add(self, group: int) -> None:
        line = self._free.pop() if self._free else len(self._lines)
        self._lines[group] = line
        self._write(line, str(group))

    def remove(self, group: int) -> None:
        line = self._lines.pop(group)
        self._free.append(line)
        self._write(line, "")

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

    def _write(self, line: int, text: str) -> None:
        if self._list is not None:
            with contextlib.suppress(OSError):  # as under a limit for files: then nobody watches over this program
                os.pwrite(self._list, f"{text:<{LINE - 1}}\n".encode(), line * LINE)

"""Those who outlived programs that are gone: each still holds the pipe that told that the program's tree is alive."""

import asyncio
import os
import signal

from hookline._processes.descendants import holders, mark, send
from hookline._processes.ending import PAUSE, ROUNDS
from hookline._processes.spawn import close


class Leftovers:
    """Remembers them by our ends of those pipes, until they are gone or it is time to end them."""

    def __init__(self) -> None:
        self._pipes: list[int] = []

    def add(self, alive: int) -> None:
        """Take over *alive*, the reading end, which never blocks. Where nobody holds the other one it is closed."""
        self._pipes.append(alive)
        self._forget_those_gone()

    async def end(self) -> None:
        """Kill all that are left, and forget them."""
        marks = {mark(fd) for fd in self._pipes} - {""}
        try:
            for _ in range(ROUNDS):
                self._forget_those_gone()
                if not self._pipes:
                    return
                for kin in holders(marks):
                    send(kin, signal.SIGKILL)
                await asyncio.sleep(PAUSE)
        finally:
            close(self._pipes)
            self._pipes.clear()

    def _forget_those_gone(self) -> None:
        gone = [fd for fd in self._pipes if _is_at_its_end(fd)]
        close(gone)
        self._pipes = [fd for fd in self._pipes if fd not in gone]


def _is_at_its_end(alive: int) -> bool:
    try:
        return not os.read(alive, 1)
    except BlockingIOError:
        return False

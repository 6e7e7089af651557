"""Inputs as lines of JSON: from a file at once, from a pipe or a terminal as they come."""

import asyncio
import contextlib
import os
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import click

from hookline.session.admission.wire import MAX_BYTES

STANDARD_INPUT = Path("-")

CHUNK = 64 * 1024  # bytes of one read: as many as a pipe holds


async def lines_of(file: Path) -> AsyncIterator[tuple[str, bytes]]:
    """Each line that is not blank, with its place.

    Of one that is too long only the beginning comes, which has more bytes than an input may have. Raises ClickException
    for a file that cannot be read.
    """
    name = "standard input" if file == STANDARD_INPUT else str(file)
    lines = _Lines(MAX_BYTES)
    try:
        with _opened(file) as descriptor:
            async for chunk in _chunks(descriptor):
                for number, line in lines.fed(chunk):
                    yield f"{name}:{number}", line
            for number, line in lines.ended():
                yield f"{name}:{number}", line
    except OSError as error:
        raise click.ClickException(f"cannot read the inputs in {file}: {error.strerror}") from error


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[int]:
    if file == STANDARD_INPUT:
        yield sys.stdin.fileno()
        return
    # A named pipe that nobody has opened yet must not hold up everything else.
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


async def _chunks(descriptor: int) -> AsyncIterator[bytes]:
    """What can be read, as it comes: without a thread that cannot be ended, and without changing how others read."""
    waits = not stat.S_ISREG(os.fstat(descriptor).st_mode)
    while True:
        if waits:
            waits = await _readable(descriptor)
        else:
            await asyncio.sleep(0)  # a file has its next bytes at once, and everybody else has a turn all the same
        try:
            chunk = os.read(descriptor, CHUNK)
        except BlockingIOError:  # another reader was faster
            continue
        if not chunk:
            return
        yield chunk


async def _readable(descriptor: int) -> bool:
    """Wait until there is something to read. False for what is never waited for, such as /dev/null."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    try:
        loop.add_reader(descriptor, readable.set)
    except PermissionError:
        return False
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)
    return True


class _Lines:
    """Cuts chunks into lines that count from 1, and leaves out the blank ones."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._begun = bytearray()  # of the line that has not ended yet, no more than shows that it is too long
        self._number = 0

    def fed(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._add(piece)
            yield from self.ended()
        self._add(rest)

    def ended(self) -> Iterator[tuple[int, bytes]]:
        """The line that was begun has come to its end."""
        line = bytes(self._begun)
        self._begun.clear()
        self._number += 1
        if line.strip():
            yield self._number, line

    def _add(self, piece: bytes) -> None:
        room = self._longest + 1 - len(self._begun)
        self._begun += piece[:room]

"""The process that replays some of many sessions: `python -m hookline.workbench.replay_worker`.

It is told by pickles on standard input which hooks to ask on which terms, then of one journal after the other, and
answers by pickles on standard output, each behind its length. Without whoever started it, it ends, its hooks with it.
"""

import asyncio
import io
import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from hookline.workbench.opening import Chosen
from hookline.workbench.replay import Beat, Terms, replay
from hookline.workbench.replayed import Found, Replayed, Trouble

Send = Callable[[Beat | Found], None]

LENGTH = struct.Struct(">Q")
BROKE = "not replayed: this is a bug of ours ({kind}: {fault})"


def packed(value: object) -> bytes:
    """*value* as it crosses, either way."""
    data = pickle.dumps(value)
    return LENGTH.pack(len(data)) + data


async def unpacked(stream: asyncio.StreamReader) -> Any:
    """The next value that crosses. Raises IncompleteReadError where there is none any more."""
    (length,) = LENGTH.unpack(await stream.readexactly(LENGTH.size))
    return pickle.loads(await stream.readexactly(length))  # noqa: S301  # of our own making, through our own pipe


async def serve(tasks: asyncio.StreamReader, answers: io.BufferedIOBase) -> None:
    """Replay what *tasks* names until there is nobody to name more, or a signal ends it."""

    def send(value: Beat | Found) -> None:
        answers.write(packed(value))
        answers.flush()

    chosen, terms = await unpacked(tasks)
    named: asyncio.Queue[Path] = asyncio.Queue()
    listening = asyncio.ensure_future(_listen(tasks, named))
    working = asyncio.ensure_future(_work(named, chosen, terms, send))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, listening.cancel)
    await asyncio.wait((listening, working), return_when=asyncio.FIRST_COMPLETED)
    for task in (listening, working):
        task.cancel()
    await asyncio.gather(listening, working, return_exceptions=True)


async def _listen(tasks: asyncio.StreamReader, named: "asyncio.Queue[Path]") -> None:
    """Ends when whoever names sessions is gone."""
    with suppress(asyncio.IncompleteReadError):
        while True:
            named.put_nowait(await unpacked(tasks))


async def _work(named: "asyncio.Queue[Path]", chosen: Chosen, terms: Terms, send: Send) -> None:
    while True:
        path = await named.get()
        try:
            async with aclosing(replay(path, chosen, terms, told=send)) as found:
                async for each in found:
                    send(each)
        except BrokenPipeError:
            return  # nobody wants to know
        except Exception as fault:  # noqa: BLE001  # whatever it is, the next session can be replayed
            send(Trouble(path, 0, BROKE.format(kind=type(fault).__name__, fault=fault)))
            send(Replayed(troubles=1))


async def _serve_standard_streams() -> None:
    """What hooks in this process print goes where errors go: the answers have standard output for themselves."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tasks = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(tasks), sys.stdin.buffer)
    with suppress(asyncio.IncompleteReadError):
        await serve(tasks, answers)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):  # before there was anybody to take the signal
        asyncio.run(_serve_standard_streams())

"""Seeing a program to its end; if it will not end by itself, the whole tree, in bounded time, whatever it does."""

import asyncio
import signal
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from hookline._processes.descendants import Kin, is_alive, send
from hookline._processes.running import Running

ROUNDS = 5  # of looking for who is left and killing them; who forks faster than that has won
PAUSE = 0.005  # a killed process is gone within a millisecond or two
UNKILLABLE = 1.0  # a process that the kernel holds fast, as on a dead network disk, is left to it after this


class Ending(Enum):
    """Why a program came to its end."""

    BY_ITSELF = "by itself"
    LATE = "late"
    FULL = "full"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Seconds that are waited in the end.

    *grace* from SIGTERM to SIGKILL, *drain* for children that hold the outputs of a program that has ended.
    *hurried*: whether cancelling somebody who waits out the grace cuts it short.
    """

    grace: float
    drain: float
    hurried: bool = False


async def attend(process: Running, deadline: float, patience: Patience) -> Ending:
    """Stay with a program until it has ended, and say why; *deadline* (loop time) is for it and for reading the rest.

    Unless it ended by itself everyone that it started is ended too. If it did, those of them are killed who still hold
    an output; whoever holds none is left alone. Cancelling ends everyone first, and is raised then.
    """
    loop = asyncio.get_running_loop()

    def cut_short() -> bool:
        return process.stopped or process.full

    process.listen()
    try:
        await process.until(lambda: process.exited or cut_short(), deadline)
        if process.exited:
            drained_by = min(deadline, loop.time() + patience.drain)
            await process.until(lambda: process.drained or cut_short(), drained_by)
    except asyncio.CancelledError:
        await _end(process, patience)
        raise
    ending = _ending(process)
    if ending is not Ending.BY_ITSELF:
        await _end(process, patience)
    elif not process.drained:
        await _end_left_behind(process)
    if process.cancelled:
        raise process.cancelled
    return ending


def _ending(process: Running) -> Ending:
    if process.full:
        return Ending.FULL
    if process.exited:
        return Ending.BY_ITSELF
    return Ending.STOPPED if process.stopped else Ending.LATE


async def _end(process: Running, patience: Patience) -> None:
    """Tell everyone to stop, give them the grace, kill who is left. Cancelling does not cut the killing short."""

    def over() -> bool:
        hurry = patience.hurried and process.cancelled is not None
        return hurry or (process.exited and process.alone)

    process.listen_for_others()
    kin = process.family()
    _signal(process, kin, signal.SIGTERM)
    _signal(process, kin, signal.SIGCONT)  # one that is stopped, by its terminal for instance, cannot act on it
    if not await process.patiently(over, _after(patience.grace)):
        kin = process.family(kin)
    await _kill(process, kin)


async def _end_left_behind(process: Running) -> None:
    """Kill everyone that a program which has ended left behind, and count those who still held its outputs."""
    process.listen_for_others()
    kin = process.family()
    process.left_behind = max(process.writers(kin), 1)  # somebody does hold it, found or not
    await _kill(process, kin)


async def _kill(process: Running, kin: Collection[Kin]) -> None:
    for _ in range(ROUNDS):
        _signal(process, kin, signal.SIGKILL)
        gone = await process.patiently(lambda: process.exited and process.alone, _after(PAUSE))
        if gone and not any(is_alive(each) for each in kin):
            return
        kin = process.family(kin)
    await process.patiently(lambda: process.exited, _after(UNKILLABLE))


def _signal(process: Running, kin: Collection[Kin], number: signal.Signals) -> None:
    process.signal_group(number)
    for each in sorted(kin, key=lambda one: (one.born, one.pid)):  # parents first: none sees a child die and goes on
        if each.group != process.pid:
            send(each, number)


def _after(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds

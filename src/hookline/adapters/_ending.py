"""The end of a hook that will not end by itself: the whole tree, in bounded time, whatever it does about it."""

import asyncio
import signal
from collections.abc import Collection

from hookline.adapters._descendants import Kin, is_alive, send
from hookline.adapters._process import HookProcess

ROUNDS = 5  # of looking for who is left and killing them; who forks faster than that has won
PAUSE = 0.005  # a killed process is gone within a millisecond or two
UNKILLABLE = 1.0  # a process that the kernel holds fast, as on a dead network disk, is left to it after this


async def end(process: HookProcess, grace: float) -> None:
    """Tell everyone to stop, give them *grace* seconds, kill who is left. Cancelling does not cut it short."""
    process.listen_for_others()
    kin = process.family()
    _signal(process, kin, signal.SIGTERM)
    _signal(process, kin, signal.SIGCONT)  # one that is stopped, by its terminal for instance, cannot act on it
    if not await process.patiently(lambda: process.exited and process.alone, _after(grace)):
        kin = process.family(kin)
    await _kill(process, kin)


async def end_left_behind(process: HookProcess) -> None:
    """Kill everyone that a hook which has ended left behind, and count those who still held its output."""
    process.listen_for_others()
    kin = process.family()
    process.left_behind = max(process.writers(kin), 1)  # somebody does hold it, found or not
    await _kill(process, kin)


async def _kill(process: HookProcess, kin: Collection[Kin]) -> None:
    for _ in range(ROUNDS):
        _signal(process, kin, signal.SIGKILL)
        gone = await process.patiently(lambda: process.exited and process.alone, _after(PAUSE))
        if gone and not any(is_alive(each) for each in kin):
            return
        kin = process.family(kin)
    await process.patiently(lambda: process.exited, _after(UNKILLABLE))


def _signal(process: HookProcess, kin: Collection[Kin], number: signal.Signals) -> None:
    process.signal_group(number)
    for each in sorted(kin, key=lambda one: (one.born, one.pid)):  # parents first: none sees a child die and goes on
        if each.group != process.pid:
            send(each, number)


def _after(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds

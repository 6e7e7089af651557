"""Runs a program: the payload on its standard input, the answer in its exit status and what it writes."""

import asyncio
import dataclasses
import os
import signal

from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget
from hookline.adapters._ending import end, end_left_behind
from hookline.adapters._limits import Capped, closed, timed_out
from hookline.adapters._process import HookProcess
from hookline.adapters._spawn import spawn
from hookline.adapters._turns import Turns
from hookline.adapters._watchdog import Watchdog

GRACE = 2.0  # long enough for a trap to clean up, short enough that a person waits for it
DRAIN = 1.0  # long enough for a child to flush what it has to say, too short for one that just stays


class CommandAdapter:
    """Runs each hook as the leader of a process group of its own.

    It keeps our terminal, in the background: it can write there, and is stopped if it tries to read. Besides its three
    streams it inherits one pipe, numbered 10 or above, that tells us whether any of its descendants is alive.

    One deadline covers waiting for a turn to spawn, the run, and reading what is left. At the deadline, over a cap,
    and on cancellation everyone that the hook started is told to stop (SIGTERM), and killed *grace* seconds later, as
    far as they can be found: by group anywhere, on Linux also by descent and by the pipes that they inherited.

    A hook that ended while a child still holds its output is read for *drain* seconds more; then whoever it left is
    killed, and what was read counts. Children that let go of the output of a hook that ended are left alone: starting
    a daemon is a thing that a hook may do.
    """

    def __init__(self, watchdog: Watchdog, *, grace: float = GRACE, drain: float = DRAIN) -> None:
        self._watchdog = watchdog
        self._grace = grace
        self._drain = drain
        self._turns = Turns()
        self._running: set[HookProcess] = set()
        self._closed = False

    async def call(self, target: CommandTarget, payload: Payload, limits: Limits) -> Reply:
        deadline = asyncio.get_running_loop().time() + limits.timeout
        await self._turns.next()
        if not (self._closed or self._watchdog.ready):
            self._watchdog.start()
            await self._turns.next()
        if self._closed:
            return closed()
        if asyncio.get_running_loop().time() >= deadline:
            return timed_out(limits)
        spawned = spawn(target, payload.cwd, payload.body)
        if isinstance(spawned, CallFailed):
            return spawned
        process = HookProcess(spawned, cap=limits.output_bytes)
        self._running.add(process)
        self._watchdog.add(process.pid)
        try:
            failure = await self._attend(process, limits, deadline)
        finally:
            self._running.discard(process)
            self._watchdog.remove(process.pid)
            process.release()
        return _reply(process, failure, stdin_size=len(payload.body))

    async def aclose(self) -> None:
        """Start nothing more, and end everyone that still runs."""
        self._closed = True
        for process in tuple(self._running):
            process.stop()
        while self._running:
            await next(iter(self._running)).released.wait()
        self._watchdog.close()

    async def _attend(self, process: HookProcess, limits: Limits, deadline: float) -> CallFailed | None:
        """Stay with a hook until nothing of it is left that should not be; say why it was ended, if it was."""
        loop = asyncio.get_running_loop()

        def cut_short() -> bool:
            return process.stopped or process.over_cap

        process.listen()
        try:
            await process.until(lambda: process.exited or cut_short(), deadline)
            if process.exited:
                drained_by = min(deadline, loop.time() + self._drain)
                await process.until(lambda: process.drained or cut_short(), drained_by)
        except asyncio.CancelledError:
            await end(process, self._grace)
            raise
        failure = _failure(process, limits)
        if failure is not None:
            await end(process, self._grace)
        elif not process.drained:
            await end_left_behind(process)
        if process.cancelled:
            raise process.cancelled
        return failure


def _failure(process: HookProcess, limits: Limits) -> CallFailed | None:
    """Why a hook has to be ended, if it has to be."""
    for name, stream in (("stdout", process.stdout), ("stderr", process.stderr)):
        if stream.over:
            return _too_large(name, stream)
    if process.exited:
        return None
    if process.stopped:
        return CallFailed(why=Failure.SIGNAL, detail="killed because the engine was closed")
    return timed_out(limits)


def _too_large(name: str, stream: Capped) -> CallFailed:
    detail = f"{name} went over its cap of {stream.cap} bytes: {stream.seen} were read"
    return CallFailed(why=Failure.OUTPUT_TOO_LARGE, detail=detail)


def _reply(process: HookProcess, failure: CallFailed | None, *, stdin_size: int) -> Reply:
    """What a hook that is no more has to say."""
    if failure is None and process.status is not None:
        code = os.waitstatus_to_exitcode(process.status)
        if code >= 0:
            return Exited(
                code=code,
                stdout=process.stdout.kept,
                stderr=process.stderr.kept,
                stdin_read=process.stdin_read,
                stdin_size=stdin_size,
                left_behind=process.left_behind,
            )
        failure = CallFailed(why=Failure.SIGNAL, detail=f"killed by {_name(-code)}")
    if failure is None:
        text = "other code of this program took its exit status, so what it meant is not known"
        failure = CallFailed(why=Failure.CRASHED, detail=text)
    return dataclasses.replace(
        failure,
        stdout=process.stdout.kept,
        stderr=process.stderr.kept,
        left_behind=process.left_behind,
    )


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

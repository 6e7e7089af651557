"""Runs a program: the payload on its standard input, the answer in its exit status and what it writes."""

import asyncio
import dataclasses
import os
import signal
from pathlib import Path

from hookline._core.payload import CallFailed, Exited, Limits, Payload, Reply
from hookline._core.reasons import Failure
from hookline._core.targets import CommandTarget
from hookline._processes.ending import Ending, Patience, attend
from hookline._processes.running import Running
from hookline._processes.spawn import NotStarted, Program, Spawned, said, spawn
from hookline._processes.watchdog import Watchdog
from hookline.adapters._limits import Capped, closed, could_not_start, timed_out
from hookline.adapters._turns import Turns

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
        self._running: set[_Hook] = set()
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
        spawned = _started(target, payload, self._watchdog)
        if isinstance(spawned, CallFailed):
            return spawned
        hook = _Hook(spawned, cap=limits.output_bytes)
        self._running.add(hook)
        try:
            ending = await attend(hook, deadline, Patience(grace=self._grace, drain=self._drain))
        finally:
            self._running.discard(hook)
            hook.release()
        return _reply(hook, _failure(hook, ending, limits), stdin_size=len(payload.body))

    async def aclose(self) -> None:
        """Start nothing more, and end everyone that still runs."""
        self._closed = True
        for hook in tuple(self._running):
            hook.stop()
        while self._running:
            await next(iter(self._running)).released.wait()
        self._watchdog.close()


class _Hook(Running):
    """A hook's process, and what it wrote."""

    def __init__(self, spawned: Spawned, *, cap: int) -> None:
        self.stdout = Capped(cap)
        self.stderr = Capped(cap)
        super().__init__(spawned, (self.stdout.take, self.stderr.take))


def _started(target: CommandTarget, payload: Payload, watchdog: Watchdog) -> Spawned | CallFailed:
    """The target's program, which has the payload to read."""
    if not target.argv:
        return could_not_start("program: the command is empty")
    if payload.cwd and not payload.cwd.startswith("/"):
        return could_not_start(f"working directory {payload.cwd}: not an absolute path")
    try:
        cwd = payload.cwd or str(Path.cwd())
    except OSError as error:
        return could_not_start(f"working directory: {said(error)}")
    spawned = spawn(Program(argv=target.argv, env=target.env, cwd=cwd, stdin=payload.body), watchdog)
    return could_not_start(spawned.detail) if isinstance(spawned, NotStarted) else spawned


def _failure(hook: _Hook, ending: Ending, limits: Limits) -> CallFailed | None:
    """Why a hook had to be ended, if it had to be."""
    match ending:
        case Ending.BY_ITSELF:
            return None
        case Ending.LATE:
            return timed_out(limits)
        case Ending.STOPPED:
            return CallFailed(why=Failure.SIGNAL, detail="killed because the engine was closed")
        case Ending.FULL:
            return _too_large("stdout", hook.stdout) if hook.stdout.over else _too_large("stderr", hook.stderr)


def _too_large(name: str, stream: Capped) -> CallFailed:
    detail = f"{name} went over its cap of {stream.cap} bytes: {stream.seen} were read"
    return CallFailed(why=Failure.OUTPUT_TOO_LARGE, detail=detail, stream=name, size=stream.seen)


def _reply(hook: _Hook, failure: CallFailed | None, *, stdin_size: int) -> Reply:
    """What a hook that is no more has to say."""
    if failure is None and hook.status is not None:
        code = os.waitstatus_to_exitcode(hook.status)
        if code >= 0:
            return Exited(
                code=code,
                stdout=hook.stdout.kept,
                stderr=hook.stderr.kept,
                stdin_read=hook.stdin_read,
                stdin_size=stdin_size,
                left_behind=hook.left_behind,
            )
        failure = CallFailed(why=Failure.SIGNAL, detail=f"killed by {_name(-code)}")
    if failure is None:
        text = "other code of this program took its exit status, so what it meant is not known"
        failure = CallFailed(why=Failure.CRASHED, detail=text)
    return dataclasses.replace(
        failure,
        stdout=hook.stdout.kept,
        stderr=hook.stderr.kept,
        left_behind=hook.left_behind,
    )


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

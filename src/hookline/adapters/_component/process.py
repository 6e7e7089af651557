"""A guest in a process of its own: our worker with a component in it, or a program that speaks in its place.

Whatever it waits for, its time ends with a kill.
"""

import asyncio
import math
import signal
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hookline._core.components import ComponentTarget
from hookline._core.guests import GuestCall, GuestError, GuestHost
from hookline._core.reasons import Failure
from hookline._processes.ending import Patience, attend
from hookline._processes.running import Running
from hookline._processes.spawn import NotStarted, Program, Spawned, Stdin, spawn
from hookline._processes.watchdog import Watchdog
from hookline.adapters._component.broken import Broken, closed, unusable
from hookline.adapters._component.guest import START
from hookline.adapters._component.lines import line
from hookline.adapters._component.talk import Hearing, Tail, Telling, malformed, message_of

Private = tempfile.TemporaryDirectory[str]

AT_ONCE = Patience(grace=0.0, drain=0.5)  # no time to clean up; but what it said before it ended is read
LONG = 256 * 1024  # bytes of a line that are read within a millisecond or two
MOST_ASKED = 10_000  # questions in one call; who has more is not getting anywhere


class ProcessGuest:
    """A process and the line to it. `interface` and `functions` are what it said when it was ready."""

    def __init__(self, spawned: Spawned, host: GuestHost | None, private: Private | None) -> None:
        assert spawned.stdin_pipe is not None  # noqa: S101 - asked for
        self.interface = ""
        self.functions: frozenset[str] = frozenset()
        self._errors = Tail()
        self._host = host
        self._private = private
        self._hearing = Hearing()
        self._telling = Telling(spawned.stdin_pipe)
        self._running = Running(spawned, (self._hearing.take, self._errors.take))
        self._ended = False
        self._task = asyncio.create_task(self._attend(), name=f"hookline-guest-{self._running.pid}")

    @property
    def alive(self) -> bool:
        return not self._ended and not self._running.stopped

    @property
    def ended(self) -> bool:
        return self._ended

    @property
    def stderr(self) -> bytes:
        return self._errors.kept

    async def start(self, setup: Mapping[str, Any] | None) -> None:
        """Wait until it is ready. Raises Broken."""
        try:
            async with asyncio.timeout(START):
                heard = self._hearing.expect()
                if setup is not None:
                    await self._tell({"setup": setup})
                message = await _understood(await heard)
        except TimeoutError:
            await self.end()
            raise unusable(f"it was not ready after {START:.0f} s") from None
        except Broken as broken:
            await self.end()
            raise unusable(broken.detail) from None
        except BaseException:
            await self.end()  # nobody waits for it any more; a kill takes some milliseconds
            raise
        match message:
            case {"ready": str(interface), "functions": list(functions)} if all(isinstance(f, str) for f in functions):
                self.interface, self.functions = interface, frozenset(functions)
            case {"failed": _}:
                await self.end()
                raise _failed(message)
            case _:
                await self.end()
                raise unusable("its first line does not say that it is ready")

    async def call(self, call: GuestCall, deadline: float) -> Mapping[str, Any]:
        try:
            async with asyncio.timeout_at(deadline):
                return await self._converse({"call": call.function, "argument": dict(call.argument)})
        except TimeoutError:
            await self.end()
            raise
        except Broken as broken:
            if broken.why is not Failure.COULD_NOT_START:
                await self.end()
            raise
        except BaseException:
            await self.end()  # nobody waits for it any more; a kill takes some milliseconds
            raise

    async def end(self) -> None:
        self._hearing.close(closed())
        self._running.stop()
        await asyncio.wait([self._task])

    def abandon(self) -> None:
        if not self._ended:
            self._running.signal_group(signal.SIGKILL)

    async def _converse(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Tell it *message*, serve what it asks for, until it answers."""
        for _ in range(MOST_ASKED):
            heard = self._hearing.expect()
            await self._tell(message)
            answer = await _understood(await heard)
            match answer:
                case {"err": str()}:
                    return answer
                case {"ok": str()} if "err" not in answer:
                    return answer
                case {"failed": _}:
                    raise _failed(answer)
                case {"ask": str(name), "arguments": list(arguments)}:
                    message = await self._served(name, tuple(arguments))
                case _:
                    raise malformed("its line is neither an answer nor a question")
        raise malformed(f"it asked for more than {MOST_ASKED} things in one call")

    async def _served(self, name: str, arguments: tuple[Any, ...]) -> Mapping[str, Any]:
        """What the host says to a question, which is dropped if the guest ends before."""
        if self._host is None or name not in self._host.imports():
            return {"err": f"{name} is not granted"}
        question = asyncio.ensure_future(self._host.ask(name, arguments))
        try:
            await asyncio.wait([question, self._task], return_when=asyncio.FIRST_COMPLETED)
            return {"ok": question.result()} if question.done() else {"err": "too late"}
        except GuestError as error:
            return {"err": str(error)}
        finally:
            question.cancel()

    async def _tell(self, message: Mapping[str, Any]) -> None:
        with suppress(BrokenPipeError):  # it has ended, or will be found to say nothing
            await self._telling.write(line(message))

    async def _attend(self) -> None:
        """Stay with the process to its end. Afterwards nothing of it is left."""
        try:
            await attend(self._running, math.inf, AT_ONCE)
        finally:
            self._ended = True
            self._telling.close()
            self._running.release()
            self._hearing.close(Broken(Failure.CRASHED, "its process ended"))
            if self._private is not None:
                self._private.cleanup()


def start_program(target: ComponentTarget, watchdog: Watchdog) -> ProcessGuest:
    """The target's program. It runs in its first folder, or where nothing is. Raises Broken."""
    private = None if target.folders else tempfile.TemporaryDirectory(prefix="hookline-", ignore_cleanup_errors=True)
    cwd = str(target.folders[0].path) if private is None else private.name
    program = Program(argv=target.program, env=target.env, cwd=cwd, stdin=Stdin.PIPE, own_session=True)
    return _started(program, watchdog, target.host, private)


def start_worker(argv: tuple[str, ...], target: ComponentTarget, watchdog: Watchdog) -> ProcessGuest:
    """Our worker, which is yet to be told what to be. Raises Broken."""
    program = Program(argv=argv, env={}, cwd="/", stdin=Stdin.PIPE, own_session=True)
    return _started(program, watchdog, target.host, None)


def _started(program: Program, watchdog: Watchdog, host: GuestHost | None, private: Private | None) -> ProcessGuest:
    spawned = spawn(program, watchdog)
    if isinstance(spawned, NotStarted):
        if private is not None:
            private.cleanup()
        raise unusable(spawned.detail)
    return ProcessGuest(spawned, host, private)


async def _understood(said: bytes) -> dict[str, Any]:
    """A line as a message. Raises Broken. A long one is read in a thread, so that the loop has its turns."""
    return message_of(said) if len(said) < LONG else await asyncio.to_thread(message_of, said)


def _failed(message: Mapping[str, Any]) -> Broken:
    """What our worker says of itself, or a program in its words."""
    match message["failed"]:
        case {"why": str(why), "detail": str(detail), "stream": str(stream), "size": int(size)}:
            with suppress(ValueError):
                return Broken(Failure(why), detail, stream=stream, size=size)
        case _:
            pass
    return malformed("it failed in words that are none")
